/*
 * results.c
 *		What is in the tables of a search: trials, results, decisions, and what MADlib has in the
 *		models' own.
 */
#include "pg/search/automl.h"

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

static hopper_rows *
trials_from(const hopper_automl *run, int64 first)
{
	return HOPPER_CORE_ROWS(search.trials, run->search, first);
}

/* A trial, in the places of a table's columns. */
#define KEY(place) (~(place))

/* Writes rows of the core; `places`: where in a row the values of the table's columns are. */
static void
write_rows(const hopper_name *table, const hopper_rows *rows, int n, const int *places)
{
	for (int row = 0; row < rows->n_rows; row++)
	{
		const char *const *cells = hopper_row(rows, row);
		StringInfo	values = makeStringInfo();

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < n; i++)
			appendStringInfo(values, "%s%s", i ? ", " : "",
							 places[i] < 0 ? key_literal(cells[KEY(places[i])])
							 : cell_literal(cells[places[i]]));
		hopper_insert(table, "VALUES (%s)", values->data);
	}
}

/* --- trials --- */

static void
take_new_trial(hopper_automl *run, const char *const *cells)
{
	int32		model_id = atoi(cells[1]);
	const char *impossible = NULL;
	hopper_search_trial *trial;

	hopper_grow(run->trials, run->n_trials + 1, run->allocated);
	/* What an earlier search has tried is not trained here. */
	if (run->n_trials < run->n_known && run->known_models[run->n_trials] != 0)
		model_id = run->known_models[run->n_trials];
	else if (strcmp(cells[7], "earlier") != 0)
	{
		hopper_config config = {.mst_key = 1};

		if (hopper_search_set_config(run, &config, model_id, cells[9], cells[2], cells[3]))
			impossible = hopper_search_problem(run, &config);
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
	hopper_rows *rows = trials_from(run, run->n_trials);

	for (int row = 0; row < rows->n_rows; row++)
	{
		CHECK_FOR_INTERRUPTS();
		take_new_trial(run, hopper_row(rows, row));
	}
	pfree(rows);
}

/* Configurations that could not be built stand among the models' as those that failed do. */
static void
write_refused(const hopper_automl *run, const hopper_outputs *outputs, const char *const *cells)
{
	const hopper_search_trial *trial = &run->trials[atoi(cells[0])];
	hopper_config config = {.model_id = trial->model_id,.compile_params = cells[2],
	.fit_params = cells[3]};

	/* What was proposed when the search ended was not told of. */
	if (trial->impossible == NULL || strcmp(cells[7], "failed") != 0)
		return;
	config.mst_key = hopper_key_of_trial(atoi(cells[0]));
	hopper_outputs_write_refused(outputs, &config, hopper_to_utf8(trial->impossible));
}

static void
write_trials(const hopper_automl *run, const hopper_outputs *outputs)
{
	static const int places[] = {KEY(0), 4, 5, 6, 7, KEY(8), 1, 2, 3, 11, 12, 13, 14};
	hopper_rows *rows = trials_from(run, 0);

	for (int row = 0; row < rows->n_rows; row++)
	{
		/* Its own where the search has filled in a template. */
		((const char **) hopper_row(rows, row))[1] = psprintf("%d", run->trials[row].model_id);
		write_refused(run, outputs, hopper_row(rows, row));
	}
	write_rows(&run->tables.trials, rows, lengthof(places), places);
	pfree(rows);
}

/* --- what was asked for --- */

const char *
hopper_search_json(const hopper_automl *run)
{
	return hopper_from_utf8(HOPPER_CORE_ROWS(search.describe, &run->options)->cells[0]);
}

/* --- what became of them --- */

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
	static const int results[] = {KEY(0), 1, 2, 3, 4, 5, 6};
	static const int decisions[] = {0, 1, KEY(2), 3, 4, 5, 6, KEY(7), 8, 9};
	hopper_outputs outputs = hopper_outputs_named(&run->tables.output);
	hopper_best first;

	write_trials(run, &outputs);
	write_rows(&run->tables.rungs,
			   HOPPER_CORE_ROWS(search.results, run->search),
			   lengthof(results), results);
	write_rows(&run->tables.decisions,
			   HOPPER_CORE_ROWS(search.decisions, run->search),
			   lengthof(decisions), decisions);
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
	if (run->asked.record.rank_by)
		hopper_exec("UPDATE %s SET best_metric = %s", outputs.summary.quoted,
					hopper_literal(psprintf("%s %s", run->validation ? "validation" : "training",
											run->asked.record.rank_by)));
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
				cell_literal(HOPPER_CORE_ROWS(search.importance, run->search)->cells[0]));
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
