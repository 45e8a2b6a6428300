/*
 * column_list.c
 *		Lists of columns that the user wrote.
 */
#include "pg/codec/rows.h"

/* What is longer names no columns of a table, and would be taken apart without a look at cancel. */
#define MOST_BYTES (1024 * 1024)

void
hopper_require_list_bytes(text *value, const char *argument)
{
	if (value && VARSIZE_ANY_EXHDR(value) > MOST_BYTES)
		hopper_raise(ERRCODE_PROGRAM_LIMIT_EXCEEDED,
					 errmsg("argument \"%s\" is too long", argument),
					 errdetail("It has %lld bytes; the limit is %d.",
							   (long long) VARSIZE_ANY_EXHDR(value), MOST_BYTES));
}

/* Each name is not compared with each. */
static void
refuse_twice(List *names, const char *argument)
{
	char	  **sorted = hopper_palloc0_huge(list_length(names) * sizeof(char *));
	ListCell   *cell;
	int			n = 0;

	foreach(cell, names)
		sorted[n++] = lfirst(cell);
	qsort(sorted, n, sizeof(char *), pg_qsort_strcmp);
	for (int i = 1; i < n; i++)
		if (strcmp(sorted[i - 1], sorted[i]) == 0)
			hopper_raise(ERRCODE_DUPLICATE_COLUMN,
						 errmsg("argument \"%s\" names column \"%s\" twice", argument, sorted[i]));
	pfree(sorted);
}

List *
hopper_column_list(text *value, const char *argument)
{
	List	   *names = NIL;
	char	   *written;

	if (value == NULL)
		hopper_raise(ERRCODE_NULL_VALUE_NOT_ALLOWED,
					 errmsg("argument \"%s\" must not be null", argument));
	hopper_require_list_bytes(value, argument);
	written = text_to_cstring(value);
	if (!SplitIdentifierString(pstrdup(written), ',', &names) || names == NIL)
		hopper_raise(ERRCODE_INVALID_NAME,
					 errmsg("argument \"%s\" is not a list of column names: %s", argument,
							written[0] ? written : "it is empty"),
					 strpbrk(written, "<>=")
					 ? errhint("Write names of columns only; make a view for what is computed "
							   "from them.")
					 : errhint("Write column1, column2, ...; quote names with blanks or "
							   "capitals."));
	refuse_twice(names, argument);
	return names;
}
