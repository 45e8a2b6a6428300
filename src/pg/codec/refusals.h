/*
 * refusals.h
 *		What is said of values that cannot be packed or predicted from.
 */
#ifndef HOPPER_REFUSALS_H
#define HOPPER_REFUSALS_H

#include "pg/codec/rows.h"

#define PACK_HINT_NULL_LABELS "Pass null_labels => 'skip' to leave such rows out."
#define MOST_COLUMNS 20			/* that a message lists */

/*
 * A value that no model can compute with: ERROR with the row's name and the place in it. Where the
 * source's rows may lack values nothing is raised; these return false then.
 */
extern bool hopper_pack_refuse_null(const hopper_pack_source *source,
									const hopper_pack_column *column);
extern bool hopper_pack_refuse_null_element(const hopper_pack_source *source,
											const hopper_pack_column *column, int64 index,
											int64 count);
/* `what`: "NaN" and the like */
extern bool hopper_pack_refuse_number(const hopper_pack_source *source,
									  const hopper_pack_column *column, const char *what,
									  int64 index, int64 count);
/* ERROR 22021: texts that are no UTF-8. `detail`: which one, or NULL. */
extern void hopper_pack_refuse_text(const hopper_pack_source *source,
									const hopper_pack_column *column,
									const char *detail) pg_attribute_noreturn();
/* ERROR 22023: another shape, or another number of bytes, than the other rows' or the given one. */
extern void hopper_pack_refuse_shape(const hopper_pack_values *values,
									 const hopper_pack_source *source, int rank,
									 const int64 *shape);
/* ERROR 22023 for sequences, which may be shorter, and for longer ones that are not to be cut. */
extern void hopper_pack_refuse_steps(const hopper_pack_values *values,
									 const hopper_pack_source *source, int rank,
									 const int64 *shape) pg_attribute_noreturn();
extern void hopper_pack_refuse_longer(const hopper_pack_values *values,
									  const hopper_pack_source *source,
									  int64 steps) pg_attribute_noreturn();
/* A sentence for whoever packs features that differ in their first dimension alone, or "". */
extern const char *hopper_pack_padding_hint(const hopper_pack_values *values,
											const hopper_pack_source *source, int rank,
											const int64 *shape);
extern void hopper_pack_refuse_length(const hopper_pack_values *values,
									  const hopper_pack_source *source, size_t length);
/* WARNING at the first integer that float32 does not hold. */
extern void hopper_pack_tell_rounding(const hopper_pack_source *source,
									  const hopper_pack_column *column, double number);
/* What can be done about a row. */
extern const char *hopper_pack_rows_hint(const hopper_pack_source *source);

#endif							/* HOPPER_REFUSALS_H */
