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
put_model(StringInfo out, const predict_model *model)
{
	put_text(out, model->shown);
	put_bytes(out, model->model_arch, model->model_arch_size);
	put_int(out, model->n_weights);
	put_bytes(out, model->weights, model->n_weights * sizeof(float));
	put_bytes(out, &model->normalizing_const, sizeof(double));
	put_text(out, model->class_name);
	put_int(out, model->is_value);
	put_int(out, model->is_array);
	put_int(out, model->n_classes);
	put_int(out, model->n_class_values);
	for (int i = 0; i < model->n_class_values; i++)
		put_text(out, model->class_values[i]);
}

static void
get_model(reader *in, predict_model *model)
{
	char	  **names;

	model->shown = get_required_text(in);
	model->model_arch = get_bytes(in, &model->model_arch_size);
	if (model->model_arch == NULL)
		hopper_refuse_description();
	model->n_weights = get_int(in);
	model->weights = get_array(in, model->n_weights, sizeof(float));
	get_struct(in, &model->normalizing_const, sizeof(double));
	model->class_name = get_required_text(in);
	model->is_value = get_bool(in);
	model->is_array = get_bool(in);
	model->n_classes = (int) get_int_between(in, 0, PACK_MAX_CLASSES);
	model->n_class_values = get_count(in);
	names = palloc(sizeof(char *) * (model->n_class_values + 1));
	for (int i = 0; i < model->n_class_values; i++)
		names[i] = get_text(in);
	model->class_values = (const char *const *) names;
}

/* The labels as text: their type has the same number on all segments. */
static void
put_labels(StringInfo out, const predicting *run)
{
	Oid			output;
	bool		is_varlena;

	put_int(out, run->label_type ? run->label_oid : InvalidOid);
	if (run->label_type == NULL)
		return;
	getTypeOutputInfo(run->label_oid, &output, &is_varlena);
	put_int(out, run->n_labels);
	for (int i = 0; i < run->n_labels; i++)
		put_text(out, run->label_nulls[i] ? NULL
				 : OidOutputFunctionCall(output, run->label_values[i]));
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
get_labels(reader *in, predicting *run)
{
	Oid			input;
	Oid			parameter;

	run->label_oid = (Oid) get_int_between(in, 0, PG_UINT32_MAX);
	if (!OidIsValid(run->label_oid))
		return;
	require_label_type(run->label_oid);
	getTypeInputInfo(run->label_oid, &input, &parameter);
	run->n_labels = get_count(in);
	run->label_values = palloc0(sizeof(Datum) * (run->n_labels + 1));
	run->label_nulls = palloc0(sizeof(bool) * (run->n_labels + 1));
	for (int i = 0; i < run->n_labels; i++)
	{
		char	   *label = get_text(in);

		run->label_nulls[i] = label == NULL;
		if (label)
			run->label_values[i] = OidInputFunctionCall(input, label, parameter, -1);
	}
}

bytea *
predict_describe(const predicting *run, int segments_on_host)
{
	StringInfoData out;

	hopper_begin_description(&out, HOPPER_DESCRIBES_PREDICTION);
	put_model(&out, &run->model);
	put_labels(&out, run);
	put_bytes(&out, &run->what, sizeof(run->what));
	pack_put_source(&out, &run->rows);
	pack_put_values(&out, &run->values);
	put_int(&out, hopper_threads);
	put_int(&out, segments_on_host);
	return hopper_end_description(&out, HOPPER_DESCRIBES_PREDICTION);
}

void
predict_read_description(const bytea *description, predicting *run)
{
	reader		in;
	int			threads;
	int			segments_on_host;

	memset(run, 0, sizeof(*run));
	hopper_open_description(description, HOPPER_DESCRIBES_PREDICTION, &in);
	get_model(&in, &run->model);
	get_labels(&in, run);
	get_struct(&in, &run->what, sizeof(run->what));
	if (run->what.kind < PREDICT_ALL || run->what.kind > PREDICT_THRESHOLD || run->what.k < 0)
		hopper_refuse_description();
	pack_get_source(&in, &run->rows);
	run->source = run->rows.name;
	pack_get_values(&in, &run->values, run->rows.n_x, run->rows.x);
	threads = (int) get_int_between(&in, 0, HOPPER_MAX_THREADS);
	segments_on_host = (int) get_int_between(&in, 0, PG_INT32_MAX);
	get_end(&in);
	run->threads = hopper_segment_threads(threads, segments_on_host);
}
