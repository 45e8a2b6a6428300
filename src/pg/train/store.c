/*
 * store.c
 *		Writing and reading the rows of runs.
 */
#include "pg/train/store.h"

#include "catalog/pg_type.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "pg/server/own_tables.h"
#include "pg/server/words.h"
#include "pg/train/timeline.h"

int64		hopper_store_current_run = 0;

/* Changes a table of runs, as its owner. */
static void
change(const char *table, const char *query, const hopper_own_values *list)
{
	hopper_own_change(table, "the record of runs", query, list);
}

static uint64
select_as_owner(const char *query)
{
	return hopper_own_select("all_runs", query);
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

static Datum
digest_of(const char *text)
{
	return DirectFunctionCall1(md5_text, CStringGetTextDatum(text ? text : ""));
}

void
hopper_store_create(const hopper_run_row *row, const hopper_fit *fit)
{
	hopper_own_values list = {0};

	hopper_own_add_int8(&list, row->run);
	hopper_own_add(&list, OIDOID, ObjectIdGetDatum(GetUserId()), false);
	hopper_own_add(&list, OIDOID, ObjectIdGetDatum(GetSessionUserId()), false);
	hopper_own_add_text(&list, row->function);
	hopper_own_add_text(&list, row->statement);
	hopper_own_add_text(&list, row->search_path);
	hopper_own_add_text(&list, row->settings);
	hopper_own_add_text(&list, row->tables);
	hopper_own_add_text(&list, row->model_table);
	hopper_own_add_text(&list, fit ? fit->source.shown : NULL);
	hopper_own_add_text(&list, fit && fit->has_validation ? fit->validation.shown : NULL);
	hopper_own_add_text(&list, fit ? checksums(fit) : NULL);
	hopper_own_add_text(&list, fit ? fit->record.name : NULL);
	hopper_own_add_text(&list, fit ? fit->record.description : NULL);
	hopper_own_add(&list, TIMESTAMPTZOID, TimestampTzGetDatum(row->started ? fit->record.started
												   : GetCurrentTimestamp()), false);
	hopper_own_add(&list, BOOLOID, BoolGetDatum(row->started), false);
	change("all_runs",
		   psprintf("INSERT INTO %s (run, role, login, function, statement, search_path, settings,"
					" tables, model_table, packed_table, validation_table, data, name,"
					" description, created, started) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9,"
					" $10, $11, $12, $13, $14, $15, CASE WHEN $16 THEN $15 END)",
					hopper_own_name("all_runs")), &list);
	hopper_store_event(row->run, "created", 0, NULL);
}

static hopper_wish
wish_named(const char *name)
{
	return strcmp(name, "pause") == 0 ? HOPPER_WISH_PAUSE
		: strcmp(name, "cancel") == 0 ? HOPPER_WISH_CANCEL : HOPPER_WISH_RUN;
}

static const char *
wish_name(hopper_wish wish)
{
	return wish == HOPPER_WISH_PAUSE ? "pause" : wish == HOPPER_WISH_CANCEL ? "cancel" : "run";
}

bool
hopper_store_read_if_there(int64 run, hopper_run_row *row)
{
	memset(row, 0, sizeof(*row));
	if (select_as_owner(psprintf("SELECT role::int8, login::int8, function, statement,"
								 " search_path, settings, tables, model_table, data, wish,"
								 " started IS NOT NULL, outcome FROM %s"
								 " WHERE run = " INT64_FORMAT " FOR UPDATE",
								 hopper_own_name("all_runs"), run)) != 1)
		return false;
	row->run = run;
	row->role = (Oid) hopper_int_cell(NULL, 0, 1, 0, PG_UINT32_MAX);
	row->login = (Oid) hopper_int_cell(NULL, 0, 2, 0, PG_UINT32_MAX);
	row->function = hopper_cell(0, 3);
	row->statement = hopper_cell(0, 4);
	row->search_path = hopper_cell(0, 5);
	row->settings = hopper_cell(0, 6);
	row->tables = hopper_cell(0, 7);
	row->model_table = hopper_cell(0, 8);
	row->data = hopper_cell(0, 9);
	row->wish = wish_named(hopper_cell(0, 10));
	row->started = strcmp(hopper_cell(0, 11), "t") == 0;
	row->outcome = hopper_cell(0, 12);
	SPI_freetuptable(SPI_tuptable);
	return true;
}

void
hopper_store_read(int64 run, hopper_run_row *row)
{
	if (!hopper_store_read_if_there(run, row))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("there is no run " INT64_FORMAT, run),
				 errhint("See SELECT run, state, model_table FROM hopper.runs;")));
	if (!has_privs_of_role(GetUserId(), row->role))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for run " INT64_FORMAT, run)));
}

hopper_wish
hopper_store_wish(int64 run)
{
	hopper_wish wish = HOPPER_WISH_CANCEL;	/* a run that was dropped */

	if (select_as_owner(psprintf("SELECT wish FROM %s WHERE run = " INT64_FORMAT,
								 hopper_own_name("all_runs"), run)) == 1)
		wish = wish_named(hopper_cell(0, 1));
	SPI_freetuptable(SPI_tuptable);
	return wish;
}

void
hopper_store_set_wish(int64 run, hopper_wish wish)
{
	hopper_own_values list = {0};

	hopper_own_add_int8(&list, run);
	hopper_own_add_text(&list, wish_name(wish));
	change("all_runs",
		   psprintf("UPDATE %s SET wish = $2 WHERE run = $1", hopper_own_name("all_runs")), &list);
}

void
hopper_store_started(int64 run)
{
	hopper_own_values list = {0};

	hopper_own_add_int8(&list, run);
	change("all_runs",
		   psprintf("UPDATE %s SET started = coalesce(started, pg_catalog.clock_timestamp()),"
					" sessions = sessions + 1, queued = NULL, wish = 'run', ended = NULL,"
					" outcome = NULL, error = NULL, error_code = NULL WHERE run = $1",
					hopper_own_name("all_runs")), &list);
	hopper_store_event(run, "started", 0, psprintf("process %d", MyProcPid));
}

void
hopper_store_queued(int64 run, const char *event)
{
	hopper_own_values list = {0};

	hopper_own_add_int8(&list, run);
	change("all_runs",
		   psprintf("UPDATE %s SET queued = pg_catalog.clock_timestamp(), wish = 'run',"
					" ended = NULL, outcome = NULL, error = NULL, error_code = NULL"
					" WHERE run = $1", hopper_own_name("all_runs")), &list);
	hopper_store_event(run, event, 0, NULL);
}

/* What came of all its trials, whichever session has trained them. */
static void
add_results(hopper_own_values *list, const hopper_fit *fit)
{
	const hopper_best *best = fit ? &fit->record.best : NULL;
	bool		none = best == NULL || best->metric == NULL;

	hopper_own_add(list, INT4OID, none ? (Datum) 0 : Int32GetDatum(best->mst_key), none);
	hopper_own_add_text(list, none ? NULL : best->metric);
	hopper_own_add(list, FLOAT8OID, none ? (Datum) 0 : Float8GetDatum(best->value), none);
}

void
hopper_store_ended(int64 run, const char *outcome, const hopper_fit *fit, const ErrorData *error)
{
	hopper_own_values list = {0};

	hopper_own_add_int8(&list, run);
	hopper_own_add_text(&list, outcome);
	hopper_own_add_text(&list, error ? error->message : NULL);
	hopper_own_add_text(&list, error ? unpack_sql_state(error->sqlerrcode) : NULL);
	add_results(&list, fit);
	change("all_runs",
		   psprintf("UPDATE %s SET outcome = $2, error = $3, error_code = $4, best_trial = $5,"
					" best_metric = $6, best_value = $7, ended = pg_catalog.clock_timestamp(),"
					" trials = t.trials, failed = t.failed, iterations = t.iterations"
					" FROM (SELECT pg_catalog.count(*) AS trials,"
					"  pg_catalog.count(CASE status WHEN 'failed' THEN 1 END) AS failed,"
					"  pg_catalog.sum(iterations) AS iterations FROM %s WHERE run = $1) t"
					" WHERE run = $1", hopper_own_name("all_runs"),
					hopper_own_name("all_trials")), &list);
	hopper_store_event(run, outcome, 0, error ? error->message : NULL);
}

void
hopper_store_set_tables(int64 run, const char *tables)
{
	hopper_own_values list = {0};

	hopper_own_add_int8(&list, run);
	hopper_own_add_text(&list, tables);
	change("all_runs",
		   psprintf("UPDATE %s SET tables = $2 WHERE run = $1", hopper_own_name("all_runs")),
		   &list);
}

void
hopper_store_checkpoint(int64 run, double seconds)
{
	hopper_own_values list = {0};

	hopper_own_add_int8(&list, run);
	hopper_own_add_float8(&list, seconds);
	change("all_runs",
		   psprintf("UPDATE %s SET checkpoints = checkpoints + 1,"
					" seconds_checkpoints = seconds_checkpoints + $2,"
					" last_checkpoint = pg_catalog.clock_timestamp() WHERE run = $1",
					hopper_own_name("all_runs")), &list);
}

void
hopper_store_event(int64 run, const char *event, int32 trial, const char *detail)
{
	hopper_own_values list = {0};

	hopper_own_add_int8(&list, run);
	hopper_own_add_text(&list, event);
	hopper_own_add(&list, INT4OID, Int32GetDatum(trial), trial == 0);
	hopper_own_add(&list, OIDOID, ObjectIdGetDatum(GetUserId()), false);
	hopper_own_add_text(&list, detail);
	change("all_run_events",
		   psprintf("INSERT INTO %s (run, at, event, trial, role, detail)"
					" VALUES ($1, pg_catalog.clock_timestamp(), $2, $3, $4, $5)",
					hopper_own_name("all_run_events")), &list);
}

void
hopper_store_drop(int64 run)
{
	static const char *const tables[] = {"all_run_events", "all_trial_metrics", "all_trials",
	"all_runs"};

	for (int i = 0; i < lengthof(tables); i++)
	{
		hopper_own_values list = {0};

		hopper_own_add_int8(&list, run);
		change(tables[i],
		   psprintf("DELETE FROM %s WHERE run = $1", hopper_own_name(tables[i])), &list);
	}
}

/* --- its trials --- */

/* Columns of rows that one statement writes: $2 and so on are arrays of the same length. */
#define MOST_COLUMNS 10

typedef struct columns
{
	int			n;
	int			allocated;
	int			width;
	Oid			types[MOST_COLUMNS];
	Datum	   *values[MOST_COLUMNS];
	bool	   *nulls[MOST_COLUMNS];
} columns;

static void
begin_columns(columns *rows, int width, const Oid *types, int allocated)
{
	memset(rows, 0, sizeof(*rows));
	rows->width = width;
	rows->allocated = Max(allocated, 64);
	for (int i = 0; i < width; i++)
	{
		rows->types[i] = types[i];
		rows->values[i] = palloc(rows->allocated * sizeof(Datum));
		rows->nulls[i] = palloc(rows->allocated * sizeof(bool));
	}
}

/* The values of a row follow, by set_column(). */
static void
next_row(columns *rows)
{
	if (rows->n < rows->allocated)
		return;
	rows->allocated *= 2;
	for (int i = 0; i < rows->width; i++)
	{
		rows->values[i] = repalloc_huge(rows->values[i], rows->allocated * sizeof(Datum));
		rows->nulls[i] = repalloc_huge(rows->nulls[i], rows->allocated * sizeof(bool));
	}
}

static void
set_column(columns *rows, int column, Datum value, bool isnull)
{
	rows->values[column][rows->n] = value;
	rows->nulls[column][rows->n] = isnull;
}

static void
set_text(columns *rows, int column, const char *value)
{
	set_column(rows, column, value ? CStringGetTextDatum(value) : (Datum) 0, value == NULL);
}

/* INSERT INTO table (run, names) of all rows. */
static void
insert_columns(int64 run, const char *table, const char *names, const columns *rows)
{
	hopper_own_values list = {0};
	StringInfoData items;

	if (rows->n == 0)
		return;
	initStringInfo(&items);
	hopper_own_add_int8(&list, run);
	for (int i = 0; i < rows->width; i++)
	{
		int			dims[1] = {rows->n};
		int			lbs[1] = {1};
		int16		length;
		bool		by_value;
		char		alignment;

		get_typlenbyvalalign(rows->types[i], &length, &by_value, &alignment);
		hopper_own_add(&list, get_array_type(rows->types[i]),
			PointerGetDatum(construct_md_array(rows->values[i], rows->nulls[i], 1, dims, lbs,
											   rows->types[i], length, by_value, alignment)),
			false);
		appendStringInfo(&items, ", pg_catalog.unnest($%d)", i + 2);
	}
	change(table,
		   psprintf("INSERT INTO %s (run, %s) SELECT $1%s", hopper_own_name(table), names,
					items.data), &list);
}

static const char *
status_of(const hopper_model_result *result)
{
	switch (result->status)
	{
		case HOPPER_MODEL_FAILED:
			return "failed";
		case HOPPER_MODEL_DONE:
			return result->stopped ? "stopped" : "done";
		default:
			return "training";
	}
}

/* The values that are newer than `after`. */
static void
add_metrics(columns *rows, const hopper_training *training, int at, int32 after)
{
	const hopper_model_result *result = &training->results[at];
	const hopper_history *history = training->histories[at];
	Datum		names[HOPPER_MAX_METRICS + 1];
	Datum		splits[2] = {CStringGetTextDatum("training"), CStringGetTextDatum("validation")};

	names[0] = CStringGetTextDatum("loss");
	for (int metric = 0; metric < result->n_metrics; metric++)
		names[metric + 1] = CStringGetTextDatum(hopper_from_utf8(result->metrics_type[metric]));
	for (int i = 0; i < history->n; i++)
	{
		const hopper_point *point = hopper_history_at(history, i);

		for (int split = 0; split < 2 && point->iteration > after; split++)
			for (int metric = -1; metric < result->n_metrics; metric++)
			{
				if (metric < 0 ? !point->known[split]
					: (point->has_metric[split] & ((uint32) 1 << metric)) == 0)
					continue;
				next_row(rows);
				set_column(rows, 0, Int32GetDatum(history->mst_key), false);
				set_column(rows, 1, Int32GetDatum(point->iteration), false);
				set_column(rows, 2, splits[split], false);
				set_column(rows, 3, names[metric + 1], false);
				set_column(rows, 4, Float8GetDatum(metric < 0 ? point->loss[split]
												   : hopper_point_metric(history, point, split,
																		 metric)), false);
				rows->n++;
			}
	}
}

/* Every so many values are a statement of their own. */
#define VALUES_AT_ONCE 200000

static void
write_metrics(int64 run, hopper_training *training, const int *which, int n)
{
	static const Oid types[] = {INT4OID, INT4OID, TEXTOID, TEXTOID, FLOAT8OID};
	static const char *const names = "trial, iteration, split, metric, value";
	columns		rows;

	begin_columns(&rows, lengthof(types), types, n * 4);
	for (int i = 0; i < n; i++)
	{
		const hopper_history *history = training->histories[which[i]];
		int32	   *stored = training->stored_until ? &training->stored_until[which[i]] : NULL;

		add_metrics(&rows, training, which[i], stored ? *stored : history->last_earlier);
		if (stored && history->n > 0)
			*stored = hopper_history_at(history, history->n - 1)->iteration;
		if (rows.n >= VALUES_AT_ONCE)
		{
			insert_columns(run, "all_trial_metrics", names, &rows);
			rows.n = 0;
		}
		CHECK_FOR_INTERRUPTS();
	}
	insert_columns(run, "all_trial_metrics", names, &rows);
}

static void
delete_trials(int64 run, const columns *rows)
{
	hopper_own_values list = {0};

	hopper_own_add_int8(&list, run);
	hopper_own_add(&list, INT4ARRAYOID,
		PointerGetDatum(construct_array(rows->values[0], rows->n, INT4OID, sizeof(int32), true,
										'i')), false);
	change("all_trials",
		   psprintf("DELETE FROM %s WHERE run = $1 AND trial OPERATOR(pg_catalog.=) ANY ($2)",
					hopper_own_name("all_trials")), &list);
}

void
hopper_store_trials(int64 run, hopper_training *training, const int *which, int n)
{
	static const Oid types[] = {INT4OID, INT4OID, TEXTOID, TEXTOID, TEXTOID, TEXTOID, INT4OID,
	FLOAT8OID, TEXTOID, TEXTOID};
	columns		rows;

	begin_columns(&rows, lengthof(types), types, n);
	for (int i = 0; i < n; i++)
	{
		static const hopper_model_result nothing;
		const hopper_config *config = &training->configs[which[i]];
		const hopper_model_result *result = training->results ? &training->results[which[i]]
			: &nothing;
		bool		failed = result->status == HOPPER_MODEL_FAILED;

		next_row(&rows);
		set_column(&rows, 0, Int32GetDatum(config->mst_key), false);
		set_column(&rows, 1, Int32GetDatum(config->model_id), config->model_id == 0);
		set_text(&rows, 2, hopper_from_utf8(config->compile_params));
		set_text(&rows, 3, config->fit_params ? hopper_from_utf8(config->fit_params) : NULL);
		set_column(&rows, 4, digest_of(config->model_arch), false);
		set_text(&rows, 5, training->results ? status_of(result) : "waiting");
		set_column(&rows, 6, Int32GetDatum(result->iterations), false);
		set_column(&rows, 7, Float8GetDatum(hopper_round_seconds(result->seconds_training)), false);
		set_text(&rows, 8, result->digest[0] ? result->digest : NULL);
		set_text(&rows, 9, failed ? hopper_from_utf8(result->error) : NULL);
		rows.n++;
		CHECK_FOR_INTERRUPTS();
	}
	if (rows.n > 0)
		delete_trials(run, &rows);
	insert_columns(run, "all_trials", "trial, model_id, compile_params, fit_params, architecture,"
				   " status, iterations, seconds, digest, error", &rows);
	if (training->results)
		write_metrics(run, training, which, n);
}

/* NULL, or in which the configuration differs from what is in the row of SPI_tuptable. */
static const char *
difference(const hopper_config *config, uint64 row)
{
	const char *fit_params = hopper_cell(row, 3);
	const char *now = config->fit_params ? hopper_from_utf8(config->fit_params) : NULL;

	if (strcmp(hopper_cell(row, 2), hopper_from_utf8(config->compile_params)) != 0)
		return "compile_params";
	if ((fit_params == NULL) != (now == NULL) || (now && strcmp(fit_params, now) != 0))
		return "fit_params";
	if (strcmp(hopper_cell(row, 4), TextDatumGetCString(digest_of(config->model_arch))) != 0)
		return "architecture";
	return NULL;
}

void
hopper_store_require_same(int64 run, const hopper_fit *fit)
{
	uint64		n = select_as_owner(psprintf("SELECT trial, compile_params, fit_params,"
											 " architecture FROM %s WHERE run = " INT64_FORMAT
											 " ORDER BY trial", hopper_own_name("all_trials"),
											 run));
	const char *what = n == (uint64) fit->n_configs ? NULL : "number of configurations";
	int32		key = 0;

	for (uint64 row = 0; row < n && what == NULL; row++)
	{
		const hopper_config *config = &fit->configs[row];

		key = config->mst_key;
		what = hopper_key_cell(NULL, row, 1) != key ? "mst_key" : difference(config, row);
	}
	SPI_freetuptable(SPI_tuptable);
	if (what == NULL)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the configurations of run " INT64_FORMAT " have changed since it was created",
					run),
			 n == (uint64) fit->n_configs
			 ? errdetail("Configuration %d has another %s.", key, what)
			 : errdetail("There were " UINT64_FORMAT ", and now there are %d.", n,
						 fit->n_configs),
			 errhint("Put them back as they were, or create another run.")));
}

void
hopper_store_record(int64 run, const hopper_fit *fit)
{
	hopper_run_row row = {0};
	hopper_training *training = (hopper_training *) &fit->training;
	int		   *all = palloc(Max(training->n_configs, 1) * sizeof(int));

	/* There is a row of one in the background already. */
	if (training->number == 0)
	{
		row.run = run;
		row.started = true;
		row.function = (char *) fit->function;
		row.model_table = (char *) fit->shown;
		hopper_store_create(&row, fit);
	}
	for (int i = 0; i < training->n_configs; i++)
		all[i] = i;
	hopper_store_trials(run, training, all, training->n_configs);
	hopper_store_ended(run, "done", fit, NULL);
}
