/*
 * fit.h
 *		The order of things in a training: what is refused before it, and what is left behind it.
 */
#ifndef HOPPER_FIT_H
#define HOPPER_FIT_H

#include "pg/train/outputs.h"

struct hopper_automl;

typedef struct hopper_fit
{
	/* what the caller asks for; names and settings are checked where they are read */
	const char *function;
	hopper_name source;
	hopper_name output;
	const char *shown;			/* NULL: output; else what will be its name */
	bool		has_validation;
	hopper_name validation;
	hopper_name models;
	bool		has_selection;
	hopper_name selection;
	bool		warm_start;
	bool		replace;
	bool		threads_given;
	bool		seed_given;
	bool		keeps_others;	/* models of other configurations stay */
	bool		passing;		/* a part of what is done: no run in the record of runs */
	/*
	 * Of a run that others see and that outlives its session (run/driver.c): its models are made in
	 * `staging`, tables of the run's own, and get their names at its end.
	 */
	bool		durable;
	bool		searches;		/* configurations end more than once, and others enter */
	hopper_run_options options;
	hopper_run_record record;
	hopper_config *configs;
	int			n_configs;
	/* Of a durable run: how far a trial is to train, 0: it was told to stop. */
	int32		(*target) (const struct hopper_fit *fit, int32 trial);
	/* The iterations that its model had before the run. */
	int32		(*earlier) (const struct hopper_fit *fit, int32 trial);
	const char *compared_by;	/* metric that it was created to compare trials by, or NULL */
	const char *continues;		/* hopper_outputs_digest() of the models that it goes on with */

	/* set by hopper_fit_prepare() */
	hopper_outputs outputs;
	hopper_outputs staging;		/* the same, or what takes their place */
	hopper_packed train;
	hopper_packed valid;
	hopper_training training;
	hopper_ranking ranking;
	MemoryContext memory;		/* of what may be large */
	hopper_guard *memory_guard;
	int			level;			/* of settings */
} hopper_fit;

/*
 * What takes a call of fit() or fit_multiple_model() over before it trains: the driver of runs
 * (run/driver.c), while it executes the statement of a run. The request lives in `context`.
 */
typedef struct hopper_fit_taker
{
	MemoryContext context;
	bool		resumes;		/* a run that has its trials: they count, not mst_keys */
	/*
	 * It takes functions that train several times: what they train before they call run_closing()
	 * trains at once.
	 */
	bool		several;
	bool		waits;			/* for run_closing() */
	/* One of them is NULL: what fit() and fit_multiple_model() ask for, or automl(). */
	void		(*take) (struct hopper_fit_taker *taker, FunctionCallInfo fcinfo, hopper_fit *fit,
						 struct hopper_automl *search);
} hopper_fit_taker;

/* Of the statement that is executed now, or NULL. An error ends it, too. */
extern hopper_fit_taker *hopper_taker_of_fits;
/* Hands a call's request over; false where nobody takes it. */
extern bool hopper_fit_is_taken(FunctionCallInfo fcinfo, hopper_fit *fit,
								struct hopper_automl *search);
/*
 * After hopper_connect(): the taker of this call, or NULL; where there is one what is allocated
 * from now on lives as long as its request.
 */
extern hopper_fit_taker *hopper_fit_begin_request(void);

/*
 * Refuses all that can be wrong, makes the output tables and rehearses their filling; leaves
 * fit->training ready to run. SPI must be connected.
 */
extern void hopper_fit_prepare(hopper_fit *fit);
/*
 * Prepares a durable run whose tables, fit->staging, are there: what has ended leaves fit->configs,
 * what has a checkpoint begins there. ERROR where nothing is left to train.
 */
extern void hopper_fit_resume(hopper_fit *fit);
/* Begins to train all configurations, each to its end, and no other. */
extern void hopper_fit_start(hopper_fit *fit, hopper_progress *progress);
/*
 * In the foreground, all at the same time, to their ends; what an earlier run left in the outputs
 * goes, once nothing of it is needed any more. ERROR 22000 where all configurations of one fail.
 * `n` is 1, or at most hopper_fits_at_once().
 */
extern void hopper_train(hopper_fit *const *fits, int n);
/*
 * Before they are prepared: how many such as the largest of them are fit into memory at once, with
 * all their data; at least 1: they are to be trained one after another.
 */
extern int	hopper_fits_at_once(hopper_fit *const *fits, int n);
/* Leaves the configurations of `keys`; ERROR 22023 where one of them is not there. */
extern void hopper_fit_choose(hopper_fit *fit, const int32 *keys, int n);
/* What hopper_warm_start() has read of a configuration is of this very run. */
extern void hopper_fit_goes_on(hopper_training *training, int at);
/* Fills the output tables and writes the journal, once fit->training has its results. */
extern void hopper_fit_finish(hopper_fit *fit);
extern void hopper_fit_end(hopper_fit *fit);

#endif							/* HOPPER_FIT_H */
