/*
 * packed.h
 *		Reading packed tables: what training_preprocessor() and validation_preprocessor() wrote.
 *
 * A packed table <t> has a row a buffer:
 *
 *	partition_id int, buffer_id int, n int, <x> bytea, <y> bytea,
 *	<x>_shape int[], <y>_shape int[], checksum bytea
 *
 * and <t>_summary has one row, whose columns are listed in pack/summary.c. Partitions and buffers
 * count from 0; buffer_id is unique in the table and ascends with partition_id.
 */
#ifndef HOPPER_PACKED_H
#define HOPPER_PACKED_H

#include "pg/server/glue.h"

#define PACK_MAX_BUFFER_BYTES (256 * 1024 * 1024)	/* pg_dump fails above 512 MB */
#define PACK_MAX_CLASSES 1000000
#define PACK_MAX_PARTITIONS 100000	/* what a run keeps for each is small beside its model */
/* packed column of several columns, or of one whose name the table itself uses */
#define PACK_FEATURES "features"
#define PACK_LABELS "labels"	/* the same of labels */
#define PACK_SEVERAL_TYPES "several"	/* of features that are several inputs */

#define HOPPER_PACK_FORMAT 1

/* Which columns belong to which input of a model. */
typedef struct hopper_pack_inputs
{
	int			n;				/* 0: one, whatever its name */
	char	  **names;
	int		   *columns;		/* their numbers: neighbours in the list of all columns */
} hopper_pack_inputs;

/* What becomes of sequences of unequal length: the rules of keras.utils.pad_sequences. */
typedef struct hopper_pack_padding
{
	bool		given;			/* else all arrays have the same shape */
	double		value;			/* what fills up */
	bool		before;			/* the values, not behind them */
	enum
	{
		PACK_REFUSE_LONGER,
		PACK_CUT_BEGINNING,
		PACK_CUT_END
	}			truncate;		/* of what is longer */
} hopper_pack_padding;

/* Packed data; or those of a model, of which nothing is known of rows and partitions. */
typedef struct hopper_packed
{
	hopper_name table;
	hopper_data_desc desc;		/* what the core wants to know; see below */
	char	   *source_table;	/* quoted where needed, like every name here */
	int			n_x_columns;	/* of the source; several are packed as one column "features" */
	char	  **x_columns;
	char	  **x_sql_types;	/* one a column, as format_type() writes them */
	hopper_pack_inputs inputs;
	char	   *inputs_text;	/* as the summary has it; NULL: one input */
	hopper_pack_padding *padding;	/* of each input, or of the one; NULL: none */
	char	   *padding_text;	/* as the summary has it, or NULL */
	char	   *schema_text;	/* JSON of columns of any type, or NULL */
	char	   *outputs_text;	/* the same for labels; NULL: one, without weights */
	char	  **y_types;		/* then: of each output's column, as format_type() writes it */
	char	   *weight_column;	/* of the source, or NULL */
	char	   *y_sql_type;
	char	   *class_values_column;	/* of the summary; NULL where y_kind is not a class */
	Datum		class_values;	/* its value; (Datum) 0: NULL */
	Oid			class_values_type;	/* an array of the label's own type */
	int32		n_starts;
	int32	   *starts;			/* first partition of each run of partitions */
	int64		seed;
	int64		packed_bytes;
	int32		buffer_size;	/* rows */
	char	   *checksum;		/* of the whole table, hexadecimal */
	char	   *training_table; /* NULL: this is a training table */
} hopper_packed;

/*
 * Columns that the summary of a packed table and that of a training have alike (server/tables.h),
 * of the source, the features and the labels.
 */
#define HOPPER_COLUMN_SOURCE \
	{"source_table", TEXTOID, "table that the rows come from"}
#define HOPPER_COLUMN_Y_NAMES \
	{"dependent_varname", TEXTARRAYOID, "label column of the source"}
#define HOPPER_COLUMN_X_NAMES \
	{"independent_varname", TEXTARRAYOID, "feature columns of the source"}
#define HOPPER_COLUMN_Y_SQL_TYPES \
	{"dependent_vartype", TEXTARRAYOID, "SQL type of the label column"}
#define HOPPER_COLUMN_X_SQL_TYPES \
	{"independent_vartype", TEXTARRAYOID, "SQL types of the feature columns"}
/* <label>_class_values; NULL at the end: padding of num_classes */
#define HOPPER_COLUMN_CLASSES \
	{NULL, InvalidOid, "classes, in the order of their indexes"}
#define HOPPER_COLUMN_CONSTANT \
	{"normalizing_const", FLOAT4OID, "features are divided by it when a model reads them"}
#define HOPPER_COLUMN_NUM_CLASSES \
	{"num_classes", INT4ARRAYOID, "number of classes; NULL where labels are numbers"}
#define HOPPER_COLUMN_SEED {"seed", INT8OID, "of the random numbers"}
#define HOPPER_COLUMN_X_TYPE {"independent_type", TEXTOID, "what features are packed as"}
#define HOPPER_COLUMN_X_SHAPE \
	{"independent_shape", INT4ARRAYOID, "shape of an example",.marks = true}
#define HOPPER_COLUMN_INPUTS \
	{"inputs", TEXTOID, \
	"where an example has several: names, number of columns, types, shapes (JSON)", \
	.since = "0.2.0",.needed = true}
#define HOPPER_COLUMN_OUTPUTS \
	{"outputs", TEXTOID, \
	"where a label has several parts: names, types, shapes and classes (JSON)", \
	.since = "0.2.0",.needed = true}
#define HOPPER_COLUMN_PADDING \
	{"padding", TEXTOID, \
	"how sequences are filled up: by input the side, value and cut (JSON)", \
	.since = "0.2.0",.needed = true}
#define HOPPER_COLUMN_SCHEMA \
	{"schema", JSONBOID, \
	"what becomes of columns: treatments, statistics and slots (JSON)", \
	.since = "0.2.0",.needed = true}
#define HOPPER_MEANS_CHECKSUM "of the packed bytes"
#define HOPPER_MEANS_Y_KIND "class, value or array"
#define HOPPER_COLUMN_Y_TYPE {"label_type", TEXTOID, "what labels are packed as"}
#define HOPPER_COLUMN_Y_SHAPE {"label_shape", INT4ARRAYOID, "shape of a label"}

/*
 * The columns of a packed table that hold the features and the label of these names. A column of
 * the source that is called as one of the table's own, "n", has a stand-in, and so have features
 * that are the label, too, as of an autoencoder.
 */
extern const char *hopper_packed_features(int n, char *const *names, const char *label);
extern const char *hopper_packed_label(const char *name);

/* What a summary calls the column of the classes of this label. */
extern char *hopper_class_values_name(const char *label);
/*
 * desc.class_values are the classes' names as text in class order, a NULL pointer for the class of
 * SQL's NULL (which can only be the first); desc.n_class_values may be less than desc.num_classes,
 * then the other classes have no rows and no names.
 */

/*
 * Reads and checks <table>_summary. Everything in *out is allocated in the current memory context.
 * SPI must be connected. ERROR 42P01 where the table does not exist, 55000 (with a hint) where it
 * is not a packed one.
 */
/* `validation`: errors say how a table is packed that goes with another one. */
extern void hopper_read_packed(const hopper_name *table, bool validation, hopper_packed *out);

/*
 * What the examples are, by a summary of packed data or of training, whose only row SELECT * has
 * given; then, where all that is asked of this row has been read, what further statements tell:
 * inputs, outputs, padding and classes. ERROR XX001 where it cannot be.
 */
extern void hopper_read_examples(const hopper_name *summary, hopper_packed *out);
extern void hopper_read_parts(const hopper_name *summary, hopper_packed *out);

/*
 * Cells of SPI_tuptable (of its first row where none is named), of packed tables' and of training's
 * summaries alike; ERROR XX001 where they hold what these columns cannot hold. A hopper_label_kind,
 * whose name is the cell; a hopper_type, 0 of several inputs; a shape (returns its rank); a
 * positive number that features are divided by.
 */
extern const char *hopper_label_kind_name(int32 kind);
extern int32 hopper_kind_cell(const hopper_name *table, uint64 row, int column);
extern int32 hopper_type_cell(const hopper_name *table, int column);
/* An array without NULLs of elements of this type; returns their number, -1 where it is NULL. */
extern int	hopper_array_cell(const hopper_name *table, uint64 row, int column, Oid type,
							  Datum **values);
/* int[] without NULLs, palloc'ed; returns its length. */
extern int	hopper_ints_cell(const hopper_name *table, uint64 row, int column, int32 **values);
extern int	hopper_shape_cell(const hopper_name *table, uint64 row, int column,
							  int64_t *shape);
extern double hopper_constant_cell(const hopper_name *table, int column);

/*
 * Gets each buffer once, in the order of partition_id and buffer_id. The buffer's memory is valid
 * during the call only. May ereport(ERROR).
 */
typedef void (*hopper_buffer_fn) (const hopper_buffer *buffer, void *state);

/*
 * A row of a packed table as a buffer: partition_id, buffer_id, n, x, y, checksum, none of them
 * NULL. Its memory is that of the values or, where these are compressed or stored outside of the
 * row, the current context's. What the values are is for the core to judge.
 */
extern hopper_buffer hopper_make_buffer(hopper_split split, const Datum row[6]);

/*
 * Feeds the buffers of a partition, or of all where that is HOPPER_ALL_PARTITIONS, to `callback`;
 * one buffer is in memory at a time. SPI must be connected. ERROR XX001 where a buffer's row is
 * malformed; checksums are the callback's to verify (the core does in add_buffer).
 */
#define HOPPER_ALL_PARTITIONS (-1)
extern void hopper_scan_packed(const hopper_packed *packed, hopper_split split, int32 partition,
							   hopper_buffer_fn callback, void *state);
/* ERROR XX001 'packed table "..." is damaged', with what is wrong. */
extern void hopper_refuse_packed(const hopper_packed *packed,
								 const char *what) pg_attribute_noreturn();
/*
 * Whether the packed rows can be read, found out before they are; locks the table until the end of
 * the transaction, as a SELECT does.
 */
extern void hopper_require_readable(const hopper_packed *packed);

#endif							/* HOPPER_PACKED_H */
