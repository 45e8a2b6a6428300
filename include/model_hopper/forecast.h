/*
 * forecast.h
 *		What a run would take.
 */
#ifndef MODEL_HOPPER_FORECAST_H
#define MODEL_HOPPER_FORECAST_H

#include <stdint.h>

#include "model_hopper/basics.h"
#include "model_hopper/config.h"
#include "model_hopper/data.h"
#include "model_hopper/training.h"

#ifdef __cplusplus
extern "C"
{
#endif

typedef struct hopper_explain hopper_explain;

/* Costs that a forecast cannot measure without the server. */
typedef struct hopper_explain_costs
{
	double		read_bytes_per_second;	/* packed data into memory, by one process */
	double		statement;		/* seconds of a hop statement without its training; segments only */
	double		hop_bytes_per_second;	/* states through a hop statement; segments only */
	/*
	 * Each segment has all data, if they fit beside all models: then these stay, and a statement
	 * begins iterations for so many seconds. 0: models move.
	 */
	double		patience;
	double		seconds;		/* for the calibration, in all */
	int32_t		threads_per_segment;	/* segments only */
} hopper_explain_costs;

/* One configuration. */
typedef struct hopper_explain_model
{
	int32_t		mst_key;
	int32_t		code;			/* hopper_code; not HOPPER_OK: `problem` says why it would fail */
	char		problem[512];
	char		detail[512];	/* may be empty, as the hint */
	char		hint[512];
	int64_t		n_parameters;
	int64_t		bytes_state;
	int64_t		bytes_task;		/* beside the state, while it trains or is evaluated */
	int64_t		steps;			/* of one iteration */
	int32_t		measured;		/* 1: its steps were; 0: reckoned from another model's */
	double		seconds_step;	/* of a full batch */
	double		seconds_iteration;	/* of training, on one worker */
	double		seconds_evaluation; /* on one worker: training data */
	double		seconds_validation;
	double		seconds_evaluating; /* of the whole run, on one worker */
	int64_t		n_passes;		/* over the training data in one iteration */
} hopper_explain_model;

/* The whole run. Seconds by cause are sums over workers; `seconds` is what the clock shows. */
typedef struct hopper_explain_run
{
	int32_t		n_workers;
	int64_t		bytes_data;
	int64_t		bytes_models;	/* all states, and what trains at the same time */
	double		seconds_calibrating;
	double		seconds;
	double		seconds_read;
	double		seconds_wait;	/* workers without work */
	double		seconds_hop;
	double		seconds_train;
	double		seconds_evaluate;
	double		idle_share;		/* of the workers' time */
} hopper_explain_run;

/* create, add_config*, start, poll*, model*, run and lines, free */
typedef struct hopper_explain_api
{
	/*
	 * Times a few steps of each distinct configuration on made-up examples, on a thread of its own,
	 * and simulates the schedule with them. train_keys and valid_keys as of a group, or NULL for a
	 * run of one process. Nothing is kept.
	 */
	int			(*create) (const hopper_run_options *options, const hopper_data_desc *train,
						   const hopper_data_desc *valid, const int32_t *train_keys,
						   const int32_t *valid_keys, const hopper_explain_costs *costs,
						   hopper_explain **explain, hopper_error *error);
	int			(*add_config) (hopper_explain *explain, const hopper_config *config,
							   hopper_error *error);
	int			(*start) (hopper_explain *explain, hopper_error *error);
	/* 1: done; 0: not yet; -1: *error */
	int			(*poll) (hopper_explain *explain, hopper_error *error);
	/* After the poll said 1. `index`: in the order of add_config */
	int			(*model) (hopper_explain *explain, int32_t index, hopper_explain_model *model,
						  hopper_error *error);
	int			(*run) (hopper_explain *explain, hopper_explain_run *run, hopper_error *error);
	/*
	 * What is predicted beside what was measured: item, mst_key, predicted, measured, unit; of the
	 * run, then of each configuration. NULL is what nobody knows. `measured`: what a run took that
	 * has ended, and worker seconds of each configuration, in the order of add_config; each may be
	 * NULL.
	 */
	int			(*lines) (hopper_explain *explain, const hopper_explain_run *measured,
						  const double *trained, const double *evaluated, hopper_rows **rows,
						  hopper_error *error);
	/* Cancels, joins, releases all memory. NULL is allowed. */
	void		(*free) (void *explain);
} hopper_explain_api;

#ifdef __cplusplus
}
#endif

#endif							/* MODEL_HOPPER_FORECAST_H */
