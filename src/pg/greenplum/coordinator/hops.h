/*
 * hops.h
 *		The statements of a run on the segments, for its driver (greenplum/coordinator/run.c).
 *
 * SPI must be connected for all of them.
 */
#ifndef HOPPER_COORDINATOR_HOPS_H
#define HOPPER_COORDINATOR_HOPS_H

#include "pg/greenplum/segments.h"

typedef struct hopper_hops
{
	const hopper_segment_run *run;
	const hopper_packed *train;
	const hopper_packed *valid; /* or NULL */
	bytea	   *description;	/* of the run, for the segments */
	hopper_name tables[2];		/* filled in turn */
	hopper_name log;
	SPIPlanPtr	plans[2];		/* from tables[i] to the other */
	int			at;				/* the table that holds the models */
	int64		n_statements;
	bool		loaded;			/* at least once */
	hopper_data_plan plan;		/* the most of any segment; max_reads 0: all keep their data */
} hopper_hops;

/* Makes the working tables beside the output table `model`. */
extern void hopper_hops_begin(hopper_hops *hops, const hopper_segment_run *run,
							  const hopper_packed *train, const hopper_packed *valid,
							  const hopper_name *model);
/*
 * Brings all packed data into the memory of the segments, as far as they stay there; again where
 * they have lost them. Fills `plan`.
 * Returns the numerics class, palloc'ed; ERROR 55000 where segments differ in it.
 */
extern char *hopper_hops_load(hopper_hops *hops);
/* The models as they start, each on the segment of its first partition. */
extern void hopper_hops_put_models(hopper_hops *hops);
/* Moves and trains the models: see hopper_group_api in model_hopper/group.h. */
extern void hopper_hops_move(hopper_hops *hops, int32 iteration, bool fresh, bool finish);
/* After the last one: states and weights from the segments into the output tables. */
extern void hopper_hops_write(hopper_hops *hops, const hopper_name *model,
							  const hopper_name *state);
/*
 * "configurations 1-5, 7": those that have neither failed nor stopped and so are on their way, for
 * messages; palloc'ed.
 */
extern char *hopper_hops_travelling(const hopper_training *training);
/* Gives the segments' memory back and drops the working tables. */
extern void hopper_hops_end(hopper_hops *hops);

#endif							/* HOPPER_COORDINATOR_HOPS_H */
