/*
 * row_types.h
 *		Rows are never taken for other rows than those that were looked up.
 *
 * The columns of a relation are looked up first, and the statement that fetches its rows is parsed
 * later. What its names stand for can be another relation or another type by then: functions of the
 * relation run in between, and other sessions. A number by value that is taken for an array would
 * be an address that the user chooses.
 */
#ifndef HOPPER_ROW_TYPES_H
#define HOPPER_ROW_TYPES_H

#include "pg/server/glue.h"

/*
 * ERROR 55000 unless rows of this descriptor have n columns of exactly these types, no domain for
 * its base type. InvalidOid stands for a column that is only shown as text. Everybody who takes
 * binary values from rows, or makes rows of them, for a descriptor of the server's calls it first.
 */
extern void hopper_require_row_types(TupleDesc descriptor, int n, const Oid *types,
									 const char *shown);
/* ERROR 55000 unless the first n of at least as many columns have these types. */
extern void hopper_require_first_types(TupleDesc descriptor, int n, const Oid *types,
									   const char *shown);

/* ERROR 55000: what has this name is not what was looked up; `detail` is a sentence. */
extern void hopper_refuse_changed(const char *shown,
								  const char *detail) pg_attribute_noreturn();

#endif							/* HOPPER_ROW_TYPES_H */
