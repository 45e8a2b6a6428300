/*
 * models.h
 *		Tables of model architectures: what load_model() fills.
 */
#ifndef HOPPER_MODELS_H
#define HOPPER_MODELS_H

#include "pg/server/floats.h"
#include "pg/server/glue.h"

typedef struct hopper_model
{
	int32		model_id;
	char	   *arch;			/* Keras JSON in UTF-8 */
	size_t		arch_size;
	hopper_floats weights;		/* in Keras' get_weights() order, if it has some */
	char	   *name;			/* or NULL */
} hopper_model;

/* An argument of type hopper.integers, whose input says what to write for a model's name. */
extern int32 hopper_model_id_argument(FunctionCallInfo fcinfo, int at);
/* Argument model_id_list: that many of them at least. */
extern int32 *hopper_model_ids_argument(FunctionCallInfo fcinfo, int least, int *n);
/* The table's Oid; ERROR where it does not exist (42P01) or lacks load_model()'s columns (42809) */
extern Oid	hopper_require_model_table(const hopper_name *table);
/*
 * Reads one model in the statement's snapshot; SPI must be connected; everything is allocated in
 * the current memory context. False where there is no such model.
 */
extern bool hopper_find_model(const hopper_name *table, int32 model_id, hopper_model *model);
/* hopper_find_model(), but ERROR 42704 with the table's models in the hint. */
extern void hopper_read_model(const hopper_name *table, int32 model_id, hopper_model *model);
/* Raises that error. */
extern void hopper_no_such_model(const hopper_name *table, int32 model_id)
			pg_attribute_noreturn();
/* What is stored of a model. */
typedef struct hopper_new_model
{
	const char *arch;			/* UTF-8 */
	Datum		weights;		/* bytea, where has_weights */
	bool		has_weights;
	text	   *name;			/* or NULL */
	text	   *description;	/* or NULL */
	bool		replace;		/* in the place of the one of this name */
} hopper_new_model;

/*
 * Checks an architecture with its weights and stores it in the table, which is made where there is
 * none. ERROR 22023 where it is to replace a model and several have its name. False where a trigger
 * took the row away.
 */
extern bool hopper_add_model(const hopper_name *table, const hopper_new_model *model,
							 int32 *model_id);
/*
 * The model of this name; false: there is none. ERROR 22023 where there are several. SPI must be
 * connected.
 */
extern bool hopper_find_named_model(const hopper_name *table, const char *name, int32 *model_id);
/*
 * What is stored for an architecture (UTF-8), in the server's encoding: the text itself, or what
 * Keras needs beside what was written by hand. palloc'ed.
 */
extern char *hopper_complete_architecture(const char *arch);

/* --- columns of a table that are a model's inputs (catalog/model_columns.c) --- */

struct hopper_pack_column;

typedef struct hopper_model_column
{
	char	   *name;			/* of the input */
	char	   *treatment;		/* JSON */
	bool		is_prepared;	/* a layer of the model needs this treatment */
} hopper_model_column;

/* The model's inputs in its order. ERROR where the architecture is wrong. palloc'ed. */
extern hopper_model_column *hopper_model_columns(const hopper_model *model, int *n);
/* The schema (JSON) by which n columns are the inputs; ERROR where it would need training rows. */
extern char *hopper_model_schema(int n, const hopper_model_column *columns,
								 const struct hopper_pack_column *x);

/* --- architectures that were read (catalog/known_models.c) --- */

/* An empty hash table of entries that begin with an int32, its key; in the current context. */
extern struct HTAB *hopper_table_by_id(Size entry);
/*
 * As hopper_find_model(), but each is read once as long as *known lives, which is NULL at first and
 * then made in the current memory context. NULL where there is no such model.
 */
extern hopper_model *hopper_known_model(struct HTAB **known, const hopper_name *models,
										int32 model_id);
/* Numbers of models by the text of their architectures: none, in the current context. */
extern struct HTAB *hopper_new_architectures(void);
/* The number for this text, to be set where it was not found. */
extern int32 *hopper_enter_architecture(struct HTAB *known, const char *arch, bool *found);
/* All architectures of a table that have no weights, by their text; in the current context. */
extern struct HTAB *hopper_read_architectures(const hopper_name *models);
/* The first of them with this text (UTF-8), if it is still there. */
extern bool hopper_find_architecture(struct HTAB *read, const hopper_name *models,
									 const char *arch, int32 *model_id);

/* An architecture as functions without tables are given it. */
typedef struct hopper_arch
{
	char	   *arch;			/* UTF-8 */
	size_t		arch_size;
	int32_t		rank;			/* of its input; 0: the architecture says it */
	int64_t		shape[HOPPER_MAX_RANK];
} hopper_arch;

/* model_arch, the first argument, and input_shape. */
extern void hopper_arch_arguments(FunctionCallInfo fcinfo, int shape_at, hopper_arch *out);
/* Room for so many bytes; ERROR 54000 where they are too many. */
extern bytea *hopper_make_bytea(Size size);

#endif							/* HOPPER_MODELS_H */
