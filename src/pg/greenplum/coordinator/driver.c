/*
 * driver.c
 *		A run on the segments: setting up, loading the data, a hop, and what the models report.
 */
#include "pg/greenplum/coordinator/driver.h"

#include "cdb/cdbvars.h"
#include "nodes/makefuncs.h"

#include "pg/greenplum/reports.h"
#include "pg/train/outputs.h"

#define MAX_RELOADS 3

/* --- setting up --- */

/* Unlogged tables cannot lie beside a temporary one. */
static void
refuse_temporary(const hopper_name *model)
{
	Oid			schema = RangeVarGetCreationNamespace(makeRangeVar(model->schema, model->name, -1));

	if (isTempNamespace(schema))
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("output table \"%s\" cannot be temporary", model->shown),
					 errdetail("The segments keep models in tables beside it while they train."),
					 errhint("Name a table in another schema."));
}

void
hopper_require_segments(void)
{
	MemoryContext caller = CurrentMemoryContext;

	/* The server hands a cursor's snapshot on to the segments in a file of several kilobytes. */
	hopper_require_temporary(BLCKSZ, "a statement that runs on the segments",
							 "Raise temp_file_limit.");
	PG_TRY();
	{
		/* of a run that is none: the library is all that it takes */
		(void) hopper_calls_select("SELECT segment_release(0)"
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
		else if (error->hint == NULL && error->sqlerrcode != ERRCODE_QUERY_CANCELED &&
				 ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_INSUFFICIENT_RESOURCES)
			error->hint = pstrdup("Bring all segments back, with gprecoverseg or gpstart, and "
								  "repeat.");
		FlushErrorState();
		ReThrowError(error);
	}
	PG_END_TRY();
	if (hopper_select("SELECT content FROM pg_catalog.gp_segment_configuration"
					  " WHERE role OPERATOR(pg_catalog.=) 'p'"
					  " AND status OPERATOR(pg_catalog.<>) 'u' ORDER BY content LIMIT 1") > 0)
		hopper_raise(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
					 errmsg("segment %s is down", hopper_cell(0, 1)),
					 errhint("Bring it back with gprecoverseg."));
}

/* A number that no other run in this session has. */
static int64
new_run_id(void)
{
	static int32 count = 0;

	return ((int64) gp_session_id << 32) | (uint32) ++count;
}

/* Models that a segment trains at the same time, as each of them reckons for itself. */
static int
workers_of_segment(const hopper_driver *run)
{
	int			threads;

	if (run->run.options.use_gpus)
		return 1;
	threads = hopper_segment_threads(run->run.options.threads, run->run.segments_on_host);
	return hopper_core()->workers_of(threads, run->run.options.threads_per_model);
}

static void
describe_table(const hopper_packed *packed, hopper_segment_table *table)
{
	table->relation = hopper_source_oid(&packed->table);
	strlcpy(table->x_column, packed->desc.x_column, sizeof(table->x_column));
	strlcpy(table->y_column, hopper_packed_label(packed->desc.y_column),
			sizeof(table->y_column));
}

int
hopper_driver_segments(const hopper_driver *run)
{
	return hopper_count_keys(run->run.train_keys, run->run.train.n_partitions);
}

bool
hopper_is_copied(const hopper_packed *train, const hopper_packed *valid, const int32 *train_keys)
{
	int64		bytes = train->packed_bytes + (valid ? valid->packed_bytes : 0);

	return bytes <= HOPPER_BYTES(hopper_broadcast_limit) &&
		hopper_count_keys(train_keys, train->desc.n_partitions) > 1;
}

void
hopper_driver_begin(hopper_driver *run, hopper_training *training, const hopper_name *model)
{
	hopper_segment_run *data = &run->run;

	run->training = training;
	refuse_temporary(model);
	data->id = new_run_id();
	data->options = training->options;
	hopper_ask_of_segments(&data->options, training->threads_given);
	data->train = training->train->desc;
	data->train_keys = hopper_partition_keys(training->train);
	data->has_valid = training->valid != NULL;
	describe_table(training->train, &data->tables[HOPPER_SPLIT_TRAIN]);
	if (training->valid)
	{
		data->valid = training->valid->desc;
		data->valid_keys = hopper_partition_keys(training->valid);
		describe_table(training->valid, &data->tables[HOPPER_SPLIT_VALID]);
	}
	data->everywhere = hopper_is_copied(training->train, training->valid, data->train_keys);
	data->segments_on_host = hopper_segments_on_a_host();
	data->segment_numbers = hopper_segment_numbers(&data->n_segments);
	data->drop_cache = hopper_debug_drop_cache;
	data->shown = training->shown;
	data->n_configs = training->n_configs;
	data->configs = (hopper_config *) training->configs;

	training->timeline = hopper_timeline_new(training);
	training->info.n_workers = hopper_driver_segments(run) * workers_of_segment(run);
	hopper_hops_begin(&run->hops, data, training->train, training->valid, model,
					  !hopper_training_is_whole(training) ||
					  hopper_outputs_are_large(training->configs, training->n_configs,
											   &training->train->desc));
	run->started = GetCurrentTimestamp();
	hopper_segment_timeline_begin(&run->timeline, training, &run->hops, run->started);
}

void
hopper_driver_load(hopper_driver *run)
{
	const hopper_data_plan *plan = &run->hops.plan;
	bool		again = run->hops.loaded;
	char	   *class;
	TimestampTz then = GetCurrentTimestamp();

	/* where only some have lost their data, the others must not get theirs twice */
	if (again)
		run->run.id = new_run_id();
	class = hopper_hops_load(&run->hops);
	if (run->run.everywhere && (plan->max_reads > 0 || plan->n_waiting > 0))
	{
		/* Where they lie they may have room. */
		run->run.everywhere = false;
		run->run.id = new_run_id();
		class = hopper_hops_load(&run->hops);
	}
	strlcpy(run->training->info.numerics_class, hopper_to_utf8(class),
			sizeof(run->training->info.numerics_class));
	run->training->seconds_reading += hopper_seconds_since(then);
	/*
	 * A hop sorts the models that arrive at a segment by where they go, in what the statement's
	 * other steps leave of its memory.
	 */
	if (plan->bytes_aside > statement_mem * INT64CONST(1024) / 4 * 3)
		hopper_require_temporary(plan->bytes_aside, "moving models between segments",
								 "Raise statement_mem or temp_file_limit, or train fewer "
								 "configurations at a time.");
	run->training->started = true;
	if (again || !hopper_training_is_whole(run->training))
		return;
	if (plan->n_waiting > 0)
		ereport(NOTICE, errmsg("%s \"%s\": models exceed hopper.memory_limit where up to %s meet "
							   "on a segment, some wait for others to go on",
							   run->training->function, run->training->shown,
							   hopper_plural(plan->n_waiting, "configuration", "configurations")),
				errdetail("Meanwhile they lie in temporary files."));
	if (plan->max_reads == 0)
		return;
	ereport(NOTICE, errmsg("%s \"%s\": data and models of a segment exceed hopper.memory_limit, "
						   "each partition is read up to %s", run->training->function,
						   run->training->shown, hopper_plural(plan->max_reads, "time", "times")),
			errdetail("The data of a segment take up to %s, the models that visit it %s.",
					  hopper_bytes_words(plan->bytes_data),
					  hopper_bytes_words(plan->bytes_models)));
}

uint64
hopper_driver_move(hopper_driver *run, bool halts, int32 milliseconds)
{
	TimestampTz then = GetCurrentTimestamp();
	uint64		n = hopper_hops_move(&run->hops, halts, milliseconds);

	hopper_segment_timeline_statement(&run->timeline, then);
	return n;
}

/*
 * Each load begins anew on all segments, so that a statement without a loss gets the models on:
 * what counts is losses one after the other.
 */
void
hopper_driver_note_loss(hopper_driver *run, bool lost)
{
	run->reloads = lost ? run->reloads + 1 : 0;
	if (run->reloads > MAX_RELOADS)
		hopper_raise(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
					 errmsg("segments lose the data of \"%s\" again and again",
							run->training->shown));
}

void
hopper_driver_end(hopper_driver *run)
{
	hopper_hops_end(&run->hops);
	/* as on one server: without reading the data */
	run->training->info.seconds_wall = hopper_seconds_since(run->started) -
		run->training->seconds_reading;
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
take_event(hopper_driver *run, int at, hopper_event *event, int segment)
{
	event->elapsed = hopper_seconds_since(run->started);
	if (event->type == HOPPER_EVENT_MODEL_FAILED)
		tell_segment(event, segment, event->iteration + 1);
	if (!hopper_progress_take(run->training, at, event))
		elog(ERROR, "unknown event %d of a segment", event->type);
}

void
hopper_driver_take_report(hopper_driver *run, int at, const bytea *bytes, int segment, int since)
{
	hopper_report report;

	hopper_read_report(bytes, segment, run->training->configs[at].mst_key, &report);
	for (int i = 0; i < report.n_events; i++)
		take_event(run, at, &report.events[i], segment);
	for (int i = 0; i < report.n_visits; i++)
		hopper_segment_timeline_visit(&run->timeline, &report.visits[i], since);
	pfree(report.events);
	pfree(report.visits);
}
