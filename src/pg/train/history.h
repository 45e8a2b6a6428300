/*
 * history.h
 *		What one model's loss and metrics were, iteration by iteration, over warm starts.
 */
#ifndef HOPPER_HISTORY_H
#define HOPPER_HISTORY_H

#include "pg/server/glue.h"

/* All that is known of one iteration; the index is a hopper_split. */
typedef struct hopper_point
{
	int32		iteration;		/* from 1, counted over warm starts */
	bool		known[2];
	bool		running;		/* training values were taken while the weights moved */
	uint32		has_metric[2];	/* bit i: hopper_point_metric(., ., split, i) is known */
	double		elapsed;		/* seconds of training until it was known */
	double		loss[2];
	double		metrics[FLEXIBLE_ARRAY_MEMBER];
} hopper_point;

/*
 * A history has a bound in bytes. Where a run has more iterations than that has room for, every
 * second one, fourth one and so on stays, and so do the newest and those with an extreme value.
 */
typedef struct hopper_history
{
	int32		mst_key;
	int			n;				/* points, ascending by iteration */
	int			allocated;
	int			n_metrics;		/* that a point has room for */
	char	   *points;			/* hopper_history_at() */
	int32		every;			/* iterations that are no multiple of it go first; from 1 */
	Size		max_bytes;
	/* earlier runs, from a warm start */
	int32		last_earlier;	/* their last iteration; 0: none */
	double		elapsed_earlier;	/* seconds that they took */
	int			n_metrics_earlier;
	char	  **metrics_earlier;	/* names */
	MemoryContext context;
} hopper_history;

/*
 * In the current memory context. All `n_configs` histories of a run together take a small share of
 * memory_limit at most.
 */
extern hopper_history *hopper_history_new(int32 mst_key, int n_configs, int64 memory_limit);
extern hopper_point *hopper_history_at(const hopper_history *history, int index);
/* Sets a metric of a point; there is none before it is set. */
extern void hopper_history_set_metric(hopper_history *history, int index, int split, int metric,
									  double value);
/* The index of an iteration's point; made, with nothing known, where there is none. */
extern int	hopper_history_point(hopper_history *history, int32 iteration);
/* Takes in a HOPPER_EVENT_METRICS. Evaluated training values replace running ones. */
extern void hopper_history_record(hopper_history *history, const hopper_event *event);
/*
 * Puts the metrics of earlier runs in the order of this one's, by their names; what this run does
 * not compute any more is left out.
 */
extern void hopper_history_align(hopper_history *history, int n_metrics,
								 const char *const *metrics);
/* It has no points any more. */
extern void hopper_history_clear(hopper_history *history);
/* The point of an iteration, or NULL. */
extern const hopper_point *hopper_history_find(const hopper_history *history, int32 iteration);
/* The newest point with values of this split, or NULL. */
extern const hopper_point *hopper_history_last(const hopper_history *history, int split);

/* A value that may not be known. */
typedef struct hopper_maybe
{
	bool		known;
	double		value;			/* 0 where it is not */
} hopper_maybe;
/* Of a point (NULL: none) on a split; metric -1: the loss, below: one that is not computed. */
extern hopper_maybe hopper_history_value(const hopper_history *history, const hopper_point *point,
										 int split, int metric);

/* Columns of the info table. */
extern hopper_param hopper_history_iterations(const hopper_history *history);	/* int[] */
extern hopper_param hopper_history_elapsed(const hopper_history *history); /* float8[] */
/* float8[]; metric -1: the loss */
extern hopper_param hopper_history_metric(const hopper_history *history, int split, int metric);
/* float8[][]: a row a metric, a column an iteration */
extern hopper_param hopper_history_metrics(const hopper_history *history, int split, int n_metrics);

#endif							/* HOPPER_HISTORY_H */
