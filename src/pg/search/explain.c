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

/* What one trial is trained. */
typedef struct trial_cost
{
	int64		iterations;
	int64		evaluations;
} trial_cost;

typedef struct played_search
{
	int			n_trials;
	int			allocated;
	trial_cost *trials;
	int64		iterations;
	int64		longest;		/* iterations of the trial that has most */
} played_search;

static void
note(played_search *played, const hopper_search_assignment *work)
{
	trial_cost *cost;

	played->n_trials = Max(played->n_trials, (int) work->trial + 1);
	hopper_grow(played->trials, played->n_trials, played->allocated);
	cost = &played->trials[work->trial];
	cost->iterations += work->resource - work->from;
	cost->evaluations++;
	played->iterations += work->resource - work->from;
	played->longest = Max(played->longest, work->resource);
}

/* What ended before a trial's turn came costs nothing. */
static trial_cost
cost_of(const played_search *played, int64 trial)
{
	trial_cost	none = {0};

	return trial >= 0 && trial < played->n_trials ? played->trials[trial] : none;
}

/* In (0, 1), another for each trial. */
static double
made_up(int64 trial)
{
	double		turns = (trial + 1) * 0.6180339887498949;

	return turns - floor(turns);
}

static played_search
play(hopper_automl *run)
{
	played_search played = {0};
	hopper_search_assignment work[HOPPER_MAX_ASSIGNMENTS];
	double	   *values = palloc(Max(run->n_measures, 1) * sizeof(double));
	hopper_search_told told = {values, NULL, run->n_measures, -1, NULL};
	int32		n;

	while (!hopper_core()->search.done(run->search))
	{
		CHECK_FOR_INTERRUPTS();
		HOPPER_CHECK(hopper_core()->search.ask(run->search, work, HOPPER_MAX_ASSIGNMENTS, &n,
											   hopper_fault));
		if (n == 0)
			break;
		for (int i = 0; i < n; i++)
		{
			note(&played, &work[i]);
			for (int v = 0; v < run->n_measures; v++)
				values[v] = made_up(work[i].trial);
			HOPPER_CHECK(hopper_core()->search.tell(run->search, work[i].trial, &told,
													hopper_fault));
		}
	}
	return played;
}

int
hopper_search_expected(const hopper_automl *run)
{
	hopper_automl again = *run;
	hopper_guard *guard = hopper_search_start(&again);
	played_search played = play(&again);

	hopper_guard_release(guard);
	return played.n_trials;
}

/* The configurations that were tried and can be trained; their keys are the trials from 1. */
static void
add_configs(hopper_automl *run, hopper_forecast_request *request)
{
	hopper_rows *rows = hopper_made(hopper_core()->search.trials(run->search, 0, HOPPER_MADE));

	request->configs = palloc0(Max(Min(rows->n_rows, MAX_FORECAST), 1) * sizeof(hopper_config));
	for (int row = 0; row < rows->n_rows && request->n_configs < MAX_FORECAST; row++)
	{
		const char *const *cells = rows->cells + (size_t) row * rows->n_columns;
		hopper_config *config = &request->configs[request->n_configs];
		const char *arch = NULL;

		CHECK_FOR_INTERRUPTS();
		if (strcmp(cells[7], "earlier") == 0 ||
			hopper_search_problem(run, atoi(cells[1]), cells[9], cells[2], cells[3]))
			continue;
		for (int i = 0; i < run->options.n_models; i++)
			if (run->options.model_ids[i] == atoi(cells[1]))
				arch = run->options.model_archs[i];
		arch = cells[9] ? cells[9] : arch;
		if (arch == NULL)
			continue;
		config->mst_key = atoi(cells[0]) + 1;
		config->model_id = atoi(cells[1]);
		config->model_arch = pstrdup(arch);
		config->model_arch_size = strlen(arch);
		config->compile_params = pstrdup(cells[2]);
		config->fit_params = pstrdup(cells[3]);
		request->n_configs++;
	}
}

/* `models`: what those of the request cost, of `tried` that are trained at all. */
static hopper_search_forecast
forecast_of(const played_search *played, int tried, const hopper_forecast_request *request,
			const hopper_explain_model *models, int n_workers)
{
	hopper_tried_config *known = palloc(Max(request->n_configs, 1) * sizeof(hopper_tried_config));
	hopper_played_search all = {tried, played->iterations, played->longest, n_workers};
	hopper_search_forecast forecast;

	for (int i = 0; i < request->n_configs; i++)
	{
		trial_cost	cost = cost_of(played, hopper_trial_of_key(request->configs[i].mst_key));

		known[i].iterations = cost.iterations;
		known[i].evaluations = cost.evaluations;
		known[i].seconds_iteration = models[i].seconds_iteration;
		known[i].seconds_evaluation = models[i].seconds_evaluation + models[i].seconds_validation;
	}
	HOPPER_CHECK(hopper_core()->search.forecast(known, request->n_configs, &all, &forecast,
												hopper_fault));
	return forecast;
}

#define MAX_LINES 9
#define COLUMNS 3

/* rows->cells has room for MAX_LINES. */
static void
add_line(hopper_rows *rows, const char *item, double value, const char *unit)
{
	const char **row = (const char **) rows->cells + COLUMNS * rows->n_rows++;

	row[0] = item;
	row[1] = psprintf("%.17g", value);
	row[2] = unit;
}

HOPPER_SPI_FUNCTION(hopper_sql_explain_automl)
{
	hopper_automl run = {0};
	hopper_forecast_request request = {0};
	int			threads = hopper_argument(fcinfo, "threads");
	hopper_guard *guard;
	played_search played;
	hopper_explain_run times;
	hopper_explain_model *models;
	hopper_search_forecast forecast;
	int			tried = 0;
	const char *cells[MAX_LINES * COLUMNS];
	hopper_rows rows = {0, COLUMNS, NULL};

	hopper_require_set_context(fcinfo);
	hopper_automl_arguments(fcinfo, &run);
	guard = hopper_search_start(&run);
	hopper_search_require_possible(&run);
	played = play(&run);
	add_configs(&run, &request);
	hopper_search_tell_limit(&run);
	hopper_guard_release(guard);
	for (int i = 0; i < played.n_trials; i++)
		tried += played.trials[i].iterations > 0;

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
	forecast = forecast_of(&played, tried, &request, models, times.n_workers);

	rows.cells = cells;
	add_line(&rows, "configurations", tried, "configurations");
	add_line(&rows, "iterations", played.iterations, "iterations");
	add_line(&rows, "longest configuration", played.longest, "iterations");
	add_line(&rows, "seconds of an iteration", forecast.iteration, "seconds");
	add_line(&rows, "training", forecast.training, "seconds of workers");
	add_line(&rows, "evaluating", forecast.evaluating, "seconds of workers");
	add_line(&rows, "workers", times.n_workers, "workers");
	add_line(&rows, "seconds", forecast.seconds, "seconds");
	add_line(&rows, "all to the end", forecast.all_to_end, "seconds");
	return hopper_return_rows(fcinfo, &rows);
}
