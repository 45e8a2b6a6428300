/*
 * row_versions.c
 *		The versions of rows that a statement sees, from the table itself: where each call asks for
 *		them, a statement's analysis and plan would take most of its time.
 */
#include "pg/local/local.h"

#include "access/genam.h"
#include "access/relation.h"
#include "catalog/pg_am.h"
#include "catalog/pg_opfamily.h"
#include "storage/bufmgr.h"
#include "utils/fmgroids.h"

/* Read as they are: opening an index takes longer. */
#define FEW_BLOCKS 4

/* As the planner would look at it: all rows are in it, in the order of this column alone. */
static bool
can_find(Relation index, AttrNumber column)
{
	Form_pg_index form = index->rd_index;

	return form->indisvalid && !form->indcheckxmin && form->indnkeyatts == 1 &&
		form->indkey.values[0] == column && index->rd_rel->relam == BTREE_AM_OID &&
		index->rd_opfamily[0] == INTEGER_BTREE_FAM_OID &&
		heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL);
}

static Oid
index_of(Relation relation, AttrNumber column)
{
	ListCell   *cell;

	foreach(cell, RelationGetIndexList(relation))
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);
		bool		found = can_find(index, column);

		index_close(index, AccessShareLock);
		if (found)
			return lfirst_oid(cell);
	}
	return InvalidOid;
}

static void
append_version(Oid relation, HeapTuple tuple, StringInfo versions)
{
	struct
	{
		Oid			table;
		TransactionId xmin;
		CommandId	cmin;
		BlockNumber block;
		OffsetNumber offset;
	}			version;

	memset(&version, 0, sizeof(version));
	version.table = relation;
	version.xmin = HeapTupleHeaderGetXmin(tuple->t_data);
	version.cmin = HeapTupleHeaderGetRawCommandId(tuple->t_data);
	version.block = ItemPointerGetBlockNumber(&tuple->t_self);
	version.offset = ItemPointerGetOffsetNumber(&tuple->t_self);
	appendBinaryStringInfo(versions, (char *) &version, sizeof(version));
}

bool
hopper_row_versions(Oid relation, const char *key_column, int32 key, StringInfo versions, int64 *n)
{
	AttrNumber	column = key_column ? get_attnum(relation, key_column) : InvalidAttrNumber;
	Relation	opened;
	SysScanDesc scan;
	ScanKeyData condition;
	HeapTuple	tuple;
	Oid			index = InvalidOid;

	*n = 0;
	if (key_column && (column <= 0 || get_atttype(relation, column) != INT4OID))
		return false;
	opened = relation_open(relation, AccessShareLock);
	if (opened->rd_rel->relam != HEAP_TABLE_AM_OID)
	{
		relation_close(opened, AccessShareLock);
		return false;
	}
	if (key_column)
	{
		if (RelationGetNumberOfBlocks(opened) > FEW_BLOCKS)
			index = index_of(opened, column);
		ScanKeyInit(&condition, column, BTEqualStrategyNumber, F_INT4EQ, Int32GetDatum(key));
	}
	scan = systable_beginscan(opened, index, OidIsValid(index), GetActiveSnapshot(),
							  key_column ? 1 : 0, &condition);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		CHECK_FOR_INTERRUPTS();
		append_version(relation, tuple, versions);
		++*n;
	}
	systable_endscan(scan);
	relation_close(opened, NoLock);
	return true;
}
