/*
 * glue.h
 *		What the files of the glue share: the two core libraries, errors, result sets, names,
 *		SPI, waiting and settings.
 */
#ifndef HOPPER_GLUE_H
#define HOPPER_GLUE_H

#include "pg/backend.h"
#include "pg/server/pg_include.h"

/* --- settings (server/module.c) --- */

extern int	hopper_threads;		/* hopper.threads; 0: one a processor */
extern hopper_megabytes hopper_memory_limit;	/* hopper.memory_limit; 0: all that is left */
extern int	hopper_notice_interval; /* hopper.notice_interval, in seconds; 0: no progress lines */
extern int	hopper_max_configs; /* hopper.max_configs */
extern hopper_megabytes hopper_keep_memory; /* hopper.keep_memory */
extern bool hopper_mix_numerics;	/* hopper.mix_numerics */
extern int	hopper_keep_time;	/* hopper.keep_time, in seconds; 0: as long as the session */
extern int	hopper_checkpoint_interval;	/* hopper.checkpoint_interval, in seconds */
extern int	hopper_debug_drop_cache;	/* hopper.debug_drop_cache, on Greenplum */
extern hopper_megabytes hopper_broadcast_limit; /* hopper.broadcast_limit, there */

/* What a call of this session may use, within the administrator's ceilings (server/ceilings.h). */
extern int	hopper_effective_threads(void);
extern int64 hopper_effective_memory_limit(void);	/* bytes */

/* --- the core libraries (server/core_loader.c) --- */

/*
 * The function tables; the library is opened on the first call with all signals blocked and
 * stays open. ereport(ERROR) with a hint where it cannot be loaded or has another version.
 */
extern const hopper_core_api *hopper_core(void);
/* `wanted_by`: what asks for libtorch, 'layer "x" of configuration 3', which errors name. */
extern const hopper_torch_api *hopper_torch(const char *wanted_by);
/* As hopper_torch(), or NULL where libtorch is not installed. */
extern const hopper_torch_api *hopper_torch_if_any(void);

/* --- which of them computes (server/engine.c) --- */

/*
 * What of these configurations wants libtorch when they are trained, evaluated or explained:
 * 'layer "x" of configuration 3'; NULL: nothing. palloc'ed.
 */
extern const char *hopper_wants_libtorch(const hopper_config *configs, int n,
										 const hopper_data_desc *data);
/* What of a prediction wants it; `layer` (or NULL): whose output is predicted. */
extern const char *hopper_predictor_wants_libtorch(const char *model_arch, size_t model_arch_size,
												   const hopper_data_desc *data,
												   const char *layer);
/* The engine for what wants libtorch, or where that is NULL for what does not. */
extern const hopper_engine_api *hopper_engine(const char *wants_libtorch);

/* --- errors (server/error.c) --- */

/*
 * ereport(ERROR) with an SQLSTATE: hopper_raise(ERRCODE_..., errmsg(...), errhint(...)). The two
 * most frequent: 22023, what the caller gave is wrong; 55000, something that it needs is not met.
 */
#define hopper_raise(sqlstate, ...) ereport(ERROR, errcode(sqlstate), __VA_ARGS__)
#define hopper_wrong(...) hopper_raise(ERRCODE_INVALID_PARAMETER_VALUE, __VA_ARGS__)
#define hopper_unmet(...) hopper_raise(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, __VA_ARGS__)
/* SQLSTATE of a hopper_code, as errcode() wants it. */
extern int	hopper_sqlstate(int code);
/*
 * The core speaks UTF-8, the server its own encoding; palloc'ed, or the argument itself, which may
 * be NULL. Characters that the server's encoding lacks become "?".
 */
extern char *hopper_from_utf8(const char *text);
extern char *hopper_to_utf8(const char *text);
/* False of texts that hopper_to_utf8() refuses: SQL_ASCII takes any bytes. */
extern bool hopper_has_utf8(const char *text, size_t size);
/* ereport(ERROR) with everything in it. */
extern void hopper_throw(const hopper_error *error) pg_attribute_noreturn();
/*
 * Where calls of the core say what is wrong, until the next one does. They return 0 on success.
 */
extern hopper_error *const hopper_fault;
#define HOPPER_CHECK(call) \
	do { if ((call) != 0) hopper_throw(hopper_fault); } while (0)
/* A check of a call: HOPPER_CORE(list, what, &rows); */
#define HOPPER_CORE(function, ...) \
	HOPPER_CHECK(hopper_core()->function(__VA_ARGS__, hopper_fault))
/*
 * Whether such a call went well, where the caller says in its own words, or elsewhere, what the
 * core's error says of what it was given. That there is no memory, or that the statement ends, says
 * nothing of that: it is raised.
 */
extern bool hopper_accepts(int code, const hopper_error *error);

/* --- values with their types: of rows, and $1 and so on of statements --- */

typedef struct hopper_param
{
	Oid			type;
	Datum		value;
	bool		isnull;
} hopper_param;

/* Several of them as two arguments, their number and an array. */
#define HOPPER_PARAMS(...) \
	(int) lengthof(((hopper_param[]) {__VA_ARGS__})), (const hopper_param[]) {__VA_ARGS__}
#define HOPPER_PARAM(type, value) ((hopper_param) {type, value, false})
#define HOPPER_INT4(value) HOPPER_PARAM(INT4OID, Int32GetDatum(value))
#define HOPPER_INT8(value) HOPPER_PARAM(INT8OID, Int64GetDatum(value))
#define HOPPER_FLOAT8(value) HOPPER_PARAM(FLOAT8OID, Float8GetDatum(value))
#define HOPPER_BOOL(value) HOPPER_PARAM(BOOLOID, BoolGetDatum(value))
#define HOPPER_OID(value) HOPPER_PARAM(OIDOID, ObjectIdGetDatum(value))
#define HOPPER_TIME(value) HOPPER_PARAM(TIMESTAMPTZOID, TimestampTzGetDatum(value))
#define HOPPER_SECONDS(value) HOPPER_FLOAT8(hopper_round_seconds(value))
#define HOPPER_NULL(type) ((hopper_param) {type, (Datum) 0, true})
/* NULL where it is not known. */
#define HOPPER_IF(known, param) hopper_param_if((known) ? true : false, param)
static inline hopper_param
hopper_param_if(bool known, hopper_param param)
{
	param.isnull = !known;
	return param;
}
/* A text, of the core in UTF-8, an array of texts, or any array; NULL is a NULL, and no text is. */
extern hopper_param hopper_text_param(const char *value);
extern hopper_param hopper_utf8_param(const char *value);
extern hopper_param hopper_texts_param(int n, const void *texts);
/* An int4[] or int8[], NULL where `values` is. */
extern hopper_param hopper_numbers_param(Oid element, int n, const int64_t *values);
static inline hopper_param
hopper_array_param(Datum value)
{
	return (hopper_param) {InvalidOid, value, value == (Datum) 0};
}

/* --- result sets (server/result_set.c) --- */

/* Rows of texts, which the core has made, copied to the current memory context in one piece. */
extern hopper_rows *hopper_take_rows(hopper_rows *rows);
static inline const char *const *
hopper_row(const hopper_rows *rows, int row)
{
	return rows->cells + (size_t) row * rows->n_columns;
}
/* The rows that a function of a library makes: HOPPER_CORE_ROWS(list, what). */
extern hopper_rows *hopper_rows_made;
#define HOPPER_MADE &hopper_rows_made, hopper_fault
extern hopper_rows *hopper_made(int code);
#define HOPPER_CORE_ROWS(function, ...) \
	hopper_made(hopper_core()->function(__VA_ARGS__, HOPPER_MADE))
/* NOTICEs of rows of message, detail and hint, from the one numbered `first` on. */
extern void hopper_tell_notes(const hopper_rows *rows, int first);
/*
 * Returns `rows` as the result of the set-returning function of fcinfo: cells become values
 * through the input functions of the result's columns, in order.
 */
extern Datum hopper_return_rows(FunctionCallInfo fcinfo, const hopper_rows *rows);
/* ERROR 0A000 where the caller does not take a set. */
extern void hopper_require_set_context(FunctionCallInfo fcinfo);
/* Starts the function's result set; tuples of this row type are put into the returned store. */
extern Tuplestorestate *hopper_begin_result(FunctionCallInfo fcinfo, TupleDesc *descriptor);
/* The result of a function that returns one row, in the current memory context. */
extern Datum hopper_return_row(FunctionCallInfo fcinfo, Datum *values, bool *nulls);
extern Datum hopper_return_params(FunctionCallInfo fcinfo, int n, const hopper_param *params);
/* Puts one row into a result set. */
extern void hopper_put_params(Tuplestorestate *store, TupleDesc descriptor, int n,
							  const hopper_param *params);
/* Puts the rows of SPI_tuptable into it; ERROR 42804 where their columns are not of its types. */
extern void hopper_put_selected(Tuplestorestate *store, TupleDesc descriptor);
/* Returns all rows of a query (run by SPI, read-only) as the function's result set. */
extern Datum hopper_return_query(FunctionCallInfo fcinfo, const char *query);

/* --- handles of the core that must not outlive the caller (server/guard.c) --- */

/*
 * Calls free_fn(handle) when the statement or the (sub)transaction that is running ends, well or
 * with an error, and when the session does (FATAL too). Freed early with hopper_guard_release().
 * free_fn must not need memory of the statement: it may be gone.
 */
typedef struct hopper_guard hopper_guard;
extern hopper_guard *hopper_guard_add(void *handle, void (*free_fn) (void *));
/* A guard of rows of the core. */
extern hopper_guard *hopper_guard_rows(hopper_rows *rows);
/* A guard that frees at the session's end alone. */
extern hopper_guard *hopper_guard_add_for_session(void *handle, void (*free_fn) (void *));
/*
 * A memory context under such a guard, for what is large: the statement's own memory stays after
 * an error inside BEGIN until the client rolls back.
 */
extern hopper_guard *hopper_guarded_context(MemoryContext *context);
extern void hopper_guard_release(hopper_guard *guard);
/*
 * All guards that are made between hopper_guard_enter() and _leave() outlive statement and
 * transaction, and are released together, the newest first: what a run holds while transactions
 * come and go. A scope is told from others by its address.
 */
typedef struct hopper_guard_scope
{
	int			unused;
} hopper_guard_scope;
extern void hopper_guard_enter(hopper_guard_scope *scope);
extern void hopper_guard_leave(void);
/* It is left, too. */
extern void hopper_guard_release_scope(hopper_guard_scope *scope);

/* --- what a session keeps (server/discard.c) --- */

/* `fn` is called after each DISCARD ALL of this session from now on. */
extern void hopper_on_discard(void (*fn) (void));

/* --- waiting for the core (server/wait.c) --- */

extern int	hopper_eventfd_open(void);	/* under a guard */
extern void hopper_eventfd_close(int fd);
/*
 * Sleeps until the eventfd is written to, the latch is set, timeout_ms (-1: none) is over, or a
 * while; runs CHECK_FOR_INTERRUPTS, which may not return.
 */
extern void hopper_wait(int fd, long timeout_ms);
/* Sleeps for a time, or until the latch is set; runs CHECK_FOR_INTERRUPTS. */
extern void hopper_sleep(long ms);
extern double hopper_seconds_between(TimestampTz from, TimestampTz to);
extern double hopper_seconds_since(TimestampTz then);
/* Until statement_timeout or transaction_timeout ends the statement; infinite where none does. */
extern double hopper_seconds_to_timeout(void);
/*
 * From now to the statement's end the server looks every two seconds whether the client is still
 * there, and ends the session where it is not. By itself it finds out when it writes to the client,
 * which a quiet training does once in hours. (hopper_connect() calls it.)
 */
extern void hopper_watch_client(void);

/* --- long copies (server/copy.c) --- */

/* memcpy() of weights and states, and to and from a temporary file: they look at interrupts. */
extern void hopper_copy(void *to, const void *from, Size size);
struct BufFile;
extern void hopper_write_file(struct BufFile *file, const void *bytes, Size size);
extern void hopper_read_file(struct BufFile *file, void *bytes, Size size);
/* To a place that BufFileTell() has given. */
extern void hopper_seek_file(struct BufFile *file, int segment, off_t at);

/* --- arrays that grow (server/copy.c) --- */

/*
 * Room for `n` elements of an array that has room for `allocated`, NULL and 0 to begin with: it has
 * at least twice as much then, and what is new is zeros.
 */
#define hopper_grow(array, n, allocated) \
	((array) = hopper_grown((array), (n), &(allocated), sizeof(*(array))))
extern void *hopper_grown(void *array, int n, int *allocated, Size size);

/* --- work that can be taken back (server/subtransaction.c) --- */

typedef void (*hopper_work_fn) (void *state);
/* NULL, or the error before which everything that `work` did has been undone. */
extern ErrorData *hopper_attempt(hopper_work_fn work, void *state);
/* hopper_attempt() for what reads: it is undone in any case, and its locks are given back. */
extern ErrorData *hopper_look(hopper_work_fn work, void *state);
/* Finds out whether `work` can be done: its errors come out, what it did is undone in any case. */
extern void hopper_rehearse(hopper_work_fn work, void *state);

/* --- numbers as people read them, for messages (server/words.c) --- */

/* "1,438" */
extern char *hopper_count_words(int64 count);
/* "1 model", "16 models", "1,200 models" */
extern char *hopper_plural(int64 count, const char *singular, const char *plural);
/* "0.4 s", "41 s", "6 min 12 s", "2 h 5 min" */
extern char *hopper_duration_words(double seconds);
/* To a microsecond, for tables. */
extern double hopper_round_seconds(double seconds);
/* "24 MB" */
extern char *hopper_bytes_words(int64 bytes);
/* Two digits a byte. */
extern char *hopper_hex(const uint8_t *bytes, int n);

/* --- names (server/names.c) --- */

/* A user's table argument: 'name', 'schema.name', quoted parts allowed. */
typedef struct hopper_name
{
	char	   *schema;			/* where it is or would be made; NULL: no schema is selected */
	char	   *name;
	bool		qualified;		/* the user wrote the schema */
	char	   *quoted;			/* with the schema, ready for a statement */
	char	   *shown;			/* for messages: as the user named it, without quotes */
} hopper_name;

/*
 * Looks an unqualified name up in the search_path: once, here. `argument` names the parameter in
 * the message where the text is NULL, empty or no name.
 */
extern hopper_name hopper_parse_name(text *value, const char *argument);
/* The name of a relation that is there, as one would write it. */
extern hopper_name hopper_name_of(Oid relation);
/* A copy of the name; messages call it what they would call it now (server/shown.c). */
extern hopper_name hopper_name_itself(const hopper_name *name);
/* The name of another table in the schema of this one. */
extern hopper_name hopper_name_beside(const hopper_name *name, char *other);
/* <name>_<suffix> in the same schema. */
extern hopper_name hopper_name_with_suffix(const hopper_name *name, const char *suffix);
/* In the same schema, what run `number` calls it until it ends: "hopper_run_7" and the suffix. */
extern hopper_name hopper_name_of_run(const hopper_name *name, int64 number, const char *suffix);
/* As the user wrote it, quoted: for hints and results that are typed in again. */
extern char *hopper_written_name(const hopper_name *name);
/* As messages show it; its number where it is gone. */
extern char *hopper_relation_shown(Oid relation);
/* A hint at `nearest`, a "table" say, which was perhaps meant where `written` stands. */
extern char *hopper_meant_hint(const char *kind, const char *nearest, const char *written);

/* --- tables that are there, or are to be (server/relations.c) --- */

/* InvalidOid where there is none (missing_ok), else ERROR 42P01 with the nearest table's name. */
extern Oid	hopper_relation_oid(const hopper_name *name, bool missing_ok);
/* The Oid of one that is there, locked against changes of its columns, as a SELECT locks it. */
extern Oid	hopper_source_oid(const hopper_name *name);
/* Whether it was dropped since it was looked up, before it was locked. */
extern bool hopper_is_gone(Oid relation);
/* ERROR 22023 where two arguments name the same table that is to be made. */
extern void hopper_require_other_table(const hopper_name *name, const char *argument,
									   const hopper_name *other, const char *other_argument);
/*
 * LOCK TABLE in `mode`, "EXCLUSIVE" say, until the transaction ends; where that has to wait for
 * another session, a NOTICE says so first.
 */
extern void hopper_lock_table(const hopper_name *name, LOCKMODE mode, const char *mode_name);
/*
 * Locks a table; false where there is none, perhaps since the wait for it. One that is not the
 * caller's to lock is left alone: who uses it gets the error. AccessShareLock is that of reading.
 */
extern bool hopper_lock_if_there(const hopper_name *name, LOCKMODE mode, const char *mode_name);
/*
 * ERROR 42P07 where it exists already, 3F000 or 42501 where it cannot be created, 55006 where
 * another session's transaction has asked for the same name.
 */
extern void hopper_require_absent(const hopper_name *name);
/* Asks for the name of a table that is there, and will be dropped before another is made. */
extern void hopper_claim_name(const hopper_name *name);
/* Likewise, but waits for another session that has asked, with a NOTICE: it may be there then. */
extern void hopper_await_name(const hopper_name *name);
/*
 * The server lets a transaction's advisory locks go last. From now on they go first, so that who
 * has waited for another lock of the transaction finds no claim and no lease of it.
 */
extern void hopper_release_advisory_first(void);
/* Whether nothing has the name and no other session has asked for it: then it is the caller's. */
extern bool hopper_claim_if_free(const hopper_name *name);
/*
 * ERROR 42501 where reading `table`, or with `written` changing its rows, would run functions of
 * another role, unless the caller has named what runs some of that role himself: `named` is the
 * table by which `table` was found, or `table` itself where it is written (server/trust.c). Nothing
 * where it does not exist. It stays locked as a SELECT locks it.
 */
extern void hopper_require_harmless(const hopper_name *table, const hopper_name *named,
									bool written);
/*
 * Requires that of a table that the caller has not named, but `by` ("run 7") has. ERROR 42501
 * also where he may not read it, or write it.
 */
extern void hopper_require_plain(const hopper_name *table, const char *by, bool written);
/*
 * What runs between these two has the rights of the role alone, as in REFRESH MATERIALIZED VIEW and
 * in VACUUM (src/backend/commands/matview.c): functions of the role cannot take the session's role,
 * and leave nothing in the session that would run afterwards. Settings that are changed are as
 * before. Temporary tables are not made, deferred triggers are errors. An error in between needs no
 * end: the abort of the (sub)transaction restores everything (server/restricted.c).
 */
typedef struct hopper_restricted
{
	Oid			user;
	int			context;
	int			level;
} hopper_restricted;
extern hopper_restricted hopper_restrict(Oid role);
extern void hopper_unrestrict(const hopper_restricted *before);
/*
 * hopper_select() with the rights of the table's owner, restricted where he is not the caller.
 * Whether the caller may read the table is asked before.
 */
extern uint64 hopper_select_as(Oid owner, const char *query);
/* Whether reading a table, which is locked, runs functions of its owner for everybody. */
extern bool hopper_reading_runs(Oid relation);
/* A trigger that somebody has created on it, or NULL. */
extern const char *hopper_user_trigger(Relation opened);
/*
 * A table's name that a column of `holder` holds; the same error, unless the caller owns `holder`.
 * Where no table has that name any more, as after ALTER SCHEMA ... RENAME, it is the one beside
 * `holder`; where there are both, a NOTICE says which.
 */
extern hopper_name hopper_name_in(const hopper_name *holder, const hopper_name *named,
								  const char *value, const char *column);
/*
 * A type's name that a column of `holder` holds, as SQL writes it: ERROR where it is not a type's
 * name and nothing beside, 42501 where the type is another role's, unless the caller owns `holder`.
 */
extern char *hopper_type_in(const hopper_name *holder, const char *value);
/* ERROR 42501 without this privilege. */
extern void hopper_require_select(Oid relation);
/* A relation's owner; InvalidOid where it is gone. */
extern Oid	hopper_owner(Oid relation);
/* Of a role that is gone: "unknown (OID=7)". */
extern char *hopper_role_name(Oid role);

/* --- what tables say of themselves (server/comments.c) --- */

/*
 * What a table that was just made says in psql; hopper_comment_layout() says it of its columns,
 * too. `comment` may be NULL for none, and a column that is not there is none of ours.
 */
extern void hopper_comment_table(const hopper_name *table, const char *comment);
extern void hopper_comment_column(const hopper_name *table, const char *column,
								  const char *comment);

/* --- columns (server/columns.c) --- */

/* Of those that have not been dropped. */
extern char **hopper_column_names(Oid relation, int *n);
/* ERROR 42703 with the nearest column's name; returns the attribute number. */
extern AttrNumber hopper_require_column(Oid relation, const char *column);
/* ERROR 42703 with all of these names (char *) that are no columns. */
extern void hopper_require_columns(Oid relation, List *columns);
/* ERROR 42809 where the table lacks one of n columns that `what` has; returns its Oid. */
extern Oid	hopper_require_columns_of(const hopper_name *table, const char *what, int n,
									  const char *const *columns, const char *hint);

/* --- what messages call tables (server/shown.c) --- */

/* palloc'ed; the schema may be NULL. */
extern char *hopper_name_shown(const char *schema, bool qualified, const char *name);
/* Messages call the table what `as` is called, and <name>_<suffix> likewise. */
extern void hopper_show_as(const hopper_name *name, const hopper_name *as);
/* From now on by its own name, if it was not. */
extern void hopper_show_itself(const hopper_name *name);

/* --- SQL (server/sql.c) --- */

/* `statement`, palloc'ed, of the arguments of the function that it stands in. */
#define HOPPER_FORMAT(statement, format) \
	do { \
		va_list		arguments_; \
		va_start(arguments_, format); \
		(statement) = hopper_formatted(format, arguments_); \
		va_end(arguments_); \
	} while (0)
extern char *hopper_formatted(const char *format, va_list arguments) pg_attribute_printf(1, 0);
/*
 * SPI for a volatile function, once at its beginning and its end. It sees what the statement that
 * calls it has done before: one SELECT may pack, train and predict.
 */
extern void hopper_connect(void);
/*
 * SPI for a stable function, which the leader of a parallel query may call: it sees what its
 * statement sees. On a cluster, where it is volatile, hopper_connect().
 */
extern void hopper_connect_stable(void);
/* Instead, from now to hopper_finish(): what others have committed meanwhile, and the statement. */
extern void hopper_see_latest(void);
extern void hopper_finish(void);
/* SPI_connect(), for a stable function: it sees what its statement sees. SPI_finish() ends it. */
extern void hopper_connect_only(void);
/* For what may be called while SPI is connected; the result is the argument of the other one. */
extern bool hopper_connect_within(void);
extern void hopper_finish_within(bool pushed);
/*
 * Compiling a query takes up to a second and memory for good, and the planner thinks that the
 * arrays in our tables, and a catalog with many dead rows, are long; a few hundred rows are not
 * worth it. Returns the level at whose end (AtEOXact_GUC()), also on error, the setting ends.
 */
extern int	hopper_without_jit(void);
/*
 * After a wait for another session: what it has committed is seen from now on, as a statement that
 * began after the wait would see it. Without effect under REPEATABLE READ and where the snapshot is
 * not that of the innermost hopper_connect().
 */
extern void hopper_renew_snapshot(void);
/*
 * A statement that defines, locks or fills what only we have touched: runs with search_path =
 * pg_catalog, pg_temp.
 */
extern void hopper_exec(const char *format,...) pg_attribute_printf(1, 2);
/*
 * Runs "INSERT INTO table <format>" of one row so; ERROR 55000 where a trigger or rule that an
 * event trigger has given the table, say, takes the row away.
 */
extern void hopper_insert(const hopper_name *table, const char *format,...)
			pg_attribute_printf(2, 3);
/* That error where SPI, which returned `rc`, has not inserted one row. */
extern void hopper_require_inserted(const hopper_name *table, int rc);
/* SPI_execute_with_args(). */
extern int	hopper_execute_params(const char *statement, int n, const hopper_param *params);
/* Of n parameters; columns: "" or "(a, b)". */
extern char *hopper_insert_statement(const hopper_name *table, const char *columns, int n);
/* Inserts one row, with that error. */
extern void hopper_insert_params(const hopper_name *table, int n, const hopper_param *params);
/*
 * INSERT, UPDATE or DELETE of rows of a table that has been in the user's hands: its triggers run
 * with the caller's search_path. So does the statement, which must name each function, operator
 * and type with its schema; the same holds for what is executed by SPI directly.
 */
extern void hopper_change(const char *format,...) pg_attribute_printf(1, 2);
/* hopper_change() in this snapshot: several statements read what there was at one moment. */
extern void hopper_change_at(Snapshot snapshot, const char *format,...) pg_attribute_printf(2, 3);
/*
 * A SELECT in the active snapshot, that of hopper_connect() or of the statement; rows in
 * SPI_tuptable; returns SPI_processed. Its names are looked up in pg_catalog and pg_temp; the
 * users' functions that it comes upon (in views, row policies) run with the caller's search_path.
 */
extern uint64 hopper_select(const char *format,...) pg_attribute_printf(1, 2);
/* After a SELECT that has returned `n`: whether it has found rows, which are freed. */
extern bool hopper_any(uint64 n);
/* A SELECT in a new snapshot: sees what the statement itself has written so far. */
extern uint64 hopper_select_latest(const char *format,...) pg_attribute_printf(1, 2);
/*
 * A SELECT as one piece, for which the server may use parallel workers. It runs with the caller's
 * search_path and must name each function, operator and type with its schema.
 */
extern uint64 hopper_select_at_once(const char *format,...) pg_attribute_printf(1, 2);
/*
 * A plan, with CURSOR_OPT_... or 0, or ERROR. It leaves the search_path alone: as
 * hopper_select_at_once().
 */
extern SPIPlanPtr hopper_prepare(const char *query, int n, const Oid *types, int options);

/*
 * SPI leaves its own memory context behind, which ends with hopper_finish(). Where what is read is
 * to live longer, this context is the one after each statement; NULL: SPI's is. What calls SPI
 * itself calls hopper_after_spi() then.
 */
extern MemoryContext hopper_request_context;
extern void hopper_after_spi(void);

/* --- cells (server/cells.c) --- */

/*
 * Cells of SPI_tuptable. Tables are the users' to change: nothing that was read from one is used
 * before it was looked at. ERROR XX001 where there is no such row.
 *
 * The binary value: ERROR 42804 where the column is not of `type` (or a domain over it), which is
 * all that makes reading it safe.
 */
extern Datum hopper_value(uint64 row, int column, Oid type, bool *isnull);
/* A float8 in all its bits: text has as many as extra_float_digits says. 0 for NULL. */
extern double hopper_float_value(uint64 row, int column);
/* The check of a type alone, of the descriptor's column. */
extern void hopper_require_type(TupleDesc descriptor, int column, Oid type);
/* Where the column of this name is; ERROR 42703, or 0: nowhere, and its cells are NULL. */
extern int	hopper_at(const char *column);
extern int	hopper_at_if_any(const char *column);
/* The text, or NULL; copied to the current memory context. */
extern char *hopper_cell(uint64 row, int column);
/* A text that must not be NULL: ERROR XX001 '"table" is damaged'. */
extern char *hopper_text_cell(const hopper_name *table, uint64 row, int column);
/* What the type's own functions make of a value, and of a text. */
extern char *hopper_text_of(Oid type, Datum value);
extern Datum hopper_value_of(Oid type, const char *text);
/*
 * The elements of an array of any type, which point into it; `nulls` may be NULL where none of them
 * is. Returns their number.
 */
extern int	hopper_elements(const struct ArrayType *array, Datum **values, bool **nulls);
/* An array of these elements; `nulls` may be NULL where none of them is. */
extern Datum hopper_array(Oid type, int n, const Datum *values, const bool *nulls);
/* A text[]; a text may be NULL. */
extern Datum hopper_texts_datum(int n, const char *const *texts);
/* A float8[], and such a cell: its numbers, 0 for NULL; no numbers where the cell is NULL. */
extern Datum hopper_floats_datum(int n, const double *values);
extern double *hopper_float_cells(uint64 row, int column, int *n);
/* The elements of a text[], and of such a cell (NULL: none): NULL stays NULL, or becomes "". */
extern char **hopper_texts(Datum array, int *n);
extern char **hopper_text_cells(uint64 row, int column, int *n);
extern char **hopper_name_cells(uint64 row, int column, int *n);
/* A number of any integer type within bounds; the same error where it is NULL or out of them. */
extern int64 hopper_int_cell(const hopper_name *table, uint64 row, int column, int64 least,
							 int64 most);
/*
 * After a SELECT that has returned `n`, whose rows are freed: the text in the first column of the
 * first of them, or NULL; a count, which is of `table`.
 */
extern char *hopper_text(uint64 n);
extern int64 hopper_number(const hopper_name *table, uint64 n);
/* Any int4. */
extern int32 hopper_key_cell(const hopper_name *table, uint64 row, int column);
/* ERROR XX001: a table of ours does not hold what we wrote; `detail` is a sentence. */
extern void hopper_refuse_damaged(const hopper_name *table,
								  const char *detail) pg_attribute_noreturn();
/* ERROR XX001 with a cell's value. */
extern void hopper_refuse_cell(const hopper_name *table, uint64 row,
							   int column) pg_attribute_noreturn();

/* A column's type as hopper_exec() and hopper_select() find it. */
extern char *hopper_type_name(Oid type, int32 typmod);

/* --- texts and names as arguments (server/arguments.c) --- */

/*
 * NULL where the argument is NULL, or the function that was called has none of this number; a
 * palloc'ed text in the server's encoding, or in UTF-8.
 */
extern text *hopper_text_argument(FunctionCallInfo fcinfo, int at);
extern char *hopper_string_argument(FunctionCallInfo fcinfo, int at);
extern char *hopper_utf8_argument(FunctionCallInfo fcinfo, int at);
/* hopper_parse_name() of it */
extern hopper_name hopper_name_argument(FunctionCallInfo fcinfo, int at, const char *argument);
/*
 * Which of `words`, which end with NULL, an argument is; the first one where it is NULL. ERROR
 * 22023 with the hint for another text.
 */
extern int	hopper_word_argument(FunctionCallInfo fcinfo, int at, const char *argument,
								 const char *const *words, const char *hint);
/* ERROR 22004 where it is NULL. */
extern void hopper_require_argument(FunctionCallInfo fcinfo, int at, const char *argument);
extern bool hopper_is_given(FunctionCallInfo fcinfo, int at);
/* Where the SQL function that is called has the argument of this name. */
extern int	hopper_argument(FunctionCallInfo fcinfo, const char *argument);
/*
 * "SELECT ...fit(packed_table := 'p'::text, ...)": the call of fcinfo with its values, whatever the
 * session's settings become.
 */
extern char *hopper_call_text(FunctionCallInfo fcinfo);
/* -1: it has none of this name, which is never given. */
extern int	hopper_argument_if_any(FunctionCallInfo fcinfo, const char *argument);
/* By its name. */
extern hopper_name hopper_name_named(FunctionCallInfo fcinfo, const char *argument);
extern char *hopper_string_named(FunctionCallInfo fcinfo, const char *argument);
extern char *hopper_utf8_named(FunctionCallInfo fcinfo, const char *argument);
extern bool hopper_bool_named(FunctionCallInfo fcinfo, const char *argument, bool otherwise);
/* hopper_require_other_table() for an argument and others, up to a NULL; a NULL names none. */
extern void hopper_require_other_tables(FunctionCallInfo fcinfo, const char *output,
										const char *const *others);

/* --- keys and lists of integers as arguments (server/integers.c) --- */

/* For qsort() and bsearch(), of int32 or structs that begin with one. */
extern int	hopper_compare_key(const void *a, const void *b);

/*
 * An mst_key, which is a bigint for callers that have no smaller integers; 0 for NULL.
 * ERROR 22003 out of the range that keys can have.
 */
extern int32 hopper_key_argument(FunctionCallInfo fcinfo, int at);
/* A number, a bigint for the same reason; `otherwise` for NULL. ERROR 22003 beyond 32 bits. */
extern int32 hopper_integer_argument(FunctionCallInfo fcinfo, int at, const char *argument,
									 int32 otherwise);
/* A number from 1 up; NULL is refused where `otherwise` is 0. ERROR 22023 below. */
extern int32 hopper_positive_argument(FunctionCallInfo fcinfo, int at, const char *argument,
									  int32 otherwise);
/* That error where it is due; `hint` may be NULL. */
extern void hopper_require_positive(int32 value, const char *argument, const char *hint);
/*
 * What keeps an integer[] or hopper.integers from being a list of `least` to `most` (PG_INT32_MAX:
 * any number of) integers without NULLs; NULL: nothing, and hopper_integers() reads it.
 */
extern char *hopper_integers_problem(struct ArrayType *array, const char *argument, int least,
									 int most);
extern int32 *hopper_integers(struct ArrayType *array, int *n);
/* The integers of an argument: ERROR 22023; none, and NULL, where the argument is NULL. */
extern int32 *hopper_integers_argument(FunctionCallInfo fcinfo, int at, const char *argument,
									   int least, int most, int *n);
/* All of them at least 1. */
extern int32 *hopper_sizes_argument(FunctionCallInfo fcinfo, int at, const char *argument,
									int least, int most, int *n);

/* --- text in statements: names and values come in through these alone (server/quoting.c) --- */

extern char *hopper_identifier(const char *name);
/* "a, b" */
extern char *hopper_identifiers(int n, char *const *names);
/* "NULL" for a null pointer. */
extern const char *hopper_literal(const char *value);
/* Numbers that lie `stride` bytes apart as an int4[]: those of an array, or of its structs. */
extern char *hopper_keys_literal(int n, const int32 *first, Size stride);
/* " WHERE mst_key = ANY (...)": of these configurations. */
extern char *hopper_of_keys(int n, const int32 *first, Size stride);

#endif							/* HOPPER_GLUE_H */
