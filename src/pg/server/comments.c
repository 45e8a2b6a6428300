/*
 * comments.c
 *		What tables that our functions make say about themselves in psql's \d+.
 */
#include "pg/server/tables.h"

#include "commands/comment.h"

/* NULL where it has none. */
static const char *
meaning_of(const hopper_layout *layout, const char *const *names, const char *column)
{
	const char *meaning = NULL;

	for (int i = 0; i < layout->n; i++)
	{
		const char *name = layout->columns[i].name;
		bool		given = name == NULL && names;

		if (given)
			name = *names++;
		/* What the data call like a column of ours is theirs. */
		if (name && strcmp(name, column) == 0 && (meaning == NULL || given))
			meaning = layout->columns[i].meaning;
	}
	return meaning;
}

void
hopper_comment_layout(const hopper_name *table, const hopper_layout *layout,
					const char *const *names, const char *comment)
{
	Oid			relation = hopper_relation_oid(table, false);
	Relation	opened = relation_open(relation, AccessShareLock);

	hopper_create_comments(relation, RelationRelationId, 0, comment);
	/* By the table's columns: the server's cache keeps each name that a table was asked for. */
	for (int i = 0; i < RelationGetNumberOfAttributes(opened); i++)
	{
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(opened), i);
		const char *meaning = column->attisdropped ? NULL
			: meaning_of(layout, names, NameStr(column->attname));

		if (meaning)
			hopper_create_comments(relation, RelationRelationId, column->attnum, meaning);
	}
	relation_close(opened, NoLock);
	CommandCounterIncrement();
}

void
hopper_create_layout(const hopper_name *table, const hopper_layout *layout, const char *comment)
{
	hopper_exec("CREATE TABLE %s (%s)" HOPPER_DISTRIBUTED_RANDOMLY, table->quoted,
				hopper_layout_columns(layout, NULL, NULL));
	hopper_comment_layout(table, layout, NULL, comment);
}

void
hopper_comment_table(const hopper_name *table, const char *comment)
{
	hopper_create_comments(hopper_relation_oid(table, false), RelationRelationId, 0, comment);
	CommandCounterIncrement();
}

void
hopper_comment_column(const hopper_name *table, const char *column, const char *comment)
{
	Oid			relation = hopper_relation_oid(table, false);
	AttrNumber	number = get_attnum(relation, column);

	if (number != InvalidAttrNumber)
		hopper_create_comments(relation, RelationRelationId, number, comment);
	CommandCounterIncrement();
}
