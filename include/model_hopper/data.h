/*
 * data.h
 *		Packed data: types, examples, buffers.
 */
#ifndef MODEL_HOPPER_DATA_H
#define MODEL_HOPPER_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "model_hopper/limits.h"
#include "model_hopper/schema.h"

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

/* One of several inputs of a model. */
typedef struct hopper_input
{
	const char *name;			/* of the architecture's input layer */
	int32_t		type;			/* hopper_type */
	int32_t		rank;			/* dimensions of one example; 0 is refused */
	int64_t		shape[HOPPER_MAX_RANK];
} hopper_input;

/* What one of a model's outputs is to learn. */
typedef struct hopper_output
{
	const char *name;			/* of the architecture's output; of a single one it is not asked */
	const char *column;			/* of the labels, for messages */
	int32_t		kind;			/* hopper_label_kind */
	int32_t		rank;			/* LABEL_ARRAY: dimensions of one label; else 0 */
	int64_t		shape[HOPPER_MAX_RANK];
	int32_t		num_classes;	/* LABEL_CLASS: width of the one-hot form; else 0 */
	int32_t		n_class_values; /* LABEL_CLASS: names of the classes in order, NULL allowed */
	const char *const *class_values;
	int32_t		has_label_range;	/* 1: the two that follow are known; of classes they are not */
	double		least_label;	/* as it is packed */
	double		largest_label;
	hopper_label_scale scale;
} hopper_output;

/*
 * One example, and how many there are. The features of an example that has several inputs are
 * theirs one behind the other, each in its own type; then x_type is 0, x_rank 1, and x_shape[0] the
 * number of all values.
 */
typedef struct hopper_data_desc
{
	int32_t		x_type;			/* hopper_type */
	int32_t		x_rank;			/* dimensions of one example; 0 is refused */
	int64_t		x_shape[HOPPER_MAX_RANK];
	int32_t		n_inputs;		/* 0: one, of type x_type and shape x_shape; else at least 2 */
	const hopper_input *inputs;
	int32_t		y_kind;			/* hopper_label_kind */
	int32_t		y_type;			/* hopper_type */
	int32_t		y_rank;
	int64_t		y_shape[HOPPER_MAX_RANK];
	int32_t		num_classes;	/* LABEL_CLASS: width of the one-hot form; else 0 */

	/*
	 * Labels of several outputs, or of one with the rows' weights: one behind the other as float32,
	 * a class by its index. Then y_kind is LABEL_ARRAY, y_rank 1, and y_shape[0] the number of all
	 * values. Else 0: the labels are what y_... says.
	 */
	int32_t		n_outputs;
	const hopper_output *outputs;
	int32_t		weighted;		/* 1: the last of these values is the row's weight */
	int32_t		n_partitions;
	int64_t		n_rows;
	int64_t		buffer_rows;	/* of the largest buffer; 0: not read from a table */
	double		normalizing_const;	/* features are divided by it on their way to the model */
	int32_t		n_class_values; /* LABEL_CLASS: names of the classes in order, NULL allowed */
	const char *const *class_values;
	const char *table_name;		/* for messages */
	const char *x_column;
	const char *y_column;
	/* for checks: 1: there is a validation table beside it; -1: there is none; 0: not known */
	int32_t		validation;
	/* the same: what is not known is 0 */
	int32_t		n_class_counts; /* LABEL_CLASS: rows of each class, in order */
	const int64_t *class_counts;
	int32_t		has_label_range;	/* as those of an output */
	double		least_label;
	double		largest_label;
	hopper_label_scale label_scale; /* as that of an output */

	/*
	 * For checks of models against it: the schema of columns of any type (schema.h), in UTF-8, or
	 * NULL.
	 */
	const char *schema;
} hopper_data_desc;

typedef enum hopper_split
{
	HOPPER_SPLIT_TRAIN = 0,
	HOPPER_SPLIT_VALID = 1
} hopper_split;

#define HOPPER_CHECKSUM_SIZE 16

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
	const uint8_t *checksum;	/* HOPPER_CHECKSUM_SIZE bytes; NULL: there are not as many */
} hopper_buffer;

#endif							/* MODEL_HOPPER_DATA_H */
