/*
 * results.c
 *		What is in the tables of a search: trials, results, decisions, and what MADlib has in the
 *		models' own.
 */
#include "pg/search/automl.h"

#include "utils/json.h"

#include "pg/train/outputs.h"
#include "pg/train/ranking.h"

static const char *
cell_literal(const char *cell)
{
	return cell ? hopper_literal(hopper_from_utf8(cell)) : "NULL";
}

/* A key of the search's trials, which count from 0: mst_key counts from 1. */
static const char *
key_literal(const char *trial)
{
	return trial ? psprintf("%d", hopper_key_of_trial(strtol(trial, NULL, 10))) : "NULL";
}

/* --- lists of the core, row by row --- */

typedef void (*take_row_fn) (const hopper_automl *run, const char *const *cells, void *state);

static void
each_row_of(const hopper_automl *run, hopper_rows *rows, take_row_fn take, void *state)
{
	for (int row = 0; row < rows->n_rows; row++)
	{
		CHECK_FOR_INTERRUPTS();
		take(run, rows->cells + (size_t) row * rows->n_columns, state);
	}
	pfree(rows);
}

/* `list`: a function of the core, such as results. */
static void
each_row(const hopper_automl *run,
		 int (*list) (const hopper_search *search, hopper_rows **rows, hopper_error *error),
		 take_row_fn take, void *state)
{
	each_row_of(run, hopper_made(list(run->search, HOPPER_MADE)), take, state);
}

static void
each_trial(const hopper_automl *run, int64 first, take_row_fn take, void *state)
{
	each_row_of(run, hopper_made(hopper_core()->search.trials(run->search, first, HOPPER_MADE)),
				take, state);
}

/* --- trials --- */

/* `state`: the run, which grows. */
static void
take_new_trial(const hopper_automl *unused, const char *const *cells, void *state)
{
	hopper_automl *run = state;
	int32		model_id = atoi(cells[1]);
	const char *impossible = NULL;
	hopper_search_trial *trial;

	hopper_grow(run->trials, run->n_trials + 1, run->allocated);
	/* What an earlier search has tried is not trained here. */
	if (run->n_trials < run->n_known && run->known_models[run->n_trials] != 0)
		model_id = run->known_models[run->n_trials];
	else if (strcmp(cells[7], "earlier") != 0)
	{
		impossible = hopper_search_problem(run, model_id, cells[9], cells[2], cells[3]);
		if (cells[9] && impossible == NULL)
			model_id = hopper_search_network(run, model_id, cells[9], cells[10]);
		if (impossible == NULL)
			hopper_insert(&run->tables.selection, "VALUES (%s, %d, %s, %s)",
						  key_literal(cells[0]), model_id, cell_literal(cells[2]),
						  cell_literal(cells[3]));
	}
	trial = &run->trials[run->n_trials++];
	trial->model_id = model_id;
	trial->impossible = impossible;
	trial->parameters = pstrdup(cells[4]);
}

void
hopper_search_write_new_trials(hopper_automl *run)
{
	each_trial(run, run->n_trials, take_new_trial, run);
}

static void
write_trial(const hopper_automl *run, const char *const *cells, void *state)
{
	hopper_insert(&run->tables.trials,
				  "VALUES (%s, %s, %s, %s, %s, %s, %d, %s, %s, %s, %s, %s, %s)",
				  key_literal(cells[0]), cell_literal(cells[4]), cells[5],
				  cell_literal(cells[6]), cell_literal(cells[7]), key_literal(cells[8]),
				  run->trials[atoi(cells[0])].model_id, cell_literal(cells[2]),
				  cell_literal(cells[3]), cell_literal(cells[11]), cell_literal(cells[12]),
				  cell_literal(cells[13]), cell_literal(cells[14]));
}

/*
 * Configurations that could not be built stand among the models' as those that failed do.
 * `state`: the models' tables.
 */
static void
write_refused(const hopper_automl *run, const char *const *cells, void *state)
{
	int64		trial = strtol(cells[0], NULL, 10);
	hopper_config config = {0};

	/* What was proposed when the search ended was not told of. */
	if (run->trials[trial].impossible == NULL || strcmp(cells[7], "failed") != 0)
		return;
	config.mst_key = hopper_key_of_trial(trial);
	config.model_id = run->trials[trial].model_id;
	config.compile_params = cells[2];
	config.fit_params = cells[3];
	hopper_outputs_write_refused(state, &config, hopper_to_utf8(run->trials[trial].impossible));
}

/* --- what was asked for --- */

/* "key": "text", or nothing where there is no text. */
static void
add_member(StringInfo json, const char *key, const char *text)
{
	if (text == NULL)
		return;
	appendStringInfo(json, "%s\"%s\": ", json->data[json->len - 1] == '{' ? "" : ", ", key);
	escape_json(json, hopper_from_utf8(text));
}

/* The columns of describe_space() that say what may be chosen. */
static void
add_dimension(const hopper_automl *run, const char *const *cells, void *state)
{
	static const char *const keys[] = {"parameter", "type", "scale", "low", "high", "step"};
	StringInfo	json = state;

	appendStringInfoString(json, json->data[json->len - 1] == '[' ? "{" : ", {");
	for (int i = 0; i < lengthof(keys); i++)
		add_member(json, keys[i], cells[i]);
	if (cells[lengthof(keys)])
		appendStringInfo(json, ", \"choices\": %s", hopper_from_utf8(cells[lengthof(keys)]));
	appendStringInfoChar(json, '}');
}

const char *
hopper_search_json(const hopper_automl *run)
{
	StringInfo	json = makeStringInfo();

	appendStringInfoChar(json, '{');
	add_member(json, "method", run->options.algorithm);
	add_member(json, "arguments", run->options.arguments);
	add_member(json, "objective", run->options.objective);
	add_member(json, "constraints", run->options.constraints);
	appendStringInfoString(json, ", \"space\": [");
	each_row_of(run, hopper_made(hopper_core()->search.describe_space(&run->options, HOPPER_MADE)),
				add_dimension, json);
	appendStringInfoString(json, "]}");
	return json->data;
}

/* --- what became of them --- */

static void
write_result(const hopper_automl *run, const char *const *cells, void *state)
{
	hopper_insert(&run->tables.rungs, "VALUES (%s, %s, %s, %s, %s, %s, %s)",
				  key_literal(cells[0]), cells[1], cell_literal(cells[2]), cell_literal(cells[3]),
				  cell_literal(cells[4]), cell_literal(cells[5]), cell_literal(cells[6]));
}

static void
write_decision(const hopper_automl *run, const char *const *cells, void *state)
{
	hopper_insert(&run->tables.decisions, "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
				  cells[0], cell_literal(cells[1]), key_literal(cells[2]), cell_literal(cells[3]),
				  cell_literal(cells[4]), cells[5], cell_literal(cells[6]), key_literal(cells[7]),
				  cell_literal(cells[8]), cell_literal(cells[9]));
}

/* `state`: the text of the list so far. */
static void
add_importance(const hopper_automl *run, const char *const *cells, void *state)
{
	StringInfo	json = state;

	appendStringInfoString(json, json->len == 0 ? "{\"parameter\": " : ", {\"parameter\": ");
	escape_json(json, hopper_from_utf8(cells[0]));
	appendStringInfo(json, ", \"importance\": %s}", cells[1]);
}

/* [{"parameter": "lr", "importance": 0.7}, ...] */
static char *
importance_json(const hopper_automl *run)
{
	StringInfo	json = makeStringInfo();

	each_row(run, hopper_core()->search.importance, add_importance, json);
	return psprintf("[%s]", json->data);
}

static void
add_info_columns(const hopper_outputs *outputs)
{
	hopper_exec("ALTER TABLE %s ADD COLUMN s pg_catalog.int4, ADD COLUMN i pg_catalog.int4,"
				" ADD COLUMN " HOPPER_SEARCH_PLACE " pg_catalog.int4", outputs->info.quoted);
	hopper_comment_column(&outputs->info, HOPPER_SEARCH_PLACE,
						  "in the order in which the search compared them");
}

static void
add_summary_columns(const hopper_outputs *outputs)
{
	hopper_exec("ALTER TABLE %s ADD COLUMN automl_method pg_catalog.text,"
				" ADD COLUMN automl_params pg_catalog.text,"
				" ADD COLUMN random_state pg_catalog.text,"
				" ADD COLUMN objective pg_catalog.text, ADD COLUMN constraints pg_catalog.text,"
				" ADD COLUMN parameter_importance pg_catalog.text",
				outputs->summary.quoted);
}

static void
play_end(void *state)
{
	const hopper_automl *run = state;
	hopper_outputs outputs = hopper_outputs_named(&run->tables.output);

	hopper_outputs_create(&outputs, &run->train, true);
	add_info_columns(&outputs);
	add_summary_columns(&outputs);
	hopper_insert(&run->tables.trials, "(mst_key) VALUES (1)");
	hopper_insert(&run->tables.rungs, "(mst_key) VALUES (1)");
	hopper_insert(&run->tables.decisions, "(mst_key) VALUES (1)");
}

void
hopper_search_rehearse(const hopper_automl *run)
{
	hopper_rehearse(play_end, (void *) run);
}

void
hopper_search_finish_tables(const hopper_automl *run, int64 best)
{
	hopper_outputs outputs = hopper_outputs_named(&run->tables.output);
	hopper_best first;

	each_trial(run, 0, write_trial, NULL);
	each_row(run, hopper_core()->search.results, write_result, NULL);
	each_row(run, hopper_core()->search.decisions, write_decision, NULL);
	each_trial(run, 0, write_refused, &outputs);
	hopper_exec("UPDATE %s SET (models_trained, models_failed) ="
				" ((SELECT count(*) FROM %s WHERE status <> 'failed'),"
				" (SELECT count(*) FROM %s WHERE status = 'failed'))",
				outputs.summary.quoted, outputs.info.quoted, outputs.info.quoted);
	hopper_exec("DELETE FROM %s WHERE mst_key <> %d", run->tables.selection.quoted,
				hopper_key_of_trial(best));
	add_info_columns(&outputs);
	hopper_exec("UPDATE %s o SET s = d.s, i = d.i FROM (SELECT mst_key, max(s) AS s, max(i) AS i"
				" FROM %s WHERE mst_key IS NOT NULL GROUP BY mst_key) d"
				" WHERE d.mst_key = o.mst_key",
				run->tables.info.quoted, run->tables.decisions.quoted);
	hopper_exec("UPDATE %s o SET " HOPPER_SEARCH_PLACE " = t.place FROM %s t"
				" WHERE t.mst_key = o.mst_key", run->tables.info.quoted, run->tables.trials.quoted);
	/* Of a last opening that had nothing left to train, no training has said it. */
	if (run->settings.rank_by)
		hopper_exec("UPDATE %s SET best_metric = %s", outputs.summary.quoted,
					hopper_literal(psprintf("%s %s", run->validation ? "validation" : "training",
											run->settings.rank_by)));
	/* Training took the metric's best. */
	first = hopper_outputs_best(&outputs, NULL);
	hopper_exec("UPDATE %s SET best_mst_key = %d, best_metric = %s, best_value = %s",
				outputs.summary.quoted, first.mst_key, hopper_literal(first.metric),
				psprintf("'%.17g'", first.value));
	add_summary_columns(&outputs);
	hopper_exec("UPDATE %s SET automl_method = %s, automl_params = %s,"
				" random_state = '" INT64_FORMAT "',"
				" objective = %s, constraints = %s, parameter_importance = %s",
				outputs.summary.quoted, cell_literal(run->options.algorithm),
				cell_literal(run->options.arguments), (int64) run->options.seed,
				cell_literal(run->options.objective), cell_literal(run->options.constraints),
				hopper_literal(importance_json(run)));
	/* What no further training wants is the most of the bytes. */
	hopper_exec("DELETE FROM %s WHERE mst_key IN (SELECT mst_key FROM %s WHERE status <> 'done')",
				run->tables.state.quoted, run->tables.trials.quoted);
	if (run->options.keep != HOPPER_NO_BUDGET)
	{
		/* One that failed has a place, too, but no weights. */
		hopper_exec("DELETE FROM %s WHERE mst_key NOT IN (SELECT mst_key FROM %s"
					" WHERE status <> 'earlier' ORDER BY place LIMIT " INT64_FORMAT ")",
					run->tables.output.quoted, run->tables.trials.quoted, run->options.keep);
		hopper_exec("DELETE FROM %s WHERE mst_key NOT IN (SELECT mst_key FROM %s)",
					run->tables.state.quoted, run->tables.output.quoted);
	}
}
