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

/* --- what greenplum/backend.c lists, for which backend.h tells what it does --- */

extern int	hopper_safe_path(void);
extern void hopper_callers_path(int level);
extern Portal hopper_portal_open(const char *query, bool read_only);
extern Portal hopper_cursor_open(const char *query, bool read_only);
extern hopper_row_cursor hopper_row_cursor_open(const char *query);
extern uint64 hopper_row_cursor_give(const hopper_row_cursor *rows, long n, hopper_row_taker take,
									 void *state);
extern void hopper_require_segments(void);
extern int	hopper_chosen_segments(const char *rules, int32 **contents);
extern int32 *hopper_place_partitions(Oid table, int32 n_partitions, int n_segments,
									  const int32 *contents, int32 *n_starts, int32 **starts);
extern int32 *hopper_partition_keys(const hopper_packed *packed);
extern void hopper_pack_move_rows(struct hopper_pack_job *job,
								  struct hopper_pack_output *training,
								  struct hopper_pack_output *validation);
extern int64 hopper_predict_source(struct hopper_prediction *run);
extern void hopper_evaluate_data(const struct hopper_trained *model, const hopper_packed *data,
								 hopper_event *event, const hopper_name *confusion);
extern const struct hopper_training_backend hopper_training_on_segments;
extern hopper_explain_costs hopper_forecast_costs(struct hopper_forecast_request *request,
												  const int32 *train_keys);

/* hopper_portal_open() in the path that is in place (greenplum/cursor.c). */
extern Portal hopper_portal_open_here(const char *query, bool read_only);

/* --- statements that call the segments' functions (greenplum/calls.c) --- */

/*
 * They name these without a schema, and everything else with it. The functions are found in the
 * extension's schema by its oid each time that the statement is analysed, which a plan that is kept
 * is again after changes of catalogs: so a run that has begun goes on whatever the schema is called
 * meanwhile, and whoever may use it. SPI must be connected.
 */
extern SPIPlanPtr hopper_calls_prepare(const char *query, int n, Oid *types);
/* Leaves SPI_processed and SPI_tuptable; ERROR where the result is not the expected one. */
extern void hopper_calls_execute(SPIPlanPtr plan, Datum *values, bool read_only, int expected);
/* Both, of a statement that is executed once; its arguments are no NULLs. Returns SPI_processed. */
extern uint64 hopper_calls_once(const char *query, bool read_only, int expected, int n,
								const hopper_param *params);
#define HOPPER_BYTEA(value) HOPPER_PARAM(BYTEAOID, PointerGetDatum(value))
/* As hopper_select(). */
extern uint64 hopper_calls_select(const char *query);
/*
 * A query of `columns` for each segment with rows of the packed tables, by split, of which one may
 * be NULL; in it k is the segment's key. An aggregate among them gets the buffers in their order,
 * as s (split), p (partition), b (buffer), n, x, y and c (checksum). With `keys`, "(1), (2)", each
 * of these segments gets the buffers of all.
 */
extern char *hopper_calls_over_buffers(const char *columns, const hopper_packed *const splits[2],
									   const char *keys);

/* --- where partitions lie (greenplum/coordinator/keys.c) --- */

/* Most primaries on one host: what a segment's share of its host is. */
extern int	hopper_segments_on_a_host(void);
/*
 * What a run asks each segment for: the threads of the options where they were given, else those of
 * hopper.threads, and hopper.memory_limit. 0: the segment's share of its host, as
 * hopper_segment_threads() and hopper_segment_memory() find it there.
 */
extern void hopper_ask_of_segments(hopper_run_options *options, bool threads_given);
/* Of each segment, by content id: its number among the primaries of its host, from 0; palloc'ed. */
extern int32 *hopper_segment_numbers(int *n);
/* The different ones among n keys of partitions, ascending: segments that have some; palloc'ed. */
extern int32 *hopper_distinct_keys(const int32 *keys, int n, int *count);
/* How many these are. */
extern int	hopper_count_keys(const int32 *keys, int n);

/* --- models that stay (greenplum/coordinator/set_up.c) --- */

/*
 * Data that are small are copied to all segments: then a model need not move, and trains several
 * iterations in a statement. `valid` may be NULL.
 */
extern bool hopper_is_copied(const hopper_packed *train, const hopper_packed *valid,
							 const int32 *train_keys);
/* For so long such a statement begins iterations: what is done is told after each hop. */
#define HOPPER_HOP_MILLISECONDS 500

/* --- a run as text that travels to the segments (greenplum/run_description.c) --- */

/* A packed table as a segment finds it. */
typedef struct hopper_segment_table
{
	Oid			relation;		/* the same on all segments */
	char		x_column[NAMEDATALEN];
	char		y_column[NAMEDATALEN];
} hopper_segment_table;

/* What a model trains from now on. */
typedef struct hopper_segment_stint
{
	hopper_config config;
	int32		iterations;
	int32		done;			/* of them, how many its state has behind it */
} hopper_segment_stint;

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
	bool		everywhere;		/* each segment has all data */
	int			drop_cache;		/* tests: forget the data after this many hops; 0: never */
	const char *shown;			/* the output table, for messages */
	int			n_stints;
	hopper_segment_stint *stints;
	bool		stays_open;		/* others enter later */
	const char *wants_libtorch;	/* what of it does; or NULL */
} hopper_segment_run;

/* The models that train on a run from now on: which stay, enter or begin another stint. */
typedef struct hopper_segment_entry
{
	int64		run;
	int			n_stay;
	int32	   *stay;			/* keys */
	int			n_stints;
	hopper_segment_stint *stints;
	const hopper_data_desc *train;	/* what they are trained on; not sent */
} hopper_segment_entry;

/* See hopper_describe(). */
extern const struct hopper_description hopper_run_description;
extern const struct hopper_description hopper_entry_description;

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
/* Of the one whose engine trains. */
extern char *hopper_engine_library_id(const hopper_group_api *engine);

#endif							/* HOPPER_SEGMENTS_H */
