/*
 * pack_description.c
 *		A packing job, and where its rows go, as bytes for the segments.
 */
#include "pg/greenplum/pack.h"

#include "cdb/cdbvars.h"

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
pass_column(hopper_wire *wire, hopper_pack_column *column)
{
	column->name = hopper_wire_text(wire, column->name);
	column->declared = hopper_wire_oid(wire, column->declared);
	/* neither where there is no fold */
	if (wire->reads && OidIsValid(column->declared))
		column->type = getBaseType(column->declared);
	column->sql_type = hopper_wire_text(wire, column->sql_type);
	column->is_label = hopper_wire_bool(wire, column->is_label);
}

void
hopper_pack_wire_source(hopper_wire *wire, hopper_pack_source *source)
{
	source->name.shown = hopper_wire_required_text(wire, source->name.shown);
	source->n_x = hopper_wire_count(wire, source->n_x, 3 * sizeof(int64));
	source->x = hopper_wire_items(wire, source->x, source->n_x, sizeof(hopper_pack_column));
	for (int i = 0; i < source->n_x; i++)
		pass_column(wire, &source->x[i]);
	pass_column(wire, &source->y);
	pass_column(wire, &source->fold);
	source->n_keys = hopper_wire_count(wire, source->n_keys, sizeof(int64));
	source->keys = hopper_wire_items(wire, source->keys, source->n_keys, sizeof(char *));
	for (int i = 0; i < source->n_keys; i++)
		source->keys[i] = hopper_wire_required_text(wire, source->keys[i]);
	source->has_ctid = hopper_wire_bool(wire, source->has_ctid);
	source->has_tableoid = hopper_wire_bool(wire, source->has_tableoid);
	source->first_key = hopper_wire_natural(wire, source->first_key);
	if (wire->reads)
		source->segment = GpIdentity.segindex;
}

/* Layout and types of the numbers are looked up again; what has been read must go with them. */
static void
settle_input(hopper_pack_values *values)
{
	hopper_pack_values known;
	bool		given = values->shape_given;

	hopper_pack_values_init(&known, values->n_columns, values->columns, "the rows");
	if (values->layout != known.layout ||
		memcmp(values->elements, known.elements, sizeof(Oid) * values->n_columns) != 0 ||
		hopper_core()->type_size(values->type) < 1)
		hopper_refuse_description();
	values->common_type = known.common_type;
	memcpy(known.shape, values->shape, sizeof(known.shape));
	hopper_pack_values_set_shape(values, values->rank, known.shape);
	values->shape_given = given;
	if (values->layout == PACK_SCALARS && values->count != values->n_columns)
		hopper_refuse_description();
	if (values->padding.given && (values->layout != PACK_ARRAY || values->rank < 1 ||
								  !hopper_padding_fits(values->type, values->padding.value)))
		hopper_refuse_description();
}

static void
pass_input(hopper_wire *wire, hopper_pack_values *values, int n_columns,
		   const hopper_pack_column *columns)
{
	const char *schema = hopper_wire_text(wire, values->schema ? values->schema->text : NULL);

	if (schema)
	{
		if (wire->reads)
			hopper_pack_values_init_schema(values, hopper_schema_open(schema), n_columns, columns,
										   "the rows", "the rows");
		return;
	}
	values->n_columns = n_columns;
	values->columns = columns;
	values->layout = (hopper_pack_layout) hopper_wire_int32(wire, values->layout);
	values->elements = hopper_wire_array(wire, values->elements, n_columns, sizeof(Oid));
	values->type = hopper_wire_int32(wire, values->type);
	values->or_bytes = hopper_wire_bool(wire, values->or_bytes);
	values->shape_given = hopper_wire_bool(wire, values->shape_given);
	values->rank = (int) hopper_wire_between(wire, values->rank, 0, HOPPER_MAX_RANK);
	hopper_wire_array_in(wire, values->shape, HOPPER_MAX_RANK, sizeof(int64));
	values->divisor = hopper_wire_number(wire, values->divisor);
	values->mean = hopper_wire_number(wire, values->mean);
	values->deviation = hopper_wire_number(wire, values->deviation);
	values->first_row = hopper_wire_text(wire, values->first_row);
	values->padding.given = hopper_wire_bool(wire, values->padding.given);
	values->padding.value = hopper_wire_number(wire, values->padding.value);
	values->padding.before = hopper_wire_bool(wire, values->padding.before);
	values->padding.truncate = hopper_wire_between(wire, values->padding.truncate,
												   PACK_REFUSE_LONGER, PACK_CUT_END);
	if (wire->reads)
		settle_input(values);
}

static void
pass_inputs(hopper_wire *wire, hopper_pack_values *values, int n_columns,
			const hopper_pack_column *columns)
{
	int			n = values->n_parts;
	int			at = 0;

	if (n < 2 || n > HOPPER_MAX_INPUTS)
		hopper_refuse_description();
	values->parts = hopper_wire_items(wire, values->parts, n, sizeof(hopper_pack_values));
	if (wire->reads)
	{
		values->layout = PACK_INPUTS;
		values->divisor = 1.0;
		values->n_columns = n_columns;
		values->columns = columns;
		values->elements = palloc0(sizeof(Oid) * n_columns);
		values->inputs.n = n;
		values->inputs.names = palloc0(sizeof(char *) * n);
		values->inputs.columns = palloc0(sizeof(int) * n);
	}
	for (int i = 0; i < n; i++)
	{
		int			n_own = values->parts[i].n_columns;

		values->inputs.names[i] = hopper_wire_required_text(wire, values->inputs.names[i]);
		n_own = (int) hopper_wire_between(wire, n_own, 1, n_columns - at);
		if (wire->reads)
			values->inputs.columns[i] = n_own;
		pass_input(wire, &values->parts[i], n_own, columns + at);
		at += n_own;
	}
	if (at != n_columns)
		hopper_refuse_description();
	if (wire->reads)
		hopper_pack_values_know_inputs(values);
}

void
hopper_pack_wire_values(hopper_wire *wire, hopper_pack_values *values, int n_columns,
						const hopper_pack_column *columns)
{
	if (wire->reads)
		memset(values, 0, sizeof(*values));
	values->n_parts = hopper_wire_count(wire, values->n_parts, 3 * sizeof(int64));
	if (values->n_parts > 0)
		pass_inputs(wire, values, n_columns, columns);
	else
		pass_input(wire, values, n_columns, columns);
}

static void
pass_classes(hopper_wire *wire, hopper_pack_classes *classes)
{
	classes->family = (hopper_pack_family) hopper_wire_between(wire, classes->family, PACK_BOOL,
															   PACK_TEXT);
	/* none where the source has no rows */
	classes->num_classes = hopper_wire_natural(wire, classes->num_classes);
	classes->n = hopper_wire_count(wire, classes->n, sizeof(int64));
	classes->names = hopper_wire_texts(wire, classes->names, classes->n);
	if (!wire->reads)
		return;
	if (classes->n > classes->num_classes)
		hopper_refuse_description();
	hopper_pack_finish_classes(classes);
}

/* How the label's column is packed, which has been passed. */
static void
pass_label(hopper_wire *wire, hopper_pack_job *label)
{
	label->y_kind = (int32) hopper_wire_between(wire, label->y_kind, HOPPER_LABEL_CLASS,
												HOPPER_LABEL_ARRAY);
	if (label->y_kind == HOPPER_LABEL_CLASS)
		pass_classes(wire, &label->classes);
	else
		hopper_pack_wire_values(wire, &label->y, 1, &label->source.y);
}

/* Labels of several outputs, and weights, which are together as long as job->y. */
static void
pass_parts(hopper_wire *wire, hopper_pack_job *job)
{
	int			n = hopper_wire_count(wire, job->source.n_labels, sizeof(int64));
	int64		count = 0;

	job->source.n_labels = n;
	job->n_outputs = (int) hopper_wire_between(wire, job->n_outputs, 0, n);
	job->parts = hopper_wire_items(wire, job->parts, n, sizeof(hopper_pack_job *));
	for (int i = 0; i < n; i++)
	{
		hopper_pack_job *part;

		if (wire->reads)
		{
			job->parts[i] = palloc0(sizeof(hopper_pack_job));
			job->parts[i]->request = job->request;
		}
		part = job->parts[i];
		pass_column(wire, &part->source.y);
		pass_label(wire, part);
		if (part->y_kind == HOPPER_LABEL_CLASS)
			part->classes.type = HOPPER_FLOAT32;
		else if (part->y.type != HOPPER_FLOAT32)
			hopper_refuse_description();
		count += part->y_kind == HOPPER_LABEL_CLASS ? 1 : part->y.count;
	}
	if (n > 0 && (job->y_kind != HOPPER_LABEL_ARRAY || job->y.type != HOPPER_FLOAT32 ||
				  job->y.count != count))
		hopper_refuse_description();
}

static void
pass_job(hopper_wire *wire, void *thing)
{
	hopper_pack_job *job = thing;

	job->request.seed = hopper_wire_int(wire, job->request.seed);
	job->request.validation = hopper_wire_bool(wire, job->request.validation);
	job->request.training.table.shown = hopper_wire_text(wire, job->request.training.table.shown);
	hopper_pack_wire_source(wire, &job->source);
	hopper_pack_wire_values(wire, &job->x, job->source.n_x, job->source.x);
	pass_label(wire, job);
	pass_parts(wire, job);
	if (wire->reads)
		hopper_pack_set_row_shape(job);
}

const hopper_description hopper_job_description = {
	HOPPER_DESCRIBES_PACKING, pass_job, sizeof(hopper_pack_job)
};

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

static void
pass_plan(hopper_wire *wire, void *thing)
{
	hopper_pack_plan *plan = thing;
	hopper_pack_row_shape *row = &plan->row;

	plan->validation = hopper_wire_bool(wire, plan->validation);
	row->x_size = (size_t) hopper_wire_between(wire, (int64) row->x_size, 1,
											   PACK_MAX_BUFFER_BYTES);
	row->y_size = (size_t) hopper_wire_between(wire, (int64) row->y_size, 1,
											   PACK_MAX_BUFFER_BYTES);
	row->x_rank = (int) hopper_wire_between(wire, row->x_rank, 0, HOPPER_MAX_RANK);
	hopper_wire_array_in(wire, row->x_shape, HOPPER_MAX_RANK, sizeof(int64));
	row->y_rank = (int) hopper_wire_between(wire, row->y_rank, 0, HOPPER_MAX_RANK);
	hopper_wire_array_in(wire, row->y_shape, HOPPER_MAX_RANK, sizeof(int64));
	plan->n_strata = (int32) hopper_wire_between(wire, plan->n_strata, 1, PG_INT32_MAX);
	plan->n_buffers = (int32) hopper_wire_between(wire, plan->n_buffers, 1, PG_INT32_MAX);
	plan->limits = hopper_wire_array(wire, plan->limits, plan->n_strata, PACK_PLACE_SIZE);
	plan->any = hopper_wire_array(wire, plan->any, plan->n_strata, sizeof(bool));
	plan->ends = hopper_wire_array(wire, plan->ends, plan->n_buffers, PACK_PLACE_SIZE);
	plan->partitions = hopper_wire_array(wire, plan->partitions, plan->n_buffers, sizeof(int32));
	plan->rows = hopper_wire_array(wire, plan->rows, plan->n_buffers, sizeof(int32));
	plan->keys = hopper_wire_array(wire, plan->keys, plan->n_buffers, sizeof(int32));
	if (wire->reads)
		check_plan(plan);
}

const hopper_description hopper_plan_description = {
	HOPPER_DESCRIBES_PLAN, pass_plan, sizeof(hopper_pack_plan)
};
