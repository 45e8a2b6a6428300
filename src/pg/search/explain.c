/*
 * explain.c
 *		explain_automl(): what a search would take.
 *
 * The search is played with made-up results: how many configurations it tries, and how far they are
 * trained, hardly depends on what they are. The seconds of an iteration are those of explain_fit().
 */
#include "pg/search/automl.h"

#include "pg/forecast/explain.h"
#include "pg/server/devices.h"
#include "pg/train/options.h"

/* Trials whose steps are forecast; what others cost is taken from their mean. */
#define MAX_FORECAST 1000

static int64
play(const hopper_automl *run)
{
	int64_t		n_trials;

	HOPPER_CORE(search.play, run->search, &n_trials);
	return n_trials;
}

/* The configurations that were tried and can be trained; their keys are the trials from 1. */
static void
add_configs(hopper_automl *run, hopper_forecast_request *request)
{
	hopper_rows *rows = HOPPER_CORE_ROWS(search.trials, run->search, 0);

	request->configs = palloc0(Max(Min(rows->n_rows, MAX_FORECAST), 1) * sizeof(hopper_config));
	for (int row = 0; row < rows->n_rows && request->n_configs < MAX_FORECAST; row++)
	{
		const char *const *cells = hopper_row(rows, row);
		hopper_config *config = &request->configs[request->n_configs];

		CHECK_FOR_INTERRUPTS();
		config->mst_key = hopper_key_of_trial(atoi(cells[0]));
		request->n_configs += strcmp(cells[7], "earlier") != 0 &&
			hopper_search_set_config(run, config, atoi(cells[1]), cells[9], cells[2], cells[3]) &&
			hopper_search_problem(run, config) == NULL;
	}
}

/* The result: what the search takes, of which those of the request cost what `models` says. */
static hopper_rows *
forecast(const hopper_automl *run, const hopper_forecast_request *request,
		 const hopper_explain_model *models, int n_workers)
{
	hopper_trial_cost *known = palloc(Max(request->n_configs, 1) * sizeof(hopper_trial_cost));

	for (int i = 0; i < request->n_configs; i++)
	{
		known[i].trial = hopper_trial_of_key(request->configs[i].mst_key);
		known[i].seconds_iteration = models[i].seconds_iteration;
		known[i].seconds_evaluation = models[i].seconds_evaluation + models[i].seconds_validation;
	}
	return HOPPER_CORE_ROWS(search.forecast, run->search, known, request->n_configs, n_workers);
}

HOPPER_SPI_FUNCTION(hopper_sql_explain_automl)
{
	hopper_automl run = {0};
	hopper_forecast_request request = {0};
	int			threads = hopper_argument(fcinfo, "threads");
	hopper_guard *guard;
	hopper_explain_run times;
	hopper_explain_model *models;
	hopper_rows *rows;

	hopper_require_set_context(fcinfo);
	hopper_automl_arguments(fcinfo, &run);
	guard = hopper_search_start(&run);
	hopper_search_require_possible(&run);
	(void) play(&run);
	add_configs(&run, &request);
	hopper_search_tell_limit(&run);

	request.source = run.packed;
	request.has_validation = run.validation != NULL;
	if (run.validation)
		request.validation = hopper_parse_name(cstring_to_text(run.validation),
											   "validation_table");
	hopper_default_options(&request.options);
	request.options.threads =
		hopper_choose_threads(hopper_is_given(fcinfo, threads),
							  hopper_integer_argument(fcinfo, threads, "threads", 0));
	request.threads_given = hopper_is_given(fcinfo, threads);
	hopper_forecast_read_data(&request);
	models = hopper_forecast_models(&request, &times);
	rows = forecast(&run, &request, models, times.n_workers);
	hopper_guard_release(guard);
	return hopper_return_rows(fcinfo, rows);
}
