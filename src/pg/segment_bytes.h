/*
 * segment_bytes.h
 *		Numbers and text as bytes that travel to the segments, for the files that describe work to
 *		them, and packed buffers among the arguments of the segments' functions. Both ends are the
 *		same version of the glue, which is what the first text is for.
 */
#ifndef HOPPER_SEGMENT_BYTES_H
#define HOPPER_SEGMENT_BYTES_H

#include "fmgr.h"
#include "lib/stringinfo.h"

typedef struct reader
{
	const char *at;
	const char *end;
} reader;

static inline void
put_int(StringInfo out, int64 value)
{
	appendBinaryStringInfo(out, (const char *) &value, sizeof(value));
}

static inline void
put_bytes(StringInfo out, const void *bytes, size_t size)
{
	put_int(out, (int64) size);
	appendBinaryStringInfo(out, bytes, (int) size);
}

/* NULL stays NULL. */
static inline void
put_text(StringInfo out, const char *text)
{
	if (text == NULL)
		put_int(out, -1);
	else
		put_bytes(out, text, strlen(text));
}

static inline int64
get_int(reader *in)
{
	int64		value;

	if (in->end - in->at < (ptrdiff_t) sizeof(value))
		elog(ERROR, "a description for the segments is truncated");
	memcpy(&value, in->at, sizeof(value));
	in->at += sizeof(value);
	return value;
}

static inline char *
get_bytes(reader *in, size_t *size)
{
	int64		length = get_int(in);
	char	   *bytes;

	if (length < 0)
		return NULL;
	if (in->end - in->at < length)
		elog(ERROR, "a description for the segments is truncated");
	bytes = palloc(length + 1);
	memcpy(bytes, in->at, length);
	bytes[length] = '\0';
	in->at += length;
	if (size)
		*size = (size_t) length;
	return bytes;
}

static inline int
get_count(reader *in)
{
	int64		count = get_int(in);

	if (count < 0 || count > in->end - in->at)
		elog(ERROR, "a description for the segments is damaged");
	return (int) count;
}

/* --- whole descriptions (segment_bytes.c) --- */

/* Begins with this version of the glue and the build of the libraries. */
extern void hopper_begin_description(StringInfo out);
extern bytea *hopper_end_description(StringInfo out);
/* ERROR 55000 where another version or build wrote it. */
extern void hopper_open_description(const bytea *description, reader *in);
extern void hopper_put_desc(StringInfo out, const hopper_data_desc *desc);
extern void hopper_get_desc(reader *in, hopper_data_desc *desc);
/*
 * n numbers of `width` bytes; ERROR where there are others: anybody may call the segments'
 * functions, lengths are not taken on trust.
 */
extern void *hopper_get_array(reader *in, int64 n, size_t width);
/* ERROR where it has another size. */
extern void hopper_get_struct(reader *in, void *value, size_t expected);

/*
 * A packed buffer of the arguments partition_id, buffer_id, n, x, y, checksum from `first` on; the
 * caller sets the split. Its memory is the arguments'.
 */
extern void hopper_get_buffer(FunctionCallInfo fcinfo, int first, hopper_buffer *buffer);
/* A bytea with a copy of the bytes. */
extern Datum hopper_bytes_datum(const void *bytes, size_t size);

#endif							/* HOPPER_SEGMENT_BYTES_H */
