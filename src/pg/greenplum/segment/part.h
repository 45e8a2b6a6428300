/*
 * part.h
 *		The run that this process takes part in: its part of the data and of the models.
 *
 * There is one at most. It lives until the coordinator gives it up, at the latest until the
 * transaction, the subtransaction that it came with, or the process ends.
 */
#ifndef HOPPER_SEGMENT_PART_H
#define HOPPER_SEGMENT_PART_H

#include "pg/greenplum/segments.h"

typedef struct hopper_segment_part
{
	int64		id;				/* 0: none */
	Oid			role;			/* whose run it is */
	const hopper_group_api *api;	/* of the group */
	hopper_group *group;
	hopper_data_plan plan;
	hopper_segment_table tables[2]; /* by split */
	int			event_fd;
	SubTransactionId subxact;
	int			hops;			/* since the data came */
	int			drop_cache;
	char		shown[2 * NAMEDATALEN + 2];
	int32		mst_key;		/* for messages: the configuration at hand; 0: none */
} hopper_segment_part;

extern hopper_segment_part hopper_current;

/* Whether this process takes part in that run, of the role that asks. */
extern bool hopper_is_current(int64 run);
/*
 * Takes part in a run, by its sealed description and the key of this segment's rows, and leaves the
 * one before. Errors: a description of another run, no GPU where one is wanted, those of the core.
 */
extern void hopper_segment_part_join(int64 id, const bytea *description, int32 key);
/* Models train in it from now on. */
extern void hopper_segment_part_enter(const hopper_segment_stint *stints, int n);
/* Leaves the run, if there is one, and frees what it holds. */
extern void hopper_segment_part_leave(void);
/* An error context callback: the run, the segment, and the configuration at hand. */
extern void hopper_segment_part_context(void *arg);

#endif							/* HOPPER_SEGMENT_PART_H */
