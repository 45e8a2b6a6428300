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

#include "pg/greenplum/segments.h"

typedef struct hopper_statement
{
	double		started;		/* since the run's start */
	double		seconds;
	double		working;		/* of the segment that worked longest */
} hopper_statement;

typedef struct hopper_segment_timeline
{
	hopper_training *training;
	TimestampTz run_started;
	int			n_keys;
	int32	   *keys;			/* of segments, and their content ids */
	int32	   *contents;
	int			n_statements;	/* of this iteration */
	int			allocated;
	hopper_statement *statements;
	int			n_visits;		/* of this iteration, a model's one after the other */
	int			allocated_visits;
	hopper_visit *visits;
} hopper_segment_timeline;

extern void hopper_segment_timeline_begin(hopper_segment_timeline *timeline,
										  hopper_training *training, TimestampTz run_started);
/* `log` has a row for each key, on its segment. */
extern void hopper_segment_timeline_keys(hopper_segment_timeline *timeline,
										 const hopper_name *log);
/* A statement of this iteration that began at `then` and is over now. */
extern void hopper_segment_timeline_statement(hopper_segment_timeline *timeline,
											  TimestampTz then);
/* A visit of this iteration; those of a model in their order, without others between them. */
extern void hopper_segment_timeline_visit(hopper_segment_timeline *timeline,
										  const hopper_visit *visit);
/* All visits of the iteration are known: they go into the run's timeline. */
extern void hopper_segment_timeline_settle(hopper_segment_timeline *timeline);

#endif							/* HOPPER_COORDINATOR_TIMELINE_H */
