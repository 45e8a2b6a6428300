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
#include "pg/server/tables.h"

typedef struct exchange
{
	const hopper_table *tables;
	const hopper_table *others;
	int			n;
	hopper_table *aside;			/* names for `tables` */
	hopper_grants *grants;		/* of `tables` that were there */
	int			at;				/* of them: what an attempt is for */
} exchange;

static bool
is_there(const hopper_table *table)
{
	return OidIsValid(hopper_relation_oid(&table->name, true));
}

/* Tables that are not there are left out. */
static void
rename_all(const hopper_table *tables, const hopper_table *named, int n)
{
	for (int i = 0; i < n; i++)
		if (is_there(&tables[i]))
			hopper_rename_table(&tables[i].name, &named[i].name);
}

static void
rename_others(void *state)
{
	const exchange *work = state;

	rename_all(work->others, work->tables, work->n);
}

/* To what has the name now. */
static void
give_rights(void *state)
{
	const exchange *work = state;
	const hopper_name *table = &work->grants->tables[work->at];

	if (OidIsValid(hopper_relation_oid(table, true)))
		hopper_give_rights(work->grants->rights[work->at], table);
}

static void
exchange_at_once(exchange *work)
{
	work->grants = hopper_drop_to_replace(work->tables, work->n);
	rename_others(work);
	for (work->at = 0; work->at < work->grants->n; work->at++)
		give_rights(work);
}

void
hopper_exchange(const hopper_table *tables, const hopper_table *others, int n)
{
	exchange	work = {.tables = tables,.others = others,.n = n};

	exchange_at_once(&work);
	hopper_tell_unpublished(work.grants);
}

/* What default privileges have given others is not what they had. */
static void
close_others(void *state)
{
	const exchange *work = state;

	for (int i = 0; i < work->n; i++)
		if (is_there(&work->others[i]))
			hopper_close_table(&work->others[i].name);
}

static void
exchange_all(void *state)
{
	close_others(state);
	exchange_at_once(state);
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
		const hopper_table *table = &work->tables[i];

		if (!is_there(table))
			continue;
		hopper_lock_table(&table->name, AccessExclusiveLock, "ACCESS EXCLUSIVE");
		hopper_require_replaceable(table);
	}
}

/*
 * A table that was renamed or dropped while it was waited for is not waited for again. A session
 * that reads one of the tables and then another that is locked already goes on when a deadlock has
 * made this one give up its locks; one that waits for what the statement has read will not.
 */
static ErrorData *
lock_old_tables(exchange *work)
{
	for (int tries = 0;; tries++)
	{
		ErrorData  *error = attempt(lock_old, work);

		int			most = 0;

		if (error && error->sqlerrcode == ERRCODE_UNDEFINED_TABLE)
			most = 10;
		else if (error && error->sqlerrcode == ERRCODE_T_R_DEADLOCK_DETECTED)
			most = 2;
		if (tries >= most)
			return error;
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
	const char *drop = hopper_layout_of(work->tables[0].kind)->drop;

	ereport(WARNING, errmsg("the old \"%s\" could not be dropped, it is named \"%s\" now",
							work->tables[0].name.shown, work->aside[0].name.shown),
			errdetail("%s", reason(error)),
			errhint("Drop it with %s when nothing needs it.", drop ? drop : "DROP TABLE"));
}

/* "a" its name, or "a", "a_summary" their names */
static const char *
names_to_give(const exchange *work)
{
	StringInfo	text = makeStringInfo();
	int			n = 0;

	for (int i = 0; i < work->n; i++)
		if (is_there(&work->others[i]))
			appendStringInfo(text, "%s\"%s\"", n++ ? ", " : "", work->others[i].name.shown);
	appendStringInfoString(text, n > 1 ? " their names" : " its name");
	return text->data;
}

static const char *
rename_hint(const hopper_table *other, const hopper_table *table)
{
	return psprintf("Give it its name with hopper.rename_model(%s, %s, replace => true).",
					hopper_literal(hopper_written_name(&other->name)),
					hopper_literal(hopper_written_name(&table->name)));
}

static void
tell_kept(exchange *work, const ErrorData *error)
{
	bool		models = work->tables[0].kind == HOPPER_TABLE_MODELS;
	hopper_table *kept = palloc(work->n * sizeof(hopper_table));

	for (int i = 0; i < work->n; i++)
		kept[i] = (hopper_table) {hopper_name_itself(&work->others[i].name), work->others[i].kind};
	work->others = kept;
	ereport(WARNING, errmsg("\"%s\" could not be replaced, what was computed is in \"%s\"",
							work->tables[0].name.shown, work->others[0].name.shown),
			errdetail("%s", reason(error)),
			models ? errhint("%s", rename_hint(&work->others[0], &work->tables[0]))
			: errhint("Give %s with ALTER TABLE.", names_to_give(work)));
}

static void
drop_and_rename(void *state)
{
	const exchange *work = state;

	(void) hopper_drop_tables(work->tables, work->n, NULL);
	rename_others(state);
}

static void
move_and_rename(void *state)
{
	const exchange *work = state;

	rename_all(work->tables, work->aside, work->n);
	rename_others(state);
}

/*
 * The old tables are locked; where they cannot be dropped they get other names, with a WARNING.
 * Returns why they could not.
 */
static ErrorData *
put_in_place(exchange *work)
{
	ErrorData  *error = attempt(drop_and_rename, work);
	ErrorData  *stays;

	if (error == NULL)
		return NULL;
	work->aside = palloc(work->n * sizeof(hopper_table));
	hopper_name_elsewhere(work->tables, work->n, "hopper_old", work->aside);
	stays = attempt(move_and_rename, work);
	if (stays == NULL)
		tell_aside(work, error);
	return stays;
}

static void
give_all(exchange *work)
{
	for (work->at = 0; work->at < work->grants->n; work->at++)
	{
		ErrorData  *error = attempt(give_rights, work);

		if (error)
			ereport(WARNING, errmsg("what others may do with \"%s\" could not be taken over",
									work->grants->tables[work->at].shown),
					errdetail("%s", reason(error)),
					errhint("It is yours, and nobody else has rights on it."));
	}
}

bool
hopper_exchange_results(const hopper_table *tables, const hopper_table *others, int n)
{
	exchange	work = {.tables = tables,.others = others,.n = n};
	int			level = NewGUCNestLevel();
	ErrorData  *error;

	hopper_set_for_now("lock_timeout", "0");
	error = lock_old_tables(&work);
	if (error == NULL)
		error = attempt(close_others, &work);
	if (error == NULL)
	{
		work.grants = hopper_note_grants(tables, n);
		error = put_in_place(&work);
	}
	/* They have their names now, or keep those that they have. */
	hopper_show_itself(&others[0].name);
	if (error)
		tell_kept(&work, error);
	else
	{
		give_all(&work);
		hopper_tell_unpublished(work.grants);
	}
	AtEOXact_GUC(true, level);
	return error == NULL;
}

/* --- tables in the making --- */

void
hopper_making_begin(hopper_making *making, bool replace, const char *what)
{
	making->replaces = hopper_make_room(making->tables, making->n, replace);
	if (making->replaces)
		hopper_name_new(making->tables, making->n, what, making->made);
	else
		memcpy(making->made, making->tables, sizeof(making->made));
}

void
hopper_making_rehearse(const hopper_making *making)
{
	exchange	work = {.tables = making->tables,.others = making->made,.n = making->n};

	if (making->replaces)
		hopper_rehearse(exchange_all, &work);
}

bool
hopper_making_end(const hopper_making *making)
{
	return !making->replaces ||
		hopper_exchange_results(making->tables, making->made, making->n);
}

/* --- tables of runs --- */

static void
keep_own_names(const hopper_table *table, const hopper_table *other)
{
	hopper_show_itself(&other->name);
	ereport(WARNING, errmsg("\"%s\" is there already, what the run has made is in \"%s\"",
							table->name.shown, hopper_name_itself(&other->name).shown),
			table->kind == HOPPER_TABLE_MODELS ? errhint("%s", rename_hint(other, table)) : 0);
}

bool
hopper_publish(const hopper_making *making, bool replace)
{
	const hopper_table *tables = making->tables;
	const hopper_table *others = making->made;
	exchange	work = {.tables = tables,.others = others,.n = making->n};
	int			n_there = 0;

	if (!replace && is_there(&tables[0]))
	{
		keep_own_names(&tables[0], &others[0]);
		return false;
	}
	for (int i = 0; i < making->n; i++)
		n_there += is_there(&tables[i]);
	if (n_there == 0)
	{
		ErrorData  *error = attempt(rename_others, &work);

		/* Another session has made one since: RENAME has waited for the end of its transaction. */
		if (error && error->sqlerrcode != ERRCODE_UNIQUE_VIOLATION &&
			error->sqlerrcode != ERRCODE_DUPLICATE_TABLE)
			ReThrowError(error);
		if (error == NULL)
			hopper_show_itself(&others[0].name);
		else if (!replace)
			keep_own_names(&tables[0], &others[0]);
		if (error == NULL || !replace)
			return error == NULL;
	}
	return hopper_exchange_results(tables, others, making->n);
}
