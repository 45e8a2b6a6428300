/*
 * complaints.c
 *		Several problems of one call in one error.
 */
#include "pg/server/complaints.h"

#include "lib/stringinfo.h"

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

void
hopper_throw_complaints(const hopper_complaints *complaints, const char *whole)
{
	const complaint *first;
	StringInfoData detail;
	ListCell   *cell;
	int			n = 0;

	if (complaints->items == NIL)
		return;
	first = linitial(complaints->items);
	if (list_length(complaints->items) == 1)
		ereport(ERROR,
				(errcode(first->sqlstate),
				 errmsg_internal("%s", first->message),
				 first->detail ? errdetail_internal("%s", first->detail) : 0,
				 first->hint ? errhint("%s", first->hint) : 0));
	initStringInfo(&detail);
	foreach(cell, complaints->items)
	{
		const complaint *item = lfirst(cell);

		appendStringInfo(&detail, "%s%d. %s.", n > 0 ? "\n" : "", n + 1, item->message);
		n++;
		if (item->detail)
			appendStringInfo(&detail, " %s", item->detail);
		if (item->hint)
			appendStringInfo(&detail, " %s", item->hint);
	}
	ereport(ERROR,
			(errcode(first->sqlstate),
			 errmsg("%s has %d problems", whole, n),
			 errdetail_internal("%s", detail.data)));
}
