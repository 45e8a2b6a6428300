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

#include "model_hopper/data.h"

#include "pg/server/floats.h"

/* What a description is about; one of another kind is refused. */
typedef enum hopper_description_kind
{
	HOPPER_DESCRIBES_RUN = 1,
	HOPPER_DESCRIBES_EVALUATION,
	HOPPER_DESCRIBES_PACKING,
	HOPPER_DESCRIBES_PLAN,
	HOPPER_DESCRIBES_PREDICTION,
	HOPPER_DESCRIBES_ENTRY
} hopper_description_kind;

/*
 * Bytes that are written, or read: one function for each struct names its fields once, in their
 * order, and hands each to a function below. That writes the value and returns it; or, where the
 * wire reads, it does not look at the value and returns what comes from the wire. What is read is
 * checked, and ends with an ERROR where it does not hold. (greenplum/wire.c)
 */
typedef struct hopper_wire
{
	StringInfoData out;			/* what is written */
	bool		reads;
	const char *at;				/* what is read next, and where it ends */
	const char *end;
	const char *damaged;		/* the error's message, of a report; NULL: a description's */
} hopper_wire;

extern void hopper_refuse_description(void) pg_attribute_noreturn();
/* What is read is damaged. */
extern void hopper_refuse(const hopper_wire *wire) pg_attribute_noreturn();
/* Any value, or one within bounds. */
extern int64 hopper_wire_int(hopper_wire *wire, int64 value);
extern int64 hopper_wire_between(hopper_wire *wire, int64 value, int64 least, int64 most);
static inline bool
hopper_wire_bool(hopper_wire *wire, bool value)
{
	return hopper_wire_between(wire, value, 0, 1) != 0;
}
/* Any int4, and one that is not negative. */
static inline int32
hopper_wire_int32(hopper_wire *wire, int32 value)
{
	return (int32) hopper_wire_between(wire, value, PG_INT32_MIN, PG_INT32_MAX);
}
static inline int32
hopper_wire_natural(hopper_wire *wire, int32 value)
{
	return (int32) hopper_wire_between(wire, value, 0, PG_INT32_MAX);
}
static inline Oid
hopper_wire_oid(hopper_wire *wire, Oid value)
{
	return (Oid) hopper_wire_between(wire, value, 0, PG_UINT32_MAX);
}
/* Any number, NaN too. */
extern double hopper_wire_number(hopper_wire *wire, double value);
/* A number of things that follow, each of which takes `least` bytes or more. */
extern int	hopper_wire_count(hopper_wire *wire, int n, size_t least);
/*
 * An array of n things of `width` bytes that are passed one by one: a palloc'ed copy, or where it
 * is read or `items` is NULL all zero.
 */
extern void *hopper_wire_items(const hopper_wire *wire, const void *items, int n, size_t width);
/* Bytes; NULL stays NULL. Once read they are palloc'ed, and a zero byte is behind them. */
extern char *hopper_wire_bytes(hopper_wire *wire, const char *bytes, size_t *size);
extern char *hopper_wire_text(hopper_wire *wire, const char *text);
/* A text; ERROR where there was NULL. */
extern char *hopper_wire_required_text(hopper_wire *wire, const char *text);
/* n texts, some of which may be NULL: char ** that is palloc'ed once read. */
extern void *hopper_wire_texts(hopper_wire *wire, const void *texts, int n);
/* n numbers of `width` bytes; ERROR where there are others. */
extern void *hopper_wire_array(hopper_wire *wire, const void *values, int64 n, size_t width);
/* Such an array in the caller's memory. */
extern void hopper_wire_array_in(hopper_wire *wire, void *values, int64 n, size_t width);
/* Text in a field of `room` bytes; ERROR where it does not fit. */
extern void hopper_wire_field(hopper_wire *wire, char *field, size_t room);
/* Their number and all of them; once read they are in memory. */
extern void hopper_wire_floats(hopper_wire *wire, hopper_floats *floats);
extern void hopper_wire_desc(hopper_wire *wire, hopper_data_desc *desc);
/* Begins to write into wire->out, or to read the bytes; `damaged`: see above. */
extern void hopper_wire_write(hopper_wire *wire);
extern void hopper_wire_read(const bytea *bytes, const char *damaged, hopper_wire *wire);
/* ERROR where more follows. */
extern void hopper_wire_end(const hopper_wire *wire);

/* --- whole descriptions (greenplum/wire.c) --- */

/*
 * A description begins with this version of the glue and the build of the libraries, and ends with
 * a seal: nobody but a coordinator can make it, and it is good for this session, database and role
 * alone. All the same its readers check what they read.
 */
typedef struct hopper_description
{
	hopper_description_kind kind;
	/* Passes a thing of its kind, field by field. */
	void		(*pass) (hopper_wire *wire, void *thing);
	size_t		size;			/* of the thing */
} hopper_description;
/* What it passes of a copy of the thing. */
extern bytea *hopper_describe(const hopper_description *description, const void *thing);
/*
 * Fills the thing in; what it points to is palloc'ed. ERROR 55000 where another version or build
 * wrote the bytes, 42501 where no coordinator did.
 */
extern void hopper_read_description(const bytea *bytes, const hopper_description *description,
									void *thing);

/* --- the seal (greenplum/seal.c) --- */

#define HOPPER_SEAL_SIZE 32

/* HMAC-SHA-256 under the database's secret, bound to session, database and role. */
extern void hopper_seal(hopper_description_kind kind, const char *bytes, size_t size,
						uint8 seal[HOPPER_SEAL_SIZE]);

/* --- arguments and results of the segments' functions (greenplum/wire.c) --- */

/* ERROR where one of the arguments from `first` on is NULL. */
extern void hopper_require_arguments(FunctionCallInfo fcinfo, int first);
/* hopper_make_buffer() of the arguments from `first` on. */
extern hopper_buffer hopper_get_buffer(FunctionCallInfo fcinfo, int first, hopper_split split);
/* A bytea with a copy of the bytes. */
extern Datum hopper_bytes_datum(const void *bytes, size_t size);

#endif							/* HOPPER_WIRE_H */
