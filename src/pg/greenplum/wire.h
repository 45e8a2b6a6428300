/*
 * wire.h
 *		Numbers and text as bytes that travel to the segments and back, for the files that describe
 *		work and those that report of it, and packed buffers among the arguments of the segments'
 *		functions.
 *
 * Things are written field by field: integers in eight bytes, text and arrays of numbers behind
 * their length in bytes; never a struct, whose padding and order are the compiler's. Descriptions
 * begin with the version of the glue and its build, reports with that of their format.
 */
#ifndef HOPPER_WIRE_H
#define HOPPER_WIRE_H

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "model_hopper/data.h"

#include "pg/server/floats.h"

/* What a description is about; one of another kind is refused. */
typedef enum hopper_description
{
	HOPPER_DESCRIBES_RUN = 1,
	HOPPER_DESCRIBES_EVALUATION,
	HOPPER_DESCRIBES_PACKING,
	HOPPER_DESCRIBES_PLAN,
	HOPPER_DESCRIBES_PREDICTION,
	HOPPER_DESCRIBES_ENTRY
} hopper_description;

static inline void
hopper_put_int(StringInfo out, int64 value)
{
	appendBinaryStringInfo(out, (const char *) &value, sizeof(value));
}

static inline void
hopper_put_number(StringInfo out, double value)
{
	appendBinaryStringInfo(out, (const char *) &value, sizeof(value));
}

/* Text, or an array of numbers. */
static inline void
hopper_put_bytes(StringInfo out, const void *bytes, size_t size)
{
	hopper_put_int(out, (int64) size);
	appendBinaryStringInfo(out, bytes, (int) size);
}

/* NULL stays NULL. */
static inline void
hopper_put_text(StringInfo out, const char *text)
{
	if (text == NULL)
		hopper_put_int(out, -1);
	else
		hopper_put_bytes(out, text, strlen(text));
}

/* --- reading: each function checks what it reads, and ends with an ERROR (greenplum/wire.c) --- */

typedef struct hopper_reader
{
	const char *at;
	const char *end;
	const char *damaged;		/* the error's message, of a report; NULL: a description's */
} hopper_reader;

extern void hopper_refuse_description(void) pg_attribute_noreturn();
/* What is read is damaged. */
extern void hopper_refuse(const hopper_reader *in) pg_attribute_noreturn();
/* Of any value, or one within bounds. */
extern int64 hopper_get_int(hopper_reader *in);
extern int64 hopper_get_int_between(hopper_reader *in, int64 least, int64 most);
static inline bool
hopper_get_bool(hopper_reader *in)
{
	return hopper_get_int_between(in, 0, 1) != 0;
}
/* Any int4, and one that is not negative. */
static inline int32
hopper_get_int32(hopper_reader *in)
{
	return (int32) hopper_get_int_between(in, PG_INT32_MIN, PG_INT32_MAX);
}
static inline int32
hopper_get_natural(hopper_reader *in)
{
	return (int32) hopper_get_int_between(in, 0, PG_INT32_MAX);
}
/* Any number, NaN too. */
extern double hopper_get_number(hopper_reader *in);
/* A number of things that follow, each of which takes `least` bytes or more. */
extern int	hopper_get_count(hopper_reader *in, size_t least);
/* palloc'ed, and a zero byte behind it; NULL where there was NULL. */
extern char *hopper_get_bytes(hopper_reader *in, size_t *size);
extern char *hopper_get_text(hopper_reader *in);
/* A text; ERROR where there was NULL. */
extern char *hopper_get_required_text(hopper_reader *in);
/* n numbers of `width` bytes; ERROR where there are others. */
extern void *hopper_get_array(hopper_reader *in, int64 n, size_t width);
/* Reads such an array into the caller's memory. */
extern void hopper_get_array_into(hopper_reader *in, void *values, int64 n, size_t width);
/* Text into a field of `room` bytes; ERROR where it does not fit. */
extern void hopper_get_field(hopper_reader *in, char *field, size_t room);
/* ERROR where more follows. */
extern void hopper_get_end(const hopper_reader *in);

/* --- whole descriptions (greenplum/wire.c) --- */

/*
 * A description begins with this version of the glue and the build of the libraries, and ends with
 * a seal: nobody but a coordinator can make it, and it is good for this session, database and role
 * alone. All the same its readers check what they read.
 */
extern void hopper_begin_description(StringInfo out, hopper_description kind);
extern bytea *hopper_end_description(StringInfo out, hopper_description kind);
/* ERROR 55000 where another version or build wrote it, 42501 where no coordinator did. */
extern void hopper_open_description(const bytea *description, hopper_description kind,
									hopper_reader *in);
/* Their number, and the bytes that hopper_put_bytes() makes of them. */
extern void hopper_put_floats(StringInfo out, const hopper_floats *floats);
extern void hopper_put_desc(StringInfo out, const hopper_data_desc *desc);
extern void hopper_get_desc(hopper_reader *in, hopper_data_desc *desc);

/* --- the seal (greenplum/seal.c) --- */

#define HOPPER_SEAL_SIZE 32

/* HMAC-SHA-256 under the database's secret, bound to session, database and role. */
extern void hopper_seal(hopper_description kind, const char *bytes, size_t size,
						uint8 seal[HOPPER_SEAL_SIZE]);

/* --- arguments and results of the segments' functions (greenplum/wire.c) --- */

/* ERROR where one of the arguments from `first` on is NULL. */
extern void hopper_require_arguments(FunctionCallInfo fcinfo, int first);
/* hopper_make_buffer() of the arguments from `first` on. */
extern hopper_buffer hopper_get_buffer(FunctionCallInfo fcinfo, int first, hopper_split split);
/* A bytea with a copy of the bytes. */
extern Datum hopper_bytes_datum(const void *bytes, size_t size);

#endif							/* HOPPER_WIRE_H */
