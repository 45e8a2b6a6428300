/*
 * cursor.c
 *		Statements that find their names in pg_catalog, and cursors over them.
 */
#include "pg/server/glue.h"

#include "access/xact.h"
#include "executor/tuptable.h"
#include "nodes/makefuncs.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

int
hopper_safe_path(void)
{
	int			level = NewGUCNestLevel();

	hopper_set_for_now("search_path", "pg_catalog, pg_temp");
	return level;
}

void
hopper_callers_path(int level)
{
	AtEOXact_GUC(false, level);
}

/* Shows the place of an error in our statement, not in the caller's. */
static void
point_into_query(void *query)
{
	int			position = geterrposition();

	if (position <= 0)
	{
		errcontext("SQL statement \"%s\"", (const char *) query);
		return;
	}
	errposition(0);
	internalerrposition(position);
	internalerrquery(query);
}

/*
 * What SPI's cursors do, but with our search_path for the analysis alone, where names are looked
 * up. Planning already runs functions of users, or takes them apart, and SPI would analyse a
 * statement again as soon as the path is another.
 */
Portal
hopper_cursor_open(const char *query, bool read_only)
{
	Portal		portal = CreateNewPortal();
	MemoryContext caller = MemoryContextSwitchTo(portal->portalContext);
	char	   *kept = pstrdup(query);
	ErrorContextCallback context;
	List	   *queries;
	int			level;

	context.callback = point_into_query;
	context.arg = kept;
	context.previous = error_context_stack;
	error_context_stack = &context;
	level = hopper_safe_path();
	queries = pg_analyze_and_rewrite_fixedparams(linitial(pg_parse_query(kept)), kept, NULL, 0,
												 NULL);
	hopper_callers_path(level);
	PortalDefineQuery(portal, NULL, kept, CMDTAG_SELECT,
					  pg_plan_queries(queries, kept, CURSOR_OPT_NO_SCROLL, NULL), NULL);
	portal->cursorOptions = CURSOR_OPT_NO_SCROLL;
	MemoryContextSwitchTo(caller);
	if (!read_only)
		CommandCounterIncrement();
	PortalStart(portal, NULL, 0, read_only ? GetActiveSnapshot() : GetTransactionSnapshot());
	error_context_stack = context.previous;
	return portal;
}

typedef struct row_receiver
{
	DestReceiver own;
	hopper_row_taker take;
	void	   *state;
	MemoryContext context;
	ResourceOwner owner;		/* what a taker opens is not closed with the portal */
	uint64		n;
} row_receiver;

static void
begin_rows(DestReceiver *own, int operation, TupleDesc descriptor)
{
}

static bool
receive_row(TupleTableSlot *slot, DestReceiver *own)
{
	row_receiver *receiver = (row_receiver *) own;
	ResourceOwner portals = CurrentResourceOwner;
	MemoryContext caller;

	slot_getallattrs(slot);
	caller = MemoryContextSwitchTo(receiver->context);
	CurrentResourceOwner = receiver->owner;
	receiver->take(receiver->state, slot->tts_values, slot->tts_isnull);
	receiver->n++;
	CurrentResourceOwner = portals;
	MemoryContextSwitchTo(caller);
	return true;
}

static void
end_rows(DestReceiver *own)
{
}

uint64
hopper_cursor_give(Portal portal, long n, hopper_row_taker take, void *state)
{
	row_receiver receiver = {{receive_row, begin_rows, end_rows, end_rows, DestNone}, take, state,
	CurrentMemoryContext, CurrentResourceOwner};

	(void) PortalRunFetch(portal, FETCH_FORWARD, n, &receiver.own);
	return receiver.n;
}
