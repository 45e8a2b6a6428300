/*
 * info_row.c
 *		<out>_info: how the models did, a row per configuration.
 */
#include "pg/train/output_rows.h"

#include "pg/train/standing.h"

/* MADlib's, in its order, then ours */
static const hopper_column infos_columns[] = {
	{"mst_key", INT4OID, HOPPER_MEANS_KEY,.marks = true},
	{"model_id", INT4OID, HOPPER_MEANS_MODEL_ID},
	{"compile_params", TEXTOID, HOPPER_MEANS_COMPILE_PARAMS,.marks = true},
	{"fit_params", TEXTOID, HOPPER_MEANS_FIT_PARAMS},
	{"model_type", TEXTOID, "what trained the model",.marks = true},
	{"model_size", FLOAT8OID, "kilobytes of weights"},
	{"metrics_elapsed_time", FLOAT8ARRAYOID,
	"seconds of training until the metrics of this iteration were known"},
	{"metrics_type", TEXTARRAYOID, HOPPER_MEANS_METRICS_TYPE},
	{"loss_type", TEXTOID, HOPPER_MEANS_LOSS_TYPE},
	{"training_metrics_final", FLOAT8OID, "first metric on the training data, at the end"},
	{"training_loss_final", FLOAT8OID, "loss on the training data, at the end"},
	{"training_metrics", FLOAT8ARRAYOID,
	"first metric on the training data, per value of metrics_iters"},
	{"training_loss", FLOAT8ARRAYOID, "loss on the training data, per value of metrics_iters"},
	{"validation_metrics_final", FLOAT8OID, "first metric on the validation data, at the end"},
	{"validation_loss_final", FLOAT8OID, "loss on the validation data, at the end"},
	{"validation_metrics", FLOAT8ARRAYOID,
	"first metric on the validation data, per value of metrics_iters"},
	{"validation_loss", FLOAT8ARRAYOID, "loss on the validation data, per value of metrics_iters"},
	{"metrics_iters", INT4ARRAYOID, HOPPER_MEANS_METRICS_ITERS,.marks = true},
	{"training_metrics_all", FLOAT8ARRAYOID,
	"all metrics on the training data, in the order of metrics_type"},
	{"validation_metrics_all", FLOAT8ARRAYOID,
	"all metrics on the validation data, in the order of metrics_type"},
	{"status", TEXTOID, "done, stopped (early), failed, or training"},
	{"error", TEXTOID, HOPPER_MEANS_ERROR},
	{"error_detail", TEXTOID, "more about why it failed"},
	{"iterations", INT4OID, HOPPER_MEANS_ITERATIONS},
	{"seconds_training", FLOAT8OID, "of the last call"},
	{"seconds_evaluating", FLOAT8OID, "of the last call"},
	{"seconds_waiting", FLOAT8OID, "of the last call: ready to go on, but no thread was free"},
	{"examples_per_second", FLOAT8OID, "trained ones, in the last call"},
	{"parameters", INT8OID, "numbers that the model consists of"},
	{"state_digest", TEXTOID, "equal for equal models",.marks = true},
	{"best_iteration", INT4OID, "of what early stopping watches"},
	{"learning_rate", FLOAT8OID, "of the next iteration"},
};

const hopper_layout hopper_infos_layout = {
	.what = "a table of metrics of training",.completes = true,
	.columns = infos_columns,.n = lengthof(infos_columns)
};

/* `last`: by split, NULL where nothing is known. */
static hopper_param
final_value(const hopper_history *history, const hopper_point *const *last, int split, int metric)
{
	hopper_maybe found = hopper_history_value(history, last[split], split, metric);

	return HOPPER_IF(found.known, HOPPER_FLOAT8(found.value));
}

hopper_output_row *
hopper_info_row(const hopper_config *config, const hopper_model_result *result,
				const hopper_history *history)
{
	const hopper_point *last[2];
	const char *metrics[HOPPER_MAX_METRICS];
	bool		failed = result->status == HOPPER_MODEL_FAILED;
	hopper_output_row *row = hopper_new_row(&hopper_infos_layout);

	for (int split = 0; split < 2; split++)
		last[split] = failed ? hopper_history_last(history, split)
			: hopper_delivered_point(result, history, split);
	for (int i = 0; i < result->n_metrics; i++)
		metrics[i] = hopper_from_utf8(result->metrics_type[i]);

	hopper_fill(row, "mst_key", HOPPER_INT4(config->mst_key));
	hopper_fill(row, "model_id", HOPPER_INT4(config->model_id));
	hopper_fill(row, "compile_params", hopper_utf8_param(config->compile_params));
	hopper_fill(row, "fit_params", hopper_utf8_param(config->fit_params));
	hopper_fill(row, "model_type", hopper_text_param("model_hopper"));
	hopper_fill(row, "model_size", HOPPER_FLOAT8(result->n_parameters * sizeof(float) / 1024.0));
	hopper_fill(row, "metrics_elapsed_time", hopper_history_elapsed(history));
	hopper_fill(row, "metrics_type", hopper_texts_param(result->n_metrics, metrics));
	hopper_fill(row, "loss_type",
				hopper_utf8_param(result->loss_type[0] ? result->loss_type : NULL));
	hopper_fill(row, "training_metrics_final", final_value(history, last, HOPPER_SPLIT_TRAIN, 0));
	hopper_fill(row, "training_loss_final", final_value(history, last, HOPPER_SPLIT_TRAIN, -1));
	hopper_fill(row, "training_metrics", hopper_history_metric(history, HOPPER_SPLIT_TRAIN, 0));
	hopper_fill(row, "training_loss", hopper_history_metric(history, HOPPER_SPLIT_TRAIN, -1));
	hopper_fill(row, "validation_metrics_final", final_value(history, last, HOPPER_SPLIT_VALID, 0));
	hopper_fill(row, "validation_loss_final", final_value(history, last, HOPPER_SPLIT_VALID, -1));
	hopper_fill(row, "validation_metrics", hopper_history_metric(history, HOPPER_SPLIT_VALID, 0));
	hopper_fill(row, "validation_loss", hopper_history_metric(history, HOPPER_SPLIT_VALID, -1));
	hopper_fill(row, "metrics_iters", hopper_history_iterations(history));
	hopper_fill(row, "training_metrics_all",
				hopper_history_metrics(history, HOPPER_SPLIT_TRAIN, result->n_metrics));
	hopper_fill(row, "validation_metrics_all",
				hopper_history_metrics(history, HOPPER_SPLIT_VALID, result->n_metrics));
	hopper_fill(row, "status", hopper_text_param(hopper_status_words(result)));
	hopper_fill(row, "error", hopper_utf8_param(failed ? result->error : NULL));
	hopper_fill(row, "error_detail",
				hopper_utf8_param(failed && result->error_detail[0] ? result->error_detail : NULL));
	hopper_fill(row, "iterations", HOPPER_INT4(result->iterations));
	hopper_fill(row, "seconds_training", HOPPER_SECONDS(result->seconds_training));
	hopper_fill(row, "seconds_evaluating", HOPPER_SECONDS(result->seconds_evaluating));
	hopper_fill(row, "seconds_waiting", HOPPER_SECONDS(result->seconds_waiting));
	hopper_fill(row, "examples_per_second",
				HOPPER_IF(result->seconds_training > 0,
						  HOPPER_FLOAT8(result->examples / result->seconds_training)));
	hopper_fill(row, "parameters", HOPPER_INT8(result->n_parameters));
	hopper_fill(row, "state_digest", hopper_text_param(failed ? NULL : result->digest));
	hopper_fill(row, "best_iteration",
				HOPPER_IF(result->best_iteration != 0, HOPPER_INT4(result->best_iteration)));
	hopper_fill(row, "learning_rate", HOPPER_IF(!failed, HOPPER_FLOAT8(result->learning_rate)));
	return row;
}
