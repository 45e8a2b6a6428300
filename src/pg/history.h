/*
 * history.h
 *		What one model's loss and metrics were, iteration by iteration, over warm starts.
 */
#ifndef HOPPER_HISTORY_H
#define HOPPER_HISTORY_H

#include "pg/pg_include.h"

/* All that is known of one iteration; the index is a hopper_split. */
typedef struct hopper_point
{
	int32		iteration;		/* from 1, counted over warm starts */
	double		elapsed;		/* seconds of training until it was known */
	bool		known[2];
	bool		running;		/* training values were taken while the weights moved */
	double		loss[2];
	uint32		has_metric[2];	/* bit i: metrics[split][i] is known */
	double		metrics[2][HOPPER_MAX_METRICS];
} hopper_point;

typedef struct hopper_history
{
	int32		mst_key;
	int			n;				/* points, ascending by iteration */
	int			allocated;
	hopper_point *points;
	/* earlier runs, from a warm start */
	int32		last_earlier;	/* their last iteration; 0: none */
	double		elapsed_earlier;	/* seconds that they took */
	int			n_metrics_earlier;
	char	  **metrics_earlier;	/* names */
	MemoryContext context;
} hopper_history;

extern hopper_history *hopper_history_new(int32 mst_key);
/* The point of an iteration; made, with nothing known, where there is none. */
extern hopper_point *hopper_history_point(hopper_history *history, int32 iteration);
/* Takes in a HOPPER_EVENT_METRICS. Evaluated training values replace running ones. */
extern void hopper_history_record(hopper_history *history, const hopper_event *event);
/*
 * Puts the metrics of earlier runs in the order of this one's, by their names; what this run does
 * not compute any more is left out.
 */
extern void hopper_history_align(hopper_history *history, int n_metrics,
								 const char *const *metrics);
/* The point of an iteration, or NULL. */
extern const hopper_point *hopper_history_find(const hopper_history *history, int32 iteration);
/* The newest point with values of this split, or NULL. */
extern const hopper_point *hopper_history_last(const hopper_history *history, int split);

/* Columns of the info table; (Datum) 0 stands for NULL. */
extern Datum hopper_history_iterations(const hopper_history *history);	/* int[] */
extern Datum hopper_history_elapsed(const hopper_history *history); /* float8[] */
extern Datum hopper_history_loss(const hopper_history *history, int split);	/* float8[] */
extern Datum hopper_history_metric(const hopper_history *history, int split, int metric);
/* float8[][]: a row a metric, a column an iteration */
extern Datum hopper_history_metrics(const hopper_history *history, int split, int n_metrics);

/*
 * True where a larger value of this metric is the better one: accuracies and the like, but not
 * losses and errors.
 */
extern bool hopper_metric_ascends(const char *metric);

#endif							/* HOPPER_HISTORY_H */
