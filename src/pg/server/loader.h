/*
 * loader.h
 *		How the libraries of the core are opened (server/core_loader.c).
 */
#ifndef HOPPER_LOADER_H
#define HOPPER_LOADER_H

#include "pg/server/glue.h"

/*
 * The symbol of a library that lies beside the glue; ERROR with a hint where there is none, which
 * names what wants the library; or NULL, where `lenient` and it is not installed.
 */
extern void *hopper_open_library(const char *library, const char *symbol, const char *wanted_by,
								 bool lenient);
/* ERROR 55000 where the library's functions are not of the glue's version. */
extern void hopper_require_library(const char *library, bool same_version);
/* What the libraries ask in long calls. */
extern int	hopper_statement_ends(void);

#endif							/* HOPPER_LOADER_H */
