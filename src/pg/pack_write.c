/*
 * pack_write.c
 *		Rows in rank order into the buffers of a packed table.
 */
#include "pg/pack.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/fmgroids.h"

#include "pg/segments.h"

/* data above which a segment has a second partition */
#define PACK_SEGMENT_PARTITION_BYTES (256 * INT64CONST(1024) * 1024)

/* Greenplum: the first column says where a partition lies. */
#ifdef GP_VERSION_NUM
#define KEY_COLUMN HOPPER_DIST_KEY " pg_catalog.int4 NOT NULL, "
#define KEY_VALUE "$9, "
#else
#define KEY_COLUMN ""
#define KEY_VALUE ""
#endif

static SPIPlanPtr prepare_insert(const pack_output *output);

/* ",32,32,3" */
static char *
shape_tail(int rank, const int64 *shape)
{
	StringInfoData text;
	int			i;

	initStringInfo(&text);
	for (i = 0; i < rank; i++)
		appendStringInfo(&text, "," INT64_FORMAT, shape[i]);
	return text.data;
}

/* Buffers of a partition of `rows` rows: as few as `most` rows a buffer allow. */
static int64
count_buffers(int64 rows, int32 most)
{
	return (rows + most - 1) / most;
}

static void
plan_buffers(pack_output *output)
{
	int64		row_size = output->x_size + output->y_size;
	int64		first;
	int64		rows;
	int64		n_buffers = 0;
	int64		largest = 0;
	int32		most = output->buffer_size;
	int32		i;

	if (output->partitions == 0 && output->n_segments > 0)
	{
		/* as many for each segment as its share of the data wants, but one at least */
		int64		share = output->n_rows * row_size / output->n_segments;
		int64		each = Max((share + PACK_SEGMENT_PARTITION_BYTES - 1) /
							   PACK_SEGMENT_PARTITION_BYTES, 1);

		output->partitions = (int32) Min(each * output->n_segments, output->n_rows);
	}
	if (output->partitions == 0)
		output->partitions = hopper_core()->default_partitions(output->n_rows * row_size,
															   output->n_rows);
	if (most == 0)
		most = Max(PACK_BUFFER_BYTES / row_size, 1);
	most = Max(Min(most, PACK_MAX_BUFFER_BYTES / row_size), 1);
	for (i = 0; i < output->partitions; i++)
	{
		hopper_core()->partition_range(output->n_rows, output->partitions, i, &first, &rows);
		largest = Max(largest, (rows - 1) / count_buffers(rows, most) + 1);
		n_buffers += count_buffers(rows, most);
	}
	if (n_buffers > PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("buffer_size %d would make " INT64_FORMAT " buffers", most, n_buffers),
				 errhint("Raise buffer_size or leave it out.")));
	output->buffer_size = (int32) largest;
}

/* Sets the size of the next buffer; sizes within a partition differ by at most one. */
static void
start_buffer(pack_output *output)
{
	int64		first;

	while (output->buffers_left == 0)
	{
		if (++output->partition == output->partitions)
			return;
		hopper_core()->partition_range(output->n_rows, output->partitions, output->partition,
									   &first, &output->rows_left);
		output->buffers_left = count_buffers(output->rows_left, output->buffer_size);
	}
	output->target = (int32) ((output->rows_left - 1) / output->buffers_left + 1);
	output->filled = 0;
}

void
pack_output_create(pack_output *output, int x_rank, const int64 *x_shape, int y_rank,
				   const int64 *y_shape)
{
	const char *x_column = pstrdup(quote_identifier(output->x_column));
	const char *y_column = pstrdup(quote_identifier(output->y_column));
	const char *x_shape_column = pstrdup(quote_identifier(psprintf("%s_shape", output->x_column)));
	const char *y_shape_column = pstrdup(quote_identifier(psprintf("%s_shape", output->y_column)));

	plan_buffers(output);
	hopper_exec("CREATE TABLE %s (" KEY_COLUMN
				"partition_id pg_catalog.int4 NOT NULL, buffer_id pg_catalog.int4 NOT NULL,"
				" n pg_catalog.int4 NOT NULL,"
				" %s pg_catalog.bytea NOT NULL, %s pg_catalog.bytea NOT NULL,"
				" %s pg_catalog.int4[] NOT NULL, %s pg_catalog.int4[] NOT NULL,"
				" checksum pg_catalog.bytea NOT NULL)" HOPPER_HEAP_STORAGE
				HOPPER_DISTRIBUTED_BY(HOPPER_DIST_KEY),
				output->table.quoted, x_column, y_column, x_shape_column, y_shape_column);
	/* pglz would cost several times the write and gain little on floats */
	hopper_exec("ALTER TABLE %s ALTER COLUMN %s SET STORAGE EXTERNAL,"
				" ALTER COLUMN %s SET STORAGE EXTERNAL",
				output->table.quoted, x_column, y_column);

#ifdef GP_VERSION_NUM
	output->keys = hopper_place_partitions(hopper_relation_oid(&output->table, false),
										   output->partitions, output->n_segments,
										   output->segments, &output->n_starts, &output->starts);
#endif
	output->x_shape = shape_tail(x_rank, x_shape);
	output->y_shape = shape_tail(y_rank, y_shape);
	output->x = MemoryContextAllocHuge(CurrentMemoryContext,
									   VARHDRSZ + output->buffer_size * output->x_size);
	output->y = MemoryContextAllocHuge(CurrentMemoryContext,
									   VARHDRSZ + output->buffer_size * output->y_size);
	initStringInfo(&output->checksums);
	output->insert = prepare_insert(output);
	output->partition = -1;
	output->buffers_left = 0;
	output->n_buffers = 0;
	output->bytes = 0;
	start_buffer(output);
}

static SPIPlanPtr
prepare_insert(const pack_output *output)
{
	Oid			types[] = {INT4OID, INT4OID, INT4OID, BYTEAOID, BYTEAOID, INT4ARRAYOID,
	INT4ARRAYOID, BYTEAOID, INT4OID};
	char	   *query = psprintf("INSERT INTO %s VALUES (" KEY_VALUE
								 "$1, $2, $3, $4, $5, $6, $7, $8)", output->table.quoted);
	SPIPlanPtr	plan = SPI_prepare(query, lengthof(types) - (output->keys ? 0 : 1), types);

	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	return plan;
}

static Datum
shape_datum(int32 n, const char *tail)
{
	return OidInputFunctionCall(F_ARRAY_IN, psprintf("{%d%s}", n, tail), INT4OID, -1);
}

static void
write_buffer(pack_output *output)
{
	size_t		x_size = output->filled * output->x_size;
	size_t		y_size = output->filled * output->y_size;
	bytea	   *checksum = palloc(VARHDRSZ + 16);
	Datum		values[9];
	int			rc;

	SET_VARSIZE(output->x, VARHDRSZ + x_size);
	SET_VARSIZE(output->y, VARHDRSZ + y_size);
	SET_VARSIZE(checksum, VARHDRSZ + 16);
	hopper_core()->buffer_checksum(output->partition, output->n_buffers, output->filled,
								   VARDATA(output->x), x_size, VARDATA(output->y), y_size,
								   (uint8_t *) VARDATA(checksum));
	values[0] = Int32GetDatum(output->partition);
	values[1] = Int32GetDatum(output->n_buffers);
	values[2] = Int32GetDatum(output->filled);
	values[3] = PointerGetDatum(output->x);
	values[4] = PointerGetDatum(output->y);
	values[5] = shape_datum(output->filled, output->x_shape);
	values[6] = shape_datum(output->filled, output->y_shape);
	values[7] = PointerGetDatum(checksum);
	values[8] = Int32GetDatum(output->keys ? output->keys[output->partition] : 0);
	rc = SPI_execute_plan(output->insert, values, NULL, false, 0);
	if (rc != SPI_OK_INSERT)
		elog(ERROR, "SPI_execute_plan failed: %s", SPI_result_code_string(rc));
	appendBinaryStringInfo(&output->checksums, VARDATA(checksum), 16);
	pfree(checksum);
	pfree(DatumGetPointer(values[5]));
	pfree(DatumGetPointer(values[6]));
	output->bytes += x_size + y_size;
	output->n_buffers++;
	output->rows_left -= output->filled;
	output->buffers_left--;
}

void
pack_output_add(pack_output *output, const char *x, const char *y)
{
	memcpy(VARDATA(output->x) + output->filled * output->x_size, x, output->x_size);
	memcpy(VARDATA(output->y) + output->filled * output->y_size, y, output->y_size);
	if (++output->filled == output->target)
	{
		write_buffer(output);
		start_buffer(output);
	}
}

void
pack_output_finish(pack_output *output)
{
	if (output->partition != output->partitions)
		elog(ERROR, "partition %d of \"%s\" lacks " INT64_FORMAT " rows", output->partition,
			 output->table.shown, output->rows_left - output->filled);
	pfree(output->x);
	pfree(output->y);
	SPI_freeplan(output->insert);
}

char *
pack_output_checksum(const pack_output *output)
{
	uint8_t		hash[16];
	char	   *text = palloc(33);
	int			i;

	/* the hash of a row with these bytes and no label */
	hopper_core()->row_key(0, output->checksums.data, output->checksums.len, "", 0, hash);
	for (i = 0; i < 16; i++)
		snprintf(text + 2 * i, 3, "%02x", hash[i]);
	return text;
}
