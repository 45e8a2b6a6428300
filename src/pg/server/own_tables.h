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
 * What stands between these two runs as the owner of a table of the extension, as maintenance of
 * the table would (SECURITY_RESTRICTED_OPERATION), and finds its names in pg_catalog. ERROR 42P01
 * where the table is not there. An error in between needs no end: the transaction's abort restores
 * everything.
 */
typedef struct hopper_own_scope
{
	Oid			user;
	int			context;
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

#endif							/* HOPPER_OWN_TABLES_H */
