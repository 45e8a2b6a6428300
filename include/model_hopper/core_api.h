/*
 * core_api.h
 *		The boundary between the PostgreSQL glue (C) and the core (C++17).
 *
 * Two libraries stand behind this header:
 *
 *	libhopper_core.so	checks, parsing, packing: no libtorch; loads in milliseconds.
 *						Exports hopper_core_api_get().
 *	libhopper_torch.so	training, evaluation, prediction: libtorch.
 *						Exports hopper_torch_api_get().
 *
 * Each returns a table of functions, or NULL when the caller's HOPPER_API_VERSION is not its own.
 *
 * Rules that hold for every function here:
 *	- Only C types cross. No exception, signal, longjmp or thread of the core leaves it.
 *	- A function that can fail returns 0 on success and otherwise a hopper_code, with *error
 *	  filled in. The caller owns the error struct.
 *	- Memory that the core hands out stays valid until the matching _free call. Memory that the
 *	  caller passes in is only read during the call.
 *	- No function calls back. Functions of one handle are called by one thread at a time.
 *	- Text is UTF-8 and NUL-terminated unless a length goes with it.
 */
#ifndef MODEL_HOPPER_CORE_API_H
#define MODEL_HOPPER_CORE_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

#define HOPPER_API_VERSION 2

#define HOPPER_MAX_RANK 8
#define HOPPER_MAX_METRICS 32
#define HOPPER_MAX_NAME 256		/* bytes of a loss or metric as the user wrote it */

/* What went wrong; the glue maps each code to the SQLSTATE beside it. */
typedef enum hopper_code
{
	HOPPER_OK = 0,
	HOPPER_INVALID_PARAMETER = 1,	/* 22023 */
	HOPPER_INVALID_TEXT = 2,		/* 22P02 */
	HOPPER_DATA_EXCEPTION = 3,		/* 22000 */
	HOPPER_NOT_SUPPORTED = 4,		/* 0A000 */
	HOPPER_LIMIT_EXCEEDED = 5,		/* 54000 */
	HOPPER_OUT_OF_MEMORY = 6,		/* 53200 */
	HOPPER_NOT_READY = 7,			/* 55000 */
	HOPPER_CORRUPT = 8,				/* XX001 */
	HOPPER_DEVICE = 9,				/* 58000 */
	HOPPER_INTERNAL = 10			/* XX000 */
} hopper_code;

typedef struct hopper_error
{
	int32_t		code;			/* hopper_code */
	char		message[1024];
	char		detail[8192];
	char		hint[1024];
} hopper_error;

/*
 * A result set as text cells, row-major; NULL is SQL's NULL. The glue turns cells into values with
 * the input functions of the result's column types.
 */
typedef struct hopper_rows
{
	int32_t		n_rows;
	int32_t		n_columns;
	const char *const *cells;
} hopper_rows;

/* Types of packed values, little-endian, C order. The numbers are stored in packed tables. */
typedef enum hopper_type
{
	HOPPER_UINT8 = 1,
	HOPPER_INT16 = 2,
	HOPPER_INT32 = 3,
	HOPPER_INT64 = 4,
	HOPPER_FLOAT32 = 5,
	HOPPER_FLOAT64 = 6
} hopper_type;

typedef enum hopper_label_kind
{
	HOPPER_LABEL_CLASS = 1,		/* one class index a row; y_type is an integer type, y_rank 0 */
	HOPPER_LABEL_VALUE = 2,		/* a number a row (regression); y_rank 0 */
	HOPPER_LABEL_ARRAY = 3		/* an array a row: one-hot, several targets, soft labels */
} hopper_label_kind;

/* One example, and how many there are. */
typedef struct hopper_data_desc
{
	int32_t		x_type;			/* hopper_type */
	int32_t		x_rank;			/* dimensions of one example; 0 is refused */
	int64_t		x_shape[HOPPER_MAX_RANK];
	int32_t		y_kind;			/* hopper_label_kind */
	int32_t		y_type;			/* hopper_type */
	int32_t		y_rank;
	int64_t		y_shape[HOPPER_MAX_RANK];
	int32_t		num_classes;	/* LABEL_CLASS: width of the one-hot form; else 0 */
	int32_t		n_partitions;
	int64_t		n_rows;
	double		normalizing_const;	/* features are divided by it on their way to the model */
	int32_t		n_class_values; /* LABEL_CLASS: names of the classes in order, NULL allowed */
	const char *const *class_values;
	const char *table_name;		/* for messages */
	const char *x_column;
	const char *y_column;
	/* for checks: 1: there is a validation table beside it; -1: there is none; 0: not known */
	int32_t		validation;
} hopper_data_desc;

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
	int64_t		n_weights;		/* floats; 0 where weights is NULL */
	/* warm start: a state image; NULL with its size: a run gets it by run_add_state */
	const uint8_t *state;
	size_t		state_size;
	int32_t		confusion;		/* 1: evaluation counts labels by prediction, too */
} hopper_config;

typedef struct hopper_model_info
{
	int64_t		n_parameters;	/* floats in get_weights(): trainable or not */
	int64_t		n_trainable;
	int64_t		flops;			/* forward, one example; a multiply-add is two */
	int32_t		input_rank;		/* 0: the JSON does not say */
	int64_t		input_shape[HOPPER_MAX_RANK];
	int32_t		output_rank;
	int64_t		output_shape[HOPPER_MAX_RANK];
	char		architecture_hash[33];
	char		name[128];
} hopper_model_info;

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

/* Which values of a metric are the better ones. */
typedef enum hopper_direction
{
	HOPPER_SMALLER_IS_BETTER = -1,
	HOPPER_NO_DIRECTION = 0,	/* nobody can say: counts */
	HOPPER_LARGER_IS_BETTER = 1
} hopper_direction;

/* How data and models of a run on segments lie. */
typedef struct hopper_course_data
{
	int32_t		num_iterations;
	int32_t		metrics_compute_frequency;
	int32_t		training_metrics;	/* hopper_training_metrics */
	int32_t		n_starts;
	const int32_t *starts;
	int32_t		n_partitions;
	const int32_t *train_keys;	/* the segment of each partition */
	int32_t		n_valid;		/* 0: no validation */
	const int32_t *valid_keys;
	int32_t		n_models;		/* that train on */
	const int32_t *mst_keys;
	const int32_t *waits;		/* see waits_for_metrics */
} hopper_course_data;

typedef struct hopper_core_api
{
	int32_t		version;		/* HOPPER_API_VERSION */
	int32_t		size;			/* sizeof(hopper_core_api) */
	const char *library_version;	/* "0.1.0" */

	void		(*rows_free) (hopper_rows *rows);

	/* --- architectures --- */

	/* class_name, weights, description: the layers that can be trained */
	int			(*layers) (hopper_rows **rows, hopper_error *error);
	int			(*inspect_model) (const char *json, size_t size, hopper_model_info *info,
								  hopper_error *error);
	/*
	 * position, layer, class_name, output_shape, parameters, trainable, flops, inputs: a row a
	 * layer in the order of the JSON, then a row named "total".
	 */
	int			(*describe_model) (const char *json, size_t size, hopper_rows **rows,
								   hopper_error *error);
	/*
	 * Fails (22023) where n_weights floats do not fill the model or, unless `weights` is NULL, one
	 * of them is NaN or infinite, with the users' message. Of a model whose input shape is open
	 * only the values are checked.
	 */
	int			(*check_weights) (const char *json, size_t size, const float *weights,
								  int64_t n_weights, hopper_error *error);

	/* --- configurations --- */

	/* model_id, compile_params, fit_params */
	int			(*generate_configs) (const hopper_grid *grid, hopper_rows **rows,
									 hopper_error *error);
	/*
	 * Cross product of three lists with MADlib's de-duplication (blanks and order of keys do not
	 * count); model_id, compile_params, fit_params.
	 */
	int			(*cross_configs) (int32_t n_models, const int32_t *model_ids,
								  int32_t n_compile, const char *const *compile_params,
								  int32_t n_fit, const char *const *fit_params,
								  hopper_rows **rows, hopper_error *error);
	/*
	 * Every problem of every configuration: mst_key, severity ('error' or 'warning'), code
	 * (hopper_code, a number), message, detail, hint. No rows: all is well. `data` may be NULL
	 * (then shapes and labels are not compared).
	 */
	int			(*check_configs) (const hopper_config *configs, int32_t n_configs,
								  const hopper_data_desc *data, hopper_rows **rows,
								  hopper_error *error);

	/*
	 * The hopper_direction of a metric by its text as results show it, or of "loss". Fails (22023)
	 * for other names.
	 */
	int			(*metric_direction) (const char *metric, int32_t *direction, hopper_error *error);
	/* The metric that ranks models, the first one; "loss" where compile_params has none. */
	int			(*first_metric) (const char *compile_params, char name[HOPPER_MAX_NAME],
								 int32_t *direction, hopper_error *error);

	/* --- runs on segments --- */

	/*
	 * Statements that move all models through `iteration` (of this run, from 1), as far as can be
	 * foreseen.
	 */
	int			(*hops_of_iteration) (const hopper_course_data *run, int32_t iteration,
									  int32_t *hops, hopper_error *error);
	/* Whether fit_params (which were checked) have a callback that waits for metrics. */
	int			(*waits_for_metrics) (const char *fit_params, int32_t *waits, hopper_error *error);

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
	/* Nearest of `n` names by edit distance, or -1 where none is near. */
	int32_t		(*nearest_name) (const char *name, int32_t n, const char *const *names);

	/* --- the machine --- */

	/* What this process may use of it; limits of control groups (containers, services) count. */
	int64_t		(*available_memory) (void);
	int32_t		(*available_processors) (void);

	/* --- stored states --- */

	/*
	 * Verifies a state image (checksum, version, lengths): 0, or HOPPER_CORRUPT. `digest` gets the
	 * image's hash in hexadecimal.
	 */
	int			(*verify_state) (const uint8_t *state, size_t size, char digest[33],
								 hopper_error *error);
} hopper_core_api;

/* ---------------------------------------------------------------- libtorch */

typedef struct hopper_run hopper_run;	/* one fit_multiple_model() */
typedef struct hopper_predictor hopper_predictor;	/* one model, forward only */
typedef struct hopper_evaluation hopper_evaluation; /* one model over a packed table */

typedef enum hopper_training_metrics
{
	HOPPER_METRICS_RUNNING = 1, /* sums taken while the weights move, as Keras does */
	HOPPER_METRICS_FINAL = 2,	/* running, and one evaluation pass after the last iteration */
	HOPPER_METRICS_EVERY = 3	/* an evaluation pass at each metrics iteration, as MADlib does */
} hopper_training_metrics;

typedef struct hopper_run_options
{
	uint64_t	seed;
	int32_t		num_iterations; /* this run trains each model this many iterations more */
	int32_t		metrics_compute_frequency;	/* >= 1; the last iteration always counts */
	int32_t		training_metrics;	/* hopper_training_metrics */
	int32_t		threads;		/* workers, >= 1 */
	int32_t		n_starts;		/* first partition of each run of partitions */
	const int32_t *starts;
	int64_t		memory_limit;	/* bytes, for data and models together */
	const char *precision;		/* "fp32", "bf16"; see check_precision */
	int32_t		mix_numerics;	/* 1: warm start from a state of another numerics class */
	int32_t		event_fd;		/* eventfd that is written to whenever an event waits; not owned */
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

typedef enum hopper_split
{
	HOPPER_SPLIT_TRAIN = 0,
	HOPPER_SPLIT_VALID = 1
} hopper_split;

typedef struct hopper_buffer
{
	int32_t		split;			/* hopper_split */
	int32_t		partition_id;
	int32_t		buffer_id;		/* ascending within a partition */
	int32_t		n;
	const void *x;
	size_t		x_size;
	const void *y;
	size_t		y_size;
	const uint8_t *checksum;	/* 16 bytes */
} hopper_buffer;

typedef enum hopper_event_type
{
	HOPPER_EVENT_METRICS = 1,	/* loss and metrics of one model, split and iteration */
	HOPPER_EVENT_ITERATION = 2, /* every live model has finished this iteration */
	HOPPER_EVENT_MODEL_FAILED = 3,	/* message, detail, hint say why; the run goes on */
	HOPPER_EVENT_MODEL_DONE = 4,
	HOPPER_EVENT_WARNING = 5,
	HOPPER_EVENT_FINISHED = 6,	/* no work is left, also after cancel */
	HOPPER_EVENT_LOAD = 7,		/* read `partition` of `split`: run_add_buffer*, run_end_load */
	HOPPER_EVENT_MODEL_STOPPED = 8, /* early stopping ended it at `iteration`; message: why */
	HOPPER_EVENT_STATE = 9		/* the stored state of `mst_key` is wanted: run_add_state* */
} hopper_event_type;

typedef struct hopper_event
{
	int32_t		type;
	int32_t		mst_key;
	int32_t		iteration;		/* counted over warm starts, from 1 */
	int32_t		split;
	int32_t		running;		/* 1: taken while the weights moved */
	int32_t		n_live;			/* models that have not failed */
	double		loss;
	int32_t		n_metrics;
	double		metrics[HOPPER_MAX_METRICS];
	double		elapsed;		/* seconds since run_start */
	char		message[512];
	char		detail[512];
	char		hint[512];
	int32_t		partition;		/* HOPPER_EVENT_LOAD */
	int32_t		take;			/* HOPPER_EVENT_MODEL_DONE: 1: take its result, others wait */
} hopper_event;

typedef enum hopper_visit_kind
{
	HOPPER_VISIT_TRAIN = 1,
	HOPPER_VISIT_EVALUATE = 2
} hopper_visit_kind;

/* Where the time of one stay of one model went, in seconds. */
typedef struct hopper_visit
{
	int32_t		mst_key;
	int32_t		iteration;		/* counted over warm starts, from 1 */
	int32_t		kind;			/* hopper_visit_kind */
	int32_t		split;			/* whose partitions: hopper_split */
	int32_t		worker;			/* from 0; the key of the segment in a group */
	int32_t		hop;			/* group: calls of group_start since the iteration began; else 0 */
	int32_t		first_partition;
	int32_t		n_partitions;	/* neighbours, the first follows the last */
	double		started;		/* since run_start, or since group_start */
	double		read;			/* partitions were brought into memory */
	double		wait;			/* ready, but no worker was free */
	double		moved;			/* between workers or processes: the hop */
	double		train;
	double		evaluate;
	int64_t		bytes_written;	/* by the hop, to disk */
} hopper_visit;

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
	int64_t		n_weights;		/* of a model that is done; run_take_weights has them */
	size_t		state_size;		/* run_take_state has it */
	char		digest[33];		/* of the state image, once all of it was taken */
	char		loss_type[HOPPER_MAX_NAME];
	int32_t		n_metrics;
	char		metrics_type[HOPPER_MAX_METRICS][HOPPER_MAX_NAME];
	char		error[512];		/* failed: why */
	char		error_detail[512];
	int32_t		stopped;		/* 1: early stopping ended it */
	int32_t		best_iteration; /* by what early stopping watches; 0: nothing is watched */
	int32_t		kept_iteration; /* whose weights `weights` are: the last one's, or the best one's */
	double		learning_rate;	/* the base rate of its next iteration */
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
} hopper_run_info;

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
	int32_t		n_waiting;		/* configurations that begin when others have ended */
} hopper_data_plan;

/* A share of a run whose models hop between processes; see group_create. */
typedef struct hopper_group hopper_group;

/* One outgoing part of a model. Memory is valid until the next call of group_next_part. */
typedef struct hopper_group_part
{
	int32_t		mst_key;
	int32_t		next_key;		/* the segment that it has to visit next */
	int32_t		part;			/* from 0; -1: the weights of a finished model */
	int32_t		n_parts;		/* without the weights */
	int32_t		done;			/* 1: its iteration is complete, or it has failed */
	const uint8_t *bytes;
	size_t		size;
	/* with part 0 only */
	int32_t		n_events;
	const hopper_event *events;
	const hopper_model_result *result;	/* after `finish`, else NULL; its pointers are NULL */
	int32_t		n_visits;
	const hopper_visit *visits; /* of this iteration so far */
} hopper_group_part;

/* What a run would take; see explain_create. */
typedef struct hopper_explain hopper_explain;

/* Costs that a forecast cannot measure without the server. */
typedef struct hopper_explain_costs
{
	double		read_bytes_per_second;	/* packed data into memory, by one process */
	double		statement;		/* seconds of a hop statement without its training; segments only */
	double		hop_bytes_per_second;	/* states through a hop statement; segments only */
	double		seconds;		/* for the calibration, in all */
	int32_t		threads_per_segment;	/* segments only */
} hopper_explain_costs;

/* One configuration. */
typedef struct hopper_explain_model
{
	int32_t		mst_key;
	int32_t		code;			/* hopper_code; not HOPPER_OK: `problem` says why it would fail */
	char		problem[512];
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

/* What an envelope that was not made by group_next_part() begins with: one byte. */
#define HOPPER_ENVELOPE_NEW 'N' /* initial weights by the seed; nothing follows */
#define HOPPER_ENVELOPE_WEIGHTS 'W' /* floats in Keras' order follow */
#define HOPPER_ENVELOPE_STATE 'S'	/* a state image follows */

typedef struct hopper_torch_api
{
	int32_t		version;		/* HOPPER_API_VERSION */
	int32_t		size;			/* sizeof(hopper_torch_api) */

	void		(*rows_free) (hopper_rows *rows);

	/* name, value: libtorch, CPU capability, threads, CUDA ... */
	int			(*build_info) (hopper_rows **rows, hopper_error *error);
	/* index, name, memory_mb, capability; no rows where there is no GPU */
	int			(*gpus) (hopper_rows **rows, hopper_error *error);

	/* --- training: create, add_config*, add_buffer*, start, next_event*, result*, free --- */

	int			(*run_create) (const hopper_run_options *options, const hopper_data_desc *train,
							   const hopper_data_desc *valid /* or NULL */ , hopper_run **run,
							   hopper_error *error);
	/*
	 * A configuration that cannot be trained (memory, a state that does not fit) is recorded as
	 * failed, which is not an error of the call.
	 */
	int			(*run_add_config) (hopper_run *run, const hopper_config *config,
								   hopper_error *error);
	/* Copies one packed buffer in; verifies its checksum and lengths. */
	int			(*run_add_buffer) (hopper_run *run, const hopper_buffer *buffer,
								   hopper_error *error);
	/* Starts the workers (all signals blocked in them) and returns. */
	int			(*run_start) (hopper_run *run, hopper_error *error);
	/* 1 and the next event, or 0 where none waits. */
	int			(*run_next_event) (hopper_run *run, hopper_event *event);
	/* Asks the workers to stop at the next batch; returns at once. */
	void		(*run_cancel) (hopper_run *run);
	int			(*run_result) (hopper_run *run, int32_t mst_key, hopper_model_result *result,
							   hopper_error *error);
	void		(*run_get_info) (hopper_run *run, hopper_run_info *info);
	/* Cancels, joins the workers, releases all memory. NULL is allowed. */
	void		(*run_free) (hopper_run *run);

	/* --- evaluation of one model over a packed table: create, add_buffer*, start, wait --- */

	int			(*evaluation_create) (const hopper_config *config, const hopper_data_desc *data,
									  int32_t threads, int32_t event_fd,
									  hopper_evaluation **evaluation, hopper_error *error);
	int			(*evaluation_add_buffer) (hopper_evaluation *evaluation,
										  const hopper_buffer *buffer, hopper_error *error);
	int			(*evaluation_start) (hopper_evaluation *evaluation, hopper_error *error);
	/* 1: done, *event holds loss and metrics in their order; 0: not yet; -1: *error */
	int			(*evaluation_poll) (hopper_evaluation *evaluation, hopper_event *event,
									hopper_error *error);
	void		(*evaluation_free) (hopper_evaluation *evaluation);

	/* --- prediction: batches go in in order and come out in order --- */

	/*
	 * `data` gives type and shape of the features and the normalizing constant; labels are not
	 * looked at. Outputs are the model's last layer's, one float32 a unit; a single sigmoid unit
	 * stays one value. Weights, batches and tensors together take at most memory_limit bytes.
	 */
	int			(*predictor_create) (const char *model_arch, size_t model_arch_size,
									 const float *weights, int64_t n_weights,
									 const hopper_data_desc *data, int32_t threads,
									 int64_t memory_limit, int32_t event_fd,
									 hopper_predictor **predictor, int32_t *n_outputs,
									 hopper_error *error);
	/*
	 * From now on a predictor that is not used for so many seconds (0: never) frees its memory and
	 * ends its threads by itself; only predictor_free() is left to do. It then takes `bytes` off
	 * *counter (NULL: of none), atomically, and does so when it is freed before.
	 */
	int			(*predictor_expire) (hopper_predictor *predictor, double seconds,
									 int64_t *counter, int64_t bytes, hopper_error *error);
	/* 1: it is there, and starts to wait anew; 0: it has expired. */
	int			(*predictor_touch) (hopper_predictor *predictor);
	/* Copies `n` examples in; computed by a worker. */
	int			(*predictor_submit) (hopper_predictor *predictor, const void *x, size_t x_size,
									 int32_t n, hopper_error *error);
	/*
	 * 1: *outputs points at *n x n_outputs floats of the oldest batch, valid until the next take;
	 * 0: not ready (or nothing was submitted); -1: *error.
	 */
	int			(*predictor_take) (hopper_predictor *predictor, const float **outputs, int32_t *n,
								   hopper_error *error);
	void		(*predictor_free) (hopper_predictor *predictor);

	/*
	 * --- training in several processes, each with some of the partitions: create, add_config*,
	 * add_buffer*, check_data, then again and again add_part*, start, poll*, next_part* ---
	 *
	 * `key` names this process, train_keys and valid_keys (NULL without validation) the process of
	 * each partition. A model is an envelope of one or several parts that visits the processes in
	 * the order of its ring.
	 */
	int			(*group_create) (const hopper_run_options *options, const hopper_data_desc *train,
								 const hopper_data_desc *valid, const int32_t *train_keys,
								 const int32_t *valid_keys, int32_t key, hopper_group **group,
								 hopper_error *error);
	/* Weights and state of the configuration are not looked at: they come in envelopes. */
	int			(*group_add_config) (hopper_group *group, const hopper_config *config,
									 hopper_error *error);
	int			(*group_add_buffer) (hopper_group *group, const hopper_buffer *buffer,
									 hopper_error *error);
	/* Fails where partitions of this process lack rows or do not fit into memory. */
	int			(*group_check_data) (hopper_group *group, hopper_error *error);
	/* Copies a part in, in any order; an envelope is complete with its n_parts. */
	int			(*group_add_part) (hopper_group *group, int32_t mst_key, int32_t part,
								   int32_t n_parts, const uint8_t *bytes, size_t size,
								   hopper_error *error);
	/*
	 * Trains what came, each model as far as this process' partitions allow, until `iteration` (of
	 * this run, from 1) is complete with its evaluations. `fresh`: earlier events are dropped.
	 * `finish`: nothing is trained, the models go out as results.
	 */
	int			(*group_start) (hopper_group *group, int32_t iteration, int32_t fresh,
								int32_t finish, hopper_error *error);
	/* 1: done; 0: not yet; -1: *error */
	int			(*group_poll) (hopper_group *group, hopper_error *error);
	/* 1 and the next part; 0: none is left; -1: *error */
	int			(*group_next_part) (hopper_group *group, hopper_group_part *part,
									hopper_error *error);
	/* Cancels, joins the workers, releases all memory. NULL is allowed. */
	void		(*group_free) (hopper_group *group);
	/* bytes_data, numerics_class and what was read; the rest is zero */
	void		(*group_get_info) (const hopper_group *group, hopper_run_info *info);

	/*
	 * --- data above the memory limit ---
	 *
	 * run_plan_data comes after the last add_config and before the first buffer; a run without it
	 * is resident. Where the plan is not resident, nothing is pushed before the start: each
	 * HOPPER_EVENT_LOAD asks for one partition, whose buffers are then pushed in their order, and
	 * end_load tells that these were all (HOPPER_CORRUPT where rows are missing, HOPPER_NOT_READY
	 * where they are not those of an earlier reading). HOPPER_OUT_OF_MEMORY where not even the
	 * largest partition fits beside the smallest configuration.
	 */
	int			(*run_plan_data) (hopper_run *run, hopper_data_plan *plan, hopper_error *error);
	int			(*run_end_load) (hopper_run *run, int32_t split, int32_t partition,
								 hopper_error *error);
	/* The same for a group, whose plan is about the partitions of this process. */
	int			(*group_plan_data) (hopper_group *group, hopper_data_plan *plan,
									hopper_error *error);
	/* 1: *partition of *split has to be read; 0: none, look again when the eventfd wakes */
	int			(*group_next_load) (hopper_group *group, int32_t *split, int32_t *partition);
	int			(*group_end_load) (hopper_group *group, int32_t split, int32_t partition,
								   hopper_error *error);
	/*
	 * Limits an evaluation before its start (HOPPER_OUT_OF_MEMORY where the model and one partition
	 * do not fit). It is then started first; buffers follow in the order of their partitions, each
	 * partition once evaluation_room has answered 1 for it (0: wait for the eventfd; -1: *error).
	 * Partitions are dropped when they are evaluated.
	 */
	int			(*evaluation_limit) (hopper_evaluation *evaluation, int64_t memory_limit,
									 hopper_error *error);
	int			(*evaluation_room) (hopper_evaluation *evaluation, int32_t partition,
									hopper_error *error);
	/*
	 * After evaluation_poll() has returned 1, with hopper_config.confusion: *counts points at
	 * *n_classes x *n_classes numbers of examples, a row a label and a column a prediction, valid
	 * until evaluation_free().
	 */
	int			(*evaluation_confusion) (hopper_evaluation *evaluation, const int64_t **counts,
										 int32_t *n_classes, hopper_error *error);

	/*
	 * Whether a run on this machine can have that precision: HOPPER_INVALID_PARAMETER for an
	 * unknown name, HOPPER_NOT_SUPPORTED for one that the device does not have. *emulated: 1 where
	 * the device has no instructions for it, so that it is slower than fp32.
	 */
	int			(*check_precision) (const char *precision, int32_t on_gpu, int32_t *emulated,
									hopper_error *error);

	/*
	 * Takes up to `n` visits that ended, in the order of their ends; returns how many. The event
	 * descriptor is written to when many wait, not for each.
	 */
	int32_t		(*run_next_visits) (hopper_run *run, hopper_visit *visits, int32_t n);

	/*
	 * --- forecasts: create, add_config*, start, poll*, model*, run ---
	 *
	 * Times a few steps of each distinct configuration on made-up examples, on a thread of its own,
	 * and simulates the schedule with them. train_keys and valid_keys as in group_create, or NULL
	 * for a run of one process. Nothing is kept.
	 */
	int			(*explain_create) (const hopper_run_options *options, const hopper_data_desc *train,
								   const hopper_data_desc *valid, const int32_t *train_keys,
								   const int32_t *valid_keys, const hopper_explain_costs *costs,
								   hopper_explain **explain, hopper_error *error);
	int			(*explain_add_config) (hopper_explain *explain, const hopper_config *config,
									   hopper_error *error);
	int			(*explain_start) (hopper_explain *explain, hopper_error *error);
	/* 1: done; 0: not yet; -1: *error */
	int			(*explain_poll) (hopper_explain *explain, hopper_error *error);
	/* After the poll said 1. `index`: in the order of add_config */
	int			(*explain_model) (hopper_explain *explain, int32_t index,
								  hopper_explain_model *model, hopper_error *error);
	int			(*explain_run) (hopper_explain *explain, hopper_explain_run *run,
								hopper_error *error);
	/* Cancels, joins, releases all memory. NULL is allowed. */
	void		(*explain_free) (hopper_explain *explain);

	/*
	 * --- states and results, piece by piece ---
	 *
	 * 1: the stored state of *mst_key is to come next, by run_add_state in pieces of any size; 0:
	 * of nobody. To be asked after run_plan_data and before the data, until it says 0: each state
	 * comes once then, to be checked (HOPPER_CORRUPT, HOPPER_NOT_READY: another numerics class),
	 * and again after a HOPPER_EVENT_STATE where the configuration had to wait.
	 */
	int			(*run_wanted_state) (hopper_run *run, int32_t *mst_key);
	int			(*run_add_state) (hopper_run *run, int32_t mst_key, const uint8_t *bytes,
								  size_t size, hopper_error *error);
	/*
	 * The next bytes of the state image of a model that is done, `size` at most; *taken: how many,
	 * 0 behind the last. Then its weights in Keras' order, all n of them. Each can be had once: the
	 * run frees what was taken.
	 */
	int			(*run_take_state) (hopper_run *run, int32_t mst_key, uint8_t *bytes, size_t size,
								   size_t *taken, hopper_error *error);
	int			(*run_take_weights) (hopper_run *run, int32_t mst_key, float *weights, int64_t n,
									 hopper_error *error);
} hopper_torch_api;

/* The exported symbols; `version` is the caller's HOPPER_API_VERSION. */
typedef const hopper_core_api *(*hopper_core_api_get_fn) (int32_t version);
typedef const hopper_torch_api *(*hopper_torch_api_get_fn) (int32_t version);

#ifdef __cplusplus
}
#endif

#endif							/* MODEL_HOPPER_CORE_API_H */
