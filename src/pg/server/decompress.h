/*
 * decompress.h
 *		Values that the server compressed, as it does with arrays above 2 kB by default.
 */
#ifndef HOPPER_DECOMPRESS_H
#define HOPPER_DECOMPRESS_H

#include "pg/server/glue.h"

/*
 * The value decompressed, in the current memory context, where it lies compressed by pglz in its
 * row; NULL where it lies in another way, which is for the server's functions to read. They take
 * longer, and most of the time of predicting from such rows is theirs.
 */
extern struct varlena *hopper_decompress(Datum value);

#endif							/* HOPPER_DECOMPRESS_H */
