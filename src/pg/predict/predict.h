/*
 * predict.h
 *		What predict(), predict_byom() and predict_row() share.
 */
#ifndef HOPPER_PREDICT_H
#define HOPPER_PREDICT_H

#include "pg/server/glue.h"
#include "pg/train/outputs.h"
#include "pg/codec/rows.h"
#include "pg/codec/schema.h"

/* --- a model as prediction sees it --- */

typedef struct hopper_predict_model
{
	const char *shown;			/* for messages */
	const char *model_arch;		/* UTF-8 */
	size_t		model_arch_size;
	hopper_floats weights;
	/*
	 * What it was trained on; of a model that was brought along, what of its features is known:
	 * x_rank 0: nothing before the first row.
	 */
	hopper_packed data;
	const hopper_row_schema *schema;	/* of features that are columns of any type, else NULL */
	const char *class_name;		/* label column */
	const char *layer;			/* its output is what is predicted; or NULL */
	/* What the outputs stand for. */
	hopper_link link;			/* what makes probabilities of them */
	int64		link_width;		/* so many neighbours belong together */
	bool		is_value;		/* regression: outputs are values, not classes */
	hopper_label_scale scale;	/* of values: how those of training were scaled */
	bool		is_array;		/* several values a row */
	bool		is_each;		/* a class at each step or pixel, which are an array */
	int			rank;			/* of an array that is predicted */
	int64		shape[HOPPER_MAX_RANK];
	Oid			class_type;		/* of its classes; text where they have names */
	int			n_classes;		/* 0: as many as outputs, of a class each as of one of them */
	int			n_class_values;
	const char *const *class_values;	/* NULL pointers are NULL; further classes have no name */
	int64		first;			/* of several outputs: where in a row of all of them */
	int			count;			/* and how many values */
	int			n_parts;		/* so many outputs; 0: one */
	struct hopper_predict_model *parts; /* whose class_name is the output's name */
} hopper_predict_model;

/*
 * The library's functions that make a predictor for the model and take it: the core's, or, where a
 * layer wants it, libtorch's. `layer` may be NULL. (predict/batches.c)
 */
extern const hopper_predictor_api *hopper_predict_library(const char *model_arch,
														  size_t model_arch_size,
														  const hopper_data_desc *data,
														  const char *layer);
/* Its weights into a predictor that was created for them. (predict/batches.c) */
extern void hopper_predict_push_weights(const hopper_predictor_api *api,
										hopper_predictor *predictor,
										const hopper_floats *weights);
extern void hopper_predict_from_trained(const hopper_trained *trained, hopper_predict_model *model);
/* Predicts what a layer of the model gives; `layer` may be NULL. (predict/arguments.c) */
extern void hopper_predict_take_layer(hopper_predict_model *model, text *layer);
/*
 * Checks the number of outputs against what they stand for and sets n_classes; ERROR 22023 where
 * they do not go together.
 */
extern void hopper_predict_bind_outputs(hopper_predict_model *model, int n_outputs);
/* on_null: whether rows that lack a feature get NULL instead of an error. (predict/arguments.c) */
extern bool hopper_predict_may_lack(FunctionCallInfo fcinfo, int at);
/* What a bytea holds that has more than a byte for each feature: the type of training. */
extern int32 hopper_predict_bytes_type(const hopper_data_desc *trained);
/* Without names a class is its index; NULL is that of SQL's NULL, or one that has no name. */
extern const char *hopper_predict_class_name(const hopper_predict_model *model, int class);
/* "real[784] or an image bytea" for messages. */
extern char *hopper_predict_expectation(const hopper_predict_model *model);
/* ERROR 42804 where columns of these types cannot be the model's features. */
extern void hopper_predict_check_types(const hopper_predict_model *model, int n_columns,
									   const hopper_pack_column *columns);

/*
 * Values of n columns that are the model's features, as they are computed with: as `computed` has
 * them or, NULL, in types of their own; `relation` is what messages call their table or row.
 * (predict/arguments.c)
 */
extern void hopper_predict_describe_features(const hopper_predict_model *model,
											 const hopper_data_desc *computed, int n,
											 const hopper_pack_column *columns,
											 const char *relation, hopper_pack_values *values);
/*
 * The outputs of one row as they are shown, probabilities where they are logits, into n_outputs
 * numbers.
 */
extern void hopper_predict_values(const hopper_predict_model *model, int n_outputs,
								  const float *outputs, double *values);

typedef struct hopper_predict_classes
{
	double	   *scores;			/* by class: what they are ordered by */
	double	   *probabilities;	/* by class */
	int		   *order;			/* classes, the most probable first */
} hopper_predict_classes;

extern void hopper_predict_classes_init(hopper_predict_classes *classes,
										const hopper_predict_model *model);
/* Fills the arrays from one row of outputs; only order[0] when `top_only`. */
extern void hopper_predict_rank(hopper_predict_classes *classes, const hopper_predict_model *model,
								int n_outputs, const float *outputs, bool top_only);

/* --- predictions that are arrays (predict/arrays.c) --- */

/* Of a class each: how many steps or pixels there are. */
extern int	hopper_predict_n_places(const hopper_predict_model *model);
/* hopper_predict_rank() at one of them; `outputs` are those of all. */
extern void hopper_predict_rank_at(hopper_predict_classes *classes,
								   const hopper_predict_model *model, const float *outputs,
								   int place, bool top_only);
/* Numbers, or what a layer gives, in the model's shape. */
extern Datum hopper_predict_value_array(const hopper_predict_model *model, int n_outputs,
										const float *outputs);
/*
 * The class of each step or pixel, `names` being the text of the classes or NULL, and its
 * probability; `all`: those of all its classes, or of the second one where they are two of one
 * output.
 */
extern void hopper_predict_each(const hopper_predict_model *model, hopper_predict_classes *classes,
								const float *outputs, const Datum *names, const bool *name_nulls,
								bool all, Datum *predicted, Datum *probabilities);

/* --- rows of predictions (predict/output.c, predict/output_columns.c) --- */

typedef enum hopper_predict_kind
{
	PREDICT_ALL,				/* every class, ranked */
	PREDICT_RESPONSE,			/* the most probable class */
	PREDICT_TOP,				/* the k most probable ones */
	PREDICT_THRESHOLD,			/* those above a probability */
	PREDICT_COLUMNS				/* the most probable one, and a column for each one's probability */
} hopper_predict_kind;

typedef struct hopper_predict_what
{
	hopper_predict_kind kind;
	int			k;
	double		threshold;
	bool		by_output;		/* of several outputs, and at each step: rows with columns of one */
	bool		best_at_each;	/* then at each step the most probable class alone */
} hopper_predict_what;

typedef struct hopper_predict_output hopper_predict_output;

/* of several outputs: id, and two for each */
#define PREDICT_MAX_COLUMNS (1 + 2 * HOPPER_MAX_OUTPUTS)

/* The column of values, of a layer's, or of the label in its own type. */
extern char *hopper_predict_value_column(const hopper_predict_model *model);
/* The comment on it where it holds what a layer gives, by which such a table is known. */
#define HOPPER_LAYER_COMMENT "what this layer gives"
/* "prob_<class>" of the only output, as far as names go, with a number where others begin alike. */
extern char *hopper_predict_class_column(const hopper_predict_model *model, int class);
/* ERROR 22023 or 54000 where the model's classes cannot be columns, as 'columns' asks. */
extern void hopper_predict_require_columns(const hopper_predict_model *model);
/* ERROR 0A000 where it has several outputs, or an array of them. (predict/features.c) */
extern void hopper_predict_require_one_value(const hopper_predict_model *model);
/*
 * The first n_labels classes in the label's type (NULL: none); ERROR XX001 where there are more
 * classes. Everything must outlive the output.
 */
extern hopper_predict_output *hopper_predict_output_create(const hopper_predict_model *model,
														   const hopper_predict_what *what,
														   int n_outputs,
														   int n_labels, const Datum *label_values,
														   const bool *label_nulls);
/* Begins an example; `outputs` must live until its rows have been made. NULL: it has none. */
extern void hopper_predict_output_begin(hopper_predict_output *output, Datum id, bool id_null,
										const float *outputs);
/* The example's next row; false where there is none. */
extern bool hopper_predict_output_next(hopper_predict_output *output, Datum *values, bool *nulls);
/*
 * Puts the row that was made last, with what->by_output, as predict_rows() and predict_row() have
 * it: class_value, prob, rank, value and output. Each value of an array is a row.
 */
extern void hopper_predict_show(const hopper_predict_output *output, const Datum *row,
								const bool *row_nulls,
								void (*put) (void *state, const Datum *values, const bool *nulls),
								void *state);
/* Whether there is a row for each class, or for the most probable ones. */
extern bool hopper_predict_has_rows(const hopper_predict_model *model);
/* Whether it has a probability beside what is predicted, where there is no row for each class. */
extern bool hopper_predict_has_prob(const hopper_predict_model *model);
/* Whether an output tells classes apart; others are values, or classes that exclude no other. */
extern bool hopper_predict_is_class(const hopper_predict_model *part);
/* ERROR 42809 where the source of rows is a packed table. */
extern void hopper_predict_refuse_packed(const hopper_name *source, Oid relation);

#endif							/* HOPPER_PREDICT_H */
