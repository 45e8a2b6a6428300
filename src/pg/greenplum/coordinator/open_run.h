/*
 * open_run.h
 *		What the driver of a run on the segments knows of it: open_run.c, set_up.c, entering.c and
 *		collect.c.
 *
 * SPI must be connected for all of it.
 */
#ifndef HOPPER_COORDINATOR_OPEN_RUN_H
#define HOPPER_COORDINATOR_OPEN_RUN_H

#include "pg/greenplum/coordinator/hops.h"
#include "pg/greenplum/coordinator/timeline.h"

typedef struct open_model
{
	int32		stint;			/* iterations that it trains from now on */
	int32		done;			/* of the same stint, behind it */
	int32		behind;			/* of its model, when that was put or had halted last */
	int32		key;			/* the segment on which it has entered */
	bool		waits;			/* to enter */
	bool		trains;
	bool		halted;			/* within its stint: the caller releases it */
	bool		rests;			/* its state lies on a segment */
	int			since;			/* the statement in which its iteration began */
	int64		n_weights;		/* that have come with its result */
	/* of the stints before */
	int64		examples;
	double		seconds_training;
	double		seconds_evaluating;
	double		seconds_waiting;
} open_model;

typedef struct open_segments
{
	hopper_training *training;
	hopper_segment_run run;
	hopper_hops hops;
	int			reloads;		/* since a statement found all data */
	TimestampTz started;
	hopper_segment_timeline timeline;
	int			allocated;
	open_model *models;			/* by place */
	int			n_waiting;
	int			n_training;
	int			n_halted;
	bool		halts;			/* who trains or waits is to halt */
	bool		closed;
	bool		settled;		/* the time that it took is known */
	bool		ended;			/* the working tables are gone */
	MemoryContext context;		/* that of the start, which outlives a step */
} open_segments;

/*
 * Makes the working tables beside `model`, and training->timeline; the configurations are
 * training's. ERROR where `model` is temporary.
 */
extern void hopper_open_set_up(open_segments *open, hopper_training *training,
							   const hopper_name *model);
/* Segments with training data. */
extern int	hopper_open_segments(const open_segments *open);
/* The data, and run.stints, to the segments; again where some of them have lost them. */
extern void hopper_open_load_data(open_segments *open);
/* The data to the segments, and who trains on them, with who waits up to the place `last`. */
extern void hopper_open_load(open_segments *open, int last);
/*
 * All who wait enter, as far as they fit: a segment has room for those who may meet on it. Where
 * nobody trains, the first of them does in any case: the data are loaded into what it leaves.
 */
extern void hopper_open_enter_waiting(open_segments *open);
/*
 * Reads what the models report of iterations that are complete, in `n` rows of the current result.
 * Returns how many stints have ended or halt, their places ascending by their keys. *missing: a
 * segment has lost its data.
 */
extern int	hopper_open_collect(open_segments *open, uint64 n, int *ended, bool *missing);
/* "configurations 1-5, 7": those that train, for messages; palloc'ed. */
extern char *hopper_open_travelling(const open_segments *open);

#endif							/* HOPPER_COORDINATOR_OPEN_RUN_H */
