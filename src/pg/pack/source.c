/*
 * source.c
 *		The table or view that is packed: its columns, what names its rows, and the query over them.
 */
#include "pg/pack/pack.h"

#include "access/sysattr.h"

#include "pg/codec/schema.h"

static void
resolve_packed_column(Oid relation, const char *name, hopper_pack_column *column)
{
	if (hopper_require_column(relation, name) < 0)
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("system column \"%s\" cannot be packed", name));
	hopper_pack_resolve_column(relation, name, column);
}

static bool
is_column(Oid relation, const char *name)
{
	return get_attnum(relation, name) != InvalidAttrNumber;
}

/* Labels of several outputs, and the weights behind them: together an array. */
static void
open_labels(const hopper_pack_request *request, hopper_pack_source *source, Oid relation)
{
	ListCell   *cell;

	source->labels = palloc0(sizeof(hopper_pack_column) * (list_length(request->y_names) + 1));
	foreach(cell, request->y_names)
		if (is_column(relation, lfirst(cell)))
		{
			resolve_packed_column(relation, lfirst(cell), &source->labels[source->n_labels]);
			source->labels[source->n_labels++].is_label = true;
		}
	if (request->weight_name && is_column(relation, request->weight_name))
		resolve_packed_column(relation, request->weight_name,
							  &source->labels[source->n_labels++]);
	source->y.name = PACK_LABELS;
	source->y.declared = source->y.type = FLOAT4ARRAYOID;
	source->y.sql_type = source->y.qualified_type = "real[]";
}

/* Treatments are asked for, or columns are of types that a network cannot read as they are. */
static bool
is_by_schema(const hopper_pack_request *request, const hopper_pack_source *source)
{
	if (request->validation)
		return request->training.schema_text != NULL;
	if (request->inputs.n > 0 || request->star || request->treatments)
		return request->inputs.n == 0;
	for (int i = 0; i < source->n_x; i++)
	{
		const char *family = hopper_schema_family(source->x[i].type);

		if (family && hopper_pack_number_type(source->x[i].type) == 0 &&
			strcmp(family, "numbers") != 0)
			return true;
	}
	return false;
}

void
hopper_pack_open_source(hopper_pack_request *request, hopper_pack_source *source)
{
	hopper_complaints *complaints = &request->complaints;
	const char *whole = psprintf("packing \"%s\"", request->source.shown);
	Oid			relation;
	List	   *columns;
	ListCell   *cell;

	/* Without the table there is nothing more to find. */
	if (!OidIsValid(hopper_relation_oid(&request->source, true)))
		hopper_throw_complaints(complaints, whole);
	relation = hopper_source_oid(&request->source);
	if (request->star)
		hopper_pack_find_features(request, relation);
	columns = list_concat(list_copy(request->x_names), list_copy(request->y_names));
	if (request->fold_column)
		columns = lappend(columns, request->fold_column);
	if (request->weight_name)
		columns = lappend(columns, request->weight_name);
	if (request->split_name)
		columns = lappend(columns, request->split_name);
	hopper_complain_of_columns(complaints, relation, columns);
	memset(source, 0, sizeof(*source));
	source->segment = -1;
	source->may_query = true;
	source->name = request->source;
	source->x = palloc0(sizeof(hopper_pack_column) * list_length(request->x_names));
	foreach(cell, request->x_names)
	{
		if (request->fold_column && strcmp(lfirst(cell), request->fold_column) == 0)
			hopper_complain(complaints, ERRCODE_INVALID_PARAMETER_VALUE,
							psprintf("fold_column \"%s\" is among the features",
									 request->fold_column),
							"It says which rows are for validation, and nothing that a model "
							"should know.",
							"Leave it out of independent_varname.");
		if (list_length(request->x_names) > 1 && hopper_pack_is_label(request, lfirst(cell)))
			ereport(WARNING,
					errmsg("label column \"%s\" is among the features", (char *) lfirst(cell)),
					errhint("A model that is given the answer learns nothing else. Leave it out "
							"of independent_varname."));
		if (is_column(relation, lfirst(cell)))
			resolve_packed_column(relation, lfirst(cell), &source->x[source->n_x++]);
	}
	if (request->n_outputs > 0 || request->weight_name)
		open_labels(request, source, relation);
	else if (is_column(relation, linitial(request->y_names)))
		resolve_packed_column(relation, linitial(request->y_names), &source->y);
	source->y.is_label = true;
	if (request->fold_column && is_column(relation, request->fold_column))
	{
		resolve_packed_column(relation, request->fold_column, &source->fold);
		if (source->fold.type != BOOLOID)
			hopper_complain(complaints, ERRCODE_DATATYPE_MISMATCH,
							psprintf("column \"%s\" of \"%s\" is of type %s but fold_column must"
									 " be boolean",
									 source->fold.name, source->name.shown,
									 source->fold.sql_type), NULL,
							"True marks a row for validation; a view can compute it.");
	}
	if (request->split_name && is_column(relation, request->split_name))
		resolve_packed_column(relation, request->split_name, &source->split);
	request->by_schema = is_by_schema(request, source);
	if (request->by_schema)
		hopper_pack_complain_of_families(complaints, source);
	else
		hopper_pack_complain_of_types(complaints, source->n_x, source->x, source->name.shown);
	hopper_throw_complaints(complaints, whole);
	hopper_pack_find_row_names(source, relation);
}

/* The label, or those of several outputs and the weight. */
static hopper_pack_job *
label_at(hopper_pack_job *job, int i)
{
	return job->source.n_labels > 0 ? job->parts[i] : job;
}

void
hopper_pack_set_job_row_types(hopper_pack_job *job)
{
	hopper_pack_source *source = &job->source;
	int			n_more = Max(source->n_labels, 1);
	Oid		   *more = palloc(sizeof(Oid) * (n_more + 1));

	for (int i = 0; i < n_more; i++)
	{
		const hopper_pack_job *label = label_at(job, i);

		more[i] = label->y_kind != HOPPER_LABEL_CLASS ? label->source.y.declared
			: label->classes.family == PACK_TEXT ? TEXTOID : INT8OID;
	}
	if (source->fold.name)
		more[n_more++] = source->fold.declared;
	hopper_pack_set_row_types(source, n_more, more, true);
	if (source->told_rounding == NULL)
		source->told_rounding = palloc0(sizeof(bool));
}

char *
hopper_pack_row_query(hopper_pack_job *job)
{
	hopper_pack_source *source = &job->source;
	StringInfo	more = makeStringInfo();

	for (int i = 0; i < Max(source->n_labels, 1); i++)
	{
		const hopper_pack_job *label = label_at(job, i);

		/* the family is PACK_NO_CLASS where labels are numbers */
		appendStringInfo(more, "%s%s", i ? ", " : "",
						 hopper_pack_label_expression(&label->source.y, label->classes.family));
	}
	hopper_pack_set_job_row_types(job);
	if (source->fold.name)
		appendStringInfo(more, ", %s", source->fold.expression ? source->fold.expression
						 : hopper_identifier(source->fold.name));
	return psprintf("SELECT %s FROM %s%s", hopper_pack_row_list(source, more->data, true),
					source->name.quoted, hopper_pack_labelled_rows(&job->request, source));
}
