/*
 * fit.c
 *		fit_multiple_model() and fit(): their arguments and results (between: prepare.c).
 */
#include "pg/catalog/configs.h"
#include "pg/server/devices.h"
#include "pg/catalog/models.h"
#include "pg/train/fit.h"
#include "pg/train/options.h"

hopper_fit_taker *hopper_taker_of_fits = NULL;

static hopper_fit_taker *
taker_now(void)
{
	return hopper_taker_of_fits && hopper_taker_of_fits->waits ? NULL : hopper_taker_of_fits;
}

hopper_fit_taker *
hopper_fit_begin_request(void)
{
	hopper_fit_taker *taker = taker_now();

	if (taker)
		hopper_request_context = taker->context;
	hopper_after_spi();
	return taker;
}

static hopper_fit *
new_request(const char *function)
{
	hopper_fit *request;

	(void) hopper_fit_begin_request();
	request = palloc0(sizeof(hopper_fit));
	request->function = function;
	return request;
}

bool
hopper_fit_is_taken(FunctionCallInfo fcinfo, hopper_fit *fit, struct hopper_automl *search)
{
	hopper_fit_taker *taker = taker_now();

	if (taker == NULL)
		return false;
	taker->take(taker, fcinfo, fit, search);
	hopper_request_context = NULL;
	return true;
}

/* The arguments that both functions have, beside the packed table and the model table. */
static void
common_arguments(FunctionCallInfo fcinfo, hopper_fit *request)
{
	hopper_run_options *options = &request->options;
	hopper_run_record *record = &request->record;
	int			seed = hopper_argument(fcinfo, "seed");
	int			threads = hopper_argument(fcinfo, "threads");
	int			validation = hopper_argument(fcinfo, "validation_table");
	bool		use_gpus = hopper_bool_named(fcinfo, "use_gpus", false);
	bool		fuse = hopper_bool_named(fcinfo, "fuse", true);
	char	   *dtype = hopper_string_named(fcinfo, "dtype");
	int32	   *gpus;
	int			n_gpus;

	hopper_default_options(options);
	request->has_validation = !PG_ARGISNULL(validation);
	if (request->has_validation)
		request->validation = hopper_name_argument(fcinfo, validation, "validation_table");
	request->warm_start = hopper_bool_named(fcinfo, "warm_start", false);
	record->statement = hopper_call_text(fcinfo);
	record->name = hopper_string_named(fcinfo, "name");
	record->description = hopper_string_named(fcinfo, "description");
	request->seed_given = !PG_ARGISNULL(seed);
	if (request->seed_given)
		options->seed = (uint64_t) PG_GETARG_INT64(seed);
	request->threads_given = !PG_ARGISNULL(threads);
	hopper_take_resources(options, request->threads_given,
						  hopper_integer_argument(fcinfo, threads, "threads", 0));
	if (dtype)
		options->precision = dtype;
	hopper_check_precision(options->precision, use_gpus);
	hopper_take_course(fcinfo, options);
	gpus = hopper_integers_argument(fcinfo, hopper_argument(fcinfo, "gpus"), "gpus", 1,
									PG_INT32_MAX, &n_gpus);
	hopper_choose_gpus(use_gpus, gpus, n_gpus, fuse, options);
	request->replace = hopper_bool_named(fcinfo, "replace", false);
	if (request->replace && request->warm_start)
		hopper_wrong(errmsg("warm_start and replace exclude each other"),
					 errdetail("A warm start goes on with the models that replace would drop."));

	record->source_table = request->source.quoted;
	record->validation_table = request->has_validation ? request->validation.quoted : NULL;
	record->num_iterations = options->num_iterations;
	record->frequency = options->metrics_compute_frequency;
	record->warm_start = request->warm_start;
}

static void
tell_thinned(const hopper_training *training)
{
	int32		every = 1;

	for (int i = 0; i < training->n_configs; i++)
		every = Max(every, training->histories[i]->every);
	if (every > 1)
		ereport(NOTICE, errmsg("%s \"%s\": metrics of one iteration in %d are kept, of the newest "
							   "and of the best ones", training->function, training->shown, every),
				errhint("Raise metrics_compute_frequency."));
}

static Datum
fit(FunctionCallInfo fcinfo, hopper_fit *request)
{
	hopper_training *training = &request->training;
	const hopper_best *best = &request->record.best;
	double		seconds;

	if (hopper_fit_is_taken(fcinfo, request, NULL))
		PG_RETURN_NULL();
	hopper_fit_prepare(request);
	hopper_train(&request, 1);
	hopper_fit_finish(request);
	hopper_progress_finished(training, best->mst_key, best->metric, best->value);
	seconds = training->info.seconds_wall;
	tell_thinned(training);
	hopper_fit_end(request);
	return hopper_return_params(fcinfo, HOPPER_PARAMS(
		hopper_text_param(hopper_written_name(&request->output)),
		HOPPER_IF(best->metric, HOPPER_INT4(best->mst_key)), hopper_text_param(best->metric),
		HOPPER_IF(best->metric, HOPPER_FLOAT8(best->value)),
		HOPPER_INT4(training->n_configs - training->n_failed), HOPPER_INT4(training->n_failed),
		HOPPER_SECONDS(seconds)));
}

void
hopper_fit_choose(hopper_fit *request, const int32 *keys, int n)
{
	hopper_config *configs = request->configs;
	bool	   *chosen = palloc0(Max(request->n_configs, 1) * sizeof(bool));
	int			n_chosen = 0;

	for (int i = 0; i < n; i++)
	{
		/* They ascend by their keys. */
		const hopper_config *found = bsearch(&keys[i], configs, request->n_configs,
											 sizeof(hopper_config), hopper_compare_key);

		CHECK_FOR_INTERRUPTS();
		if (found == NULL)
			hopper_wrong(errmsg("\"%s\" has no configuration %d", request->selection.shown,
								keys[i]),
						 errhint("Leave mst_keys out to train all of them."));
		chosen[found - configs] = true;
	}
	for (int at = 0; at < request->n_configs; at++)
		if (chosen[at])
			configs[n_chosen++] = configs[at];
	request->n_configs = n_chosen;
	request->keeps_others = true;
}

/* The configurations of the selection table, or those of `keys`. */
static void
load_configs(hopper_fit *request, const int32 *keys, int n_keys)
{
	request->configs = hopper_load_configs(&request->selection, &request->models,
										   &request->n_configs);
	if (keys && hopper_taker_of_fits && hopper_taker_of_fits->resumes)
		request->keeps_others = true;
	else if (keys)
		hopper_fit_choose(request, keys, n_keys);
	request->record.model_arch_table = request->models.quoted;
	request->record.model_selection_table = request->selection.quoted;
}

/*
 * fit_multiple_model(packed_table, model_table, model_selection_table, num_iterations,
 * use_gpus, validation_table, metrics_compute_frequency, warm_start, name, description,
 * use_caching, seed, threads, dtype, training_metrics, threads_per_model, fuse,
 * gpus, rank_by, mst_keys, replace)
 *
 * use_caching is MADlib's; data are always kept in memory where they fit.
 */
HOPPER_SPI_FUNCTION(hopper_sql_fit_multiple_model)
{
	hopper_fit *request;
	int32	   *keys;
	int			n_keys;

	hopper_backend.require_segments();
	request = new_request("fit");
	request->source = hopper_name_argument(fcinfo, 0, "packed_table");
	request->output = hopper_name_argument(fcinfo, 1, "model_table");
	request->selection = hopper_name_argument(fcinfo, 2, "model_selection_table");
	hopper_require_other_tables(fcinfo, "model_table", (const char *const[]) {
		"packed_table", "model_selection_table", "validation_table", NULL});
	request->has_selection = true;
	common_arguments(fcinfo, request);
	request->record.rank_by = hopper_string_named(fcinfo, "rank_by");

	keys = hopper_integers_argument(fcinfo, hopper_argument(fcinfo, "mst_keys"), "mst_keys", 1,
									PG_INT32_MAX, &n_keys);
	load_configs(request, keys, n_keys);
	return fit(fcinfo, request);
}

/*
 * fit(packed_table, model_table, model_arch_table, model_id, compile_params, fit_params,
 * num_iterations, use_gpus, validation_table, metrics_compute_frequency, warm_start, name,
 * description, seed, threads, dtype, training_metrics, threads_per_model, fuse, gpus,
 * replace)
 *
 * One configuration, mst_key 1; the outputs are those of fit_multiple_model().
 */
HOPPER_SPI_FUNCTION(hopper_sql_fit)
{
	hopper_fit *request;
	hopper_config *config;
	hopper_model model;

	hopper_backend.require_segments();
	request = new_request("fit");
	request->source = hopper_name_argument(fcinfo, 0, "packed_table");
	request->output = hopper_name_argument(fcinfo, 1, "model_table");
	request->models = hopper_name_argument(fcinfo, 2, "model_arch_table");
	hopper_require_argument(fcinfo, 3, "model_id");
	hopper_require_argument(fcinfo, 4, "compile_params");
	hopper_require_other_tables(fcinfo, "model_table", (const char *const[]) {
		"packed_table", "model_arch_table", "validation_table", NULL});
	common_arguments(fcinfo, request);

	hopper_require_model_table(&request->models);
	hopper_read_model(&request->models, hopper_model_id_argument(fcinfo, 3), &model);
	config = palloc0(sizeof(hopper_config));
	config->mst_key = 1;
	config->model_id = model.model_id;
	config->model_arch = model.arch;
	config->model_arch_size = model.arch_size;
	config->weights = hopper_floats_whole(&model.weights);
	config->n_weights = model.weights.n;
	config->compile_params = hopper_utf8_argument(fcinfo, 4);
	config->fit_params = hopper_utf8_argument(fcinfo, 5);
	request->configs = config;
	request->n_configs = 1;
	request->record.model_arch_table = request->models.quoted;
	return fit(fcinfo, request);
}
