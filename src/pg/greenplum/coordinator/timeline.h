/*
 * timeline.h
 *		The times of a run's statements on the segments, and of the visits in them.
 *
 * A statement moves all models and waits for the slowest segment. For a model that visits a segment
 * in it, its seconds are: moving (what is not work of any segment), work of its own, and waiting
 * (for a thread before, for the other models and segments after).
 */
#ifndef HOPPER_COORDINATOR_TIMELINE_H
#define HOPPER_COORDINATOR_TIMELINE_H

#include "pg/greenplum/coordinator/hops.h"

typedef struct hopper_statement
{
	double		started;		/* since the run's start */
	double		seconds;
	double		working;		/* of the segment that worked longest */
} hopper_statement;

typedef struct hopper_statement_visit
{
	hopper_visit visit;
	int			statement;		/* from 0 */
} hopper_statement_visit;

typedef struct hopper_segment_timeline
{
	hopper_training *training;
	TimestampTz run_started;
	const hopper_hops *hops;	/* which know the segments once the data are loaded */
	int			n_statements;	/* since it was settled */
	int			allocated;
	hopper_statement *statements;
	int			n_visits;		/* as many, a model's of an iteration one after the other */
	int			allocated_visits;
	hopper_statement_visit *visits;
} hopper_segment_timeline;

extern void hopper_segment_timeline_begin(hopper_segment_timeline *timeline,
										  hopper_training *training, const hopper_hops *hops,
										  TimestampTz run_started);
/* A statement of this iteration that began at `then` and is over now. */
extern void hopper_segment_timeline_statement(hopper_segment_timeline *timeline,
											  TimestampTz then);
/*
 * A visit; those of a model in an iteration in their order, without others between them. `since`:
 * the statement, from 0, in which the iteration began.
 */
extern void hopper_segment_timeline_visit(hopper_segment_timeline *timeline,
										  const hopper_visit *visit, int since);
/* All visits of the statements are known: they go into the run's timeline. */
extern void hopper_segment_timeline_settle(hopper_segment_timeline *timeline);

#endif							/* HOPPER_COORDINATOR_TIMELINE_H */
