/*
 * segment_run.c
 *		The coordinator's part of a run on the segments: statements that move the models, and what
 *		the models report.
 *
 * Everything happens in the caller's transaction. The working tables <out>_hop_a, <out>_hop_b and
 * <out>_hop_log are dropped at the end; an error takes them back with the transaction.
 */
#include "pg/segments.h"

#ifdef GP_VERSION_NUM

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "cdb/cdbvars.h"
#include "nodes/makefuncs.h"
#include "utils/array.h"

#include "pg/words.h"

#define PART_BYTES (64 * 1024 * 1024)
#define MAX_RELOADS 3

typedef struct segments_run
{
	hopper_training *training;
	hopper_segment_run run;
	bytea	   *description;
	hopper_name tables[2];		/* filled in turn */
	hopper_name log;
	SPIPlanPtr	hops[2];		/* from tables[i] to the other */
	int			at;				/* the table that holds the models */
	int64		n_statements;
	int32		iteration;
	TimestampTz started;
	hopper_model_result *results;
} segments_run;

static double
seconds_since(TimestampTz then)
{
	long		seconds;
	int			microseconds;

	TimestampDifference(then, GetCurrentTimestamp(), &seconds, &microseconds);
	return seconds + microseconds / 1e6;
}

static void
run_context(void *arg)
{
	segments_run *run = arg;

	if (run->iteration > 0)
		errcontext("%s \"%s\" in iteration %d of %d", run->training->function,
				   run->training->shown, run->iteration,
				   run->training->options.num_iterations);
	else
		errcontext("%s \"%s\" before its first iteration", run->training->function,
				   run->training->shown);
}

static SPIPlanPtr
prepare(const char *query, int n, Oid *types)
{
	SPIPlanPtr	plan = SPI_prepare(query, n, types);

	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	return plan;
}

static void
execute(SPIPlanPtr plan, Datum *values, int expected)
{
	int			rc = SPI_execute_plan(plan, values, NULL, false, 0);

	if (rc != expected)
		elog(ERROR, "SPI_execute_plan failed: %s", SPI_result_code_string(rc));
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

static void
create_tables(segments_run *run, const hopper_name *model)
{
	run->tables[0] = hopper_name_with_suffix(model, "hop_a");
	run->tables[1] = hopper_name_with_suffix(model, "hop_b");
	run->log = hopper_name_with_suffix(model, "hop_log");
	for (int i = 0; i < 2; i++)
	{
		hopper_require_absent(&run->tables[i]);
		hopper_exec("CREATE UNLOGGED TABLE %s (key pg_catalog.int4, mst_key pg_catalog.int4,"
					" next_key pg_catalog.int4, part pg_catalog.int4, n_parts pg_catalog.int4,"
					" done pg_catalog.bool, missing pg_catalog.bool, report pg_catalog.bytea,"
					" result pg_catalog.bytea, body pg_catalog.bytea)"
					" DISTRIBUTED BY (key)", run->tables[i].quoted);
		hopper_exec("ALTER TABLE %s ALTER COLUMN body SET STORAGE EXTERNAL,"
					" ALTER COLUMN report SET STORAGE EXTERNAL", run->tables[i].quoted);
	}
	hopper_require_absent(&run->log);
	hopper_exec("CREATE UNLOGGED TABLE %s (key pg_catalog.int4, value pg_catalog.text)"
				" DISTRIBUTED BY (key)", run->log.quoted);
}

/* Most primaries on one host: what a segment's share of its host is. */
static int
segments_on_a_host(void)
{
	if (hopper_select("SELECT pg_catalog.max(n) FROM (SELECT pg_catalog.count(*) AS n"
					  " FROM pg_catalog.gp_segment_configuration"
					  " WHERE content OPERATOR(pg_catalog.>=) 0::pg_catalog.int2"
					  " AND role OPERATOR(pg_catalog.=) 'p' GROUP BY hostname) s") != 1)
		return 1;
	return Max(atoi(hopper_cell(0, 1)), 1);
}

/* All segments must be up: a missing one would end the run in its first hop. */
static void
require_segments_up(void)
{
	if (hopper_select("SELECT content FROM pg_catalog.gp_segment_configuration"
					  " WHERE role OPERATOR(pg_catalog.=) 'p'"
					  " AND status OPERATOR(pg_catalog.<>) 'u' ORDER BY content LIMIT 1") > 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("segment %s is down", hopper_cell(0, 1)),
				 errhint("Bring it back with gprecoverseg.")));
}

static void
load_split(segments_run *run, const hopper_packed *packed, hopper_split split)
{
	Oid			types[] = {INT8OID, BYTEAOID};
	Datum		values[2];
	SPIPlanPtr	plan;

	plan = prepare(psprintf("INSERT INTO %s (key, value) SELECT " HOPPER_DIST_KEY
							", hopper.segment_data($1, $2, " HOPPER_DIST_KEY ", %d, partition_id,"
							" buffer_id, n, %s, %s, checksum ORDER BY partition_id, buffer_id)"
							" FROM %s GROUP BY " HOPPER_DIST_KEY,
							run->log.quoted, split,
							pstrdup(quote_identifier(packed->desc.x_column)),
							pstrdup(quote_identifier(packed->desc.y_column)),
							packed->table.quoted), 2, types);
	values[0] = Int64GetDatum(run->run.id);
	values[1] = PointerGetDatum(run->description);
	execute(plan, values, SPI_OK_INSERT);
	SPI_freeplan(plan);
}

/* What segment_load_end() says of each segment; one numerics class is allowed. */
static void
take_load_reports(segments_run *run, uint64 n)
{
	hopper_training *training = run->training;
	hopper_data_plan most = {0};
	const char *class = "none";

	for (uint64 row = 0; row < n; row++)
	{
		const char *report = hopper_cell(row, 1);
		const char *mine;
		long long	data;
		long long	models;
		int			reads;
		int			length = 0;

		if (report == NULL || sscanf(report, "%d %lld %lld %n", &reads, &data, &models,
									 &length) != 3 || length == 0)
			elog(ERROR, "a segment did not report on its data");
		mine = report + length;
		if (row > 0 && strcmp(mine, class) != 0)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("segments have different numerics classes"),
					 errdetail("Some have \"%s\", others \"%s\".", class, mine),
					 errhint("Install the same libraries on all hosts; their CPUs must have the "
							 "same vector instructions.")));
		class = mine;
		if (reads == 0)
			continue;
		most.max_reads = Max(most.max_reads, reads);
		most.bytes_data = Max(most.bytes_data, (int64) data);
		most.bytes_models = Max(most.bytes_models, (int64) models);
	}
	if (n == 0)
		elog(ERROR, "no segment reported on its data");
	strlcpy(training->info.numerics_class, hopper_to_utf8(class),
			sizeof(training->info.numerics_class));
	if (most.max_reads == 0 || run->iteration > 0)
		return;
	ereport(NOTICE,
			(errmsg("%s \"%s\": data and models of a segment exceed hopper.memory_limit, each "
					"partition is read up to %s", training->function, training->shown,
					hopper_plural(most.max_reads, "time", "times")),
			 errdetail("The data of a segment take up to %s, the models that visit it %s.",
					   hopper_bytes_words(most.bytes_data),
					   hopper_bytes_words(most.bytes_models))));
}

/* Brings all packed data into the memory of the segments, as far as they stay there. */
static void
load(segments_run *run)
{
	const hopper_training *training = run->training;
	uint64		n;

	hopper_exec("TRUNCATE %s", run->log.quoted);
	load_split(run, training->train, HOPPER_SPLIT_TRAIN);
	if (training->valid)
		load_split(run, training->valid, HOPPER_SPLIT_VALID);
	n = hopper_select_latest("SELECT DISTINCT value FROM %s ORDER BY value", run->log.quoted);
	take_load_reports(run, n);
	SPI_freetuptable(SPI_tuptable);
}

static int32
first_key(const segments_run *run, int32 mst_key)
{
	const hopper_run_options *options = &run->run.options;
	int			at = ((mst_key - 1) % options->n_starts + options->n_starts) % options->n_starts;

	return run->run.train_keys[options->starts[at]];
}

/* One model as it starts, in parts. */
static void
put_model(segments_run *run, SPIPlanPtr plan, const hopper_config *config)
{
	char		kind = HOPPER_ENVELOPE_NEW;
	const char *bytes = NULL;
	size_t		size = 0;
	int32		key = first_key(run, config->mst_key);
	int32		n_parts;

	if (config->state)
	{
		kind = HOPPER_ENVELOPE_STATE;
		bytes = (const char *) config->state;
		size = config->state_size;
	}
	else if (config->weights)
	{
		kind = HOPPER_ENVELOPE_WEIGHTS;
		bytes = (const char *) config->weights;
		size = config->n_weights * sizeof(float);
	}
	n_parts = (int32) (size / PART_BYTES + 1);
	for (int32 part = 0; part < n_parts; part++)
	{
		size_t		at = (size_t) part * PART_BYTES;
		size_t		n = Min(size - at, PART_BYTES);
		size_t		extra = part == 0 ? 1 : 0;
		bytea	   *body = palloc(VARHDRSZ + n + extra);
		Datum		values[6];

		SET_VARSIZE(body, VARHDRSZ + n + extra);
		if (extra)
			*VARDATA(body) = kind;
		if (n > 0)
			memcpy(VARDATA(body) + extra, bytes + at, n);
		values[0] = Int32GetDatum(key);
		values[1] = Int32GetDatum(config->mst_key);
		values[2] = Int32GetDatum(part);
		values[3] = Int32GetDatum(n_parts);
		values[4] = PointerGetDatum(body);
		execute(plan, values, SPI_OK_INSERT);
		pfree(body);
	}
}

/* Models that start from their seed, in one statement; the others one by one. */
static void
put_models(segments_run *run)
{
	Oid			types[] = {INT4OID, INT4OID, INT4OID, INT4OID, BYTEAOID};
	SPIPlanPtr	plan = prepare(psprintf("INSERT INTO %s"
										" (key, next_key, mst_key, part, n_parts, body)"
										" VALUES ($1, $1, $2, $3, $4, $5)",
										run->tables[0].quoted), 5, types);
	StringInfoData fresh;

	initStringInfo(&fresh);
	for (int i = 0; i < run->run.n_configs; i++)
	{
		const hopper_config *config = &run->run.configs[i];
		int32		key = first_key(run, config->mst_key);

		if (config->state || config->weights)
			put_model(run, plan, config);
		else
			appendStringInfo(&fresh, "%s(%d, %d, %d, 0, 1, '%c'::pg_catalog.bytea)",
							 fresh.len ? ", " : "", key, key, config->mst_key,
							 HOPPER_ENVELOPE_NEW);
	}
	if (fresh.len > 0)
		hopper_exec("INSERT INTO %s (key, next_key, mst_key, part, n_parts, body) VALUES %s",
					run->tables[0].quoted, fresh.data);
	SPI_freeplan(plan);
}

/* The statement that moves and trains the models. */
static char *
hop_query(const hopper_name *from, const hopper_name *to)
{
	return psprintf("INSERT INTO %s SELECT k, (r).mst_key, (r).next_key, (r).part, (r).n_parts,"
					" (r).done, (r).missing, (r).report, (r).result, (r).body"
					" FROM (SELECT next_key AS k, hopper.segment_emit(hopper.segment_visit($1, $2,"
					" $3, $4, mst_key, part, n_parts, body), next_key) AS r"
					" FROM %s GROUP BY next_key) s", to->quoted, from->quoted);
}

static void
hop(segments_run *run, bool fresh, bool finish)
{
	Oid			types[] = {INT8OID, INT4OID, BOOLOID, BOOLOID};
	Datum		values[4];
	int			from = run->at;

	CHECK_FOR_INTERRUPTS();
	if (run->hops[from] == NULL)
		run->hops[from] = prepare(hop_query(&run->tables[from], &run->tables[1 - from]), 4, types);
	values[0] = Int64GetDatum(run->run.id);
	values[1] = Int32GetDatum(run->iteration);
	values[2] = BoolGetDatum(fresh);
	values[3] = BoolGetDatum(finish);
	execute(run->hops[from], values, SPI_OK_INSERT);
	hopper_exec("TRUNCATE %s", run->tables[from].quoted);
	run->at = 1 - from;
	run->n_statements++;
}

/* --- how far a model gets --- */

static bool
wants_pass(const segments_run *run, int split, int32 iteration)
{
	const hopper_run_options *options = &run->run.options;

	if (iteration != options->num_iterations &&
		iteration % options->metrics_compute_frequency != 0)
		return false;
	if (split == HOPPER_SPLIT_VALID)
		return run->run.has_valid;
	return options->training_metrics == HOPPER_METRICS_EVERY ||
		(options->training_metrics == HOPPER_METRICS_FINAL &&
		 iteration == options->num_iterations);
}

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

/*
 * Statements that an iteration takes: the segments that the longest way touches, and then those
 * that evaluate. Too few are made up for.
 */
static int
hops_of_iteration(const segments_run *run, int32 iteration)
{
	const hopper_segment_run *data = &run->run;
	int			n = data->train.n_partitions;
	int			longest = 1;
	int			evaluating = 0;

	for (int i = 0; i < data->options.n_starts; i++)
	{
		int			hops = 1;

		for (int v = 1; v < n; v++)
			hops += data->train_keys[(data->options.starts[i] + v) % n] !=
				data->train_keys[(data->options.starts[i] + v - 1) % n];
		longest = Max(longest, hops);
	}
	if (wants_pass(run, HOPPER_SPLIT_TRAIN, iteration))
		evaluating = count_keys(data->train_keys, n) - 1;
	if (wants_pass(run, HOPPER_SPLIT_VALID, iteration))
		evaluating = Max(evaluating,
						 count_keys(data->valid_keys, data->valid.n_partitions) - 1);
	return longest + evaluating;
}

/* --- what the models report --- */

static int
index_of(const hopper_training *training, int32 mst_key)
{
	for (int i = 0; i < training->n_configs; i++)
		if (training->configs[i].mst_key == mst_key)
			return i;
	elog(ERROR, "the segments told of configuration %d, which is not in the run", mst_key);
}

static void
take_event(segments_run *run, hopper_event *event)
{
	hopper_training *training = run->training;
	int			at = index_of(training, event->mst_key);

	event->elapsed = seconds_since(run->started);
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
				hopper_progress_failed(training, event);
			}
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

/* Reads the reports once all models are done; false where some are not. */
static bool
collect(segments_run *run, bool *missing)
{
	hopper_training *training = run->training;
	uint64		n;
	bool		done = true;
	int			n_models = 0;

	*missing = false;
	n = hopper_select_latest("SELECT mst_key, done, missing, report, result FROM %s"
							 " WHERE part OPERATOR(pg_catalog.=) 0 ORDER BY mst_key",
							 run->tables[run->at].quoted);
	for (uint64 row = 0; row < n; row++)
	{
		HeapTuple	tuple = SPI_tuptable->vals[row];
		TupleDesc	descriptor = SPI_tuptable->tupdesc;
		bool		isnull;

		n_models++;
		done = DatumGetBool(SPI_getbinval(tuple, descriptor, 2, &isnull)) && done;
		*missing = DatumGetBool(SPI_getbinval(tuple, descriptor, 3, &isnull)) || *missing;
	}
	if (n_models != training->n_configs)
		elog(ERROR, "%d of %d models came back from the segments", n_models, training->n_configs);
	for (uint64 row = 0; done && row < n; row++)
	{
		bool		isnull;
		Datum		value = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, 4,
										  &isnull);
		bytea	   *report;

		if (isnull)
			continue;
		report = DatumGetByteaPP(value);
		for (size_t at = 0; at + sizeof(hopper_event) <= VARSIZE_ANY_EXHDR(report);
			 at += sizeof(hopper_event))
		{
			hopper_event event;

			memcpy(&event, VARDATA_ANY(report) + at, sizeof(event));
			take_event(run, &event);
		}
	}
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
		hop(run, i == 0, false);
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
		hop(run, false, false);
	}
}

/* --- the end --- */

static void
take_results(segments_run *run)
{
	hopper_training *training = run->training;
	uint64		n;

	training->results = hopper_palloc0_huge(training->n_configs * sizeof(hopper_model_result));
	training->n_failed = 0;
	n = hopper_select_latest("SELECT result FROM %s WHERE part OPERATOR(pg_catalog.=) 0"
							 " ORDER BY mst_key", run->tables[run->at].quoted);
	if (n != (uint64) training->n_configs)
		elog(ERROR, UINT64_FORMAT " of %d models came back from the segments", n,
			 training->n_configs);
	for (uint64 row = 0; row < n; row++)
	{
		bool		isnull;
		Datum		value = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, 1,
										  &isnull);
		bytea	   *bytes = isnull ? NULL : DatumGetByteaPP(value);

		if (bytes == NULL || VARSIZE_ANY_EXHDR(bytes) != sizeof(hopper_model_result))
			elog(ERROR, "a segment did not return the result of configuration %d",
				 training->configs[row].mst_key);
		memcpy(&training->results[row], VARDATA_ANY(bytes), sizeof(hopper_model_result));
		training->n_failed += training->results[row].status == HOPPER_MODEL_FAILED;
		training->info.seconds_busy += training->results[row].seconds_training +
			training->results[row].seconds_evaluating;
	}
	SPI_freetuptable(SPI_tuptable);
}

/* States and weights go from the segments into the output tables; nothing comes here. */
static void
write_models(segments_run *run, const hopper_name *model, const hopper_name *state)
{
	const hopper_training *training = run->training;
	const hopper_name *from = &run->tables[run->at];
	Oid			types[] = {TEXTOID, INT4ARRAYOID};
	SPIPlanPtr	plan = prepare(psprintf("INSERT INTO %s (mst_key, model_weights, model_arch)"
										" SELECT mst_key, body, $1::pg_catalog.json FROM %s"
										" WHERE part OPERATOR(pg_catalog.=) -1"
										" AND mst_key OPERATOR(pg_catalog.=) ANY ($2)",
										model->quoted, from->quoted), 2, types);
	Datum	   *keys = palloc(sizeof(Datum) * training->n_configs);
	int			n = 0;

	for (int i = 0; i < training->n_configs; i++)
	{
		const hopper_config *config = &training->configs[i];
		Datum		values[2];

		keys[n++] = Int32GetDatum(config->mst_key);
		if (i + 1 < training->n_configs && config[1].model_arch == config->model_arch)
			continue;
		values[0] = CStringGetTextDatum(hopper_from_utf8(config->model_arch));
		values[1] = PointerGetDatum(construct_array(keys, n, INT4OID, sizeof(int32), true, 'i'));
		execute(plan, values, SPI_OK_INSERT);
		n = 0;
	}
	SPI_freeplan(plan);
	hopper_exec("INSERT INTO %s (mst_key, part, state) SELECT mst_key, part, body FROM %s"
				" WHERE part OPERATOR(pg_catalog.>=) 0"
				" AND pg_catalog.length(body) OPERATOR(pg_catalog.>) 0",
				state->quoted, from->quoted);
}

static void
release(segments_run *run)
{
	/* into a table of the segments, so that it runs in the processes that hold the data */
	hopper_exec("INSERT INTO %s (key) SELECT hopper.segment_release(" INT64_FORMAT
				") OPERATOR(pg_catalog.*) 0 OPERATOR(pg_catalog.+) key FROM %s",
				run->log.quoted, run->run.id, run->log.quoted);
	for (int i = 0; i < 2; i++)
	{
		if (run->hops[i])
			SPI_freeplan(run->hops[i]);
		hopper_exec("DROP TABLE %s", run->tables[i].quoted);
	}
	hopper_exec("DROP TABLE %s", run->log.quoted);
}

static void
refuse_all_failed(const hopper_training *training)
{
	if (training->n_failed < training->n_configs)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("no configuration of \"%s\" finished", training->shown),
			 errdetail("The first one failed: %s.", hopper_from_utf8(training->results[0].error)),
			 errhint("The warnings above tell why each of them failed.")));
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

/* A number that no other run in this session has. */
static int64
new_run_id(void)
{
	static int32 count = 0;

	return ((int64) gp_session_id << 32) | (uint32) ++count;
}

void
hopper_segments_run(hopper_training *training, const hopper_name *model, const hopper_name *state)
{
	segments_run run = {0};
	ErrorContextCallback context = {error_context_stack, run_context, &run};
	hopper_progress progress;

	run.training = training;
	training->failed = palloc0(training->n_configs * sizeof(bool));
	training->costs = palloc(training->n_configs * sizeof(double));
	for (int i = 0; i < training->n_configs; i++)
		training->costs[i] = 1;
	training->n_failed = 0;
	error_context_stack = &context;

	refuse_temporary(model);
	require_segments_up();
	run.run.id = new_run_id();
	run.run.options = training->options;
	run.run.options.threads = training->threads_given ? training->options.threads
		: hopper_threads;
	run.run.options.memory_limit = (int64) hopper_memory_limit * 1024 * 1024;
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
	run.run.segments_on_host = segments_on_a_host();
	run.run.drop_cache = hopper_debug_drop_cache;
	run.run.shown = training->shown;
	run.run.n_configs = training->n_configs;
	run.run.configs = (hopper_config *) training->configs;
	run.description = hopper_describe_run(&run.run);

	tell_idle(&run);
	create_tables(&run, model);
	hopper_progress_start(&progress, training);
	run.started = GetCurrentTimestamp();
	load(&run);
	put_models(&run);
	training->started = true;
	for (run.iteration = 1; run.iteration <= training->options.num_iterations; run.iteration++)
	{
		iterate(&run);
		hopper_progress_line(&progress, training);
	}
	run.iteration--;
	hop(&run, false, true);
	take_results(&run);
	refuse_all_failed(training);
	write_models(&run, model, state);
	release(&run);
	training->info.seconds_wall = seconds_since(run.started);
	error_context_stack = context.previous;
}

#endif							/* GP_VERSION_NUM */
