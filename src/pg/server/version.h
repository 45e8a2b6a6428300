/*
 * version.h
 *		The library and the SQL objects of a database must be of one version: functions read their
 *		arguments by position.
 *
 * The server asks each function of a library for its calling convention when a session looks it
 * up for the first time, and again after it was replaced. That is where the versions are compared:
 * once, and before anything is read.
 */
#ifndef HOPPER_VERSION_H
#define HOPPER_VERSION_H

/*
 * ERROR 55000 where the extension in this database is of another version than the library. Not
 * while the extension itself is created or updated.
 */
extern void hopper_require_same_version(void);
/* The extension's schema, whatever it is called; without an extension the one called hopper. */
extern Oid	hopper_schema(void);
/* A table, sequence or function of it for a statement that is analysed at once; palloc'ed. */
extern char *hopper_own_name(const char *name);

/* The server's, which compares no versions. */
#undef PG_FUNCTION_INFO_V1

#define HOPPER_CHECKED_FUNCTION(function, check) \
	extern PGDLLEXPORT Datum function(PG_FUNCTION_ARGS); \
	extern PGDLLEXPORT const Pg_finfo_record *CppConcat(pg_finfo_, function) (void); \
	const Pg_finfo_record * \
	CppConcat(pg_finfo_, function) (void) \
	{ \
		static const Pg_finfo_record info = {1}; \
\
		check; \
		return &info; \
	} \
	Datum \
	function(PG_FUNCTION_ARGS)

/* The head of a function that SQL calls; its body follows. */
#define HOPPER_FUNCTION(function) \
	HOPPER_CHECKED_FUNCTION(function, hopper_require_same_version())
/* One that works with SQL objects of any version. */
#define HOPPER_ANY_VERSION_FUNCTION(function) HOPPER_CHECKED_FUNCTION(function, (void) 0)
/* One whose body is connected to SPI (hopper_connect()), and may return what lies in its memory. */
#define HOPPER_SPI_FUNCTION(function) \
	static Datum CppConcat(function, _connected) (FunctionCallInfo fcinfo); \
	HOPPER_FUNCTION(function) \
	{ \
		return hopper_call_connected(fcinfo, CppConcat(function, _connected)); \
	} \
	static Datum \
	CppConcat(function, _connected) (FunctionCallInfo fcinfo)
extern Datum hopper_call_connected(FunctionCallInfo fcinfo, PGFunction body);

#endif							/* HOPPER_VERSION_H */
