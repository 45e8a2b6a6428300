/*
 * bulk_insert.c
 *		Rows into a new table, past the executor: 0.5 us a row instead of 2. Not for Greenplum,
 *		whose coordinator has no rows.
 *
 * An event trigger may have given the new table what only the executor heeds: columns with
 * defaults, triggers, policies, bounds of a partition, another owner. Then rows go through it, as
 * the caller's own INSERT would.
 */
#include "pg/local/bulk_insert.h"

#include "access/heapam.h"

#include "pg/server/row_types.h"

#define ROWS_AT_ONCE 512

struct hopper_bulk_insert
{
	Relation	relation;
	char	   *shown;
	SPIPlanPtr	plan;			/* of an INSERT; NULL: past the executor */

	/* with a plan */
	int			n_columns;
	char	   *marks;			/* of NULLs */

	/* without one */
	CommandId	command;
	BulkInsertState state;
	MemoryContext rows;			/* tuples that are not yet written */
	int			n;
	HeapTuple	tuples[ROWS_AT_ONCE];
	TupleTableSlot *slots[ROWS_AT_ONCE];
};

/* Writing past the executor leaves out all that it would do for such a table. */
static bool
is_plain(Relation relation, int n)
{
	const FormData_pg_class *form = relation->rd_rel;

	return !form->relhasindex && !form->relhastriggers && !form->relhasrules &&
		!form->relhassubclass && !form->relrowsecurity && !form->relispartition &&
		RelationGetDescr(relation)->constr == NULL && RelationGetDescr(relation)->natts == n &&
		pg_class_aclcheck(RelationGetRelid(relation), GetUserId(), ACL_INSERT) == ACLCHECK_OK;
}

static void
prepare_executor(hopper_bulk_insert *insert, const hopper_name *table, int n, const Oid *types)
{
	StringInfo	query = makeStringInfo();

	appendStringInfo(query, "INSERT INTO %s (", table->quoted);
	for (int i = 0; i < n; i++)
	{
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(insert->relation), i);

		appendStringInfo(query, "%s%s", i ? ", " : "",
						 hopper_identifier(NameStr(column->attname)));
	}
	appendStringInfoString(query, ") VALUES (");
	for (int i = 0; i < n; i++)
		appendStringInfo(query, "%s$%d", i ? ", " : "", i + 1);
	appendStringInfoChar(query, ')');
	insert->n_columns = n;
	insert->marks = palloc(n);
	insert->plan = SPI_prepare(query->data, n, (Oid *) types);
	if (insert->plan == NULL)
		elog(ERROR, "preparing to insert predictions failed: %s",
			 SPI_result_code_string(SPI_result));
	pfree(query->data);
}

static void
execute(const hopper_bulk_insert *insert, const Datum *values, const bool *nulls)
{
	int			rc;

	for (int i = 0; i < insert->n_columns; i++)
		insert->marks[i] = nulls[i] ? 'n' : ' ';
	rc = SPI_execute_plan(insert->plan, (Datum *) values, insert->marks, false, 0);
	if (rc < 0)
		elog(ERROR, "inserting predictions failed: %s", SPI_result_code_string(rc));
	if (rc != SPI_OK_INSERT || SPI_processed != 1)
		hopper_raise(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
					 errmsg("\"%s\" does not take all rows of predictions", insert->shown),
					 errhint("Look for triggers and rules that something gives to new tables."));
}

hopper_bulk_insert *
hopper_bulk_insert_open(const hopper_name *table, int n, const Oid *types)
{
	hopper_bulk_insert *insert = palloc0(sizeof(hopper_bulk_insert));
	TupleDesc	descriptor;

	insert->shown = pstrdup(table->shown);
	insert->relation = table_open(hopper_relation_oid(table, false), RowExclusiveLock);
	if (insert->relation->rd_rel->relkind != RELKIND_RELATION ||
		insert->relation->rd_createSubid == InvalidSubTransactionId)
		hopper_raise(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
					 errmsg("\"%s\" is not the table that was just made", table->shown),
					 errhint("Choose another name for the output, or give it with its schema."));
	descriptor = RelationGetDescr(insert->relation);
	hopper_require_first_types(descriptor, n, types, table->shown);
	if (!is_plain(insert->relation, n))
	{
		prepare_executor(insert, table, n, types);
		return insert;
	}
	insert->command = GetCurrentCommandId(true);
	insert->state = GetBulkInsertState();
	insert->rows = AllocSetContextCreate(CurrentMemoryContext, "hopper rows to insert",
										 ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < ROWS_AT_ONCE; i++)
		insert->slots[i] = MakeSingleTupleTableSlot(descriptor, &TTSOpsHeapTuple);
	return insert;
}

/* A full disk's error knows the file only. */
static void
insert_context(void *arg)
{
	errcontext("writing to \"%s\"", RelationGetRelationName((Relation) arg));
}

static void
flush(hopper_bulk_insert *insert)
{
	MemoryContext caller = MemoryContextSwitchTo(insert->rows);
	ErrorContextCallback context = {error_context_stack, insert_context, insert->relation};

	error_context_stack = &context;
	for (int i = 0; i < insert->n; i++)
		ExecStoreHeapTuple(insert->tuples[i], insert->slots[i], false);
	if (insert->n > 0)
		table_multi_insert(insert->relation, insert->slots, insert->n, insert->command, 0,
						   insert->state);
	for (int i = 0; i < insert->n; i++)
		ExecClearTuple(insert->slots[i]);
	error_context_stack = context.previous;
	insert->n = 0;
	MemoryContextSwitchTo(caller);
	MemoryContextReset(insert->rows);
}

void
hopper_bulk_insert_row(hopper_bulk_insert *insert, const Datum *values, const bool *nulls)
{
	MemoryContext caller;

	if (insert->plan)
	{
		execute(insert, values, nulls);
		return;
	}
	caller = MemoryContextSwitchTo(insert->rows);
	insert->tuples[insert->n++] = heap_form_tuple(RelationGetDescr(insert->relation),
												  (Datum *) values, (bool *) nulls);
	MemoryContextSwitchTo(caller);
	if (insert->n == ROWS_AT_ONCE)
		flush(insert);
}

void
hopper_bulk_insert_close(hopper_bulk_insert *insert)
{
	if (insert->plan)
	{
		SPI_freeplan(insert->plan);
		pfree(insert->marks);
	}
	else
	{
		flush(insert);
		for (int i = 0; i < ROWS_AT_ONCE; i++)
			ExecDropSingleTupleTableSlot(insert->slots[i]);
		table_finish_bulk_insert(insert->relation, 0);
		FreeBulkInsertState(insert->state);
		MemoryContextDelete(insert->rows);
	}
	table_close(insert->relation, NoLock);
	pfree(insert->shown);
	pfree(insert);
	CommandCounterIncrement();
}
