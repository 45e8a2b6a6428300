/*
 * models.h
 *		Tables of model architectures: what load_model() fills.
 */
#ifndef HOPPER_MODELS_H
#define HOPPER_MODELS_H

#include "pg/server/glue.h"

typedef struct hopper_model
{
	int32		model_id;
	char	   *arch;			/* Keras JSON in UTF-8 */
	size_t		arch_size;
	float	   *weights;		/* in Keras' get_weights() order, or NULL */
	int64		n_weights;
	char	   *name;			/* or NULL */
} hopper_model;

/* The table's Oid; ERROR where it does not exist (42P01) or lacks load_model()'s columns (42809) */
extern Oid	hopper_require_model_table(const hopper_name *table);
/*
 * Reads one model in the statement's snapshot; SPI must be connected; everything is allocated in
 * the current memory context. False where there is no such model.
 */
extern bool hopper_find_model(const hopper_name *table, int32 model_id, hopper_model *model);
/* The same, but ERROR 42704 with the table's models in the hint. */
extern void hopper_read_model(const hopper_name *table, int32 model_id, hopper_model *model);
/* Raises that error. */
extern void hopper_no_such_model(const hopper_name *table, int32 model_id)
			pg_attribute_noreturn();
/*
 * What the architecture says of itself. False where its input's shape is the data's to say, which
 * `error` then words; ERROR where the architecture is wrong.
 */
extern bool hopper_inspect_model(const char *arch, size_t size, hopper_model_info *info,
								 hopper_error *error);
/*
 * Checks an architecture (UTF-8) with its weights and adds it to the table, which is made where
 * there is none. Name and description may be NULL. False where a trigger took the row away.
 */
extern bool hopper_add_model(const hopper_name *table, const char *arch, Datum weights,
							 bool has_weights, text *name, text *description, int32 *model_id);
/* The first row with this architecture (UTF-8) and without weights. False where there is none. */
extern bool hopper_find_architecture(const hopper_name *table, const char *arch, int32 *model_id);
/* Number of float32 values in a bytea, without reading it; ERROR 22023 if ragged. */
extern int64 hopper_float_count(Datum value);
/* The float32 values of a bytea, copied to the current memory context; ERROR 22023 if ragged. */
extern float *hopper_floats(Datum value, int64 *n_floats);

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
