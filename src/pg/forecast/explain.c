/*
 * explain.c
 *		explain_fit(): what a run would take, and what a finished one took.
 *
 * Nothing is written and nothing is kept. What is wrong with the configurations is reported as by
 * fit. Steps are timed by the core on threads of its own.
 */
#include "pg/forecast/explain.h"

#include "pg/server/devices.h"
#include "pg/train/outputs.h"

#define CALIBRATION_SECONDS 1.0

/* The forecast, once it is made; its guard is released by end(). */
static hopper_explain *
begin(hopper_forecast_request *request, const hopper_explain_api **made_by, hopper_guard **guard)
{
	const hopper_explain_api *api;
	const hopper_data_desc *valid = request->has_validation ? &request->valid.desc : NULL;
	hopper_explain_costs costs;
	const int32 *train_keys = NULL;
	const int32 *valid_keys = NULL;
	hopper_explain *explain;
	int			done;

	hopper_require_valid_configs(request->configs, request->n_configs, &request->train.desc);
	api = &hopper_engine(hopper_wants_libtorch(request->configs, request->n_configs,
											   &request->train.desc))->explain;
	*made_by = api;
	train_keys = hopper_backend.partition_keys(&request->train);
	if (valid)
		valid_keys = hopper_backend.partition_keys(&request->valid);
	costs = hopper_backend.forecast(request, train_keys);
	costs.seconds = CALIBRATION_SECONDS;
	request->options.n_starts = request->train.n_starts;
	request->options.starts = request->train.starts;
	request->options.event_fd = hopper_eventfd_open();
	HOPPER_CHECK(api->create(&request->options, &request->train.desc, valid, train_keys,
							 valid_keys, &costs, &explain, hopper_fault));
	*guard = hopper_guard_add(explain, api->free);
	for (int i = 0; i < request->n_configs; i++)
		HOPPER_CHECK(api->add_config(explain, &request->configs[i], hopper_fault));
	HOPPER_CHECK(api->start(explain, hopper_fault));
	while ((done = api->poll(explain, hopper_fault)) == 0)
		hopper_wait(request->options.event_fd, 500);
	if (done < 0)
		hopper_throw(hopper_fault);
	return explain;
}

static void
end(const hopper_forecast_request *request, hopper_guard *guard)
{
	hopper_guard_release(guard);
	hopper_eventfd_close(request->options.event_fd);
}

void
hopper_forecast_read_data(hopper_forecast_request *request)
{
	hopper_read_packed(&request->source, false, &request->train);
	hopper_backend.require_partitions(&request->train);
	request->train.desc.validation = request->has_validation ? 1 : -1;
	if (request->has_validation)
		hopper_read_compatible(&request->validation, "validation table", &request->train,
							   request->source.shown, &request->valid);
}

static hopper_explain_model *
read_models(const hopper_forecast_request *request, const hopper_explain_api *api,
			hopper_explain *explain)
{
	hopper_explain_model *models = palloc0(Max(request->n_configs, 1) *
										   sizeof(hopper_explain_model));

	for (int i = 0; i < request->n_configs; i++)
		HOPPER_CHECK(api->model(explain, i, &models[i], hopper_fault));
	return models;
}

hopper_explain_model *
hopper_forecast_models(hopper_forecast_request *request, hopper_explain_run *run)
{
	const hopper_explain_api *api;
	hopper_guard *guard;
	hopper_explain *explain = begin(request, &api, &guard);
	hopper_explain_model *models = read_models(request, api, explain);

	HOPPER_CHECK(api->run(explain, run, hopper_fault));
	end(request, guard);
	return models;
}

HOPPER_SPI_FUNCTION(hopper_sql_explain_fit)
{
	hopper_forecast_request request = {0};
	bool		measure = hopper_bool_named(fcinfo, "measure", false);
	const hopper_explain_api *api;
	hopper_explain *explain;
	hopper_explain_model *models;
	hopper_guard *guard;
	hopper_rows *lines;

	hopper_check_use_gpus(hopper_bool_named(fcinfo, "use_gpus", false),
						  "explain_fit() forecasts training");
	if (measure)
	{
		request.output = hopper_name_named(fcinfo, "model_table");
		hopper_forecast_finished_run(&request);
	}
	else
		hopper_forecast_planned_run(fcinfo, &request);
	hopper_forecast_read_data(&request);
	explain = begin(&request, &api, &guard);
	models = read_models(&request, api, explain);
	for (int i = 0; i < request.n_configs; i++)
		if (models[i].code != HOPPER_OK)
			ereport(WARNING, errmsg("configuration %d would fail: %s", models[i].mst_key,
									hopper_from_utf8(models[i].problem)),
					models[i].detail[0] == '\0' ? 0
					: errdetail("%s", hopper_from_utf8(models[i].detail)),
					models[i].hint[0] == '\0' ? 0
					: errhint("%s", hopper_from_utf8(models[i].hint)));
	lines = hopper_made(api->lines(explain,
								   request.measured.n_workers > 0 ? &request.measured : NULL,
								   request.trained, request.evaluated, HOPPER_MADE));
	end(&request, guard);
	return hopper_return_rows(fcinfo, lines);
}
