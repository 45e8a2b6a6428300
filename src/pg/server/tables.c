/*
 * tables.c
 *		Tables that the functions make. They are ordinary tables, which users rename, copy and drop:
 *		they are known by their columns, and nothing else keeps account of them.
 */
#include "pg/server/tables.h"

#include "commands/defrem.h"
#include "storage/lmgr.h"

#define MAX_TABLES 8

static const hopper_layout *const layouts[] = {
	[HOPPER_TABLE_MODELS] = &hopper_models_layout,
	[HOPPER_TABLE_STATES] = &hopper_states_layout,
	[HOPPER_TABLE_INFOS] = &hopper_infos_layout,
	[HOPPER_TABLE_RUN] = &hopper_run_layout,
	[HOPPER_TABLE_TRIALS] = &hopper_trials_layout,
	[HOPPER_TABLE_DECISIONS] = &hopper_decisions_layout,
	[HOPPER_TABLE_RUNGS] = &hopper_rungs_layout,
	[HOPPER_TABLE_PACKED] = &hopper_packed_layout,
	[HOPPER_TABLE_PACKED_SUMMARY] = &hopper_packed_summary_layout,
	[HOPPER_TABLE_PREDICTIONS] = &hopper_predictions_layout,
	[HOPPER_TABLE_EVALUATION] = &hopper_evaluation_layout,
	[HOPPER_TABLE_CONFUSION] = &hopper_confusion_layout,
	[HOPPER_TABLE_CONFIGS] = &hopper_configs_layout,
	[HOPPER_TABLE_CONFIGS_SUMMARY] = &hopper_configs_summary_layout,
};

const hopper_layout *
hopper_layout_of(hopper_table_kind kind)
{
	return layouts[kind];
}

char *
hopper_layout_columns(const hopper_layout *layout, const char *const *names,
					  const char *const *types)
{
	StringInfo	list = makeStringInfo();

	for (int i = 0; i < layout->n; i++)
	{
		const hopper_column *column = &layout->columns[i];

		appendStringInfo(list, "%s%s %s", i ? ", " : "",
						 hopper_identifier(column->name ? column->name : *names++),
						 OidIsValid(column->type) ? hopper_format_type_qualified(column->type)
						 : *types++);
		if (column->rule)
			appendStringInfo(list, " %s", column->rule);
	}
	return list->data;
}

const char *
hopper_column_there(Oid relation, const hopper_column *column)
{
	if (column->since == NULL || get_attnum(relation, column->name) != InvalidAttrNumber)
		return column->name;
	return column->before == NULL ||
		get_attnum(relation, column->before) != InvalidAttrNumber ? column->before : column->name;
}

const char *
hopper_column_selected(Oid relation, hopper_table_kind kind, const char *name)
{
	for (int i = 0; i < layouts[kind]->n; i++)
	{
		const hopper_column *column = &layouts[kind]->columns[i];
		const char *there;

		if (column->name == NULL || strcmp(column->name, name) != 0)
			continue;
		there = hopper_column_there(relation, column);
		return there ? hopper_identifier(there) : "NULL::pg_catalog.text";
	}
	elog(ERROR, "%s has no column \"%s\"", layouts[kind]->what, name);
	return NULL;
}

/* Also of another kind, whose columns are more than those of this one. */
bool
hopper_is_table_alone(Oid relation, hopper_table_kind kind)
{
	for (int i = 0; i < lengthof(layouts); i++)
		if (i != (int) kind && layouts[i]->is_like == NULL &&
			hopper_is_table(relation, (hopper_table_kind) i))
			return false;
	return hopper_is_table(relation, kind);
}

/* A user's own column may have the same name. */
static bool
has_column(Oid relation, const hopper_column *column)
{
	AttrNumber	number = get_attnum(relation, column->name);
	Oid			type = number == InvalidAttrNumber ? InvalidOid : get_atttype(relation, number);

	/* It has none where the table has been dropped since. */
	return OidIsValid(type) && (!OidIsValid(column->type) || getBaseType(type) == column->type);
}

bool
hopper_is_table(Oid relation, hopper_table_kind kind)
{
	Relation	opened;
	bool		found;

	if (get_rel_relkind(relation) != RELKIND_RELATION)
		return false;
	for (int i = 0; i < layouts[kind]->n; i++)
		if (layouts[kind]->columns[i].marks && !has_column(relation, &layouts[kind]->columns[i]))
			return false;
	if (layouts[kind]->is_like == NULL)
		return true;
	LockRelationOid(relation, AccessShareLock);
	if (hopper_is_gone(relation))
		return false;
	opened = relation_open(relation, NoLock);
	found = layouts[kind]->is_like(opened);
	relation_close(opened, AccessShareLock);
	return found;
}

/* --- locks --- */

static int
compare_groups(const void *a, const void *b)
{
	const hopper_table_group *one = a;
	const hopper_table_group *other = b;

	return strcmp(one->tables[0].name.quoted, other->tables[0].name.quoted);
}

static bool
lock_table(const hopper_table_group *group, int at)
{
	return hopper_lock_if_there(&group->tables[at].name,
								group->alone ? AccessExclusiveLock : AccessShareLock,
								group->alone ? "ACCESS EXCLUSIVE" : "ACCESS SHARE");
}

/* Companions are looked up once their first table is locked: nobody else changes them then. */
static void
lock_group(const hopper_table_group *group)
{
	while (!lock_table(group, 0))
	{
		if (group->optional)
			return;
		(void) hopper_relation_oid(&group->tables[0].name, false);
	}
	for (int i = 1; i < group->n; i++)
		(void) lock_table(group, i);
}

void
hopper_lock_tables(const hopper_table_group *groups, int n)
{
	hopper_table_group *ordered = memcpy(palloc(n * sizeof(*ordered)), groups,
										n * sizeof(*ordered));

	qsort(ordered, n, sizeof(*ordered), compare_groups);
	for (int i = 0; i < n; i++)
		lock_group(&ordered[i]);
	pfree(ordered);
	hopper_renew_snapshot();
	for (int i = 0; i < n; i++)
		if (!groups[i].alone)
			hopper_require_harmless_tables(groups[i].tables, groups[i].n, false);
}

void
hopper_open_to_read(const hopper_table *tables, int n)
{
	hopper_lock_tables(&(hopper_table_group) {.tables = tables,.n = n}, 1);
}

void
hopper_require_harmless_tables(const hopper_table *tables, int n, bool written)
{
	/* Whoever names a table knows what reading it runs, not what writing does. */
	for (int i = written ? 0 : 1; i < n; i++)
		hopper_require_harmless(&tables[i].name, &tables[0].name, written);
}

/* The server's hint is DROP ... CASCADE, which our functions do not have. */
static void
hint_without_cascade(void *dropped)
{
	if (geterrcode() != ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST)
		return;
	if (((const hopper_table *) dropped)->kind == HOPPER_TABLE_PREDICTIONS)
		errhint("replace => 'rows' keeps the table, and what depends on it.");
	else
		errhint("Drop first what depends on it.");
}

int
hopper_drop_tables(const hopper_table *tables, int n, char **words)
{
	StringInfo	query = makeStringInfo();
	StringInfo	shown = makeStringInfo();
	const hopper_table *there[MAX_TABLES];
	int			n_there = 0;

	for (int i = 0; i < n; i++)
		if (OidIsValid(hopper_relation_oid(&tables[i].name, true)))
			there[n_there++] = &tables[i];
	for (int i = 0; i < n_there; i++)
	{
		hopper_lock_table(&there[i]->name, AccessExclusiveLock, "ACCESS EXCLUSIVE");
		appendStringInfo(query, "%s%s", i ? ", " : "DROP TABLE ", there[i]->name.quoted);
		appendStringInfo(shown, "%s\"%s\"", i == 0 ? "" : i < n_there - 1 ? ", " : " and ",
						 there[i]->name.shown);
	}
	if (n_there > 0)
	{
		ErrorContextCallback callback = {error_context_stack, hint_without_cascade,
		(void *) there[0]};

		error_context_stack = &callback;
		hopper_exec("%s", query->data);
		error_context_stack = callback.previous;
	}
	if (words)
		*words = shown->data;
	return n_there;
}

/* --- names --- */

void
hopper_name_like(const hopper_name *name, const hopper_table *tables, int n, hopper_table *named)
{
	size_t		first = strlen(tables[0].name.name);

	for (int i = 0; i < n; i++)
	{
		const char *end = tables[i].name.name + first;

		named[i].kind = tables[i].kind;
		/* Without its "_". */
		named[i].name = *end == '\0' ? *name : hopper_name_with_suffix(name, end + 1);
	}
}

/* Another session, with the next process number say, may be looking for such names, too. */
static bool
claim_all(const hopper_table *tables, int n)
{
	for (int i = 0; i < n; i++)
		if (!hopper_claim_if_free(&tables[i].name))
			return false;
	return true;
}

void
hopper_name_elsewhere(const hopper_table *tables, int n, const char *prefix, hopper_table *named)
{
	hopper_name beside = tables[0].name;
	int			number = MyProcPid;

	beside.name = pstrdup(prefix);
	do
	{
		hopper_name name = hopper_name_with_suffix(&beside, psprintf("%d", number++));

		hopper_name_like(&name, tables, n, named);
	} while (!claim_all(named, n));
}

void
hopper_name_new(const hopper_table *tables, int n, const char *what, hopper_table *named)
{
	hopper_name_elsewhere(tables, n, psprintf("hopper_new%s", what), named);
	hopper_show_as(&named[0].name, &tables[0].name);
	for (int i = 0; i < n; i++)
		named[i].name = hopper_name_itself(&named[i].name);
}

/* Renames NOT NULLs that the server has named after the table; a name that was given stays. */
static void
rename_not_nulls(Oid relation, const char *old_name, const hopper_name *new_name)
{
	uint64		n = hopper_select_latest("SELECT conname::text, attname::text FROM pg_constraint"
										 " JOIN pg_attribute ON attrelid = conrelid"
										 "  AND attnum = conkey[1]"
										 " WHERE conrelid = %u AND contype = 'n'", relation);
	SPITupleTable *found = SPI_tuptable;

	for (uint64 row = 0; row < n; row++)
	{
		const char *name;
		const char *column;

		SPI_tuptable = found;
		SPI_processed = n;
		name = hopper_cell(row, 1);
		column = hopper_cell(row, 2);
		if (strcmp(name, makeObjectName(old_name, column, "not_null")) == 0)
			hopper_exec("ALTER TABLE %s RENAME CONSTRAINT %s TO %s", new_name->quoted,
						hopper_identifier(name),
						hopper_identifier(makeObjectName(new_name->name, column, "not_null")));
	}
	SPI_freetuptable(found);
}

void
hopper_rename_table(const hopper_name *table, const hopper_name *new_name)
{
	Oid			relation = hopper_relation_oid(table, false);
	hopper_name key = *new_name;
	char	   *old_key;

	hopper_lock_table(table, AccessExclusiveLock, "ACCESS EXCLUSIVE");
	hopper_exec("ALTER TABLE %s RENAME TO %s", table->quoted, hopper_identifier(new_name->name));
	if (HOPPER_NAMES_NOT_NULL)
		rename_not_nulls(relation, table->name, new_name);
	old_key = hopper_text(hopper_select_latest("SELECT relname::text FROM pg_index JOIN pg_class"
											   " ON pg_class.oid = indexrelid WHERE indrelid = %u"
											   " AND indisprimary", relation));
	if (old_key == NULL)
		return;
	key.name = makeObjectName(new_name->name, NULL, "pkey");
	/* A name for the eye: where another index has it, it stays as it is. */
	if (!OidIsValid(hopper_relation_oid(&key, true)))
		hopper_exec("ALTER INDEX %s.%s RENAME TO %s", hopper_identifier(new_name->schema),
					hopper_identifier(old_key), hopper_identifier(key.name));
}

/* `oids`: a list for SQL. A cluster has no publications. */
static void
note_publications(hopper_grants *grants, const char *oids)
{
	int			level;
	uint64		n;

	if (HOPPER_DATA_ON_SEGMENTS)
		return;
	level = hopper_backend.safe_path();
	n = hopper_select_latest("SELECT quote_ident(pubname), string_agg(prrelid::regclass::text,"
							 " ', ' ORDER BY prrelid::regclass::text) FROM pg_publication_rel"
							 " JOIN pg_publication p ON p.oid = prpubid WHERE prrelid IN (%s)"
							 " GROUP BY pubname ORDER BY pubname", oids);
	hopper_backend.callers_path(level);
	for (uint64 row = 0; row < n; row++)
	{
		grants->publications = lappend(grants->publications, hopper_cell(row, 1));
		grants->published = lappend(grants->published, hopper_cell(row, 2));
	}
	SPI_freetuptable(SPI_tuptable);
}

hopper_grants *
hopper_note_grants(const hopper_table *tables, int n)
{
	hopper_grants *grants = palloc0(sizeof(hopper_grants));
	StringInfo	oids = makeStringInfo();

	grants->tables = palloc(n * sizeof(hopper_name));
	grants->rights = palloc(n * sizeof(hopper_rights *));
	for (int i = 0; i < n; i++)
	{
		if (!hopper_lock_if_there(&tables[i].name, AccessExclusiveLock, "ACCESS EXCLUSIVE"))
			continue;
		grants->tables[grants->n] = tables[i].name;
		grants->rights[grants->n++] = hopper_rights_of(&tables[i].name);
		appendStringInfo(oids, "%s%u", oids->len ? ", " : "",
						 hopper_relation_oid(&tables[i].name, false));
	}
	if (grants->n > 0)
		note_publications(grants, oids->data);
	return grants;
}

void
hopper_tell_unpublished(const hopper_grants *grants)
{
	ListCell   *name;
	ListCell   *tables;

	forboth(name, grants->publications, tables, grants->published)
		ereport(WARNING, errmsg("publication %s does not have the new %s", (char *) lfirst(name),
								(char *) lfirst(tables)),
				errdetail("Other tables have taken the place of those that it had."),
				errhint("ALTER PUBLICATION %s ADD TABLE %s; then let subscribers empty theirs and "
						"read them anew: ALTER SUBSCRIPTION ... REFRESH PUBLICATION;",
						(char *) lfirst(name), (char *) lfirst(tables)));
}

hopper_grants *
hopper_drop_to_replace(const hopper_table *tables, int n)
{
	hopper_grants *grants = hopper_note_grants(tables, n);

	(void) hopper_drop_tables(tables, n, NULL);
	return grants;
}

void
hopper_grant_again(const hopper_grants *grants)
{
	for (int i = 0; grants && i < grants->n; i++)
	{
		if (!OidIsValid(hopper_relation_oid(&grants->tables[i], true)))
			continue;
		hopper_close_table(&grants->tables[i]);
		hopper_give_rights(grants->rights[i], &grants->tables[i]);
	}
	if (grants)
		hopper_tell_unpublished(grants);
}

bool
hopper_event_triggers_exist(void)
{
	return hopper_any(hopper_select("SELECT FROM pg_catalog.pg_event_trigger LIMIT 1"));
}
