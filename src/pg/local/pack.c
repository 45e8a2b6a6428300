/*
 * pack.c
 *		Packing where all data are in one place: the rows go through the server's external sort, so
 *		that memory stays bounded, and then fill the buffers one after another.
 *
 * A row in the sort is one bytea: rank key, features, labels, stratum (4 bytes). Equal rows get
 * their own keys on the way into it. Where there are more different rows than memory remembers, the
 * order tells which are equal, and all are sorted once more.
 */
#include "pg/pack/pack.h"
#include "pg/local/local.h"

#include "executor/tuptable.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

#include "pg/local/copies.h"
#include "pg/server/ceilings.h"

/* --- the sort --- */

/*
 * The server's external sort over byte strings. They go through it as rows of one column: values
 * alone are not counted since PostgreSQL 17, and so are never written to disk. An error or the end
 * of the transaction frees everything.
 */
typedef struct row_sort
{
	Tuplesortstate *state;
	TupleTableSlot *in;
	TupleTableSlot *out;
} row_sort;

/* `memory`: kB that it may take before it writes to temporary files. */
static row_sort *
sort_begin(int memory)
{
	row_sort *sort = palloc(sizeof(row_sort));
	TupleDesc	row = CreateTemplateTupleDesc(1);
	AttrNumber	column = 1;
	Oid			less_than = lookup_type_cache(BYTEAOID, TYPECACHE_LT_OPR)->lt_opr;
	Oid			collation = InvalidOid;
	bool		nulls_first = false;

	TupleDescInitEntry(row, 1, "value", BYTEAOID, -1, 0);
	TupleDescFinalize(row);
	sort->in = MakeSingleTupleTableSlot(row, &TTSOpsVirtual);
	sort->out = MakeSingleTupleTableSlot(row, &TTSOpsMinimalTuple);
	sort->state = tuplesort_begin_heap(row, 1, &column, &less_than, &collation, &nulls_first,
									   memory, NULL, TUPLESORT_NONE);
	return sort;
}

/* A copy of the value is kept. */
static void
sort_put(row_sort *sort, Datum bytes)
{
	ExecClearTuple(sort->in);
	sort->in->tts_values[0] = bytes;
	sort->in->tts_isnull[0] = false;
	ExecStoreVirtualTuple(sort->in);
	tuplesort_puttupleslot(sort->state, sort->in);
}

/* The next value, which may have a short header, until the next call; false at the end. */
static bool
sort_get(row_sort *sort, Datum *bytes)
{
	bool		isnull;

	if (!tuplesort_gettupleslot(sort->state, true, false, sort->out, NULL))
		return false;
	*bytes = slot_getattr(sort->out, 1, &isnull);
	return true;
}

static void
sort_end(row_sort *sort)
{
	ExecDropSingleTupleTableSlot(sort->in);
	ExecDropSingleTupleTableSlot(sort->out);
	tuplesort_end(sort->state);
}

/* --- rows --- */

/* The end of a row in the sort. */
static int32
stratum_of(const hopper_pack_job *job, const char *key)
{
	int32		stratum;

	memcpy(&stratum, key + PACK_KEY_SIZE + job->row.x_size + job->row.y_size, sizeof(stratum));
	return stratum;
}

/* Allocates the encoded row once the shapes are known. */
static bytea *
start_rows(hopper_pack_job *job, const Datum *values, const bool *nulls)
{
	Size		size;
	bytea	   *row;

	hopper_pack_learn_row_shape(job, values, nulls);
	hopper_pack_start_ranges(job);
	size = VARHDRSZ + PACK_KEY_SIZE + job->row.x_size + job->row.y_size + sizeof(int32);
	row = palloc(size);
	SET_VARSIZE(row, size);
	return row;
}

static void
encode_row(hopper_pack_job *job, const Datum *values, const bool *nulls, bytea *row)
{
	char	   *key = VARDATA(row);
	char	   *x = key + PACK_KEY_SIZE;
	int32		stratum = hopper_pack_encode_row(job, values, nulls, key, x);

	hopper_pack_look_at_numbers(job, x);
	memcpy(x + job->row.x_size + job->row.y_size, &stratum, sizeof(stratum));
	hopper_pack_count_rows(job, stratum, 1);
}

/*
 * Kilobytes of a sort: more goes to temporary files. Rows on their way and buffers that are filled
 * have room beside the sort and what remembers rows.
 */
static int
sort_memory(void)
{
	int64		limit = hopper_effective_memory_limit() / 1024;

	return (int) Min(maintenance_work_mem, Max(limit / 3, 64));
}

/* Kilobytes of what remembers rows, so that sorts of up to three million in 64 MB are done once. */
static int
copies_memory(void)
{
	int64		limit = hopper_effective_memory_limit() / 1024;

	return (int) Min(2 * (int64) maintenance_work_mem, Max(limit / 3, 64));
}

/*
 * The sort must not end in the middle for want of temporary files. A second one may follow where
 * not all rows are remembered.
 */
static void
require_room_to_sort(hopper_pack_job *job, const bytea *row)
{
	int64		n;
	int64		bytes;

	if (!hopper_limits_temporary())
		return;
	(void) hopper_select("SELECT count(*) FROM (%s) q", hopper_pack_row_query(job));
	n = hopper_int_cell(&job->source.name, 0, 1, 0, PG_INT64_MAX);
	bytes = n * (int64) VARSIZE(row);
	if (bytes <= sort_memory() * INT64CONST(1024))
		return;
	if (n > hopper_copies_most(copies_memory()))
		bytes *= 2;
	hopper_require_temporary(bytes, psprintf("sorting the rows of \"%s\"",
											 job->source.name.shown),
							 "Raise maintenance_work_mem, hopper.memory_limit or "
							 "temp_file_limit.");
}

typedef struct reading
{
	hopper_pack_job *job;
	row_sort *sort;
	hopper_copies *copies;
	MemoryContext scratch;		/* of a row */
	bytea	   *row;			/* encoded; NULL before the first one */
} reading;

/* Encodes a row and puts it into the sort. */
static void
take_row(void *state, const Datum *values, const bool *nulls)
{
	reading    *r = state;
	hopper_pack_source *source = &r->job->source;
	MemoryContext caller;
	char	   *key;

	CHECK_FOR_INTERRUPTS();
	source->values = values;
	source->nulls = nulls;
	source->row_number++;
	if (r->row == NULL)
		r->row = start_rows(r->job, values, nulls);
	caller = MemoryContextSwitchTo(r->scratch);
	encode_row(r->job, values, nulls, r->row);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(r->scratch);
	key = VARDATA(r->row);
	hopper_pack_rank_copy(key, hopper_copies_number(r->copies, key, stratum_of(r->job, key)));
	sort_put(r->sort, PointerGetDatum(r->row));
}

/* Returns whether the sort has each row by its own key; false also where that is not known. */
static bool
read_rows(hopper_pack_job *job, row_sort *sort)
{
	reading		r = {job, sort, hopper_copies_begin(copies_memory())};
	hopper_row_cursor rows = hopper_row_cursor_open(hopper_pack_row_query(job));

	hopper_pack_begin_rows(&job->source, rows.desc);
	r.scratch = AllocSetContextCreate(CurrentMemoryContext, "hopper packed row",
									  ALLOCSET_DEFAULT_SIZES);
	hopper_pack_start_counting(job);
	if (hopper_row_cursor_give(&rows, 1, take_row, &r) > 0)
	{
		require_room_to_sort(job, r.row);
		(void) hopper_row_cursor_give(&rows, FETCH_ALL, take_row, &r);
	}
	SPI_cursor_close(rows.portal);
	MemoryContextDelete(r.scratch);
	return hopper_copies_end(r.copies);
}

/* --- the order --- */

/* The sort by keys of which no two are equal; the first one ends. */
static row_sort *
sort_again(const hopper_pack_job *job, row_sort *sort)
{
	row_sort *again = sort_begin(sort_memory());
	Size		size = PACK_KEY_SIZE + job->row.x_size + job->row.y_size + sizeof(int32);
	bytea	   *moved = palloc(VARHDRSZ + size);
	char	   *key = VARDATA(moved);
	char		last[PACK_KEY_SIZE];
	int32		last_stratum = -1;
	int64		n_equal = 0;
	Datum		datum;

	SET_VARSIZE(moved, VARHDRSZ + size);
	while (sort_get(sort, &datum))
	{
		CHECK_FOR_INTERRUPTS();
		memcpy(key, VARDATA_ANY(DatumGetPointer(datum)), size);
		if (last_stratum != stratum_of(job, key) || memcmp(last, key, PACK_KEY_SIZE) != 0)
			n_equal = 0;
		memcpy(last, key, PACK_KEY_SIZE);
		last_stratum = stratum_of(job, key);
		hopper_pack_rank_copy(key, n_equal++);
		sort_put(again, PointerGetDatum(moved));
	}
	pfree(moved);
	sort_end(sort);
	tuplesort_performsort(again->state);
	return again;
}

/* --- writing --- */

typedef struct writer
{
	hopper_pack_output *output;
	hopper_pack_buffer buffer;
	SPIPlanPtr	insert;
} writer;

static void
open_writer(writer *out, const hopper_pack_job *job, hopper_pack_output *output)
{
	Oid			types[PACK_BUFFER_COLUMNS] = {INT4OID, INT4OID, INT4OID, BYTEAOID, BYTEAOID,
	INT4ARRAYOID, INT4ARRAYOID, BYTEAOID};

	out->output = output;
	hopper_pack_buffer_init(&out->buffer, &job->row, output->buffer_size);
	out->insert = SPI_prepare(psprintf("INSERT INTO %s VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
									   output->table.quoted), PACK_BUFFER_COLUMNS, types);
	if (out->insert == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
}

static void
write_buffer(writer *out)
{
	hopper_pack_output *output = out->output;
	Datum		columns[PACK_BUFFER_COLUMNS];

	hopper_pack_buffer_columns(&out->buffer, output->partition, output->n_buffers, columns);
	hopper_require_inserted(&output->table, SPI_execute_plan(out->insert, columns, NULL, false, 0));
	appendBinaryStringInfo(&output->checksums, VARDATA(DatumGetPointer(columns[7])),
						   HOPPER_CHECKSUM_SIZE);
	for (int i = 5; i < PACK_BUFFER_COLUMNS; i++)
		pfree(DatumGetPointer(columns[i]));
	out->buffer.n = 0;
	hopper_pack_output_next(output);
}

static void
close_writer(writer *out)
{
	hopper_pack_output_require_complete(out->output);
	pfree(out->buffer.x);
	pfree(out->buffer.y);
	SPI_freeplan(out->insert);
}

void
hopper_pack_move_rows(hopper_pack_job *job, hopper_pack_output *training,
					  hopper_pack_output *validation)
{
	row_sort *sort;
	writer		writers[2];
	bool		is_ranked;
	bool		split;
	Datum		datum;

	sort = sort_begin(sort_memory());
	is_ranked = read_rows(job, sort);
	tuplesort_performsort(sort->state);
	split = hopper_pack_open_outputs(job, training, validation);
	open_writer(&writers[0], job, training);
	if (split)
		open_writer(&writers[1], job, validation);
	if (!is_ranked)
		sort = sort_again(job, sort);
	while (sort_get(sort, &datum))
	{
		char	   *key = VARDATA_ANY(DatumGetPointer(datum));
		char	   *x = key + PACK_KEY_SIZE;
		char	   *y = x + job->row.x_size;
		writer	   *out;

		CHECK_FOR_INTERRUPTS();
		out = &writers[hopper_pack_to_validation(job, stratum_of(job, key)) ? 1 : 0];
		hopper_pack_buffer_add(&out->buffer, x, y);
		if (hopper_pack_output_row(out->output))
			write_buffer(out);
	}
	close_writer(&writers[0]);
	if (split)
		close_writer(&writers[1]);
	sort_end(sort);
}
