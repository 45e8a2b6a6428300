/*
 * explain.c
 *		explain_fit(): what a run would take, and what a finished one took.
 *
 * Nothing is written and nothing is kept. What is wrong with the configurations is reported as by
 * fit. Steps are timed by the core on threads of its own.
 */
#include "pg/glue.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "portability/instr_time.h"
#include "utils/timestamp.h"

#include "pg/configs.h"
#include "pg/devices.h"
#include "pg/models.h"
#include "pg/outputs.h"
#include "pg/segments.h"
#include "pg/words.h"

PG_FUNCTION_INFO_V1(hopper_sql_explain_fit);

#define COLUMNS 5
#define CALIBRATION_SECONDS 1.0
/* Buffers that are read to see how fast reading is, and what holds where they cannot be. */
#define SAMPLED_BUFFERS 4
#define READ_BYTES_PER_SECOND 500e6
/* A hop statement of the segments engine (bench/segments.py). */
#define STATEMENT_SECONDS 0.01
#define HOP_BYTES_PER_SECOND 100e6

typedef struct explain_request
{
	hopper_name source;
	hopper_name output;
	bool		has_validation;
	hopper_name validation;
	hopper_run_options options;
	hopper_config *configs;
	int			n_configs;
	bool		analyze;
	int			threads_per_segment;	/* Greenplum; 0: a segment's share of its host */
	int			workers;		/* of the finished run; 0: none is known */
	hopper_packed train;
	hopper_packed valid;

	/* the lines */
	MemoryContext context;
	int			n;
	int			allocated;
	char	  **cells;
} explain_request;

/* What the journal says of a finished run, and its info table of its models. */
typedef struct measured_run
{
	bool		known;
	int			workers;
	double		seconds;
	double		read;
	double		wait;
	double		hop;
	double		train;
	double		evaluate;
	double		idle_share;
} measured_run;

#define UNKNOWN NAN

/* --- lines --- */

static char *
number_text(double value)
{
	return isnan(value) ? NULL : psprintf("%.17g", value);
}

/* `mst_key` may be NULL; UNKNOWN numbers become NULL. */
static void
line(explain_request *request, const char *item, const int32 *mst_key, double predicted,
	 double measured, const char *unit)
{
	MemoryContext old = MemoryContextSwitchTo(request->context);
	char	  **row;

	if (request->n == request->allocated)
	{
		request->allocated = Max(64, 2 * request->allocated);
		request->cells = request->cells == NULL
			? palloc(request->allocated * COLUMNS * sizeof(char *))
			: repalloc(request->cells, request->allocated * COLUMNS * sizeof(char *));
	}
	row = &request->cells[request->n++ * COLUMNS];
	row[0] = pstrdup(item);
	row[1] = mst_key ? psprintf("%d", *mst_key) : NULL;
	row[2] = number_text(predicted);
	row[3] = number_text(measured);
	row[4] = pstrdup(unit);
	MemoryContextSwitchTo(old);
}

/* --- arguments --- */

static int32
positive(FunctionCallInfo fcinfo, int at, const char *name, int32 missing)
{
	int32		value = PG_ARGISNULL(at) ? missing : PG_GETARG_INT32(at);

	if (PG_ARGISNULL(at) && missing < 1)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", name)));
	if (value < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be at least 1, got %d", name, value)));
	return value;
}

static text *
text_argument(FunctionCallInfo fcinfo, int at)
{
	return PG_ARGISNULL(at) ? NULL : PG_GETARG_TEXT_PP(at);
}

static int
metrics_named(const char *name)
{
	if (strcmp(name, "running") == 0)
		return HOPPER_METRICS_RUNNING;
	if (strcmp(name, "final") == 0)
		return HOPPER_METRICS_FINAL;
	if (strcmp(name, "every") == 0)
		return HOPPER_METRICS_EVERY;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("training_metrics \"%s\" is not known", name),
			 errhint("Use 'running' (taken while the weights move), 'final' (and evaluated after "
					 "the last iteration) or 'every' (evaluated at each metrics iteration).")));
}

static void
check_threads(const hopper_run_options *options)
{
	if (options->threads_per_model > options->threads)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("threads_per_model must not be more than threads"),
				 errdetail("It is %d, and the run has %s.", options->threads_per_model,
						   hopper_plural(options->threads, "thread", "threads")),
				 errhint("Lower threads_per_model, or raise threads.")));
}

static void
planned_run(FunctionCallInfo fcinfo, explain_request *request)
{
	hopper_run_options *options = &request->options;
	hopper_name selection;

	request->source = hopper_parse_name(text_argument(fcinfo, 0), "source_table");
	selection = hopper_parse_name(text_argument(fcinfo, 2), "model_selection_table");
	options->num_iterations = positive(fcinfo, 3, "num_iterations", 0);
	request->has_validation = !PG_ARGISNULL(5);
	if (request->has_validation)
		request->validation = hopper_parse_name(text_argument(fcinfo, 5), "validation_table");
	options->metrics_compute_frequency = positive(fcinfo, 6, "metrics_compute_frequency", 1);
	options->threads = PG_ARGISNULL(7) ? hopper_choose_threads(false, 0)
		: hopper_choose_threads(true, PG_GETARG_INT32(7));
	if (!PG_ARGISNULL(7))
		request->threads_per_segment = options->threads;
	if (PG_ARGISNULL(8))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", "training_metrics")));
	options->training_metrics = metrics_named(text_to_cstring(PG_GETARG_TEXT_PP(8)));
	options->threads_per_model = positive(fcinfo, 9, "threads_per_model", 0);
	check_threads(options);
	if (PG_ARGISNULL(11))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", "precision")));
	options->precision = text_to_cstring(PG_GETARG_TEXT_PP(11));
	hopper_check_precision(options->precision, false);
	request->configs = hopper_load_configs(&selection, &request->n_configs);
}

static hopper_name
name_cell(int column, const char *what)
{
	char	   *name = hopper_cell(0, column);

	return hopper_parse_name(name ? cstring_to_text(name) : NULL, what);
}

/* The run as its output tables tell it; the journal knows the threads of a model. */
static void
finished_run(explain_request *request, int threads_per_model)
{
	hopper_run_options *options = &request->options;
	hopper_outputs outputs = hopper_outputs_named(&request->output);
	hopper_name models;
	hopper_config *config;
	uint64		n;
	hopper_trained trained;

	hopper_read_trained_data(&request->output, &trained);
	hopper_require_select(hopper_relation_oid(&outputs.info, false));
	if (hopper_select("SELECT source_table, validation_table, model_arch_table,"
					  " num_iterations::pg_catalog.int4, metrics_compute_frequency,"
					  " threads::pg_catalog.int4, training_metrics, precision FROM %s",
					  outputs.summary.quoted) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" does not have one row", outputs.summary.shown)));
	request->source = name_cell(1, "source_table");
	request->has_validation = hopper_cell(0, 2) != NULL;
	if (request->has_validation)
		request->validation = name_cell(2, "validation_table");
	models = name_cell(3, "model_arch_table");
	options->num_iterations = atoi(hopper_cell(0, 4));
	options->metrics_compute_frequency = atoi(hopper_cell(0, 5));
	options->threads = atoi(hopper_cell(0, 6));
	options->training_metrics = metrics_named(hopper_cell(0, 7));
	/* what GPUs alone have is timed as what stands for it here */
	options->precision = strcmp(hopper_cell(0, 8), "tf32") == 0 ? "fp32" :
		pstrdup(hopper_cell(0, 8));
	options->threads_per_model = threads_per_model;

	n = hopper_select("SELECT mst_key::pg_catalog.int4, model_id::pg_catalog.int4,"
					  " compile_params::pg_catalog.text, fit_params::pg_catalog.text"
					  " FROM %s ORDER BY mst_key", outputs.info.quoted);
	request->configs = config = palloc0(Max(n, 1) * sizeof(hopper_config));
	request->n_configs = (int) n;
	for (uint64 row = 0; row < n; row++, config++)
	{
		config->mst_key = atoi(hopper_cell(row, 1));
		config->model_id = atoi(hopper_cell(row, 2));
		config->compile_params = hopper_to_utf8(hopper_cell(row, 3));
		config->fit_params = hopper_cell(row, 4) ? hopper_to_utf8(hopper_cell(row, 4)) : NULL;
	}
	hopper_require_model_table(&models);
	for (int i = 0; i < request->n_configs; i++)
	{
		hopper_model model;

		hopper_read_model(&models, request->configs[i].model_id, &model);
		request->configs[i].model_arch = model.arch;
		request->configs[i].model_arch_size = model.arch_size;
	}
}

/* --- what was measured --- */

static int
read_journal(Oid output, measured_run *run)
{
	hopper_journal_scope scope = hopper_journal_begin();
	int			threads_per_model = 1;

	if (hopper_select("SELECT r.workers, r.threads_per_model, r.seconds,"
					  " r.seconds_reading + coalesce(sum(v.seconds_read), 0),"
					  " r.seconds_hop, coalesce(sum(v.seconds_train), 0),"
					  " coalesce(sum(v.seconds_evaluate), 0), r.idle_share"
					  " FROM hopper.journal_runs r LEFT JOIN hopper.journal_visits v"
					  " ON v.run = r.run WHERE r.output = %u GROUP BY r.run, r.workers,"
					  " r.threads_per_model, r.seconds, r.seconds_reading, r.seconds_hop,"
					  " r.idle_share ORDER BY r.run DESC LIMIT 1", output) == 1)
	{
		run->known = true;
		run->workers = atoi(hopper_cell(0, 1));
		threads_per_model = atoi(hopper_cell(0, 2));
		run->seconds = hopper_float_value(0, 3);
		run->read = hopper_float_value(0, 4);
		run->hop = hopper_float_value(0, 5);
		run->train = hopper_float_value(0, 6);
		run->evaluate = hopper_float_value(0, 7);
		run->idle_share = hopper_float_value(0, 8);
		run->wait = run->idle_share * run->seconds * run->workers;
	}
	hopper_journal_end(&scope);
	return threads_per_model;
}

/* --- the forecast --- */

#ifndef GP_VERSION_NUM
/* Bytes a second that buffers come from the table. */
static double
reading_speed(const hopper_packed *packed)
{
	instr_time	start;
	instr_time	end;
	uint64		n;
	double		bytes = 0;

	INSTR_TIME_SET_CURRENT(start);
	n = hopper_select("SELECT %s, %s FROM %s LIMIT %d",
					  pstrdup(quote_identifier(packed->desc.x_column)),
					  pstrdup(quote_identifier(packed->desc.y_column)), packed->table.quoted,
					  SAMPLED_BUFFERS);
	for (uint64 row = 0; row < n; row++)
	{
		for (int column = 1; column <= 2; column++)
		{
			bool		isnull;
			Datum		value = hopper_value(row, column, BYTEAOID, &isnull);

			if (!isnull)
				bytes += VARSIZE_ANY_EXHDR(DatumGetByteaPP(value));
		}
	}
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	if (bytes <= 0 || INSTR_TIME_GET_DOUBLE(end) <= 0)
		return READ_BYTES_PER_SECOND;
	return bytes / INSTR_TIME_GET_DOUBLE(end);
}
#endif

static void
free_explain(void *explain)
{
	hopper_torch()->explain_free((hopper_explain *) explain);
}

#ifdef GP_VERSION_NUM
static int
threads_of_a_segment(const explain_request *request, const int32 *keys)
{
	int			n_segments = 0;

	if (request->threads_per_segment > 0)
		return request->threads_per_segment;
	if (request->workers == 0)
		return Max(request->options.threads / hopper_segments_on_a_host(), 1);
	for (int i = 0; i < request->train.desc.n_partitions; i++)
	{
		bool		known = false;

		for (int j = 0; j < i && !known; j++)
			known = keys[i] == keys[j];
		n_segments += !known;
	}
	return Max(request->workers / Max(n_segments, 1), 1) *
		Max(request->options.threads_per_model, 1);
}
#endif

static hopper_explain_costs
costs_of(explain_request *request, const int32 *train_keys)
{
	hopper_explain_costs costs = {0};

	costs.seconds = CALIBRATION_SECONDS;
#ifdef GP_VERSION_NUM
	costs.read_bytes_per_second = READ_BYTES_PER_SECOND;
	costs.statement = STATEMENT_SECONDS;
	costs.hop_bytes_per_second = HOP_BYTES_PER_SECOND;
	costs.threads_per_segment = threads_of_a_segment(request, train_keys);
#else
	costs.read_bytes_per_second = reading_speed(&request->train);
#endif
	return costs;
}

static hopper_explain *
forecast(explain_request *request, hopper_guard **guard)
{
	const hopper_torch_api *torch = hopper_torch();
	const hopper_data_desc *valid = request->has_validation ? &request->valid.desc : NULL;
	hopper_explain_costs costs;
	const int32 *train_keys = NULL;
	const int32 *valid_keys = NULL;
	hopper_explain *explain;
	hopper_error error;
	int			done;

#ifdef GP_VERSION_NUM
	train_keys = hopper_partition_keys(&request->train);
	if (valid)
		valid_keys = hopper_partition_keys(&request->valid);
#endif
	costs = costs_of(request, train_keys);
	request->options.n_starts = request->train.n_starts;
	request->options.starts = request->train.starts;
	request->options.memory_limit = hopper_effective_memory_limit();
	request->options.event_fd = hopper_eventfd_open();
	HOPPER_CHECK(torch->explain_create(&request->options, &request->train.desc, valid, train_keys,
									   valid_keys, &costs, &explain, &error), error);
	*guard = hopper_guard_add(explain, free_explain);
	for (int i = 0; i < request->n_configs; i++)
		HOPPER_CHECK(torch->explain_add_config(explain, &request->configs[i], &error), error);
	HOPPER_CHECK(torch->explain_start(explain, &error), error);
	while ((done = torch->explain_poll(explain, &error)) == 0)
		hopper_wait(request->options.event_fd, 500);
	if (done < 0)
		hopper_throw(&error);
	return explain;
}

/* Passes over the training data of all configurations together. */
static double
passes(const explain_request *request, const hopper_explain_model *models)
{
	double		sum = 0;

	for (int i = 0; i < request->n_configs; i++)
	{
		double		n = models[i].n_passes;

		sum += n * request->options.num_iterations;
	}
	return sum;
}

static void
lines_of_run(explain_request *request, const hopper_explain_run *run,
			 const hopper_explain_model *models, const measured_run *measured)
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
static void
lines_of_models(explain_request *request, const hopper_explain_model *models)
{
	double	   *trained = palloc(Max(request->n_configs, 1) * sizeof(double));
	double	   *evaluated = palloc(Max(request->n_configs, 1) * sizeof(double));

	for (int i = 0; i < request->n_configs; i++)
		trained[i] = evaluated[i] = UNKNOWN;
	if (request->analyze)
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

static void
keep_rows(hopper_rows *rows)
{
	/* the memory context's */
}

Datum
hopper_sql_explain_fit(PG_FUNCTION_ARGS)
{
	explain_request request = {.context = CurrentMemoryContext};
	measured_run measured = {0};
	const hopper_torch_api *torch = hopper_torch();
	hopper_explain *explain;
	hopper_guard *guard;
	hopper_explain_run run;
	hopper_explain_model *models;
	hopper_error error;
	hopper_rows rows;

	request.analyze = !PG_ARGISNULL(10) && PG_GETARG_BOOL(10);
	hopper_check_use_gpus(!PG_ARGISNULL(4) && PG_GETARG_BOOL(4));
	hopper_connect();
	if (request.analyze)
	{
		request.output = hopper_parse_name(text_argument(fcinfo, 1), "model_output_table");
		finished_run(&request, read_journal(hopper_relation_oid(&request.output, false),
											&measured));
		request.workers = measured.workers;
	}
	else
		planned_run(fcinfo, &request);
	hopper_read_packed(&request.source, &request.train);
	if (request.has_validation)
	{
		hopper_read_packed(&request.validation, &request.valid);
		hopper_check_compatible(&request.valid, "validation table", &request.train.desc,
								request.source.shown);
	}
	hopper_require_valid_configs(request.configs, request.n_configs, &request.train.desc);

	explain = forecast(&request, &guard);
	HOPPER_CHECK(torch->explain_run(explain, &run, &error), error);
	models = palloc0(Max(request.n_configs, 1) * sizeof(hopper_explain_model));
	for (int i = 0; i < request.n_configs; i++)
		HOPPER_CHECK(torch->explain_model(explain, i, &models[i], &error), error);
	hopper_guard_release(guard);
	hopper_eventfd_close(request.options.event_fd);
	for (int i = 0; i < request.n_configs; i++)
		if (models[i].code != HOPPER_OK)
			ereport(WARNING,
					(errmsg("configuration %d would fail: %s", models[i].mst_key,
							hopper_from_utf8(models[i].problem))));
	lines_of_run(&request, &run, models, &measured);
	lines_of_models(&request, models);
	hopper_finish();

	rows.n_rows = request.n;
	rows.n_columns = COLUMNS;
	rows.cells = (const char *const *) request.cells;
	return hopper_return_rows(fcinfo, &rows, keep_rows);
}
