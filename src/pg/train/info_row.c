/*
 * info_row.c
 *		<out>_info: how the models did, a row per configuration.
 */
#include "pg/train/output_rows.h"

#include "pg/train/results.h"

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

hopper_output_row *
hopper_info_row(const hopper_training *training, int at)
{
	static const hopper_config no_config;
	static const hopper_model_result no_result;
	static hopper_history no_history;
	const hopper_config *config = training ? &training->configs[at] : &no_config;
	const hopper_model_result *result = training ? &training->results[at] : &no_result;
	const hopper_history *history = training ? training->histories[at] : &no_history;
	const hopper_point *last[2];
	const char *metrics[HOPPER_MAX_METRICS];
	bool		failed = result->status == HOPPER_MODEL_FAILED;
	hopper_output_row *row = hopper_new_row(&hopper_infos_layout);

	for (int split = 0; split < 2; split++)
	{
		const hopper_point *kept;

		last[split] = hopper_history_last(history, split);
		if (failed || last[split] == NULL)
			continue;
		/* What an earlier run validated is not what these weights would reach. */
		kept = hopper_history_at(history, history->n - 1);
		/* The best iteration's weights, with what they reached. */
		if (result->kept_iteration != result->iterations)
			kept = hopper_history_find(history, result->kept_iteration);
		last[split] = kept && kept->known[split] ? kept : NULL;
	}
	for (int i = 0; i < result->n_metrics; i++)
		metrics[i] = hopper_from_utf8(result->metrics_type[i]);

#define FINAL_METRIC(name, split) \
	hopper_fill(row, name, \
				last[split] ? Float8GetDatum(hopper_point_metric(history, last[split], split, 0)) \
				: (Datum) 0, \
				last[split] == NULL || (last[split]->has_metric[split] & 1) == 0)
#define FINAL_LOSS(name, split) \
	hopper_fill(row, name, \
				last[split] ? Float8GetDatum(last[split]->loss[split]) : (Datum) 0, \
				last[split] == NULL)

	hopper_fill_int(row, "mst_key", config->mst_key);
	hopper_fill_int(row, "model_id", config->model_id);
	hopper_fill_text(row, "compile_params",
					 config->compile_params ? hopper_from_utf8(config->compile_params) : NULL);
	hopper_fill_text(row, "fit_params",
					 config->fit_params ? hopper_from_utf8(config->fit_params) : NULL);
	hopper_fill_text(row, "model_type", "model_hopper");
	hopper_fill_float(row, "model_size", result->n_parameters * sizeof(float) / 1024.0);
	hopper_fill_array(row, "metrics_elapsed_time", hopper_history_elapsed(history));
	hopper_fill_array(row, "metrics_type",
					  result->n_metrics ? hopper_texts_datum(result->n_metrics, metrics)
					  : (Datum) 0);
	hopper_fill_text(row, "loss_type",
					 result->loss_type[0] ? hopper_from_utf8(result->loss_type) : NULL);
	FINAL_METRIC("training_metrics_final", HOPPER_SPLIT_TRAIN);
	FINAL_LOSS("training_loss_final", HOPPER_SPLIT_TRAIN);
	hopper_fill_array(row, "training_metrics",
					  hopper_history_metric(history, HOPPER_SPLIT_TRAIN, 0));
	hopper_fill_array(row, "training_loss", hopper_history_loss(history, HOPPER_SPLIT_TRAIN));
	FINAL_METRIC("validation_metrics_final", HOPPER_SPLIT_VALID);
	FINAL_LOSS("validation_loss_final", HOPPER_SPLIT_VALID);
	hopper_fill_array(row, "validation_metrics",
					  hopper_history_metric(history, HOPPER_SPLIT_VALID, 0));
	hopper_fill_array(row, "validation_loss", hopper_history_loss(history, HOPPER_SPLIT_VALID));
	hopper_fill_array(row, "metrics_iters", hopper_history_iterations(history));
	hopper_fill_array(row, "training_metrics_all",
					  hopper_history_metrics(history, HOPPER_SPLIT_TRAIN, result->n_metrics));
	hopper_fill_array(row, "validation_metrics_all",
					  hopper_history_metrics(history, HOPPER_SPLIT_VALID, result->n_metrics));
	hopper_fill_text(row, "status",
					 failed ? "failed" : result->stopped ? "stopped"
					 : training && result->status == HOPPER_MODEL_TRAINING ? "training" : "done");
	hopper_fill_text(row, "error", failed ? hopper_from_utf8(result->error) : NULL);
	hopper_fill_text(row, "error_detail",
					 failed && result->error_detail[0] ? hopper_from_utf8(result->error_detail)
					 : NULL);
	hopper_fill_int(row, "iterations", result->iterations);
	hopper_fill_seconds(row, "seconds_training", result->seconds_training);
	hopper_fill_seconds(row, "seconds_evaluating", result->seconds_evaluating);
	hopper_fill_seconds(row, "seconds_waiting", result->seconds_waiting);
	hopper_fill(row, "examples_per_second",
				Float8GetDatum(result->seconds_training > 0
				? result->examples / result->seconds_training : 0),
				result->seconds_training <= 0);
	hopper_fill(row, "parameters", Int64GetDatum(result->n_parameters), false);
	hopper_fill_text(row, "state_digest", failed ? NULL : result->digest);
	hopper_fill(row, "best_iteration", Int32GetDatum(result->best_iteration),
				result->best_iteration == 0);
	hopper_fill(row, "learning_rate", Float8GetDatum(result->learning_rate), failed);
	return row;
}
