/*
 * wire.c
 *		Descriptions of work for the segments: version, build, data, seal.
 *
 * The format is private to one version of the glue; versions are compared before it is read.
 *
 * The segments' functions cannot be taken from PUBLIC: the coordinator's statements call them with
 * the rights of the role that trains, packs or predicts, as they read and write its tables. So any
 * role may call them with any bytes. What a description allows is therefore sealed, and what is in
 * it, as well as everything that comes in beside it, is checked again where it is used.
 */
#include "pg/greenplum/segments.h"

#include "cdb/cdbvars.h"

#include "pg/greenplum/wire.h"

/* --- reading --- */

void
hopper_refuse_description(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("a description for the segments is damaged")));
	pg_unreachable();
}

int64
hopper_get_int(hopper_reader *in)
{
	int64		value;

	if (in->end - in->at < (ptrdiff_t) sizeof(value))
		hopper_refuse_description();
	memcpy(&value, in->at, sizeof(value));
	in->at += sizeof(value);
	return value;
}

int64
hopper_get_int_between(hopper_reader *in, int64 least, int64 most)
{
	int64		value = hopper_get_int(in);

	if (value < least || value > most)
		hopper_refuse_description();
	return value;
}

int
hopper_get_count(hopper_reader *in)
{
	return (int) hopper_get_int_between(in, 0, Min(in->end - in->at, PG_INT32_MAX));
}

char *
hopper_get_bytes(hopper_reader *in, size_t *size)
{
	int64		length = hopper_get_int(in);
	char	   *bytes;

	if (size)
		*size = 0;
	if (length == -1)
		return NULL;
	if (length < 0 || in->end - in->at < length)
		hopper_refuse_description();
	bytes = palloc(length + 1);
	memcpy(bytes, in->at, length);
	bytes[length] = '\0';
	in->at += length;
	if (size)
		*size = (size_t) length;
	return bytes;
}

char *
hopper_get_text(hopper_reader *in)
{
	size_t		size;
	char	   *text = hopper_get_bytes(in, &size);

	if (text && strlen(text) != size)
		hopper_refuse_description();
	return text;
}

char *
hopper_get_required_text(hopper_reader *in)
{
	char	   *text = hopper_get_text(in);

	if (text == NULL)
		hopper_refuse_description();
	return text;
}

void *
hopper_get_array(hopper_reader *in, int64 n, size_t width)
{
	size_t		size;
	char	   *bytes = hopper_get_bytes(in, &size);

	if (n < 0 || bytes == NULL || size / width != (size_t) n || size % width != 0)
		hopper_refuse_description();
	return bytes;
}

void
hopper_get_struct(hopper_reader *in, void *value, size_t expected)
{
	size_t		size;
	char	   *bytes = hopper_get_bytes(in, &size);

	if (bytes == NULL || size != expected)
		hopper_refuse_description();
	memcpy(value, bytes, size);
	pfree(bytes);
}

void
hopper_get_end(const hopper_reader *in)
{
	if (in->at != in->end)
		hopper_refuse_description();
}

/* --- whole descriptions --- */

void
hopper_begin_description(StringInfo out, hopper_description kind)
{
	initStringInfo(out);
	hopper_put_text(out, HOPPER_VERSION);
	hopper_put_text(out, hopper_library_ids());
	hopper_put_int(out, kind);
}

bytea *
hopper_end_description(StringInfo out, hopper_description kind)
{
	bytea	   *result = palloc(VARHDRSZ + out->len + HOPPER_SEAL_SIZE);

	SET_VARSIZE(result, VARHDRSZ + out->len + HOPPER_SEAL_SIZE);
	memcpy(VARDATA(result), out->data, out->len);
	hopper_seal(kind, out->data, out->len, (uint8 *) VARDATA(result) + out->len);
	pfree(out->data);
	return result;
}

/* Takes as long wherever they differ. */
static bool
equal_seals(const uint8 *a, const uint8 *b)
{
	uint8		difference = 0;

	for (int i = 0; i < HOPPER_SEAL_SIZE; i++)
		difference |= a[i] ^ b[i];
	return difference == 0;
}

static void
open_seal(hopper_description kind, const char *begin, hopper_reader *in)
{
	uint8		seal[HOPPER_SEAL_SIZE];

	if (in->end - in->at < HOPPER_SEAL_SIZE)
		hopper_refuse_description();
	in->end -= HOPPER_SEAL_SIZE;
	hopper_seal(kind, begin, in->end - begin, seal);
	if (!equal_seals(seal, (const uint8 *) in->end))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("a description for the segments was not made by this session's "
						"coordinator"),
				 errhint("Call the functions that are for users; those named segment_* are called "
						 "by them.")));
	if (hopper_get_int(in) != kind)
		hopper_refuse_description();
}

void
hopper_open_description(const bytea *description, hopper_description kind, hopper_reader *in)
{
	const char *begin = VARDATA_ANY(description);
	char	   *version;
	char	   *libraries;

	in->at = begin;
	in->end = begin + VARSIZE_ANY_EXHDR(description);
	/* the words of these errors do no harm, whoever they come from */
	version = hopper_get_text(in);
	if (version == NULL || strcmp(version, HOPPER_VERSION) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("model_hopper of this segment is of another version than that of the "
						"coordinator"),
				 errdetail("The coordinator has %s, the segment %s.", version ? version : "none",
						   HOPPER_VERSION),
				 errhint("Install the same version on all hosts, and reconnect.")));
	libraries = hopper_get_text(in);
	if (libraries == NULL || strcmp(libraries, hopper_library_ids()) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("segment %d has another build of model_hopper than the coordinator",
						GpIdentity.segindex),
				 errdetail("The coordinator has %s; segment %d has %s.",
						   libraries ? libraries : "none", GpIdentity.segindex,
						   hopper_library_ids()),
				 errhint("Install the libraries of one build on all hosts, and reconnect.")));
	open_seal(kind, begin, in);
}

void
hopper_put_desc(StringInfo out, const hopper_data_desc *desc)
{
	hopper_data_desc plain = *desc;

	plain.class_values = NULL;
	plain.table_name = plain.x_column = plain.y_column = NULL;
	hopper_put_bytes(out, &plain, sizeof(plain));
	for (int i = 0; i < desc->n_class_values; i++)
		hopper_put_text(out, desc->class_values[i]);
	hopper_put_text(out, desc->table_name);
	hopper_put_text(out, desc->x_column);
	hopper_put_text(out, desc->y_column);
}

void
hopper_get_desc(hopper_reader *in, hopper_data_desc *desc)
{
	const char **values;

	/* shapes, types and the numbers of rows and classes are the core's to check */
	hopper_get_struct(in, desc, sizeof(*desc));
	if (desc->n_partitions < 1 || desc->n_class_values < 0 ||
		desc->n_class_values > in->end - in->at)
		hopper_refuse_description();
	values = palloc(sizeof(char *) * (desc->n_class_values + 1));
	for (int i = 0; i < desc->n_class_values; i++)
		values[i] = hopper_get_text(in);
	desc->class_values = values;
	desc->table_name = hopper_get_required_text(in);
	desc->x_column = hopper_get_required_text(in);
	desc->y_column = hopper_get_required_text(in);
}

/* --- arguments --- */

void
hopper_require_arguments(FunctionCallInfo fcinfo, int first)
{
	for (int i = first; i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("argument %d of a function of the segments is null", i + 1)));
}

void
hopper_get_buffer(FunctionCallInfo fcinfo, int first, hopper_buffer *buffer)
{
	bytea	   *x = PG_GETARG_BYTEA_PP(first + 3);
	bytea	   *y = PG_GETARG_BYTEA_PP(first + 4);
	bytea	   *checksum = PG_GETARG_BYTEA_PP(first + 5);

	memset(buffer, 0, sizeof(*buffer));
	buffer->partition_id = PG_GETARG_INT32(first);
	buffer->buffer_id = PG_GETARG_INT32(first + 1);
	buffer->n = PG_GETARG_INT32(first + 2);
	buffer->x = VARDATA_ANY(x);
	buffer->x_size = VARSIZE_ANY_EXHDR(x);
	buffer->y = VARDATA_ANY(y);
	buffer->y_size = VARSIZE_ANY_EXHDR(y);
	buffer->checksum = (const uint8_t *) VARDATA_ANY(checksum);
	if (VARSIZE_ANY_EXHDR(checksum) != 16)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the checksum of buffer %d has %zu bytes instead of 16",
						buffer->buffer_id, (size_t) VARSIZE_ANY_EXHDR(checksum))));
}

Datum
hopper_bytes_datum(const void *bytes, size_t size)
{
	bytea	   *value = palloc(VARHDRSZ + size);

	SET_VARSIZE(value, VARHDRSZ + size);
	memcpy(VARDATA(value), bytes, size);
	return PointerGetDatum(value);
}
