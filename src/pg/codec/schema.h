/*
 * schema.h
 *		Columns of any type as features, by the core's schema (include/model_hopper/schema.h).
 */
#ifndef HOPPER_CODEC_SCHEMA_H
#define HOPPER_CODEC_SCHEMA_H

#include "pg/codec/rows.h"

typedef struct hopper_row_schema
{
	const char *text;			/* JSON, in the server's encoding */
	hopper_data_schema *handle;
	hopper_schema_info info;	/* its texts are UTF-8 */
} hopper_row_schema;

/* Reads it; ERROR XX001 where it is damaged. It is freed with the statement. */
extern hopper_row_schema *hopper_schema_open(const char *text);
/* hopper_schema_open(), but the caller frees the handle. */
extern hopper_row_schema *hopper_schema_open_unguarded(const char *text);
/* What values of a type are for a schema: "number" and so on; NULL: it has no treatment of them. */
extern const char *hopper_schema_family(Oid type);
/* "columns": [{"name", "type", "family"}, ...], as requests for a schema have them. */
extern void hopper_schema_append_columns(StringInfo text, int n, const hopper_pack_column *columns);
/*
 * Features by a schema: the columns must be the schema's, in its order. ERROR 42804 where one has
 * another type than in training; `whose` name messages show for that of training.
 */
extern void hopper_pack_values_init_schema(hopper_pack_values *values,
										   const hopper_row_schema *schema, int n_columns,
										   const hopper_pack_column *columns,
										   const char *relation, const char *whose);
/* As hopper_pack_values_encode(), of PACK_COLUMNS. */
extern bool hopper_schema_encode(const hopper_pack_values *values,
								 const hopper_pack_source *source, const Datum *datums,
								 const bool *nulls, char *out);
/* hopper_data_desc.label_scale by a schema, which may be NULL. */
extern hopper_label_scale hopper_schema_label_scale(const char *text);
/* A sentence where they differ, else NULL; either text may be NULL for none. */
extern char *hopper_different_schemas(const char *a, const char *a_name, const char *b,
									  const char *b_name);
/* One number as double; exact for all but large bigints. */
extern double hopper_number_as_double(Oid type, Datum value);

#endif							/* HOPPER_CODEC_SCHEMA_H */
