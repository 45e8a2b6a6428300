/*
 * read.c
 *		A segment reads its own rows of a packed table, where data come and go during a visit.
 *
 * The rows lie in this process' part of the table, so that they are read as the executor would read
 * them: under the statement's snapshot and a lock that lasts as long as the transaction. SQL cannot
 * be used here, in the middle of a statement that other segments run, too.
 */
#include "pg/greenplum/segments.h"

#include "pg/greenplum/kernel.h"

typedef struct found_buffer
{
	int32		id;
	HeapTuple	tuple;			/* with TOAST pointers, not with the data */
} found_buffer;

static AttrNumber
column_of(Relation relation, const char *name, Oid type)
{
	AttrNumber	number = hopper_require_column(RelationGetRelid(relation), name);

	hopper_require_type(RelationGetDescr(relation), number, type);
	return number;
}

static Datum
value_of(Relation relation, HeapTuple tuple, AttrNumber column)
{
	bool		isnull;
	Datum		value = heap_getattr(tuple, column, RelationGetDescr(relation), &isnull);

	if (isnull)
		hopper_raise(ERRCODE_DATA_CORRUPTED,
					 errmsg("packed table \"%s\" is damaged", RelationGetRelationName(relation)),
					 errdetail("Column \"%s\" holds NULL.",
							   NameStr(TupleDescAttr(relation->rd_att, column - 1)->attname)),
					 errhint("Pack the data again."));
	return value;
}

/*
 * The rights that a SELECT of these columns would want. The relation is only a number in the
 * description, and nobody but this function looks at the rights where it is read.
 */
static void
require_rights(Relation relation, const AttrNumber *columns, int n)
{
	Oid			table = RelationGetRelid(relation);

	if (hopper_hides_rows(table))
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("table \"%s\" with row-level security cannot be read in turns",
							RelationGetRelationName(relation)),
					 errhint("Raise hopper.memory_limit, so that the data stay in memory."));
	if (pg_class_aclcheck(table, GetUserId(), ACL_SELECT) == ACLCHECK_OK)
		return;
	for (int i = 0; i < n; i++)
		if (pg_attribute_aclcheck(table, columns[i], GetUserId(), ACL_SELECT) != ACLCHECK_OK)
			aclcheck_error(ACLCHECK_NO_PRIV, HOPPER_OBJECT_TABLE,
						   RelationGetRelationName(relation));
}

void
hopper_segment_read(const hopper_segment_table *table, hopper_split split, int32 partition,
					hopper_buffer_fn callback, void *state)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(caller, "hopper packed partition",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext one;
	Relation	relation;
	hopper_table_scan scan;
	HeapTuple	tuple;
	AttrNumber	columns[6];
	found_buffer *found = NULL;
	int			n = 0;
	int			allocated = 0;

	MemoryContextSwitchTo(context);
	one = AllocSetContextCreate(context, "hopper packed buffer", ALLOCSET_DEFAULT_SIZES);
	relation = hopper_try_table_open(table->relation, AccessShareLock);
	if (relation == NULL)
		hopper_raise(ERRCODE_UNDEFINED_TABLE,
					 errmsg("the packed table of relation %u does not exist any more",
							table->relation));
	if (relation->rd_rel->relkind != RELKIND_RELATION || !RelationIsHeap(relation))
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("append-optimized table \"%s\" cannot be read in turns",
							RelationGetRelationName(relation)),
					 errhint("Pack the data again, or raise hopper.memory_limit."));
	columns[0] = column_of(relation, "partition_id", INT4OID);
	columns[1] = column_of(relation, "buffer_id", INT4OID);
	columns[2] = column_of(relation, "n", INT4OID);
	columns[3] = column_of(relation, table->x_column, BYTEAOID);
	columns[4] = column_of(relation, table->y_column, BYTEAOID);
	columns[5] = column_of(relation, "checksum", BYTEAOID);
	require_rights(relation, columns, lengthof(columns));

	scan = hopper_begin_scan(relation, GetActiveSnapshot());
	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (DatumGetInt32(value_of(relation, tuple, columns[0])) != partition)
			continue;
		hopper_grow(found, n + 1, allocated);
		found[n].id = DatumGetInt32(value_of(relation, tuple, columns[1]));
		found[n++].tuple = heap_copytuple(tuple);
	}
	hopper_end_scan(scan);
	qsort(found, n, sizeof(found_buffer), hopper_compare_key);

	MemoryContextSwitchTo(one);
	for (int i = 0; i < n; i++)
	{
		hopper_buffer buffer;
		Datum		row[6];

		for (int column = 0; column < lengthof(row); column++)
			row[column] = value_of(relation, found[i].tuple, columns[column]);
		buffer = hopper_make_buffer(split, row);
		callback(&buffer, state);
		MemoryContextReset(one);
		CHECK_FOR_INTERRUPTS();
	}
	table_close(relation, NoLock);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
}
