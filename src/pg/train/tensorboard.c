/*
 * tensorboard.c
 *		tensorboard_files(): what trials have reached as TensorBoard's event files.
 *
 * A file is a row of records: length, its checksum, bytes, their checksum; each is an Event of
 * tensorflow/core/util/event.proto, written here by hand, since of its many fields few are needed.
 * Hyperparameters are those of tensorboard/plugins/hparams/plugin_data.proto.
 */
#include "pg/train/report.h"

/* --- bytes, the least significant first --- */

static void
put_number(StringInfo out, uint64 value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		appendStringInfoCharMacro(out, (char) (value >> (8 * i)));
}

/* CRC-32C (Castagnoli) as TensorFlow's records have it: rotated, and with an offset. */
static uint32
masked_checksum(const char *data, int length)
{
	static uint32 table[256];
	uint32		crc = 0xFFFFFFFF;

	if (table[1] == 0)
		for (uint32 i = 0; i < 256; i++)
		{
			uint32		entry = i;

			for (int bit = 0; bit < 8; bit++)
				entry = (entry >> 1) ^ (entry & 1 ? 0x82F63B78 : 0);
			table[i] = entry;
		}
	for (int i = 0; i < length; i++)
		crc = (crc >> 8) ^ table[(crc ^ (unsigned char) data[i]) & 0xFF];
	crc = ~crc;
	return ((crc >> 15) | (crc << 17)) + 0xA282EAD8;
}

static void
put_record(StringInfo out, const StringInfoData *event)
{
	int			start = out->len;

	put_number(out, (uint64) event->len, 8);
	put_number(out, masked_checksum(out->data + start, 8), 4);
	appendBinaryStringInfo(out, event->data, event->len);
	put_number(out, masked_checksum(event->data, event->len), 4);
}

/* --- fields of protocol buffers --- */

static void
put_varint(StringInfo out, uint64 value)
{
	for (; value >= 0x80; value >>= 7)
		appendStringInfoCharMacro(out, (char) (value | 0x80));
	appendStringInfoCharMacro(out, (char) value);
}

static void
put_integer(StringInfo out, int field, uint64 value)
{
	put_varint(out, (uint64) field << 3);
	put_varint(out, value);
}

static void
put_double(StringInfo out, int field, double value)
{
	uint64		bits;

	memcpy(&bits, &value, sizeof(bits));
	put_varint(out, (uint64) field << 3 | 1);
	put_number(out, bits, 8);
}

static void
put_float(StringInfo out, int field, double value)
{
	float		narrow = (float) value;
	uint32		bits;

	memcpy(&bits, &narrow, sizeof(bits));
	put_varint(out, (uint64) field << 3 | 5);
	put_number(out, bits, 4);
}

static void
put_bytes(StringInfo out, int field, const char *data, int length)
{
	put_varint(out, (uint64) field << 3 | 2);
	put_varint(out, (uint64) length);
	appendBinaryStringInfo(out, data, length);
}

static void
put_text(StringInfo out, int field, const char *text)
{
	put_bytes(out, field, text, (int) strlen(text));
}

/* The message is written, and empty again. */
static void
put_message(StringInfo out, int field, StringInfo message)
{
	put_bytes(out, field, message->data, message->len);
	resetStringInfo(message);
}

/* --- events --- */

typedef struct event_file
{
	StringInfoData out;
	/* parts of an event, from the outermost in */
	StringInfoData event;
	StringInfoData summary;
	StringInfoData value;
	StringInfoData inner;
	StringInfoData innermost;
} event_file;

/* Event { wall_time = 1, step = 2, summary = 5 { value = 1 } } */
static void
end_value(event_file *file, double time, int64 step)
{
	put_message(&file->summary, 1, &file->value);
	put_double(&file->event, 1, time);
	put_integer(&file->event, 2, (uint64) step);
	put_message(&file->event, 5, &file->summary);
	put_record(&file->out, &file->event);
	resetStringInfo(&file->event);
}

/* Value { tag = 1, simple_value = 2 } */
static void
put_scalar(event_file *file, const char *tag, double time, int64 step, double value)
{
	put_text(&file->value, 1, tag);
	put_float(&file->value, 2, value);
	end_value(file, time, step);
}

/*
 * Value { tag = 1, tensor = 8 { dtype = 1, shape = 2 }, metadata = 9 { plugin_data = 1 { name = 1,
 * content = 2 } } }; `inner` is the content.
 */
static void
put_plugin(event_file *file, const char *tag, double time)
{
	StringInfoData *scratch = &file->innermost;

	put_text(&file->value, 1, tag);
	put_integer(scratch, 1, 1);
	put_bytes(scratch, 2, "", 0);
	put_message(&file->value, 8, scratch);
	put_text(scratch, 1, "hparams");
	put_message(scratch, 2, &file->inner);
	put_message(&file->inner, 1, scratch);
	put_message(&file->value, 9, &file->inner);
	end_value(file, time, 0);
}

/* google.protobuf.Value { number_value = 2 } or { string_value = 3 } */
static void
put_given(StringInfo out, const char *text)
{
	char	   *end;
	double		number = strtod(text, &end);

	if (end != text && *end == '\0')
		put_double(out, 2, number);
	else
		put_text(out, 3, text);
}

/* The elements of an array argument without NULLs; ERROR where they are not `n`, unless n is -1. */
static Datum *
elements(FunctionCallInfo fcinfo, int at, int *n)
{
	Datum	   *values;
	bool	   *nulls;
	int			found = hopper_elements(PG_GETARG_ARRAYTYPE_P(at), &values, &nulls);

	if (*n == -1)
		*n = found;
	for (int i = 0; i < found; i++)
		if (nulls[i])
			found = -1;
	if (found != *n)
		hopper_raise(ERRCODE_ARRAY_SUBSCRIPT_ERROR,
					 errmsg("arrays of events must have the same length and no NULLs"));
	return values;
}

static const char *
utf8_of(Datum value)
{
	return hopper_to_utf8(TextDatumGetCString(value));
}

/* tensorboard_events(tags, steps, times, values, names, given, began, failed): strict */
HOPPER_FUNCTION(hopper_sql_tensorboard_events)
{
	int			n = -1;
	int			n_given = -1;
	Datum	   *tags = elements(fcinfo, 0, &n);
	Datum	   *steps = elements(fcinfo, 1, &n);
	Datum	   *times = elements(fcinfo, 2, &n);
	Datum	   *values = elements(fcinfo, 3, &n);
	Datum	   *names = elements(fcinfo, 4, &n_given);
	Datum	   *given = elements(fcinfo, 5, &n_given);
	double		began = PG_GETARG_FLOAT8(6);
	double		ended = n > 0 ? DatumGetFloat8(times[n - 1]) : began;
	StringInfo	pair = makeStringInfo();
	event_file	file;
	bytea	   *result;

	initStringInfo(&file.out);
	initStringInfo(&file.event);
	initStringInfo(&file.summary);
	initStringInfo(&file.value);
	initStringInfo(&file.inner);
	initStringInfo(&file.innermost);
	put_double(&file.event, 1, began);
	put_text(&file.event, 3, "brain.Event:2");
	put_record(&file.out, &file.event);
	resetStringInfo(&file.event);

	/* HParamsPluginData { session_start_info = 3 { hparams = 1 { key, value }, start = 5 } } */
	for (int i = 0; i < n_given; i++)
	{
		put_text(pair, 1, utf8_of(names[i]));
		put_given(&file.summary, utf8_of(given[i]));
		put_message(pair, 2, &file.summary);
		put_message(&file.innermost, 1, pair);
	}
	put_double(&file.innermost, 5, began);
	put_message(&file.inner, 3, &file.innermost);
	put_plugin(&file, "_hparams_/session_start_info", began);
	for (int i = 0; i < n; i++)
	{
		put_scalar(&file, utf8_of(tags[i]), DatumGetFloat8(times[i]), DatumGetInt64(steps[i]),
				   DatumGetFloat8(values[i]));
		CHECK_FOR_INTERRUPTS();
	}
	/* session_end_info = 4 { status = 1: success 1, failure 2; end = 2 } */
	put_integer(&file.innermost, 1, PG_GETARG_BOOL(7) ? 2 : 1);
	put_double(&file.innermost, 2, ended);
	put_message(&file.inner, 4, &file.innermost);
	put_plugin(&file, "_hparams_/session_end_info", ended);

	result = palloc(VARHDRSZ + file.out.len);
	SET_VARSIZE(result, VARHDRSZ + file.out.len);
	memcpy(VARDATA(result), file.out.data, file.out.len);
	PG_RETURN_BYTEA_P(result);
}

/* tensorboard_files(model_table): rows of path and bytes */
HOPPER_FUNCTION(hopper_sql_tensorboard_files)
{
	hopper_name models = hopper_name_argument(fcinfo, 0, "model_table");
	char	   *schema = get_namespace_name(hopper_schema());

	return hopper_return_query(fcinfo,
							   psprintf("SELECT path, content FROM %s.tensorboard_within(%s)",
										hopper_identifier(schema), hopper_whole_name(&models)));
}
