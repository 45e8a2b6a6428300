/*
 * features.c
 *		Feature columns by name: lists that the user wrote, and their order.
 *
 * A model knows its features by their place alone, and columns in another order give it nonsense.
 * So where both what was packed and what is given are several columns, their names decide: the
 * order of training is taken, and other names are refused. One column, which may be an array or a
 * bytea, has its own order within and goes by any name.
 */
#include "pg/codec/rows.h"

#define MOST_NAMES 20			/* that a message lists */

char *
hopper_columns_words(int n, char *const *names)
{
	StringInfo	words = makeStringInfo();

	for (int i = 0; i < n && i < MOST_NAMES; i++)
		appendStringInfo(words, "%s\"%s\"", i ? ", " : "", names[i]);
	if (n > MOST_NAMES)
		appendStringInfo(words, " and %d more", n - MOST_NAMES);
	return words->data;
}

/* The first of `names` that is not among `others`, or NULL. */
static const char *
missing_name(int n, char *const *names, int n_others, char *const *others)
{
	char	  **sorted = palloc(Max(n_others, 1) * sizeof(char *));
	const char *missing = NULL;

	memcpy(sorted, others, n_others * sizeof(char *));
	qsort(sorted, n_others, sizeof(char *), pg_qsort_strcmp);
	for (int i = 0; i < n && missing == NULL; i++)
		if (bsearch(&names[i], sorted, n_others, sizeof(char *), pg_qsort_strcmp) == NULL)
			missing = names[i];
	pfree(sorted);
	return missing;
}

static bool
same_names(int n, char *const *names, int n_others, char *const *others)
{
	if (n != n_others)
		return false;
	for (int i = 0; i < n; i++)
		if (strcmp(names[i], others[i]) != 0)
			return false;
	return true;
}

static List *
list_of(int n, char *const *names)
{
	List	   *list = NIL;

	for (int i = 0; i < n; i++)
		list = lappend(list, names[i]);
	return list;
}

List *
hopper_feature_list(text *value, const char *argument, int n_trained, char *const *trained,
					const hopper_pack_inputs *inputs, const char *whose)
{
	List	   *given;
	char	  **names;
	const char *unknown;
	const char *absent;
	int			n = 0;
	ListCell   *cell;

	if (value == NULL)
		return list_of(n_trained, trained);
	if (inputs->n > 0 &&
		!hopper_same_inputs(value, argument, n_trained, trained, inputs))
		hopper_wrong(errmsg("%s does not name the inputs of \"%s\" with their columns", argument,
							whose),
					 errdetail("It has the inputs %s.",
							   hopper_columns_words(inputs->n, inputs->names)),
					 errhint("Leave it out, then their columns are found by their names; a view "
							 "can rename columns."));
	if (inputs->n > 0)
		return list_of(n_trained, trained);
	given = hopper_column_list(value, argument);
	names = palloc(list_length(given) * sizeof(char *));
	foreach(cell, given)
		names[n++] = lfirst(cell);
	if (n == 1 && n_trained == 1 && strcmp(names[0], trained[0]) != 0)
		ereport(NOTICE, errmsg("column \"%s\" stands for \"%s\", the feature of \"%s\"", names[0],
							   trained[0], whose));
	if (n == 1 || n_trained == 1 || same_names(n, names, n_trained, trained))
		return given;
	unknown = missing_name(n, names, n_trained, trained);
	absent = missing_name(n_trained, trained, n, names);
	if (unknown || absent)
		hopper_wrong(unknown ? errmsg("column \"%s\" is not a feature of \"%s\"", unknown, whose)
					 : errmsg("%s lacks the feature \"%s\" of \"%s\"", argument, absent, whose),
					 errdetail("Its features are %s.", hopper_columns_words(n_trained, trained)),
					 errhint("Leave %s out, then they are found by their names; a view can rename "
							 "columns.", argument));
	ereport(NOTICE, errmsg("the features are taken in the order of \"%s\": %s", whose,
						   hopper_columns_words(n_trained, trained)));
	return list_of(n_trained, trained);
}
