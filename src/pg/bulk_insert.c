/*
 * bulk_insert.c
 *		Rows into a new table, past the executor: 0.5 us a row instead of 2.
 */
#include "pg/bulk_insert.h"

#include "access/heapam.h"
#include "access/xact.h"
#include "utils/rel.h"
#if PG_VERSION_NUM >= 120000
#include "access/table.h"
#include "access/tableam.h"
#else
#define table_open heap_open
#define table_close heap_close
#endif

#ifdef GP_VERSION_NUM
#include "pg/bulk_insert_distributed.h"
#else

#define ROWS_AT_ONCE 512

struct hopper_bulk_insert
{
	Relation	relation;
	CommandId	command;
	BulkInsertState state;
	MemoryContext rows;			/* tuples that are not yet written */
	int			n;
	HeapTuple	tuples[ROWS_AT_ONCE];
#if PG_VERSION_NUM >= 120000
	TupleTableSlot *slots[ROWS_AT_ONCE];
#endif
};

hopper_bulk_insert *
hopper_bulk_insert_open(Oid relation)
{
	hopper_bulk_insert *insert = palloc0(sizeof(hopper_bulk_insert));

	insert->relation = table_open(relation, RowExclusiveLock);
	insert->command = GetCurrentCommandId(true);
	insert->state = GetBulkInsertState();
	insert->rows = AllocSetContextCreate(CurrentMemoryContext, "hopper rows to insert",
										 ALLOCSET_DEFAULT_SIZES);
#if PG_VERSION_NUM >= 120000
	for (int i = 0; i < ROWS_AT_ONCE; i++)
		insert->slots[i] = MakeSingleTupleTableSlot(RelationGetDescr(insert->relation),
													&TTSOpsHeapTuple);
#endif
	return insert;
}

TupleDesc
hopper_bulk_insert_descriptor(const hopper_bulk_insert *insert)
{
	return RelationGetDescr(insert->relation);
}

static void
flush(hopper_bulk_insert *insert)
{
	MemoryContext caller = MemoryContextSwitchTo(insert->rows);

	if (insert->n > 0)
	{
#if PG_VERSION_NUM >= 120000
		for (int i = 0; i < insert->n; i++)
			ExecStoreHeapTuple(insert->tuples[i], insert->slots[i], false);
		table_multi_insert(insert->relation, insert->slots, insert->n, insert->command, 0,
						   insert->state);
		for (int i = 0; i < insert->n; i++)
			ExecClearTuple(insert->slots[i]);
#else
		heap_multi_insert(insert->relation, insert->tuples, insert->n, insert->command, 0,
						  insert->state);
#endif
	}
	insert->n = 0;
	MemoryContextSwitchTo(caller);
	MemoryContextReset(insert->rows);
}

void
hopper_bulk_insert_row(hopper_bulk_insert *insert, const Datum *values, const bool *nulls)
{
	MemoryContext caller = MemoryContextSwitchTo(insert->rows);

	insert->tuples[insert->n++] = heap_form_tuple(RelationGetDescr(insert->relation),
												  (Datum *) values, (bool *) nulls);
	MemoryContextSwitchTo(caller);
	if (insert->n == ROWS_AT_ONCE)
		flush(insert);
}

void
hopper_bulk_insert_close(hopper_bulk_insert *insert)
{
	flush(insert);
#if PG_VERSION_NUM >= 120000
	for (int i = 0; i < ROWS_AT_ONCE; i++)
		ExecDropSingleTupleTableSlot(insert->slots[i]);
	table_finish_bulk_insert(insert->relation, 0);
#endif
	FreeBulkInsertState(insert->state);
	table_close(insert->relation, NoLock);
	MemoryContextDelete(insert->rows);
	pfree(insert);
	CommandCounterIncrement();
}

#endif
