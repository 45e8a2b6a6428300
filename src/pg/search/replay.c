/*
 * replay.c
 *		The journal of a search that outlives its sessions.
 *
 * Which trials there are, and how far they train, follows from results alone (search.h). So a
 * search is restored by telling its results again, and no copy of its memory is kept. A row is
 * written in the transaction that writes the model of its result.
 */
#include "pg/search/automl.h"

#include "pg/server/own_tables.h"

#define TABLE "all_search_results"

void
hopper_search_note(hopper_automl *run, int64 trial, const hopper_search_told *told,
				   const char *reason, const hopper_search_wish *wish)
{
	hopper_param values = HOPPER_NULL(FLOAT8ARRAYOID);
	hopper_param last = values;

	if (told && told->failure == NULL)
	{
		values = HOPPER_PARAM(FLOAT8ARRAYOID, hopper_floats_datum(told->n, told->values));
		last = HOPPER_PARAM(FLOAT8ARRAYOID, hopper_floats_datum(told->n, told->last));
	}
	run->n_told++;
	hopper_own_change(HOPPER_PARAMS(HOPPER_INT8(run->number), HOPPER_INT4(run->n_told),
									HOPPER_INT4(run->batch),
									HOPPER_IF(trial >= 0, HOPPER_INT4(hopper_key_of_trial(trial))),
									HOPPER_IF(told,
											  HOPPER_INT4(told ? (int32) told->iterations : 0)),
									values, last, hopper_text_param(reason),
									HOPPER_FLOAT8(hopper_seconds_since(run->started)),
									hopper_text_param(wish ? wish->event : NULL),
									HOPPER_IF(wish, HOPPER_TIME(wish ? wish->at : 0))),
					  "INSERT INTO @extschema@." TABLE " (run, number, batch, trial,"
					  " iterations, objectives, last_objectives, error, elapsed, steering, wished)"
					  " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)");
}

/* --- telling it again --- */

typedef struct journal_row
{
	int			batch;
	int64		trial;			/* -1: nothing more was to begin */
	double		elapsed;
	hopper_search_told told;
	hopper_search_wish wish;	/* its event is NULL: the search was not steered */
} journal_row;

static journal_row *
read_journal(const hopper_automl *run, uint64 *n)
{
	journal_row *rows;

	*n = hopper_own_select("SELECT batch, coalesce(trial, 0), coalesce(iterations, 0), objectives,"
						   " last_objectives, error, elapsed, steering FROM @extschema@." TABLE
						   " WHERE run = " INT64_FORMAT " ORDER BY number", run->number);
	rows = palloc0(Max(*n, 1) * sizeof(journal_row));
	for (uint64 i = 0; i < *n; i++)
	{
		journal_row *row = &rows[i];
		const char *error = hopper_cell(i, 6);
		int32		n_last = 0;

		row->batch = (int) hopper_int_cell(NULL, i, 1, 0, PG_INT32_MAX);
		row->trial = hopper_trial_of_key((int32) hopper_int_cell(NULL, i, 2, 0, PG_INT32_MAX));
		row->told.iterations = hopper_int_cell(NULL, i, 3, 0, PG_INT32_MAX);
		row->told.values = hopper_float_cells(i, 4, &row->told.n);
		row->told.last = hopper_float_cells(i, 5, &n_last);
		row->told.failure = hopper_to_utf8(error);
		row->elapsed = hopper_float_value(i, 7);
		row->wish.event = hopper_cell(i, 8) ? pstrdup(hopper_cell(i, 8)) : NULL;
		row->wish.mst_key = hopper_key_of_trial(row->trial);
		row->wish.text = error ? pstrdup(error) : NULL;
		CHECK_FOR_INTERRUPTS();
	}
	SPI_freetuptable(SPI_tuptable);
	return rows;
}

/* The models of trials that have their rows already. */
static void
read_known_models(hopper_automl *run)
{
	uint64		n = hopper_select("SELECT mst_key, model_id FROM %s ORDER BY mst_key",
								  run->tables.selection.quoted);

	run->n_known = n == 0 ? 0 : hopper_key_cell(&run->tables.selection, n - 1, 1);
	run->known_models = palloc0(Max(run->n_known, 1) * sizeof(int32));
	for (uint64 row = 0; row < n; row++)
		run->known_models[hopper_trial_of_key(hopper_key_cell(&run->tables.selection, row, 1))] =
			hopper_key_cell(&run->tables.selection, row, 2);
	SPI_freetuptable(SPI_tuptable);
}

typedef struct underway
{
	hopper_search_assignment *work;
	int			n;
	int			allocated;
} underway;

static void
ask(hopper_automl *run, underway *list)
{
	hopper_search_assignment work[HOPPER_MAX_ASSIGNMENTS];
	int			n;

	while (hopper_search_ask(run, work, &n))
		for (int i = 0; i < n; i++)
		{
			hopper_grow(list->work, list->n + 1, list->allocated);
			list->work[list->n++] = work[i];
		}
}

/* The assignment of the trial ends. */
static void
take(const hopper_automl *run, underway *list, int64 trial)
{
	int			at = 0;

	while (at < list->n && list->work[at].trial != trial)
		at++;
	if (at == list->n)
		hopper_unmet(errmsg("the search of run " INT64_FORMAT " does not lead to what it has tried",
							run->number),
					 errdetail("It has a result of configuration %d, which does not train at that "
							   "place.", hopper_key_of_trial(trial)),
					 errhint("Its architectures or tables have changed since it was created: "
							 "put them back as they were, or create another run."));
	memmove(&list->work[at], &list->work[at + 1], (list->n - at - 1) * sizeof(*list->work));
	list->n--;
}

hopper_search_assignment *
hopper_search_replay(hopper_automl *run, int *n)
{
	underway	list = {NULL};
	uint64		n_rows;
	journal_row *rows = read_journal(run, &n_rows);
	int			batch = -1;

	read_known_models(run);
	run->replays = true;
	for (uint64 i = 0; i < n_rows; i++)
	{
		const journal_row *row = &rows[i];

		if (row->wish.event)
		{
			if (row->batch != batch)
				ask(run, &list);
			batch = row->batch;
			(void) hopper_search_heed(run, &row->wish);
			continue;
		}
		if (row->trial < 0)
		{
			HOPPER_CORE(search.stop, run->search, row->told.failure);
			run->stopped = true;
			continue;
		}
		if (row->batch != batch)
			ask(run, &list);
		batch = row->batch;
		take(run, &list, row->trial);
		hopper_search_tell_result(run, row->trial, &row->told);
		CHECK_FOR_INTERRUPTS();
	}
	ask(run, &list);
	/* Their states went when they were stopped. */
	while (hopper_core()->search.next_stopped(run->search) >= 0)
		CHECK_FOR_INTERRUPTS();
	run->replays = false;
	run->n_told = (int) n_rows;
	if (n_rows > 0)
	{
		run->batch = rows[n_rows - 1].batch + 1;
		run->started -= (TimestampTz) (rows[n_rows - 1].elapsed * USECS_PER_SEC);
	}
	*n = list.n;
	return list.work;
}
