/*
 * sort.h
 *		The server's external sort over byte strings.
 *
 * They go through it as rows of one column: values alone are not counted since PostgreSQL 17, and
 * so are never written to disk. An error or the end of the transaction frees everything.
 */
#ifndef HOPPER_SORT_H
#define HOPPER_SORT_H

#include "pg/server/pg_include.h"

typedef struct hopper_sort hopper_sort;

/* `memory`: kB that it may take before it writes to temporary files. */
extern hopper_sort *hopper_sort_begin(int memory);
/* A copy of the value is kept. */
extern void hopper_sort_put(hopper_sort *sort, Datum bytes);
extern void hopper_sort_perform(hopper_sort *sort);
/* The next value, which may have a short header, until the next call; false at the end. */
extern bool hopper_sort_get(hopper_sort *sort, Datum *bytes);
extern void hopper_sort_end(hopper_sort *sort);

#endif							/* HOPPER_SORT_H */
