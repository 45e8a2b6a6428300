/*
 * explained.h
 *		What feature_importance(), explain_row() and partial_dependence() share.
 *
 * Each is one query over the rows as they are, in which predict_outputs() gets a value for each
 * column: whatever reads columns is explained so, ensembles too. Which rows are taken, and what
 * is exchanged for what, goes by hashes of the rows' content and the seed.
 */
#ifndef HOPPER_PREDICT_EXPLAINED_H
#define HOPPER_PREDICT_EXPLAINED_H

#include "pg/predict/predict.h"

#define EXPLAINED_MOST_ROWS 1000000

/* A model, and a table or view with its columns. */
typedef struct hopper_explained
{
	hopper_trained trained;
	hopper_predict_model model;
	hopper_name source;
	Oid			relation;
	int			n;				/* columns */
	hopper_pack_column *columns;	/* of the source */
	char	   *names;			/* of the columns, an SQL array */
	int			output;			/* of predict_outputs(), from 1: what is explained; 0: not known */
} hopper_explained;

/*
 * Arguments model_table, mst_key and the one called `source`. ERROR 0A000 where the model does not
 * predict one value, 42703 where the source lacks a column.
 */
extern void hopper_explained_open(FunctionCallInfo fcinfo, const char *source,
								  hopper_explained *what);
/*
 * Argument class_value: whose probability is explained. By itself the last of two classes, of more
 * none: output is 0.
 */
extern void hopper_explained_take_class(FunctionCallInfo fcinfo, hopper_explained *what);
/* The name of the class that is explained, SQL. */
extern const char *hopper_explained_class(const hopper_explained *what);
/*
 * What the model gives for values of its columns, SQL; each of them comes after ", ". They are one
 * argument, a row, because a function has no more than a hundred.
 */
extern char *hopper_explained_outputs(const hopper_explained *what, const char *values);
/* The number, from 1, of the largest of the outputs o, SQL. */
extern char *hopper_explained_largest(const hopper_explained *what);
/* A whole number from an argument that has a default; ERROR 22023 out of its range. */
extern int	hopper_explained_count(FunctionCallInfo fcinfo, const char *argument, int otherwise,
								   int least, int most);
extern int64 hopper_explained_seed(FunctionCallInfo fcinfo);
/*
 * At most so many of the source's rows, SQL, by chance but the same ones in whatever order they
 * lie: numbered by i from 1, with the columns as x1, x2, ...; `label` is c, an int4, and y, a
 * float8, `where` goes behind the source.
 */
extern char *hopper_explained_rows(const hopper_explained *what, const char *label,
								   const char *where, int most, int64 seed);
#define EXPLAINED_NO_LABEL "NULL::int4 AS c, NULL::float8 AS y"
/* ERROR 22023 where the source, as far as `where` goes, has no rows. */
extern void hopper_explained_require_rows(const hopper_explained *what, const char *where,
										  const char *hint);

#endif							/* HOPPER_PREDICT_EXPLAINED_H */
