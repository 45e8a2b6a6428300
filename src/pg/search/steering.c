/*
 * steering.c
 *		What others wish of the trials of a run's search: one stops, goes on whatever its results
 *		are, or is tried next.
 *
 * A wish is an event of the run. It is heeded once, at a place of the search's journal that names
 * it, so that a search that is told its journal again has heeded it at the same place.
 */
#include "pg/search/automl.h"

#include "pg/server/own_tables.h"
#include "pg/train/store.h"

/* Wishes that the journal does not have, from the oldest on. */
static hopper_search_wish *
read_wishes(const hopper_automl *run, uint64 *n)
{
	hopper_search_wish *wishes;

	*n = hopper_own_select("SELECT event, coalesce(trial, 0), at, CASE WHEN event = '"
						   HOPPER_ENQUEUE_TRIAL "' THEN detail"
						   " ELSE 'by ' || pg_catalog.pg_get_userbyid(role) END"
						   " FROM @extschema@.all_run_events e WHERE run = " INT64_FORMAT
						   " AND event IN ('" HOPPER_STOP_TRIAL "', '" HOPPER_PIN_TRIAL "', '"
						   HOPPER_UNPIN_TRIAL "', '" HOPPER_ENQUEUE_TRIAL "')"
						   " AND NOT EXISTS (SELECT 1 FROM @extschema@.all_search_results r"
						   " WHERE r.run = e.run AND r.wished = e.at AND r.steering = e.event"
						   " AND coalesce(r.trial, 0) = coalesce(e.trial, 0)) ORDER BY at",
						   run->number);
	wishes = palloc(Max(*n, 1) * sizeof(hopper_search_wish));
	for (uint64 row = 0; row < *n; row++)
	{
		bool		isnull;

		wishes[row].event = pstrdup(hopper_cell(row, 1));
		wishes[row].mst_key = (int32) hopper_int_cell(NULL, row, 2, 0, PG_INT32_MAX);
		wishes[row].at = DatumGetTimestampTz(hopper_value(row, 3, TIMESTAMPTZOID, &isnull));
		wishes[row].text = pstrdup(hopper_cell(row, 4));
	}
	return wishes;
}

static bool
is_of(const hopper_search_wish *wish, const char *event)
{
	return strcmp(wish->event, event) == 0;
}

const char *
hopper_search_heed(hopper_automl *run, const hopper_search_wish *wish)
{
	int64		trial = hopper_trial_of_key(wish->mst_key);
	int32		what = is_of(wish, HOPPER_STOP_TRIAL) ? HOPPER_SEARCH_STOP_TRIAL
		: is_of(wish, HOPPER_PIN_TRIAL) ? HOPPER_SEARCH_PIN_TRIAL : HOPPER_SEARCH_UNPIN_TRIAL;
	int32		changed = 0;

	if (is_of(wish, HOPPER_ENQUEUE_TRIAL))
	{
		if (hopper_accepts(hopper_core()->search.enqueue(run->search, hopper_to_utf8(wish->text),
														 hopper_fault), hopper_fault))
			return NULL;
		return hopper_from_utf8(psprintf("refused: %s%s%s", hopper_fault->message,
										 hopper_fault->detail[0] ? ": " : "",
										 hopper_fault->detail));
	}
	/* The table of trials has it, and the search has not, where others have written there. */
	if (trial < 0 || trial >= run->n_trials)
		return "refused: the search has no such trial";
	HOPPER_CORE(search.steer, run->search, trial, what, hopper_to_utf8(wish->text), &changed);
	if (!changed)
		return HOPPER_TOO_LATE;
	if (what == HOPPER_SEARCH_STOP_TRIAL)
		run->trials[trial].over = run->replays ? HOPPER_OVER_TOLD : HOPPER_OVER;
	return NULL;
}

/* What comes of a wish, for hopper.run_events; NULL: it is told when the trial halts. */
static const char *
come_of(const hopper_search_wish *wish)
{
	if (is_of(wish, HOPPER_ENQUEUE_TRIAL))
		return psprintf("%s is tried with the next trial that begins", wish->text);
	if (is_of(wish, HOPPER_PIN_TRIAL))
		return "goes on whatever its results are";
	return is_of(wish, HOPPER_UNPIN_TRIAL) ? "goes on as far as the search wants" : NULL;
}

bool
hopper_search_steer(hopper_automl *run)
{
	uint64		n;
	hopper_search_wish *wishes = read_wishes(run, &n);
	bool		stops = false;

	for (uint64 i = 0; i < n; i++)
	{
		const char *wrong = hopper_search_heed(run, &wishes[i]);
		const char *told = wrong ? wrong : come_of(&wishes[i]);

		hopper_search_note(run, hopper_trial_of_key(wishes[i].mst_key), NULL, wishes[i].text,
						   &wishes[i]);
		if (told)
			hopper_store_event(run->number, "steered", wishes[i].mst_key, told);
		stops = stops || (wrong == NULL && is_of(&wishes[i], HOPPER_STOP_TRIAL));
		CHECK_FOR_INTERRUPTS();
	}
	return stops;
}

void
hopper_search_refuse_wishes(hopper_automl *run)
{
	uint64		n;
	hopper_search_wish *wishes = read_wishes(run, &n);

	for (uint64 i = 0; i < n; i++)
		hopper_store_event(run->number, "steered", wishes[i].mst_key,
						   "too late: the search has ended");
}
