/*
 * watch.h
 *		What other sessions see of work that goes on, before its transaction commits.
 *
 * It lies in the progress slot that each process of the server has, under a number of our own,
 * which no view of the server's shows. Servers without such slots (before 9.6) have the text of
 * pg_stat_activity alone.
 */
#ifndef HOPPER_WATCH_H
#define HOPPER_WATCH_H

#include "pg/server/glue.h"

typedef struct hopper_watched
{
	int64		run;			/* its number; 0: it has none yet */
	Oid			packed;			/* the table that it trains on */
	TimestampTz started;
	int64		iterations;		/* of all trials */
	int64		iterations_total;	/* 0: not known */
	int64		trials;
	int64		trials_training;
	int64		trials_failed;
	int32		best_trial;		/* 0: none yet */
	double		best_value;
	double		work;			/* 0 to 1: the share of the work that is done; below 0: not known */
	int64		threads;
	int64		memory;			/* bytes of data and models */
} hopper_watched;

/* Shown from now on, until hopper_watch_end() or the end of the statement. */
extern void hopper_watch(const hopper_watched *watched);
extern void hopper_watch_end(void);
/* Whether the last call of hopper_watch() is long enough ago for another one. */
extern bool hopper_watch_due(void);

#endif							/* HOPPER_WATCH_H */
