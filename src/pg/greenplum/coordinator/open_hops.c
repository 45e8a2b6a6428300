/*
 * open_hops.c
 *		The statements by which models enter a run on the segments and leave it.
 *
 * A model whose stint has ended rests in <out>_hop_rest, an unlogged table like those in which
 * models travel, on the segment where it has ended: its state in parts, and its weights as part -1.
 * So states go from segment to segment and never pass the coordinator.
 */
#include "pg/greenplum/coordinator/hops.h"

#include "pg/greenplum/reports.h"
#include "pg/greenplum/wire.h"

static void
require_rest(hopper_hops *hops)
{
	if (!hops->rests)
		hopper_hops_create_table(&hops->rest, true);
	hops->rests = true;
}

bool
hopper_hops_enter(hopper_hops *hops, const hopper_segment_entry *entry)
{
	bytea	   *description = hopper_describe(&hopper_entry_description, entry);
	uint64		n = hopper_hops_ask(hops, "segment_enter($1, $2)",
									HOPPER_PARAMS(HOPPER_INT8(entry->run),
												  HOPPER_BYTEA(description)));
	bool		has_room = true;

	/* Where the data are lost, the next hop will say so. */
	for (uint64 row = 0; row < n; row++)
		has_room = has_room && DatumGetInt32(hopper_told_value(row, 1, INT4OID)) >= 0;
	SPI_freetuptable(SPI_tuptable);
	pfree(description);
	return has_room;
}

/*
 * "(mst_key, key), ...": the segments on which models start, by `keys` or their first partitions;
 * palloc'ed.
 */
static char *
first_keys(const hopper_hops *hops, const int32 *mst_keys, const int32 *keys, int n)
{
	StringInfo	words = makeStringInfo();

	for (int i = 0; i < n; i++)
		appendStringInfo(words, "%s(%d, %d)", i ? ", " : "", mst_keys[i],
						 keys ? keys[i] : hopper_hops_first_key(hops, mst_keys[i]));
	return words->data;
}

void
hopper_hops_put_rested(hopper_hops *hops, const int32 *mst_keys, const int32 *keys, int n)
{
	char	   *places = first_keys(hops, mst_keys, keys, n);

	hopper_exec("INSERT INTO %s (hop, key, next_key, mst_key, part, n_parts, body)"
				" SELECT %d, k.key, k.key, r.mst_key, r.part, r.n_parts, CASE r.part WHEN 0"
				" THEN '%c'::pg_catalog.bytea OPERATOR(pg_catalog.||) r.body ELSE r.body END"
				" FROM %s r JOIN (VALUES %s) k (mst_key, key) USING (mst_key)"
				" WHERE r.part OPERATOR(pg_catalog.>=) 0",
				hopper_hops_table(hops)->quoted, hops->n_statements, HOPPER_ENVELOPE_STATE,
				hops->rest.quoted, places);
	if (SPI_processed < (uint64) n)
		elog(ERROR, "states of models are gone");
	hops->bytes[hops->at] += HOPPER_HOPS_MOST_DEAD; /* nobody has counted them */
	hops->has_models = true;
	pfree(places);
}

/* The rows lie where the models begin, as those that have halted lie where they have. */
void
hopper_hops_take_stored(hopper_hops *hops, const hopper_name *state, const int32 *mst_keys, int n)
{
	char	   *keys = first_keys(hops, mst_keys, NULL, n);
	char	   *which = hopper_of_keys(n, mst_keys, sizeof(int32));

	require_rest(hops);
	hopper_exec("INSERT INTO %s (key, mst_key, part, n_parts, body)"
				" SELECT k.key, s.mst_key, s.part, c.n, s.state FROM %s s"
				" JOIN (VALUES %s) k (mst_key, key) USING (mst_key)"
				" JOIN (SELECT mst_key, pg_catalog.count(*)::pg_catalog.int4 AS n FROM %s%s"
				" AND part OPERATOR(pg_catalog.>=) 0 GROUP BY mst_key) c USING (mst_key)"
				" WHERE s.part OPERATOR(pg_catalog.>=) 0",
				hops->rest.quoted, state->quoted, keys, state->quoted, which);
	pfree(keys);
	pfree(which);
}

void
hopper_hops_park(hopper_hops *hops, const int32 *mst_keys, int n, bool stay)
{
	const hopper_name *from = &hops->tables[hops->at];
	char	   *which = hopper_of_keys(n, mst_keys, sizeof(int32));

	/* Models that have failed leave nothing. */
	if (stay)
	{
		require_rest(hops);
		hopper_exec("INSERT INTO %s (key, mst_key, part, n_parts, body)"
					" SELECT key, mst_key, part, n_parts, body FROM %s%s%s"
					" AND pg_catalog.length(body) OPERATOR(pg_catalog.>) 0",
					hops->rest.quoted, from->quoted, which, hopper_hops_latest(hops, from));
	}
	hopper_exec("DELETE FROM %s%s", from->quoted, which);
	pfree(which);
}

void
hopper_hops_forget(hopper_hops *hops, const int32 *mst_keys, int n, bool only_states)
{
	char	   *which = hopper_of_keys(n, mst_keys, sizeof(int32));

	hopper_exec("DELETE FROM %s%s%s", hops->rest.quoted, which,
				only_states ? " AND part OPERATOR(pg_catalog.>=) 0" : "");
	pfree(which);
}
