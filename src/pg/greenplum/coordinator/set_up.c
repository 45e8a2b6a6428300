/*
 * set_up.c
 *		A run on the segments: setting up, and loading the data.
 */
#include "pg/greenplum/coordinator/open_run.h"

#include "cdb/cdbvars.h"
#include "nodes/makefuncs.h"

#include "pg/train/outputs.h"

/* Bytes of weights in all; states take three or four times as much. */
#define MOST_TOLD (256 * 1024)

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
		hopper_unmet(errmsg("segment %s is down", hopper_cell(0, 1)),
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
workers_of_segment(const open_segments *open)
{
	int			threads;

	if (open->run.options.use_gpus)
		return 1;
	threads = hopper_segment_threads(open->run.options.threads, open->run.segments_on_host);
	return hopper_core()->workers_of(threads, open->run.options.threads_per_model);
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
hopper_open_segments(const open_segments *open)
{
	return hopper_count_keys(open->run.train_keys, open->run.train.n_partitions);
}

bool
hopper_is_copied(const hopper_packed *train, const hopper_packed *valid, const int32 *train_keys)
{
	int64		bytes = train->packed_bytes + (valid ? valid->packed_bytes : 0);

	return bytes <= HOPPER_BYTES(hopper_broadcast_limit) &&
		hopper_count_keys(train_keys, train->desc.n_partitions) > 1;
}

void
hopper_open_set_up(open_segments *open, hopper_training *training, const hopper_name *model)
{
	hopper_segment_run *data = &open->run;

	open->training = training;
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
	data->wants_libtorch = training->wants_libtorch;

	training->timeline = hopper_timeline_new(training);
	training->info.n_workers = hopper_open_segments(open) * workers_of_segment(open);
	hopper_hops_begin(&open->hops, data, training->train, training->valid, model,
					  hopper_training_is_whole(training) &&
					  hopper_weights_of_all(training->configs, training->n_configs,
											&training->train->desc) <= MOST_TOLD);
	open->started = GetCurrentTimestamp();
	hopper_segment_timeline_begin(&open->timeline, training, &open->hops, open->started);
}

void
hopper_open_load_data(open_segments *open)
{
	const hopper_data_plan *plan = &open->hops.plan;
	bool		again = open->hops.loaded;
	char	   *class;
	TimestampTz then = GetCurrentTimestamp();

	/* where only some have lost their data, the others must not get theirs twice */
	if (again)
		open->run.id = new_run_id();
	class = hopper_hops_load(&open->hops);
	if (open->run.everywhere && (plan->max_reads > 0 || plan->n_waiting > 0))
	{
		/* Where they lie they may have room. */
		open->run.everywhere = false;
		open->run.id = new_run_id();
		class = hopper_hops_load(&open->hops);
	}
	strlcpy(open->training->info.numerics_class, hopper_to_utf8(class),
			sizeof(open->training->info.numerics_class));
	open->training->seconds_reading += hopper_seconds_since(then);
	/*
	 * A hop sorts the models that arrive at a segment by where they go, in what the statement's
	 * other steps leave of its memory.
	 */
	if (plan->bytes_aside > statement_mem * INT64CONST(1024) / 4 * 3)
		hopper_require_temporary(plan->bytes_aside, "moving models between segments",
								 "Raise statement_mem or temp_file_limit, or train fewer "
								 "configurations at a time.");
	open->training->started = true;
	if (again || !hopper_training_is_whole(open->training))
		return;
	if (plan->n_waiting > 0)
		ereport(NOTICE, errmsg("%s \"%s\": models exceed hopper.memory_limit where up to %s meet "
							   "on a segment, some wait for others to go on",
							   open->training->function, open->training->shown,
							   hopper_plural(plan->n_waiting, "configuration", "configurations")),
				errdetail("Meanwhile they lie in temporary files."));
	if (plan->max_reads == 0)
		return;
	ereport(NOTICE, errmsg("%s \"%s\": data and models of a segment exceed hopper.memory_limit, "
						   "each partition is read up to %s", open->training->function,
						   open->training->shown, hopper_plural(plan->max_reads, "time", "times")),
			errdetail("The data of a segment take up to %s, the models that visit it %s.",
					  hopper_bytes_words(plan->bytes_data),
					  hopper_bytes_words(plan->bytes_models)));
}
