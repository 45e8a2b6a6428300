/*
 * segment_predict_description.c
 *		A prediction as bytes for the segments.
 */
#include "pg/segment_predict.h"

#ifdef GP_VERSION_NUM

#include "utils/lsyscache.h"

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

	model->shown = get_bytes(in, NULL);
	model->model_arch = get_bytes(in, &model->model_arch_size);
	model->n_weights = get_int(in);
	model->weights = hopper_get_array(in, model->n_weights, sizeof(float));
	hopper_get_struct(in, &model->normalizing_const, sizeof(double));
	model->class_name = get_bytes(in, NULL);
	model->is_value = get_int(in) != 0;
	model->is_array = get_int(in) != 0;
	model->n_classes = (int) get_int(in);
	model->n_class_values = get_count(in);
	names = palloc(sizeof(char *) * (model->n_class_values + 1));
	for (int i = 0; i < model->n_class_values; i++)
		names[i] = get_bytes(in, NULL);
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

static void
get_labels(reader *in, predicting *run)
{
	Oid			input;
	Oid			parameter;

	run->label_oid = (Oid) get_int(in);
	if (!OidIsValid(run->label_oid))
		return;
	getTypeInputInfo(run->label_oid, &input, &parameter);
	run->n_labels = get_count(in);
	run->label_values = palloc0(sizeof(Datum) * (run->n_labels + 1));
	run->label_nulls = palloc0(sizeof(bool) * (run->n_labels + 1));
	for (int i = 0; i < run->n_labels; i++)
	{
		char	   *label = get_bytes(in, NULL);

		run->label_nulls[i] = label == NULL;
		if (label)
			run->label_values[i] = OidInputFunctionCall(input, label, parameter, -1);
	}
}

bytea *
predict_describe(const predicting *run, int segments_on_host)
{
	StringInfoData out;

	hopper_begin_description(&out);
	put_model(&out, &run->model);
	put_labels(&out, run);
	put_bytes(&out, &run->what, sizeof(run->what));
	pack_put_source(&out, &run->rows);
	pack_put_values(&out, &run->values);
	put_int(&out, hopper_threads);
	put_int(&out, segments_on_host);
	return hopper_end_description(&out);
}

void
predict_read_description(const bytea *description, predicting *run)
{
	reader		in;
	int			threads;
	int			segments_on_host;

	memset(run, 0, sizeof(*run));
	hopper_open_description(description, &in);
	get_model(&in, &run->model);
	get_labels(&in, run);
	hopper_get_struct(&in, &run->what, sizeof(run->what));
	pack_get_source(&in, &run->rows);
	run->source = run->rows.name;
	pack_get_values(&in, &run->values, run->rows.n_x, run->rows.x);
	threads = (int) get_int(&in);
	segments_on_host = (int) get_int(&in);
	run->threads = hopper_segment_threads(threads, segments_on_host);
}

#endif							/* GP_VERSION_NUM */
