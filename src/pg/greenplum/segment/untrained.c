/*
 * untrained.c
 *		See untrained.h.
 */
#include "pg/greenplum/segment/untrained.h"

#include "nodes/pg_list.h"

static struct
{
	MemoryContext context;		/* NULL: none; below the transaction's */
	List	   *parts;
	Oid			role;
} waiting;

void
hopper_untrained_forget(void)
{
	if (waiting.context)
		MemoryContextDelete(waiting.context);
	memset(&waiting, 0, sizeof(waiting));
}

void
hopper_untrained_keep(FunctionCallInfo fcinfo)
{
	MemoryContext caller;
	hopper_untrained_part *part;

	if (waiting.context == NULL)
	{
		waiting.context = AllocSetContextCreate(TopTransactionContext, "hopper waiting models",
												ALLOCSET_DEFAULT_SIZES);
		waiting.role = GetUserId();
	}
	caller = MemoryContextSwitchTo(waiting.context);
	part = palloc(sizeof(hopper_untrained_part));
	part->mst_key = PG_GETARG_INT32(4);
	part->part = PG_GETARG_INT32(5);
	part->n_parts = PG_GETARG_INT32(6);
	part->body = PG_GETARG_BYTEA_P_COPY(7);
	waiting.parts = lappend(waiting.parts, part);
	MemoryContextSwitchTo(caller);
}

bool
hopper_untrained_any(void)
{
	return waiting.parts != NIL;
}

const hopper_untrained_part *
hopper_untrained_first(void)
{
	return waiting.parts != NIL && waiting.role == GetUserId() ? linitial(waiting.parts) : NULL;
}

void
hopper_untrained_drop_first(void)
{
	hopper_untrained_part *part = linitial(waiting.parts);

	pfree(part->body);
	waiting.parts = list_delete_first(waiting.parts);
	if (waiting.parts == NIL)
		hopper_untrained_forget();
}
