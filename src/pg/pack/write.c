/*
 * write.c
 *		A packed table: its creation, its buffers as planned, and the walk through the buffers in
 *		rank order.
 */
#include "pg/pack/pack.h"

/* data above which a segment has a second partition */
#define PACK_SEGMENT_PARTITION_BYTES (256 * INT64CONST(1024) * 1024)

/* Buffers of a partition of `rows` rows: as few as `most` rows a buffer allow. */
static int64
count_buffers(int64 rows, int32 most)
{
	return (rows + most - 1) / most;
}

int32
hopper_pack_output_buffers(const hopper_pack_output *output, int32 partition)
{
	int64		first;
	int64		rows;

	hopper_core()->partition_range(output->n_rows, output->partitions, partition, &first, &rows);
	return (int32) count_buffers(rows, output->buffer_size);
}

static void
plan_buffers(hopper_pack_output *output)
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

		output->partitions = (int32) Min(Min(each * output->n_segments, output->n_rows),
										 PACK_MAX_PARTITIONS);
	}
	if (output->partitions == 0)
		output->partitions = Min(hopper_core()->default_partitions(output->n_rows * row_size,
																   output->n_rows),
								 PACK_MAX_PARTITIONS);
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
		hopper_raise(ERRCODE_PROGRAM_LIMIT_EXCEEDED,
					 errmsg("buffer_size %d would make " INT64_FORMAT " buffers", most, n_buffers),
					 errhint("Raise buffer_size or leave it out."));
	output->buffer_size = (int32) largest;
}

/* Sets the size of the next buffer; sizes within a partition differ by at most one. */
static void
start_buffer(hopper_pack_output *output)
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

static const hopper_column packed_columns[] = {
	{"partition_id", INT4OID, "partition, from 0", "NOT NULL",.marks = true},
	{"buffer_id", INT4OID, "buffer, from 0, ascending with the partitions", "NOT NULL",
	.marks = true},
	{"n", INT4OID, "examples in this buffer", "NOT NULL",.marks = true},
	{NULL, BYTEAOID, "features, one example after the other", "NOT NULL"},
	{NULL, BYTEAOID, "labels, one example after the other", "NOT NULL"},
	{NULL, INT4ARRAYOID, "shape of the features, number of examples first", "NOT NULL"},
	{NULL, INT4ARRAYOID, "shape of the labels, number of examples first", "NOT NULL"},
	{"checksum", BYTEAOID, HOPPER_MEANS_CHECKSUM, "NOT NULL",.marks = true},
};

const hopper_layout hopper_packed_layout = {
	.what = "a packed table",.drop = "hopper.drop_packed()",
	.columns = packed_columns,.n = lengthof(packed_columns)
};

static void
create_packed(const hopper_name *table, const char *x, const char *y)
{
	const char *const names[] = {x, y, psprintf("%s_shape", x), psprintf("%s_shape", y)};

	hopper_exec("CREATE TABLE %s (" HOPPER_DIST_KEY_COLUMN "%s)"
				HOPPER_DISTRIBUTED_BY(HOPPER_DIST_KEY), table->quoted,
				hopper_layout_columns(&hopper_packed_layout, names, NULL));
	/* pglz would cost several times the write and gain little on floats */
	hopper_exec("ALTER TABLE %s ALTER COLUMN %s SET STORAGE EXTERNAL,"
				" ALTER COLUMN %s SET STORAGE EXTERNAL",
				table->quoted, hopper_identifier(x), hopper_identifier(y));
	hopper_comment_layout(table, &hopper_packed_layout, names,
						"packed examples, made by model_hopper: a row per buffer");
}

void
hopper_pack_create_tables(const hopper_pack_job *job, int n)
{
	for (int i = 0; i < n; i += 2)
	{
		create_packed(&job->making.made[i].name, hopper_pack_feature_column(job),
					  hopper_packed_label(job->source.y.name));
		hopper_pack_summary_create(&job->making.made[i + 1].name, &job->source.y,
								   job->y_kind == HOPPER_LABEL_CLASS);
	}
}

void
hopper_pack_output_begin(hopper_pack_output *output)
{
	plan_buffers(output);
	if (output->n_segments > 0)
		output->keys = hopper_backend.place_partitions(hopper_relation_oid(&output->table, false),
													   output->partitions, output->n_segments,
													   output->segments, &output->n_starts,
													   &output->starts);
	initStringInfo(&output->checksums);
	output->partition = -1;
	output->buffers_left = 0;
	output->n_buffers = 0;
	output->bytes = 0;
	start_buffer(output);
}

bool
hopper_pack_output_row(hopper_pack_output *output)
{
	return ++output->filled == output->target;
}

void
hopper_pack_output_next(hopper_pack_output *output)
{
	output->bytes += output->filled * (output->x_size + output->y_size);
	output->n_buffers++;
	output->rows_left -= output->filled;
	output->buffers_left--;
	start_buffer(output);
}

void
hopper_pack_output_require_complete(const hopper_pack_output *output)
{
	if (output->partition != output->partitions)
		elog(ERROR, "partition %d of \"%s\" lacks " INT64_FORMAT " rows", output->partition,
			 output->table.shown, output->rows_left - output->filled);
}
