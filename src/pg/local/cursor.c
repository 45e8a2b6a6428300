/*
 * cursor.c
 *		Statements that find their names in pg_catalog, and cursors over them.
 */
#include "pg/local/local.h"
#include "pg/server/glue.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tupmacs.h"
#include "executor/tuptable.h"
#include "nodes/makefuncs.h"
#include "parser/parsetree.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "utils/resowner.h"

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
 * Where the statement only takes columns of one table: has the plan scan the whole table's, which
 * the executor hands over where they lie, and sets rows->from. It would copy each column of each
 * row otherwise. The statement needs no more rights than before, and a row is taken apart up to
 * the last column that is asked for, as before.
 */
static void
scan_in_place(PlannedStmt *statement, hopper_row_cursor *rows)
{
	Plan	   *plan = statement->planTree;
	Index		scanned;
	Relation	relation;
	TupleDesc	desc;
	AttrNumber *from = palloc(list_length(plan->targetlist) * sizeof(AttrNumber));
	List	   *all = NIL;
	ListCell   *cell;
	int			n = 0;

	if (!IsA(plan, SeqScan))
		return;
	scanned = ((Scan *) plan)->scanrelid;
	/* planned, therefore locked */
	relation = table_open(rt_fetch(scanned, statement->rtable)->relid, NoLock);
	desc = RelationGetDescr(relation);
	foreach(cell, plan->targetlist)
	{
		TargetEntry *entry = lfirst(cell);
		Var		   *column = (Var *) entry->expr;

		if (!IsA(column, Var) || entry->resjunk ||
			(column->varattno == 0 && column->vartype != desc->tdtypeid))
			break;
		from[n++] = column->varattno;
	}
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);

		/* where the executor would not hand them over */
		if (column->attisdropped || column->atthasmissing)
			break;
		all = lappend(all, makeTargetEntry((Expr *) makeVar(scanned, i + 1, column->atttypid,
															column->atttypmod,
															column->attcollation, 0),
										   i + 1, NULL, false));
	}
	if (cell == NULL && list_length(all) == desc->natts)
	{
		rows->desc = ExecTypeFromTL(plan->targetlist);
		rows->from = from;
		plan->targetlist = all;
	}
	table_close(relation, NoLock);
}

/*
 * What SPI's cursors do, but with our search_path for the analysis alone, where names are looked
 * up. Planning already runs functions of users, or takes them apart, and SPI would analyse a
 * statement again as soon as the path is another.
 *
 * `rows`: they are taken by hopper_row_cursor_give(); NULL: in another way.
 */
static Portal
open_portal(const char *query, bool read_only, hopper_row_cursor *rows)
{
	Portal		portal = CreateNewPortal();
	MemoryContext caller = MemoryContextSwitchTo(portal->portalContext);
	char	   *kept = pstrdup(query);
	ErrorContextCallback context;
	List	   *queries;
	List	   *plans;
	int			level;

	context.callback = point_into_query;
	context.arg = kept;
	context.previous = error_context_stack;
	error_context_stack = &context;
	level = hopper_safe_path();
	queries = pg_analyze_and_rewrite_fixedparams(linitial(pg_parse_query(kept)), kept, NULL, 0,
												 NULL);
	hopper_callers_path(level);
	plans = pg_plan_queries(queries, kept, CURSOR_OPT_NO_SCROLL, NULL);
	if (rows)
		scan_in_place(linitial_node(PlannedStmt, plans), rows);
	PortalDefineQuery(portal, NULL, kept, CMDTAG_SELECT, plans, NULL);
	portal->cursorOptions = CURSOR_OPT_NO_SCROLL;
	MemoryContextSwitchTo(caller);
	if (!read_only)
		CommandCounterIncrement();
	PortalStart(portal, NULL, 0, read_only ? GetActiveSnapshot() : GetTransactionSnapshot());
	error_context_stack = context.previous;
	return portal;
}

Portal
hopper_cursor_open(const char *query, bool read_only)
{
	return open_portal(query, read_only, NULL);
}

hopper_row_cursor
hopper_row_cursor_open(const char *query)
{
	hopper_row_cursor rows = {NULL};

	rows.portal = open_portal(query, true, &rows);
	if (rows.from == NULL)
		rows.desc = rows.portal->tupDesc;
	return rows;
}

/*
 * Columns of one length that lie side by side in the statement and in the table's rows: in every
 * row without NULL at one place, as there is nothing but columns of fixed lengths before them.
 */
typedef struct column_run
{
	int			length;
	bool		by_value;
	int			first;			/* in the statement */
	int			n;
	size_t		place;			/* in the row's data */
} column_run;

typedef struct row_receiver
{
	DestReceiver own;
	const hopper_row_cursor *rows;
	AttrNumber	last;			/* of rows->from */
	column_run *runs;			/* of all columns of rows->from that the table has */
	int			n_runs;			/* 0: some have no place of their own */
	int			first_other;	/* the first column that the table has not, or their number */
	Datum	   *values;			/* then: in the statement's order */
	bool	   *nulls;
	MemoryContext room;
	MemoryContext whole;		/* a copy of the row, where it is a value itself */
	hopper_row_taker take;
	void	   *state;
	MemoryContext context;
	ResourceOwner owner;		/* what a taker opens is not closed with the portal */
	uint64		n;
} row_receiver;

/* Finds the runs, by the table's columns. */
static void
begin_rows(DestReceiver *own, int operation, TupleDesc descriptor)
{
	row_receiver *receiver = (row_receiver *) own;
	const AttrNumber *from = receiver->rows->from;
	int			n = receiver->rows->desc->natts;
	size_t	   *places;
	size_t		end = 0;

	if (from == NULL || receiver->runs)
		return;
	places = MemoryContextAlloc(receiver->room, receiver->last * sizeof(size_t));
	receiver->runs = MemoryContextAlloc(receiver->room, n * sizeof(column_run));
	for (int i = 0; i < receiver->last; i++)
	{
		Form_pg_attribute column = TupleDescAttr(descriptor, i);

		if (column->attlen <= 0)
			return;
		places[i] = att_align_nominal(end, column->attalign);
		end = places[i] + column->attlen;
	}
	for (int i = 0; i < n; i++)
	{
		column_run *last = receiver->n_runs > 0 ? &receiver->runs[receiver->n_runs - 1] : NULL;
		column_run	run = {.first = i,.n = 1};

		if (from[i] <= 0)
			continue;
		run.length = TupleDescAttr(descriptor, from[i] - 1)->attlen;
		run.by_value = TupleDescAttr(descriptor, from[i] - 1)->attbyval;
		run.place = places[from[i] - 1];
		if (last && last->length == run.length && last->by_value == run.by_value &&
			last->first + last->n == i && last->place + last->n * last->length == run.place)
			last->n++;
		else
			receiver->runs[receiver->n_runs++] = run;
	}
}

/* The columns from the one numbered `first` on. */
static void
copy_run(const column_run *run, int first, const char *data, Datum *restrict values)
{
	const char *from = data + run->place;

	values += run->first;
#define COPY(type, get) \
	for (int i = first; i < run->n; i++) \
	{ \
		type value; \
		memcpy(&value, from + i * sizeof(value), sizeof(value)); \
		values[i] = get(value); \
	}

	switch (run->by_value ? run->length : 0)
	{
		case 1:
			COPY(char, CharGetDatum);
			break;
		case 2:
			COPY(int16, Int16GetDatum);
			break;
		case 4:
			COPY(int32, Int32GetDatum);
			break;
		case 8:
			COPY(int64, Int64GetDatum);
			break;
		default:
			for (int i = first; i < run->n; i++)
				values[i] = PointerGetDatum(from + i * run->length);
	}
#undef COPY
}

/* The row where it lies, if its columns have the places of the runs; or NULL. */
static const char *
data_of_row(const row_receiver *receiver, TupleTableSlot *slot)
{
	HeapTuple	row;

	if (receiver->n_runs == 0 || !TTS_IS_BUFFERTUPLE(slot))
		return NULL;
	row = ExecFetchSlotHeapTuple(slot, false, NULL);
	if (HeapTupleHasNulls(row) || HeapTupleHeaderGetNatts(row->t_data) < receiver->last)
		return NULL;
	return (const char *) row->t_data + row->t_data->t_hoff;
}

/* Returns how many of the row's columns were taken as they lie. */
static int
give_numbers(const row_receiver *receiver, const char *data)
{
	const hopper_row_cursor *rows = receiver->rows;
	const column_run *run = &receiver->runs[0];

	return rows->take_numbers && run->first == 0 && run->by_value && run->n >= rows->n_numbers &&
		(size_t) run->length * rows->n_numbers == rows->numbers_size &&
		rows->take_numbers(receiver->state, data + run->place) ? rows->n_numbers : 0;
}

/* The table's columns in the statement's order. */
static void
order_columns(row_receiver *receiver, TupleTableSlot *slot)
{
	const AttrNumber *from = receiver->rows->from;
	int			n = receiver->rows->desc->natts;
	const char *data = data_of_row(receiver, slot);
	const Datum *table_values = slot->tts_values;
	const bool *table_nulls = slot->tts_isnull;
	Datum	   *restrict values = receiver->values;
	bool	   *restrict nulls = receiver->nulls;

	memset(nulls, 0, n * sizeof(bool));
	for (int i = 0; data && i < receiver->n_runs; i++)
		copy_run(&receiver->runs[i], i == 0 ? give_numbers(receiver, data) : 0, data, values);
	if (data == NULL)
		slot_getsomeattrs(slot, receiver->last);
	for (int i = data ? receiver->first_other : 0; i < n; i++)
	{
		if (from[i] > 0 && data)
			continue;
		if (from[i] > 0)
		{
			values[i] = table_values[from[i] - 1];
			nulls[i] = table_nulls[from[i] - 1];
		}
		else if (from[i] < 0)
			values[i] = slot_getsysattr(slot, from[i], &nulls[i]);
		else
		{
			MemoryContext caller;

			MemoryContextReset(receiver->whole);
			caller = MemoryContextSwitchTo(receiver->whole);
			values[i] = ExecFetchSlotHeapTupleDatum(slot);
			nulls[i] = false;
			MemoryContextSwitchTo(caller);
		}
	}
}

static bool
receive_row(TupleTableSlot *slot, DestReceiver *own)
{
	row_receiver *receiver = (row_receiver *) own;
	ResourceOwner portals = CurrentResourceOwner;
	bool		in_order = receiver->rows->from == NULL;
	MemoryContext caller;

	if (in_order)
		slot_getallattrs(slot);
	else
		order_columns(receiver, slot);
	caller = MemoryContextSwitchTo(receiver->context);
	CurrentResourceOwner = receiver->owner;
	receiver->take(receiver->state, in_order ? slot->tts_values : receiver->values,
				   in_order ? slot->tts_isnull : receiver->nulls);
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
hopper_row_cursor_give(const hopper_row_cursor *rows, long n, hopper_row_taker take, void *state)
{
	MemoryContext room = AllocSetContextCreate(CurrentMemoryContext, "hopper rows",
											   ALLOCSET_SMALL_SIZES);
	row_receiver receiver = {.own = {receive_row, begin_rows, end_rows, end_rows, DestNone},
		.rows = rows,.take = take,.state = state,.context = CurrentMemoryContext,
	.owner = CurrentResourceOwner};

	receiver.room = room;
	receiver.values = MemoryContextAlloc(room, rows->desc->natts * sizeof(Datum));
	receiver.nulls = MemoryContextAlloc(room, rows->desc->natts * sizeof(bool));
	receiver.whole = AllocSetContextCreate(room, "hopper whole row", ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; rows->from && i < rows->desc->natts; i++)
	{
		receiver.last = Max(receiver.last, rows->from[i]);
		if (rows->from[i] > 0 && receiver.first_other == i)
			receiver.first_other++;
	}
	(void) PortalRunFetch(rows->portal, FETCH_FORWARD, n, &receiver.own);
	MemoryContextDelete(room);
	return receiver.n;
}
