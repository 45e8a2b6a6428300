/*
 * compat.h
 *		Every difference between server versions, with the newest server's signature.
 *
 * PostgreSQL itself is of version 15 at least. Older kernels are those that Greenplum carries: 9.4,
 * 12 and 14. What differs in Greenplum itself from one kernel to another is in greenplum/kernel.h.
 */
#ifndef HOPPER_COMPAT_H
#define HOPPER_COMPAT_H

#if !defined(GP_VERSION_NUM) && PG_VERSION_NUM < 150000
#error "model_hopper needs PostgreSQL 15 or newer; this server is older (pg_config --version)"
#elif PG_VERSION_NUM >= 200000 && !defined(HOPPER_NEWER_SERVER)
#error "this PostgreSQL is newer than 19, the newest known; define HOPPER_NEWER_SERVER to try it"
#endif

#include <limits.h>

#include "utils/timeout.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif
#if PG_VERSION_NUM >= 120000
#include "access/relation.h"
#include "catalog/pg_inherits.h"
#include "utils/fmgrprotos.h"
#include "utils/varlena.h"
#else
#include "access/heapam.h"
#include "catalog/pg_inherits_fn.h"
#endif
#if PG_VERSION_NUM >= 140000
#include "access/detoast.h"
#include "access/toast_compression.h"
#include "tcop/tcopprot.h"
#include "utils/wait_event.h"
#else
#include "access/tuptoaster.h"
#include "pgstat.h"
#include "storage/proc.h"
#endif
/* Whether rows lie on the segments of a cluster; both answers compile everywhere. */
#ifdef GP_VERSION_NUM
#define HOPPER_DATA_ON_SEGMENTS true
#else
#define HOPPER_DATA_ON_SEGMENTS false
#endif

#ifndef pg_attribute_noreturn
#define pg_attribute_noreturn() __attribute__((noreturn))
#endif
#ifndef pg_attribute_printf
#define pg_attribute_printf(f, a) __attribute__((format(gnu_printf, f, a)))
#endif

/* The parts of a message stand without parentheses around them: 13. */
#if PG_VERSION_NUM < 130000
#undef ereport
#define ereport(elevel, ...) ereport_domain(elevel, TEXTDOMAIN, (__VA_ARGS__))
#endif

/* Hints tell to write name => value, which is there since 9.5; before, it is name := value. */
#if PG_VERSION_NUM < 90500
static inline char *
hopper_old_arguments(char *text)
{
	for (char *at = text; (at = strstr(at, " => ")) != NULL;)
		memcpy(at, " := ", strlen(" := "));
	return text;
}
#define errhint(...) errhint("%s", hopper_old_arguments(psprintf(__VA_ARGS__)))
#define errdetail(...) errdetail("%s", hopper_old_arguments(psprintf(__VA_ARGS__)))
#define errdetail_internal(...) \
	errdetail_internal("%s", hopper_old_arguments(psprintf(__VA_ARGS__)))
#endif

/* Module magic with name and version: 18. */
#if PG_VERSION_NUM >= 180000
#define HOPPER_MODULE_MAGIC PG_MODULE_MAGIC_EXT(.name = "model_hopper", .version = HOPPER_VERSION)
#else
#define HOPPER_MODULE_MAGIC PG_MODULE_MAGIC
#endif

#if PG_VERSION_NUM < 150000
#define MarkGUCPrefixReserved(prefix) EmitWarningsOnPlaceholders(prefix)
#endif

/* A hook on utility statements: what it takes and hands on changed with each kernel. */
#if PG_VERSION_NUM >= 140000
#define HOPPER_UTILITY_PARAMETERS PlannedStmt *statement, const char *text, bool read_only_tree, \
	ProcessUtilityContext context, ParamListInfo params, QueryEnvironment *environment, \
	DestReceiver *dest, QueryCompletion *completion
#define HOPPER_UTILITY_ARGUMENTS \
	statement, text, read_only_tree, context, params, environment, dest, completion
#elif PG_VERSION_NUM >= 100000
#define HOPPER_UTILITY_PARAMETERS PlannedStmt *statement, const char *text, \
	ProcessUtilityContext context, ParamListInfo params, QueryEnvironment *environment, \
	DestReceiver *dest, char *completion
#define HOPPER_UTILITY_ARGUMENTS statement, text, context, params, environment, dest, completion
#else
#define HOPPER_UTILITY_PARAMETERS Node *statement, const char *text, \
	ProcessUtilityContext context, ParamListInfo params, DestReceiver *dest, char *completion
#define HOPPER_UTILITY_ARGUMENTS statement, text, context, params, dest, completion
#endif
#if PG_VERSION_NUM >= 100000
#define hopper_utility_node(statement) ((statement)->utilityStmt)
#else
#define hopper_utility_node(statement) (statement)
#endif

/*
 * Space in shared memory for a library that is preloaded: asked for in a hook of its own since 15.
 * Defines hopper_request_shmem(), for _PG_init(), which has `request` called.
 */
#if PG_VERSION_NUM >= 150000
#define HOPPER_SHMEM_REQUEST_HOOK(request) \
	static shmem_request_hook_type previous_request_hook = NULL; \
	static void \
	request_hook(void) \
	{ \
		if (previous_request_hook) \
			previous_request_hook(); \
		request(); \
	} \
	static void \
	hopper_request_shmem(void) \
	{ \
		previous_request_hook = shmem_request_hook; \
		shmem_request_hook = request_hook; \
	}
#else
#define HOPPER_SHMEM_REQUEST_HOOK(request) \
	static void \
	hopper_request_shmem(void) \
	{ \
		request(); \
	}
#endif

#ifndef ALLOCSET_DEFAULT_SIZES
#define ALLOCSET_DEFAULT_SIZES \
	ALLOCSET_DEFAULT_MINSIZE, ALLOCSET_DEFAULT_INITSIZE, ALLOCSET_DEFAULT_MAXSIZE
#endif

/* A column of a row type: since 11 and in late releases of older ones; a function since 18. */
#if PG_VERSION_NUM < 110000 && !defined(TupleDescAttr)
#define TupleDescAttr(tupdesc, i) ((tupdesc)->attrs[(i)])
#endif

/* A row type is ready for use only after this: 19. */
#if PG_VERSION_NUM < 190000
#define TupleDescFinalize(tupdesc) ((void) (tupdesc))
#endif

/*
 * What 9.4, the kernel of Greenplum 6, has not, or has in another form; a number says since when
 * the others have it.
 */
#if PG_VERSION_NUM >= 120000
/* The kind of object in "permission denied for table x": 11. */
#define HOPPER_OBJECT_TABLE OBJECT_TABLE
#define HOPPER_OBJECT_SCHEMA OBJECT_SCHEMA
/* Roles that are gone have no name, instead of an error: 9.5. */
#define hopper_find_role_name(role) GetUserNameFromId(role, true)
/* Keys that the server hands out, also to roles that may insert and no more: identity since 10. */
#define HOPPER_IDENTITY "pg_catalog.int4 GENERATED BY DEFAULT AS IDENTITY"
/* Columns that are computed of others, as a condition on pg_attribute: 12. */
#define HOPPER_IS_GENERATED "attgenerated <> ''"
/* Columns that take no values, as a condition on pg_attribute: 12. */
#define HOPPER_TAKES_NO_VALUES "(attidentity = 'a' OR attgenerated <> '')"
/* SPI within SPI of the same function has to be announced: before 10. */
#define hopper_spi_push() false
#define hopper_spi_pop(pushed) ((void) (pushed))
/* Partitioned tables that are one relation: 10. */
#define hopper_is_partitioned(relkind) ((relkind) == RELKIND_PARTITIONED_TABLE)
/* Memory of any size, zeroed: one function since 9.5. */
#define hopper_palloc0_huge(size) palloc_extended(size, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO)
/* A type's name with its schema: 11. Below, a type modifier is only for types that are visible. */
#define hopper_format_type_qualified(type) format_type_extended(type, -1, FORMAT_TYPE_FORCE_QUALIFY)
#define hopper_format_typmod(type, typmod) \
	format_type_extended(type, typmod, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY)
/* What the grammar makes of a statement: wrapped since 10. */
#define hopper_raw_statement(parsed) (((RawStmt *) (parsed))->stmt)
/* Another value of a user's setting until the level of settings ends. */
#define hopper_set_for_now(name, value) \
	((void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, \
							  false))
/* The value of a setting, as text; whether it may be missing is asked since 9.6. */
#define hopper_setting(name) GetConfigOptionByName(name, NULL, false)
/* Parallel queries: 9.6. */
#define hopper_in_parallel_mode() IsInParallelMode()
/* Compiling queries: 11. */
#define hopper_disable_jit() hopper_set_for_now("jit", "off")
/*
 * A bigint of a text %s, SQL. Not by md5() where there is another one: a server whose library of
 * cryptography keeps to FIPS has none.
 */
#define HOPPER_SQL_HASH \
	"pg_catalog.hashtextextended((%s) COLLATE pg_catalog.\"C\", '0'::pg_catalog.int8)"
#else
#define HOPPER_OBJECT_TABLE ACL_KIND_CLASS
#define HOPPER_OBJECT_SCHEMA ACL_KIND_NAMESPACE
#define hopper_find_role_name(role) GetUserNameFromId(role)
#define HOPPER_IDENTITY "serial"
#define HOPPER_IS_GENERATED "false"
#define HOPPER_TAKES_NO_VALUES "false"
#define hopper_spi_push() SPI_push_conditional()
#define hopper_spi_pop(pushed) SPI_pop_conditional(pushed)
#define hopper_is_partitioned(relkind) false
#define hopper_palloc0_huge(size) \
	memset(MemoryContextAllocHuge(CurrentMemoryContext, size), 0, size)
#define hopper_format_typmod(type, typmod) format_type_with_typemod(type, typmod)
#define hopper_format_type_qualified(type) format_type_be_qualified(type)
#define hopper_raw_statement(parsed) ((Node *) (parsed))
#define hopper_set_for_now(name, value) \
	((void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0))
#define hopper_setting(name) GetConfigOptionByName(name, NULL)
#define hopper_in_parallel_mode() false
#define hopper_disable_jit() ((void) 0)
#define HOPPER_SQL_HASH \
	"('x' OPERATOR(pg_catalog.||) pg_catalog.substr(pg_catalog.md5(%s), 1, 16))" \
	"::pg_catalog.bit(64)::pg_catalog.int8"
#endif

/* Rights through one function for all kinds of objects: 16. */
#if PG_VERSION_NUM >= 160000
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#define hopper_is_owner(relation) object_ownercheck(RelationRelationId, relation, GetUserId())
#define hopper_schema_aclcheck(schema, role, mode) \
	object_aclcheck(NamespaceRelationId, schema, role, mode)
#else
#define hopper_is_owner(relation) pg_class_ownercheck(relation, GetUserId())
#define hopper_schema_aclcheck(schema, role, mode) pg_namespace_aclcheck(schema, role, mode)
#endif

/* Row-level security that the caller is subject to: 9.5. */
#if PG_VERSION_NUM >= 90500
#include "utils/rls.h"
#define hopper_hides_rows(relation) (check_enable_rls(relation, InvalidOid, true) == RLS_ENABLED)
#else
#define hopper_hides_rows(relation) false
#endif

/* Statistics of expressions: 14. */
#if PG_VERSION_NUM >= 140000
#include "catalog/pg_statistic_ext.h"
#define hopper_extended_statistics(relation) RelationGetStatExtList(relation)
#define HOPPER_STATISTICS_CACHE STATEXTOID
#define HOPPER_STATISTICS_EXPRESSIONS Anum_pg_statistic_ext_stxexprs
#else
#define hopper_extended_statistics(relation) NIL
#define HOPPER_STATISTICS_CACHE 0
#define HOPPER_STATISTICS_EXPRESSIONS 0
#endif

/*
 * A second key beside the configurations' UNIQUE: Greenplum wants all keys of a table to share the
 * distribution column.
 */
#ifdef GP_VERSION_NUM
#define HOPPER_SECOND_KEY ""
#else
#define HOPPER_SECOND_KEY " PRIMARY KEY"
#endif

/*
 * What a new table says on Greenplum, behind its columns. It is no append-optimized table, which
 * would have no keys, whatever gp_default_storage_options or default_table_access_method say. And
 * where its rows lie: without a clause Greenplum chooses and says so in a NOTICE.
 *
 * CREATE TABLE x (...) HOPPER_DISTRIBUTED_BY("k")
 */
#define HOPPER_DIST_KEY "__dist_key__"
#ifdef GP_VERSION_NUM
#define HOPPER_HEAP_STORAGE " WITH (appendonly=false)"
#define HOPPER_DISTRIBUTED_BY(column) HOPPER_HEAP_STORAGE " DISTRIBUTED BY (" column ")"
#define HOPPER_DISTRIBUTED_RANDOMLY HOPPER_HEAP_STORAGE " DISTRIBUTED RANDOMLY"
#define HOPPER_DIST_KEY_COLUMN HOPPER_DIST_KEY " pg_catalog.int4 NOT NULL, "
#else
#define HOPPER_HEAP_STORAGE ""
#define HOPPER_DISTRIBUTED_BY(column) ""
#define HOPPER_DISTRIBUTED_RANDOMLY ""
#define HOPPER_DIST_KEY_COLUMN ""
#endif

/*
 * Appends UTF-8 in the server's encoding up to the first character that this lacks, and returns how
 * many bytes that took. Before 14 the server has only an error for such a character.
 */
static inline int
hopper_convert_utf8(const char *text, int length, StringInfo out)
{
#if PG_VERSION_NUM >= 140000
	Oid			function = FindDefaultConversionProc(PG_UTF8, GetDatabaseEncoding());
	Size		size = (Size) length * MAX_CONVERSION_GROWTH + 1;
	unsigned char *converted;
	int			done;

	if (OidIsValid(function))
	{
		converted = MemoryContextAllocHuge(CurrentMemoryContext, size);
		done = pg_do_encoding_conversion_buf(function, PG_UTF8, GetDatabaseEncoding(),
											 (unsigned char *) text, length, converted,
											 (int) Min(size, PG_INT32_MAX), true);
		appendStringInfoString(out, (char *) converted);
		pfree(converted);
		return done;
	}
#endif
	appendStringInfoString(out, pg_any_to_server(text, length, PG_UTF8));
	return length;
}

/* Publications want to tell rows that are deleted: 10. */
#define HOPPER_HAS_PUBLICATIONS (PG_VERSION_NUM >= 100000)

/* Its last argument is not changed, but not const before 11. */
#define hopper_create_comments(object, catalog, part, comment) \
	CreateComments(object, catalog, part, (char *) (comment))

/* Policies on rows: 9.5; that permit or restrict: 10. */
#define HOPPER_HAS_POLICIES (PG_VERSION_NUM >= 100000)

/* NOT NULL is a constraint with a name: 18. */
#define HOPPER_NAMES_NOT_NULL (PG_VERSION_NUM >= 180000)

/*
 * Settings of sizes, in megabytes, of 1 at least or 0, which means something else: before 12 only
 * those of whole numbers have units.
 */
#if PG_VERSION_NUM >= 120000
typedef double hopper_megabytes;
/* '1kB' is no whole megabyte: rounded to 0, it would mean no limit. */
static inline bool
hopper_check_size(double *value, void **extra, GucSource source)
{
	if (*value <= 0 || *value >= 1)
		return true;
	GUC_check_errdetail("It is in megabytes, and 1MB at least or 0.");
	return false;
}
static inline void
hopper_define_size(const char *name, const char *short_desc, const char *long_desc,
				   hopper_megabytes *variable, int boot, GucContext context)
{
	DefineCustomRealVariable(name, short_desc, long_desc, variable, boot, 0, INT_MAX, context,
							 GUC_UNIT_MB, hopper_check_size, NULL, NULL);
}
#else
typedef int hopper_megabytes;
static inline void
hopper_define_size(const char *name, const char *short_desc, const char *long_desc,
				   hopper_megabytes *variable, int boot, GucContext context)
{
	DefineCustomIntVariable(name, short_desc, long_desc, variable, boot, 0, INT_MAX, context,
							GUC_UNIT_MB, NULL, NULL, NULL);
}
#endif
#define HOPPER_BYTES(megabytes) ((int64) ((megabytes) * INT64CONST(1048576)))

/* Temporary files: Greenplum names their operation; the functions report errors since 13. */
#ifdef GP_VERSION_NUM
#define hopper_buffile_create(operation) BufFileCreateTemp(operation, false)
#else
#define hopper_buffile_create(operation) BufFileCreateTemp(false)
#endif
#if PG_VERSION_NUM >= 130000
#define hopper_buffile_write(file, bytes, size) BufFileWrite(file, bytes, size)
#else
#define hopper_buffile_write(file, bytes, size) \
	do { \
		if (BufFileWrite(file, bytes, size) != (size)) \
			ereport(ERROR, errcode_for_file_access(), \
					errmsg("could not write to a temporary file: %m")); \
	} while (0)
#endif

/*
 * A process' progress slot: a command, a table and numbers that other sessions may read: 9.6. The
 * function that reads the slots of others has another name since 16.
 */
#define HOPPER_SLOT_VALUES 12
typedef struct hopper_slot
{
	int			pid;
	Oid			role;
	Oid			database;
	Oid			target;
	int64		values[HOPPER_SLOT_VALUES];
} hopper_slot;
#include "pgstat.h"
#include "postmaster/bgworker.h"
#if PG_VERSION_NUM >= 90600
#if PG_VERSION_NUM >= 140000
#include "utils/backend_progress.h"
#include "utils/backend_status.h"
#endif
#if PG_VERSION_NUM >= 160000
#define hopper_local_entry(i) pgstat_get_local_beentry_by_index(i)
#else
#define hopper_local_entry(i) pgstat_fetch_stat_local_beentry(i)
#endif
/*
 * Where value i lies. The server writes the phases of an index, 9 to 16, without a look at the
 * command: a table that is made with a TOAST table has one built.
 */
static inline int
hopper_slot_place(int i)
{
	return i < 9 ? i : i + PGSTAT_NUM_PROGRESS_PARAM - HOPPER_SLOT_VALUES;
}

/* All values at once: a reader sees all of them, or zeros. */
static inline void
hopper_slot_write(int command, Oid target, const int64 *values)
{
	int			places[HOPPER_SLOT_VALUES];

	for (int i = 0; i < HOPPER_SLOT_VALUES; i++)
		places[i] = hopper_slot_place(i);
	pgstat_progress_start_command((ProgressCommandType) command, target);
	pgstat_progress_update_multi_param(HOPPER_SLOT_VALUES, places, values);
}
#define hopper_slot_clear() pgstat_progress_end_command()
/* How many there are, as pg_stat_activity would show them now. */
#define hopper_slots() pgstat_fetch_stat_numbackends()
/* The slot of process i, from 0; false where it is not in this command. */
static inline bool
hopper_slot_read(int i, int command, hopper_slot *slot)
{
	LocalPgBackendStatus *local = hopper_local_entry(i + 1);

	if (local == NULL || local->backendStatus.st_procpid == 0 ||
		(int) local->backendStatus.st_progress_command != command)
		return false;
	slot->pid = local->backendStatus.st_procpid;
	slot->role = local->backendStatus.st_userid;
	slot->database = local->backendStatus.st_databaseid;
	slot->target = local->backendStatus.st_progress_command_target;
	for (int at = 0; at < HOPPER_SLOT_VALUES; at++)
		slot->values[at] = local->backendStatus.st_progress_param[hopper_slot_place(at)];
	return true;
}
/* pg_stat_activity shows what trains, where the user's own statement does not stand there. */
#define HOPPER_TELLS_ACTIVITY (MyBgworkerEntry != NULL)
#else
#define HOPPER_TELLS_ACTIVITY true
#define hopper_slot_write(command, target, values) ((void) (values))
#define hopper_slot_clear() ((void) 0)
#define hopper_slots() 0
#define hopper_slot_read(i, command, slot) (memset(slot, 0, sizeof(*(slot))), false)
#endif

/* A background worker for roles without LOGIN, and one that leaves for DROP DATABASE. */
#ifdef BGWORKER_BYPASS_ROLELOGINCHECK
#define HOPPER_BYPASS_LOGIN BGWORKER_BYPASS_ROLELOGINCHECK
#else
#define HOPPER_BYPASS_LOGIN 0
#endif
#ifdef BGWORKER_INTERRUPTIBLE
#define HOPPER_INTERRUPTIBLE BGWORKER_INTERRUPTIBLE
#else
#define HOPPER_INTERRUPTIBLE 0
#endif

/*
 * Plans of PostgreSQL's planner alone, until the level of settings ends: what Greenplum's other
 * one, ORCA, makes of a statement that trains need not compute in the process that holds the data.
 */
#ifdef GP_VERSION_NUM
#define hopper_disable_orca() hopper_set_for_now("optimizer", "off")
#else
#define hopper_disable_orca() ((void) 0)
#endif

/* Tables of any access method: 12. */
#if PG_VERSION_NUM >= 120000
#include "access/heapam.h"
#include "access/table.h"
#include "access/tableam.h"
#else
#define table_open heap_open
#define table_close heap_close
#endif

/* What pg_stat_activity says that a session waits for while it trains: a name since 17. */
static inline uint32
hopper_wait_event(void)
{
#if PG_VERSION_NUM >= 170000
	static uint32 event = 0;

	if (event == 0)
		event = WaitEventExtensionNew("ModelHopper");
	return event;
#elif PG_VERSION_NUM >= 100000
	return PG_WAIT_EXTENSION;
#else
	return 0;
#endif
}

/*
 * Sleeps until `events` or timeout; a dead postmaster ends the process (through the exit
 * callbacks). MyLatch, the wait event and WL_EXIT_ON_PM_DEATH came after 9.4.
 */
static inline int
hopper_wait_latch_or_socket(int events, pgsocket fd, long timeout_ms)
{
#if PG_VERSION_NUM >= 120000
	return WaitLatchOrSocket(MyLatch, events | WL_EXIT_ON_PM_DEATH, fd, timeout_ms,
							 hopper_wait_event());
#else
	int			rc = WaitLatchOrSocket(&MyProc->procLatch, events | WL_POSTMASTER_DEATH, fd,
									   timeout_ms);

	if (rc & WL_POSTMASTER_DEATH)
		proc_exit(1);
	return rc;
#endif
}

/*
 * Whether a value lies in its row compressed by pglz: then where, how long it is and was.
 * Kernels before 14 do not say by what; they are left to read their values themselves.
 */
static inline bool
hopper_inline_pglz(const struct varlena *value, const char **source, int32 *length, int32 *size)
{
#if PG_VERSION_NUM >= 140000
	if (!VARATT_IS_COMPRESSED(value) ||
		VARDATA_COMPRESSED_GET_COMPRESS_METHOD(value) != TOAST_PGLZ_COMPRESSION_ID)
		return false;
	*source = (const char *) value + VARHDRSZ_COMPRESSED;
	*length = VARSIZE(value) - VARHDRSZ_COMPRESSED;
	*size = VARDATA_COMPRESSED_GET_EXTSIZE(value);
	return true;
#else
	return false;
#endif
}

/*
 * The server's setting client_connection_check_interval, in ms, and its timer, which looks whether
 * the client has closed its end: 14. Where there is none the value is never 0, and nobody looks.
 */
#if PG_VERSION_NUM >= 140000
#define hopper_client_check_interval() client_connection_check_interval
static inline void
hopper_set_client_check(int interval)
{
	client_connection_check_interval = interval;
	if (interval > 0)
		enable_timeout_after(CLIENT_CONNECTION_CHECK_TIMEOUT, interval);
}
#else
#define hopper_client_check_interval() 1
#define hopper_set_client_check(interval) ((void) 0)
#endif

/* What ends a statement by itself: its time and, since 17, that of its transaction. */
#if PG_VERSION_NUM >= 170000
#define HOPPER_TIMEOUTS STATEMENT_TIMEOUT, TRANSACTION_TIMEOUT
#else
#define HOPPER_TIMEOUTS STATEMENT_TIMEOUT
#endif
/* Whether one goes off: before 14 by the setting, which holds for what a client has sent. */
#if PG_VERSION_NUM >= 140000
#define hopper_timeout_is_set(timeout) get_timeout_active(timeout)
#else
#define hopper_timeout_is_set(timeout) (StatementTimeout > 0)
#endif

/*
 * Whether the function that runs is connected to SPI, and that again after an error in a statement
 * of its own has been caught: before 10 the server takes what runs for the statement then.
 */
#if PG_VERSION_NUM < 100000
static inline bool
hopper_has_spi(void)
{
	bool		connected = SPI_push_conditional();

	SPI_pop_conditional(connected);
	return connected;
}
#define hopper_restore_spi(connected) ((connected) ? SPI_restore_connection() : (void) 0)
#else
#define hopper_has_spi() false
#define hopper_restore_spi(connected) ((void) (connected))
#endif

static inline void
hopper_reset_latch(void)
{
#if PG_VERSION_NUM >= 120000
	ResetLatch(MyLatch);
#else
	ResetLatch(&MyProc->procLatch);
#endif
}

#endif							/* HOPPER_COMPAT_H */
