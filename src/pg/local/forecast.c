/*
 * forecast.c
 *		What reading costs where all data are in one place: some buffers are read to see.
 */
#include "pg/forecast/explain.h"
#include "pg/local/local.h"

#include "portability/instr_time.h"

#define SAMPLED_BUFFERS 4
/* Where there are none. */
#define READ_BYTES_PER_SECOND 500e6

/* Bytes a second that buffers come from the table. */
static double
reading_speed(const hopper_packed *packed)
{
	instr_time	start;
	instr_time	end;
	uint64		n;
	double		bytes = 0;

	INSTR_TIME_SET_CURRENT(start);
	n = hopper_select("SELECT %s, %s FROM %s LIMIT %d",
					  hopper_identifier(packed->desc.x_column),
					  hopper_identifier(hopper_packed_label(packed->desc.y_column)),
					  packed->table.quoted,
					  SAMPLED_BUFFERS);
	for (uint64 row = 0; row < n; row++)
	{
		for (int column = 1; column <= 2; column++)
		{
			bool		isnull;
			Datum		value = hopper_value(row, column, BYTEAOID, &isnull);

			if (!isnull)
				bytes += VARSIZE_ANY_EXHDR(DatumGetByteaPP(value));
		}
	}
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	if (bytes <= 0 || INSTR_TIME_GET_DOUBLE(end) <= 0)
		return READ_BYTES_PER_SECOND;
	return bytes / INSTR_TIME_GET_DOUBLE(end);
}

hopper_explain_costs
hopper_forecast_costs(hopper_forecast_request *request, const int32 *train_keys)
{
	hopper_explain_costs costs = {0};

	request->options.memory_limit = hopper_effective_memory_limit();
	costs.read_bytes_per_second = reading_speed(&request->train);
	return costs;
}
