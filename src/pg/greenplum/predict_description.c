/*
 * predict_description.c
 *		A prediction as bytes for the segments.
 */
#include "pg/greenplum/predict.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"

#include "pg/server/devices.h"

static void
put_output(StringInfo out, const hopper_predict_model *model)
{
	hopper_put_text(out, model->class_name);
	hopper_put_int(out, model->link);
	hopper_put_int(out, model->link_width);
	hopper_put_int(out, model->is_value);
	hopper_put_int(out, model->is_array);
	hopper_put_int(out, model->is_each);
	hopper_put_int(out, model->class_type);
	hopper_put_int(out, model->rank);
	for (int i = 0; i < model->rank; i++)
		hopper_put_int(out, model->shape[i]);
	hopper_put_int(out, model->n_classes);
	hopper_put_int(out, model->n_class_values);
	for (int i = 0; i < model->n_class_values; i++)
		hopper_put_text(out, model->class_values[i]);
	hopper_put_int(out, model->first);
	hopper_put_int(out, model->count);
}

static void
get_output(hopper_reader *in, hopper_predict_model *model)
{
	char	  **names;

	model->class_name = hopper_get_required_text(in);
	model->link = (hopper_link) hopper_get_int_between(in, HOPPER_LINK_NONE, HOPPER_LINK_SOFTMAX);
	model->link_width = hopper_get_int(in);
	model->is_value = hopper_get_bool(in);
	model->is_array = hopper_get_bool(in);
	model->is_each = hopper_get_bool(in);
	model->class_type = (Oid) hopper_get_int_between(in, 0, PG_UINT32_MAX);
	if (model->is_each && model->class_type != INT2OID && model->class_type != INT4OID &&
		model->class_type != INT8OID && model->class_type != TEXTOID)
		hopper_refuse_description();
	/* what does not fit the values is an array of one dimension */
	model->rank = (int) hopper_get_int_between(in, 0, HOPPER_MAX_RANK);
	for (int i = 0; i < model->rank; i++)
		model->shape[i] = hopper_get_int(in);
	model->n_classes = (int) hopper_get_int_between(in, 0, PACK_MAX_CLASSES);
	model->n_class_values = hopper_get_count(in, sizeof(int64));
	names = palloc(sizeof(char *) * (model->n_class_values + 1));
	for (int i = 0; i < model->n_class_values; i++)
		names[i] = hopper_get_text(in);
	model->class_values = (const char *const *) names;
	/* among the outputs: hopper_predict_bind_outputs() looks */
	model->first = hopper_get_int(in);
	model->count = hopper_get_int32(in);
}

static void
put_model(StringInfo out, const hopper_predict_model *model)
{
	hopper_put_text(out, model->shown);
	hopper_put_bytes(out, model->model_arch, model->model_arch_size);
	hopper_put_floats(out, &model->weights);
	hopper_put_number(out, model->normalizing_const);
	hopper_put_text(out, model->layer);
	put_output(out, model);
	hopper_put_int(out, model->n_parts);
	for (int i = 0; i < model->n_parts; i++)
		put_output(out, &model->parts[i]);
}

static void
get_model(hopper_reader *in, hopper_predict_model *model)
{
	model->shown = hopper_get_required_text(in);
	model->model_arch = hopper_get_bytes(in, &model->model_arch_size);
	if (model->model_arch == NULL)
		hopper_refuse_description();
	model->weights.n = hopper_get_int(in);
	model->weights.values = hopper_get_array(in, model->weights.n, sizeof(float));
	model->normalizing_const = hopper_get_number(in);
	model->layer = hopper_get_text(in);
	get_output(in, model);
	model->n_parts = (int) hopper_get_int_between(in, 0, HOPPER_MAX_OUTPUTS);
	model->parts = palloc0(sizeof(hopper_predict_model) * (model->n_parts + 1));
	for (int i = 0; i < model->n_parts; i++)
	{
		model->parts[i].shown = model->shown;
		get_output(in, &model->parts[i]);
	}
}

/* The labels as text: their type has the same number on all segments. */
static void
put_labels(StringInfo out, const hopper_prediction *run)
{
	Oid			output;
	bool		is_varlena;

	hopper_put_int(out, run->labels.type ? run->labels.oid : InvalidOid);
	if (run->labels.type == NULL)
		return;
	getTypeOutputInfo(run->labels.oid, &output, &is_varlena);
	hopper_put_int(out, run->labels.n);
	for (int i = 0; i < run->labels.n; i++)
		hopper_put_text(out, run->labels.nulls[i] ? NULL
				 : OidOutputFunctionCall(output, run->labels.values[i]));
}

/* A type whose values the role could make in any statement of its own. */
static void
require_label_type(Oid type)
{
	AclResult	result;

	if (get_typtype(type) == TYPTYPE_PSEUDO)
		hopper_refuse_description();
	result = pg_type_aclcheck(type, GetUserId(), ACL_USAGE);
	if (result != ACLCHECK_OK)
		aclcheck_error_type(result, type);
}

static void
get_labels(hopper_reader *in, hopper_prediction *run)
{
	Oid			input;
	Oid			parameter;

	run->labels.oid = (Oid) hopper_get_int_between(in, 0, PG_UINT32_MAX);
	if (!OidIsValid(run->labels.oid))
		return;
	require_label_type(run->labels.oid);
	getTypeInputInfo(run->labels.oid, &input, &parameter);
	run->labels.n = hopper_get_count(in, sizeof(int64));
	run->labels.values = palloc0(sizeof(Datum) * (run->labels.n + 1));
	run->labels.nulls = palloc0(sizeof(bool) * (run->labels.n + 1));
	for (int i = 0; i < run->labels.n; i++)
	{
		char	   *label = hopper_get_text(in);

		run->labels.nulls[i] = label == NULL;
		if (label)
			run->labels.values[i] = OidInputFunctionCall(input, label, parameter, -1);
	}
}

bytea *
hopper_predict_describe(const hopper_prediction *run, int segments_on_host)
{
	StringInfoData out;

	hopper_begin_description(&out, HOPPER_DESCRIBES_PREDICTION);
	put_model(&out, &run->model);
	put_labels(&out, run);
	hopper_put_int(&out, run->what.kind);
	hopper_put_int(&out, run->what.k);
	hopper_put_number(&out, run->what.threshold);
	hopper_pack_put_source(&out, &run->rows);
	hopper_put_int(&out, run->rows.may_lack);
	hopper_pack_put_values(&out, &run->values);
	hopper_put_int(&out, hopper_threads);
	hopper_put_int(&out, segments_on_host);
	return hopper_end_description(&out, HOPPER_DESCRIBES_PREDICTION);
}

void
hopper_predict_read_description(const bytea *description, hopper_prediction *run)
{
	hopper_reader in;
	int			threads;
	int			segments_on_host;

	memset(run, 0, sizeof(*run));
	hopper_open_description(description, HOPPER_DESCRIBES_PREDICTION, &in);
	get_model(&in, &run->model);
	get_labels(&in, run);
	run->what.kind = (hopper_predict_kind) hopper_get_int_between(&in, PREDICT_ALL,
																  PREDICT_COLUMNS);
	run->what.k = hopper_get_natural(&in);
	run->what.threshold = hopper_get_number(&in);
	hopper_pack_get_source(&in, &run->rows);
	run->rows.may_lack = hopper_get_bool(&in);
	run->source = run->rows.name;
	hopper_pack_get_values(&in, &run->values, run->rows.n_x, run->rows.x);
	/* which a value's unit comes from, too */
	run->model.schema = run->values.schema;
	threads = (int) hopper_get_int_between(&in, 0, HOPPER_MAX_THREADS);
	segments_on_host = hopper_get_natural(&in);
	hopper_get_end(&in);
	run->work.threads = hopper_segment_threads(threads, segments_on_host);
}
