/*
 * schema.h
 *		Schemas: what becomes of a table's columns before a network reads them (src/schema).
 *
 * A schema is JSON: {"version", "width", "columns": [{"name", "type", "family", "treatment",
 * "null", "slots": [{"name", "kind", "cardinality"}, ...], statistics}, ...], "label"}. A row
 * becomes `width` floats, those of the columns one behind the other.
 */
#ifndef MODEL_HOPPER_SCHEMA_H
#define MODEL_HOPPER_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

#include "model_hopper/basics.h"

typedef struct hopper_data_schema hopper_data_schema;

/* In which form a value is given. */
typedef enum hopper_cell_kind
{
	HOPPER_CELL_NUMBER = 1,		/* booleans are 0 and 1, times seconds since 1970-01-01 UTC */
	HOPPER_CELL_TEXT = 2,		/* UTF-8, as the type's output function writes it */
	HOPPER_CELL_NUMBERS = 3		/* the elements of an array */
} hopper_cell_kind;

typedef struct hopper_schema_cell
{
	int32_t		is_null;
	double		number;
	const char *text;
	size_t		text_size;
	const double *numbers;
	int64_t		n;
} hopper_schema_cell;

typedef struct hopper_schema_column
{
	const char *name;
	const char *sql_type;		/* in training, as format_type() writes it */
	const char *family;			/* "number", "integer", "boolean", "text", "date", "timestamp",
								 * "numbers" */
	int32_t		cell_kind;		/* hopper_cell_kind */
	int64_t		length;			/* HOPPER_CELL_NUMBERS: elements of each array */
} hopper_schema_column;

/* Of labels that are numbers, how they are scaled for training. */
typedef struct hopper_label_scale
{
	int32_t		is_scaled;		/* 1: (y - mean) / deviation is packed; 0: y */
	double		mean;
	double		deviation;		/* above 0 */
	double		least;			/* of the training rows: predictions are between these two */
	double		largest;
} hopper_label_scale;

typedef struct hopper_schema_label
{
	const char *name;
	const char *sql_type;
	hopper_label_scale scale;
} hopper_schema_label;

typedef struct hopper_schema_info
{
	int64_t		width;
	int32_t		n_columns;
	const hopper_schema_column *columns;	/* the schema's, as long as it lives */
	hopper_schema_label label;	/* of one output; name is NULL where there is none */
} hopper_schema_info;

/* Why a row could not be encoded. */
typedef enum hopper_encode_problem
{
	HOPPER_ENCODED = 0,
	HOPPER_ENCODE_NULL = 1,
	HOPPER_ENCODE_NOT_FINITE = 2,	/* the value, or what becomes of it */
	HOPPER_ENCODE_LENGTH = 3,	/* an array has another length */
	HOPPER_ENCODE_MEMORY = 4	/* there is none; *column means nothing */
} hopper_encode_problem;

typedef struct hopper_schema_api
{
	/*
	 * What must be known of the columns that are to be features. `request`: {"columns": [{"name",
	 * "type", "family"}, ...], "treatments": what the user wrote or null, "star": whether the
	 * columns are all of a table, "labels": their names, "passed_over": names of columns that
	 * are no features but may be dropped}. labels_scaled[i]: 1 where that label is
	 * to be standardised if it is a number. A row for each column: name, treatment (NULL: by
	 * itself), measure ("number" or "log"), fractions of quantiles ("0,0.25,1", NULL: none), "t"
	 * where mean and deviation are asked, least number of rows of a value (NULL: values are not
	 * asked), "t" where lengths of arrays are asked, letters and what stands for them (NULL, or
	 * the values are the words of translate(text, letters, stand-ins), between blanks). A column
	 * that the user drops has no row. All of the user's problems at once.
	 */
	int			(*plan) (const char *request, hopper_rows **rows, int32_t *labels_scaled,
						 hopper_error *error);
	/*
	 * A schema of the answers, {"columns": [{"rows", "nulls", "bad", "values_found", "quantiles",
	 * "mean", "deviation", "values", "words" (how many there are in all texts),
	 * "least_length", "largest_length"}, ...]}, one for each row of plan(). The first row is
	 * the schema (JSON, NULL, NULL); the others are notes: message,
	 * detail, hint. `label` (or NULL) goes into the schema.
	 */
	int			(*make) (const char *request, const char *statistics,
						 const hopper_schema_label *label, hopper_rows **rows,
						 hopper_error *error);
	/*
	 * A schema that needs no answers, as one row, of a request all of whose columns have treatments
	 * that say all; fails where one does not.
	 */
	int			(*complete) (const char *request, hopper_rows **rows, hopper_error *error);
	/* Reads JSON that make() or complete() has written. */
	int			(*open) (const char *json, hopper_data_schema **schema, hopper_error *error);
	void		(*free) (void *schema);
	void		(*info) (const hopper_data_schema *schema, hopper_schema_info *info);
	/*
	 * Writes info.width floats (of any alignment) of the cells of info.columns. Returns a
	 * hopper_encode_problem; then *column is the first column that has it.
	 */
	int32_t		(*encode) (const hopper_data_schema *schema, const hopper_schema_cell *cells,
						   void *out, int32_t *column);
	/* A row a column: name, type, treatment, rule for NULL, NULLs, slots, statistics. */
	int			(*describe) (const hopper_data_schema *schema, hopper_rows **rows,
							 hopper_error *error);
	/* One row with a sentence on the first difference, or none. */
	int			(*compare) (const char *json, const char *name, const char *other_json,
							const char *other_name, hopper_rows **rows, hopper_error *error);
	/*
	 * A row for each column that alone tells the labels of `n` packed rows: name, share and guess
	 * as numbers (schema/leaks.h). Labels are of y_type (hopper_type), classes below `classes` or
	 * (0) numbers. HOPPER_CORRUPT where the bytes are not as many.
	 */
	int			(*leaks) (const hopper_data_schema *schema, int32_t n, const void *x, size_t x_size,
						  const void *y, size_t y_size, int32_t y_type, int32_t classes,
						  hopper_rows **rows, hopper_error *error);
} hopper_schema_api;

#endif							/* MODEL_HOPPER_SCHEMA_H */
