/*
 * rights.h
 *		The owner of a table, and who may do what with which of its rows: what a table that takes
 *		another's place has to take over, lest it shows more than the other did.
 */
#ifndef HOPPER_RIGHTS_H
#define HOPPER_RIGHTS_H

#include "pg/server/glue.h"

/* A table's owner, the rights of others, and its policies of row-level security. */
typedef struct hopper_rights hopper_rights;

/* The rights on a table that is there, in the caller's memory. */
extern hopper_rights *hopper_rights_of(const hopper_name *table);
/*
 * To a table, beside its own rights. Rights on columns that it lacks are left out; ERROR where a
 * policy cannot be made on it, or its owner may not be.
 */
extern void hopper_give_rights(const hopper_rights *rights, const hopper_name *table);
/* Takes all rights of others, which a new table has from default privileges. */
extern void hopper_close_table(const hopper_name *table);

#endif							/* HOPPER_RIGHTS_H */
