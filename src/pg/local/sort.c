/*
 * sort.c
 *		The server's external sort over byte strings.
 */
#include "pg/local/sort.h"

#include "executor/tuptable.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

struct hopper_sort
{
	Tuplesortstate *state;
	TupleTableSlot *in;
	TupleTableSlot *out;
};

hopper_sort *
hopper_sort_begin(int memory)
{
	hopper_sort *sort = palloc(sizeof(hopper_sort));
	TupleDesc	row = CreateTemplateTupleDesc(1);
	AttrNumber	column = 1;
	Oid			less_than = lookup_type_cache(BYTEAOID, TYPECACHE_LT_OPR)->lt_opr;
	Oid			collation = InvalidOid;
	bool		nulls_first = false;

	TupleDescInitEntry(row, 1, "value", BYTEAOID, -1, 0);
	TupleDescFinalize(row);
	sort->in = MakeSingleTupleTableSlot(row, &TTSOpsVirtual);
	sort->out = MakeSingleTupleTableSlot(row, &TTSOpsMinimalTuple);
	sort->state = tuplesort_begin_heap(row, 1, &column, &less_than, &collation, &nulls_first,
									   memory, NULL, TUPLESORT_NONE);
	return sort;
}

void
hopper_sort_put(hopper_sort *sort, Datum bytes)
{
	ExecClearTuple(sort->in);
	sort->in->tts_values[0] = bytes;
	sort->in->tts_isnull[0] = false;
	ExecStoreVirtualTuple(sort->in);
	tuplesort_puttupleslot(sort->state, sort->in);
}

void
hopper_sort_perform(hopper_sort *sort)
{
	tuplesort_performsort(sort->state);
}

bool
hopper_sort_get(hopper_sort *sort, Datum *bytes)
{
	bool		isnull;

	if (!tuplesort_gettupleslot(sort->state, true, false, sort->out, NULL))
		return false;
	*bytes = slot_getattr(sort->out, 1, &isnull);
	return true;
}

void
hopper_sort_end(hopper_sort *sort)
{
	ExecDropSingleTupleTableSlot(sort->in);
	ExecDropSingleTupleTableSlot(sort->out);
	tuplesort_end(sort->state);
}
