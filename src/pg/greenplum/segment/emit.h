/*
 * emit.h
 *		What goes out of a segment: the parts of models that were trained, and those that came while
 *		the data were not here.
 */
#ifndef HOPPER_EMIT_H
#define HOPPER_EMIT_H

#include "pg/server/glue.h"

/* Keeps a part, as segment_collect() was given it, that goes out again as it came. */
extern void hopper_emit_untrained(FunctionCallInfo fcinfo);
extern bool hopper_emit_has_untrained(void);
/* Drops what is kept. */
extern void hopper_emit_forget(void);

#endif							/* HOPPER_EMIT_H */
