/*
 * tables.h
 *		The tables that a run keeps its models in until it is done, hopper_run_NUMBER and those that
 *		go with it: they belong to its role, which may rename or drop them at any time.
 */
#ifndef HOPPER_RUN_TABLES_H
#define HOPPER_RUN_TABLES_H

#include "pg/train/store.h"

/*
 * A number that no run has, no table and no process: an extension that was dropped leaves tables
 * and drivers of its runs behind, and a dump without schema hopper brings tables. SPI must be
 * connected.
 */
extern int64 hopper_run_new_number(void);
/*
 * ERROR 42P01 where one is not there by its name, with what to do; `searched`: also those that a
 * search has beside its models.
 */
extern void hopper_run_require_tables(const hopper_run_row *row, bool searched);
/*
 * Drops those that there are, also where their schema has another name by now; a NOTICE for each
 * that is not found, or is another role's.
 */
extern void hopper_run_drop_tables(const hopper_run_row *row);
/*
 * The tables of a run, and, unless NULL, its model selection table (the run has one), for a caller
 * who may have no more than the run's number: ERROR 42501 where one of them would run functions of
 * another role (hopper_require_plain()).
 */
extern void hopper_run_open_tables(const hopper_run_row *row, bool written,
								   hopper_outputs *outputs, hopper_name *selection);

#endif							/* HOPPER_RUN_TABLES_H */
