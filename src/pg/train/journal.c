/*
 * journal.c
 *		The extension's record of runs: writing it, and run_timeline(), which shows it.
 *
 * A role that may read a run's output and its companion _info may see the run's timeline. Rows
 * are found by the output table's oid, so that a table that is renamed keeps its timeline and a new
 * one of an old name does not inherit one.
 */
#include "pg/train/timeline.h"

#include "storage/lock.h"

#include "pg/server/own_tables.h"
#include "pg/train/outputs.h"
#include "pg/train/run.h"

/* --- writing --- */

void
hopper_journal_hold(void)
{
	static const char *const journal[] = {JOURNAL_RUNS, JOURNAL_VISITS};
	static const char *const runs[] = {"all_runs", "all_trials", "all_trial_metrics",
	"all_run_events", "all_run_grants", "all_search_results"};

	hopper_own_hold(journal, lengthof(journal), RowExclusiveLock, "the record of runs");
	/* On segments who changes rows takes the whole table, and would wait for all who train. */
	hopper_own_hold(runs, lengthof(runs),
					HOPPER_DATA_ON_SEGMENTS ? AccessShareLock : RowExclusiveLock,
					"the record of runs");
}

/*
 * A number for a run; rows of uncommitted runs never collide. Rows that came in by replication, of
 * which there are none on a cluster, have not moved the sequence, which then goes on behind them:
 * one session moves it, so that no two do.
 */
int64
hopper_journal_next(void)
{
	const char *sequence = hopper_literal(hopper_own_name("journal_run_seq"));
	LOCKTAG		tag;
	uint64		n;
	int64		run;

	/* The last number tells it from users' advisory locks and those of names (relations.c). */
	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, hopper_schema(), 0, 4);
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
	if (HOPPER_DATA_ON_SEGMENTS)
		n = hopper_select_latest("SELECT pg_catalog.nextval(%s)", sequence);
	else
	{
		/* As others have committed it, under REPEATABLE READ too. */
		PushActiveSnapshot(GetLatestSnapshot());
		n = hopper_select("SELECT setval(%s, greatest(nextval(%s), (SELECT max(run) + 1 FROM %s),"
						  " (SELECT max(run) + 1 FROM %s), (SELECT max(run) + 1 FROM %s)))",
						  sequence, sequence, hopper_own_name(JOURNAL_RUNS),
						  hopper_own_name(JOURNAL_VISITS), hopper_own_name("all_runs"));
		PopActiveSnapshot();
	}
	if (n != 1)
		elog(ERROR, "the journal gave no number");
	run = hopper_int_cell(NULL, 0, 1, 1, PG_INT64_MAX);
	LockRelease(&tag, ExclusiveLock, false);
	return run;
}

static void
write_run(const hopper_training *training, int64 run, Oid output, Oid role, TimestampTz started)
{
	const hopper_run_info *info = &training->info;
	hopper_shares shares = hopper_timeline_shares(training);

	hopper_own_change(HOPPER_PARAMS(HOPPER_INT8(run), HOPPER_OID(output),
									hopper_text_param(training->shown), HOPPER_OID(role),
									HOPPER_TIME(started), HOPPER_INT4(info->n_workers),
									HOPPER_INT4(Max(training->options.threads_per_model, 1)),
									HOPPER_INT4(training->train->desc.n_partitions),
									HOPPER_INT4(training->valid
												? training->valid->desc.n_partitions : 0),
									HOPPER_INT4(training->timeline->level),
									HOPPER_FLOAT8(info->seconds_wall),
									HOPPER_FLOAT8(training->seconds_reading),
									HOPPER_FLOAT8(info->seconds_hop),
									HOPPER_FLOAT8(info->seconds_busy),
									HOPPER_FLOAT8(shares.idle), HOPPER_FLOAT8(shares.hop)),
					  "INSERT INTO @extschema@." JOURNAL_RUNS " (run, output, output_name, role,"
					  " started, workers, threads_per_model, partitions, validation_partitions,"
					  " level, seconds, seconds_reading, seconds_hop, seconds_busy, idle_share,"
					  " hop_share) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,"
					  " $14, $15, $16)");
}

/* Nothing is to be written where nothing was visited. */
static void
write_visits(const hopper_timeline *timeline, int64 run)
{
	static const char *const names[] = {"visit", "iteration", "mst_key", "segment", "worker",
		"kind", "split", "first_partition", "n_partitions", "n_visits", "started", "seconds_read",
	"seconds_wait", "seconds_hop", "seconds_train", "seconds_evaluate", "bytes_written"};
	hopper_own_rows rows = hopper_own_rows_new(lengthof(names), names, timeline->n);

	for (int i = 0; i < timeline->n; i++)
	{
		const hopper_timeline_row *row = &timeline->rows[i];
		const hopper_visit *visit = &row->visit;

		hopper_own_rows_add(&rows, HOPPER_PARAMS(
			HOPPER_INT4(i + 1), HOPPER_INT4(visit->iteration), HOPPER_INT4(visit->mst_key),
			HOPPER_INT4(row->segment), HOPPER_INT4(visit->worker), HOPPER_INT4(visit->kind),
			HOPPER_INT4(visit->split), HOPPER_INT4(visit->first_partition),
			HOPPER_INT4(visit->n_partitions), HOPPER_INT4(row->n_visits),
			HOPPER_SECONDS(visit->started), HOPPER_SECONDS(visit->read),
			HOPPER_SECONDS(visit->wait), HOPPER_SECONDS(visit->hopping),
			HOPPER_SECONDS(visit->train), HOPPER_SECONDS(visit->evaluate),
			HOPPER_INT8(visit->bytes_written)));
	}
	hopper_own_rows_insert(run, JOURNAL_VISITS, &rows);
}

int64
hopper_journal_write(const hopper_training *training, Oid output, TimestampTz started)
{
	Oid			role = GetUserId();
	hopper_own_scope scope = hopper_own_begin(JOURNAL_RUNS);
	int64		run = training->number ? training->number : hopper_journal_next();

	hopper_own_end(&scope);
	write_run(training, run, output, role, started);
	write_visits(training->timeline, run);
	return run;
}

/* --- reading --- */

/* run_timeline(model_table): a row a visit, in the order of their starts. */
HOPPER_FUNCTION(hopper_sql_run_timeline)
{
	hopper_name model = hopper_name_argument(fcinfo, 0, "model_table");
	hopper_outputs outputs = hopper_outputs_named(&model);
	Oid			model_oid;
	Oid			info_oid;
	hopper_own_scope scope;
	Datum		result;

	hopper_outputs_open(&outputs);
	model_oid = hopper_relation_oid(&model, false);
	info_oid = hopper_relation_oid(&outputs.info, true);
	if (!OidIsValid(info_oid))
		hopper_outputs_refuse(&model, psprintf("It has no companion \"%s\".", outputs.info.shown));
	/* The runs are found by the one's oid; beside it the other may be anybody's. */
	hopper_require_select(model_oid);
	hopper_require_select(info_oid);

	scope = hopper_own_begin(JOURNAL_RUNS);
	result = hopper_return_query(fcinfo, psprintf(
		"SELECT pg_catalog.dense_rank() OVER (ORDER BY r.run)::int4, v.iteration,"
		" nullif(v.segment, -1), nullif(v.worker, -1), v.mst_key,"
		" CASE v.kind WHEN 1 THEN 'training' ELSE 'evaluation' END,"
		" CASE v.split WHEN 0 THEN 'training' ELSE 'validation' END,"
		" CASE WHEN v.n_visits = 1 THEN ARRAY(SELECT (v.first_partition + i)"
		"  %% CASE v.split WHEN 0 THEN r.partitions ELSE r.validation_partitions END"
		"  FROM generate_series(0, v.n_partitions - 1) i) END,"
		" v.n_visits, r.started + v.started * interval '1 second',"
		" v.seconds_read, v.seconds_wait, v.seconds_hop, v.seconds_train, v.seconds_evaluate,"
		" v.bytes_written"
		" FROM %s r JOIN %s v ON v.run = r.run WHERE r.output = %u"
		" ORDER BY r.run, v.started, v.visit", hopper_own_name(JOURNAL_RUNS),
		hopper_own_name(JOURNAL_VISITS), model_oid));
	hopper_own_end(&scope);
	return result;
}
