/*
 * pg_include.h
 *		The only place that includes postgres.h; every file of the glue includes this first.
 */
#ifndef HOPPER_PG_INCLUDE_H
#define HOPPER_PG_INCLUDE_H

#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "model_hopper/core_api.h"
#include "pg/server/compat.h"
#include "pg/server/version.h"

#endif							/* HOPPER_PG_INCLUDE_H */
