/*
 * run.c
 *		The driver of a run on the segments: how many hops an iteration takes, and what the models
 *		report. The statements themselves are in greenplum/coordinator/hops.c.
 */
#include "pg/greenplum/coordinator/hops.h"
#include "pg/greenplum/reports.h"
#include "pg/greenplum/coordinator/timeline.h"

#include "catalog/namespace.h"
#include "cdb/cdbvars.h"
#include "nodes/makefuncs.h"

#include "pg/server/words.h"
#include "pg/train/outputs.h"

#define MAX_RELOADS 3

typedef struct segments_run
{
	hopper_training *training;
	hopper_segment_run run;
	hopper_hops hops;
	int32		iteration;
	int			hop;			/* the statement of this iteration, from 1 */
	TimestampTz started;
	hopper_model_result *results;
	hopper_segment_timeline timeline;
	int32	   *waits;			/* by configuration: for metrics */
} segments_run;

static void
run_context(void *arg)
{
	segments_run *run = arg;

	if (run->iteration > 0)
		errcontext("%s \"%s\" in iteration %d of %d, hop %d, with %s", run->training->function,
				   run->training->shown, run->iteration,
				   run->training->options.num_iterations, run->hop,
				   hopper_hops_travelling(run->training));
	else
		errcontext("%s \"%s\" before its first iteration", run->training->function,
				   run->training->shown);
}

/* --- setting up --- */

/* Unlogged tables cannot lie beside a temporary one. */
static void
refuse_temporary(const hopper_name *model)
{
	Oid			schema = RangeVarGetCreationNamespace(makeRangeVar(model->schema, model->name, -1));

	if (isTempNamespace(schema))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("output table \"%s\" cannot be temporary", model->shown),
				 errdetail("The segments keep models in tables beside it while they train."),
				 errhint("Name a table in another schema.")));
}

void
hopper_require_segments(void)
{
	MemoryContext caller = CurrentMemoryContext;

	PG_TRY();
	{
		/* of a run that is none: the library is all that it takes */
		(void) hopper_select("SELECT hopper.segment_release(0)"
							 " FROM gp_dist_random('pg_catalog.gp_id')");
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(caller);
		error = CopyErrorData();
		if (error->sqlerrcode == ERRCODE_UNDEFINED_FILE && error->hint == NULL)
		{
			/* the server's own words, which do not tell what to do */
			if (error->detail == NULL)
				error->detail = pstrdup("The host of a segment lacks the library.");
			error->hint = pstrdup("Install the libraries of one build on all hosts, and "
								  "reconnect.");
		}
		else if (error->hint == NULL && error->sqlerrcode != ERRCODE_QUERY_CANCELED)
			error->hint = pstrdup("Bring all segments back, with gprecoverseg or gpstart, and "
								  "repeat.");
		FlushErrorState();
		ReThrowError(error);
	}
	PG_END_TRY();
	if (hopper_select("SELECT content FROM pg_catalog.gp_segment_configuration"
					  " WHERE role OPERATOR(pg_catalog.=) 'p'"
					  " AND status OPERATOR(pg_catalog.<>) 'u' ORDER BY content LIMIT 1") > 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("segment %s is down", hopper_cell(0, 1)),
				 errhint("Bring it back with gprecoverseg.")));
}

/* A number that no other run in this session has. */
static int64
new_run_id(void)
{
	static int32 count = 0;

	return ((int64) gp_session_id << 32) | (uint32) ++count;
}

static void
load(segments_run *run)
{
	const hopper_data_plan *plan = &run->hops.plan;
	TimestampTz then = GetCurrentTimestamp();

	/* where only some have lost their data, the others must not get theirs twice */
	if (run->hops.loaded)
		run->run.id = new_run_id();
	strlcpy(run->training->info.numerics_class, hopper_to_utf8(hopper_hops_load(&run->hops)),
			sizeof(run->training->info.numerics_class));
	hopper_segment_timeline_keys(&run->timeline, &run->hops.log);
	run->training->seconds_reading += hopper_seconds_since(then);
	if (run->iteration > 0)
		return;
	/* A hop sorts the models that arrive at a segment by where they go. */
	if (plan->bytes_models > statement_mem * INT64CONST(1024))
		hopper_require_temporary(plan->bytes_models, "moving models between segments",
								 "Raise statement_mem or temp_file_limit, or train fewer "
								 "configurations at a time.");
	if (plan->max_reads == 0)
		return;
	ereport(NOTICE,
			(errmsg("%s \"%s\": data and models of a segment exceed hopper.memory_limit, each "
					"partition is read up to %s", run->training->function, run->training->shown,
					hopper_plural(plan->max_reads, "time", "times")),
			 errdetail("The data of a segment take up to %s, the models that visit it %s.",
					   hopper_bytes_words(plan->bytes_data),
					   hopper_bytes_words(plan->bytes_models))));
}

/* One statement that moves and trains the models. */
static void
move(segments_run *run, bool fresh, bool finish)
{
	TimestampTz then = GetCurrentTimestamp();

	run->hop = fresh ? 1 : run->hop + 1;
	hopper_hops_move(&run->hops, run->iteration, fresh, finish);
	hopper_segment_timeline_statement(&run->timeline, then);
}

/* --- how far a model gets --- */

/* Different keys in a list. */
static int
count_keys(const int32 *keys, int n)
{
	int			count = 0;

	for (int i = 0; i < n; i++)
	{
		bool		known = false;

		for (int j = 0; j < i && !known; j++)
			known = keys[i] == keys[j];
		count += !known;
	}
	return count;
}

/* Statements that the iteration takes. Too few are made up for. */
static int
hops_of_iteration(const segments_run *run, int32 iteration)
{
	const hopper_segment_run *data = &run->run;
	const hopper_training *training = run->training;
	hopper_course_data hops = {0};
	int32	   *mst_keys = palloc(training->n_configs * sizeof(int32));
	int32	   *waits = palloc(training->n_configs * sizeof(int32));
	hopper_error error;
	int32		n = 0;

	hops.num_iterations = data->options.num_iterations;
	hops.metrics_compute_frequency = data->options.metrics_compute_frequency;
	hops.training_metrics = data->options.training_metrics;
	hops.n_starts = data->options.n_starts;
	hops.starts = data->options.starts;
	hops.n_partitions = data->train.n_partitions;
	hops.train_keys = data->train_keys;
	hops.n_valid = data->has_valid ? data->valid.n_partitions : 0;
	hops.valid_keys = data->valid_keys;
	for (int i = 0; i < training->n_configs; i++)
	{
		if (training->failed[i] || training->stopped[i])
			continue;
		mst_keys[hops.n_models] = training->configs[i].mst_key;
		waits[hops.n_models++] = run->waits[i];
	}
	hops.mst_keys = mst_keys;
	hops.waits = waits;
	HOPPER_CHECK(hopper_core()->hops_of_iteration(&hops, iteration, &n, &error), error);
	pfree(mst_keys);
	pfree(waits);
	return n;
}

/* --- what the models report --- */

/* A model that has failed stays where it was. */
static void
tell_segment(hopper_event *event, int segment, int32 iteration)
{
	size_t		length = strlen(event->detail);

	snprintf(event->detail + length, sizeof(event->detail) - length,
			 "%sIt was on segment %d in iteration %d.", length > 0 ? " " : "", segment,
			 iteration);
}

static void
take_event(segments_run *run, int at, hopper_event *event, int segment)
{
	hopper_training *training = run->training;

	event->elapsed = hopper_seconds_since(run->started);
	switch (event->type)
	{
		case HOPPER_EVENT_METRICS:
			hopper_history_record(training->histories[at], event);
			break;
		case HOPPER_EVENT_MODEL_FAILED:
			if (!training->failed[at])
			{
				training->failed[at] = true;
				training->n_failed++;
				tell_segment(event, segment, run->iteration);
				hopper_progress_failed(training, event);
			}
			break;
		case HOPPER_EVENT_MODEL_STOPPED:
			hopper_progress_stopped(training, at, event);
			break;
		case HOPPER_EVENT_WARNING:
			ereport(WARNING,
					(errmsg("%s \"%s\": %s", training->function, training->shown,
							hopper_from_utf8(event->message)),
					 event->detail[0] ? errdetail("%s", hopper_from_utf8(event->detail)) : 0,
					 event->hint[0] ? errhint("%s", hopper_from_utf8(event->hint)) : 0));
			break;
		default:
			elog(ERROR, "unknown event %d of a segment", event->type);
	}
}

/* What configuration `at` reports. */
static void
take_report(segments_run *run, int at, const bytea *bytes, int segment)
{
	hopper_report report;

	hopper_read_report(bytes, segment, run->training->configs[at].mst_key, &report);
	for (int i = 0; i < report.n_events; i++)
		take_event(run, at, &report.events[i], segment);
	for (int i = 0; i < report.n_visits; i++)
		hopper_segment_timeline_visit(&run->timeline, &report.visits[i]);
	pfree(report.events);
	pfree(report.visits);
}

/* The configurations of the run come back, each once: rows of SPI_tuptable in their order. */
static void
require_configs(const hopper_training *training, uint64 n)
{
	if (n != (uint64) training->n_configs)
		elog(ERROR, UINT64_FORMAT " of %d models came back from the segments", n,
			 training->n_configs);
	for (int i = 0; i < training->n_configs; i++)
	{
		int32		mst_key = DatumGetInt32(hopper_told_value(i, 1, INT4OID));

		if (mst_key != training->configs[i].mst_key)
			elog(ERROR, "configuration %d came back from the segments, not %d", mst_key,
				 training->configs[i].mst_key);
	}
}

/* Reads the reports once all models are done; false where some are not. */
static bool
collect(segments_run *run, bool *missing)
{
	uint64		n;
	bool		done = true;

	*missing = false;
	n = hopper_select_latest("SELECT mst_key, done, missing, report, gp_segment_id FROM %s"
							 " WHERE part OPERATOR(pg_catalog.=) 0 ORDER BY mst_key",
							 run->hops.tables[run->hops.at].quoted);
	require_configs(run->training, n);
	for (uint64 row = 0; row < n; row++)
	{
		done = DatumGetBool(hopper_told_value(row, 2, BOOLOID)) && done;
		*missing = DatumGetBool(hopper_told_value(row, 3, BOOLOID)) || *missing;
	}
	for (uint64 row = 0; done && row < n; row++)
		take_report(run, (int) row, DatumGetByteaPP(hopper_told_value(row, 4, BYTEAOID)),
					DatumGetInt32(hopper_told_value(row, 5, INT4OID)));
	SPI_freetuptable(SPI_tuptable);
	return done;
}

static void
iterate(segments_run *run)
{
	int			n_hops = hops_of_iteration(run, run->iteration);
	int			reloads = 0;
	bool		missing;

	for (int i = 0; i < n_hops; i++)
		move(run, i == 0, false);
	while (!collect(run, &missing))
	{
		if (missing)
		{
			if (++reloads > MAX_RELOADS + run->run.drop_cache * n_hops * 100)
				ereport(ERROR,
						(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						 errmsg("segments lose the data of \"%s\" again and again",
								run->training->shown)));
			load(run);
		}
		else if (++reloads > 1000)
			elog(ERROR, "the models of \"%s\" do not reach the end of iteration %d",
				 run->training->shown, run->iteration);
		move(run, false, false);
	}
	hopper_segment_timeline_settle(&run->timeline);
}

/* --- the end --- */

/* The weights of each model that is done are there, and are as many as its result says. */
static void
require_weights(segments_run *run)
{
	const hopper_training *training = run->training;
	uint64		n = hopper_select_latest("SELECT mst_key, pg_catalog.length(body) FROM %s"
										 " WHERE part OPERATOR(pg_catalog.=) -1"
										 " ORDER BY mst_key",
										 run->hops.tables[run->hops.at].quoted);
	uint64		row = 0;

	for (int i = 0; i < training->n_configs; i++)
	{
		const hopper_model_result *result = &training->results[i];

		if (result->status != HOPPER_MODEL_DONE)
			continue;
		if (row >= n ||
			DatumGetInt32(hopper_told_value(row, 1, INT4OID)) != training->configs[i].mst_key ||
			result->n_weights != DatumGetInt32(hopper_told_value(row, 2, INT4OID)) /
			(int64) sizeof(float))
			elog(ERROR, "a segment did not return the weights of configuration %d",
				 training->configs[i].mst_key);
		row++;
	}
	if (row != n)
		elog(ERROR, "segments returned weights of models that are not done");
	SPI_freetuptable(SPI_tuptable);
}

static void
take_results(segments_run *run)
{
	hopper_training *training = run->training;
	uint64		n;

	training->results = hopper_palloc0_huge(training->n_configs * sizeof(hopper_model_result));
	training->n_failed = 0;
	n = hopper_select_latest("SELECT mst_key, result, gp_segment_id FROM %s"
							 " WHERE part OPERATOR(pg_catalog.=) 0 ORDER BY mst_key",
							 run->hops.tables[run->hops.at].quoted);
	require_configs(training, n);
	for (uint64 row = 0; row < n; row++)
	{
		hopper_model_result *result = &training->results[row];

		hopper_read_result(DatumGetByteaPP(hopper_told_value(row, 2, BYTEAOID)),
						   DatumGetInt32(hopper_told_value(row, 3, INT4OID)),
						   training->configs[row].mst_key, result);
		training->n_failed += result->status == HOPPER_MODEL_FAILED;
		training->info.seconds_busy += result->seconds_training + result->seconds_evaluating;
	}
	SPI_freetuptable(SPI_tuptable);
	require_weights(run);
}

/* Models that a segment trains at the same time, as each of them reckons for itself. */
static int
workers_of_segment(const segments_run *run)
{
	int			threads;

	if (run->run.options.use_gpus)
		return 1;
	threads = hopper_segment_threads(run->run.options.threads, run->run.segments_on_host);
	return Max(threads / Max(run->run.options.threads_per_model, 1), 1);
}

static void
tell_idle(const segments_run *run)
{
	int			n_segments = count_keys(run->run.train_keys, run->run.train.n_partitions);

	if (run->run.n_configs < n_segments)
		ereport(NOTICE,
				(errmsg("%s \"%s\": %d of %d segments with data are idle at any time, as there "
						"are only %s", run->training->function, run->training->shown,
						n_segments - run->run.n_configs, n_segments,
						hopper_plural(run->run.n_configs, "configuration", "configurations"))));
}

static void
describe_table(const hopper_packed *packed, hopper_segment_table *table)
{
	table->relation = hopper_source_oid(&packed->table);
	strlcpy(table->x_column, packed->desc.x_column, sizeof(table->x_column));
	strlcpy(table->y_column, packed->desc.y_column, sizeof(table->y_column));
}

static void
segments_train(hopper_training *training, const hopper_name *model, const hopper_name *state)
{
	segments_run run = {0};
	ErrorContextCallback context = {error_context_stack, run_context, &run};
	hopper_progress progress;

	run.training = training;
	training->failed = palloc0(training->n_configs * sizeof(bool));
	training->stopped = palloc0(training->n_configs * sizeof(bool));
	training->costs = hopper_training_costs(training);
	training->n_failed = 0;
	error_context_stack = &context;
	run.waits = palloc0(training->n_configs * sizeof(int32));
	for (int i = 0; i < training->n_configs; i++)
	{
		hopper_error error;

		HOPPER_CHECK(hopper_core()->waits_for_metrics(training->configs[i].fit_params,
													  &run.waits[i], &error), error);
	}

	refuse_temporary(model);
	run.run.id = new_run_id();
	run.run.options = training->options;
	run.run.options.threads = training->threads_given ? training->options.threads
		: hopper_threads;
	run.run.options.memory_limit = HOPPER_BYTES(hopper_memory_limit);
	run.run.train = training->train->desc;
	run.run.train_keys = hopper_partition_keys(training->train);
	run.run.has_valid = training->valid != NULL;
	if (training->valid)
	{
		run.run.valid = training->valid->desc;
		run.run.valid_keys = hopper_partition_keys(training->valid);
	}
	describe_table(training->train, &run.run.tables[HOPPER_SPLIT_TRAIN]);
	if (training->valid)
		describe_table(training->valid, &run.run.tables[HOPPER_SPLIT_VALID]);
	run.run.segments_on_host = hopper_segments_on_a_host();
	run.run.segment_numbers = hopper_segment_numbers(&run.run.n_segments);
	run.run.drop_cache = hopper_debug_drop_cache;
	run.run.shown = training->shown;
	run.run.n_configs = training->n_configs;
	run.run.configs = (hopper_config *) training->configs;

	training->timeline = hopper_timeline_new(training);
	training->info.n_workers = count_keys(run.run.train_keys, run.run.train.n_partitions) *
		workers_of_segment(&run);
	tell_idle(&run);
	hopper_hops_begin(&run.hops, &run.run, training->train, training->valid, model);
	hopper_progress_start(&progress, training);
	run.started = GetCurrentTimestamp();
	hopper_segment_timeline_begin(&run.timeline, training, run.started);
	load(&run);
	hopper_hops_put_models(&run.hops);
	training->started = true;
	for (run.iteration = 1; run.iteration <= training->options.num_iterations; run.iteration++)
	{
		iterate(&run);
		hopper_progress_line(&progress, training);
	}
	run.iteration--;
	/* what a test has made the segments lose after the last hop */
	if (run.run.drop_cache > 0)
		load(&run);
	move(&run, false, true);
	hopper_segment_timeline_settle(&run.timeline);
	take_results(&run);
	hopper_refuse_all_failed(training);
	hopper_hops_write(&run.hops, model, state);
	hopper_hops_end(&run.hops);
	/* as on one server: without reading the data */
	training->info.seconds_wall = hopper_seconds_since(run.started) - training->seconds_reading;
	error_context_stack = context.previous;
}

void
hopper_train(hopper_training *training, const hopper_outputs *outputs, bool replace)
{
	/* The hops write into the output tables themselves. */
	if (replace)
		hopper_outputs_clear(outputs, training);
	segments_train(training, &outputs->model, &outputs->state);
}
