/*
 * lines.c
 *		The rows of explain_fit(): what is predicted beside what was measured.
 */
#include "pg/forecast/explain.h"

#include "pg/train/outputs.h"

#define UNKNOWN NAN

static char *
number_text(double value)
{
	return isnan(value) ? NULL : psprintf("%.17g", value);
}

/* `mst_key` may be NULL; UNKNOWN numbers become NULL. */
static void
line(hopper_forecast_request *request, const char *item, const int32 *mst_key, double predicted,
	 double measured, const char *unit)
{
	char	  **row;

	hopper_grow(request->cells, (request->n_lines + 1) * EXPLAIN_COLUMNS, request->allocated);
	row = &request->cells[request->n_lines++ * EXPLAIN_COLUMNS];
	row[0] = (char *) item;
	row[1] = mst_key ? psprintf("%d", *mst_key) : NULL;
	row[2] = number_text(predicted);
	row[3] = number_text(measured);
	row[4] = (char *) unit;
}

/* Passes over the training data of all configurations together. */
static double
passes(const hopper_forecast_request *request, const hopper_explain_model *models)
{
	double		sum = 0;

	for (int i = 0; i < request->n_configs; i++)
	{
		double		n = models[i].n_passes;

		sum += n * request->options.num_iterations;
	}
	return sum;
}

void
hopper_forecast_lines_of_run(hopper_forecast_request *request, const hopper_explain_run *run,
					 const hopper_explain_model *models, const hopper_measured_run *measured)
{
	const hopper_data_desc *desc = &request->train.desc;
	double		bytes_a_pass = (double) run->bytes_data * desc->n_rows /
		(desc->n_rows + (request->has_validation ? request->valid.desc.n_rows : 0));
	double		all = measured->seconds * measured->workers;

#define MEASURED(value) (measured->known ? (value) : UNKNOWN)
	line(request, "configurations", NULL, request->n_configs, UNKNOWN, "configurations");
	line(request, "iterations", NULL, request->options.num_iterations, UNKNOWN, "iterations");
	line(request, "passes", NULL, passes(request, models), UNKNOWN, "passes");
	line(request, "data of a pass", NULL, rint(bytes_a_pass), UNKNOWN, "bytes");
	line(request, "rows of a pass", NULL, desc->n_rows, UNKNOWN, "rows");
	line(request, "partitions", NULL, desc->n_partitions, UNKNOWN, "partitions");
	line(request, "workers", NULL, run->n_workers, MEASURED(measured->workers), "workers");
	line(request, "threads per model", NULL, request->options.threads_per_model, UNKNOWN,
		 "threads");
	line(request, "memory of data", NULL, run->bytes_data, UNKNOWN, "bytes");
	line(request, "memory of models", NULL, run->bytes_models, UNKNOWN, "bytes");
	line(request, "memory", NULL, run->bytes_data + run->bytes_models, UNKNOWN, "bytes");
	line(request, "memory limit", NULL, request->options.memory_limit, UNKNOWN, "bytes");
	line(request, "calibration", NULL, UNKNOWN, run->seconds_calibrating, "seconds");
	line(request, "duration", NULL, run->seconds, MEASURED(measured->seconds), "seconds");
	line(request, "read", NULL, run->seconds_read, MEASURED(measured->read), "seconds");
	line(request, "wait", NULL, run->seconds_wait, MEASURED(measured->wait), "worker seconds");
	line(request, "hop", NULL, run->seconds_hop, MEASURED(measured->hop), "worker seconds");
	line(request, "train", NULL, run->seconds_train, MEASURED(measured->train), "worker seconds");
	line(request, "evaluate", NULL, run->seconds_evaluate, MEASURED(measured->evaluate),
		 "worker seconds");
	line(request, "other", NULL, 0,
		 MEASURED(Max(all - measured->wait - measured->hop - measured->train -
					  measured->evaluate, 0)), "worker seconds");
	line(request, "idle share", NULL, run->idle_share, MEASURED(measured->idle_share), "of 1");
}

/* Two measured columns of the info table, by mst_key. */
void
hopper_forecast_lines_of_models(hopper_forecast_request *request,
								const hopper_explain_model *models)
{
	double	   *trained = palloc(Max(request->n_configs, 1) * sizeof(double));
	double	   *evaluated = palloc(Max(request->n_configs, 1) * sizeof(double));

	for (int i = 0; i < request->n_configs; i++)
		trained[i] = evaluated[i] = UNKNOWN;
	if (request->measure)
	{
		hopper_outputs outputs = hopper_outputs_named(&request->output);
		uint64		n = hopper_select("SELECT seconds_training, seconds_evaluating FROM %s"
									  " ORDER BY mst_key", outputs.info.quoted);

		for (uint64 row = 0; row < n && row < request->n_configs; row++)
		{
			trained[row] = hopper_float_value(row, 1);
			evaluated[row] = hopper_float_value(row, 2);
		}
	}
	for (int i = 0; i < request->n_configs; i++)
	{
		const hopper_explain_model *model = &models[i];
		const int32 *key = &request->configs[i].mst_key;
		bool		fails = model->code != HOPPER_OK;

		line(request, "parameters", key, model->n_parameters, UNKNOWN, "numbers");
		line(request, "memory of the state", key, model->bytes_state, UNKNOWN, "bytes");
		line(request, "memory of a visit", key, model->bytes_task, UNKNOWN, "bytes");
		line(request, "steps of an iteration", key, model->steps, UNKNOWN, "steps");
		line(request, "step", key, fails ? UNKNOWN : model->seconds_step, UNKNOWN, "seconds");
		line(request, "train", key,
			 fails ? 0 : model->seconds_iteration * request->options.num_iterations, trained[i],
			 "worker seconds");
		line(request, "evaluate", key, fails ? 0 : model->seconds_evaluating, evaluated[i],
			 "worker seconds");
	}
}
