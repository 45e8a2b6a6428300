/*
 * placement.h
 *		Where the partitions of packed tables lie: in one place, or on the segments of a Greenplum
 *		cluster. A server is built with one of two implementations: local/placement.c,
 *		greenplum/coordinator/keys.c.
 */
#ifndef HOPPER_PLACEMENT_H
#define HOPPER_PLACEMENT_H

#include "pg/codec/packed.h"

/*
 * Segments that distribution_rules names (NULL: all), ascending by content id; palloc'ed. 0 and
 * NULL where there is one place for all data.
 */
extern int	hopper_chosen_segments(const char *rules, int32 **contents);
/*
 * A key for each of n_partitions, spread in runs over the segments; `table` is distributed by
 * __dist_key__. *starts gets the first partition of each run. NULL where there are no segments.
 */
extern int32 *hopper_place_partitions(Oid table, int32 n_partitions, int n_segments,
									  const int32 *contents, int32 *n_starts, int32 **starts);
/*
 * The key of each partition as it lies on the segments; ERROR 55000 where the table is not
 * distributed by __dist_key__, or a partition lies on several segments. NULL where there are no
 * segments. SPI must be connected.
 */
extern int32 *hopper_partition_keys(const hopper_packed *packed);
/*
 * The partitions that the summary speaks of are there, before anything is kept for each of them:
 * ERROR XX001 otherwise. Reads the table, but no features and labels. (On segments
 * hopper_partition_keys() looks for each of them.)
 */
extern void hopper_require_partitions(const hopper_packed *packed);
/*
 * ERROR with a hint where a segment cannot be reached or has no library of ours: it would end the
 * work half way, in the server's words. SPI must be connected.
 */
extern void hopper_require_segments(void);
/* Whether rows of a relation have a ctid: those of external and replicated tables have none. */
extern bool hopper_has_ctid(Oid relation);
/* Whether this process works for a segment, where SQL cannot be run. */
extern bool hopper_on_a_segment(void);

#endif							/* HOPPER_PLACEMENT_H */
