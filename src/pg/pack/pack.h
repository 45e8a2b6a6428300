/*
 * pack.h
 *		What the files behind training_preprocessor() and validation_preprocessor() share.
 *
 * Packing reads the source twice in the statement's snapshot: once for the classes of the label
 * column, once for the rows. Each row is encoded as a rank key, features and labels; ranked by the
 * key, the rows fill the buffers of one or two packed tables, so that the order is a function of
 * the rows' content. Where the rows go through differs: local/pack.c, greenplum/coordinator/pack.c.
 */
#ifndef HOPPER_PACK_H
#define HOPPER_PACK_H

#include "pg/codec/rows.h"

#define PACK_KEY_SIZE 16
#define PACK_CHECKSUM_SIZE 16
#define PACK_BUFFER_BYTES (4 * 1024 * 1024)		/* default size of a buffer */

/* What the caller asked for. */
typedef struct pack_request
{
	hopper_name source;
	hopper_name output;
	List	   *x_names;		/* char *: independent_varname, split */
	List	   *y_names;		/* char *: dependent_varname, split */
	int			buffer_size;	/* 0: by bytes */
	float4		normalizing_const;
	int			num_classes;	/* 0: as many as there are */
	int			partitions;		/* 0: by bytes */
	int64		seed;
	double		validation_fraction;	/* 0: none */
	char	   *fold_column;	/* or NULL */
	int			image_rank;		/* 0: not given */
	int64		image_shape[HOPPER_MAX_RANK];
	int			n_starts;		/* 0: every partition */
	int32	   *starts;
	char	   *distribution_rules; /* or NULL: all segments */
	bool		validation;		/* validation_preprocessor() */
	hopper_packed training;		/* validation only */
} pack_request;

/* NULL arguments are checked and defaults filled in. (pack/arguments.c) */
extern void pack_training_arguments(FunctionCallInfo fcinfo, pack_request *request);
/* Leaves request->training to the caller, and gives the table's name. */
extern void pack_validation_arguments(FunctionCallInfo fcinfo, pack_request *request,
									  hopper_name *training);

/* --- classes (pack/classes.c) --- */

typedef enum pack_family
{
	PACK_NO_CLASS,
	PACK_BOOL,
	PACK_INTEGER,
	PACK_TEXT
} pack_family;

typedef struct pack_classes
{
	pack_family family;
	int			n;				/* classes that have a name or are NULL */
	char	  **names;			/* in class order; NULL pointer: the class of NULL */
	int			num_classes;	/* at least n */
	int32		type;			/* hopper_type of a class index */
	int			null_class;		/* index, or -1 */
	struct pack_class_key *keys;	/* sorted for the search */
	int			n_keys;
} pack_classes;

extern pack_family pack_label_family(Oid type);
/* SQL expression of the label column for reading: bigint or text */
extern char *pack_label_expression(const pack_column *y, pack_family family);
/* The expression's type where there are classes. */
extern Oid	pack_label_type(pack_family family);
extern void pack_read_classes(const pack_request *request, const pack_source *source,
							  pack_classes *classes);
extern void pack_training_classes(const pack_request *request, const pack_source *source,
								  pack_classes *classes);
/* Fills what follows from family, n, names and num_classes. */
extern void pack_finish_classes(pack_classes *classes);
/* Class index of a row, or ereport(ERROR). */
extern int32 pack_class_index(const pack_classes *classes, const pack_request *request,
							  const pack_source *source, Datum value, bool isnull);
extern void pack_put_index(int32 type, int32 index, char *at);

/* --- the columns' types and the rows (pack/types.c, pack/rows.c) --- */

/* Bytes and dimensions of a packed row. */
typedef struct pack_layout_of_rows
{
	size_t		x_size;
	size_t		y_size;
	int			x_rank;
	int64		x_shape[HOPPER_MAX_RANK];
	int			y_rank;
	int64		y_shape[HOPPER_MAX_RANK];
} pack_layout_of_rows;

/* All that one call needs. */
typedef struct pack_job
{
	pack_request request;
	pack_source source;
	pack_values x;
	pack_values y;				/* regression values, label arrays */
	pack_classes classes;		/* family PACK_NO_CLASS where y is used */
	int32		y_kind;			/* hopper_label_kind */
	pack_layout_of_rows layout; /* once the shapes are known */
	int64		n_rows;
	int			n_strata;		/* 0 before the first row */
	int64	   *strata;			/* rows of each stratum */
	int64	   *quotas;			/* of them still to go to validation */
} pack_job;

/* Column of the features in the packed table. */
extern const char *pack_feature_column(const pack_job *job);
/* Refuses columns whose names are taken in the packed table or its summary. */
extern void pack_require_free_names(const pack_job *job);
extern void pack_set_features(pack_job *job);
extern void pack_set_labels(pack_job *job);
/* ", id" or ", ctid": what names a row, to be selected after its values */
extern void pack_append_row_names(const pack_source *source, StringInfo query);
/* Looks the request's columns up. */
extern void pack_open_source(const pack_request *request, pack_source *source);
/* SELECT of all rows: features, label, fold, what names the row. */
extern char *pack_row_query(pack_job *job);
/* What its rows consist of, once the labels' kind is known. */
extern void pack_set_job_row_types(pack_job *job);
/* Takes the shapes from a row, where they are not known. */
extern void pack_learn_layout(pack_job *job, const Datum *values, const bool *nulls);
/* job->layout from the shapes. */
extern void pack_set_layout(pack_job *job);
/*
 * Writes the rank key (PACK_KEY_SIZE bytes) and the body, features and then labels, and returns the
 * row's stratum, or ereport(ERROR) with the row's name.
 */
extern int32 pack_encode_row(const pack_job *job, const Datum *values, const bool *nulls,
							 char *key, char *body);
/* Before the first pack_count_rows(), in a context that outlives them; the classes are known. */
extern void pack_start_counting(pack_job *job);
/* `n` more rows of a stratum */
extern void pack_count_rows(pack_job *job, int32 stratum, int64 n);
/* Fills job->quotas and returns their sum. */
extern int64 pack_split_rows(pack_job *job);
/* Called for each row in rank order. */
extern bool pack_to_validation(pack_job *job, int32 stratum);

/* --- one packed table that is being written (pack/write.c) --- */

typedef struct pack_output
{
	hopper_name table;
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

	/* progress */
	int32		partition;
	int64		buffers_left;	/* of this partition, with the current one */
	int64		rows_left;
	int32		target;			/* rows of the current buffer */
	int32		filled;
	int32		n_buffers;		/* written */
	int64		bytes;
	StringInfoData checksums;	/* of the buffers in order */
} pack_output;

/* Creates the table. n_rows, partitions (0: by bytes), buffer_size (0: by bytes) are set. */
extern void pack_output_create(pack_output *output);
/* How many buffers a partition has. */
extern int32 pack_output_buffers(const pack_output *output, int32 partition);
/* Counts a row in rank order; true where it is the last one of the current buffer. */
extern bool pack_output_row(pack_output *output);
/* On to the next buffer. */
extern void pack_output_next(pack_output *output);
/* All rows must have come. */
extern void pack_output_require_complete(const pack_output *output);
/* Hash over the checksums of all buffers. */
extern char *pack_output_checksum(const pack_output *output);

/* --- a buffer (pack/buffer.c) --- */

#define PACK_BUFFER_COLUMNS 8	/* partition_id ... checksum */

typedef struct pack_buffer
{
	const pack_layout_of_rows *layout;
	int32		n;				/* rows so far */
	struct varlena *x;
	struct varlena *y;
} pack_buffer;

extern void pack_buffer_init(pack_buffer *buffer, const pack_layout_of_rows *layout,
							 int32 most_rows);
extern void pack_buffer_add(pack_buffer *buffer, const char *x, const char *y);
/* The columns of the packed table; x and y are the buffer's own memory. */
extern void pack_buffer_columns(pack_buffer *buffer, int32 partition_id, int32 buffer_id,
								Datum *columns);

/* --- the way of the rows (local/pack.c, greenplum/coordinator/pack.c) --- */

/*
 * For pack_move_rows(), once all rows are counted: ERROR where there are too few; opens the tables;
 * false where there is none for validation. (pack.c)
 */
extern bool pack_open_outputs(pack_job *job, pack_output *training, pack_output *validation);
/* Reads the source and fills one or two packed tables. */
extern void pack_move_rows(pack_job *job, pack_output *training, pack_output *validation);

/* --- summary tables (pack/summary.c) --- */

typedef struct pack_summary
{
	const pack_request *request;
	const pack_source *source;
	const pack_values *x;
	const pack_values *y;		/* NULL: classes */
	const pack_classes *classes;	/* family PACK_NO_CLASS: none */
	int32		y_kind;			/* hopper_label_kind */
} pack_summary;

extern void pack_summary_write(const pack_summary *summary, const pack_output *output,
							   const char *training_table);

#endif							/* HOPPER_PACK_H */
