/*
 * memory_use.c
 *		malloc_in_use() -> bytes that this session's malloc() has handed out and not got back.
 */
#include "postgres.h"

#include <malloc.h>

#include "fmgr.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(malloc_in_use);

Datum
malloc_in_use(PG_FUNCTION_ARGS)
{
	struct mallinfo2 all = mallinfo2();

	PG_RETURN_INT64((int64) (all.uordblks + all.hblkhd));
}
