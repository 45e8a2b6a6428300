/*
 * added.c
 *		A model that is made of trained ones, and not by training.
 */
#include "pg/predict/added.h"

#include "pg/train/output_rows.h"

bytea *
hopper_new_weights(int64 n, float **floats)
{
	bytea	   *weights;

	hopper_take_memory(hopper_share_new(), n * (int64) sizeof(float));
	weights = MemoryContextAllocHuge(CurrentMemoryContext, VARHDRSZ + n * sizeof(float));
	SET_VARSIZE(weights, VARHDRSZ + n * sizeof(float));
	*floats = (float *) VARDATA(weights);
	return weights;
}

/* Its row among the models' infos: one evaluation. */
static void
write_info(const hopper_trained *model, const hopper_event *event)
{
	hopper_model_result values = {.status = HOPPER_MODEL_DONE,.iterations = 1,.kept_iteration = 1};
	hopper_history *history = hopper_history_new(model->mst_key, 1, PG_INT32_MAX);
	int			at = hopper_history_point(history, 1);

	values.n_parameters = model->config.n_weights;
	values.n_metrics = event->n_metrics;
	strlcpy(values.loss_type, model->loss_type ? hopper_to_utf8(model->loss_type) : "",
			sizeof(values.loss_type));
	hopper_history_at(history, at)->known[HOPPER_SPLIT_VALID] = true;
	hopper_history_at(history, at)->loss[HOPPER_SPLIT_VALID] = event->loss;
	for (int i = 0; i < event->n_metrics; i++)
	{
		strlcpy(values.metrics_type[i], hopper_to_utf8(model->metrics_type[i]),
				sizeof(values.metrics_type[i]));
		hopper_history_set_metric(history, at, HOPPER_SPLIT_VALID, i, event->metrics[i]);
	}
	hopper_output_insert(&model->outputs.info, hopper_info_row(&model->config, &values, history));
}

void
hopper_add_trained(hopper_trained *model, bytea *weights, const hopper_packed *data)
{
	const hopper_outputs *outputs = &model->outputs;
	hopper_event event;
	hopper_output_row row;
	hopper_best best;

	hopper_select("SELECT max(mst_key)::int8 + 1 FROM %s", outputs->info.quoted);
	model->mst_key = model->config.mst_key = hopper_key_cell(&outputs->info, 0, 1);
	hopper_backend.evaluate(model, data, &event, NULL);
	hopper_begin_row(&row, &hopper_models_layout);
	hopper_fill(&row, "mst_key", HOPPER_INT4(model->mst_key));
	hopper_fill(&row, "model_weights", HOPPER_PARAM(BYTEAOID, PointerGetDatum(weights)));
	hopper_fill(&row, "model_arch", hopper_utf8_param(model->config.model_arch));
	hopper_output_insert(&outputs->model, &row);
	write_info(model, &event);
	best = hopper_outputs_best(outputs, NULL);
	if (best.metric)
		hopper_change("UPDATE %s SET best_mst_key = %d, best_metric = %s, best_value = %s",
					  outputs->summary.quoted, best.mst_key, hopper_literal(best.metric),
					  psprintf("'%.17g'", best.value));
}
