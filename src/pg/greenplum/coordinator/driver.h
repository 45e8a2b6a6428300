/*
 * driver.h
 *		What a run on the segments is beside who trains on it (open_run.c): its data and statements,
 *		what models report, where the time went.
 *
 * SPI must be connected for all of it.
 */
#ifndef HOPPER_COORDINATOR_DRIVER_H
#define HOPPER_COORDINATOR_DRIVER_H

#include "pg/greenplum/coordinator/hops.h"
#include "pg/greenplum/coordinator/timeline.h"

typedef struct hopper_driver
{
	hopper_training *training;
	hopper_segment_run run;
	hopper_hops hops;
	int			reloads;		/* since a statement found all data */
	TimestampTz started;
	hopper_segment_timeline timeline;
} hopper_driver;

/*
 * Makes the working tables beside `model`, and training->timeline; the configurations are
 * training's. ERROR where `model` is temporary.
 */
extern void hopper_driver_begin(hopper_driver *run, hopper_training *training,
								const hopper_name *model);
/* Segments with training data. */
extern int	hopper_driver_segments(const hopper_driver *run);
/* The data, and run.configs, to the segments; again where some of them have lost them. */
extern void hopper_driver_load(hopper_driver *run);
/* As hopper_hops_move(). */
extern uint64 hopper_driver_move(hopper_driver *run, bool halts, int32 milliseconds);
/*
 * Whether a segment had lost its data in the statement that was read last. ERROR 55000 where it
 * happens again and again; else the caller is to load them.
 */
extern void hopper_driver_note_loss(hopper_driver *run, bool lost);
/*
 * What configuration `at` reports of its iteration; `since`: the statement in which that began,
 * counted from 0 since the timeline was settled.
 */
extern void hopper_driver_take_report(hopper_driver *run, int at, const bytea *bytes, int segment,
									  int since);
/* The working tables go, and the time that the run took is known. */
extern void hopper_driver_end(hopper_driver *run);

#endif							/* HOPPER_COORDINATOR_DRIVER_H */
