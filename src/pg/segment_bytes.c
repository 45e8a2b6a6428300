/*
 * segment_bytes.c
 *		Descriptions of work for the segments: version, build, data.
 *
 * The format is private to one version of the glue; versions are compared before it is read.
 */
#include "pg/segments.h"

#ifdef GP_VERSION_NUM

#include "cdb/cdbvars.h"

#include "pg/segment_bytes.h"

void
hopper_begin_description(StringInfo out)
{
	initStringInfo(out);
	put_text(out, HOPPER_VERSION);
	put_text(out, hopper_library_ids());
}

bytea *
hopper_end_description(StringInfo out)
{
	bytea	   *result = palloc(VARHDRSZ + out->len);

	SET_VARSIZE(result, VARHDRSZ + out->len);
	memcpy(VARDATA(result), out->data, out->len);
	pfree(out->data);
	return result;
}

void
hopper_open_description(const bytea *description, reader *in)
{
	char	   *version;
	char	   *libraries;

	in->at = VARDATA_ANY(description);
	in->end = in->at + VARSIZE_ANY_EXHDR(description);
	version = get_bytes(in, NULL);
	if (version == NULL || strcmp(version, HOPPER_VERSION) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("model_hopper of this segment is of another version than that of the "
						"coordinator"),
				 errdetail("The coordinator has %s, the segment %s.", version ? version : "none",
						   HOPPER_VERSION),
				 errhint("Install the same version on all hosts, and reconnect.")));
	libraries = get_bytes(in, NULL);
	if (libraries == NULL || strcmp(libraries, hopper_library_ids()) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("segment %d has another build of model_hopper than the coordinator",
						GpIdentity.segindex),
				 errdetail("The coordinator has %s; segment %d has %s.",
						   libraries ? libraries : "none", GpIdentity.segindex,
						   hopper_library_ids()),
				 errhint("Install the libraries of one build on all hosts, and reconnect.")));
}

void
hopper_put_desc(StringInfo out, const hopper_data_desc *desc)
{
	hopper_data_desc plain = *desc;

	plain.class_values = NULL;
	plain.table_name = plain.x_column = plain.y_column = NULL;
	put_bytes(out, &plain, sizeof(plain));
	for (int i = 0; i < desc->n_class_values; i++)
		put_text(out, desc->class_values[i]);
	put_text(out, desc->table_name);
	put_text(out, desc->x_column);
	put_text(out, desc->y_column);
}

void
hopper_get_struct(reader *in, void *value, size_t expected)
{
	size_t		size;
	char	   *bytes = get_bytes(in, &size);

	if (bytes == NULL || size != expected)
		elog(ERROR, "a description for the segments comes from another version");
	memcpy(value, bytes, size);
}

void *
hopper_get_array(reader *in, int64 n, size_t width)
{
	size_t		size = 0;
	char	   *bytes = get_bytes(in, &size);

	if (n < 0 || bytes == NULL || size / width != (size_t) n || size % width != 0)
		elog(ERROR, "a description for the segments is damaged");
	return bytes;
}

void
hopper_get_desc(reader *in, hopper_data_desc *desc)
{
	const char **values;

	hopper_get_struct(in, desc, sizeof(*desc));
	values = palloc(sizeof(char *) * (Max(desc->n_class_values, 0) + 1));
	for (int i = 0; i < desc->n_class_values; i++)
		values[i] = get_bytes(in, NULL);
	desc->class_values = values;
	desc->table_name = get_bytes(in, NULL);
	desc->x_column = get_bytes(in, NULL);
	desc->y_column = get_bytes(in, NULL);
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

#endif							/* GP_VERSION_NUM */
