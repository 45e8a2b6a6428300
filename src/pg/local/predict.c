/*
 * predict.c
 *		Prediction where all data are in one place: the rows of the predictions go into their table.
 */
#include "pg/predict/run.h"
#include "pg/local/local.h"

#include "pg/local/bulk_insert.h"

static void
begin_output(void *state, hopper_prediction *run)
{
	hopper_bulk_insert **insert = state;
	Oid			types[PREDICT_MAX_COLUMNS];
	int			n;

	hopper_predict_make_output(run, "");
	n = hopper_predict_column_types(run, types);
	*insert = hopper_bulk_insert_open(&run->output_table, n, types);
}

static void
put_row(void *state, const Datum *values, const bool *nulls)
{
	hopper_bulk_insert **insert = state;

	hopper_bulk_insert_row(*insert, values, nulls);
}

int64
hopper_predict_source(hopper_prediction *run)
{
	static const hopper_predict_sink sink = {begin_output, put_row};
	hopper_bulk_insert *insert = NULL;
	int64		n_rows = hopper_predict_through(run, &sink, &insert);

	hopper_bulk_insert_close(insert);
	return n_rows;
}
