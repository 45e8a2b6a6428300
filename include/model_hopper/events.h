/*
 * events.h
 *		What a run tells while it goes on: events, and where the time went.
 */
#ifndef MODEL_HOPPER_EVENTS_H
#define MODEL_HOPPER_EVENTS_H

#include <stdint.h>

#include "model_hopper/data.h"
#include "model_hopper/metrics.h"

typedef enum hopper_event_type
{
	HOPPER_EVENT_METRICS = 1,	/* loss and metrics of one model, split and iteration */
	HOPPER_EVENT_ITERATION = 2, /* every live model has finished this iteration */
	HOPPER_EVENT_MODEL_FAILED = 3,	/* message, detail, hint say why; the run goes on */
	HOPPER_EVENT_MODEL_DONE = 4,
	HOPPER_EVENT_WARNING = 5,
	HOPPER_EVENT_FINISHED = 6,	/* no work is left, also after cancel */
	HOPPER_EVENT_LOAD = 7,		/* read `partition` of `split`: add_buffer*, end_load */
	HOPPER_EVENT_MODEL_STOPPED = 8, /* early stopping ended it at `iteration`; message: why */
	HOPPER_EVENT_STATE = 9,		/* the stored state of `mst_key` is wanted: add_state* */
	HOPPER_EVENT_CHECKPOINT = 10	/* `mst_key` has halted: copy_state*, release */
} hopper_event_type;

typedef struct hopper_event
{
	int32_t		type;
	int32_t		mst_key;
	int32_t		iteration;		/* counted over warm starts, from 1 */
	int32_t		split;
	int32_t		running;		/* 1: taken while the weights moved */
	int32_t		n_live;			/* models that have not failed */
	double		loss;
	int32_t		n_metrics;
	double		metrics[HOPPER_MAX_METRICS];
	double		elapsed;		/* seconds since the start */
	int32_t		partition;		/* HOPPER_EVENT_LOAD */
	int32_t		take;			/* HOPPER_EVENT_MODEL_DONE: 1: take its result, others wait */
	int32_t		reason_size;	/* of a failure: bytes of `message` that others may have as well */
	char		message[512];	/* the texts come last: most events have none */
	char		detail[512];
	char		hint[512];
} hopper_event;

typedef enum hopper_visit_kind
{
	HOPPER_VISIT_TRAIN = 1,
	HOPPER_VISIT_EVALUATE = 2
} hopper_visit_kind;

/* Where the time of one stay of one model went, in seconds. */
typedef struct hopper_visit
{
	int32_t		mst_key;
	int32_t		iteration;		/* counted over warm starts, from 1 */
	int32_t		kind;			/* hopper_visit_kind */
	int32_t		split;			/* whose partitions: hopper_split */
	int32_t		worker;			/* from 0; the key of the segment in a group */
	int32_t		hop;			/* group: starts since the iteration began; else 0 */
	int32_t		first_partition;
	int32_t		n_partitions;	/* neighbours, the first follows the last */
	double		started;		/* since the start */
	double		read;			/* partitions were brought into memory */
	double		wait;			/* ready, but no worker was free */
	double		hopping;		/* between workers or processes: the hop */
	double		train;
	double		evaluate;
	int64_t		bytes_written;	/* by the hop, to disk */
} hopper_visit;

#endif							/* MODEL_HOPPER_EVENTS_H */
