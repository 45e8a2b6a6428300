/*
 * placement.c
 *		All data lie in one place.
 */
#include "pg/codec/placement.h"

int
hopper_chosen_segments(const char *rules, int32 **contents)
{
	*contents = NULL;
	return 0;
}

int32 *
hopper_place_partitions(Oid table, int32 n_partitions, int n_segments, const int32 *contents,
						int32 *n_starts, int32 **starts)
{
	return NULL;
}

int32 *
hopper_partition_keys(const hopper_packed *packed)
{
	return NULL;
}

void
hopper_require_partitions(const hopper_packed *packed)
{
	char	   *last;

	hopper_select("SELECT pg_catalog.max(partition_id)::pg_catalog.int8 FROM %s",
				  packed->table.quoted);
	last = hopper_cell(0, 1);
	if (last == NULL || strtoll(last, NULL, 10) != packed->desc.n_partitions - 1)
		hopper_refuse_packed(packed, psprintf("Its last partition is %s; the summary speaks of %d "
									   "partitions", last ? last : "missing",
									   packed->desc.n_partitions));
	SPI_freetuptable(SPI_tuptable);
}

void
hopper_require_segments(void)
{
}

bool
hopper_has_ctid(Oid relation)
{
	return true;
}

bool
hopper_on_a_segment(void)
{
	return false;
}
