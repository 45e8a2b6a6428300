/*
 * store.c
 *		Writing and reading the rows of runs.
 */
#include "pg/train/store.h"

#include "commands/async.h"
#include "commands/extension.h"
#include "utils/fmgroids.h"
#include "utils/syscache.h"

#include "pg/server/own_tables.h"
#include "pg/train/timeline.h"

bool
hopper_store_is_there(void)
{
	return OidIsValid(get_extension_oid("model_hopper", true)) &&
		OidIsValid(get_relname_relid("all_runs", hopper_schema()));
}

int64
hopper_store_next(void)
{
	hopper_own_scope scope = hopper_own_begin("all_runs");
	int64		run = hopper_journal_next();

	hopper_own_end(&scope);
	return run;
}

/* --- the run --- */

static const char *
checksums(const hopper_fit *fit)
{
	return psprintf("%s %s", fit->train.checksum, fit->has_validation ? fit->valid.checksum : "");
}

/* "validation accuracy", or NULL: what its trials are compared by */
static const char *
compared_by(const hopper_fit *fit)
{
	return fit == NULL || fit->record.rank_by == NULL ? NULL
		: psprintf("%s %s", fit->has_validation ? "validation" : "training", fit->record.rank_by);
}

/* What a row begins with: its columns, and as expressions arguments $1 to $20 and its search. */
#define CREATED_PARAMS 20
#define CREATED_COLUMNS "run, role, function, statement, search_path, settings, tables," \
	" selection, model_table, packed_table, validation_table, data, name, description, created," \
	" started, best_metric, continues, closing, search"
#define CREATED_VALUES "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15," \
	" CASE WHEN $16 THEN $15 END, $17, $18, $19"

static void
set_created(hopper_param *params, const hopper_run_row *row, const hopper_fit *fit,
			const char *metric)
{
	const hopper_param created[CREATED_PARAMS] = {
		HOPPER_INT8(row->run), HOPPER_OID(GetUserId()), hopper_text_param(row->function),
		hopper_text_param(row->statement), hopper_text_param(row->search_path),
		hopper_text_param(row->settings), hopper_text_param(row->tables),
		hopper_text_param(row->selection), hopper_text_param(row->model_table),
		hopper_text_param(fit ? fit->source.shown : NULL),
		hopper_text_param(fit && fit->has_validation ? fit->validation.shown : NULL),
		hopper_text_param(fit ? checksums(fit) : NULL),
		hopper_text_param(fit ? fit->record.name : NULL),
		hopper_text_param(fit ? fit->record.description : NULL),
		HOPPER_TIME(row->started ? fit->record.started : GetCurrentTimestamp()),
		HOPPER_BOOL(row->started), hopper_text_param(metric),
		hopper_text_param(fit ? fit->continues : NULL), hopper_text_param(row->closing),
		hopper_text_param(fit ? fit->training.search : NULL),
	};

	memcpy(params, created, sizeof(created));
}

void
hopper_store_create(const hopper_run_row *row, const hopper_fit *fit)
{
	hopper_param params[CREATED_PARAMS];

	set_created(params, row, fit, compared_by(fit));
	hopper_own_change(CREATED_PARAMS, params,
					  "INSERT INTO @extschema@.all_runs (" CREATED_COLUMNS ")"
					  " VALUES (" CREATED_VALUES ", $20)");
	hopper_store_event(row->run, "created", 0, NULL);
}

/*
 * Of a cluster no row is locked: a run there is over before others see it, and processes that read
 * for a cursor cannot lock rows in Greenplum 7.
 */
bool
hopper_store_find(int64 run, bool lock, hopper_run_row *row)
{
	memset(row, 0, sizeof(*row));
	if (hopper_own_select("SELECT role::int8, function, statement, search_path, settings, tables,"
						  " selection, model_table, data, started IS NOT NULL, outcome, continues,"
						  " best_metric, closing, coalesce(error, '') FROM @extschema@.all_runs"
						  " WHERE run = " INT64_FORMAT "%s", run,
						  lock && !HOPPER_DATA_ON_SEGMENTS ? " FOR UPDATE" : "") != 1)
		return false;
	row->run = run;
	row->role = (Oid) hopper_int_cell(NULL, 0, 1, 0, PG_UINT32_MAX);
	row->function = hopper_cell(0, 2);
	row->statement = hopper_cell(0, 3);
	row->search_path = hopper_cell(0, 4);
	row->settings = hopper_cell(0, 5);
	row->tables = hopper_cell(0, 6);
	row->selection = hopper_cell(0, 7);
	row->model_table = hopper_cell(0, 8);
	row->data = hopper_cell(0, 9);
	row->started = strcmp(hopper_cell(0, 10), "t") == 0;
	row->outcome = hopper_cell(0, 11);
	row->continues = hopper_cell(0, 12);
	row->compared_by = hopper_cell(0, 13);
	row->closing = hopper_cell(0, 14);
	row->error = hopper_cell(0, 15);
	/* "validation accuracy" */
	if (row->compared_by && strchr(row->compared_by, ' '))
		row->compared_by = strchr(row->compared_by, ' ') + 1;
	return true;
}

int64
hopper_store_making(const hopper_name *output, int64 but)
{
	/* Its tables are in the schema where the models are to be. */
	if (output->schema == NULL ||
		hopper_select_latest("SELECT run FROM %s WHERE ended IS NULL AND model_table IN (%s, %s)"
							 " AND tables = %s || run AND run <> " INT64_FORMAT
							 " ORDER BY run LIMIT 1",
							 hopper_own_name("runs"), hopper_literal(output->shown),
							 hopper_literal(output->name),
							 hopper_literal(psprintf("%s.hopper_run_",
													 hopper_identifier(output->schema))),
							 but) == 0)
		return 0;
	return hopper_int_cell(NULL, 0, 1, 0, PG_INT64_MAX);
}

/* As GetUserId(), whoever reads the table of grants. */
static bool
may_steer(int64 run)
{
	return hopper_any(hopper_own_select("SELECT 1 FROM @extschema@.all_run_grants WHERE run = "
										INT64_FORMAT " AND steers AND CASE WHEN role = 0 THEN true"
										" ELSE pg_has_role(%u, role, 'USAGE') END", run,
										GetUserId()));
}

static void
read_permitted(int64 run, bool lock, bool steers, hopper_run_row *row)
{
	if (!hopper_store_find(run, lock, row))
		hopper_raise(ERRCODE_UNDEFINED_OBJECT, errmsg("there is no run " INT64_FORMAT, run),
					 errhint("See SELECT run, state, model_table FROM hopper.runs;"));
	if (!has_privs_of_role(GetUserId(), row->role) && !(steers && may_steer(run)))
		hopper_raise(ERRCODE_INSUFFICIENT_PRIVILEGE,
					 errmsg("permission denied for run " INT64_FORMAT, run),
					 steers ? errhint("Its owner may grant it: SELECT "
									  "hopper.grant_run(" INT64_FORMAT ", 'ROLE', 'steer');", run)
					 : 0);
}

void
hopper_store_read(int64 run, bool lock, hopper_run_row *row)
{
	read_permitted(run, lock, false, row);
}

void
hopper_store_read_steered(int64 run, bool lock, hopper_run_row *row)
{
	read_permitted(run, lock, true, row);
}

void
hopper_store_require_role(const hopper_run_row *row)
{
	if (SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(row->role)))
		return;
	hopper_raise(ERRCODE_UNDEFINED_OBJECT,
				 errmsg("the role of run " INT64_FORMAT " was dropped", row->run),
				 errdetail("A run trains with the rights of its role."),
				 errhint("hopper.drop_run(" INT64_FORMAT ") removes it.", row->run));
}

void
hopper_store_revoke(int64 run, Oid role)
{
	hopper_own_change(HOPPER_PARAMS(HOPPER_INT8(run), HOPPER_OID(role)),
					  "DELETE FROM @extschema@.all_run_grants WHERE run = $1 AND role = $2");
}

void
hopper_store_grant(int64 run, Oid role, bool steers)
{
	hopper_store_revoke(run, role);
	hopper_own_change(HOPPER_PARAMS(HOPPER_INT8(run), HOPPER_OID(role), HOPPER_BOOL(steers)),
					  "INSERT INTO @extschema@.all_run_grants (run, role, steers)"
					  " VALUES ($1, $2, $3)");
}

hopper_wish
hopper_store_wish(int64 run)
{
	hopper_wish wish = HOPPER_WISH_CANCEL;	/* a run that was dropped */

	if (hopper_own_select("SELECT event FROM @extschema@.all_run_events WHERE run = " INT64_FORMAT
						  " AND event IN ('created', 'submitted', 'resumed', 'pause', 'cancel')"
						  " ORDER BY at DESC LIMIT 1", run) == 1)
	{
		const char *event = hopper_cell(0, 1);

		wish = strcmp(event, "pause") == 0 ? HOPPER_WISH_PAUSE
			: strcmp(event, "cancel") == 0 ? HOPPER_WISH_CANCEL : HOPPER_WISH_RUN;
	}
	return wish;
}

void
hopper_store_started(int64 run, bool queued, int64 opening)
{
	hopper_own_change(HOPPER_PARAMS(HOPPER_INT8(run), HOPPER_BOOL(queued), HOPPER_INT8(opening)),
					  "UPDATE @extschema@.all_runs SET started = coalesce(started,"
					  " pg_catalog.clock_timestamp()), opening = $3,"
					  " queued = CASE WHEN $2 THEN queued END, ended = NULL, outcome = NULL,"
					  " error = NULL, error_code = NULL WHERE run = $1");
	hopper_store_grid(run);
	hopper_store_event(run, "started", 0, psprintf("process %d", MyProcPid));
}

bool
hopper_store_is_open(int64 run, int64 opening)
{
	return hopper_any(hopper_own_select("SELECT FROM @extschema@.all_runs WHERE run = " INT64_FORMAT
										" AND opening = " INT64_FORMAT " AND outcome IS NULL"
										" FOR UPDATE", run, opening));
}

void
hopper_store_reopen(int64 run)
{
	hopper_own_change(HOPPER_PARAMS(HOPPER_INT8(run)),
					  "UPDATE @extschema@.all_runs SET ended = NULL, outcome = NULL, error = NULL,"
					  " error_code = NULL WHERE run = $1");
}

void
hopper_store_queued(int64 run, const char *event, const char *settings)
{
	hopper_own_change(HOPPER_PARAMS(HOPPER_INT8(run), hopper_text_param(settings),
									HOPPER_OID(MyDatabaseId)),
					  "UPDATE @extschema@.all_runs"
					  " SET queued = pg_catalog.pg_postmaster_start_time(), queued_in = $3,"
					  " opening = NULL,"
					  " settings = coalesce($2, settings), ended = NULL, outcome = NULL,"
					  " error = NULL, error_code = NULL WHERE run = $1");
	hopper_store_event(run, event, 0, NULL);
}

/* No session has read what the detail says: of trials that have all failed, why. */
static const char *
reason(const ErrorData *error)
{
	return error == NULL ? NULL
		: error->detail ? psprintf("%s. %s", error->message, error->detail) : error->message;
}

void
hopper_store_interrupted(int64 run, const ErrorData *why)
{
	hopper_own_change(HOPPER_PARAMS(HOPPER_INT8(run)),
					  "UPDATE @extschema@.all_runs SET queued_in = NULL WHERE run = $1");
	hopper_store_event(run, "interrupted", 0, reason(why));
}

void
hopper_store_ended(int64 run, const char *outcome, const hopper_fit *fit, const ErrorData *error)
{
	/* Of all its trials, whichever session has trained them. */
	const hopper_best best = fit ? fit->record.best : (hopper_best) {0};

	hopper_own_change(HOPPER_PARAMS(HOPPER_INT8(run), hopper_text_param(outcome),
									hopper_text_param(reason(error)),
									hopper_text_param(error ? unpack_sql_state(error->sqlerrcode)
													  : NULL),
									HOPPER_IF(best.metric, HOPPER_INT4(best.mst_key)),
									hopper_text_param(best.metric),
									HOPPER_IF(best.metric, HOPPER_FLOAT8(best.value))),
					  "UPDATE @extschema@.all_runs SET outcome = $2, error = $3,"
					  " error_code = $4, best_trial = coalesce($5, best_trial),"
					  " best_metric = coalesce($6, best_metric),"
					  " best_value = coalesce($7, best_value),"
					  " ended = pg_catalog.clock_timestamp(), trials = t.trials,"
					  " failed = t.failed, iterations = t.iterations"
					  " FROM (SELECT pg_catalog.count(*) AS trials, pg_catalog.count(CASE status"
					  " WHEN 'failed' THEN 1 END) AS failed,"
					  " pg_catalog.sum(iterations) AS iterations FROM @extschema@.all_trials"
					  " WHERE run = $1) t WHERE run = $1");
	hopper_store_event(run, outcome, 0, reason(error));
}

void
hopper_store_set_tables(int64 run, const char *tables, const char *shown)
{
	hopper_own_change(HOPPER_PARAMS(HOPPER_INT8(run), hopper_text_param(tables),
									hopper_text_param(shown)),
					  "UPDATE @extschema@.all_runs SET tables = $2,"
					  " model_table = coalesce($3, model_table) WHERE run = $1");
}

void
hopper_store_checkpoint(int64 run, double seconds)
{
	hopper_own_change(HOPPER_PARAMS(HOPPER_INT8(run), HOPPER_FLOAT8(seconds)),
					  "UPDATE @extschema@.all_runs SET checkpoints = checkpoints + 1,"
					  " seconds_checkpoints = seconds_checkpoints + $2,"
					  " last_checkpoint = pg_catalog.clock_timestamp() WHERE run = $1");
}

void
hopper_store_event(int64 run, const char *event, int32 trial, const char *detail)
{
	hopper_own_change(HOPPER_PARAMS(HOPPER_INT8(run), hopper_text_param(event),
									HOPPER_IF(trial != 0, HOPPER_INT4(trial)),
									HOPPER_OID(GetUserId()), hopper_text_param(detail)),
					  "INSERT INTO @extschema@.all_run_events (run, at, event, trial, role,"
					  " detail) VALUES ($1, pg_catalog.clock_timestamp(), $2, $3, $4, $5)");
	if (!HOPPER_DATA_ON_SEGMENTS && trial == 0)
		Async_Notify("hopper_runs", psprintf(INT64_FORMAT " %s", run, event));
}

void
hopper_store_steered(int64 run, int32 trial, int32 iteration, int32 last)
{
	hopper_store_event(run, "steered", trial,
					   psprintf("after iteration %d, to iteration %d", iteration, last));
}

static void
delete_rows(int64 run, const char *const *tables, int n)
{
	for (int i = 0; i < n; i++)
		hopper_own_change(HOPPER_PARAMS(HOPPER_INT8(run)),
						  "DELETE FROM @extschema@.%s WHERE run = $1", tables[i]);
}

void
hopper_store_drop(int64 run)
{
	/* In the order of hopper_own_change(). */
	static const char *const tables[] = {"all_run_events", "all_search_results",
	"all_run_grants", "all_trial_metrics", "all_trials", "all_runs"};

	delete_rows(run, tables, lengthof(tables));
}

int64
hopper_store_run_of(Oid models)
{
	return hopper_own_select("SELECT run FROM @extschema@.journal_runs WHERE output = %u"
							 " ORDER BY run DESC LIMIT 1", models) == 0 ? 0
		: hopper_int_cell(NULL, 0, 1, 0, PG_INT64_MAX);
}

void
hopper_store_means(const hopper_run_row *row, const hopper_means *means)
{
	hopper_own_change(HOPPER_PARAMS(HOPPER_INT8(row->run), means->trials, means->values),
					  "UPDATE @extschema@.all_trials t SET value = n.value FROM (SELECT"
					  " pg_catalog.unnest($2) AS trial, pg_catalog.unnest($3) AS value) n"
					  " WHERE t.run = $1 AND t.trial = n.trial");
	hopper_own_change(HOPPER_PARAMS(HOPPER_INT8(row->run), means->trials, means->values,
									hopper_text_param(means->metric
													  ? psprintf("test %s", means->metric)
													  : NULL),
									hopper_text_param(row->function),
									hopper_text_param(row->model_table), HOPPER_TIME(means->began)),
					  "UPDATE @extschema@.all_runs SET function = $5, model_table = $6,"
					  " created = CASE WHEN settings IS NULL THEN $7 ELSE created END,"
					  " started = CASE WHEN settings IS NULL THEN $7 ELSE started END,"
					  " best_trial = CASE WHEN ($3)[1] IS NOT NULL THEN ($2)[1] END,"
					  " best_metric = $4, best_value = ($3)[1] WHERE run = $1");
}

void
hopper_store_next_training(const hopper_run_row *row, const hopper_fit *fit)
{
	static const char *const earlier[] = {"journal_visits", "journal_runs", "all_trial_metrics",
	"all_trials"};

	delete_rows(row->run, earlier, lengthof(earlier));
	hopper_own_change(HOPPER_PARAMS(HOPPER_INT8(row->run), hopper_text_param(row->statement),
									hopper_text_param(row->tables),
									hopper_text_param(row->selection),
									hopper_text_param(fit->source.shown),
									hopper_text_param(fit->has_validation ? fit->validation.shown
													  : NULL),
									hopper_text_param(checksums(fit)),
									hopper_text_param(compared_by(fit)),
									hopper_text_param(row->closing)),
					  "UPDATE @extschema@.all_runs SET statement = $2, tables = $3, selection = $4,"
					  " packed_table = $5, validation_table = $6, data = $7, best_metric = $8,"
					  " closing = $9 WHERE run = $1");
	hopper_store_event(row->run, "goes on", 0, psprintf("\"%s\"", fit->output.shown));
}

/* NULL, or in which the configuration differs from what is in the row of SPI_tuptable. */
static const char *
difference(const hopper_config *config, uint64 row)
{
	const char *fit_params = hopper_cell(row, 3);
	const char *now = hopper_from_utf8(config->fit_params);

	if (strcmp(hopper_cell(row, 2), hopper_from_utf8(config->compile_params)) != 0)
		return "compile_params";
	if ((fit_params == NULL) != (now == NULL) || (now && strcmp(fit_params, now) != 0))
		return "fit_params";
	if (strcmp(hopper_cell(row, 4),
			   TextDatumGetCString(hopper_store_digest(config->model_arch))) != 0)
		return "architecture";
	return NULL;
}

void
hopper_store_require_same(int64 run, const hopper_fit *fit)
{
	uint64		n = hopper_own_select("SELECT trial, compile_params, fit_params, architecture"
									  " FROM @extschema@.all_trials WHERE run = " INT64_FORMAT
									  " ORDER BY trial", run);
	const char *what = n == (uint64) fit->n_configs ? NULL : "number of configurations";
	int32		key = 0;

	for (uint64 row = 0; row < n && what == NULL; row++)
	{
		const hopper_config *config = &fit->configs[row];

		key = config->mst_key;
		what = hopper_key_cell(NULL, row, 1) != key ? "mst_key" : difference(config, row);
	}
	if (what == NULL)
		return;
	hopper_unmet(errmsg("the configurations of run " INT64_FORMAT " have changed since it was "
						"created", run),
				 n == (uint64) fit->n_configs
				 ? errdetail("Configuration %d has another %s.", key, what)
				 : errdetail("There were " UINT64_FORMAT ", and now there are %d.", n,
							 fit->n_configs),
				 errhint("Put them back as they were, or create another run."));
}

int
hopper_store_earlier(int64 run, hopper_earlier **trials)
{
	uint64		n = hopper_own_select("SELECT trial, earlier FROM @extschema@.all_trials"
									  " WHERE run = " INT64_FORMAT " ORDER BY trial", run);

	*trials = palloc(Max(n, 1) * sizeof(hopper_earlier));
	for (uint64 row = 0; row < n; row++)
	{
		(*trials)[row].trial = hopper_key_cell(NULL, row, 1);
		(*trials)[row].iterations = (int32) hopper_int_cell(NULL, row, 2, 0, PG_INT32_MAX);
	}
	return (int) n;
}

void
hopper_store_inherit(int64 run, int32 trial, int32 parent)
{
	hopper_own_change(HOPPER_PARAMS(HOPPER_INT8(run), HOPPER_INT8(trial), HOPPER_INT8(parent)),
					  "UPDATE @extschema@.all_trials t SET earlier = p.earlier"
					  " FROM @extschema@.all_trials p WHERE t.run = $1 AND t.trial = $2"
					  " AND p.run = $1 AND p.trial = $3");
}

bool
hopper_store_has_result(int64 run)
{
	return hopper_any(hopper_own_select("SELECT FROM @extschema@.all_trials WHERE run = "
										INT64_FORMAT " AND status IN ('done',"
										" 'stopped') LIMIT 1", run));
}

bool
hopper_store_has_ended(int64 run, int32 trial)
{
	return hopper_any(hopper_own_select("SELECT FROM @extschema@.all_trials WHERE run = "
										INT64_FORMAT " AND trial = %d AND status IN ('done',"
										" 'stopped', 'failed')", run, trial));
}

int
hopper_store_new_trials(int64 run, const hopper_config *configs, int n)
{
	uint64		n_known = hopper_own_select("SELECT trial FROM @extschema@.all_trials"
											" WHERE run = " INT64_FORMAT " ORDER BY trial", run);
	hopper_training training = {.configs = configs,.n_configs = n};
	int		   *which = palloc(Max(n, 1) * sizeof(int));
	int			n_new = 0;
	uint64		row = 0;

	/* Both ascend. */
	for (int i = 0; i < n; i++)
	{
		while (row < n_known && hopper_key_cell(NULL, row, 1) < configs[i].mst_key)
			row++;
		if (row == n_known || hopper_key_cell(NULL, row, 1) != configs[i].mst_key)
			which[n_new++] = i;
	}
	if (n_new > 0)
		hopper_store_trials(run, &training, which, n_new, false);
	return n_new;
}

/* Nobody is notified: nobody knows the number, and the transaction may be prepared to commit. */
static void
record_events(int64 run, TimestampTz started)
{
	hopper_own_change(HOPPER_PARAMS(HOPPER_INT8(run), HOPPER_TIME(started),
									HOPPER_OID(GetUserId())),
					  "INSERT INTO @extschema@.all_run_events (run, at, event, role)"
					  " SELECT $1, pg_catalog.unnest(ARRAY[$2, pg_catalog.clock_timestamp()]),"
					  " pg_catalog.unnest(ARRAY['created', 'done']), $3");
}

/*
 * The grid of a run that is in no table yet; NULL without trials. It is a query of its own:
 * Greenplum 7 crashes as it sends the value of a subquery of arguments with the statement.
 */
static const char *
grid_of(const hopper_training *training)
{
	char	   *parameters = OidOutputFunctionCall(F_ARRAY_OUT, hopper_store_parameters(training));

	return hopper_select_latest(HOPPER_STORE_GRID("pg_catalog.unnest(%s::pg_catalog.text[])"
												  " AS u (parameters)"),
								hopper_literal(parameters)) == 1 ? hopper_cell(0, 1) : NULL;
}

/* All is known: each table is written once. */
void
hopper_store_record(int64 run, const hopper_fit *fit)
{
	hopper_run_row row = {.run = run,.started = true,.function = (char *) fit->function,
		.statement = (char *) fit->record.statement,.model_table = (char *) fit->shown};
	hopper_training *training = (hopper_training *) &fit->training;
	const hopper_best *best = &fit->record.best;
	int		   *all = palloc(Max(training->n_configs, 1) * sizeof(int));
	int64		iterations = 0;
	int32		failed = 0;
	hopper_param params[CREATED_PARAMS + 5];

	for (int i = 0; i < training->n_configs; i++)
	{
		all[i] = i;
		/* Also what an earlier training of a search, or a trial's parent, has measured. */
		training->saved[i].stored_until = training->saved[i].earlier;
		iterations += training->results[i].iterations;
		failed += training->results[i].status == HOPPER_MODEL_FAILED;
	}
	hopper_store_trials(run, training, all, training->n_configs, true);
	set_created(params, &row, fit, best->metric ? best->metric : compared_by(fit));
	if (training->search == NULL)
		params[CREATED_PARAMS - 1] = hopper_text_param(grid_of(training));
	params[CREATED_PARAMS] = HOPPER_IF(best->metric, HOPPER_INT4(best->mst_key));
	params[CREATED_PARAMS + 1] = HOPPER_IF(best->metric, HOPPER_FLOAT8(best->value));
	params[CREATED_PARAMS + 2] = HOPPER_INT4(training->n_configs);
	params[CREATED_PARAMS + 3] = HOPPER_INT4(failed);
	params[CREATED_PARAMS + 4] = HOPPER_INT8(iterations);
	hopper_own_change(lengthof(params), params,
					  "INSERT INTO @extschema@.all_runs (" CREATED_COLUMNS ", best_trial,"
					  " best_value, trials, failed, iterations, outcome, ended)"
					  " VALUES (" CREATED_VALUES ", $20, $21, $22, $23, $24, $25, 'done',"
					  " pg_catalog.clock_timestamp())");
	record_events(run, fit->record.started);
}
