/*
 * hops.h
 *		The statements of a run on the segments, for its driver (greenplum/coordinator/open_run.c).
 *
 * SPI must be connected for all of them.
 */
#ifndef HOPPER_COORDINATOR_HOPS_H
#define HOPPER_COORDINATOR_HOPS_H

#include "pg/greenplum/segments.h"
#include "pg/server/own_tables.h"

/* A working table with so many bytes, on all segments, is truncated before it gets more. */
#define HOPPER_HOPS_MOST_DEAD (4 * 1024 * 1024)

typedef struct hopper_hops
{
	const hopper_segment_run *run;
	const hopper_packed *train;
	const hopper_packed *valid; /* or NULL */
	bytea	   *description;	/* of the run, for the segments */
	bool		small;			/* all models are known, and are small together */
	hopper_name tables[2];		/* filled in turn */
	bool		made[2];		/* the table is there */
	SPIPlanPtr	plans[2];		/* from tables[i] to the other */
	int			at;				/* the table that holds the models */
	hopper_own_rows begin;		/* models that begin with the next hop */
	bool		has_models;		/* others were put into a table */
	hopper_own_rows told;		/* what the last hop has brought: here, in no table */
	int			n_keys;			/* that have data, of either split */
	int32	   *keys;
	int32	   *segments;		/* content ids */
	int64		bytes[2];		/* that each has got since it was truncated, or more */
	hopper_name rest;			/* the models that do not travel */
	bool		rests;			/* the table is there */
	int32		n_statements;
	bool		loaded;			/* at least once */
	hopper_data_plan plan;		/* the most of any segment; max_reads 0: all keep their data */
} hopper_hops;

/* Beside the output table `model`; `small`: models are so in all, and no other comes. */
extern void hopper_hops_begin(hopper_hops *hops, const hopper_segment_run *run,
							  const hopper_packed *train, const hopper_packed *valid,
							  const hopper_name *model, bool small);
/*
 * Brings all packed data into the memory of the segments, as far as they stay there; again where
 * they have lost them. Fills `plan`, `keys` and `segments`.
 * Returns the numerics class, palloc'ed; ERROR 55000 where segments differ in it.
 */
extern char *hopper_hops_load(hopper_hops *hops);
/* Models that start, each on the segment of its key; those without weights with the next hop. */
extern void hopper_hops_put_models(hopper_hops *hops, const hopper_config *configs,
								   const int32 *keys, int n);
/*
 * Moves and trains the models: see start() in model_hopper/group.h. Returns the rows of
 * their parts, in any order, as the current result: mst_key, part, done, missing, segment, report
 * where it is done, result, bytes.
 */
extern uint64 hopper_hops_move(hopper_hops *hops, bool halts, int32 milliseconds);
/* What the last hop has brought goes into a table, where it is in none: somebody travels on. */
extern void hopper_hops_put_told(hopper_hops *hops);
/* States and weights of n configurations from table `from` into the output tables. */
extern void hopper_hops_write(hopper_hops *hops, const hopper_name *from,
							  const hopper_config *configs, int n, const hopper_name *model,
							  const hopper_name *state);
/* Before SPI ends, with which they go; the next move makes them again. */
extern void hopper_hops_free_plans(hopper_hops *hops);
/* Gives the segments' memory back and drops the working tables. */
extern void hopper_hops_end(hopper_hops *hops);

/* --- what its files share --- */

/* A working table: parts of models. */
extern void hopper_hops_create_table(const hopper_name *table, bool large);
/* The table that models are put into. */
extern const hopper_name *hopper_hops_table(hopper_hops *hops);
/*
 * Calls a function of the segments, which returns an int, in the processes that hold the data.
 * Returns the answers, a row each, as the current result.
 */
extern uint64 hopper_hops_ask(hopper_hops *hops, const char *call, int n,
							  const hopper_param *params);
/* " AND hop = 3": of a table in which models move, what the last hop has brought; palloc'ed */
extern char *hopper_hops_latest(const hopper_hops *hops, const hopper_name *from);
/* The content id of the segment that is meant by a key; -1: it has no data. */
extern int32 hopper_hops_segment(const hopper_hops *hops, int32 key);
/* The segment of a model's first partition. */
extern int32 hopper_hops_first_key(const hopper_hops *hops, int32 mst_key);

/* --- as models enter and leave (open_hops.c) --- */

/*
 * Tells the segments, which have the data, who trains from now on. False: some segment has no room
 * for those who enter beside the data as these lie; nobody has entered then.
 */
extern bool hopper_hops_enter(hopper_hops *hops, const hopper_segment_entry *entry);
/* As hopper_hops_put_models(), models with the states that rest. */
extern void hopper_hops_put_rested(hopper_hops *hops, const int32 *mst_keys, const int32 *keys,
								   int n);
/* The states of these, which have some in table `state`, rest as it has them. */
extern void hopper_hops_take_stored(hopper_hops *hops, const hopper_name *state,
									const int32 *mst_keys, int n);
/*
 * These have ended what they were to train: they leave the way, and rest where `stay` says so.
 */
extern void hopper_hops_park(hopper_hops *hops, const int32 *mst_keys, int n, bool stay);
/* What rests of these goes; with `only_states` their weights stay. */
extern void hopper_hops_forget(hopper_hops *hops, const int32 *mst_keys, int n, bool only_states);

#endif							/* HOPPER_COORDINATOR_HOPS_H */
