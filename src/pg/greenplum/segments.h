/*
 * segments.h
 *		Training on the segments of a Greenplum cluster.
 *
 * Packed tables are distributed by __dist_key__, whose values hash to the wanted segments; a
 * partition lies whole on one segment. Models travel: two state tables are filled in turn by
 *
 *		INSERT INTO b SELECT ... FROM a GROUP BY next_key
 *
 * The redistribution by next_key brings each model to the segment of its next partition; an
 * aggregate collects the models of a segment and trains them in the process that holds the
 * segment's data, and that inserts what comes out.
 */
#ifndef HOPPER_SEGMENTS_H
#define HOPPER_SEGMENTS_H

#include "pg/server/glue.h"
#include "pg/codec/packed.h"
#include "pg/train/run.h"

#ifdef GP_VERSION_NUM

/* --- where partitions lie (greenplum/coordinator/keys.c) --- */

/* Most primaries on one host: what a segment's share of its host is. */
extern int	hopper_segments_on_a_host(void);
/* Of each segment, by content id: its number among the primaries of its host, from 0; palloc'ed. */
extern int32 *hopper_segment_numbers(int *n);

/* Segments that distribution_rules names (NULL: all), ascending by content id; palloc'ed. */
extern int	hopper_chosen_segments(const char *rules, int32 **contents);
/*
 * A key for each of n_partitions, spread in runs over the segments; `table` is distributed by
 * __dist_key__. *starts gets the first partition of each run.
 */
extern int32 *hopper_place_partitions(Oid table, int32 n_partitions, int n_segments,
									  const int32 *contents, int32 *n_starts, int32 **starts);
/*
 * The key of each partition as it lies on the segments; ERROR 55000 where the table is not
 * distributed by __dist_key__, or a partition lies on several segments. SPI must be connected.
 */
extern int32 *hopper_partition_keys(const hopper_packed *packed);

/* --- a run as text that travels to the segments (greenplum/run_description.c) --- */

/* A packed table as a segment finds it. */
typedef struct hopper_segment_table
{
	Oid			relation;		/* the same on all segments */
	char		x_column[NAMEDATALEN];
	char		y_column[NAMEDATALEN];
} hopper_segment_table;

typedef struct hopper_segment_run
{
	int64		id;
	hopper_run_options options;
	hopper_data_desc train;
	bool		has_valid;
	hopper_data_desc valid;
	int32	   *train_keys;
	int32	   *valid_keys;
	hopper_segment_table tables[2]; /* by split */
	int			segments_on_host;
	int			n_segments;
	int32	   *segment_numbers;	/* by content id, each on its host */
	int			drop_cache;		/* tests: forget the data after this many hops; 0: never */
	const char *shown;			/* the output table, for messages */
	int			n_configs;
	hopper_config *configs;
} hopper_segment_run;

extern bytea *hopper_describe_run(const hopper_segment_run *run);
/* Everything points into palloc'ed memory. */
extern void hopper_read_run(const bytea *description, hopper_segment_run *run);

/* --- a segment's own rows (greenplum/segment/read.c) --- */

/*
 * Feeds the buffers of one partition, in their order, from this segment's part of the table. In a
 * function that a statement runs on a segment. ERROR XX001 where a row is malformed.
 */
extern void hopper_segment_read(const hopper_segment_table *table, hopper_split split,
								int32 partition, hopper_buffer_fn callback, void *state);

/* --- which build of the libraries this process has loaded (greenplum/libraries.c) --- */

/* "model_hopper.so 0123456789abcdef, libhopper_core.so ..."; palloc'ed */
extern char *hopper_library_ids(void);
extern char *hopper_torch_library_id(void);

/* --- the coordinator's part (greenplum/coordinator/run.c) --- */

/*
 * ERROR with a hint where a segment cannot be reached: it would end the run in its first hop. SPI
 * must be connected.
 */
extern void hopper_require_segments(void);
/*
 * In place of hopper_training_run() and of writing the models: trains on the segments and fills
 * the output's model and state tables.
 */
extern void hopper_segments_run(hopper_training *training, const hopper_name *model,
								const hopper_name *state);

#else							/* one place for all data */

static inline int
hopper_chosen_segments(const char *rules, int32 **contents)
{
	*contents = NULL;
	return 0;
}

static inline int32 *
hopper_place_partitions(Oid table, int32 n_partitions, int n_segments, const int32 *contents,
						int32 *n_starts, int32 **starts)
{
	return NULL;
}

#define hopper_require_segments() ((void) 0)

#endif							/* GP_VERSION_NUM */

#endif							/* HOPPER_SEGMENTS_H */
