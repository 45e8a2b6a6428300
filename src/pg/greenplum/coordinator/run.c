/*
 * run.c
 *		The driver of a run on the segments: how many hops an iteration takes, and what the models
 *		report. The statements themselves are in greenplum/coordinator/hops.c.
 */
#include "pg/greenplum/coordinator/driver.h"
#include "pg/greenplum/reports.h"

#include "pg/server/words.h"
#include "pg/train/fit.h"

/* Statements beyond those foreseen for an iteration; more are none that get the models on. */
#define MAX_MORE_HOPS 1000

typedef struct segments_run
{
	hopper_driver driver;
	int32	   *waits;			/* by configuration: for metrics */
} segments_run;

static void
run_context(void *arg)
{
	hopper_driver *run = arg;

	if (run->iteration > 0)
		errcontext("%s \"%s\" in iteration %d of %d, hop %d, with %s", run->training->function,
				   run->training->shown, run->iteration,
				   run->training->options.num_iterations, run->hop,
				   hopper_hops_travelling(run->training));
	else
		errcontext("%s \"%s\" before its first iteration", run->training->function,
				   run->training->shown);
}

/* --- how far a model gets --- */

/* Statements that the iteration takes. Too few are made up for. */
static int
hops_of_iteration(const segments_run *run, int32 iteration)
{
	const hopper_segment_run *data = &run->driver.run;
	const hopper_training *training = run->driver.training;
	hopper_course_data hops = {0};
	int32	   *mst_keys = palloc(training->n_configs * sizeof(int32));
	int32	   *waits = palloc(training->n_configs * sizeof(int32));
	hopper_error error;
	int32		n = 0;

	hops.options = &data->options;
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
collect(hopper_driver *run, bool *missing)
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
		hopper_driver_take_report(run, (int) row,
								  DatumGetByteaPP(hopper_told_value(row, 4, BYTEAOID)),
								  DatumGetInt32(hopper_told_value(row, 5, INT4OID)), 0);
	SPI_freetuptable(SPI_tuptable);
	return done;
}

static void
iterate(segments_run *all)
{
	hopper_driver *run = &all->driver;
	int			n_hops = hops_of_iteration(all, run->iteration);
	int			more = 0;
	bool		missing;

	for (int i = 0; i < n_hops; i++)
		hopper_driver_move(run, i == 0 ? HOPPER_HOP_FIRST : HOPPER_HOP_NEXT);
	for (;;)
	{
		bool		done = collect(run, &missing);

		/* who is done needs no data */
		hopper_driver_note_loss(run, missing && !done);
		if (done)
			break;
		if (missing)
			hopper_driver_load(run);
		else if (++more > MAX_MORE_HOPS)
			elog(ERROR, "the models of \"%s\" do not reach the end of iteration %d",
				 run->training->shown, run->iteration);
		hopper_driver_move(run, HOPPER_HOP_NEXT);
	}
	hopper_segment_timeline_settle(&run->timeline);
}

/* --- the end --- */

static void
take_results(hopper_driver *run)
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
						   training->configs[row].mst_key, false, result);
		training->n_failed += result->status == HOPPER_MODEL_FAILED;
		training->info.seconds_busy += result->seconds_training + result->seconds_evaluating;
	}
	SPI_freetuptable(SPI_tuptable);
	hopper_driver_require_weights(run, NULL, training->n_configs);
}

static void
tell_idle(const hopper_driver *run)
{
	int			n_segments = hopper_driver_segments(run);

	if (run->run.n_configs < n_segments)
		ereport(NOTICE,
				(errmsg("%s \"%s\": %d of %d segments with data are idle at any time, as there "
						"are only %s", run->training->function, run->training->shown,
						n_segments - run->run.n_configs, n_segments,
						hopper_plural(run->run.n_configs, "configuration", "configurations"))));
}

static void
segments_train(hopper_training *training, const hopper_name *model, const hopper_name *state)
{
	segments_run all = {{0}};
	hopper_driver *run = &all.driver;
	ErrorContextCallback context = {error_context_stack, run_context, run};
	hopper_progress progress;

	run->training = training;
	training->failed = palloc0(training->n_configs * sizeof(bool));
	training->stopped = palloc0(training->n_configs * sizeof(bool));
	training->costs = hopper_training_costs(training);
	training->n_failed = 0;
	error_context_stack = &context;
	all.waits = palloc0(training->n_configs * sizeof(int32));
	for (int i = 0; i < training->n_configs; i++)
	{
		hopper_error error;

		HOPPER_CHECK(hopper_core()->waits_for_metrics(training->configs[i].fit_params,
													  &all.waits[i], &error), error);
	}

	hopper_driver_begin(run, training, model);
	tell_idle(run);
	hopper_progress_start(&progress, training);
	hopper_driver_load(run);
	hopper_hops_put_models(&run->hops, run->run.configs, run->run.n_configs);
	training->started = true;
	for (run->iteration = 1; run->iteration <= training->options.num_iterations; run->iteration++)
	{
		iterate(&all);
		hopper_progress_line(&progress, training);
	}
	run->iteration--;
	/* what a test has made the segments lose after the last hop */
	if (run->run.drop_cache > 0)
		hopper_driver_load(run);
	hopper_driver_move(run, HOPPER_HOP_RESULTS);
	hopper_segment_timeline_settle(&run->timeline);
	take_results(run);
	hopper_refuse_all_failed(training);
	hopper_hops_write(&run->hops, &run->hops.tables[run->hops.at], model, state);
	hopper_driver_end(run);
	error_context_stack = context.previous;
}

void
hopper_train(hopper_fit *fit)
{
	/* The hops write into the output tables themselves. */
	if (fit->warm_start)
		hopper_outputs_clear(&fit->staging, &fit->training);
	segments_train(&fit->training, &fit->staging.model, &fit->staging.state);
}
