/*
 * key_set.h
 *		Whether the rank keys of all rows differ, as far as memory allows to know.
 */
#ifndef HOPPER_KEY_SET_H
#define HOPPER_KEY_SET_H

#include "pg/server/pg_include.h"

typedef struct hopper_key_set hopper_key_set;

/* `memory`: kB that it may take; of more keys it cannot tell. */
extern hopper_key_set *hopper_key_set_begin(int memory);
/* A key of PACK_KEY_SIZE bytes. */
extern void hopper_key_set_add(hopper_key_set *set, const char *key);
/* Whether no two keys are equal; false also where it cannot tell. */
extern bool hopper_key_set_end(hopper_key_set *set);

#endif							/* HOPPER_KEY_SET_H */
