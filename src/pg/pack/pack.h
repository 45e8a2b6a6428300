/*
 * pack.h
 *		What the files behind training_preprocessor() and validation_preprocessor() share.
 *
 * Packing asks the source first for what must be known before a row is packed, each only where it
 * is needed: classes, NULL labels and the range of labels (classes.c, types.c), the shape of
 * outputs (joined_labels.c), lengths of sequences (padding.c). Then it reads the rows, once. Each
 * row is encoded as a rank key, features and labels; ranked by the key, the rows fill the buffers
 * of one or two packed tables, so that the order is a function of the rows' content. Where the rows
 * go through differs: local/pack.c, greenplum/coordinator/pack.c.
 */
#ifndef HOPPER_PACK_H
#define HOPPER_PACK_H

#include "pg/codec/rows.h"
#include "pg/server/tables.h"

#define PACK_KEY_SIZE 16
#define PACK_TABLES 4
#define PACK_BUFFER_BYTES (4 * 1024 * 1024)		/* default size of a buffer */

typedef enum hopper_pack_null_labels
{
	PACK_NULL_ERROR,
	PACK_NULL_SKIP,
	PACK_NULL_CLASS
} hopper_pack_null_labels;

/* What the caller asked for. */
typedef struct hopper_pack_request
{
	const char *statement;		/* the call itself */
	hopper_name source;
	hopper_name output;
	List	   *x_names;		/* char *: independent_varname, split */
	hopper_pack_inputs inputs;	/* of these columns */
	List	   *y_names;		/* char *: dependent_varname, split */
	int			n_outputs;		/* they are of so many outputs with names; 0: of one */
	char	  **output_names;
	char	   *weight_name;	/* column of the rows' weights, or NULL */
	bool		star;			/* independent_varname is '*': x_names are found with the source */
	List	   *passed_over;	/* char *: what '*' leaves out: keys, types without treatment */
	char	   *treatments;		/* JSON by column, or NULL */
	bool		by_schema;		/* features are columns of any type (pack/survey.c) */
	int			buffer_size;	/* 0: by bytes */
	float4		normalizing_const;
	int			num_classes;	/* 0: as many as there are */
	int32	   *output_classes; /* the same of each of several outputs, or NULL */
	int			partitions;		/* 0: by bytes */
	int64		seed;
	double		validation_fraction;	/* 0: none */
	char	   *fold_column;	/* or NULL */
	char	   *split_name;		/* column that validation_fraction goes by, or NULL */
	bool		by_time;		/* it tells times, not groups */
	int			image_rank;		/* 0: not given */
	int64		image_shape[HOPPER_MAX_RANK];
	int32		bytea_type;		/* 0: not given */
	int			n_starts;		/* 0: every partition */
	int32	   *starts;
	char	   *distribution_rules; /* or NULL: all segments */
	bool		replace;
	int32		label_kind;		/* HOPPER_LABEL_CLASS, HOPPER_LABEL_VALUE; 0: by the type */
	hopper_pack_null_labels null_labels;
	struct hopper_pad_to *pad_to;	/* lengths of sequences, or NULL (pack/padding.c) */
	hopper_pack_padding padding;	/* and how they get them */
	hopper_complaints complaints;	/* about the arguments; the source's are added */
	bool		validation;		/* validation_preprocessor() */
	hopper_packed training;		/* validation only */
} hopper_pack_request;

/*
 * NULL arguments are checked and defaults filled in; what is wrong with values goes to
 * request->complaints. (pack/arguments.c)
 */
extern void hopper_pack_training_arguments(FunctionCallInfo fcinfo, hopper_pack_request *request);
/* Reads request->training too, whose columns are the default. SPI must be connected. */
extern void hopper_pack_validation_arguments(FunctionCallInfo fcinfo,
											 hopper_pack_request *request);

/* --- classes (pack/classes.c) --- */

typedef struct hopper_pack_classes
{
	hopper_pack_family family;
	int			n;				/* classes that have a name or are NULL */
	char	  **names;			/* in class order; NULL pointer: the class of NULL */
	int			num_classes;	/* at least n */
	int32		type;			/* hopper_type of a class index */
	int			null_class;		/* index, or -1 */
	struct hopper_pack_class_key *keys;	/* sorted for the search */
	int			n_keys;
} hopper_pack_classes;

/* SQL expression of the label column for reading: bigint, or text of PACK_TEXT */
extern char *hopper_pack_label_expression(const hopper_pack_column *y, hopper_pack_family family);
/* `labelled`: hopper_pack_labelled_rows() */
extern void hopper_pack_read_classes(const hopper_pack_request *request,
									 const hopper_pack_source *source, const char *labelled,
									 hopper_pack_classes *classes);
extern void hopper_pack_training_classes(const hopper_pack_request *request,
										 const hopper_pack_source *source,
								  hopper_pack_classes *classes);
/* Fills what follows from family, n, names and num_classes. */
extern void hopper_pack_finish_classes(hopper_pack_classes *classes);
/* Class index of a row of the source, or ereport(ERROR). */
extern int32 hopper_pack_class_index(const struct hopper_pack_job *label,
									 const hopper_pack_source *source, Datum value, bool isnull);
/* "a", "b", "c" and 7 more */
extern char *hopper_pack_list_classes(const hopper_pack_classes *classes);

/* --- the columns' types and the rows (pack/types.c, pack/rows.c) --- */

/* Bytes and dimensions of a packed row. */
typedef struct hopper_pack_row_shape
{
	size_t		x_size;
	size_t		y_size;
	int			x_rank;
	int64		x_shape[HOPPER_MAX_RANK];
	int			y_rank;
	int64		y_shape[HOPPER_MAX_RANK];
} hopper_pack_row_shape;

/* The numbers that the rows hold (pack/ranges.c). */
typedef struct hopper_pack_ranges
{
	int			n_features;		/* 0: they are not looked at; 1: all of a row together */
	int			n_labels;		/* 0: they are classes */
	/* of each feature, then of each value of a row's labels */
	double	   *least;
	double	   *largest;
	/* once all rows are read */
	bool		has_label_range;
	double		least_label;
	double		largest_label;
} hopper_pack_ranges;

/* All that one call needs. */
typedef struct hopper_pack_job
{
	hopper_pack_request request;
	hopper_pack_source source;
	hopper_pack_values x;
	hopper_pack_values y;				/* regression values, label arrays */
	hopper_pack_classes classes;		/* family PACK_NO_CLASS where y is used */
	int32		y_kind;			/* hopper_label_kind */
	int			n_outputs;		/* labels of several, or weights: then y is all of them */
	hopper_output *outputs;
	struct hopper_pack_job **parts; /* of source.n_labels: each as if there were no other */
	int64		n_unlabelled;	/* rows that are left out */
	char	   *padded;			/* sentences on sequences, or NULL */
	char	   *least_label;	/* of numbers */
	char	   *largest_label;
	bool		may_be_classes; /* few whole numbers, which nobody has called values */
	hopper_pack_ranges ranges;
	hopper_pack_row_shape row; /* once the shapes are known */
	struct hopper_row_schema *schema;	/* or NULL */
	int64		n_rows;
	int			n_strata;		/* 0 before the first row */
	int64	   *strata;			/* rows of each stratum */
	int64	   *quotas;			/* of them still to go to validation */
	hopper_making making;		/* more than are made where old ones only go */
} hopper_pack_job;

/* Column of the features in the packed table. */
extern const char *hopper_pack_feature_column(const hopper_pack_job *job);
/*
 * Where the features are columns of any type: asks the source all that must be known of them and of
 * a label that is a number, in the rows to train on, and makes the schema of the answers, or takes
 * the training table's. Columns that say nothing are left out of source->x, with a NOTICE. A part
 * of the rows for validation is chosen by what is in them: source->fold. (pack/survey.c)
 */
extern void hopper_pack_survey(hopper_pack_job *job);
/*
 * Sets source->fold where rows go to validation by what is in them: of columns with treatments, or
 * by a column. ERROR 22023 where a side would be empty. (pack/split.c)
 */
extern void hopper_pack_choose_validation(hopper_pack_job *job);
/*
 * Of columns with treatments: a label of whole numbers is taken for a number to be predicted or
 * for classes by how many it has, with a NOTICE. (pack/classes.c)
 */
extern void hopper_pack_judge_label(hopper_pack_job *job);
/* Columns of types for which there is no treatment. */
extern void hopper_pack_complain_of_families(hopper_complaints *complaints,
											 const hopper_pack_source *source);
/*
 * hopper_make_room() for what packing makes: fills `tables`, PACK_TABLES of them with a split, else
 * two. Whether others are replaced.
 */
extern bool hopper_pack_make_room(const hopper_name *packed, bool split, bool replace,
								  hopper_table *tables);
/* Columns for '*' into request->x_names: all but labels, weights, fold and primary key. */
extern void hopper_pack_find_features(hopper_pack_request *request, Oid relation);
/* Refuses columns whose names are taken in the packed table or its summary. */
extern void hopper_pack_require_free_names(const hopper_pack_job *job);
extern void hopper_pack_set_features(hopper_pack_job *job);
/*
 * What the columns' types and the request say of the labels, no row being read; then what the rows
 * say: classes, the range of numbers, rows without a label. Labels of several outputs, or with
 * weights, become the one column that the rest sees. (pack/joined_labels.c)
 */
extern void hopper_pack_set_labels(hopper_pack_job *job);
extern void hopper_pack_read_labels(hopper_pack_job *job);
/* Both of one label by itself. (pack/types.c) */
extern void hopper_pack_set_label(hopper_pack_job *job);
extern void hopper_pack_read_label(hopper_pack_job *job);

/* A complaint of an argument, with a hint or NULL. */
static inline void
hopper_pack_complain(hopper_pack_request *request, const char *message, const char *hint)
{
	hopper_complain(&request->complaints, ERRCODE_INVALID_PARAMETER_VALUE, message, NULL, hint);
}

/* Where dependent_varname is '{"output": "column", ...}': fills the request. (joined_labels.c) */
extern bool hopper_pack_outputs_argument(text *value, hopper_pack_request *request);
/* Outputs that have the names of the label columns, request->y_names. (joined_labels.c) */
extern void hopper_pack_name_outputs(hopper_pack_request *request);
/*
 * pad_to, pad_value, pad_side and truncate, arguments from `at` on; what is wrong is complained of.
 * (pack/padding.c)
 */
extern void hopper_pack_padding_arguments(FunctionCallInfo fcinfo, int at,
										  hopper_pack_request *request);
/*
 * Gives sequences their length, from the argument, the longest or the training table, and looks at
 * all of them before any is packed; the labels are known.
 */
extern void hopper_pack_set_padding(hopper_pack_job *job);
/*
 * Dimensions of the first array that has any, among rows that are `labelled` ("", or a WHERE
 * clause); returns how many. ERROR where there is none.
 */
extern int	hopper_pack_first_shape(const hopper_pack_job *job, const hopper_pack_column *column,
									const char *labelled, int64 *shape);
/* " WHERE y IS NOT NULL" where such rows are left out, else "" */
extern const char *hopper_pack_labelled_rows(const hopper_pack_request *request,
											 const hopper_pack_source *source);
/* Whether dependent_varname names the column. */
extern bool hopper_pack_is_label(const hopper_pack_request *request, const char *name);
/* Looks the request's columns up; ERROR with all of request->complaints where there are any. */
extern void hopper_pack_open_source(hopper_pack_request *request, hopper_pack_source *source);
/* SELECT of all rows: features, label, fold, what names the row. */
extern char *hopper_pack_row_query(hopper_pack_job *job);
/* What its rows consist of, once the labels' kind is known. */
extern void hopper_pack_set_job_row_types(hopper_pack_job *job);
/* Takes the shapes from a row, where they are not known. */
extern void hopper_pack_learn_row_shape(hopper_pack_job *job, const Datum *values,
										const bool *nulls);
/* job->row from the shapes. */
extern void hopper_pack_set_row_shape(hopper_pack_job *job);
/*
 * Writes the rank key (PACK_KEY_SIZE bytes) and the body, features and then labels, and returns the
 * row's stratum, or ereport(ERROR) with the row's name.
 */
extern int32 hopper_pack_encode_row(const hopper_pack_job *job, const Datum *values,
									const bool *nulls,
							 char *key, char *body);
/*
 * Equal rows would lie side by side, and partitions of a table of few different rows would hold
 * unlike ones. So of those of one stratum each has a rank key of its own: sets that of the copy
 * with this number. Copy 0 keeps the key.
 */
extern void hopper_pack_rank_copy(char *key, int64 copy);
/*
 * job->ranges: before the first row, whose shape is known; of each encoded row, features and then
 * labels; and once all are read: gives job and its outputs their labels' range. (pack/ranges.c)
 */
extern void hopper_pack_start_ranges(hopper_pack_job *job);
extern void hopper_pack_look_at_numbers(hopper_pack_job *job, const char *body);
extern void hopper_pack_finish_ranges(hopper_pack_job *job);
/* Ranges of rows that others have read, as bytes; false where they are not of such a job. */
extern struct varlena *hopper_pack_ranges_bytes(const hopper_pack_job *job);
extern bool hopper_pack_add_ranges(hopper_pack_job *job, struct varlena *bytes);
/* Of an image, or of very many features, all values together. */
extern bool hopper_pack_features_are_alike(const hopper_pack_job *job);
/* Sentences on features and numbers to predict that are too large, or NULL. (pack/scales.c) */
extern char *hopper_pack_scales_hint(const hopper_pack_job *job);
/* Before the first hopper_pack_count_rows(), in a context that outlives them; classes are known. */
extern void hopper_pack_start_counting(hopper_pack_job *job);
/* `n` more rows of a stratum */
extern void hopper_pack_count_rows(hopper_pack_job *job, int32 stratum, int64 n);
/* Fills job->quotas and returns their sum. */
extern int64 hopper_pack_split_rows(hopper_pack_job *job);
/* Rows of each class on one side, or NULL where there are none; after hopper_pack_split_rows(). */
extern int64 *hopper_pack_class_counts(const hopper_pack_job *job, bool validation);
/* WARNING where the split leaves no row of a class to train on; after hopper_pack_split_rows(). */
extern void hopper_pack_look_at_split(const hopper_pack_job *job);
/* Called for each row in rank order. */
extern bool hopper_pack_to_validation(hopper_pack_job *job, int32 stratum);

/* --- one packed table that is being written (pack/write.c) --- */

typedef struct hopper_pack_output
{
	hopper_name table;
	const char *named;			/* what its summary calls it */
	const char *x_column;
	const char *y_column;
	int			n_segments;		/* Greenplum: that hold data; else 0 */
	int32	   *segments;
	int32	   *keys;			/* Greenplum: __dist_key__ of each partition */
	int32		n_starts;		/* first partitions of the segments' runs; 0: each partition */
	int32	   *starts;
	int64		n_rows;
	int32		partitions;
	int32		buffer_size;	/* rows of the largest buffer */
	size_t		x_size;			/* bytes of a row */
	size_t		y_size;
	int			n_all_segments; /* Greenplum: of the cluster */
	int64	   *segment_rows;	/* Greenplum: rows on each of them, once written */
	int			n_class_counts;
	int64	   *class_counts;	/* rows of each class, or NULL */

	/* progress */
	int32		partition;
	int64		buffers_left;	/* of this partition, with the current one */
	int64		rows_left;
	int32		target;			/* rows of the current buffer */
	int32		filled;
	int32		n_buffers;		/* written */
	int64		bytes;
	StringInfoData checksums;	/* of the buffers in order */
} hopper_pack_output;

/*
 * Creates the first n of job->making.made. They have their names before a row is read: who takes
 * one of them later waits for the end of the transaction, and cannot cost what was packed.
 */
extern void hopper_pack_create_tables(const hopper_pack_job *job, int n);
/* Plans the buffers. n_rows, partitions (0: by bytes), buffer_size (0: by bytes) are set. */
extern void hopper_pack_output_begin(hopper_pack_output *output);
/* How many buffers a partition has. */
extern int32 hopper_pack_output_buffers(const hopper_pack_output *output, int32 partition);
/* Counts a row in rank order; true where it is the last one of the current buffer. */
extern bool hopper_pack_output_row(hopper_pack_output *output);
/* On to the next buffer. */
extern void hopper_pack_output_next(hopper_pack_output *output);
/* All rows must have come. */
extern void hopper_pack_output_require_complete(const hopper_pack_output *output);

/* --- a buffer (pack/buffer.c) --- */

#define PACK_BUFFER_COLUMNS 8	/* partition_id ... checksum */

typedef struct hopper_pack_buffer
{
	const hopper_pack_row_shape *row;
	int32		n;				/* rows so far */
	struct varlena *x;
	struct varlena *y;
} hopper_pack_buffer;

extern void hopper_pack_buffer_init(hopper_pack_buffer *buffer,
									const hopper_pack_row_shape *row,
							 int32 most_rows);
extern void hopper_pack_buffer_add(hopper_pack_buffer *buffer, const char *x, const char *y);
/* The columns of the packed table; x and y are the buffer's own memory. */
extern void hopper_pack_buffer_columns(hopper_pack_buffer *buffer, int32 partition_id,
									   int32 buffer_id,
								Datum *columns);

/* --- for hopper_backend.pack() --- */

/*
 * Once all rows are counted: ERROR where there are too few; opens the tables; false where there is
 * none for validation. (pack/outputs.c)
 */
extern bool hopper_pack_open_outputs(hopper_pack_job *job, hopper_pack_output *training,
									 hopper_pack_output *validation);
/* Whether some of the rows are put aside for validation. */
extern bool hopper_pack_is_split(const hopper_pack_request *request);

/* --- summary tables (pack/summary.c) --- */

extern void hopper_pack_summary_create(const hopper_name *name, const hopper_pack_column *y,
									   bool has_classes);
extern void hopper_pack_summary_write(const hopper_pack_job *job, const hopper_pack_output *output,
									  const char *training_table);

#endif							/* HOPPER_PACK_H */
