/*
 * run.h
 *		One call of predict(), predict_byom() or predict_rows(), as its files share it.
 */
#ifndef HOPPER_PREDICT_RUN_H
#define HOPPER_PREDICT_RUN_H

#include "pg/server/ceilings.h"
#include "pg/server/tables.h"
#include "pg/predict/predict.h"

#define PREDICT_MAX_BATCHES 64	/* in flight */

typedef struct hopper_predict_batch
{
	MemoryContext context;		/* of the keys */
	int64		first_row;		/* its number among all, from 1 */
	int			n;
	Datum	   *ids;
	bool	   *id_nulls;
	bool	   *lacking;		/* rows without a prediction: on_null is 'null' */
} hopper_predict_batch;

/* The classes in the label's own type. */
typedef struct hopper_predict_labels
{
	const char *type;			/* or NULL */
	Oid			oid;			/* InvalidOid where type is NULL */
	int			n;
	Datum	   *values;
	bool	   *nulls;
} hopper_predict_labels;

/* The predictor, and what is on its way to it and back. */
typedef struct hopper_predict_work
{
	int			threads;
	int			event_fd;
	const hopper_predictor_api *api;
	hopper_predictor *predictor;
	hopper_guard *guard;
	hopper_share *share;
	int			n_outputs;
	hopper_predict_output *output;
	int			batch_rows;
	char	   *features;		/* of the batch that is being read, in the predictor's memory */
	int			n_added;		/* rows of it */
	bool		has_numbers;	/* of the row that comes next */
	MemoryContext scratch;
	hopper_predict_batch batches[PREDICT_MAX_BATCHES]; /* a ring */
	int			depth;
	int			first;
	int			n_batches;
	int64		n_lacking;
} hopper_predict_work;

typedef struct hopper_prediction
{
	hopper_predict_model model;
	hopper_predict_what what;
	hopper_name source;
	hopper_name output_table;	/* as it is made */
	hopper_table final;			/* as it is called in the end */
	bool		keeps_final;	/* that table is there, and gets the rows */
	char	   *id_column;		/* NULL: the id is the whole row */
	char	   *whole_row;		/* then: the SQL expression of it */
	const char *source_query;	/* where the rows come from, or NULL: run->source */
	bool		is_view;		/* run->source, where the id is the whole row */
	hopper_predict_labels labels;

	/* the source */
	hopper_pack_source rows;
	hopper_pack_values values;
	const char *id_type;		/* SQL, with its schema */
	Oid			id_oid;
	int16		id_length;
	bool		id_by_value;
	hopper_predict_work work;
} hopper_prediction;

/* --- arguments (predict/arguments.c) --- */

/* pred_type; NULL means all classes. */
extern hopper_predict_what hopper_predict_what_argument(FunctionCallInfo fcinfo, int at);
/*
 * ERROR 0A000 where the caller runs on a segment: models are read with SQL, which the coordinator's
 * own process alone can do.
 */
extern void hopper_refuse_on_segment(const char *function, const char *hint);
/* Columns of run->source, checked against the model; `x`: the features' names, in its order. */
extern void hopper_predict_open_source(hopper_prediction *run, text *id_col, List *x);
/* Columns of a source whose id is the whole row, of run->source's type and `row_type`. */
extern void hopper_predict_open_rows(hopper_prediction *run, Oid row_type, List *x);
/* The classes in the label's own type, from the summary. */
extern void hopper_predict_read_labels(hopper_prediction *run, const hopper_trained *trained);
/* class_values text[]: one list, or MADlib's form, the only row of a two-dimensional array. */
extern void hopper_predict_given_classes(hopper_predict_model *model, ArrayType *array);

/* --- the table that a call writes (predict/output_columns.c, predict/output_table.c) --- */

typedef struct hopper_predict_column
{
	char	   *name;
	Oid			type;
	const char *sql_type;		/* in full, or NULL: the type's name */
	const char *meaning;		/* for psql, or NULL */
} hopper_predict_column;

typedef struct hopper_predict_columns
{
	int			n;
	hopper_predict_column columns[PREDICT_MAX_COLUMNS];
} hopper_predict_columns;

/* The id first. On a segment, which reads types alone, the id has neither name nor sql_type. */
extern void hopper_predict_list_columns(const hopper_prediction *run, hopper_predict_columns *list);
/* "id integer, ..." for a statement */
extern char *hopper_predict_column_definitions(const hopper_prediction *run);
/* Returns their number. */
extern int	hopper_predict_column_types(const hopper_prediction *run, Oid *types);
/* ERROR 42701 where the output has another column of the id's name. */
extern void hopper_predict_check_id(const hopper_prediction *run);

/*
 * The output's name; where it replaces a table, or its rows, it takes their place when it is
 * filled.
 */
extern void hopper_predict_prepare_output(FunctionCallInfo fcinfo, hopper_prediction *run, int at,
										  int at_replace);
/*
 * Makes run->output_table, `distributed` behind its columns; ERROR 42804 where the rows are for a
 * table that lacks one of them.
 */
extern void hopper_predict_make_output(const hopper_prediction *run, const char *distributed);
/* Once it is filled with n_rows: puts it, or its rows, where they were asked for. */
extern void hopper_predict_finish_output(const hopper_prediction *run, int64 n_rows);

/* --- a call that writes a table (predict/predict.c) --- */

/* NOTICE where a pred_type other than the function's own has nothing to choose between. */
extern void hopper_predict_tell_unused(const hopper_prediction *run,
									   hopper_predict_kind by_itself);
/* Reads the source and writes that table; returns the number of its rows. */
extern int64 hopper_predict_all(hopper_prediction *run);

/* --- the computation (predict/batches.c) --- */

/* SELECT of features, id, and what names a row where the id does not. */
extern char *hopper_predict_row_query(const hopper_prediction *run);
/* What its rows consist of: features, an id of this type, and what names a row. */
extern void hopper_predict_set_row_types(hopper_prediction *run, Oid id_type, bool named);
/* Creates the predictor and what turns its outputs into rows; the shape must be known. */
extern void hopper_predict_start(hopper_prediction *run);
/* The predictor for examples as `desc` has them, of run->values.size bytes each. */
extern void hopper_predict_open(hopper_prediction *run, hopper_data_desc *desc);
/*
 * Takes a row in, after hopper_pack_begin_rows(). There must be room for its batch,
 * work.n_batches < work.depth, and in it: work.n_added < work.batch_rows.
 */
extern void hopper_predict_add(hopper_prediction *run, const Datum *values, const bool *nulls);
/* Takes the features of the row that is added next as they lie in it, or false. */
extern bool hopper_predict_add_numbers(hopper_prediction *run, const char *numbers);
/* Sends the rows, one at least, that were added since. */
extern void hopper_predict_submit(hopper_prediction *run);
/*
 * The oldest batch and its outputs (n x n_outputs floats), valid until hopper_predict_done().
 * Unless `wait`, NULL where it is not ready.
 */
extern const hopper_predict_batch *hopper_predict_take(hopper_prediction *run, bool wait,
													   const float **outputs);
extern void hopper_predict_done(hopper_prediction *run);
/* Frees the predictor, and says how many rows have no prediction. */
extern void hopper_predict_end(hopper_prediction *run);

/* --- rows that come through a cursor (predict/reading.c) --- */

/* Takes the rows of predictions one by one, between the beginning and the end of its own. */
typedef struct hopper_predict_sink
{
	/* Once what the rows consist of is known; there is none where the source has no rows. */
	void		(*begin) (void *state, hopper_prediction *run);
	void		(*row) (void *state, const Datum *values, const bool *nulls);
} hopper_predict_sink;

/* Reads the rows and computes; returns the number of rows that the sink was given. */
extern int64 hopper_predict_through(hopper_prediction *run, const hopper_predict_sink *sink,
									void *state);

#endif							/* HOPPER_PREDICT_RUN_H */
