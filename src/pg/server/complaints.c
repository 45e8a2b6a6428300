/*
 * complaints.c
 *		Several problems of one call in one error.
 */
#include "pg/server/complaints.h"

typedef struct complaint
{
	int			sqlstate;
	const char *message;
	const char *detail;
	const char *hint;
} complaint;

void
hopper_complain(hopper_complaints *complaints, int sqlstate, const char *message,
				const char *detail, const char *hint)
{
	complaint  *item = palloc(sizeof(complaint));

	*item = (complaint) {sqlstate, message, detail, hint};
	complaints->items = lappend(complaints->items, item);
}

bool
hopper_complain_unless(hopper_complaints *complaints, hopper_work_fn work, void *state)
{
	ErrorData  *error = hopper_attempt(work, state);
	int			category;

	if (error == NULL)
		return true;
	category = ERRCODE_TO_CATEGORY(error->sqlerrcode);
	if (category != ERRCODE_DATA_EXCEPTION &&
		category != ERRCODE_SYNTAX_ERROR_OR_ACCESS_RULE_VIOLATION)
		ReThrowError(error);
	hopper_complain(complaints, error->sqlerrcode, error->message, error->detail, error->hint);
	return false;
}

/* Cut, where it is too long, and then perhaps in the middle of a character: who reads it knows. */
static void
copy_text(const char *text, char *to, size_t size)
{
	if (text)
		strlcpy(to, hopper_to_utf8(text), size);
}

const hopper_error *
hopper_complaints_for_core(const hopper_complaints *complaints, int *n)
{
	hopper_error *errors = palloc0(Max(list_length(complaints->items), 1) * sizeof(hopper_error));
	ListCell   *cell;

	*n = 0;
	foreach(cell, complaints->items)
	{
		const complaint *item = lfirst(cell);
		hopper_error *error = &errors[(*n)++];

		error->code = HOPPER_INVALID_PARAMETER;
		copy_text(item->message, error->message, sizeof(error->message));
		copy_text(item->detail, error->detail, sizeof(error->detail));
		copy_text(item->hint, error->hint, sizeof(error->hint));
	}
	return errors;
}

void
hopper_throw_complaints(const hopper_complaints *complaints, const char *whole)
{
	const complaint *first;
	StringInfo	detail = makeStringInfo();
	ListCell   *cell;
	int			n = 0;

	if (complaints->items == NIL)
		return;
	first = linitial(complaints->items);
	if (list_length(complaints->items) == 1)
		hopper_raise(first->sqlstate, errmsg_internal("%s", first->message),
					 first->detail ? errdetail_internal("%s", first->detail) : 0,
					 first->hint ? errhint("%s", first->hint) : 0);
	foreach(cell, complaints->items)
	{
		const complaint *item = lfirst(cell);

		appendStringInfo(detail, "%s%d. %s.", n > 0 ? "\n" : "", n + 1, item->message);
		n++;
		if (item->detail)
			appendStringInfo(detail, " %s", item->detail);
		if (item->hint)
			appendStringInfo(detail, " %s", item->hint);
	}
	hopper_raise(first->sqlstate, errmsg("%s has %d problems", whole, n),
				 errdetail_internal("%s", detail->data));
}
