/*
 * pack_description.c
 *		A packing job, and where its rows go, as bytes for the segments.
 */
#include "pg/greenplum/pack.h"

#include "cdb/cdbvars.h"
#include "utils/memutils.h"

#include "pg/codec/schema.h"
#include "pg/greenplum/wire.h"

void
hopper_pack_write_place(char *place, const char *key, int32 segment, ItemPointer row)
{
	uint32		block = BlockIdGetBlockNumber(&row->ip_blkid);
	uint16		offset = row->ip_posid;
	unsigned char *at = (unsigned char *) place + PACK_KEY_SIZE;

	memcpy(place, key, PACK_KEY_SIZE);
	for (int i = 0; i < 4; i++)
	{
		at[i] = (unsigned char) ((uint32) segment >> (24 - 8 * i));
		at[4 + i] = (unsigned char) (block >> (24 - 8 * i));
	}
	at[8] = (unsigned char) (offset >> 8);
	at[9] = (unsigned char) offset;
}

static void
put_column(StringInfo out, const hopper_pack_column *column)
{
	hopper_put_text(out, column->name);
	hopper_put_int(out, column->declared);
	hopper_put_text(out, column->sql_type);
}

static void
get_column(hopper_reader *in, hopper_pack_column *column)
{
	column->name = hopper_get_text(in);
	column->declared = (Oid) hopper_get_int_between(in, 0, PG_UINT32_MAX);
	/* neither where there is no fold */
	if (OidIsValid(column->declared))
		column->type = getBaseType(column->declared);
	column->sql_type = hopper_get_text(in);
}

void
hopper_pack_put_source(StringInfo out, const hopper_pack_source *source)
{
	hopper_put_text(out, source->name.shown);
	hopper_put_int(out, source->n_x);
	for (int i = 0; i < source->n_x; i++)
		put_column(out, &source->x[i]);
	put_column(out, &source->y);
	put_column(out, &source->fold);
	hopper_put_int(out, source->n_keys);
	for (int i = 0; i < source->n_keys; i++)
		hopper_put_text(out, source->keys[i]);
	hopper_put_int(out, source->has_ctid);
	hopper_put_int(out, source->has_tableoid);
	hopper_put_int(out, source->first_key);
}

void
hopper_pack_get_source(hopper_reader *in, hopper_pack_source *source)
{
	source->name.shown = hopper_get_required_text(in);
	source->n_x = hopper_get_count(in, 3 * sizeof(int64));
	source->x = palloc0(sizeof(hopper_pack_column) * (source->n_x + 1));
	for (int i = 0; i < source->n_x; i++)
		get_column(in, &source->x[i]);
	get_column(in, &source->y);
	get_column(in, &source->fold);
	source->n_keys = hopper_get_count(in, sizeof(int64));
	source->keys = palloc0(sizeof(char *) * (source->n_keys + 1));
	for (int i = 0; i < source->n_keys; i++)
		source->keys[i] = hopper_get_required_text(in);
	source->has_ctid = hopper_get_bool(in);
	source->has_tableoid = hopper_get_bool(in);
	source->first_key = hopper_get_natural(in);
	source->segment = GpIdentity.segindex;
}

/* Several inputs are put one by one. */
void
hopper_pack_put_values(StringInfo out, const hopper_pack_values *values)
{
	hopper_put_int(out, values->n_parts);
	for (int i = 0; i < values->n_parts; i++)
	{
		hopper_put_text(out, values->inputs.names[i]);
		hopper_put_int(out, values->parts[i].n_columns);
		hopper_pack_put_values(out, &values->parts[i]);
	}
	if (values->n_parts > 0)
		return;
	hopper_put_text(out, values->schema ? values->schema->text : NULL);
	if (values->schema)
		return;
	hopper_put_int(out, values->layout);
	hopper_put_bytes(out, values->elements, sizeof(Oid) * values->n_columns);
	hopper_put_int(out, values->type);
	hopper_put_int(out, values->or_bytes);
	hopper_put_int(out, values->shape_given);
	hopper_put_int(out, values->rank);
	hopper_put_bytes(out, values->shape, sizeof(values->shape));
	hopper_put_number(out, values->divisor);
	hopper_put_number(out, values->mean);
	hopper_put_number(out, values->deviation);
	hopper_put_text(out, values->first_row);
	hopper_put_int(out, values->padding.given);
	hopper_put_number(out, values->padding.value);
	hopper_put_int(out, values->padding.before);
	hopper_put_int(out, values->padding.truncate);
}

/* Layout and types of the numbers are looked up again; the rest must go with them. */
static void
get_one_input(hopper_reader *in, hopper_pack_values *values, int n_columns,
			  const hopper_pack_column *columns)
{
	hopper_pack_values known;
	int64		shape[HOPPER_MAX_RANK];
	bool		given;
	int			rank;
	const char *schema = hopper_get_text(in);

	if (schema)
	{
		hopper_pack_values_init_schema(values, hopper_schema_open(schema), n_columns, columns,
									   "the rows", "the rows");
		return;
	}
	memset(values, 0, sizeof(*values));
	values->layout = (hopper_pack_layout) hopper_get_int32(in);
	values->n_columns = n_columns;
	values->columns = columns;
	values->elements = hopper_get_array(in, n_columns, sizeof(Oid));
	values->type = hopper_get_int32(in);
	values->or_bytes = hopper_get_bool(in);
	given = hopper_get_bool(in);
	rank = (int) hopper_get_int_between(in, 0, HOPPER_MAX_RANK);
	hopper_get_array_into(in, shape, HOPPER_MAX_RANK, sizeof(int64));
	values->divisor = hopper_get_number(in);
	values->mean = hopper_get_number(in);
	values->deviation = hopper_get_number(in);
	values->first_row = hopper_get_text(in);
	values->padding.given = hopper_get_bool(in);
	values->padding.value = hopper_get_number(in);
	values->padding.before = hopper_get_bool(in);
	values->padding.truncate = hopper_get_int_between(in, PACK_REFUSE_LONGER, PACK_CUT_END);
	hopper_pack_values_init(&known, n_columns, columns, "the rows");
	if (values->layout != known.layout ||
		memcmp(values->elements, known.elements, sizeof(Oid) * n_columns) != 0 ||
		hopper_core()->type_size(values->type) < 1)
		hopper_refuse_description();
	hopper_pack_values_set_shape(values, rank, shape);
	values->shape_given = given;
	if (values->layout == PACK_SCALARS && values->count != n_columns)
		hopper_refuse_description();
	if (values->padding.given && (values->layout != PACK_ARRAY || rank < 1 ||
								  !hopper_padding_fits(values->type, values->padding.value)))
		hopper_refuse_description();
}

static void
get_inputs(hopper_reader *in, hopper_pack_values *values, int n, int n_columns,
		   const hopper_pack_column *columns)
{
	int			at = 0;

	if (n < 2 || n > HOPPER_MAX_INPUTS)
		hopper_refuse_description();
	memset(values, 0, sizeof(*values));
	values->layout = PACK_INPUTS;
	values->divisor = 1.0;
	values->n_columns = n_columns;
	values->columns = columns;
	values->elements = palloc0(sizeof(Oid) * n_columns);
	values->inputs.n = values->n_parts = n;
	values->inputs.names = palloc0(sizeof(char *) * n);
	values->inputs.columns = palloc0(sizeof(int) * n);
	values->parts = palloc0(sizeof(hopper_pack_values) * n);
	for (int i = 0; i < n; i++)
	{
		values->inputs.names[i] = hopper_get_required_text(in);
		values->inputs.columns[i] = (int) hopper_get_int_between(in, 1, n_columns - at);
		if (hopper_get_int(in) != 0)
			hopper_refuse_description();
		get_one_input(in, &values->parts[i], values->inputs.columns[i], columns + at);
		at += values->inputs.columns[i];
	}
	if (at != n_columns)
		hopper_refuse_description();
	hopper_pack_values_know_inputs(values);
}

void
hopper_pack_get_values(hopper_reader *in, hopper_pack_values *values, int n_columns,
					   const hopper_pack_column *columns)
{
	int			n = hopper_get_count(in, 3 * sizeof(int64));

	if (n > 0)
		get_inputs(in, values, n, n_columns, columns);
	else
		get_one_input(in, values, n_columns, columns);
}

bytea *
hopper_pack_describe_job(const hopper_pack_job *job)
{
	StringInfoData out;

	hopper_begin_description(&out, HOPPER_DESCRIBES_PACKING);
	hopper_put_int(&out, job->request.seed);
	hopper_put_int(&out, job->request.validation);
	hopper_put_text(&out, job->request.training.table.shown);
	hopper_pack_put_source(&out, &job->source);
	hopper_pack_put_values(&out, &job->x);
	hopper_put_int(&out, job->y_kind);
	if (job->y_kind != HOPPER_LABEL_CLASS)
		hopper_pack_put_values(&out, &job->y);
	else
	{
		hopper_put_int(&out, job->classes.family);
		hopper_put_int(&out, job->classes.num_classes);
		hopper_put_int(&out, job->classes.n);
		for (int i = 0; i < job->classes.n; i++)
			hopper_put_text(&out, job->classes.names[i]);
	}
	return hopper_end_description(&out, HOPPER_DESCRIBES_PACKING);
}

void
hopper_pack_read_job(const bytea *description, hopper_pack_job *job)
{
	hopper_reader in;

	memset(job, 0, sizeof(*job));
	hopper_open_description(description, HOPPER_DESCRIBES_PACKING, &in);
	job->request.seed = hopper_get_int(&in);
	job->request.validation = hopper_get_bool(&in);
	job->request.training.table.shown = hopper_get_text(&in);
	hopper_pack_get_source(&in, &job->source);
	hopper_pack_get_values(&in, &job->x, job->source.n_x, job->source.x);
	job->y_kind = (int32) hopper_get_int_between(&in, HOPPER_LABEL_CLASS, HOPPER_LABEL_ARRAY);
	if (job->y_kind != HOPPER_LABEL_CLASS)
		hopper_pack_get_values(&in, &job->y, 1, &job->source.y);
	else
	{
		job->classes.family = (hopper_pack_family) hopper_get_int_between(&in, PACK_BOOL,
																		  PACK_TEXT);
		/* none where the source has no rows */
		job->classes.num_classes = (int) hopper_get_int_between(&in, 0, PG_INT32_MAX);
		job->classes.n = hopper_get_count(&in, sizeof(int64));
		job->classes.names = palloc0(sizeof(char *) * (job->classes.n + 1));
		for (int i = 0; i < job->classes.n; i++)
			job->classes.names[i] = hopper_get_text(&in);
		if (job->classes.n > job->classes.num_classes)
			hopper_refuse_description();
		hopper_pack_finish_classes(&job->classes);
	}
	hopper_get_end(&in);
	hopper_pack_set_row_shape(job);
}

static void
put_row_shape(StringInfo out, const hopper_pack_row_shape *row)
{
	hopper_put_int(out, (int64) row->x_size);
	hopper_put_int(out, (int64) row->y_size);
	hopper_put_int(out, row->x_rank);
	hopper_put_bytes(out, row->x_shape, sizeof(row->x_shape));
	hopper_put_int(out, row->y_rank);
	hopper_put_bytes(out, row->y_shape, sizeof(row->y_shape));
}

static void
get_row_shape(hopper_reader *in, hopper_pack_row_shape *row)
{
	row->x_size = (size_t) hopper_get_int_between(in, 1, PACK_MAX_BUFFER_BYTES);
	row->y_size = (size_t) hopper_get_int_between(in, 1, PACK_MAX_BUFFER_BYTES);
	row->x_rank = (int) hopper_get_int_between(in, 0, HOPPER_MAX_RANK);
	hopper_get_array_into(in, row->x_shape, HOPPER_MAX_RANK, sizeof(int64));
	row->y_rank = (int) hopper_get_int_between(in, 0, HOPPER_MAX_RANK);
	hopper_get_array_into(in, row->y_shape, HOPPER_MAX_RANK, sizeof(int64));
}

bytea *
hopper_pack_describe_plan(const hopper_pack_plan *plan)
{
	StringInfoData out;

	hopper_begin_description(&out, HOPPER_DESCRIBES_PLAN);
	hopper_put_int(&out, plan->validation);
	put_row_shape(&out, &plan->row);
	hopper_put_int(&out, plan->n_strata);
	hopper_put_int(&out, plan->n_buffers);
	hopper_put_bytes(&out, plan->limits, (size_t) plan->n_strata * PACK_PLACE_SIZE);
	hopper_put_bytes(&out, plan->any, (size_t) plan->n_strata * sizeof(bool));
	hopper_put_bytes(&out, plan->ends, (size_t) plan->n_buffers * PACK_PLACE_SIZE);
	hopper_put_bytes(&out, plan->partitions, (size_t) plan->n_buffers * sizeof(int32));
	hopper_put_bytes(&out, plan->rows, (size_t) plan->n_buffers * sizeof(int32));
	hopper_put_bytes(&out, plan->keys, (size_t) plan->n_buffers * sizeof(int32));
	return hopper_end_description(&out, HOPPER_DESCRIBES_PLAN);
}

/* What hopper_pack_buffer_init() relies on: a value holds a buffer's features, or its labels. */
static void
check_plan(const hopper_pack_plan *plan)
{
	size_t		row = Max(plan->row.x_size, plan->row.y_size);

	for (int32 i = 0; i < plan->n_strata; i++)
		if (((const uint8 *) plan->any)[i] > 1)
			hopper_refuse_description();
	for (int32 i = 0; i < plan->n_buffers; i++)
		if (plan->partitions[i] < 0 || plan->rows[i] < 1 ||
			(size_t) plan->rows[i] > (MaxAllocSize - VARHDRSZ) / row)
			hopper_refuse_description();
}

void
hopper_pack_read_plan(const bytea *description, hopper_pack_plan *plan)
{
	hopper_reader in;

	hopper_open_description(description, HOPPER_DESCRIBES_PLAN, &in);
	plan->validation = hopper_get_bool(&in);
	get_row_shape(&in, &plan->row);
	plan->n_strata = (int32) hopper_get_int_between(&in, 1, PG_INT32_MAX);
	plan->n_buffers = (int32) hopper_get_int_between(&in, 1, PG_INT32_MAX);
	plan->limits = hopper_get_array(&in, plan->n_strata, PACK_PLACE_SIZE);
	plan->any = hopper_get_array(&in, plan->n_strata, sizeof(bool));
	plan->ends = hopper_get_array(&in, plan->n_buffers, PACK_PLACE_SIZE);
	plan->partitions = hopper_get_array(&in, plan->n_buffers, sizeof(int32));
	plan->rows = hopper_get_array(&in, plan->n_buffers, sizeof(int32));
	plan->keys = hopper_get_array(&in, plan->n_buffers, sizeof(int32));
	hopper_get_end(&in);
	check_plan(plan);
}
