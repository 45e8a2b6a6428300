/*
 * bulk_insert.h
 *		Many rows into a table that this transaction has just made.
 */
#ifndef HOPPER_BULK_INSERT_H
#define HOPPER_BULK_INSERT_H

#include "pg/server/glue.h"

/*
 * Rows for the first n columns, of these types. Where the table has nothing but those columns, some
 * hundred at a time, as COPY writes them; else through the executor, which fills other columns and
 * heeds triggers and policies. ERROR 55000 where it is not the new table, its first columns are
 * others, or it does not take a row.
 */
typedef struct hopper_bulk_insert hopper_bulk_insert;

extern hopper_bulk_insert *hopper_bulk_insert_open(const hopper_name *table, int n,
												   const Oid *types);
/* Values by reference are copied. */
extern void hopper_bulk_insert_row(hopper_bulk_insert *insert, const Datum *values,
								   const bool *nulls);
extern void hopper_bulk_insert_close(hopper_bulk_insert *insert);

#endif							/* HOPPER_BULK_INSERT_H */
