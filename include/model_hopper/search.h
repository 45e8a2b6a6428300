/*
 * search.h
 *		Searches: which configuration to train next, and how far.
 *
 * A search decides by results alone, in the order of virtual time: whoever trains, and however
 * fast, the same results lead to the same search. One thread at a time.
 */
#ifndef MODEL_HOPPER_SEARCH_H
#define MODEL_HOPPER_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include "model_hopper/basics.h"
#include "model_hopper/data.h"

typedef struct hopper_search hopper_search;

/* What a name in objectives and constraints stands for. */
typedef enum hopper_measure
{
	HOPPER_MEASURE_METRIC = 0,	/* by its text, as results show it */
	HOPPER_MEASURE_LOSS = 1,
	HOPPER_MEASURE_GAP = 2,		/* by how much the first objective that is one of these two is
								 * better on the training data than on the validation data */
	HOPPER_MEASURE_PARAMETERS = 3	/* of the model, whatever the data */
} hopper_measure;

/* A trial of an earlier search: known, never trained here. */
typedef struct hopper_search_earlier
{
	int32_t		mst_key;		/* of the earlier search's */
	const char *parameters;		/* JSON, as a row of trials has it */
	int64_t		iterations;
	const double *values;		/* of objectives, then constraints; NULL: it failed */
} hopper_search_earlier;

typedef struct hopper_search_options
{
	/* what may be chosen: MADlib's grids, or `space`, a JSON text (docs/guide/search.md) */
	int32_t		n_models;
	const int32_t *model_ids;
	/*
	 * Keras JSON of each, which may hold {"hopper": ...}, or "" where there is none; or NULL: they
	 * are not looked at, and an iteration of each configuration takes one unit of virtual time.
	 * Otherwise it takes its floating-point operations.
	 */
	const char *const *model_archs;
	const char *compile_grid;
	const char *fit_grid;
	const char *space;			/* or NULL */
	/* With it and architectures, words that no configuration can be trained with are refused. */
	const hopper_data_desc *data;
	int32_t		has_validation; /* results are of validation data */
	const char *algorithm;		/* "hyperband" */
	const char *arguments;		/* "R=81, eta=3"; NULL: the defaults */
	const char *objective;		/* "accuracy", "accuracy, 0.1 * loss" */
	const char *constraints;	/* "overfit_gap <= 0.05"; NULL: none */
	uint64_t	seed;
	int64_t		seats;			/* trials under way at once */
	int64_t		max_configs;	/* HOPPER_NO_BUDGET: no end by it, likewise the others */
	int64_t		max_iterations; /* of all trials together */
	double		max_seconds;	/* only checked; NaN: none */
	double		target;			/* of the first objective; NaN: none */
	int64_t		keep;			/* only checked: HOPPER_NO_BUDGET or at least 1 */
	/* Tables that these are of, for what is said of them; NULL where there is none. */
	const char *first_table;
	const char *earlier_table;
	int32_t		n_first;		/* JSON of configurations to try first */
	const char *const *first;
	const int32_t *first_keys;	/* their mst_key, or NULL */
	int32_t		n_earlier;
	const hopper_search_earlier *earlier;
	/* what the caller has found wrong: it is said before all that is found here */
	int32_t		n_problems;
	const hopper_error *problems;
} hopper_search_options;

#define HOPPER_NO_BUDGET INT64_MAX

/* Train `trial` from iteration `from` (from `parent`'s state there, unless -1) to `resource`. */
typedef struct hopper_search_assignment
{
	int64_t		trial;
	int64_t		from;
	int64_t		resource;
	int64_t		parent;
} hopper_search_assignment;

/* What came of an assignment. */
typedef struct hopper_search_told
{
	/* of its measures, in the order of measures(): of the weights that it would deliver */
	const double *values;
	const double *last;			/* after its last iteration, where its state is; NULL: the same */
	int32_t		n;
	int64_t		iterations;		/* trained from its beginning; -1: as many as were asked for */
	const char *failure;		/* why it failed, or NULL */
} hopper_search_told;

/* A rung of successive halving (s, i) of which all configurations have a result. */
typedef struct hopper_search_rung
{
	int32_t		s;
	int32_t		i;
	int64_t		iterations;
	int64_t		configs;
	int64_t		failed;			/* of them */
	int64_t		going_on;
	int64_t		best;			/* trial; -1: all failed */
	double		value;			/* of its first objective, after these iterations */
} hopper_search_rung;

/* What a trial of a played search costs, in seconds of one worker. */
typedef struct hopper_trial_cost
{
	int64_t		trial;
	double		seconds_iteration;
	double		seconds_evaluation;
} hopper_trial_cost;

/* What is done to a trial from outside. */
typedef enum hopper_search_steering
{
	HOPPER_SEARCH_STOP_TRIAL,	/* it is given no more iterations; its results stay */
	HOPPER_SEARCH_PIN_TRIAL,	/* it goes on whatever its results are, */
	HOPPER_SEARCH_UNPIN_TRIAL	/* as long as it is not unpinned */
} hopper_search_steering;

typedef struct hopper_search_api
{
	/* Plays a search that has just begun to its end, with made-up results; *trials: how many. */
	int			(*play) (hopper_search *search, int64_t *trials, hopper_error *error);
	/*
	 * item, value, unit: what a search that was played will take of so many workers, by the costs
	 * that are known, of `n` trials.
	 */
	int			(*forecast) (const hopper_search *search, const hopper_trial_cost *known, int32_t n,
							 int32_t workers, hopper_rows **rows, hopper_error *error);
	/* Fails (22023 and others) with all that is wrong with the options. */
	int			(*start) (const hopper_search_options *options, hopper_search **search,
						  hopper_error *error);
	/* What is to begin now: `*n` of at most `capacity`; more come with the next call. */
	int			(*ask) (hopper_search *search, hopper_search_assignment *assignments,
						int32_t capacity, int32_t *n, hopper_error *error);
	/* What came of it. */
	int			(*tell) (hopper_search *search, int64_t trial, const hopper_search_told *told,
						 hopper_error *error);
	/*
	 * A trial that was stopped since the last call: its state is of no more use; if it comes back,
	 * it trains anew. -1: none.
	 */
	int64_t		(*next_stopped) (hopper_search *search);
	/* 1: a rung that was decided since the last call; 0: none. */
	int32_t		(*next_rung) (hopper_search *search, hopper_search_rung *rung);
	/*
	 * `what`: hopper_search_steering; `reason`: for the decision. *changed: 0 where the trial has
	 * ended, has failed or was stopped, so that nothing changes.
	 */
	int			(*steer) (hopper_search *search, int64_t trial, int32_t what, const char *reason,
						  int32_t *changed, hopper_error *error);
	/*
	 * Proposes these parameters (JSON) before all others once a configuration is to begin; fails
	 * (22023) with all that is wrong with them, and where they were tried or nothing more begins.
	 */
	int			(*enqueue) (hopper_search *search, const char *parameters, hopper_error *error);
	/* Begins nothing more. */
	int			(*stop) (hopper_search *search, const char *reason, hopper_error *error);
	/* 1: nothing runs, and nothing is left to begin. */
	int32_t		(*done) (const hopper_search *search);
	/* That were trained, of all trials; of those that run, begun. */
	int64_t		(*iterations) (const hopper_search *search);
	/* 1: it would have begun more configurations but for max_configs of its options. */
	int32_t		(*is_spent) (const hopper_search *search);
	/* *trial: the best one, or -1 where all failed. */
	int			(*best) (const hopper_search *search, int64_t *trial, hopper_error *error);
	/*
	 * trial, model_id, compile_params, fit_params, parameters (JSON), iterations, value (of the
	 * first objective), status ('running', 'stopped', 'failed', 'done', 'earlier'), parent,
	 * architecture (Keras JSON where it was a template), what shapes it (JSON), place from the best
	 * on, 't' where no other is better in all objectives, values of the objectives and of the
	 * constraints ("{0.5,1}"): of the trials from `first` on.
	 */
	int			(*trials) (const hopper_search *search, int64_t first, hopper_rows **rows,
						   hopper_error *error);
	/* number, decision, trial, bracket, rung, iterations, score, parent, reason, virtual time */
	int			(*decisions) (const hopper_search *search, hopper_rows **rows,
							  hopper_error *error);
	/*
	 * trial, iterations, values of the objectives, values of the constraints ("{0.5,1}"), 't' where
	 * they are kept, why it failed, virtual time: each result in the order of virtual time.
	 */
	int			(*results) (const hopper_search *search, hopper_rows **rows, hopper_error *error);
	/*
	 * model_id, architecture (or NULL), compile_params, fit_params of some configurations that
	 * stand for all: their texts are worth trying before the search begins.
	 */
	int			(*probes) (const hopper_search *search, hopper_rows **rows, hopper_error *error);
	/* JSON of parameters and their importance (shares of one), the most important first: a cell */
	int			(*importance) (const hopper_search *search, hopper_rows **rows,
							   hopper_error *error);
	void		(*free) (void *search);

	/*
	 * name, hopper_measure, 't' where it is an objective, 't' where larger is better: objectives
	 * before constraints
	 */
	int			(*measures) (const hopper_search_options *options, hopper_rows **rows,
							 hopper_error *error);
	/*
	 * parameter, type, scale, low, high, step, choices (JSON), number of values, condition, used
	 * in: a row each dimension. Only what may be chosen is read of the options.
	 */
	int			(*describe_space) (const hopper_search_options *options, hopper_rows **rows,
								   hopper_error *error);
	/* Method, objective and what may be chosen, as a JSON object: a row of one cell. */
	int			(*describe) (const hopper_search_options *options, hopper_rows **rows,
							 hopper_error *error);
	/* The parameters that a Keras JSON refers to, a row each; fails where it is not understood. */
	int			(*template_parameters) (const char *json, size_t size, hopper_rows **rows,
										hopper_error *error);
	/*
	 * s, i, n_i, r_i: Hyperband's brackets, from the largest s; r_i iterations are trained in all
	 * at the end of a rung, with `additional` in the rung itself (MADlib). `variant`: "floor" or
	 * "jmlr", as automl() has it. *iterations: of all.
	 */
	int			(*hyperband_schedule) (int64_t r, int64_t eta, int64_t skip_last,
									   int32_t additional, const char *variant,
									   int64_t *iterations, hopper_rows **rows,
									   hopper_error *error);
} hopper_search_api;

#endif							/* MODEL_HOPPER_SEARCH_H */
