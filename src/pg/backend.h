/*
 * backend.h
 *		What local/ and greenplum/ must give, of which a server is built with one: all data lie
 *		in one place, or on the segments of a Greenplum cluster. Everything else of the glue is
 *		the same for both, and calls them through this.
 *
 * SPI must be connected, but for what says otherwise.
 */
#ifndef HOPPER_BACKEND_H
#define HOPPER_BACKEND_H

#include "pg/server/pg_include.h"

struct hopper_forecast_request;
struct hopper_history;
struct hopper_name;
struct hopper_outputs;
struct hopper_pack_job;
struct hopper_pack_output;
struct hopper_packed;
struct hopper_prediction;
struct hopper_run_row;
struct hopper_trained;
struct hopper_training;

/* A cursor whose rows give_rows() gives, until SPI_cursor_close() of its portal. */
typedef struct hopper_row_cursor
{
	Portal		portal;
	TupleDesc	desc;
	const AttrNumber *from;		/* the scanned table's column of each; NULL: as rows come */

	/*
	 * Asked first where the first columns of a row, numbers of this many bytes in all, lie side by
	 * side: true: it has taken them, and they are not among the values. NULL: never.
	 */
	bool		(*take_numbers) (void *state, const char *numbers);
	int			n_numbers;
	size_t		numbers_size;
} hopper_row_cursor;

/*
 * Takes a row: its values, which lie where the executor has them and are gone with the next one. It
 * is called with the memory context of who fetches.
 */
typedef void (*hopper_row_taker) (void *state, const Datum *values, const bool *nulls);

/*
 * What trains; every run and search is driven by it.
 *
 * A training is open: begin, then start; from the beginning on go_on and, after the start, enter
 * as the caller likes, and step again and again; close when nothing more comes, and step until it
 * has finished. One that is closed before it starts is planned for what has been told to go on.
 * Within a step the caller is told by training->halted and training->ended, and then by
 * training->write.
 */
struct hopper_training_backend
{
	/*
	 * Before it begins: bytes that data and models take where all of them are in memory at the same
	 * time; -1: they are not, or it trains beside no other.
	 */
	int64		(*needs) (const struct hopper_training *training);
	/* Its configurations rest. */
	void		(*begin) (struct hopper_training *training);
	void		(*start) (struct hopper_training *training);
	/*
	 * One more configuration, which is copied, with its history; returns its place. -1: it does not
	 * fit beside what the run has planned, but would in a run of its own.
	 */
	int			(*enter) (struct hopper_training *training, const hopper_config *config,
						  struct hopper_history *history);
	/*
	 * It trains so many iterations more, or anew from its initial weights. `done`: the iterations
	 * of the same stint that an earlier session of a durable run has behind it; 0 otherwise.
	 */
	void		(*go_on) (struct hopper_training *training, int at, int32 iterations, int32 done,
						  bool restart);
	/* The state of one that is done, and not in the tables yet, goes; its weights stay. */
	void		(*drop_state) (struct hopper_training *training, int at);
	/*
	 * Sleeps until a step has something to do, `timeout` ms at most; needs no SPI and no snapshot.
	 */
	void		(*wait) (const struct hopper_training *training, long timeout);
	/*
	 * It and those beside it go on: until something has happened or `timeout` ms (-1: forever) are
	 * over; on segments by a hop, which may be longer. True once all have finished.
	 */
	bool		(*step) (struct hopper_training *training, long timeout);
	void		(*close) (struct hopper_training *training);
	/*
	 * Configurations that watch a metric, to stop early or to keep their best weights, end with the
	 * iteration that they are in. On segments they do not: a hop knows how many it trains.
	 */
	void		(*end_iterations) (struct hopper_training *training);

	/* --- of a durable run --- */

	/*
	 * Configurations halt, each at the end of an iteration, for training->halted. `all`: also those
	 * that have trained nothing since their last one. Otherwise it is for the checkpoint alone,
	 * which is not taken where nothing is committed before the statement ends.
	 */
	void		(*halt) (struct hopper_training *training, bool all);
	/*
	 * States and weights of configurations that have halted or ended go into the training's tables,
	 * on segments. False: they are the caller's to read.
	 */
	bool		(*store) (struct hopper_training *training, const int *which, int n);
	/* One that has halted trains so many iterations more, at least one. */
	void		(*set_iterations) (struct hopper_training *training, int at, int32 more);
	/* One that has halted goes on. */
	void		(*release) (struct hopper_training *training, int at);
	/*
	 * What it has beside the outputs is given back, where it cannot go on in another transaction,
	 * or has ended: on segments.
	 */
	void		(*leave) (struct hopper_training *training);
};

struct hopper_backend
{
	/* --- statements --- */

	/*
	 * What is parsed between the two finds its names in pg_catalog and pg_temp only. An error ends
	 * it too.
	 */
	int			(*safe_path) (void);
	void		(*callers_path) (int level);
	/* A SELECT whose rows SPI_cursor_fetch() takes all, before SPI_cursor_close() and all else. */
	Portal		(*open_at_once) (const char *query, bool read_only);
	/* A SELECT row by row, with SPI_cursor_fetch(), until SPI_cursor_close(). */
	Portal		(*open_cursor) (const char *query, bool read_only);
	/* open_cursor() of a SELECT that reads. */
	hopper_row_cursor (*open_row_cursor) (const char *query);
	/*
	 * Gives the next rows, `n` at most, to `take`; returns how many. No row is copied on its way,
	 * which with many columns would take longer than to read them.
	 */
	uint64		(*give_rows) (const hopper_row_cursor *rows, long n, hopper_row_taker take,
							  void *state);
	/*
	 * Appends which versions the rows of a plain table have that the active snapshot sees, those
	 * alone whose key_column is `key` unless it is NULL; *n: how many. No rights are checked. False
	 * where that cannot be told here: the rows lie on segments, or a table of another kind holds
	 * them.
	 */
	bool		(*row_versions) (Oid relation, const char *key_column, int32 key,
								 StringInfo versions, int64 *n);
	/* Whether rows of a relation have a ctid: those of external and replicated tables have none. */
	bool		(*has_ctid) (Oid relation);
	/* Whether this process works for a segment, where SQL cannot be run. */
	bool		(*on_a_segment) (void);

	/* --- where partitions of packed tables lie --- */

	/*
	 * ERROR with a hint where a segment cannot be reached or has no library of ours: it would end
	 * the work half way, in the server's words.
	 */
	void		(*require_segments) (void);
	/*
	 * Segments that distribution_rules names (NULL: all), ascending by content id; palloc'ed. 0 and
	 * NULL where there is one place for all data.
	 */
	int			(*chosen_segments) (const char *rules, int32 **contents);
	/*
	 * A key for each of n_partitions, spread in runs over the segments; `table` is distributed by
	 * __dist_key__. *starts gets the first partition of each run. NULL where there are no segments.
	 */
	int32	   *(*place_partitions) (Oid table, int32 n_partitions, int n_segments,
									 const int32 *contents, int32 *n_starts, int32 **starts);
	/*
	 * The key of each partition as it lies on the segments; ERROR 55000 where the table is not
	 * distributed by __dist_key__, or a partition lies on several segments. NULL where there are no
	 * segments.
	 */
	int32	   *(*partition_keys) (const struct hopper_packed *packed);
	/*
	 * The partitions that the summary speaks of are there, before anything is kept for each of
	 * them: ERROR XX001 otherwise. Reads the table, but no features and labels. (On segments
	 * partition_keys() looks for each of them.)
	 */
	void		(*require_partitions) (const struct hopper_packed *packed);

	/* --- the way of the rows --- */

	/* Reads the source and fills one or two packed tables. */
	void		(*pack) (struct hopper_pack_job *job, struct hopper_pack_output *training,
						 struct hopper_pack_output *validation);
	/* Reads run->source and writes run->output_table, so many rows. */
	int64		(*predict) (struct hopper_prediction *run);
	/*
	 * Loss and metrics of `model` on `data`, which goes together with it, in *event; examples by
	 * label and prediction to the new table `confusion`, or NULL.
	 */
	void		(*evaluate) (const struct hopper_trained *model, const struct hopper_packed *data,
							 hopper_event *event, const struct hopper_name *confusion);

	/* --- training --- */

	const struct hopper_training_backend *training;
	/*
	 * What reading and hops cost, all but the seconds of measuring steps. train_keys:
	 * partition_keys() of request->train. Says in the request's options how much memory a process
	 * of the run would have.
	 */
	hopper_explain_costs (*forecast) (struct hopper_forecast_request *request,
									  const int32 *train_keys);
	/*
	 * Has a background worker train the run, as its role, once this transaction has committed. The
	 * commit fails (53000) where max_worker_processes leaves none.
	 */
	void		(*start_worker) (const struct hopper_run_row *row);
	/* In the postmaster: has runs of the background taken up when the server starts again. */
	void		(*register_supervisor) (void);
};

/* local/backend.c, greenplum/backend.c */
extern const struct hopper_backend hopper_backend;

#endif							/* HOPPER_BACKEND_H */
