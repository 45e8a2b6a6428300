/*
 * exchange.c
 *		New tables in the place of old ones, at the end of work that may have taken a night.
 *
 * Others may use the old tables until then: read them in transactions that stay open, make views
 * on them, give others rights on them. Nothing of that may cost what was computed. So the locks are
 * waited for as long as it takes, whatever the caller's lock_timeout says, and each step is an
 * attempt. What cannot be dropped goes out of the way under another name; where that is not
 * possible, either, the new tables keep the names that they were filled under. A WARNING says so. A
 * cancel, a statement_timeout and the end of the session are heard at any time.
 */
#include "pg/server/made.h"

#include "miscadmin.h"
#include "utils/guc.h"

typedef struct exchange
{
	const hopper_made *tables;
	const hopper_made *others;
	int			n;
	hopper_name *aside;			/* for each of `tables` */
	int			at;				/* the table that an attempt is for */
} exchange;

static bool
is_there(const hopper_made *table)
{
	return OidIsValid(hopper_relation_oid(&table->name, true));
}

static void
rename_others(void *state)
{
	const exchange *work = state;

	for (int i = 0; i < work->n; i++)
		if (is_there(&work->others[i]))
			hopper_rename_made(&work->others[i].name, &work->tables[i].name);
}

static void
grant_rights(void *state)
{
	const exchange *work = state;

	if (is_there(&work->tables[work->at]) && is_there(&work->others[work->at]))
		hopper_copy_rights(&work->tables[work->at].name, &work->others[work->at].name);
}

static void
drop_old(void *state)
{
	const exchange *work = state;

	(void) hopper_drop_made(work->tables, work->n, NULL);
}

void
hopper_exchange(const hopper_made *tables, const hopper_made *others, int n)
{
	exchange	work = {.tables = tables,.others = others,.n = n};

	for (work.at = 0; work.at < n; work.at++)
		grant_rights(&work);
	drop_old(&work);
	rename_others(&work);
}

static void
exchange_all(void *state)
{
	const exchange *work = state;

	hopper_exchange(work->tables, work->others, work->n);
}

void
hopper_exchange_rehearse(const hopper_made *tables, const hopper_made *others, int n)
{
	exchange	work = {.tables = tables,.others = others,.n = n};

	hopper_rehearse(exchange_all, &work);
}

/* --- at the end of long work --- */

/* NULL, or why it could not be done; what ends the statement comes out. */
static ErrorData *
attempt(hopper_work_fn fn, exchange *work)
{
	ErrorData  *error = hopper_attempt(fn, work);

	/* operator intervention: a cancel, a timeout, a shutdown */
	if (error && ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_OPERATOR_INTERVENTION)
		ReThrowError(error);
	return error;
}

/*
 * They are the caller's until the transaction ends. What has their names by then may be something
 * else, and is not ours to drop.
 */
static void
lock_old(void *state)
{
	const exchange *work = state;

	for (int i = 0; i < work->n; i++)
	{
		const hopper_made *table = &work->tables[i];

		if (!is_there(table))
			continue;
		hopper_lock_table(&table->name, AccessExclusiveLock, "ACCESS EXCLUSIVE");
		hopper_require_replaceable(table);
	}
}

/* A table that was renamed or dropped while it was waited for is not waited for again. */
static ErrorData *
lock_old_tables(exchange *work)
{
	for (int tries = 0;; tries++)
	{
		ErrorData  *error = attempt(lock_old, work);

		if (error == NULL || error->sqlerrcode != ERRCODE_UNDEFINED_TABLE || tries == 10)
			return error;
	}
}

static void
move_aside(void *state)
{
	const exchange *work = state;

	for (int i = 0; i < work->n; i++)
		if (is_there(&work->tables[i]))
			hopper_rename_made(&work->tables[i].name, &work->aside[i]);
}

/* Names that nobody has, which are to each other as those of the tables are. */
static void
choose_names_aside(exchange *work)
{
	const char *first = work->tables[0].name.name;
	hopper_name beside = work->tables[0].name;
	bool		free = false;

	work->aside = palloc(work->n * sizeof(hopper_name));
	for (int number = MyProcPid; !free; number++)
	{
		free = true;
		beside.name = "hopper_old";
		for (int i = 0; i < work->n; i++)
		{
			const char *end = work->tables[i].name.name + strlen(first);

			work->aside[i] = hopper_name_with_suffix(&beside, psprintf("%d%s", number, end));
			free = free && !OidIsValid(hopper_relation_oid(&work->aside[i], true));
		}
	}
}

static const char *
reason(const ErrorData *error)
{
	return psprintf("%s.%s%s", error->message, error->detail ? " " : "",
					error->detail ? error->detail : "");
}

static void
tell_aside(const exchange *work, const ErrorData *error)
{
	const char *drop = hopper_made_drop(work->tables[0].kind);

	ereport(WARNING,
			(errmsg("the old \"%s\" could not be dropped, it is named \"%s\" now",
					work->tables[0].name.shown, work->aside[0].shown),
			 errdetail("%s", reason(error)),
			 errhint("Drop it with %s when nothing needs it.", drop ? drop : "DROP TABLE")));
}

static void
tell_kept(const exchange *work, const ErrorData *error)
{
	bool		models = work->tables[0].kind == HOPPER_MADE_MODELS;

	ereport(WARNING,
			(errmsg("\"%s\" could not be replaced, what was computed is in \"%s\"",
					work->tables[0].name.shown, work->others[0].name.shown),
			 errdetail("%s", reason(error)),
			 models ? errhint("Give it its name with hopper.rename_model(%s, %s, replace => true).",
							  hopper_literal(hopper_written_name(&work->others[0].name)),
							  hopper_literal(hopper_written_name(&work->tables[0].name)))
			 : errhint("Give it its name with ALTER TABLE.")));
}

static void
drop_and_rename(void *state)
{
	drop_old(state);
	rename_others(state);
}

static void
move_and_rename(void *state)
{
	move_aside(state);
	rename_others(state);
}

/*
 * `first`, and where that cannot be done `second`, with a WARNING; the old tables are locked.
 * Returns why neither could.
 */
static ErrorData *
clear_old(exchange *work, hopper_work_fn first, hopper_work_fn second)
{
	ErrorData  *error = attempt(first, work);
	ErrorData  *stays;

	if (error == NULL)
		return NULL;
	choose_names_aside(work);
	stays = attempt(second, work);
	if (stays == NULL)
		tell_aside(work, error);
	return stays;
}

static int
wait_for_locks(void)
{
	int			level = NewGUCNestLevel();

	hopper_set_for_now("lock_timeout", "0");
	return level;
}

static void
grant_all(exchange *work)
{
	for (work->at = 0; work->at < work->n; work->at++)
	{
		ErrorData  *error = attempt(grant_rights, work);

		if (error)
			ereport(WARNING,
					(errmsg("what others may do with \"%s\" could not be taken over",
							work->tables[work->at].name.shown),
					 errdetail("%s", reason(error))));
	}
}

bool
hopper_exchange_results(const hopper_made *tables, const hopper_made *others, int n)
{
	exchange	work = {.tables = tables,.others = others,.n = n};
	int			level = wait_for_locks();
	ErrorData  *error = lock_old_tables(&work);

	if (error == NULL)
	{
		grant_all(&work);
		error = clear_old(&work, drop_and_rename, move_and_rename);
	}
	if (error)
		tell_kept(&work, error);
	AtEOXact_GUC(true, level);
	return error == NULL;
}

static ErrorData *
drop_waiting(const hopper_made *tables, int n)
{
	exchange	work = {.tables = tables,.n = n};
	int			level = wait_for_locks();
	ErrorData  *error = lock_old_tables(&work);

	if (error == NULL)
		error = clear_old(&work, drop_old, move_aside);
	AtEOXact_GUC(true, level);
	return error;
}

void
hopper_drop_for_results(const hopper_made *tables, int n)
{
	ErrorData  *error = drop_waiting(tables, n);

	if (error)
		ReThrowError(error);
}

void
hopper_drop_leftover(const hopper_made *table)
{
	ErrorData  *error = drop_waiting(table, 1);

	if (error)
		ereport(WARNING,
				(errmsg("\"%s\" of the earlier models could not be dropped", table->name.shown),
				 errdetail("%s", reason(error))));
}
