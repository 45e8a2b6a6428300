/*
 * store_trials.c
 *		Writing the rows of runs' trials, and of what they have reached.
 */
#include "pg/train/store.h"

#include "pg/server/own_tables.h"
#include "pg/train/standing.h"

Datum
hopper_store_digest(const char *text)
{
	uint8_t		checksum[HOPPER_CHECKSUM_SIZE];
	char		hex[2 * HOPPER_CHECKSUM_SIZE + 1];

	/* Not md5(), which servers that follow FIPS 140 do not have. */
	hopper_core()->buffer_checksum(0, 0, 0, text, text ? strlen(text) : 0, NULL, 0, checksum);
	for (int i = 0; i < HOPPER_CHECKSUM_SIZE; i++)
		snprintf(hex + 2 * i, 3, "%02x", checksum[i]);
	return CStringGetTextDatum(hex);
}

void
hopper_store_grid(int64 run)
{
	hopper_own_change(HOPPER_PARAMS(HOPPER_INT8(run)),
					  "UPDATE @extschema@.all_runs SET search = g.search"
					  " FROM (" HOPPER_STORE_GRID ") AS g WHERE run = $1"
					  " AND all_runs.search IS NULL");
}

/* Columns of rows that one statement writes: $2 and so on are arrays of the same length. */
#define MOST_COLUMNS 18

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

/* The rows as a subquery; $1 is the run, and their columns are the arguments that follow it. */
static char *
rows_query(const columns *rows, const char *const *names, int64 run, hopper_param *params)
{
	StringInfo	query = makeStringInfo();

	params[0] = HOPPER_INT8(run);
	for (int i = 0; i < rows->width; i++)
	{
		params[i + 1] = HOPPER_PARAM(get_array_type(rows->types[i]),
									 hopper_array(rows->types[i], rows->n, rows->values[i],
												  rows->nulls[i]));
		appendStringInfo(query, "%s pg_catalog.unnest($%d) AS %s", i ? "," : "SELECT", i + 2,
						 names[i]);
	}
	return query->data;
}

static char *
joined(const char *const *names, int n, const char *before)
{
	StringInfo	text = makeStringInfo();

	for (int i = 0; i < n; i++)
		appendStringInfo(text, "%s%s%s", i ? ", " : "", before, names[i]);
	return text->data;
}

/* INSERT INTO table (run, names) of all rows. */
static void
insert_columns(int64 run, const char *table, const char *const *names, const columns *rows)
{
	hopper_param params[MOST_COLUMNS + 1];
	char	   *query;

	if (rows->n == 0)
		return;
	query = rows_query(rows, names, run, params);
	hopper_own_change(rows->width + 1, params,
					  "INSERT INTO @extschema@.%s (run, %s) SELECT $1, n.* FROM (%s) n",
					  table, joined(names, rows->width, ""), query);
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

/* Columns `value` to `elapsed`. */
static void
set_standing(columns *rows, int column, const hopper_standing *standing)
{
	set_column(rows, column, Float8GetDatum(standing->value), !standing->has_value);
	set_text(rows, column + 1, standing->latest);
	set_column(rows, column + 2, Float8GetDatum(hopper_round_seconds(standing->began)),
			   !standing->begun);
	set_column(rows, column + 3, Float8GetDatum(hopper_round_seconds(standing->elapsed)),
			   !standing->begun);
}

/* The values of iterations after `after`, to `until`. */
static void
add_metrics(columns *rows, const hopper_training *training, int at, int32 after, int32 until)
{
	const hopper_model_result *result = &training->results[at];
	const hopper_history *history = training->histories[at];
	Datum		names[HOPPER_MAX_METRICS + 1];
	Datum		splits[2] = {CStringGetTextDatum(hopper_split_names[0]),
	CStringGetTextDatum(hopper_split_names[1])};

	names[0] = CStringGetTextDatum("loss");
	for (int metric = 0; metric < result->n_metrics; metric++)
		names[metric + 1] = CStringGetTextDatum(hopper_from_utf8(result->metrics_type[metric]));
	for (int i = 0; i < history->n; i++)
	{
		const hopper_point *point = hopper_history_at(history, i);

		if (point->iteration <= after || point->iteration > until)
			continue;
		for (int split = 0; split < 2; split++)
			for (int metric = -1; metric < result->n_metrics; metric++)
			{
				if (!hopper_point_has(point, split, metric))
					continue;
				next_row(rows);
				set_column(rows, 0, Int32GetDatum(history->mst_key), false);
				set_column(rows, 1, Int32GetDatum(point->iteration), false);
				set_column(rows, 2, splits[split], false);
				set_column(rows, 3, names[metric + 1], false);
				set_column(rows, 4, Float8GetDatum(hopper_point_value(history, point, split,
																	 metric)), false);
				set_column(rows, 5, Float8GetDatum(hopper_round_seconds(point->elapsed)), false);
				rows->n++;
			}
	}
}

/* Every so many values are a statement of their own. */
#define VALUES_AT_ONCE 200000

static void
write_metrics(int64 run, hopper_training *training, const int *which, int n)
{
	static const Oid types[] = {INT4OID, INT4OID, TEXTOID, TEXTOID, FLOAT8OID,
	FLOAT8OID};
	static const char *const names[] = {"trial", "iteration", "split", "metric", "value",
	"seconds"};
	columns		rows;

	begin_columns(&rows, lengthof(types), types, n * 4);
	for (int i = 0; i < n; i++)
	{
		const hopper_history *history = training->histories[which[i]];
		hopper_durable *durable = training->durable ? &training->durable[which[i]] : NULL;
		/* What comes after its checkpoint is not all there yet, or will be put right. */
		int32		until = durable && !durable->written ? durable->stored : PG_INT32_MAX;

		add_metrics(&rows, training, which[i],
					durable ? durable->stored_until : history->last_earlier, until);
		if (durable && history->n > 0)
			durable->stored_until =
				Min(until, hopper_history_at(history, history->n - 1)->iteration);
		if (rows.n >= VALUES_AT_ONCE)
		{
			insert_columns(run, "all_trial_metrics", names, &rows);
			rows.n = 0;
		}
		CHECK_FOR_INTERRUPTS();
	}
	insert_columns(run, "all_trial_metrics", names, &rows);
}

/* "key": value, ... of compile or fit parameters, in UTF-8; "" where there are none */
static char *
members_of(const char *params)
{
	hopper_rows *rows;
	char	   *members;

	HOPPER_CHECK(hopper_core()->params_json(params ? params : "", &rows, hopper_fault));
	rows = hopper_take_rows(rows);
	members = pstrdup(rows->cells[0] + 1);
	members[strlen(members) - 1] = '\0';
	return members;
}

/* What a configuration was given, as JSON in UTF-8. */
static const char *
given(const hopper_config *config)
{
	char	   *compile = members_of(config->compile_params);
	char	   *fit = members_of(config->fit_params);

	return psprintf("{\"model_id\": %d%s%s%s%s}", config->model_id, compile[0] ? ", " : "", compile,
					fit[0] ? ", " : "", fit);
}

/* One number for each trial of all runs: tools know trials by one. */
static int64
trial_id(int64 run, int32 trial)
{
	return run * ((int64) 1 << 31) + trial;
}

void
hopper_store_forget(int64 run, int32 trial, int32 iteration)
{
	hopper_own_change(HOPPER_PARAMS(HOPPER_INT8(run), HOPPER_INT8(trial), HOPPER_INT8(iteration)),
					  "DELETE FROM @extschema@.all_trial_metrics WHERE run = $1"
					  " AND trial = $2 AND iteration > $3");
}

void
hopper_store_replace_metrics(int64 run, hopper_training *training, const int *which, int n)
{
	static const Oid types[] = {INT4OID, INT4OID};
	static const char *const names[] = {"trial", "earlier"};
	hopper_param params[lengthof(types) + 1];
	char	   *query;
	columns		rows;

	begin_columns(&rows, lengthof(types), types, n);
	for (int i = 0; i < n; i++)
	{
		hopper_durable *durable = &training->durable[which[i]];

		if (durable->stored_until <= durable->earlier)
			continue;
		next_row(&rows);
		set_column(&rows, 0, Int32GetDatum(training->configs[which[i]].mst_key), false);
		set_column(&rows, 1, Int32GetDatum(durable->earlier), false);
		rows.n++;
		durable->stored_until = durable->earlier;
	}
	if (rows.n == 0)
		return;
	query = rows_query(&rows, names, run, params);
	hopper_own_change(lengthof(params), params,
					  "DELETE FROM @extschema@.all_trial_metrics m USING (%s) n"
					  " WHERE m.run = $1 AND m.trial = n.trial AND m.iteration > n.earlier", query);
}

static const char *const trial_names[] = {"trial", "model_id", "compile_params", "fit_params",
	"architecture", "status", "iterations", "seconds", "digest", "error", "parameters", "value",
"latest", "began", "elapsed", "earlier", "id", "uuid"};

/*
 * In the place of rows that are there: a row that fits into its page leaves nothing behind that
 * VACUUM would have to remove, however often it is written.
 */
static void
write_trials(int64 run, const columns *rows)
{
	hopper_param params[MOST_COLUMNS + 1];
	char	   *query = rows_query(rows, trial_names, run, params);

	hopper_own_change(rows->width + 1, params,
					  "UPDATE @extschema@.all_trials t SET (%s) = (%s) FROM (%s) n"
					  " WHERE t.run = $1 AND t.trial = n.trial",
					  joined(trial_names, rows->width, ""), joined(trial_names, rows->width, "n."),
					  query);
	if (SPI_processed == (uint64) rows->n)
		return;
	hopper_own_change(rows->width + 1, params, "INSERT INTO @extschema@.all_trials (run, %s)"
					  " SELECT $1, n.* FROM (%s) n WHERE NOT EXISTS (SELECT"
					  " FROM @extschema@.all_trials t WHERE t.run = $1 AND t.trial = n.trial)",
					  joined(trial_names, rows->width, ""), query);
}

static void
store(int64 run, hopper_training *training, const int *which, int n, bool first)
{
	static const Oid types[] = {INT4OID, INT4OID, TEXTOID, TEXTOID, TEXTOID, TEXTOID, INT4OID,
	FLOAT8OID, TEXTOID, TEXTOID, TEXTOID, FLOAT8OID, TEXTOID, FLOAT8OID, FLOAT8OID, INT4OID,
	INT8OID, TEXTOID};
	columns		rows;

	begin_columns(&rows, lengthof(types), types, n);
	for (int i = 0; i < n; i++)
	{
		static const hopper_model_result nothing;
		const hopper_config *config = &training->configs[which[i]];
		const hopper_model_result *result = training->results ? &training->results[which[i]]
			: &nothing;
		bool		failed = result->status == HOPPER_MODEL_FAILED;
		hopper_standing standing;

		next_row(&rows);
		set_column(&rows, 0, Int32GetDatum(config->mst_key), false);
		set_column(&rows, 1, Int32GetDatum(config->model_id), config->model_id == 0);
		set_text(&rows, 2, hopper_from_utf8(config->compile_params));
		set_text(&rows, 3, config->fit_params ? hopper_from_utf8(config->fit_params) : NULL);
		set_column(&rows, 4, hopper_store_digest(config->model_arch), false);
		set_text(&rows, 5, training->results ? status_of(result) : "waiting");
		set_column(&rows, 6, Int32GetDatum(result->iterations), false);
		set_column(&rows, 7, Float8GetDatum(hopper_round_seconds(result->seconds_training)), false);
		set_text(&rows, 8, result->digest[0] ? result->digest : NULL);
		set_text(&rows, 9, failed ? hopper_from_utf8(result->error) : NULL);
		set_text(&rows, 10, hopper_from_utf8(training->chosen
											 ? training->chosen(training, which[i])
											 : given(config)));
		hopper_standing_of(training, which[i], &standing);
		set_standing(&rows, 11, &standing);
		set_column(&rows, 15, Int32GetDatum(hopper_training_earlier(training, which[i])), false);
		set_column(&rows, 16, Int64GetDatum(trial_id(run, config->mst_key)), false);
		set_text(&rows, 17, psprintf("%032llx", (unsigned long long) trial_id(run,
																		 config->mst_key)));
		rows.n++;
		CHECK_FOR_INTERRUPTS();
	}
	if (first)
		insert_columns(run, "all_trials", trial_names, &rows);
	else if (rows.n > 0)
		write_trials(run, &rows);
	if (training->results)
		write_metrics(run, training, which, n);
}

void
hopper_store_trials(int64 run, hopper_training *training, const int *which, int n)
{
	store(run, training, which, n, false);
}

void
hopper_store_first_trials(int64 run, hopper_training *training, const int *which, int n)
{
	store(run, training, which, n, true);
}
