/*
 * wire.c
 *		Descriptions of work for the segments: version, build, data, seal.
 *
 * The segments' functions cannot be taken from PUBLIC: the coordinator's statements call them with
 * the rights of the role that trains, packs or predicts, as they read and write its tables. So any
 * role may call them with any bytes. What a description allows is therefore sealed, and what is in
 * it, as well as everything that comes in beside it, is checked again where it is used.
 *
 * Models on their way and reports are not sealed: they allow nothing, and lie in tables of the role
 * that trains, whose results they become and who may write those anyway. (A keyed digest of each
 * state at each hop would also take longer than moving it.) Against damage a model has a checksum.
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

void
hopper_refuse(const hopper_reader *in)
{
	if (in->damaged == NULL)
		hopper_refuse_description();
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("%s", in->damaged),
			 errhint("Install the libraries of one build on all hosts, reconnect, and repeat.")));
	pg_unreachable();
}

int64
hopper_get_int(hopper_reader *in)
{
	int64		value;

	if (in->end - in->at < (ptrdiff_t) sizeof(value))
		hopper_refuse(in);
	memcpy(&value, in->at, sizeof(value));
	in->at += sizeof(value);
	return value;
}

int64
hopper_get_int_between(hopper_reader *in, int64 least, int64 most)
{
	int64		value = hopper_get_int(in);

	if (value < least || value > most)
		hopper_refuse(in);
	return value;
}

double
hopper_get_number(hopper_reader *in)
{
	double		value;

	if (in->end - in->at < (ptrdiff_t) sizeof(value))
		hopper_refuse(in);
	memcpy(&value, in->at, sizeof(value));
	in->at += sizeof(value);
	return value;
}

int
hopper_get_count(hopper_reader *in, size_t least)
{
	int64		n = hopper_get_int_between(in, 0, PG_INT32_MAX);

	if (n > (in->end - in->at) / (ptrdiff_t) least)
		hopper_refuse(in);
	return (int) n;
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
		hopper_refuse(in);
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
		hopper_refuse(in);
	return text;
}

char *
hopper_get_required_text(hopper_reader *in)
{
	char	   *text = hopper_get_text(in);

	if (text == NULL)
		hopper_refuse(in);
	return text;
}

void *
hopper_get_array(hopper_reader *in, int64 n, size_t width)
{
	size_t		size;
	char	   *bytes = hopper_get_bytes(in, &size);

	if (n < 0 || bytes == NULL || size / width != (size_t) n || size % width != 0)
		hopper_refuse(in);
	return bytes;
}

void
hopper_get_array_into(hopper_reader *in, void *values, int64 n, size_t width)
{
	void	   *read = hopper_get_array(in, n, width);

	memcpy(values, read, n * width);
	pfree(read);
}

void
hopper_get_field(hopper_reader *in, char *field, size_t room)
{
	char	   *text = hopper_get_required_text(in);

	if (strlcpy(field, text, room) >= room)
		hopper_refuse(in);
	pfree(text);
}

void
hopper_get_end(const hopper_reader *in)
{
	if (in->at != in->end)
		hopper_refuse(in);
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
	in->damaged = NULL;
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

static int
append_piece(void *out, int64 first, const float *values, int64 n, hopper_error *error)
{
	appendBinaryStringInfo(out, (const char *) values, (int) (n * sizeof(float)));
	return 0;
}

void
hopper_put_floats(StringInfo out, const hopper_floats *floats)
{
	hopper_put_int(out, floats->n);
	hopper_put_int(out, floats->n * (int64) sizeof(float));
	hopper_floats_pass(floats, append_piece, out);
}

void
hopper_put_desc(StringInfo out, const hopper_data_desc *desc)
{
	hopper_put_int(out, desc->x_type);
	hopper_put_int(out, desc->x_rank);
	hopper_put_bytes(out, desc->x_shape, sizeof(desc->x_shape));
	hopper_put_int(out, desc->n_inputs);
	for (int i = 0; i < desc->n_inputs; i++)
	{
		hopper_put_text(out, desc->inputs[i].name);
		hopper_put_int(out, desc->inputs[i].type);
		hopper_put_int(out, desc->inputs[i].rank);
		hopper_put_bytes(out, desc->inputs[i].shape, sizeof(desc->inputs[i].shape));
	}
	hopper_put_int(out, desc->y_kind);
	hopper_put_int(out, desc->y_type);
	hopper_put_int(out, desc->y_rank);
	hopper_put_bytes(out, desc->y_shape, sizeof(desc->y_shape));
	hopper_put_int(out, desc->num_classes);
	hopper_put_int(out, desc->weighted);
	hopper_put_int(out, desc->n_outputs);
	for (int i = 0; i < desc->n_outputs; i++)
	{
		const hopper_output *output = &desc->outputs[i];

		hopper_put_text(out, output->name);
		hopper_put_text(out, output->column);
		hopper_put_int(out, output->kind);
		hopper_put_int(out, output->rank);
		hopper_put_bytes(out, output->shape, sizeof(output->shape));
		hopper_put_int(out, output->num_classes);
		hopper_put_int(out, output->n_class_values);
		for (int k = 0; k < output->n_class_values; k++)
			hopper_put_text(out, output->class_values[k]);
	}
	hopper_put_int(out, desc->n_partitions);
	hopper_put_int(out, desc->n_rows);
	hopper_put_int(out, desc->buffer_rows);
	hopper_put_number(out, desc->normalizing_const);
	hopper_put_number(out, desc->label_unit);
	hopper_put_int(out, desc->validation);
	hopper_put_int(out, desc->n_class_values);
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
	hopper_input *inputs;
	hopper_output *outputs;

	/* shapes, types and the numbers of rows and classes are the core's to check */
	desc->x_type = hopper_get_int32(in);
	desc->x_rank = hopper_get_int32(in);
	hopper_get_array_into(in, desc->x_shape, HOPPER_MAX_RANK, sizeof(int64));
	desc->n_inputs = hopper_get_count(in, 4 * sizeof(int64));
	inputs = palloc0(sizeof(hopper_input) * (desc->n_inputs + 1));
	for (int i = 0; i < desc->n_inputs; i++)
	{
		inputs[i].name = hopper_get_required_text(in);
		inputs[i].type = hopper_get_int32(in);
		inputs[i].rank = hopper_get_int32(in);
		hopper_get_array_into(in, inputs[i].shape, HOPPER_MAX_RANK, sizeof(int64));
	}
	desc->inputs = inputs;
	desc->y_kind = hopper_get_int32(in);
	desc->y_type = hopper_get_int32(in);
	desc->y_rank = hopper_get_int32(in);
	hopper_get_array_into(in, desc->y_shape, HOPPER_MAX_RANK, sizeof(int64));
	desc->num_classes = hopper_get_int32(in);
	desc->weighted = hopper_get_int32(in);
	desc->n_outputs = hopper_get_count(in, 6 * sizeof(int64));
	outputs = palloc0(sizeof(hopper_output) * (desc->n_outputs + 1));
	for (int i = 0; i < desc->n_outputs; i++)
	{
		outputs[i].name = hopper_get_required_text(in);
		outputs[i].column = hopper_get_required_text(in);
		outputs[i].kind = hopper_get_int32(in);
		outputs[i].rank = hopper_get_int32(in);
		hopper_get_array_into(in, outputs[i].shape, HOPPER_MAX_RANK, sizeof(int64));
		outputs[i].num_classes = hopper_get_int32(in);
		outputs[i].n_class_values = hopper_get_count(in, sizeof(int64));
		values = palloc(sizeof(char *) * (outputs[i].n_class_values + 1));
		for (int k = 0; k < outputs[i].n_class_values; k++)
			values[k] = hopper_get_text(in);
		outputs[i].class_values = values;
	}
	desc->outputs = outputs;
	desc->n_partitions = (int32) hopper_get_int_between(in, 1, PG_INT32_MAX);
	desc->n_rows = hopper_get_int(in);
	desc->buffer_rows = hopper_get_int_between(in, 0, PG_INT32_MAX);
	desc->normalizing_const = hopper_get_number(in);
	desc->label_unit = hopper_get_number(in);
	desc->validation = hopper_get_int32(in);
	desc->n_class_values = hopper_get_count(in, sizeof(int64));
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

hopper_buffer
hopper_get_buffer(FunctionCallInfo fcinfo, int first, hopper_split split)
{
	Datum		row[6];

	for (int i = 0; i < lengthof(row); i++)
		row[i] = PG_GETARG_DATUM(first + i);
	return hopper_make_buffer(split, row);
}

Datum
hopper_bytes_datum(const void *bytes, size_t size)
{
	bytea	   *value = palloc(VARHDRSZ + size);

	SET_VARSIZE(value, VARHDRSZ + size);
	hopper_copy(VARDATA(value), bytes, size);
	return PointerGetDatum(value);
}
