/*
 * training.h
 *		What runs of one process and of several have in common: options, plan of memory,
 *		results.
 */
#ifndef MODEL_HOPPER_TRAINING_H
#define MODEL_HOPPER_TRAINING_H

#include <stddef.h>
#include <stdint.h>

#include "model_hopper/metrics.h"

typedef struct hopper_run_options
{
	uint64_t	seed;
	int32_t		num_iterations; /* this run trains each model this many iterations more */
	int32_t		metrics_compute_frequency;	/* >= 1; the last iteration always counts */
	int32_t		validation_freq;	/* the same for validation data; 0: the same number */
	int32_t		training_metrics;	/* hopper_training_metrics */
	int32_t		threads;		/* workers, >= 1 */
	int32_t		n_starts;		/* first partition of each run of partitions */
	const int32_t *starts;
	int64_t		memory_limit;	/* bytes, for data and models together */
	const char *precision;		/* "fp32", "bf16"; see check_precision */
	/*
	 * What tells its data, those of validation with them, from others; NULL: nothing. What early
	 * stopping and ReduceLROnPlateau counted on other data counts no more after a warm start.
	 */
	const char *data_name;
	int32_t		mix_numerics;	/* 1: warm start from a state of another numerics class */
	int32_t		event_fd;		/* eventfd that is written to when events wait, but not for a few
								 * metrics and iterations alone; not owned */
	/*
	 * Threads that share the arithmetic of one model's visit, 1 where it is 0; part of the
	 * numerics class. The models are then trained by threads / threads_per_model workers.
	 */
	int32_t		threads_per_model;
	int32_t		use_gpus;		/* 1: the workers are GPUs */
	int32_t		n_gpus;			/* GPUs to use, by their index in gpus(); 0: all */
	const int32_t *gpus;
	int32_t		fuse;			/* on GPUs: 1: models of one shape train side by side; 0: each
								 * alone, and the same bits every time */
	/*
	 * Of a group: the number of its process among those of its host, from 0. It takes one GPU: that
	 * one of `gpus` (0: of all), modulo their number.
	 */
	int32_t		device_number;
} hopper_run_options;

/*
 * How packed data and models share hopper_run_options.memory_limit. Data that do not fit beside the
 * models are read a partition at a time, in the order of the ring; each reading serves every model
 * that is due.
 */
typedef struct hopper_data_plan
{
	int32_t		resident;		/* 1: all data stay in memory and are pushed before the start */
	int32_t		max_reads;		/* how often a partition is read at most */
	int64_t		bytes_data;		/* training and validation data as they lie in memory */
	int64_t		bytes_models;	/* states, kept weights, and what the threads work with */
	int64_t		bytes_window;	/* left for partitions */
	/*
	 * Configurations that begin when others have ended; of a group, the most that may meet there
	 * where not all of them fit together, so that some wait.
	 */
	int32_t		n_waiting;
	/*
	 * What the server may have to put into files, about: results that are taken early to make room
	 * for them; of a group, the models that one hop brings to it.
	 */
	int64_t		bytes_aside;
} hopper_data_plan;

typedef enum hopper_model_status
{
	HOPPER_MODEL_TRAINING = 0,
	HOPPER_MODEL_DONE = 1,
	HOPPER_MODEL_FAILED = 2
} hopper_model_status;

typedef struct hopper_model_result
{
	int32_t		status;			/* hopper_model_status */
	int32_t		iterations;		/* finished, over warm starts */
	double		seconds_training;
	double		seconds_evaluating;
	double		seconds_waiting;	/* ready, but no worker was free */
	int64_t		examples;		/* trained on, in this run */
	int64_t		n_parameters;
	int64_t		n_weights;		/* of a model that is done; take_weights has them */
	size_t		state_size;		/* take_state has it */
	char		digest[33];		/* of the state image, once all of it was taken */
	char		loss_type[HOPPER_MAX_NAME];
	int32_t		n_metrics;
	char		metrics_type[HOPPER_MAX_METRICS][HOPPER_MAX_NAME];
	char		error[512];		/* failed: why */
	char		error_detail[512];
	int32_t		reason_size;	/* bytes of `error` that other failures may have as well */
	int32_t		stopped;		/* 1: early stopping ended it */
	int32_t		best_iteration; /* by what early stopping watches; 0: nothing is watched */
	int32_t		kept_iteration; /* whose weights `weights` are: the last one's, or the best one's */
	double		learning_rate;	/* the base rate of its next iteration */
	int32_t		mixed;			/* 1: a warm start went on from another numerics class */
} hopper_model_result;

typedef struct hopper_run_info
{
	int64_t		bytes_data;		/* resident packed data */
	int64_t		bytes_models;
	double		seconds_busy;	/* sum over workers */
	double		seconds_wall;
	char		numerics_class[128];
	int64_t		bytes_read;		/* of packed data, every reading of a partition counted */
	int64_t		n_loads;		/* partitions read */
	double		seconds_reading;	/* from the demand for a partition until it was there */
	int32_t		n_workers;		/* that trained at the same time */
	double		seconds_hop;	/* sum over workers: between two visits, not idle */
	/* Of the schedule, for benchmarks and tests; a run's alone, without GPUs. */
	int64_t		n_tasks;		/* that threads took */
	int64_t		n_steps;		/* under the lock, to find them */
	int64_t		n_wakes;		/* of threads that had nothing to do */
} hopper_run_info;

#endif							/* MODEL_HOPPER_TRAINING_H */
