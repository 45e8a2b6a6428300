/*
 * pg_include.h
 *		What most files of the glue need of the server and of the core; each includes this first.
 */
#ifndef HOPPER_PG_INCLUDE_H
#define HOPPER_PG_INCLUDE_H

#include "pg/server/server_headers.h"

#include "model_hopper/core_api.h"
#include "pg/server/compat.h"
#include "pg/server/version.h"

#endif							/* HOPPER_PG_INCLUDE_H */
