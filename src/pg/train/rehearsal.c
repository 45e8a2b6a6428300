/*
 * rehearsal.c
 *		The end of a run, tried before the run trains.
 *
 * Everything that a run writes at its end is written once with made-up results, by the same
 * functions, and taken back: rights, columns, triggers, rules, policies and locks that would stop
 * it then stop it now. What a rehearsal with made-up values cannot find, constraints on values, is
 * looked for in the catalogs.
 */
#include "pg/train/output_rows.h"

#include <sys/statvfs.h>

#include "common/relpath.h"
#include "commands/tablespace.h"

typedef struct rehearsal
{
	const hopper_outputs *outputs;
	bool		refill;
	hopper_training training;
	hopper_run_record record;
} rehearsal;

static void
rehearsal_context(void *arg)
{
	const hopper_training *training = arg;

	errcontext("%s \"%s\" before its first iteration, trying its output tables",
			   training->function, training->shown);
}

/* --- what the catalogs tell --- */

/* The columns of our primary key as pg_index has them, "1 2"; the summary has none. */
static char *
own_key(const hopper_outputs *outputs, const hopper_name *table, Oid relation)
{
	if (table == &outputs->summary)
		return "";
	if (table == &outputs->state)
		return psprintf("%d %d", get_attnum(relation, "mst_key"), get_attnum(relation, "part"));
	return psprintf("%d", get_attnum(relation, "mst_key"));
}

/* Also what computes values out of rows: those of a rehearsal do not tell whether that fails. */
static void
refuse_constraints(const hopper_outputs *outputs)
{
	const hopper_name *tables[] =
	{&outputs->model, &outputs->state, &outputs->info, &outputs->summary};

	for (int i = 0; i < lengthof(tables); i++)
	{
		Oid			relation = hopper_relation_oid(tables[i], false);

		/* Primary keys are ours; NOT NULL is found by the rehearsal. */
		if (hopper_select("SELECT conname, conrelid <> %u, 'constraint' FROM pg_constraint"
						  " WHERE (conrelid = %u OR confrelid = %u) AND contype NOT IN ('p', 'n')"
						  " UNION ALL SELECT relname, false, CASE WHEN indisunique"
						  "  THEN 'constraint' ELSE 'index' END"
						  " FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid"
						  " WHERE indrelid = %u AND (indisunique AND NOT indisprimary"
						  "  OR indexprs IS NOT NULL OR indpred IS NOT NULL"
						  "  OR indisprimary AND indkey::text <> %s)"
						  " UNION ALL SELECT attname, false, 'generated column'"
						  " FROM pg_attribute WHERE attrelid = %u AND NOT attisdropped"
						  "  AND " HOPPER_IS_GENERATED
						  " ORDER BY 1 LIMIT 1", relation, relation, relation, relation,
						  hopper_literal(own_key(outputs, tables[i], relation)), relation) > 0)
			hopper_unmet(errmsg("%s \"%s\" %s \"%s\" stands in the way of a warm start",
								hopper_cell(0, 3), hopper_cell(0, 1),
								strcmp(hopper_cell(0, 2), "t") == 0 ? "that refers to" : "of",
								tables[i]->shown),
						 errdetail("Whether the new rows suit it would be found out after the "
								   "training only."),
						 errhint("Drop it, or train into new tables."));
	}
}

void
hopper_outputs_refuse_losses(const hopper_outputs *outputs)
{
	hopper_table tables[HOPPER_OUTPUT_TABLES];

	refuse_constraints(outputs);
	hopper_outputs_tables(outputs, tables);
	for (int i = 0; i < HOPPER_OUTPUT_TABLES; i++)
	{
		const hopper_name *table = &tables[i].name;
		Oid			relation = hopper_relation_oid(table, false);

		if (hopper_select("SELECT relname, 'index' FROM pg_index JOIN pg_class"
						  "  ON pg_class.oid = indexrelid"
						  " WHERE indrelid = %u AND NOT indisprimary"
						  " UNION ALL SELECT tgname, 'trigger' FROM pg_trigger"
						  " WHERE tgrelid = %u AND NOT tgisinternal"
						  " UNION ALL SELECT rulename, 'rule' FROM pg_rewrite"
						  " WHERE ev_class = %u"
						  " ORDER BY 1 LIMIT 1", relation, relation, relation) > 0)
			hopper_unmet(errmsg("%s \"%s\" of \"%s\" stands in the way of a warm start as a run",
								hopper_cell(0, 2), hopper_cell(0, 1), table->shown),
						 errdetail("The run's tables take the place of the old ones, which would "
								   "lose it."),
						 errhint("Drop it, or call the function itself, which keeps the tables."));
	}
}

/* --- what the disk tells --- */

/*
 * All models twice, as weights and in their states: what the results take at least. On a cluster
 * the disks are the segments'.
 */
static void
require_disk(const hopper_outputs *outputs, const hopper_training *planned)
{
	Oid			tablespace = get_rel_tablespace(hopper_relation_oid(&outputs->model, false));
	struct statvfs disk;
	double		needed;
	double		free_bytes;

	if (HOPPER_DATA_ON_SEGMENTS)
		return;
	if (!OidIsValid(tablespace))
		tablespace = MyDatabaseTableSpace;
	if (statvfs(GetDatabasePath(MyDatabaseId, tablespace), &disk) != 0)
		return;					/* no table of this database is there yet */
	free_bytes = (double) disk.f_bavail * (double) disk.f_frsize;
	needed = 2.0 * (double) hopper_weights_of_all(planned->configs, planned->n_configs,
												  &planned->train->desc);
	if (needed > free_bytes)
		hopper_raise(ERRCODE_DISK_FULL,
					 errmsg("the models need %s on disk at least, but %s are free",
							hopper_bytes_words((int64) Min(needed, 9e18)),
							hopper_bytes_words((int64) Min(free_bytes, 9e18))),
					 errdetail("Their weights and states go to tablespace \"%s\".",
							   get_tablespace_name(tablespace)),
					 errhint("Train fewer configurations at once, or set default_tablespace."));
}

/* --- the rehearsal --- */

/* One model that did well, or failed: what an end may have to write. */
static void
make_up(rehearsal *play, const hopper_training *planned)
{
	hopper_training *training = &play->training;
	hopper_config *config = palloc(sizeof(hopper_config));
	hopper_model_result *result = palloc0(sizeof(hopper_model_result));
	hopper_event *event = palloc0(sizeof(hopper_event));
	const hopper_rank *rank = &planned->ranking->ranks[0];
	int			last = Max(rank->metric, 0);

	*training = *planned;
	*config = planned->configs[0];
	training->n_configs = 1;
	training->configs = config;
	training->results = result;
	training->saved = palloc0(sizeof(hopper_saved));
	training->histories = palloc(sizeof(hopper_history *));
	training->histories[0] = hopper_history_new(config->mst_key, 1, 0);
	training->timeline = hopper_timeline_new(training);
	hopper_timeline_add(training->timeline, 0, 0, &(hopper_visit) {.mst_key = config->mst_key});

	result->status = HOPPER_MODEL_DONE;
	result->iterations = result->kept_iteration = 1;
	training->rehearsed = true;
	result->n_weights = 1;
	result->state_size = 1;
	result->n_metrics = event->n_metrics = last + 1;
	strlcpy(result->loss_type, "loss", sizeof(result->loss_type));
	/* That it is ranked by; the others' names are asked for by nobody. */
	strlcpy(result->metrics_type[last],
			rank->metric < 0 ? "accuracy" : hopper_to_utf8(rank->name),
			sizeof(result->metrics_type[last]));
	event->iteration = 1;
	event->split = HOPPER_SPLIT_TRAIN;
	hopper_history_record(training->histories[0], event);
	event->split = HOPPER_SPLIT_VALID;
	if (planned->valid)
		hopper_history_record(training->histories[0], event);
}

static void
require_rows(const hopper_name *table, const char *condition, uint64 expected)
{
	if (hopper_select_latest("SELECT 1 FROM %s%s LIMIT 2", table->quoted, condition) != expected)
		hopper_outputs_refuse_table(table, expected ? "take" : "give up");
}

/* Rows that another configuration has left stay out of sight, so that it stays quick. */
static void
clear_played(const rehearsal *play, const char *of_key)
{
	const hopper_outputs *outputs = play->outputs;

	hopper_change("DELETE FROM %s%s", outputs->model.quoted, of_key);
	hopper_change("DELETE FROM %s%s", outputs->state.quoted, of_key);
	hopper_change("DELETE FROM %s", outputs->info.quoted);
	hopper_change("DELETE FROM %s", outputs->summary.quoted);
	require_rows(&outputs->model, of_key, 0);
	require_rows(&outputs->state, of_key, 0);
	require_rows(&outputs->info, "", 0);
	require_rows(&outputs->summary, "", 0);
}

static void
play_end(void *state)
{
	rehearsal  *play = state;
	const hopper_outputs *outputs = play->outputs;
	hopper_config *config = (hopper_config *) play->training.configs;
	hopper_model_result *result = play->training.results;
	char	   *of_key;

	/* a row that is there shows whether it can go */
	if (play->refill && hopper_select("SELECT mst_key FROM %s LIMIT 1", outputs->model.quoted) > 0)
		config->mst_key = hopper_key_cell(&outputs->model, 0, 1);
	of_key = psprintf(" WHERE mst_key OPERATOR(pg_catalog.=) %d", config->mst_key);

	if (play->refill)
		clear_played(play, of_key);
	hopper_outputs_write_models(&play->training);
	require_rows(&outputs->model, of_key, 1);
	require_rows(&outputs->state, of_key, 1);
	require_rows(&outputs->info, of_key, 1);
	/* New tables are as the query for the best one wants them. */
	if (play->refill)
		play->record.best = hopper_outputs_best(outputs, play->record.rank_by);
	hopper_outputs_write_summary(outputs, &play->training, &play->record);
	require_rows(&outputs->summary, "", 1);
	hopper_journal_write(&play->training, hopper_relation_oid(&outputs->model, false),
						 play->record.started);

	clear_played(play, of_key);
	result->status = HOPPER_MODEL_FAILED;
	memset(play->training.saved, 0, sizeof(hopper_saved));
	play->training.histories[0]->n = 0;
	hopper_outputs_write_models(&play->training);
	require_rows(&outputs->info, of_key, 1);
}

void
hopper_outputs_rehearse(const hopper_outputs *outputs, const hopper_training *planned,
						const hopper_run_record *record)
{
	ErrorContextCallback context = {error_context_stack, rehearsal_context, (void *) planned};
	rehearsal	play = {.outputs = outputs,.refill = record->warm_start,.record = *record};

	error_context_stack = &context;
	require_disk(outputs, planned);
	hopper_journal_hold();
	/*
	 * Tables that the statement has just made have nothing that would stop it. The thirty
	 * statements of a rehearsal would take segments longer than a small training.
	 */
	if (HOPPER_DATA_ON_SEGMENTS && !play.refill && !hopper_event_triggers_exist())
	{
		error_context_stack = context.previous;
		return;
	}
	make_up(&play, planned);
	if (play.refill)
	{
		refuse_constraints(outputs);
		hopper_outputs_check_columns(outputs, planned->train);
	}
	hopper_rehearse(play_end, &play);
	error_context_stack = context.previous;
}
