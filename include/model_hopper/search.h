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

typedef struct hopper_search hopper_search;

typedef struct hopper_search_options
{
	/* what may be chosen: MADlib's grids, or `space`, a JSON text (docs/search.md) */
	int32_t		n_models;
	const int32_t *model_ids;
	const char *compile_grid;
	const char *fit_grid;
	const char *space;			/* or NULL */
	const char *algorithm;		/* "hyperband" */
	const char *arguments;		/* "R=81, eta=3"; NULL: the defaults */
	const char *objective;		/* a metric, or "loss" */
	uint64_t	seed;
	int64_t		seats;			/* trials under way at once */
	int64_t		max_configs;	/* 0: no end by it, likewise the others */
	int64_t		max_iterations; /* of all trials together */
	double		target;			/* of the objective; NaN: none */
} hopper_search_options;

/* Train `trial` from iteration `from` (from `parent`'s state there, unless -1) to `resource`. */
typedef struct hopper_search_assignment
{
	int64_t		trial;
	int64_t		from;
	int64_t		resource;
	int64_t		parent;
} hopper_search_assignment;

typedef struct hopper_search_api
{
	/* Fails (22023 and others) with all that is wrong with the options. */
	int			(*start) (const hopper_search_options *options, hopper_search **search,
						  hopper_error *error);
	/* What is to begin now: `*n` of at most `capacity`; more come with the next call. */
	int			(*ask) (hopper_search *search, hopper_search_assignment *assignments,
						int32_t capacity, int32_t *n, hopper_error *error);
	/* What came of it: the objective's value, or why it failed (not NULL). */
	int			(*tell) (hopper_search *search, int64_t trial, double value, const char *failure,
						 hopper_error *error);
	/* Begins nothing more. */
	int			(*stop) (hopper_search *search, const char *reason, hopper_error *error);
	/* 1: nothing runs, and nothing is left to begin. */
	int32_t		(*done) (const hopper_search *search);
	/* The best trial, or -1 where all failed. */
	int64_t		(*best) (const hopper_search *search);
	/*
	 * trial, model_id, compile_params, fit_params, parameters (JSON), iterations, value, status
	 * ('running', 'stopped', 'failed', 'done'), parent: of the trials from `first` on.
	 */
	int			(*trials) (const hopper_search *search, int64_t first, hopper_rows **rows,
						   hopper_error *error);
	/* number, decision, trial, bracket, rung, iterations, score, parent, reason, virtual time */
	int			(*decisions) (const hopper_search *search, hopper_rows **rows,
							  hopper_error *error);
	void		(*free) (hopper_search *search);

	/* name, meaning, arguments with their defaults */
	int			(*algorithms) (hopper_rows **rows, hopper_error *error);
	/*
	 * s, i, n_i, r_i: Hyperband's brackets, from the largest s; r_i iterations are trained in all
	 * at the end of a rung, with `additional` in the rung itself (MADlib). *iterations: of all.
	 */
	int			(*hyperband_schedule) (int64_t r, int64_t eta, int64_t skip_last,
									   int32_t additional, int64_t *iterations,
									   hopper_rows **rows, hopper_error *error);
} hopper_search_api;

#endif							/* MODEL_HOPPER_SEARCH_H */
