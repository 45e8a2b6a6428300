/*
 * floats.h
 *		The float32 values of a bytea, as models' weights are stored: gigabytes, perhaps.
 *
 * What lies out of line and uncompressed, as the tables of our functions have it, is not read
 * before it is used, and then in pieces: beside the place that it is meant for, a reader holds a
 * piece. What is compressed, or was computed, is there as a whole, and counted against
 * hopper.max_memory before it is read.
 */
#ifndef HOPPER_FLOATS_H
#define HOPPER_FLOATS_H

#include "pg/server/ceilings.h"

typedef struct hopper_floats
{
	int64		n;
	const float *values;		/* all of them, or NULL: */
	struct varlena *stored;		/* where they lie */
	hopper_share *share;		/* of what `values` take; NULL: not counted */
} hopper_floats;

/* Neither: there are none, not even an empty bytea. */
#define HOPPER_HAS_FLOATS(floats) ((floats)->values != NULL || (floats)->stored != NULL)

/*
 * The floats of `value`; in the current memory context. `stays`: its memory outlives them, so that
 * what lies there need not be copied. ERROR 22023 where they are no whole number, 53200 where
 * hopper.max_memory has no room for them.
 */
extern void hopper_floats_of(Datum value, bool stays, hopper_floats *floats);
/*
 * What detoasting a value takes, in bytes: a compressed one lies beside what it becomes. Nothing
 * where it is in memory as it is.
 */
extern int64 hopper_detoasted_size(Datum value);
/* Gives back the memory that they take; at the latest the end of the statement does. */
extern void hopper_floats_release(hopper_floats *floats);
/* All of them in memory, counted; as long as they are not released. */
extern const float *hopper_floats_whole(hopper_floats *floats);
extern void hopper_floats_copy(const hopper_floats *floats, int64 first, int64 n, void *to);
/*
 * Copies a model's weights; ERROR 22023 where one of them is not finite, unless they are in
 * memory, where the core has looked at them before.
 */
extern void hopper_floats_copy_checked(const hopper_floats *floats, const char *arch,
									   size_t arch_size, int64 first, int64 n, void *to);

/* Takes the next n floats, of which the first is number `first`; as functions of the core. */
typedef int (*hopper_floats_taker) (void *state, int64 first, const float *values, int64 n,
									hopper_error *error);
/* All of them, once, in order. */
extern void hopper_floats_pass(const hopper_floats *floats, hopper_floats_taker take, void *state);
/*
 * ERROR 22023 where they do not fill the model or are not finite (hopper_core()->check_weights()).
 */
extern void hopper_floats_check(const hopper_floats *floats, const char *arch, size_t arch_size);

#endif							/* HOPPER_FLOATS_H */
