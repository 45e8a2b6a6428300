/*
 * selection.h
 *		Writing selection tables, for load_model_selection_table() and generate_model_configs().
 */
#ifndef HOPPER_SELECTION_H
#define HOPPER_SELECTION_H

#include "pg/server/glue.h"
#include "pg/server/tables.h"

/* Where configurations go: a table that is there, or one that is made once they are checked. */
typedef struct hopper_destination
{
	hopper_name models;
	hopper_name selection;
	hopper_table tables[2];		/* it and its summary */
	bool		exists;
	bool		replaces;
	int64		first_key;
} hopper_destination;

/*
 * Adds the configurations that the core has listed, and frees the list; returns their number. All
 * that can be wrong with them is known before the first table is made. SPI must be connected.
 */
extern int32 hopper_write_configs(const hopper_destination *to, hopper_rows *rows);
/* The table that goes with a selection table; it says where the architectures are. */
extern void hopper_create_configs_summary(const hopper_name *summary, const hopper_name *models,
										  const char *comment);

#endif							/* HOPPER_SELECTION_H */
