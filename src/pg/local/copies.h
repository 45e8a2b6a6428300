/*
 * copies.h
 *		Numbers equal rows as they come, as far as memory allows to remember what has come.
 */
#ifndef HOPPER_COPIES_H
#define HOPPER_COPIES_H

#include "pg/server/pg_include.h"

typedef struct hopper_copies hopper_copies;

/* `memory`: kB that it may take. */
extern hopper_copies *hopper_copies_begin(int memory);
/* How many different rows are remembered within so much memory. */
extern int64 hopper_copies_most(int memory);
/*
 * How many rows of this rank key, PACK_KEY_SIZE bytes, and stratum have come before. 0 also of a
 * row that there is no room to remember: equal ones are then not told apart.
 */
extern int64 hopper_copies_number(hopper_copies *copies, const char *key, int32 stratum);
/* Whether all rows have been remembered. */
extern bool hopper_copies_end(hopper_copies *copies);

#endif							/* HOPPER_COPIES_H */
