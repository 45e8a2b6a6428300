/*
 * kernel.h
 *		Every difference between the kernels that Greenplum carries: PostgreSQL 9.4 in Greenplum 6,
 *		12 in Greenplum 7, 14 in Apache Cloudberry 1 and 2.
 *
 * They are told apart by PG_VERSION_NUM: Cloudberry counts GP_VERSION_NUM anew. What PostgreSQL's
 * own versions differ in is in compat.h.
 */
#ifndef HOPPER_GREENPLUM_KERNEL_H
#define HOPPER_GREENPLUM_KERNEL_H

#include "pg/server/compat.h"

#include "access/heapam.h"
#include "catalog/pg_user_mapping.h"
#include "utils/plancache.h"
#include "utils/portal.h"
#include "utils/syscache.h"

#if PG_VERSION_NUM >= 120000
#include "catalog/gp_distribution_policy.h"
#else
#include "catalog/gp_policy.h"
#include "utils/tqual.h"
#endif
#if PG_VERSION_NUM >= 140000
#include "common/cryptohash.h"
#endif
#include "common/sha2.h"

/* External tables are foreign tables since 12. */
static inline bool
hopper_is_external(Oid relation)
{
#if PG_VERSION_NUM >= 120000
	return get_rel_relkind(relation) == RELKIND_FOREIGN_TABLE;
#else
	return get_rel_relstorage(relation) == RELSTORAGE_EXTERNAL;
#endif
}

/* The mapping of a user, InvalidOid for PUBLIC, on a server: oids are columns since 12. */
static inline Oid
hopper_user_mapping(Oid user, Oid server)
{
#if PG_VERSION_NUM >= 120000
	return GetSysCacheOid2(USERMAPPINGUSERSERVER, Anum_pg_user_mapping_oid,
						   ObjectIdGetDatum(user), ObjectIdGetDatum(server));
#else
	return GetSysCacheOid2(USERMAPPINGUSERSERVER, ObjectIdGetDatum(user),
						   ObjectIdGetDatum(server));
#endif
}

/* A table, locked, or NULL where it is gone; a scan of its rows: for any kind of table since 12. */
#if PG_VERSION_NUM >= 120000
#define hopper_try_table_open(relation, mode) try_table_open(relation, mode, false)
typedef TableScanDesc hopper_table_scan;
#define hopper_begin_scan(relation, snapshot) table_beginscan(relation, snapshot, 0, NULL)
#define hopper_end_scan(scan) table_endscan(scan)
#else
#define hopper_try_table_open(relation, mode) try_heap_open(relation, mode, false)
typedef HeapScanDesc hopper_table_scan;
#define hopper_begin_scan(relation, snapshot) heap_beginscan(relation, snapshot, 0, NULL)
#define hopper_end_scan(scan) heap_endscan(scan)
#endif

/* A portal's memory, its SELECT, and a plan that was taken for it without an owner. */
#if PG_VERSION_NUM >= 110000
#define hopper_portal_context(portal) ((portal)->portalContext)
#else
#define hopper_portal_context(portal) PortalGetHeapMemory(portal)
#endif
#if PG_VERSION_NUM >= 140000
#define hopper_define_select(portal, query, statements) \
	PortalDefineQuery(portal, NULL, query, T_SelectStmt, CMDTAG_SELECT, statements, NULL)
#define hopper_release_plan(plan) ReleaseCachedPlan(plan, NULL)
#else
#define hopper_define_select(portal, query, statements) \
	PortalDefineQuery(portal, NULL, query, T_SelectStmt, "SELECT", statements, NULL)
#define hopper_release_plan(plan) ReleaseCachedPlan(plan, false)
#endif

/* SHA-256 of two pieces, one after the other: by one function for all digests since 14. */
static inline void
hopper_sha256(const void *first, size_t n_first, const void *second, size_t n_second,
			  uint8 digest[PG_SHA256_DIGEST_LENGTH])
{
#if PG_VERSION_NUM >= 140000
	pg_cryptohash_ctx *context = pg_cryptohash_create(PG_SHA256);

	if (context == NULL || pg_cryptohash_init(context) < 0 ||
		pg_cryptohash_update(context, first, n_first) < 0 ||
		pg_cryptohash_update(context, second, n_second) < 0 ||
		pg_cryptohash_final(context, digest, PG_SHA256_DIGEST_LENGTH) < 0)
		elog(ERROR, "SHA-256 could not be computed");
	pg_cryptohash_free(context);
#else
	pg_sha256_ctx context;

	pg_sha256_init(&context);
	pg_sha256_update(&context, first, n_first);
	pg_sha256_update(&context, second, n_second);
	pg_sha256_final(&context, digest);
#endif
}

#endif							/* HOPPER_GREENPLUM_KERNEL_H */
