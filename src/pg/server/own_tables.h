/*
 * own_tables.h
 *		Tables of the extension, which its functions write and read with their owner's rights: no
 *		other role has any on them.
 */
#ifndef HOPPER_OWN_TABLES_H
#define HOPPER_OWN_TABLES_H

#include "pg/server/glue.h"

#include "storage/lock.h"

/*
 * Locks such tables, by their names in the extension's schema, until the transaction ends: nobody
 * alters, drops or rewrites them meanwhile, or with a mode for writing gives them triggers. A
 * NOTICE where somebody has locked one now; `what` says what they are. ERROR 55000 where one has a
 * trigger or a rule, which would run with the rights of its owner. A table that is not there is
 * left out.
 */
extern void hopper_own_hold(const char *const *tables, int n, LOCKMODE mode, const char *what);

/*
 * What stands between these two runs as the owner of a table of the extension, restricted
 * (hopper_restrict()), and finds its names in pg_catalog. ERROR 42P01 where the table is not there.
 */
typedef struct hopper_own_scope
{
	hopper_restricted before;
	int			level;
} hopper_own_scope;
extern hopper_own_scope hopper_own_begin(const char *table);
extern void hopper_own_end(const hopper_own_scope *scope);

/*
 * Statements on tables of the record of runs, as the owner of the first that they name: as
 * "@extschema@.all_runs". What they are formatted with are words of ours and numbers; texts of
 * others are arguments. SPI must be connected.
 *
 * A change with arguments $1 and so on, as hopper_own_hold(): sessions that write what a slice or a
 * training has come to have their turns one after the other.
 */
extern void hopper_own_change(int n, const hopper_param *params, const char *format,...)
			pg_attribute_printf(3, 4);
/* Rows in SPI_tuptable, as others have committed them and this transaction has written them. */
extern uint64 hopper_own_select(const char *format,...) pg_attribute_printf(1, 2);

/* Rows of a run that one statement writes, column by column: one a row would take segments long. */
#define HOPPER_OWN_COLUMNS 18
typedef struct hopper_own_rows
{
	int			n;
	int			allocated;
	int			width;
	const char *const *names;
	Oid			types[HOPPER_OWN_COLUMNS];
	Datum	   *values[HOPPER_OWN_COLUMNS];
	bool	   *nulls[HOPPER_OWN_COLUMNS];
} hopper_own_rows;
/* None, of columns with these names; `allocated`: how many there may be, about. */
extern hopper_own_rows hopper_own_rows_new(int width, const char *const *names, int allocated);
extern void hopper_own_rows_add(hopper_own_rows *rows, int n, const hopper_param *params);
/* What a SELECT of the rows has; its `width` + 1 arguments go to `params`; $1 is the run. */
extern char *hopper_own_rows_query(const hopper_own_rows *rows, int64 run, hopper_param *params);
/* "n.trial, n.value": the columns' names, each behind `before`. */
extern char *hopper_own_rows_names(const hopper_own_rows *rows, const char *before);
/* Inserts them into a table whose first column is the run. */
extern void hopper_own_rows_insert(int64 run, const char *table, const hopper_own_rows *rows);

#endif							/* HOPPER_OWN_TABLES_H */
