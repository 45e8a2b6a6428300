/*
 * untrained.h
 *		Parts of models that came while the data were not here: they go out again as they came.
 *
 * They wait for segment_emit(), which the same statement calls; where another one does, as any role
 * may, they must not be there any more, or be those of the same role.
 */
#ifndef HOPPER_UNTRAINED_H
#define HOPPER_UNTRAINED_H

#include "pg/server/glue.h"

typedef struct hopper_untrained_part
{
	int32		mst_key;
	int32		part;
	int32		n_parts;
	bytea	   *body;
} hopper_untrained_part;

/* Keeps a part, as segment_collect() was given it. */
extern void hopper_untrained_keep(FunctionCallInfo fcinfo);
extern bool hopper_untrained_any(void);
/* The first of the caller's own; NULL: there is none. */
extern const hopper_untrained_part *hopper_untrained_first(void);
extern void hopper_untrained_drop_first(void);
/* Drops what is kept. */
extern void hopper_untrained_forget(void);

#endif							/* HOPPER_UNTRAINED_H */
