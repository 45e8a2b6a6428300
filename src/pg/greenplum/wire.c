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

/* --- values --- */

void
hopper_refuse_description(void)
{
	hopper_wrong(errmsg("a description for the segments is damaged"));
	pg_unreachable();
}

void
hopper_refuse(const hopper_wire *wire)
{
	if (wire->damaged == NULL)
		hopper_refuse_description();
	hopper_raise(ERRCODE_DATA_CORRUPTED, errmsg("%s", wire->damaged),
				 errhint("Install the libraries of one build on all hosts, reconnect, and "
						 "repeat."));
	pg_unreachable();
}

static void
pass(hopper_wire *wire, void *value, int64 size)
{
	if (!wire->reads)
	{
		appendBinaryStringInfo(&wire->out, value, (int) size);
		return;
	}
	if (size < 0 || wire->end - wire->at < size)
		hopper_refuse(wire);
	memcpy(value, wire->at, size);
	wire->at += size;
}

int64
hopper_wire_int(hopper_wire *wire, int64 value)
{
	pass(wire, &value, sizeof(value));
	return value;
}

int64
hopper_wire_between(hopper_wire *wire, int64 value, int64 least, int64 most)
{
	value = hopper_wire_int(wire, value);
	if (wire->reads && (value < least || value > most))
		hopper_refuse(wire);
	return value;
}

double
hopper_wire_number(hopper_wire *wire, double value)
{
	pass(wire, &value, sizeof(value));
	return value;
}

int
hopper_wire_count(hopper_wire *wire, int n, size_t least)
{
	n = hopper_wire_natural(wire, n);
	if (wire->reads && n > (wire->end - wire->at) / (ptrdiff_t) least)
		hopper_refuse(wire);
	return n;
}

void *
hopper_wire_items(const hopper_wire *wire, const void *items, int n, size_t width)
{
	void	   *copy = hopper_palloc0_huge(((size_t) n + 1) * width);

	if (!wire->reads && items)
		memcpy(copy, items, n * width);
	return copy;
}

char *
hopper_wire_bytes(hopper_wire *wire, const char *bytes, size_t *size)
{
	int64		length = hopper_wire_int(wire, bytes ? (int64) *size : -1);
	char	   *read;

	if (!wire->reads)
	{
		if (bytes)
			appendBinaryStringInfo(&wire->out, bytes, (int) length);
		return (char *) bytes;
	}
	*size = 0;
	if (length == -1)
		return NULL;
	if (length < 0 || wire->end - wire->at < length)
		hopper_refuse(wire);
	read = palloc(length + 1);
	pass(wire, read, length);
	read[length] = '\0';
	*size = (size_t) length;
	return read;
}

char *
hopper_wire_text(hopper_wire *wire, const char *text)
{
	size_t		size = wire->reads || text == NULL ? 0 : strlen(text);
	char	   *result = hopper_wire_bytes(wire, text, &size);

	if (result && strlen(result) != size)
		hopper_refuse(wire);
	return result;
}

char *
hopper_wire_required_text(hopper_wire *wire, const char *text)
{
	char	   *result = hopper_wire_text(wire, text);

	if (wire->reads && result == NULL)
		hopper_refuse(wire);
	return result;
}

void *
hopper_wire_texts(hopper_wire *wire, const void *texts, int n)
{
	char	  **copy = hopper_wire_items(wire, texts, n, sizeof(char *));

	for (int i = 0; i < n; i++)
		copy[i] = hopper_wire_text(wire, copy[i]);
	return copy;
}

void *
hopper_wire_array(hopper_wire *wire, const void *values, int64 n, size_t width)
{
	size_t		size = wire->reads ? 0 : n * width;
	char	   *bytes = hopper_wire_bytes(wire, values ? values : "", &size);

	if (n < 0 || bytes == NULL || size / width != (size_t) n || size % width != 0)
		hopper_refuse(wire);
	return bytes;
}

void
hopper_wire_array_in(hopper_wire *wire, void *values, int64 n, size_t width)
{
	void	   *read = hopper_wire_array(wire, values, n, width);

	if (!wire->reads)
		return;
	memcpy(values, read, n * width);
	pfree(read);
}

void
hopper_wire_field(hopper_wire *wire, char *field, size_t room)
{
	char	   *text = hopper_wire_required_text(wire, field);

	if (!wire->reads)
		return;
	if (strlcpy(field, text, room) >= room)
		hopper_refuse(wire);
	pfree(text);
}

static int
append_piece(void *out, int64 first, const float *values, int64 n, hopper_error *error)
{
	appendBinaryStringInfo(out, (const char *) values, (int) (n * sizeof(float)));
	return 0;
}

void
hopper_wire_floats(hopper_wire *wire, hopper_floats *floats)
{
	floats->n = hopper_wire_int(wire, floats->n);
	if (wire->reads)
	{
		floats->values = hopper_wire_array(wire, NULL, floats->n, sizeof(float));
		return;
	}
	(void) hopper_wire_int(wire, floats->n * (int64) sizeof(float));
	hopper_floats_pass(floats, append_piece, &wire->out);
}

void
hopper_wire_write(hopper_wire *wire)
{
	memset(wire, 0, sizeof(*wire));
	initStringInfo(&wire->out);
}

void
hopper_wire_read(const bytea *bytes, const char *damaged, hopper_wire *wire)
{
	memset(wire, 0, sizeof(*wire));
	wire->reads = true;
	wire->at = VARDATA_ANY(bytes);
	wire->end = wire->at + VARSIZE_ANY_EXHDR(bytes);
	wire->damaged = damaged;
}

void
hopper_wire_end(const hopper_wire *wire)
{
	if (wire->at != wire->end)
		hopper_refuse(wire);
}

/* --- whole descriptions --- */

bytea *
hopper_describe(const hopper_description *description, const void *thing)
{
	hopper_wire wire;
	const StringInfo out = &wire.out;
	bytea	   *result;

	hopper_wire_write(&wire);
	(void) hopper_wire_text(&wire, HOPPER_VERSION);
	(void) hopper_wire_text(&wire, hopper_library_ids());
	(void) hopper_wire_int(&wire, description->kind);
	description->pass(&wire, memcpy(palloc(description->size), thing, description->size));
	result = palloc(VARHDRSZ + out->len + HOPPER_SEAL_SIZE);
	SET_VARSIZE(result, VARHDRSZ + out->len + HOPPER_SEAL_SIZE);
	memcpy(VARDATA(result), out->data, out->len);
	hopper_seal(description->kind, out->data, out->len, (uint8 *) VARDATA(result) + out->len);
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
open_seal(hopper_description_kind kind, const char *begin, hopper_wire *wire)
{
	uint8		seal[HOPPER_SEAL_SIZE];

	if (wire->end - wire->at < HOPPER_SEAL_SIZE)
		hopper_refuse_description();
	wire->end -= HOPPER_SEAL_SIZE;
	hopper_seal(kind, begin, wire->end - begin, seal);
	if (!equal_seals(seal, (const uint8 *) wire->end))
		hopper_raise(ERRCODE_INSUFFICIENT_PRIVILEGE,
					 errmsg("a description for the segments was not made by this session's "
							"coordinator"),
					 errhint("Call the functions that are for users; those named segment_* are "
							 "called by them."));
	if (hopper_wire_int(wire, 0) != kind)
		hopper_refuse_description();
}

void
hopper_read_description(const bytea *bytes, const hopper_description *description, void *thing)
{
	const char *begin = VARDATA_ANY(bytes);
	hopper_wire wire;
	char	   *version;
	char	   *libraries;

	hopper_wire_read(bytes, NULL, &wire);
	/* the words of these errors do no harm, whoever they come from */
	version = hopper_wire_text(&wire, NULL);
	if (version == NULL || strcmp(version, HOPPER_VERSION) != 0)
		hopper_unmet(errmsg("model_hopper of this segment is of another version than that of the "
							"coordinator"),
					 errdetail("The coordinator has %s, the segment %s.",
							   version ? version : "none", HOPPER_VERSION),
					 errhint("Install the same version on all hosts, and reconnect."));
	libraries = hopper_wire_text(&wire, NULL);
	if (libraries == NULL || strcmp(libraries, hopper_library_ids()) != 0)
		hopper_unmet(errmsg("segment %d has another build of model_hopper than the coordinator",
							GpIdentity.segindex),
					 errdetail("The coordinator has %s; segment %d has %s.",
							   libraries ? libraries : "none", GpIdentity.segindex,
							   hopper_library_ids()),
					 errhint("Install the libraries of one build on all hosts, and reconnect."));
	open_seal(description->kind, begin, &wire);
	memset(thing, 0, description->size);
	description->pass(&wire, thing);
	hopper_wire_end(&wire);
}

static void
pass_output(hopper_wire *wire, hopper_output *output)
{
	output->name = hopper_wire_required_text(wire, output->name);
	output->column = hopper_wire_required_text(wire, output->column);
	output->kind = hopper_wire_int32(wire, output->kind);
	output->rank = hopper_wire_int32(wire, output->rank);
	hopper_wire_array_in(wire, output->shape, HOPPER_MAX_RANK, sizeof(int64));
	output->num_classes = hopper_wire_int32(wire, output->num_classes);
	output->n_class_values = hopper_wire_count(wire, output->n_class_values, sizeof(int64));
	output->class_values = hopper_wire_texts(wire, output->class_values, output->n_class_values);
	hopper_wire_array_in(wire, &output->scale, 1, sizeof(output->scale));
}

void
hopper_wire_desc(hopper_wire *wire, hopper_data_desc *desc)
{
	hopper_input *inputs;
	hopper_output *outputs;

	desc->x_type = hopper_wire_int32(wire, desc->x_type);
	desc->x_rank = hopper_wire_int32(wire, desc->x_rank);
	hopper_wire_array_in(wire, desc->x_shape, HOPPER_MAX_RANK, sizeof(int64));
	desc->n_inputs = hopper_wire_count(wire, desc->n_inputs, 4 * sizeof(int64));
	desc->inputs = inputs = hopper_wire_items(wire, desc->inputs, desc->n_inputs,
											  sizeof(hopper_input));
	for (int i = 0; i < desc->n_inputs; i++)
	{
		inputs[i].name = hopper_wire_required_text(wire, inputs[i].name);
		inputs[i].type = hopper_wire_int32(wire, inputs[i].type);
		inputs[i].rank = hopper_wire_int32(wire, inputs[i].rank);
		hopper_wire_array_in(wire, inputs[i].shape, HOPPER_MAX_RANK, sizeof(int64));
	}
	desc->y_kind = hopper_wire_int32(wire, desc->y_kind);
	desc->y_type = hopper_wire_int32(wire, desc->y_type);
	desc->y_rank = hopper_wire_int32(wire, desc->y_rank);
	hopper_wire_array_in(wire, desc->y_shape, HOPPER_MAX_RANK, sizeof(int64));
	desc->num_classes = hopper_wire_int32(wire, desc->num_classes);
	desc->weighted = hopper_wire_int32(wire, desc->weighted);
	desc->n_outputs = hopper_wire_count(wire, desc->n_outputs, 6 * sizeof(int64));
	desc->outputs = outputs = hopper_wire_items(wire, desc->outputs, desc->n_outputs,
												sizeof(hopper_output));
	for (int i = 0; i < desc->n_outputs; i++)
		pass_output(wire, &outputs[i]);
	desc->n_partitions = (int32) hopper_wire_between(wire, desc->n_partitions, 1, PG_INT32_MAX);
	desc->n_rows = hopper_wire_int(wire, desc->n_rows);
	desc->buffer_rows = hopper_wire_between(wire, desc->buffer_rows, 0, PG_INT32_MAX);
	desc->normalizing_const = hopper_wire_number(wire, desc->normalizing_const);
	hopper_wire_array_in(wire, &desc->label_scale, 1, sizeof(desc->label_scale));
	desc->validation = hopper_wire_int32(wire, desc->validation);
	desc->n_class_values = hopper_wire_count(wire, desc->n_class_values, sizeof(int64));
	desc->class_values = hopper_wire_texts(wire, desc->class_values, desc->n_class_values);
	desc->table_name = hopper_wire_required_text(wire, desc->table_name);
	desc->x_column = hopper_wire_required_text(wire, desc->x_column);
	desc->y_column = hopper_wire_required_text(wire, desc->y_column);
}

/* --- arguments --- */

void
hopper_require_arguments(FunctionCallInfo fcinfo, int first)
{
	for (int i = first; i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i))
			hopper_raise(ERRCODE_NULL_VALUE_NOT_ALLOWED,
						 errmsg("argument %d of a function of the segments is null", i + 1));
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
