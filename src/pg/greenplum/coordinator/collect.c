/*
 * collect.c
 *		What models bring back from a hop: reports of iterations that are complete, and results.
 */
#include "pg/greenplum/coordinator/open_run.h"
#include "pg/greenplum/reports.h"

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
take_event(open_segments *open, int at, hopper_event *event, int segment)
{
	event->elapsed = hopper_seconds_since(open->started);
	if (event->type == HOPPER_EVENT_MODEL_FAILED)
		tell_segment(event, segment, event->iteration + 1);
	if (!hopper_progress_take(open->training, at, event))
		elog(ERROR, "unknown event %d of a segment", event->type);
}

static void
take_report(open_segments *open, int at, const bytea *bytes, int segment, int since)
{
	hopper_report report;

	hopper_read_report(bytes, segment, open->training->configs[at].mst_key, &report);
	for (int i = 0; i < report.n_events; i++)
		take_event(open, at, &report.events[i], segment);
	for (int i = 0; i < report.n_visits; i++)
		hopper_segment_timeline_visit(&open->timeline, &report.visits[i], since);
	pfree(report.events);
	pfree(report.visits);
}

/* Its results of all stints together. */
static void
take_result(open_segments *open, int at, const bytea *bytes, int segment)
{
	hopper_training *training = open->training;
	hopper_model_result *result = &training->results[at];
	open_model *model = &open->models[at];

	hopper_read_result(bytes, segment, training->configs[at].mst_key, training->commits,
					   result);
	training->info.seconds_busy += result->seconds_training + result->seconds_evaluating;
	model->examples = result->examples += model->examples;
	model->seconds_training = result->seconds_training += model->seconds_training;
	model->seconds_evaluating = result->seconds_evaluating += model->seconds_evaluating;
	model->seconds_waiting = result->seconds_waiting += model->seconds_waiting;
	/* Of the others the outputs are written in that order. */
	if (!hopper_training_is_whole(training))
		hopper_training_order_metrics(training, at);
}

/* What one model has brought in a hop: a row of SPI_tuptable. */
typedef struct told_model
{
	int32		mst_key;
	uint64		row;
} told_model;

static int
place_of(const open_segments *open, int32 mst_key)
{
	int			at = hopper_training_place(open->training, mst_key);

	if (at < 0 || !open->models[at].trains)
		elog(ERROR, "configuration %d came back from the segments, and did not train", mst_key);
	return at;
}

/* The rows that begin a model, ascending by their keys; notes weights that have come. palloc'ed */
static told_model *
sort_told(open_segments *open, uint64 n)
{
	told_model *told = palloc(Max(open->n_training, 1) * sizeof(told_model));
	int			n_told = 0;

	for (uint64 row = 0; row < n; row++)
	{
		int32		mst_key = DatumGetInt32(hopper_told_value(row, 1, INT4OID));
		int32		part = DatumGetInt32(hopper_told_value(row, 2, INT4OID));

		if (part == -1)
			open->models[place_of(open, mst_key)].n_weights =
				DatumGetInt32(hopper_told_value(row, 8, INT4OID)) / (int64) sizeof(float);
		if (part != 0)
			continue;
		if (n_told < open->n_training)
			told[n_told] = (told_model) {mst_key, row};
		n_told++;
	}
	if (n_told != open->n_training)
		elog(ERROR, "%d of %d models came back from the segments", n_told, open->n_training);
	qsort(told, n_told, sizeof(told_model), hopper_compare_key);
	return told;
}

/* The weights that its result speaks of have come with it, and no others. */
static void
require_weights(open_segments *open, int at)
{
	const hopper_training *training = open->training;

	if (open->models[at].n_weights != training->results[at].n_weights)
		elog(ERROR, "a segment did not return the weights of configuration %d",
			 training->configs[at].mst_key);
	open->models[at].n_weights = 0;
}

int
hopper_open_collect(open_segments *open, uint64 n, int *ended, bool *missing)
{
	told_model *told = sort_told(open, n);
	int			n_done = 0;
	int			n_ended = 0;

	*missing = false;
	for (int i = 0; i < open->n_training; i++)
	{
		uint64		row = told[i].row;
		int			segment = DatumGetInt32(hopper_told_value(row, 5, INT4OID));
		int			at = place_of(open, told[i].mst_key);
		Datum		result;
		bool		isnull;

		if (i > 0 && told[i].mst_key == told[i - 1].mst_key)
			elog(ERROR, "configuration %d came back from the segments twice", told[i].mst_key);
		*missing = DatumGetBool(hopper_told_value(row, 4, BOOLOID)) || *missing;
		if (!DatumGetBool(hopper_told_value(row, 3, BOOLOID)))
			continue;
		n_done++;
		take_report(open, at, DatumGetByteaPP(hopper_told_value(row, 6, BYTEAOID)), segment,
								  open->models[at].since);
		open->models[at].since = open->timeline.n_statements;
		result = hopper_value(row, 7, BYTEAOID, &isnull);
		if (isnull)
			continue;
		take_result(open, at, DatumGetByteaPP(result), segment);
		require_weights(open, at);
		ended[n_ended++] = at;
	}
	SPI_freetuptable(SPI_tuptable);
	/* All that the statements so far did has been told. */
	if (n_done == open->n_training)
	{
		hopper_segment_timeline_settle(&open->timeline);
		for (int i = 0; i < n_done; i++)
			open->models[place_of(open, told[i].mst_key)].since = 0;
	}
	pfree(told);
	return n_ended;
}
