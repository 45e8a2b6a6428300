/*
 * keys.c
 *		Which segment holds a partition: values of __dist_key__ that hash to wanted segments.
 */
#include "pg/greenplum/segments.h"

#include "cdb/cdbhash.h"
#include "cdb/cdbutil.h"
#include "cdb/cdbvars.h"

#include "pg/greenplum/kernel.h"

#define MAX_KEY 100000000

int
hopper_segments_on_a_host(void)
{
	int			most = 1;

	if (hopper_select("SELECT pg_catalog.max(n) FROM (SELECT pg_catalog.count(*) AS n"
					  " FROM pg_catalog.gp_segment_configuration"
					  " WHERE content OPERATOR(pg_catalog.>=) 0::pg_catalog.int2"
					  " AND role OPERATOR(pg_catalog.=) 'p' GROUP BY hostname) s") == 1)
		most = (int) hopper_int_cell(NULL, 0, 1, 1, PG_INT32_MAX);
	SPI_freetuptable(SPI_tuptable);
	return most;
}

void
hopper_ask_of_segments(hopper_run_options *options, bool threads_given)
{
	if (!threads_given)
		options->threads = hopper_threads;
	options->memory_limit = HOPPER_BYTES(hopper_memory_limit);
}

int32 *
hopper_segment_numbers(int *n)
{
	uint64		rows;
	int32	   *numbers;

	*n = getgpsegmentCount();
	numbers = palloc0(sizeof(int32) * *n);
	rows = hopper_select("SELECT content, pg_catalog.row_number() OVER (PARTITION BY hostname"
						 " ORDER BY content) OPERATOR(pg_catalog.-) 1"
						 " FROM pg_catalog.gp_segment_configuration"
						 " WHERE content OPERATOR(pg_catalog.>=) 0::pg_catalog.int2"
						 " AND role OPERATOR(pg_catalog.=) 'p'");
	for (uint64 row = 0; row < rows; row++)
	{
		int			content = hopper_key_cell(NULL, row, 1);

		if (content < *n)
			numbers[content] = hopper_key_cell(NULL, row, 2);
	}
	SPI_freetuptable(SPI_tuptable);
	return numbers;
}

int
hopper_chosen_segments(const char *rules, int32 **contents)
{
	uint64		n;

	if (rules == NULL || strcmp(rules, "all_segments") == 0)
	{
		int			all = getgpsegmentCount();

		*contents = palloc(sizeof(int32) * all);
		for (int i = 0; i < all; i++)
			(*contents)[i] = i;
		return all;
	}
	if (strcmp(rules, "gpu_segments") == 0)
		n = hopper_calls_select("SELECT DISTINCT s.content::pg_catalog.int4"
								" FROM segment_gpus() g,"
								" pg_catalog.gp_segment_configuration s"
								" WHERE s.hostname OPERATOR(pg_catalog.=) g.hostname"
								" AND s.content OPERATOR(pg_catalog.>=) 0::pg_catalog.int2"
								" AND s.role OPERATOR(pg_catalog.=) 'p'");
	else
	{
		hopper_name table = hopper_parse_name(cstring_to_text(rules), "distribution_rules");

		hopper_require_column(hopper_relation_oid(&table, false), "dbid");
		n = hopper_select("SELECT DISTINCT s.content::pg_catalog.int4 FROM %s r,"
						  " pg_catalog.gp_segment_configuration s"
						  " WHERE s.dbid::pg_catalog.int4 OPERATOR(pg_catalog.=)"
						  " r.dbid::pg_catalog.int4"
						  " AND s.content OPERATOR(pg_catalog.>=) 0::pg_catalog.int2"
						  " AND s.role OPERATOR(pg_catalog.=) 'p'", table.quoted);
	}
	if (n == 0)
		hopper_wrong(errmsg("distribution_rules \"%s\" name no segment", rules),
					 strcmp(rules, "gpu_segments") == 0
					 ? errdetail("No host of a segment has a GPU.")
					 : errdetail("No dbid in that table is the dbid of a primary segment."),
					 errhint("Leave distribution_rules out to use all segments."));
	*contents = palloc(sizeof(int32) * n);
	for (uint64 i = 0; i < n; i++)
		(*contents)[i] = hopper_key_cell(NULL, i, 1);
	qsort(*contents, n, sizeof(int32), hopper_compare_key);
	return (int) n;
}

/* The smallest key from 0 that each content id's segment is hashed to. */
static int32 *
keys_of_segments(Oid table, int n_segments, const int32 *contents)
{
	Relation	relation = relation_open(table, AccessShareLock);
	CdbHash    *hash = makeCdbHashForRelation(relation);
	int32	   *keys = palloc(sizeof(int32) * n_segments);
	int			found = 0;

	for (int i = 0; i < n_segments; i++)
		keys[i] = -1;
	for (int32 key = 0; key < MAX_KEY && found < n_segments; key++)
	{
		int32		segment;

		cdbhashinit(hash);
		cdbhash(hash, 1, Int32GetDatum(key), false);
		segment = (int32) cdbhashreduce(hash);
		for (int i = 0; i < n_segments; i++)
		{
			if (contents[i] == segment && keys[i] < 0)
			{
				keys[i] = key;
				found++;
			}
		}
		CHECK_FOR_INTERRUPTS();
	}
	relation_close(relation, NoLock);
	if (found < n_segments)
		elog(ERROR, "no distribution key for one of %d segments", n_segments);
	return keys;
}

int32 *
hopper_place_partitions(Oid table, int32 n_partitions, int n_segments, const int32 *contents,
						int32 *n_starts, int32 **starts)
{
	int			n_runs = Min(n_segments, n_partitions);
	int32	   *segment_keys = keys_of_segments(table, n_runs, contents);
	int32	   *keys = palloc(sizeof(int32) * n_partitions);

	*n_starts = n_runs;
	*starts = palloc(sizeof(int32) * n_runs);
	for (int run = 0; run < n_runs; run++)
	{
		int64		first;
		int64		count;

		hopper_core()->partition_range(n_partitions, n_runs, run, &first, &count);
		(*starts)[run] = (int32) first;
		for (int64 p = first; p < first + count; p++)
			keys[p] = segment_keys[run];
	}
	return keys;
}

static void
refuse_placement(const hopper_packed *packed, const char *detail)
{
	hopper_unmet(errmsg("packed table \"%s\" is not spread over the segments as it was packed",
						packed->table.shown),
				 errdetail("%s", detail),
				 errhint("Pack the data again."));
}

int32 *
hopper_distinct_keys(const int32 *keys, int n, int *count)
{
	int32	   *sorted = palloc(sizeof(int32) * n);

	memcpy(sorted, keys, sizeof(int32) * n);
	qsort(sorted, n, sizeof(int32), hopper_compare_key);
	*count = 0;
	for (int i = 0; i < n; i++)
		if (*count == 0 || sorted[i] != sorted[*count - 1])
			sorted[(*count)++] = sorted[i];
	return sorted;
}

int
hopper_count_keys(const int32 *keys, int n)
{
	int			count;

	pfree(hopper_distinct_keys(keys, n, &count));
	return count;
}

/* Where a partition lies, to be sorted by its key or by its segment. */
typedef struct placed_partition
{
	int32		by;
	int32		partition;
} placed_partition;

static int
compare_placed(const void *a, const void *b)
{
	const placed_partition *x = a;
	const placed_partition *y = b;
	int			order = hopper_compare_key(&x->by, &y->by);

	return order != 0 ? order : hopper_compare_key(&x->partition, &y->partition);
}

/* Partitions that have the same of `by` have the same key and lie on the same segment. */
static void
require_together(const hopper_packed *packed, const int32 *by, const int32 *keys,
				 const int32 *segments)
{
	int32		n = packed->desc.n_partitions;
	placed_partition *sorted = palloc(sizeof(placed_partition) * n);

	for (int32 p = 0; p < n; p++)
	{
		sorted[p].by = by[p];
		sorted[p].partition = p;
	}
	qsort(sorted, n, sizeof(placed_partition), compare_placed);
	for (int32 i = 1; i < n; i++)
	{
		int32		q = sorted[i - 1].partition;
		int32		p = sorted[i].partition;

		CHECK_FOR_INTERRUPTS();
		if (by[p] == by[q] && (keys[p] != keys[q] || segments[p] != segments[q]))
			refuse_placement(packed, psprintf("Partitions %d and %d have the keys %d and %d on "
											  "segments %d and %d.", q, p, keys[q], keys[p],
											  segments[q], segments[p]));
	}
	pfree(sorted);
}

int32 *
hopper_partition_keys(const hopper_packed *packed)
{
	Relation	relation = relation_open(hopper_relation_oid(&packed->table, false),
										 AccessShareLock);
	const GpPolicy *policy = relation->rd_cdbpolicy;
	AttrNumber	column = get_attnum(RelationGetRelid(relation), HOPPER_DIST_KEY);
	int32		n = packed->desc.n_partitions;
	int32	   *keys = palloc(sizeof(int32) * n);
	int32	   *segments = palloc(sizeof(int32) * n);
	bool	   *known = palloc0(sizeof(bool) * n);
	uint64		n_rows;

	if (column == InvalidAttrNumber || policy == NULL ||
		policy->ptype != POLICYTYPE_PARTITIONED || policy->nattrs != 1 ||
		policy->attrs[0] != column)
		refuse_placement(packed, "It is not distributed by \"" HOPPER_DIST_KEY "\".");
	if (policy->numsegments != getgpsegmentCount())
		refuse_placement(packed, psprintf("It lies on %s, the cluster has %d.",
										  hopper_plural(policy->numsegments, "segment",
														"segments"), getgpsegmentCount()));
	relation_close(relation, NoLock);
	n_rows = hopper_select("SELECT partition_id, " HOPPER_DIST_KEY ", gp_segment_id FROM %s"
						   " GROUP BY 1, 2, 3", packed->table.quoted);
	for (uint64 row = 0; row < n_rows; row++)
	{
		int32		p = hopper_key_cell(&packed->table, row, 1);
		int32		key = hopper_key_cell(&packed->table, row, 2);
		int32		segment = hopper_key_cell(&packed->table, row, 3);

		if (p < 0 || p >= n || known[p])
			refuse_placement(packed, psprintf("Partition %d lies on several segments or is not "
											  "known.", p));
		known[p] = true;
		keys[p] = key;
		segments[p] = segment;
	}
	for (int32 p = 0; p < n; p++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!known[p])
			refuse_placement(packed, psprintf("Partition %d is missing.", p));
	}
	SPI_freetuptable(SPI_tuptable);
	require_together(packed, keys, keys, segments);
	require_together(packed, segments, keys, segments);
	return keys;
}
