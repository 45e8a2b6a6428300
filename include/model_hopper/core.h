/*
 * core.h
 *		libhopper_core.so: checks, parsing, packing, most predictions; no libtorch, loads in
 *		milliseconds.
 */
#ifndef MODEL_HOPPER_CORE_H
#define MODEL_HOPPER_CORE_H

#include <stddef.h>
#include <stdint.h>

#include "model_hopper/basics.h"
#include "model_hopper/cancel.h"
#include "model_hopper/config.h"
#include "model_hopper/data.h"
#include "model_hopper/engine.h"
#include "model_hopper/metrics.h"
#include "model_hopper/model.h"
#include "model_hopper/readings.h"
#include "model_hopper/schema.h"
#include "model_hopper/search.h"
#include "model_hopper/training.h"

#ifdef __cplusplus
extern "C"
{
#endif

typedef enum hopper_format
{
	HOPPER_FORMAT_ONNX = 1,
	HOPPER_FORMAT_PYTORCH = 2	/* source, without weights */
} hopper_format;

/* Beside the codes of errors (hopper_code) one of problems: of what does not exist (42704). */
#define HOPPER_UNDEFINED 12

/* A model for other tools. */
typedef struct hopper_export
{
	int32_t		format;			/* hopper_format */
	const char *model_arch;
	size_t		model_arch_size;
	const float *weights;		/* as many as the model has; NULL: not checked; not for source */
	int64_t		n_weights;
	const hopper_data_desc *data;	/* what it was trained on, or NULL */
	const char *features;		/* columns of features, as JSON; or NULL */
	const char *schema;			/* of columns with treatments, as JSON; or NULL */
	/* Without data: the input's, where the architecture does not say it (rank 0: not known). */
	int32_t		rank;
	const int64_t *shape;
} hopper_export;

/* Packed data, or those of a model, with what else has to be equal and what messages call them. */
typedef struct hopper_compared_data
{
	const char *name;
	const hopper_data_desc *desc;
	int32_t		n_x_columns;
	const char *const *x_columns;	/* of the source */
} hopper_compared_data;

/* What a trial has reached, for TensorBoard; texts are UTF-8. */
typedef struct hopper_events
{
	int32_t		n;				/* points of its curves, in their order */
	const char *const *tags;
	const int64_t *steps;
	const double *times;		/* seconds since 1970 */
	const double *values;
	int32_t		n_given;		/* parameters */
	const char *const *names;
	const char *const *given;
	double		began;
	int32_t		failed;			/* 1: it has */
} hopper_events;

/* A network that is to be written. */
typedef struct hopper_network
{
	const char *recipe;			/* of a published one its name; else NULL */
	const char *options;		/* then a JSON object, and all that follows is not asked */
	int32_t		of_images;		/* 1: convolutions stand before the hidden layers */
	int32_t		n_filters;
	const int32_t *filters;
	int32_t		kernel_size;
	int32_t		pooling;
	int32_t		n_hidden;
	const int32_t *hidden;
	const char *activation;
	double		dropout;
	int32_t		batch_norm;		/* 1: values are normalized by the batch */
} hopper_network;

typedef struct hopper_core_api
{
	int32_t		version;		/* HOPPER_API_VERSION */
	int32_t		size;			/* sizeof(hopper_core_api) */
	const char *library_version;	/* as model_hopper.control has it */

	void		(*rows_free) (void *rows);
	/*
	 * `question` (or NULL) is asked in long calls, by the thread that called: not 0 where they are
	 * to end with HOPPER_CANCELLED. It reads flags and does nothing else.
	 */
	void		(*ask_for_cancel) (int (*question) (void));

	/*
	 * What there is, as the SQL function of the name `what` lists it (capi/lists.cpp); its columns
	 * are that function's.
	 */
	int			(*list) (const char *what, hopper_rows **rows, hopper_error *error);

	/* --- architectures --- */

	int			(*inspect_model) (const char *json, size_t size, hopper_model_info *info,
								  hopper_error *error);
	/*
	 * "input" or "output", name, shape ("28x28x1"), place of its first value in a row of all of
	 * them, number of values, of outputs hopper_meaning without and with names of classes: a row
	 * for each input, then for each output, in the model's order. Fails as inspect_model does.
	 */
	int			(*model_ends) (const char *json, size_t size, hopper_rows **rows,
							   hopper_error *error);
	/*
	 * position, layer, class_name, output_shape, parameters, trainable, flops, inputs: a row a
	 * layer in the order of the JSON, then a row named "total". `data` may be NULL; it fills in an
	 * input shape that is left open.
	 */
	int			(*describe_model) (const char *json, size_t size, const hopper_data_desc *data,
								   hopper_rows **rows, hopper_error *error);
	/*
	 * What the model asks of columns of a table that are its inputs, a row for each in its order:
	 * name; treatment, as hopper_schema_api.plan() reads it; "t" where layers of the model need
	 * this one. `has_weights`: it has weights of its own.
	 */
	int			(*model_columns) (const char *json, size_t size, int32_t has_weights,
								  hopper_rows **rows, hopper_error *error);
	/*
	 * A model that was written by hand, as Keras' model_from_json() reads it: one row with its JSON
	 * in ASCII. No row where the text needs nothing. The text has been inspected.
	 */
	int			(*complete_model) (const char *json, size_t size, hopper_rows **rows,
								   hopper_error *error);
	/*
	 * Message, detail, hint: a row for each thing in the text that is read as another, of which
	 * whoever loads it should know.
	 */
	int			(*notes_on_model) (const char *json, size_t size, hopper_rows **rows,
								   hopper_error *error);
	/*
	 * Fails (22023) where n_weights floats do not fill the model or, unless `weights` is NULL, one
	 * of them is NaN or infinite, with the users' message. Of a model whose input shape is open
	 * only the values are checked.
	 */
	int			(*check_weights) (const char *json, size_t size, const float *weights,
								  int64_t n_weights, hopper_error *error);
	/* Fails where one of n floats, behind `first` others of the model's, is NaN or infinite. */
	int			(*check_weights_part) (const char *json, size_t size, int64_t first,
									   const float *weights, int64_t n, hopper_error *error);

	/*
	 * One row: the header of a safetensors file whose tensors are the model's weights in order, and
	 * their number of floats. The input's shape is of use where the architecture does not say it
	 * (rank 0: not known). n_weights floats must be as many as the model has (less than 0: none are
	 * given); unless `weights` is NULL they are checked.
	 */
	int			(*safetensors_header) (const char *json, size_t size, int32_t rank,
									   const int64_t *shape, const float *weights,
									   int64_t n_weights, hopper_rows **rows,
									   hopper_error *error);
	/* The weights of such a file into n_weights floats, as many as the model has. */
	int			(*read_safetensors) (const char *json, size_t size, int32_t rank,
									 const int64_t *shape, const void *file, size_t file_size,
									 float *weights, int64_t n_weights, hopper_error *error);

	/*
	 * A model for other tools: rows of bytes, their length, and which floats of the weights follow
	 * them: the first, and how many.
	 */
	int			(*export_model) (const hopper_export *model, hopper_rows **rows,
								 hopper_error *error);
	/* An event file: one row as export_model() has them, without weights. */
	int			(*export_events) (const hopper_events *events, hopper_rows **rows,
								  hopper_error *error);

	/* --- configurations --- */

	/*
	 * model_id, compile_params, fit_params. `notice` (may be NULL) gets how the grid was
	 * understood where it could be otherwise; else its message is empty.
	 */
	int			(*generate_configs) (const hopper_grid *grid, hopper_rows **rows,
									 hopper_error *notice, hopper_error *error);
	/*
	 * Cross product of three lists with MADlib's de-duplication (blanks and order of keys do not
	 * count); model_id, compile_params, fit_params.
	 */
	int			(*cross_configs) (int32_t n_models, const int32_t *model_ids, int32_t n_compile,
								  const char *const *compile_params, int32_t n_fit,
								  const char *const *fit_params, hopper_rows **rows,
								  hopper_error *error);
	/*
	 * Floating-point operations of training in an iteration of each configuration, about: what its
	 * time goes by. As of one without layers where it cannot be read.
	 */
	int			(*iteration_flops) (const hopper_config *configs, int32_t n,
									const hopper_data_desc *data, double *flops,
									hopper_error *error);
	/*
	 * Every problem of every configuration: mst_key, severity ('error' or 'warning'), code
	 * (hopper_code or HOPPER_UNDEFINED, a number), message, detail, hint; by key, errors first. No
	 * rows: all is well. `data` may be NULL (then shapes and labels are not compared). A
	 * configuration without model_arch is one whose model the table `models` does not have.
	 */
	int			(*check_configs) (const hopper_config *configs, int32_t n_configs,
								  const hopper_data_desc *data, const char *models,
								  hopper_rows **rows, hopper_error *error);
	/*
	 * One row, an error, of all problems that are errors; where there is none, a row of each
	 * different warning. Columns of check_configs() without the key.
	 */
	int			(*report_configs) (const hopper_config *configs, int32_t n_configs,
								   const hopper_data_desc *data, const char *models,
								   hopper_rows **rows, hopper_error *error);

	/*
	 * The hopper_direction of a metric by its text as results show it, or of "loss". Fails (22023)
	 * for other names.
	 */
	int			(*metric_direction) (const char *metric, int32_t *direction, hopper_error *error);
	/* compile_params or fit_params as a JSON object: a row of one cell. */
	int			(*params_json) (const char *params, hopper_rows **rows, hopper_error *error);
	/* So what a configuration was given, with its "model_id" first. */
	int			(*config_json) (int32_t model_id, const char *compile_params,
								const char *fit_params, hopper_rows **rows, hopper_error *error);
	/*
	 * Where in a row of a model's outputs one of them stands, what its values stand for, and what
	 * makes probabilities of them.
	 * `data`: the features' shape; output: the place in data->outputs, 0 where there are none.
	 */
	int			(*output_link) (const char *model_arch, size_t model_arch_size,
								const char *compile_params, const hopper_data_desc *data,
								int32_t output, hopper_output_link *link, hopper_error *error);

	/*
	 * How the configurations of a run are compared: metric (its place among theirs from 1; 0: the
	 * loss), direction (hopper_direction), group (from 1; only those of one can be compared),
	 * metric's name, 1 where they are compared by the loss because their metrics differ. A row for
	 * each. `rank_by`: a metric or "loss", or NULL: what all have. Where it cannot be (22023), or
	 * with `lenient` what all have instead. `data` (may be NULL): what architectures are read for.
	 */
	int			(*rank_configs) (int32_t n, const hopper_ranked_config *configs,
								 const hopper_data_desc *data, const char *rank_by,
								 int32_t lenient, hopper_rows **rows, hopper_error *error);

	/*
	 * The place of the best of n models (at least one) that are compared by metrics of one
	 * hopper_direction: the first of a leaderboard.
	 */
	int			(*best_model) (int32_t n, const hopper_measured *models, int32_t direction,
							   int32_t *best, hopper_error *error);

	/*
	 * Whether a model with these fit_params (which were checked once) keeps the weights of its best
	 * iteration, not of its last one.
	 */
	int			(*keeps_best) (const char *fit_params, int32_t *keeps, hopper_error *error);

	/* --- threads --- */

	/* Models that train at once; threads_per_model 0: 1. */
	int32_t		(*workers_of) (int32_t threads, int32_t threads_per_model);
	/* Fails (22023) where a model would have more threads than its run. */
	int			(*check_threads_per_model) (int32_t threads, int32_t threads_per_model,
											hopper_error *error);

	/* --- runs on segments --- */

	/*
	 * How often a model of a run with these options is evaluated on the split (hopper_split), where
	 * the split has data and the model makes all iterations.
	 */
	int			(*evaluations) (const hopper_run_options *options, int32_t split, int64_t *n,
								hopper_error *error);
	/* Where a model begins; `starts` as in hopper_run_options. */
	int			(*first_partition) (const int32_t *starts, int32_t n_starts, int32_t mst_key,
									int32_t *partition, hopper_error *error);

	/* What this process has read of configurations; libhopper_torch.so takes it. */
	int			(*readings) (hopper_readings *readings, hopper_error *error);

	/* --- packing --- */

	/* Bytes of one value of a hopper_type; 0 for an unknown type. */
	int32_t		(*type_size) (int32_t type);
	/* Index of the first NaN or infinity in an unaligned array of `count` values, or -1. */
	int64_t		(*find_non_finite) (int32_t type, const void *values, int64_t count);
	/*
	 * The rank key of a row: 128-bit hash of its packed feature and label bytes under `seed`.
	 * Rows are ordered by (key, features, labels) as unsigned bytes.
	 */
	void		(*row_key) (uint64_t seed, const void *x, size_t x_size, const void *y,
							size_t y_size, uint8_t key[16]);
	/* max(4, ceil(bytes / 256 MB)), but at most one partition a row and at least 1. */
	int32_t		(*default_partitions) (int64_t bytes, int64_t n_rows);
	/* Ranks [*first, *first + *count) belong to `partition`; sizes differ by at most one. */
	void		(*partition_range) (int64_t n_rows, int32_t n_partitions, int32_t partition,
									int64_t *first, int64_t *count);
	/* Checksum of one packed buffer; stored beside it, verified whenever it is read. */
	void		(*buffer_checksum) (int32_t partition_id, int32_t buffer_id, int32_t n,
									const void *x, size_t x_size, const void *y, size_t y_size,
									uint8_t checksum[16]);
	/*
	 * Why packed data are not what a model needs that was trained on others: a sentence, or no row.
	 * Names are in any encoding. `of_schemas` (or NULL): how their schemas differ.
	 */
	int			(*data_difference) (const hopper_compared_data *packed,
									const hopper_compared_data *trained,
									const char *of_schemas, hopper_rows **rows,
									hopper_error *error);
	/*
	 * A row: a value a character, from the lowest to the highest of them, or a blank where it is
	 * not finite. More than `width` are thinned out, first and last value stay. `blocks`: UTF-8,
	 * else ASCII.
	 */
	int			(*sparkline) (const double *values, int32_t n, int32_t width, int32_t blocks,
							  hopper_rows **rows, hopper_error *error);
	/*
	 * A row of one cell: "a (3), b (1)", each text with how often it is there, the most frequent
	 * first, then as they come; five of them at most. One alone is not counted.
	 */
	int			(*count_texts) (int32_t n, const char *const *texts, hopper_rows **rows,
								hopper_error *error);
	/* Nearest of `n` names by edit distance, or -1 where none is near. */
	int32_t		(*nearest_name) (const char *name, int32_t n, const char *const *names);

	/* --- the machine --- */

	/*
	 * What this process may use of it; limits of control groups (containers, services) count.
	 * Memory of 0: there was none to find out.
	 */
	int64_t		(*available_memory) (void);
	int32_t		(*available_processors) (void);

	/* --- stored states --- */

	/*
	 * Verifies a state image (checksum, version, lengths): 0, or HOPPER_CORRUPT. `digest` gets the
	 * image's hash in hexadecimal, *iterations those that the model has finished.
	 */
	int			(*verify_state) (const uint8_t *state, size_t size, char digest[33],
								 int64_t *iterations, hopper_error *error);

	/*
	 * Why the engine below cannot do what is asked with these configurations, but that of
	 * libhopper_torch.so can: one row, which names what of them wants libtorch. No row: it can.
	 */
	int			(*wants_libtorch) (const hopper_config *configs, int32_t n,
								   const hopper_data_desc *data, hopper_rows **rows,
								   hopper_error *error);
	/* As wants_libtorch(), of a prediction: what hopper_predictor_api.create() is given. */
	int			(*predictor_wants_libtorch) (const char *model_arch, size_t model_arch_size,
											 const hopper_data_desc *data, const char *layer,
											 hopper_rows **rows, hopper_error *error);
	hopper_engine_api engine;
	/* name, value: CPU capability, numerics class, threads */
	int			(*build_info) (hopper_rows **rows, hopper_error *error);
	hopper_search_api search;
	hopper_schema_api schema;

	/*
	 * A row with fit_params whose class_weight 'balanced' is written out for the data's classes; no
	 * row where they do not say so.
	 */
	int			(*balance_classes) (const char *fit_params, const hopper_data_desc *data,
									hopper_rows **rows, hopper_error *error);

	/*
	 * A network written out for packed data: a row of architecture, and of a published one
	 * compile_params, fit_params (these two NULL where an option is a range) and space.
	 */
	int			(*write_network) (const hopper_network *network, const hopper_data_desc *data,
								  hopper_rows **rows, hopper_error *error);
} hopper_core_api;

/* hopper_core_api_get(); NULL where the caller's version is another one. */
typedef const hopper_core_api *(*hopper_core_api_get_fn) (int32_t version);

#ifdef __cplusplus
}
#endif

#endif							/* MODEL_HOPPER_CORE_H */
