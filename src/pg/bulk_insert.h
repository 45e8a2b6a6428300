/*
 * bulk_insert.h
 *		Many rows into a table that this transaction has just made.
 */
#ifndef HOPPER_BULK_INSERT_H
#define HOPPER_BULK_INSERT_H

#include "pg/glue.h"

/*
 * The table must be new and empty, without indexes, triggers and constraints. Rows are written
 * some hundred at a time, as COPY does.
 */
typedef struct hopper_bulk_insert hopper_bulk_insert;

extern hopper_bulk_insert *hopper_bulk_insert_open(Oid relation);
extern TupleDesc hopper_bulk_insert_descriptor(const hopper_bulk_insert *insert);
/* Values by reference are copied. */
extern void hopper_bulk_insert_row(hopper_bulk_insert *insert, const Datum *values,
								   const bool *nulls);
extern void hopper_bulk_insert_close(hopper_bulk_insert *insert);

#endif							/* HOPPER_BULK_INSERT_H */
