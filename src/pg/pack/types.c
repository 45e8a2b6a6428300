/*
 * types.c
 *		How the source's columns are packed: names, types and shapes of features and labels.
 */
#include "pg/pack/pack.h"

#include "pg/codec/schema.h"

#define PACK_HINT_LABELS \
	"Labels are boolean, integers, text, enums, numbers or arrays of numbers."

const char *
hopper_pack_feature_column(const hopper_pack_job *job)
{
	return hopper_packed_features(job->source.n_x, (char *const *) &job->source.x[0].name,
								  job->source.y.name);
}

void
hopper_pack_require_free_names(const hopper_pack_job *job)
{
	const char *x = hopper_pack_feature_column(job);
	const char *y = hopper_packed_label(job->source.y.name);
	const char *names[] = {"partition_id", "buffer_id", "n", "checksum", x, y,
		psprintf("%s_shape", x), psprintf("%s_shape", y),
		hopper_class_values_name(job->source.y.name)};
	int			i;
	int			k;

	for (i = 0; i < lengthof(names); i++)
	{
		if (strlen(names[i]) >= NAMEDATALEN)
			hopper_raise(ERRCODE_NAME_TOO_LONG,
						 errmsg("column \"%s\" of \"%s\" has too long a name", i == 6 ? x : y,
								job->source.name.shown),
						 errdetail("The column \"%s\" goes with it, and names have at most %d "
								   "bytes.", names[i], NAMEDATALEN - 1),
						 errhint("Rename the column in a view and pack that."));
		for (k = 0; k < i; k++)
			if (strcmp(names[i], names[k]) == 0)
				hopper_raise(ERRCODE_DUPLICATE_COLUMN,
							 errmsg("packed table would have two columns named \"%s\"", names[i]),
							 errhint("Rename the column in a view and pack that."));
	}
}

/* One input of validation data takes type and shape from the training data's. */
static void
set_trained_features(const hopper_pack_job *job, hopper_pack_values *x, int32 type, int rank,
					 const int64 *shape)
{
	const hopper_packed *training = &job->request.training;
	const hopper_pack_source *source = &job->source;
	int			at = (int) (x->columns - source->x);

	if (x->type > type)
		hopper_raise(ERRCODE_DATATYPE_MISMATCH,
					 errmsg("features of \"%s\" are %s but \"%s\" was packed with %s",
							source->name.shown, hopper_pack_type_name(x->type),
							training->table.shown, hopper_pack_type_name(type)),
					 errdetail("Column \"%s\" is of type %s; the training data had %s.",
							   x->columns[0].name, x->columns[0].sql_type,
							   training->x_sql_types[at]),
					 errhint("Cast the column in a view."));
	if (x->layout == PACK_SCALARS && (rank != 1 || shape[0] != x->count))
		hopper_wrong(errmsg("independent_varname names %s but \"%s\" was packed with features of "
							"shape %s", hopper_plural(x->count, "column", "columns"),
							training->table.shown, hopper_pack_shape_text(rank, shape)));
	if (x->layout == PACK_BYTES)
		hopper_pack_values_set_bytes_type(x, type, true);
	x->type = type;
	hopper_pack_values_set_shape(x, rank, shape);
}

/* image_shape and bytea_type are those of the one input that is no list of numbers. */
static void
set_image_shape(const hopper_pack_job *job, hopper_pack_values *x, int n)
{
	const hopper_pack_request *request = &job->request;
	const char *source = job->source.name.shown;
	hopper_pack_values *image = NULL;
	int			n_bytes = 0;
	int			n_others = 0;

	for (int i = 0; i < n; i++)
		n_bytes += x[i].layout == PACK_BYTES;
	for (int i = 0; i < n; i++)
		if (x[i].layout == PACK_BYTES || (n_bytes == 0 && x[i].layout == PACK_ARRAY))
		{
			image = &x[i];
			n_others++;
		}
	if (request->bytea_type != 0 && n_bytes == 0)
		hopper_wrong(errmsg("bytea_type needs a column of bytea"),
					 errdetail("Column \"%s\" of \"%s\" is of type %s.", job->source.x[0].name,
							   source, job->source.x[0].sql_type));
	if (request->image_rank > 0 && image == NULL)
		hopper_wrong(errmsg("image_shape needs a column of arrays or bytea"),
					 errdetail("Column \"%s\" of \"%s\" is of type %s.", job->source.x[0].name,
							   source, job->source.x[0].sql_type));
	if ((request->image_rank > 0 || request->bytea_type != 0) && n_others > 1)
		hopper_wrong(errmsg("image_shape is for one input, and %d of \"%s\" are images or arrays",
							n_others, source),
					 errhint("Arrays have shapes of their own: leave image_shape out, and make "
							 "arrays of images of bytes in a view."));
	if (request->bytea_type != 0)
		hopper_pack_values_set_bytes_type(image, request->bytea_type, false);
	if (request->image_rank > 0)
		hopper_pack_values_set_shape(image, request->image_rank, request->image_shape);
	else if (n_bytes > 0)
		hopper_wrong(errmsg("column \"%s\" of \"%s\" is of type bytea, which needs image_shape",
							image->columns[0].name, source),
					 errhint("Pass image_shape => ARRAY[height, width, channels]."));
}

void
hopper_pack_set_features(hopper_pack_job *job)
{
	hopper_pack_request *request = &job->request;
	const hopper_pack_source *source = &job->source;
	hopper_pack_values *x = &job->x;
	const hopper_data_desc *trained = &request->training.desc;

	if (request->by_schema)
	{
		hopper_pack_values_init_schema(x, job->schema, source->n_x, source->x,
									   source->name.shown, request->validation
									   ? request->training.table.shown : source->name.shown);
		return;
	}
	if (!request->validation && request->inputs.names == NULL)
		hopper_inputs_of_columns(source->n_x, source->x, &request->inputs);
	hopper_pack_values_init_inputs(x, &request->inputs, source->n_x, source->x,
								   source->name.shown);
	if (request->normalizing_const > 0)
	{
		x->divisor = request->normalizing_const;
		for (int i = 0; i < x->n_parts; i++)
			x->parts[i].divisor = x->divisor;
	}
	if (request->validation && x->n_parts > 0)
		for (int i = 0; i < x->n_parts; i++)
			set_trained_features(job, &x->parts[i], trained->inputs[i].type,
								 trained->inputs[i].rank, trained->inputs[i].shape);
	else if (request->validation)
		set_trained_features(job, x, trained->x_type, trained->x_rank, trained->x_shape);
	else if (x->n_parts > 0)
		set_image_shape(job, x->parts, x->n_parts);
	else
		set_image_shape(job, x, 1);
	if (x->n_parts > 0)
		hopper_pack_values_know_inputs(x);
	if (request->validation)
		hopper_pack_values_take_padding(x, request->training.padding);
}

/* Numbers as labels: a scalar is a regression value, an array is packed as it is. */
static void
set_number_labels(hopper_pack_job *job)
{
	const hopper_packed *training = &job->request.training;
	const hopper_data_desc *trained = &training->desc;
	const hopper_pack_column *column = &job->source.y;
	hopper_pack_values *y = &job->y;

	if (column->type == BYTEAOID)
		hopper_raise(ERRCODE_DATATYPE_MISMATCH,
					 errmsg("label column \"%s\" of \"%s\" is of type bytea, which cannot be a "
							"label", column->name, job->source.name.shown),
					 errhint(PACK_HINT_LABELS));
	if (!hopper_pack_number_type(column->type) && !OidIsValid(get_element_type(column->type)))
		hopper_raise(ERRCODE_DATATYPE_MISMATCH,
					 errmsg("label column \"%s\" of \"%s\" is of type %s, which cannot be a label",
							column->name, job->source.name.shown, column->sql_type),
					 errhint(PACK_HINT_LABELS " A view can cast the column to text, for "
							 "classes, or compute a number from it."));
	if (job->request.num_classes > 0)
		hopper_wrong(errmsg("num_classes is given but label column \"%s\" of \"%s\" is of type "
							"%s, which has no classes", column->name, job->source.name.shown,
							column->sql_type),
					 errhint("Leave num_classes out, or cast the labels to integer in a view."));
	hopper_pack_values_init(y, 1, column, job->source.name.shown);
	job->y_kind = y->layout == PACK_SCALARS ? HOPPER_LABEL_VALUE : HOPPER_LABEL_ARRAY;
	/* nothing computes with labels of more precision */
	if (job->y_kind == HOPPER_LABEL_VALUE || y->type == HOPPER_FLOAT64)
		y->type = HOPPER_FLOAT32;
	if (job->request.validation)
	{
		if (job->y_kind != trained->y_kind || y->type > trained->y_type)
		{
			if (strcmp(column->sql_type, training->y_sql_type) == 0)
				hopper_refuse_packed(training,
									 psprintf("Column \"label_kind\" or \"label_type\" of its"
											  " summary is not that of labels of type %s",
											  training->y_sql_type));
			hopper_raise(ERRCODE_DATATYPE_MISMATCH,
						 errmsg("column \"%s\" of \"%s\" is of type %s but \"%s\" was packed with "
								"labels of type %s", column->name, job->source.name.shown,
								column->sql_type, training->table.shown, training->y_sql_type),
						 errhint("Cast the column in a view."));
		}
		y->type = trained->y_type;
	}
	if (job->y_kind == HOPPER_LABEL_VALUE)
	{
		hopper_pack_values_set_shape(y, 0, NULL);
		if (job->schema && job->schema->info.label.scale.is_scaled)
		{
			y->mean = job->schema->info.label.scale.mean;
			y->deviation = job->schema->info.label.scale.deviation;
		}
	}
	else if (job->request.validation)
		hopper_pack_values_set_shape(y, trained->y_rank, trained->y_shape);
}

bool
hopper_pack_is_label(const hopper_pack_request *request, const char *name)
{
	ListCell   *cell;

	foreach(cell, request->y_names)
		if (strcmp(lfirst(cell), name) == 0)
			return true;
	return false;
}

const char *
hopper_pack_labelled_rows(const hopper_pack_request *request, const hopper_pack_source *source)
{
	StringInfoData where;

	if (request->null_labels != PACK_NULL_SKIP)
		return "";
	if (source->n_labels > 0)
	{
		int			n = source->n_labels - (request->weight_name ? 1 : 0);

		initStringInfo(&where);
		for (int i = 0; i < n; i++)
			appendStringInfo(&where, "%s%s IS NOT NULL", i ? " AND " : " WHERE ",
							 hopper_identifier(source->labels[i].name));
		return where.data;
	}
	return psprintf(" WHERE %s IS NOT NULL", hopper_identifier(source->y.name));
}

/*
 * Rows without a label, and the range of labels that are numbers: what a user sees before anything
 * is trained.
 */
static void
look_at_labels(hopper_pack_job *job)
{
	const hopper_pack_request *request = &job->request;
	const hopper_pack_source *source = &job->source;
	const char *y = hopper_identifier(source->y.name);
	bool		is_value = job->y_kind == HOPPER_LABEL_VALUE;
	const char *number = source->y.type == BOOLOID ? psprintf("%s::pg_catalog.int4", y) : y;
	bool		refused = request->null_labels == PACK_NULL_ERROR &&
	(is_value || (!request->validation && job->classes.null_class >= 0 &&
				  job->y_kind == HOPPER_LABEL_CLASS));
	int64		n_nulls;

	if (!is_value && !refused && request->null_labels != PACK_NULL_SKIP)
		return;
	(void) hopper_select_at_once("SELECT pg_catalog.count(*) OPERATOR(pg_catalog.-)"
								 " pg_catalog.count(%s)%s FROM %s", y,
								 is_value
								 ? psprintf(", pg_catalog.min(%s)::pg_catalog.text,"
											" pg_catalog.max(%s)::pg_catalog.text,"
											" pg_catalog.bool_and(%s OPERATOR(pg_catalog.>=) 0 AND"
											" %s OPERATOR(pg_catalog.<=) 20 AND"
											" pg_catalog.trunc(%s) OPERATOR(pg_catalog.=) %s)"
											"::pg_catalog.text",
											number, number, number, number, number, number) : "",
								 source->name.quoted);
	n_nulls = hopper_int_cell(&source->name, 0, 1, 0, PG_INT64_MAX);
	if (is_value)
	{
		job->least_label = hopper_cell(0, 2);
		job->largest_label = hopper_cell(0, 3);
		job->may_be_classes = request->label_kind == 0 && !request->validation &&
			hopper_cell(0, 4) && strcmp(hopper_cell(0, 4), "true") == 0;
	}
	if (n_nulls > 0 && refused)
		hopper_raise(ERRCODE_NULL_VALUE_NOT_ALLOWED,
					 errmsg("%s of \"%s\" %s no label", hopper_plural(n_nulls, "row", "rows"),
							source->name.shown, n_nulls == 1 ? "has" : "have"),
					 errdetail("Column \"%s\" is NULL there.", source->y.name),
					 job->y_kind == HOPPER_LABEL_CLASS
					 ? errhint("Pass null_labels => 'skip' to leave them out, or 'class' to make "
							   "them a class of their own.")
					 : errhint("Pass null_labels => 'skip' to leave them out."));
	if (request->null_labels == PACK_NULL_SKIP)
		job->n_unlabelled = n_nulls;
}

void
hopper_pack_set_label(hopper_pack_job *job)
{
	const hopper_pack_request *request = &job->request;
	const hopper_pack_column *column = &job->source.y;
	hopper_pack_family family = hopper_pack_label_family(column->type);

	if (request->label_kind == HOPPER_LABEL_CLASS && family == PACK_NO_CLASS)
		hopper_raise(ERRCODE_DATATYPE_MISMATCH,
					 errmsg("label_kind is 'class' but label column \"%s\" of \"%s\" is of type %s",
							column->name, job->source.name.shown, column->sql_type),
					 errhint("Classes are boolean, integers, text or enums: cast the column in "
							 "a view."));
	if (request->label_kind == HOPPER_LABEL_VALUE)
	{
		if (!hopper_pack_number_type(column->type))
			hopper_raise(ERRCODE_DATATYPE_MISMATCH,
						 errmsg("label_kind is 'value' but label column \"%s\" of \"%s\" is of "
								"type %s", column->name, job->source.name.shown, column->sql_type),
						 errhint("Values are numbers; a view can compute them."));
		family = PACK_NO_CLASS;
	}

	if (request->validation && request->training.desc.y_kind == HOPPER_LABEL_CLASS)
	{
		hopper_pack_training_classes(request, &job->source, &job->classes);
		job->y_kind = HOPPER_LABEL_CLASS;
	}
	else if (!request->validation && family != PACK_NO_CLASS)
		job->y_kind = HOPPER_LABEL_CLASS;
	else
		set_number_labels(job);
}

void
hopper_pack_read_label(hopper_pack_job *job)
{
	if (job->y_kind == HOPPER_LABEL_CLASS && !job->request.validation)
		hopper_pack_read_classes(&job->request, &job->source,
								 hopper_pack_labelled_rows(&job->request, &job->source),
								 &job->classes);
	look_at_labels(job);
}
