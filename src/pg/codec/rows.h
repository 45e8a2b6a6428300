/*
 * rows.h
 *		Rows of the users' tables as packed bytes, for packing and for prediction.
 */
#ifndef HOPPER_ROWS_H
#define HOPPER_ROWS_H

#include "pg/codec/packed.h"

#include "pg/server/complaints.h"

/* What to do about a row that cannot be read. */
#define PACK_HINT_ROWS "Leave such rows out or repair them, for example in a view that is packed."
#define PREDICT_HINT_ROWS \
	"Predict from a view that fills in what is missing, or that leaves such rows out."
#define PREDICT_HINT_SHAPE \
	"The model takes arrays of this shape: make the features as those of its training data were " \
	"made."
#define PREDICT_HINT_LACKING \
	"Predict from a view that fills in what is missing, or pass on_null => 'null': such rows get " \
	"no prediction."

/* --- rows of the source and their names in messages (codec/source.c) --- */

typedef struct hopper_pack_column
{
	char	   *name;
	Oid			declared;		/* the column's own type */
	Oid			type;			/* base type where that is a domain */
	char	   *sql_type;		/* the column's own, with its schema unless that is pg_catalog */
	char	   *qualified_type; /* with its schema, for statements */
	char	   *expression;		/* what is selected; NULL: the column */
	bool		is_label;		/* rows where it is NULL can be left out by an argument */
} hopper_pack_column;

typedef struct hopper_pack_source
{
	hopper_name name;
	const char *rows_hint;		/* NULL: PACK_HINT_ROWS */
	const char *argument;		/* the values are this argument's, not a column's */
	bool		may_query;		/* here it can be asked where else there are NULLs */
	bool		may_lack;		/* rows with NULL or numbers that are not finite are no errors */
	bool	   *told_rounding;	/* whether a WARNING said so; NULL: nobody is told */
	int			n_x;
	hopper_pack_column *x;
	hopper_pack_column y;
	int			n_labels;		/* columns of several outputs, the weights last; else 0 */
	hopper_pack_column *labels;
	hopper_pack_column fold;			/* name is NULL where there is none */
	hopper_pack_column split;	/* what validation_fraction goes by; name may be NULL */
	int			n_keys;			/* columns of the primary key */
	char	  **keys;
	bool		has_ctid;		/* a table without a primary key: rows are named by ctid */
	bool		has_tableoid;	/* a partitioned one: and by their partition */
	int			n_columns;		/* of the rows that are fetched */
	Oid		   *column_types;	/* theirs; InvalidOid where a column only names the row */

	/* the row that is being read */
	int			segment;		/* Greenplum: where; -1: on the coordinator or the only server */
	int64		row_number;		/* from 1 */
	const Datum *values;		/* of the row, as `desc` has them */
	const bool *nulls;
	TupleDesc	desc;
	int			first_key;		/* attribute number of the first column that names the row */
} hopper_pack_source;

/* Looks a column up. */
extern void hopper_pack_resolve_column(Oid relation, const char *name, hopper_pack_column *column);
/*
 * What names a row in messages: the primary key, without one ctid, where the relation has it. What
 * the role may not read does not: who may read the columns that are used may use them.
 */
extern void hopper_pack_find_row_names(hopper_pack_source *source, Oid relation);
/* ", id" or ", ctid": the same, to be selected after the row's values */
extern void hopper_pack_append_row_names(const hopper_pack_source *source, StringInfo query);
/* "a, b, more, id" to be selected: the features, `more` (or NULL), and what names the row. */
extern char *hopper_pack_row_list(const hopper_pack_source *source, const char *more, bool named);
/*
 * Says what the rows consist of: n_x columns of features, further ones of these types, and where
 * they are `named` those that name the row.
 */
extern void hopper_pack_set_row_types(hopper_pack_source *source, int n_more, const Oid *more,
									  bool named);
/*
 * Rows of this descriptor follow: source->desc. ERROR 55000 where they are not what was looked up;
 * nothing may be taken out of a row before.
 */
extern void hopper_pack_begin_rows(hopper_pack_source *source, TupleDesc desc);
/* Makes this row the one that is being read. */
extern void hopper_pack_deform(hopper_pack_source *source, HeapTuple tuple);
/* "Row (id)=(17)", "Row at ctid (0,3)" or "Row number 5" */
extern char *hopper_pack_row_name(const hopper_pack_source *source);

/* --- lists of columns (codec/column_list.c, codec/features.c) --- */

/* The names (char *) of a comma-separated argument; ERROR where it is NULL or names one twice. */
extern List *hopper_column_list(text *value, const char *argument);
/* ERROR 54000 where a list of columns, or a dictionary of them, is longer than anybody needs. */
extern void hopper_require_list_bytes(text *value, const char *argument);
/*
 * The names of columns that are to be features of something trained or packed, `whose` name
 * messages show: in its order, with a NOTICE where they were written in another one. NULL means
 * its own names, and is all that several inputs allow. ERROR 22023 with the list where they are
 * other columns.
 */
extern List *hopper_feature_list(text *value, const char *argument, int n_trained,
								 char *const *trained, const hopper_pack_inputs *inputs,
								 const char *whose);
/* "a", "b" and 3 more */
extern char *hopper_columns_words(int n, char *const *names);

/* --- numbers: features, regression values, label arrays (codec/values.c, codec/encode.c) --- */

typedef enum hopper_pack_layout
{
	PACK_ARRAY,					/* one array */
	PACK_BYTES,					/* one bytea */
	PACK_SCALARS,				/* one or several numbers */
	PACK_INPUTS,				/* several inputs, each of its own layout */
	PACK_COLUMNS				/* columns of any type, by a schema (codec/schema.h) */
} hopper_pack_layout;

typedef struct hopper_pack_values
{
	hopper_pack_layout layout;
	int			n_columns;
	const hopper_pack_column *columns;
	Oid		   *elements;		/* type of the numbers in each column */
	int32		type;			/* hopper_type they are packed as; 0: several inputs */
	int32		common_type;	/* PACK_SCALARS: the own one of each column; 0: they differ */
	bool		or_bytes;		/* PACK_BYTES: one byte a number is widened to `type` */
	bool		shape_known;
	bool		shape_given;	/* by image_shape or by the training table: rows are reshaped */
	int			rank;
	int64		shape[HOPPER_MAX_RANK];
	int64		count;			/* numbers of one row */
	size_t		size;			/* bytes of one row */
	double		divisor;		/* normalizing_const: quotients must fit into a real */
	char	   *first_row;		/* the row that the shape comes from */
	hopper_pack_padding padding;	/* PACK_ARRAY: to shape[0] steps */
	hopper_pack_inputs inputs;	/* PACK_INPUTS */
	const struct hopper_row_schema *schema; /* PACK_COLUMNS */
	double		mean;			/* of labels that are standardised */
	double		deviation;		/* 0: they are not */
	int			n_parts;		/* so many inputs, else 0 */
	struct hopper_pack_values *parts;
} hopper_pack_values;

/* hopper_type of a number's SQL type, and 0 where it is no number. */
extern int32 hopper_pack_number_type(Oid type);
/* Columns that cannot be features. */
extern void hopper_pack_complain_of_types(hopper_complaints *complaints, int n_columns,
										  const hopper_pack_column *columns,
										  const char *relation);
extern void hopper_pack_values_init(hopper_pack_values *values, int n_columns,
									const hopper_pack_column *columns,
							 const char *relation);
/* What bytea holds, by itself uint8; before the shape. `or_bytes`: uint8 are taken as well. */
extern void hopper_pack_values_set_bytes_type(hopper_pack_values *values, int32 type,
											  bool or_bytes);
extern void hopper_pack_values_set_shape(hopper_pack_values *values, int rank, const int64 *shape);
/* Takes shape and size from the first row, which must have them, if they are not known. */
extern void hopper_pack_values_learn(hopper_pack_values *values, const hopper_pack_source *source,
									 const Datum *datums, const bool *nulls);
/* Takes them from the first row's shape alone. */
extern void hopper_pack_values_learn_shape(hopper_pack_values *values, int rank, const int64 *shape,
										   char *first_row);
/*
 * Writes values->size bytes to `out`, or ereport(ERROR) with the row's name; false where
 * source->may_lack and the row has NULL or a number that is not finite or out of range for a real:
 * then what is in `out` means nothing.
 */
extern bool hopper_pack_values_encode(const hopper_pack_values *values,
									  const hopper_pack_source *source,
							   const Datum *datums, const bool *nulls, char *out);
/*
 * Whether a row's numbers are packed as they lie side by side in it; then hopper_pack_values_copy()
 * writes them to `out`, and returns false where hopper_pack_values_encode() has to look at them.
 */
extern bool hopper_pack_values_as_they_lie(const hopper_pack_values *values);
extern bool hopper_pack_values_copy(const hopper_pack_values *values, const char *numbers,
									char *out);
/* Inlined with a type that is known it has no switch for each number. Rows may lie anywhere. */
static inline double
hopper_number_at(int32 type, const char *values, int64 i)
{
#define NUMBER_AT(c_type) \
	do { \
		c_type		number; \
		memcpy(&number, values + i * sizeof(number), sizeof(number)); \
		return (double) number; \
	} while (0)
	switch (type)
	{
		case HOPPER_UINT8:
			NUMBER_AT(uint8);
		case HOPPER_INT16:
			NUMBER_AT(int16);
		case HOPPER_INT32:
			NUMBER_AT(int32);
		case HOPPER_INT64:
			NUMBER_AT(int64);
		case HOPPER_FLOAT32:
			NUMBER_AT(float);
		default:
			NUMBER_AT(double);
	}
#undef NUMBER_AT
}

/* Values of a shape; PG_INT64_MAX where they cannot be counted. */
extern int64 hopper_shape_count(int rank, const int64 *shape);
/* "28x28x1"; "scalar" for rank 0 */
extern char *hopper_pack_shape_text(int rank, const int64 *shape);
/* "uint8" and so on, and back (0: unknown) */
extern const char *hopper_pack_type_name(int32 type);
extern int32 hopper_pack_type_from_name(const char *name);
/* "uint8, int16, ... or float64" for messages */
extern char *hopper_pack_type_names(void);

/* --- sequences of unequal length (codec/padding.c) --- */

/* Whether the type, a hopper_type, holds the number; of float32 the nearest one does. */
extern bool hopper_padding_fits(int32 type, double value);
/*
 * Rules of packed data (NULL: none) for values whose shapes are known, one for each input. Where
 * the type of an input's column does not hold the number that fills up, a wider one is taken.
 */
extern void hopper_pack_values_take_padding(hopper_pack_values *values,
											const hopper_pack_padding *padding);
/*
 * The row's array has `rank` dimensions (0: it is empty). Fills `out` with padding, and says which
 * of its numbers belong where: the n from number *first on to the place of number *at. Returns n;
 * ERROR where the array does not fit.
 */
extern int64 hopper_pad_sequence(const hopper_pack_values *values,
								 const hopper_pack_source *source, int rank, const int64 *shape,
								 int64 *first, int64 *at, char *out);
/* A summary's cell; NULL: nothing is padded. `name`: of the features where there is one input. */
extern char *hopper_padding_text(const hopper_pack_values *values, const char *name);
/*
 * Takes it apart: as many rules as there are inputs, or one; NULL where `text` is. ERROR XX001
 * where it does not go with the inputs. SPI must be connected.
 */
extern hopper_pack_padding *hopper_read_padding(const hopper_name *summary, const char *text,
												const hopper_pack_inputs *inputs);
/* 'post' (false) or 'pre' (true); what is wrong else, or NULL. */
extern char *hopper_padding_side(const char *side, const char *argument, bool *before);

/* --- types, and SQL expressions of a column's values (codec/sql_values.c) --- */

/* What classes labels are. */
typedef enum hopper_pack_family
{
	PACK_NO_CLASS,
	PACK_BOOL,
	PACK_INTEGER,
	PACK_TEXT
} hopper_pack_family;

extern hopper_pack_family hopper_pack_label_family(Oid type);

/* As a number: what hopper_schema_encode() makes of it. */
extern char *hopper_number_text(const hopper_pack_column *column);
/* A bigint of the values of a row's columns (a list of hopper_pack_column) and a seed. */
extern char *hopper_hash_text(List *columns, int64 seed);

/* --- features of several inputs (codec/inputs.c) --- */

/* ERROR 22023 where `written`, which begins with a brace, is no JSON. SPI must be connected. */
extern void hopper_require_json(char *written, const char *argument, const char *hint);

/*
 * Where the argument is '{"input": "column", "other": ["a", "b"]}': its inputs, and their columns
 * in their order. False where it is none of that. SPI must be connected.
 */
extern bool hopper_inputs_argument(text *value, const char *argument, hopper_pack_inputs *inputs,
								   List **columns);
/* Whether the argument says, in whatever order, what these inputs and their columns are. */
extern bool hopper_same_inputs(text *value, const char *argument, int n_columns,
							   char *const *columns, const hopper_pack_inputs *inputs);
/* As MADlib means a list of columns where one is an array: each is an input of its own. */
extern void hopper_inputs_of_columns(int n, const hopper_pack_column *columns,
									 hopper_pack_inputs *inputs);
/* As hopper_pack_values_init(); `inputs` may be one. */
extern void hopper_pack_values_init_inputs(hopper_pack_values *values,
										   const hopper_pack_inputs *inputs, int n_columns,
										   const hopper_pack_column *columns,
										   const char *relation);
/* To be called when something has been learned of the parts: shape and size of all. */
extern void hopper_pack_values_know_inputs(hopper_pack_values *values);
/*
 * Types (of bytea; of numbers the least one, 0: the columns' own) and shapes of as many inputs.
 */
extern void hopper_pack_values_take_inputs(hopper_pack_values *values,
										   const hopper_data_desc *desc);
/* What the core wants to know of the features. */
extern void hopper_pack_values_describe(const hopper_pack_values *values, hopper_data_desc *desc);
/* A summary's cell; NULL: one input. */
extern char *hopper_inputs_text(const hopper_pack_values *values);
/* Takes it apart. ERROR XX001 where it does not go with the features. SPI must be connected. */
extern void hopper_read_inputs(const hopper_name *summary, const char *text, int n_columns,
							   hopper_data_desc *desc, hopper_pack_inputs *inputs);

/* --- labels of several outputs, and weights (codec/label_columns.c) --- */

/* A summary's cell, NULL where n is 0: outputs, their columns' types, the weights' or NULL */
extern char *hopper_outputs_text(int n, const hopper_output *outputs, char *const *types,
								 const char *weight);
/* Takes it apart. ERROR XX001 where it does not go with the labels. SPI must be connected. */
extern void hopper_read_outputs(const hopper_name *summary, const char *text,
								hopper_data_desc *desc, char ***types, char **weight);

#endif							/* HOPPER_ROWS_H */
