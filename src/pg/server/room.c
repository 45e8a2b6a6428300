/*
 * room.c
 *		Room for new tables: whether their names are free, or can be, and what is left of earlier
 *		ones.
 */
#include "pg/server/tables.h"

void
hopper_require_replaceable(const hopper_table *table)
{
	Oid			relation = hopper_relation_oid(&table->name, true);

	if (!OidIsValid(relation))
		return;
	if (!hopper_is_table(relation, table->kind))
	{
		if (hopper_is_gone(relation))
			return;
		hopper_raise(ERRCODE_WRONG_OBJECT_TYPE,
					 errmsg("\"%s\" cannot be replaced", table->name.shown),
					 errdetail("It is not %s.", hopper_layout_of(table->kind)->what),
					 errhint("Choose another name."));
	}
	if (!hopper_is_owner(relation))
		aclcheck_error(ACLCHECK_NOT_OWNER, HOPPER_OBJECT_TABLE, table->name.shown);
}

void
hopper_require_new(const hopper_table *table)
{
	const char *drop = hopper_layout_of(table->kind)->drop;
	Oid			relation = hopper_relation_oid(&table->name, true);
	bool		ours = hopper_is_table(relation, table->kind);

	if (!OidIsValid(relation))
		return;
	hopper_raise(ERRCODE_DUPLICATE_TABLE,
				 errmsg("relation \"%s\" already exists", table->name.shown),
				 !ours ? errhint("Choose another name, or drop it first.")
				 : errhint("Choose another name, drop it first%s%s, or pass replace => true.",
						   drop ? " with " : "", drop ? drop : ""));
}

typedef struct dropping
{
	const hopper_table *tables;
	int			n;
} dropping;

static void
drop_all(void *state)
{
	const dropping *drop = state;

	(void) hopper_drop_tables(drop->tables, drop->n, NULL);
}

/* The columns that mark it, "{mst_key,model_weights,model_arch}", and their number. */
static char *
marks_of(hopper_table_kind kind, int *n)
{
	const hopper_layout *layout = hopper_layout_of(kind);
	StringInfo	list = makeStringInfo();

	*n = 0;
	for (int i = 0; i < layout->n; i++)
		if (layout->columns[i].marks)
			appendStringInfo(list, "%c%s", (*n)++ ? ',' : '{', layout->columns[i].name);
	appendStringInfoChar(list, '}');
	return list->data;
}

/*
 * A table of this kind that lacks one of this ending: perhaps the companion is its own, and has
 * stayed where it was when the table got another name, schema or owner. Elsewhere only tables count
 * that its owner can have given away, lest anybody keep names from being used again. NULL for none.
 */
static const char *
bereft_of(const hopper_table *table, Oid companion, const char *ending)
{
	Oid			schema = get_rel_namespace(companion);
	int			n_columns;
	char	   *columns = marks_of(table->kind, &n_columns);
	/* beside tables in MADlib's shape (train/beside.c) */
	const char *in_its_place = strcmp(ending, "_info") == 0 ? "_metrics"
		: strcmp(ending, "_summary") == 0 ? "_run" : ending;
	uint64		n = hopper_select_latest("SELECT c.oid::int8, c.relnamespace = %u FROM pg_class c"
										 " WHERE (c.relnamespace = %u"
										 "  OR pg_has_role(%u::oid, c.relowner, 'MEMBER'))"
										 " AND c.relkind = 'r'"
										 " AND %d = (SELECT count(*) FROM pg_attribute a"
										 "  WHERE a.attrelid = c.oid AND NOT a.attisdropped"
										 "  AND a.attname = ANY (%s::name[]))"
										 " AND NOT EXISTS (SELECT 1 FROM pg_class s"
										 "  WHERE s.relnamespace = c.relnamespace"
										 "  AND s.relname::text IN (c.relname::text || %s,"
										 "   c.relname::text || %s))"
										 " ORDER BY c.relnamespace <> %u, c.relname", schema,
										 schema, hopper_owner(companion), n_columns,
										 hopper_literal(columns), hopper_literal(ending),
										 hopper_literal(in_its_place), schema);
	SPITupleTable *found = SPI_tuptable;
	const char *name = NULL;

	for (uint64 row = 0; row < n && name == NULL; row++)
	{
		Oid			relation;

		CHECK_FOR_INTERRUPTS();
		SPI_tuptable = found;
		SPI_processed = n;
		relation = (Oid) hopper_int_cell(NULL, row, 1, 0, PG_UINT32_MAX);
		if (hopper_is_table_alone(relation, table->kind))
			name = hopper_name_shown(get_namespace_name(get_rel_namespace(relation)),
									 strcmp(hopper_cell(row, 2), "f") == 0,
									 get_rel_name(relation));
	}
	SPI_freetuptable(found);
	return name;
}

/*
 * Whether a companion may be dropped without being asked: the caller's, made by us for all that can
 * be seen, which is its columns and its key.
 */
static bool
is_left_over(const hopper_table *table)
{
	Oid			relation = hopper_relation_oid(&table->name, true);

	if (!OidIsValid(relation) || !hopper_is_table(relation, table->kind) ||
		!hopper_is_owner(relation))
		return false;
	if (table->kind != HOPPER_TABLE_STATES && table->kind != HOPPER_TABLE_INFOS)
		return true;
	return hopper_any(hopper_select_latest("SELECT 1 FROM pg_index WHERE indrelid = %u"
										   " AND indisprimary", relation));
}

/*
 * Models that ALTER TABLE models RENAME TO old_models keeps for later have not been dropped, and
 * what is named after "models" is all that makes them usable.
 */
static void
refuse_companions_of_others(const hopper_table *tables, int n)
{
	for (int i = 1; i < n; i++)
	{
		const hopper_name *companion = &tables[i].name;
		const char *ending = companion->name + strlen(tables[0].name.name);
		const char *other;

		/* Companions of rows that were put aside for validation belong to these rows. */
		if (!hopper_layout_of(tables[i].kind)->completes || strchr(ending + 1, '_') ||
			!is_left_over(&tables[i]))
			continue;
		other = bereft_of(&tables[0], hopper_relation_oid(companion, false), ending);
		if (other)
			hopper_unmet(errmsg("\"%s\" may belong to \"%s\"", companion->shown, other),
						 errdetail("\"%s\", %s, has no \"%s%s\", and there is no \"%s\".", other,
								   hopper_layout_of(tables[0].kind)->what, other, ending,
								   tables[0].name.shown),
						 tables[0].kind == HOPPER_TABLE_MODELS
						 ? errhint("Where \"%s\" was \"%s\", let it be that again, and use "
								   "hopper.rename_model() or hopper.copy_model(); else drop "
								   "\"%s\".", other, tables[0].name.shown, companion->shown)
						 : errhint("Where \"%s\" was \"%s\", rename what belongs to it likewise; "
								   "else drop \"%s\".", other, tables[0].name.shown,
								   companion->shown));
	}
}

bool
hopper_make_room(const hopper_table *tables, int n, bool replace)
{
	dropping	drop = {tables, n};
	bool		exists;

	if (!replace)
		hopper_require_new(&tables[0]);
	exists = replace && OidIsValid(hopper_relation_oid(&tables[0].name, true));
	if (!exists)
		refuse_companions_of_others(tables, n);
	for (int i = 0; i < n; i++)
	{
		if (exists)
			hopper_require_replaceable(&tables[i]);
		else if (is_left_over(&tables[i]))
		{
			(void) hopper_drop_tables(&tables[i], 1, NULL);
			ereport(NOTICE, errmsg("dropped \"%s\", which was left of an earlier \"%s\"",
								   tables[i].name.shown, tables[0].name.shown));
		}
		if (exists)
			hopper_claim_name(&tables[i].name);
		else
			hopper_require_absent(&tables[i].name);
	}
	/* What depends on them is found out now, not when the new ones are ready. */
	if (exists)
		hopper_rehearse(drop_all, &drop);
	return exists;
}
