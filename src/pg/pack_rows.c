/*
 * pack_rows.c
 *		The rows of the source: read, checked, encoded, handed to the sort.
 */
#include "pg/pack.h"

static void
refuse_empty(const pack_job *job)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("\"%s\" holds no rows", job->source.name.shown)));
}

/* Allocates the encoded row once the shapes are known: key, x, y, fold. */
static bytea *
start_rows(pack_job *job, const Datum *values, const bool *nulls)
{
	int			n_x = job->source.n_x;
	Size		size;
	bytea	   *row;

	pack_values_learn(&job->x, &job->source, values, nulls);
	if (job->y_kind == HOPPER_LABEL_CLASS)
		job->y_size = hopper_core()->type_size(job->classes.type);
	else
	{
		pack_values_learn(&job->y, &job->source, &values[n_x], &nulls[n_x]);
		job->y_size = job->y.size;
	}
	size = VARHDRSZ + PACK_KEY_SIZE + job->x.size + job->y_size + 1;
	row = palloc(size);
	SET_VARSIZE(row, size);
	return row;
}

static bool
get_fold(const pack_source *source, Datum value, bool isnull)
{
	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("column \"%s\" of \"%s\" holds NULL", source->fold.name,
						source->name.shown),
				 errdetail("%s.", pack_row_name(source)),
				 errhint("True marks a row for validation, false for training.")));
	return DatumGetBool(value);
}

static void
encode_row(pack_job *job, const Datum *values, const bool *nulls, bytea *row)
{
	const pack_source *source = &job->source;
	int			n_x = source->n_x;
	char	   *key = VARDATA(row);
	char	   *x = key + PACK_KEY_SIZE;
	char	   *y = x + job->x.size;
	char	   *fold = y + job->y_size;

	pack_values_encode(&job->x, source, values, nulls, x);
	if (job->y_kind == HOPPER_LABEL_CLASS)
	{
		int32		index = pack_class_index(&job->classes, &job->request, source, values[n_x],
											 nulls[n_x]);

		job->classes.counts[index]++;
		pack_put_index(job->classes.type, index, y);
	}
	else
		pack_values_encode(&job->y, source, &values[n_x], &nulls[n_x], y);
	*fold = 0;
	if (source->fold.name && get_fold(source, values[n_x + 1], nulls[n_x + 1]))
	{
		*fold = 1;
		job->n_fold++;
	}
	hopper_core()->row_key((uint64) job->request.seed, x, job->x.size, y, job->y_size,
						   (uint8_t *) key);
	job->n_rows++;
}

/* Rows of the next fetch: about as many bytes as a buffer. */
static long
next_fetch(void)
{
	uint64		bytes = 0;
	uint64		i;

	for (i = 0; i < SPI_processed; i++)
		bytes += SPI_tuptable->vals[i]->t_len;
	return Max(Min((uint64) PACK_BUFFER_BYTES / (bytes / SPI_processed + 1), 1000), 1);
}

void
pack_read_rows(pack_job *job)
{
	pack_source *source = &job->source;
	MemoryContext row_context = AllocSetContextCreate(CurrentMemoryContext, "hopper packed row",
													  ALLOCSET_DEFAULT_SIZES);
	char	   *label;
	SPIPlanPtr	plan;
	Portal		portal;
	bytea	   *row = NULL;
	Datum	   *values = NULL;
	bool	   *nulls = NULL;
	long		fetch = 16;

	/* the family is PACK_NO_CLASS where labels are numbers */
	label = pack_label_expression(&source->y, job->classes.family);
	plan = SPI_prepare_cursor(pack_row_query(source, label), 0, NULL, CURSOR_OPT_NO_SCROLL);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);
	source->first_key = source->n_x + 2 + (source->fold.name ? 1 : 0);
	for (;;)
	{
		SPITupleTable *table;
		uint64		n;
		uint64		i;

		SPI_cursor_fetch(portal, true, fetch);
		table = SPI_tuptable;
		n = SPI_processed;
		if (n == 0)
			break;
		fetch = next_fetch();
		source->desc = table->tupdesc;
		if (values == NULL)
		{
			values = palloc(sizeof(Datum) * table->tupdesc->natts);
			nulls = palloc(sizeof(bool) * table->tupdesc->natts);
		}
		for (i = 0; i < n; i++)
		{
			MemoryContext caller;

			CHECK_FOR_INTERRUPTS();
			source->tuple = table->vals[i];
			source->row_number++;
			heap_deform_tuple(source->tuple, source->desc, values, nulls);
			if (row == NULL)
				row = start_rows(job, values, nulls);
			caller = MemoryContextSwitchTo(row_context);
			encode_row(job, values, nulls, row);
			MemoryContextSwitchTo(caller);
			MemoryContextReset(row_context);
			tuplesort_putdatum(job->sort, PointerGetDatum(row), false);
		}
		SPI_freetuptable(table);
	}
	SPI_cursor_close(portal);
	SPI_freeplan(plan);
	MemoryContextDelete(row_context);
	if (job->n_rows == 0)
		refuse_empty(job);
}
