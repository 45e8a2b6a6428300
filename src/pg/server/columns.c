/*
 * columns.c
 *		Columns by their names, and what is said of those that are not there.
 */
#include "pg/server/complaints.h"

/* "ln(a)", "a::real", "*": more than a name. */
static bool
is_expression(const char *column)
{
	return column[strcspn(column, "()[]:*+/.'")] != '\0';
}

#define MOST_MISSING 20			/* that a message lists */
#define EXPRESSION_HINT \
	"Write names of columns only, without their table; make a view for what is computed from them."

char **
hopper_column_names(Oid relation, int *n)
{
	Relation	opened = relation_open(relation, AccessShareLock);
	TupleDesc	descriptor = RelationGetDescr(opened);
	char	  **names = palloc(sizeof(char *) * (descriptor->natts + 1));

	*n = 0;
	for (int i = 0; i < descriptor->natts; i++)
		if (!TupleDescAttr(descriptor, i)->attisdropped)
			names[(*n)++] = pstrdup(NameStr(TupleDescAttr(descriptor, i)->attname));
	relation_close(opened, NoLock);
	return names;
}

/* A column that is spelt alike, or NULL. */
static const char *
nearest_column(Oid relation, const char *column)
{
	int			n;
	char	  **names = hopper_column_names(relation, &n);
	int			index = hopper_core()->nearest_name(column, n, (const char *const *) names);

	return index >= 0 ? names[index] : NULL;
}

/* All of them, ready to be copied. */
static const char *
names_hint(Oid relation)
{
	int			n;
	char	  **names = hopper_column_names(relation, &n);
	char	   *list = hopper_identifiers(Min(n, MOST_MISSING), names);

	return n > MOST_MISSING ? psprintf("Its columns are %s and %d more.", list, n - MOST_MISSING)
		: psprintf("Its columns are %s.", list);
}

static void
complain_of_column(hopper_complaints *complaints, Oid relation, const char *column)
{
	const char *nearest = nearest_column(relation, column);

	hopper_complain(complaints, ERRCODE_UNDEFINED_COLUMN,
					psprintf("column \"%s\" of relation \"%s\" does not exist", column,
							 hopper_relation_shown(relation)), NULL,
					strcmp(column, "*") == 0 ? names_hint(relation)
					: is_expression(column) ? EXPRESSION_HINT
					: nearest ? hopper_meant_hint("column", nearest, column)
					: names_hint(relation));
}

AttrNumber
hopper_require_column(Oid relation, const char *column)
{
	AttrNumber	number = get_attnum(relation, column);
	hopper_complaints complaints = {NIL};

	if (number != InvalidAttrNumber)
		return number;
	complain_of_column(&complaints, relation, column);
	hopper_throw_complaints(&complaints, "");
	pg_unreachable();
}

void
hopper_complain_of_columns(hopper_complaints *complaints, Oid relation, List *columns)
{
	StringInfo	words = makeStringInfo();
	ListCell   *cell;
	const char *first = NULL;
	bool		expressions = false;
	bool		meant = false;
	int			n = 0;

	foreach(cell, columns)
	{
		const char *column = lfirst(cell);
		const char *nearest;

		CHECK_FOR_INTERRUPTS();
		if (get_attnum(relation, column) != InvalidAttrNumber)
			continue;
		if (n++ == 0)
			first = column;
		if (n > MOST_MISSING)
			continue;
		nearest = is_expression(column) ? NULL : nearest_column(relation, column);
		appendStringInfo(words, "%s\"%s\"", n > 1 ? ", " : "", column);
		if (nearest)
			appendStringInfo(words, " (perhaps \"%s\")", nearest);
		meant = meant || nearest;
		expressions = expressions || is_expression(column);
	}
	if (n == 1)
		complain_of_column(complaints, relation, first);
	if (n < 2)
		return;
	if (n > MOST_MISSING)
		appendStringInfo(words, " and %d more", n - MOST_MISSING);
	hopper_complain(complaints, ERRCODE_UNDEFINED_COLUMN,
					psprintf("%d columns of relation \"%s\" do not exist", n,
							 hopper_relation_shown(relation)),
					psprintf("They are %s.", words->data),
					expressions ? EXPRESSION_HINT : meant ? NULL : names_hint(relation));
}

void
hopper_require_columns(Oid relation, List *columns)
{
	hopper_complaints complaints = {NIL};

	hopper_complain_of_columns(&complaints, relation, columns);
	hopper_throw_complaints(&complaints, "");
}

Oid
hopper_require_columns_of(const hopper_name *table, const char *what, int n,
						  const char *const *columns, const char *hint)
{
	Oid			relation = hopper_relation_oid(table, false);

	for (int i = 0; i < n; i++)
		if (get_attnum(relation, columns[i]) == InvalidAttrNumber)
			hopper_raise(ERRCODE_WRONG_OBJECT_TYPE,
						 errmsg("relation \"%s\" is not %s", table->shown, what),
						 errdetail("It has no column \"%s\".", columns[i]),
						 errhint("%s", hint));
	return relation;
}
