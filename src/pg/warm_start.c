/*
 * warm_start.c
 *		Reading states and histories back from the output tables.
 */
#include "pg/warm_start.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

/* An array cell of SPI_tuptable: its values, or 0 where it is NULL. */
static int
array_cells(int column, Oid type, Datum **values, bool **nulls)
{
	bool		isnull;
	Datum		array = hopper_value(0, column, get_array_type(type), &isnull);
	int16		length;
	bool		by_value;
	char		alignment;
	int			n = 0;

	*values = NULL;
	if (isnull)
		return 0;
	get_typlenbyvalalign(type, &length, &by_value, &alignment);
	deconstruct_array(DatumGetArrayTypeP(array), type, length, by_value, alignment, values, nulls,
					  &n);
	return n;
}

static void
read_history(const hopper_outputs *outputs, hopper_history *history)
{
	static const char *const sides[2] = {"training", "validation"};
	Datum	   *iterations,
			   *elapsed,
			   *names,
			   *values;
	bool	   *nulls;
	int			n,
				n_elapsed;

	if (hopper_select("SELECT metrics_iters, metrics_elapsed_time, metrics_type, training_loss,"
					  " validation_loss, training_metrics_all, validation_metrics_all, iterations"
					  " FROM %s WHERE mst_key = %d", outputs->info.quoted, history->mst_key) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("\"%s\" has no row with mst_key %d", outputs->info.shown,
						history->mst_key)));
	n = array_cells(1, INT4OID, &iterations, &nulls);
	for (int i = 0; i < n; i++)
		if (nulls[i] || DatumGetInt32(iterations[i]) < 1)
			hopper_refuse_cell(&outputs->info, 0, 1);
	n_elapsed = array_cells(2, FLOAT8OID, &elapsed, &nulls);
	history->n_metrics_earlier = Min(array_cells(3, TEXTOID, &names, &nulls), HOPPER_MAX_METRICS);
	history->metrics_earlier = palloc(Max(history->n_metrics_earlier, 1) * sizeof(char *));
	for (int i = 0; i < history->n_metrics_earlier; i++)
		history->metrics_earlier[i] = nulls[i] ? "" : TextDatumGetCString(names[i]);

	for (int i = 0; i < n; i++)
	{
		int			at = hopper_history_point(history, DatumGetInt32(iterations[i]));
		hopper_point *point = hopper_history_at(history, at);

		/* Ascending, so that its places are those of the points. */
		if (at != i)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("column \"metrics_iters\" of \"%s\" %s", outputs->info.shown,
							history->n == i ? "has an iteration twice" : "does not ascend")));
		point->elapsed = i < n_elapsed ? DatumGetFloat8(elapsed[i]) : 0;
		history->elapsed_earlier = Max(history->elapsed_earlier, point->elapsed);
	}
	for (int split = 0; split < 2; split++)
	{
		int			n_values = array_cells(4 + split, FLOAT8OID, &values, &nulls);

		for (int i = 0; i < Min(n, n_values); i++)
		{
			hopper_history_at(history, i)->known[split] = !nulls[i];
			hopper_history_at(history, i)->loss[split] = nulls[i] ? 0 : DatumGetFloat8(values[i]);
		}
		n_values = array_cells(6 + split, FLOAT8OID, &values, &nulls);
		if (n_values == 0)
			continue;
		if (n_values != history->n_metrics_earlier * n)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("column \"%s_metrics_all\" of \"%s\" does not fit its other columns",
							sides[split], outputs->info.shown)));
		for (int at = 0; at < n_values; at++)
		{
			if (!nulls[at])
				hopper_history_set_metric(history, at % n, split, at / n,
										  DatumGetFloat8(values[at]));
		}
	}
	history->last_earlier = (int32) hopper_int_cell(&outputs->info, 0, 8, 0, PG_INT32_MAX);
	SPI_freetuptable(SPI_tuptable);
}

/* Puts the parts of a state together; false where there is none. */
static bool
read_state(const hopper_outputs *outputs, hopper_config *config)
{
	uint8_t    *state;
	size_t		size,
				at = 0;
	int64		n_parts;

	hopper_select("SELECT count(*), coalesce(sum(octet_length(state)), 0)::int8,"
				  " coalesce(max(part)::int8 + 1, 0) FROM %s WHERE mst_key = %d",
				  outputs->state.quoted, config->mst_key);
	n_parts = hopper_int_cell(&outputs->state, 0, 1, 0, PG_INT64_MAX);
	size = (size_t) hopper_int_cell(&outputs->state, 0, 2, 0, PG_INT64_MAX);
	if (hopper_int_cell(&outputs->state, 0, 3, PG_INT64_MIN, PG_INT64_MAX) != n_parts)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the state of configuration %d in \"%s\" lacks a part", config->mst_key,
						outputs->state.shown)));
	SPI_freetuptable(SPI_tuptable);
	if (n_parts == 0)
		return false;

	state = MemoryContextAllocHuge(CurrentMemoryContext, Max(size, 1));
	for (int64 part = 0; part < n_parts; part++)
	{
		bool		isnull;
		Datum		value;
		bytea	   *bytes;

		CHECK_FOR_INTERRUPTS();
		isnull = hopper_select("SELECT state FROM %s WHERE mst_key = %d AND part = " INT64_FORMAT,
							   outputs->state.quoted, config->mst_key, part) != 1;
		value = isnull ? (Datum) 0 : hopper_value(0, 1, BYTEAOID, &isnull);
		if (isnull)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("the state of configuration %d in \"%s\" lacks a part",
							config->mst_key, outputs->state.shown)));
		bytes = DatumGetByteaPP(value);
		if (VARSIZE_ANY_EXHDR(bytes) > size - at)
			elog(ERROR, "the state of configuration %d grew while it was read", config->mst_key);
		memcpy(state + at, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
		at += VARSIZE_ANY_EXHDR(bytes);
		if ((Pointer) bytes != DatumGetPointer(value))
			pfree(bytes);
		SPI_freetuptable(SPI_tuptable);
	}
	config->state = state;
	config->state_size = size;
	return true;
}

void
hopper_warm_start(const hopper_outputs *outputs, hopper_config *configs, int n,
				  hopper_history **histories)
{
	for (int i = 0; i < n; i++)
	{
		char		digest[33];
		hopper_error error;
		char	   *arch;

		if (hopper_select("SELECT model_arch::text FROM %s WHERE mst_key = %d",
						  outputs->model.quoted, configs[i].mst_key) == 0)
			continue;
		arch = hopper_cell(0, 1);
		SPI_freetuptable(SPI_tuptable);
		if (arch == NULL || !read_state(outputs, &configs[i]))
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("configuration %d of \"%s\" has no architecture or no state",
							configs[i].mst_key, outputs->model.shown)));
		if (hopper_core()->verify_state(configs[i].state, configs[i].state_size, digest,
										&error) != 0)
			ereport(ERROR,
					(errcode(hopper_sqlstate(error.code)),
					 errmsg("the state of configuration %d in \"%s\" is damaged",
							configs[i].mst_key, outputs->state.shown),
					 errdetail("%s%s%s", hopper_from_utf8(error.message),
							   error.detail[0] ? ": " : "", hopper_from_utf8(error.detail)),
					 errhint("Leave this configuration out of the selection table, or train "
							 "anew.")));
		configs[i].model_arch = hopper_to_utf8(arch);
		configs[i].model_arch_size = strlen(configs[i].model_arch);
		configs[i].weights = NULL;
		configs[i].n_weights = 0;
		read_history(outputs, histories[i]);
	}
}
