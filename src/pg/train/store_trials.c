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

	/* Not md5(), which servers that follow FIPS 140 do not have. */
	hopper_core()->buffer_checksum(0, 0, 0, text, text ? strlen(text) : 0, NULL, 0, checksum);
	return CStringGetTextDatum(hopper_hex(checksum, sizeof(checksum)));
}

void
hopper_store_grid(int64 run)
{
	hopper_own_change(HOPPER_PARAMS(HOPPER_INT8(run)),
					  "UPDATE @extschema@.all_runs SET search = g.search"
					  " FROM (" HOPPER_STORE_GRID("@extschema@.all_trials WHERE run = $1")
					  ") AS g WHERE run = $1"
					  " AND all_runs.search IS NULL");
}

/* The values of iterations after `after`, to `until`. */
static void
add_metrics(hopper_own_rows *rows, const hopper_training *training, int at, int32 after,
			int32 until)
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
				hopper_maybe found = hopper_history_value(history, point, split, metric);

				if (!found.known)
					continue;
				hopper_own_rows_add(rows, HOPPER_PARAMS(
					HOPPER_INT4(history->mst_key), HOPPER_INT4(point->iteration),
					HOPPER_PARAM(TEXTOID, splits[split]), HOPPER_PARAM(TEXTOID, names[metric + 1]),
					HOPPER_FLOAT8(found.value),
					HOPPER_SECONDS(point->elapsed)));
			}
	}
}

/* Every so many values are a statement of their own. */
#define VALUES_AT_ONCE 200000

static void
write_metrics(int64 run, hopper_training *training, const int *which, int n)
{
	static const char *const names[] = {"trial", "iteration", "split", "metric", "value",
	"seconds"};
	hopper_own_rows rows = hopper_own_rows_new(lengthof(names), names, n * 4);

	for (int i = 0; i < n; i++)
	{
		const hopper_history *history = training->histories[which[i]];
		hopper_saved *saved = &training->saved[which[i]];
		/* What comes after its checkpoint is not all there yet, or will be put right. */
		int32		until = saved->written ? PG_INT32_MAX : saved->stored;

		add_metrics(&rows, training, which[i], saved->stored_until, until);
		if (history->n > 0)
			saved->stored_until =
				Min(until, hopper_history_at(history, history->n - 1)->iteration);
		if (rows.n >= VALUES_AT_ONCE)
		{
			hopper_own_rows_insert(run, "all_trial_metrics", &rows);
			rows.n = 0;
		}
		CHECK_FOR_INTERRUPTS();
	}
	hopper_own_rows_insert(run, "all_trial_metrics", &rows);
}

static const char *
parameters_of(const hopper_training *training, int at)
{
	const hopper_config *config = &training->configs[at];

	return hopper_from_utf8(training->chosen ? training->chosen(training, at)
							: HOPPER_CORE_ROWS(config_json, config->model_id,
											   config->compile_params,
											   config->fit_params)->cells[0]);
}

Datum
hopper_store_parameters(const hopper_training *training)
{
	const char **all = palloc(Max(training->n_configs, 1) * sizeof(char *));

	for (int i = 0; i < training->n_configs; i++)
		all[i] = parameters_of(training, i);
	return hopper_texts_datum(training->n_configs, all);
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
	static const char *const names[] = {"trial", "earlier"};
	hopper_param params[lengthof(names) + 1];
	char	   *query;
	hopper_own_rows rows = hopper_own_rows_new(lengthof(names), names, n);

	for (int i = 0; i < n; i++)
	{
		hopper_saved *saved = &training->saved[which[i]];

		if (saved->stored_until <= saved->earlier)
			continue;
		hopper_own_rows_add(&rows, HOPPER_PARAMS(HOPPER_INT4(training->configs[which[i]].mst_key),
									 HOPPER_INT4(saved->earlier)));
		saved->stored_until = saved->earlier;
	}
	if (rows.n == 0)
		return;
	query = hopper_own_rows_query(&rows, run, params);
	hopper_own_change(lengthof(params), params,
					  "DELETE FROM @extschema@.all_trial_metrics m USING (SELECT%s) n"
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
write_trials(int64 run, const hopper_own_rows *rows)
{
	hopper_param params[HOPPER_OWN_COLUMNS + 1];
	char	   *query = hopper_own_rows_query(rows, run, params);

	hopper_own_change(rows->width + 1, params,
					  "UPDATE @extschema@.all_trials t SET (%s) = (%s) FROM (SELECT%s) n"
					  " WHERE t.run = $1 AND t.trial = n.trial",
					  hopper_own_rows_names(rows, ""), hopper_own_rows_names(rows, "n."), query);
	if (SPI_processed == (uint64) rows->n)
		return;
	hopper_own_change(rows->width + 1, params, "INSERT INTO @extschema@.all_trials (run, %s)"
					  " SELECT $1, n.* FROM (SELECT%s) n WHERE NOT EXISTS (SELECT"
					  " FROM @extschema@.all_trials t WHERE t.run = $1 AND t.trial = n.trial)",
					  hopper_own_rows_names(rows, ""), query);
}

void
hopper_store_trials(int64 run, hopper_training *training, const int *which, int n, bool first)
{
	hopper_own_rows rows = hopper_own_rows_new(lengthof(trial_names), trial_names, n);

	for (int i = 0; i < n; i++)
	{
		static const hopper_model_result nothing;
		const hopper_config *config = &training->configs[which[i]];
		const hopper_model_result *result = training->results ? &training->results[which[i]]
			: &nothing;
		hopper_standing standing;

		hopper_standing_of(training, which[i], &standing);
		hopper_own_rows_add(&rows, HOPPER_PARAMS(
			HOPPER_INT4(config->mst_key),
			HOPPER_IF(config->model_id != 0, HOPPER_INT4(config->model_id)),
			hopper_utf8_param(config->compile_params),
			hopper_utf8_param(config->fit_params),
			HOPPER_PARAM(TEXTOID, hopper_store_digest(config->model_arch)),
			hopper_text_param(training->results ? hopper_status_words(result) : "waiting"),
			HOPPER_INT4(result->iterations), HOPPER_SECONDS(result->seconds_training),
			hopper_text_param(result->digest[0] ? result->digest : NULL),
			hopper_utf8_param(result->status == HOPPER_MODEL_FAILED ? result->error : NULL),
			hopper_text_param(parameters_of(training, which[i])),
			HOPPER_IF(standing.value.known, HOPPER_FLOAT8(standing.value.value)),
			hopper_text_param(standing.latest),
			HOPPER_IF(standing.begun, HOPPER_SECONDS(standing.began)),
			HOPPER_IF(standing.begun, HOPPER_SECONDS(standing.elapsed)),
			HOPPER_INT4(hopper_training_earlier(training, which[i])),
			HOPPER_INT8(trial_id(run, config->mst_key)),
			hopper_text_param(psprintf("%032llx",
									   (unsigned long long) trial_id(run, config->mst_key)))));
		CHECK_FOR_INTERRUPTS();
	}
	if (first)
		hopper_own_rows_insert(run, "all_trials", &rows);
	else if (rows.n > 0)
		write_trials(run, &rows);
	if (training->results)
		write_metrics(run, training, which, n);
}
