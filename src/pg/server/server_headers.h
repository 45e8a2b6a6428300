/*
 * server_headers.h
 *		The only place that includes postgres.h, and what most files of the glue need of the
 *		server. A build may compile this once for all files (HOPPER_PRECOMPILE), so that nothing
 *		of ours is in it: ccache takes a precompiled header that is there for all that it is made
 *		of, and would give back an older one.
 */
#ifndef HOPPER_SERVER_HEADERS_H
#define HOPPER_SERVER_HEADERS_H

#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#endif							/* HOPPER_SERVER_HEADERS_H */
