/*
 * pool.h
 *		The trials of a search while they train: one open training for all of them.
 */
#ifndef HOPPER_POOL_H
#define HOPPER_POOL_H

#include "pg/search/automl.h"

typedef struct hopper_pool_trial
{
	hopper_config config;		/* without a key: it is nothing to train */
	bool		trains;
	bool		begun;			/* in this session, */
	TimestampTz begun_at;		/* and when its last training has */
} hopper_pool_trial;

typedef struct hopper_pool
{
	hopper_automl *run;
	hopper_fit	fit;
	hopper_progress progress;
	hopper_pool_trial *trials;
	int			n_trials;
	int			allocated;
	struct HTAB *models;		/* their architectures, or NULL */
	int			n_training;
	int			n_told;
	int64		largest;		/* iterations to which a trial has been promoted */
	MemoryContext result;		/* of one result */
	bool		closed;			/* nothing more enters */
	bool		cut;			/* its time was up: trials end with their iteration */
	/*
	 * A trial did not fit beside what the training has planned: it and what the search wants after
	 * it wait for another training.
	 */
	bool		leaves;
	hopper_search_assignment *left;
	int			n_left;
} hopper_pool;

/*
 * Asks for the first trials and makes pool->fit ready to train them: the tables of models, and all
 * that can be wrong. *work: what is to begin, *n assignments; 0: there is nothing to train.
 */
extern hopper_pool *hopper_pool_prepare(hopper_automl *run, hopper_search_assignment **work,
										int *n);
/* Makes pool->fit ready to go on with a run's search that has its tables, once it was replayed. */
extern hopper_pool *hopper_pool_resume(hopper_automl *run, hopper_search_assignment **work,
									   int *n);
/* Begins to train, with `work` first. */
extern void hopper_pool_start(hopper_pool *pool, const hopper_search_assignment *work, int n);
/* What has ended, at this place of the training, which has its result. */
extern void hopper_pool_ended(hopper_pool *pool, int at);
/* One that has halted in this iteration ends with the next one, where others wish it to stop. */
extern void hopper_pool_steer(hopper_pool *pool, int at, int32 iteration);
/* Says of trials that others wish to stop, and that do not train now, that they have ended. */
extern void hopper_pool_tell_resting(hopper_pool *pool);
/* Begins what the search wants now, and closes the training where it wants nothing more. */
extern void hopper_pool_go_on(hopper_pool *pool);
/* The whole of a search in the foreground; its models are in their tables then. */
extern void hopper_search_pool(hopper_automl *run);

#endif							/* HOPPER_POOL_H */
