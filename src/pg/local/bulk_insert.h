/*
 * bulk_insert.h
 *		Many rows into a table that this transaction has just made.
 */
#ifndef HOPPER_BULK_INSERT_H
#define HOPPER_BULK_INSERT_H

#include "pg/server/glue.h"

/*
 * Rows of n columns of these types, some hundred at a time, as COPY writes them. ERROR 55000 where
 * the table has other columns or is not the new one: without indexes, triggers and constraints.
 */
typedef struct hopper_bulk_insert hopper_bulk_insert;

extern hopper_bulk_insert *hopper_bulk_insert_open(Oid relation, int n, const Oid *types);
/* Values by reference are copied. */
extern void hopper_bulk_insert_row(hopper_bulk_insert *insert, const Datum *values,
								   const bool *nulls);
extern void hopper_bulk_insert_close(hopper_bulk_insert *insert);

#endif							/* HOPPER_BULK_INSERT_H */
