/*
 * config.h
 *		Configurations, and grids of them.
 */
#ifndef MODEL_HOPPER_CONFIG_H
#define MODEL_HOPPER_CONFIG_H

#include <stddef.h>
#include <stdint.h>

/* One configuration, as its table row and its architecture's row give it. */
typedef struct hopper_config
{
	int32_t		mst_key;
	int32_t		model_id;
	const char *model_arch;		/* Keras JSON */
	size_t		model_arch_size;
	const char *compile_params;
	const char *fit_params;		/* NULL and "" mean the defaults */
	const float *weights;		/* initial weights in Keras' get_weights() order, or NULL */
	int64_t		n_weights;		/* floats; of an evaluation that gets them by add_weights also
								 * without weights */
	/* warm start: a state image; NULL with its size: a run gets it by run_add_state */
	const uint8_t *state;
	size_t		state_size;
	int32_t		confusion;		/* 1: evaluation counts labels by prediction, too */
} hopper_config;

/* What models are compared by is found in this. */
typedef struct hopper_ranked_config
{
	const char *compile_params;
	/*
	 * What else tells of which output a metric is: the names that results have for the metrics, or
	 * the architecture (Keras JSON, NULL: only what compile_params say).
	 */
	int32_t		n_metrics;
	const char *const *metrics;
	const char *model_arch;
	size_t		model_arch_size;
} hopper_ranked_config;

/* What a model delivers, by split (hopper_split), as far as it is known. */
typedef struct hopper_measured
{
	int32_t		knows_metric[2];
	double		metric[2];		/* what it is compared by */
	int32_t		knows_loss[2];
	double		loss[2];
} hopper_measured;

typedef struct hopper_grid
{
	int32_t		n_models;
	const int32_t *model_ids;
	const char *compile_grid;	/* Python dictionary text, see docs/reference */
	const char *fit_grid;
	int32_t		random;			/* 0: grid; 1: random */
	int32_t		num_configs;	/* random only */
	int32_t		has_random_state;
	int64_t		random_state;
	int64_t		max_configs;	/* more is HOPPER_LIMIT_EXCEEDED */
	/* configurations that exist already; none of them is returned again */
	int32_t		n_existing;
	const int32_t *existing_model_ids;
	const char *const *existing_compile_params;
	const char *const *existing_fit_params;
} hopper_grid;

#endif							/* MODEL_HOPPER_CONFIG_H */
