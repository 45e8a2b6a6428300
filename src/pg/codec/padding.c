/*
 * padding.c
 *		Sequences of unequal length, filled up to one length when they are packed or predicted from.
 *
 * The rules are those of keras.utils.pad_sequences: a sequence of vectors is padded with whole
 * vectors, one without steps is all padding, and what is too long loses its beginning or its end.
 *
 * A summary keeps them in its column "padding", as text, by input or, of one input, by the column
 * of the features: {"words": {"side": "post", "value": 0, "truncate": null}}. The length is the
 * first dimension of the shape, which the summary has.
 */
#include "pg/codec/rows.h"

#include "utils/json.h"

#include "pg/codec/refusals.h"

/* --- the number that fills up --- */

static bool
is_integer_from(double value, double least, double most)
{
	return value == rint(value) && value >= least && value <= most;
}

bool
hopper_padding_fits(int32 type, double value)
{
	switch (type)
	{
		case HOPPER_UINT8:
			return is_integer_from(value, 0, 255);
		case HOPPER_INT16:
			return is_integer_from(value, PG_INT16_MIN, PG_INT16_MAX);
		case HOPPER_INT32:
			return is_integer_from(value, PG_INT32_MIN, PG_INT32_MAX);
		case HOPPER_INT64:
			/* a double holds these, every one */
			return is_integer_from(value, -9007199254740992.0, 9007199254740992.0);
		default:
			return isfinite((float) value);
	}
}

/* The number as it is packed: its bytes. */
static void
put_value(int32 type, double value, char *out)
{
	float		narrow = (float) value;
	int64		number;

	switch (type)
	{
		case HOPPER_FLOAT32:
			memcpy(out, &narrow, sizeof(narrow));
			break;
		case HOPPER_FLOAT64:
			memcpy(out, &value, sizeof(value));
			break;
		default:
			/* little-endian: the low bytes come first */
			number = (int64) value;
			memcpy(out, &number, hopper_core()->type_size(type));
			break;
	}
}

static void
fill(const hopper_pack_values *values, char *out, int64 n)
{
	size_t		size = hopper_core()->type_size(values->type);
	char		bytes[sizeof(double)];

	if (values->padding.value == 0)
	{
		memset(out, 0, n * size);
		return;
	}
	put_value(values->type, values->padding.value, bytes);
	for (int64 i = 0; i < n; i++)
		memcpy(out + i * size, bytes, size);
}

/* --- rows --- */

/* All dimensions but the first, which counts the steps. */
static bool
same_steps(const hopper_pack_values *values, int rank, const int64 *shape)
{
	if (rank != values->rank)
		return rank == 0;
	for (int i = 1; i < rank; i++)
		if (shape[i] != values->shape[i])
			return false;
	return true;
}

int64
hopper_pad_sequence(const hopper_pack_values *values, const hopper_pack_source *source, int rank,
					const int64 *shape, int64 *first, int64 *at, char *out)
{
	const hopper_pack_padding *padding = &values->padding;
	int64		width = values->count / values->shape[0];
	int64		steps = rank > 0 ? shape[0] : 0;
	int64		kept = Min(steps, values->shape[0]);

	if (!same_steps(values, rank, shape))
		hopper_pack_refuse_steps(values, source, rank, shape);
	if (steps > kept && padding->truncate == PACK_REFUSE_LONGER)
		hopper_pack_refuse_longer(values, source, steps);
	*first = padding->truncate == PACK_CUT_BEGINNING ? (steps - kept) * width : 0;
	*at = padding->before ? (values->shape[0] - kept) * width : 0;
	fill(values, out + (padding->before ? 0 : kept * width *
						hopper_core()->type_size(values->type)),
		 (values->shape[0] - kept) * width);
	return kept * width;
}

static void
take_padding(hopper_pack_values *values, const hopper_pack_padding *padding)
{
	/* whoever has images or columns of numbers gives all that there is */
	if (!padding->given || values->layout != PACK_ARRAY || values->rank < 1)
		return;
	values->padding = *padding;
	if (hopper_padding_fits(values->type, padding->value))
		return;
	while (!hopper_padding_fits(values->type, padding->value))
		values->type++;
	hopper_pack_values_set_shape(values, values->rank, values->shape);
}

void
hopper_pack_values_take_padding(hopper_pack_values *values, const hopper_pack_padding *padding)
{
	if (padding == NULL)
		return;
	if (values->n_parts == 0)
		take_padding(values, padding);
	for (int i = 0; i < values->n_parts; i++)
		take_padding(&values->parts[i], &padding[i]);
	if (values->n_parts > 0)
		hopper_pack_values_know_inputs(values);
}

/* --- summaries --- */

static void
append_padding(StringInfo text, const char *name, const hopper_pack_padding *padding)
{
	if (!padding->given)
		return;
	appendStringInfoString(text, text->len > 1 ? ", " : "");
	escape_json(text, name);
	appendStringInfo(text, ": {\"side\": \"%s\", \"value\": %.17g, \"truncate\": %s}",
					 padding->before ? "pre" : "post", padding->value,
					 padding->truncate == PACK_CUT_END ? "\"post\""
					 : padding->truncate == PACK_CUT_BEGINNING ? "\"pre\"" : "null");
}

char *
hopper_padding_text(const hopper_pack_values *values, const char *name)
{
	StringInfo	text = makeStringInfo();

	appendStringInfoChar(text, '{');
	if (values->n_parts == 0)
		append_padding(text, name, &values->padding);
	for (int i = 0; i < values->n_parts; i++)
		append_padding(text, values->inputs.names[i], &values->parts[i].padding);
	if (text->len == 1)
		return NULL;
	appendStringInfoChar(text, '}');
	return text->data;
}

pg_attribute_noreturn() static void
refuse_padding(const hopper_name *summary)
{
	hopper_refuse_damaged(summary, "Column \"padding\" does not describe the padding of a row.");
}

char *
hopper_padding_side(const char *side, const char *argument, bool *before)
{
	*before = strcmp(side, "pre") == 0;
	return *before || strcmp(side, "post") == 0 ? NULL
		: psprintf("%s \"%s\" is not known", argument, side);
}

hopper_pack_padding *
hopper_read_padding(const hopper_name *summary, const char *text,
					const hopper_pack_inputs *inputs)
{
	hopper_pack_padding *padding;
	uint64		n;

	if (text == NULL)
		return NULL;
	n = hopper_select("SELECT e.key, e.value->>'side', (e.value->>'value')::float8,"
					  " e.value->>'truncate' FROM json_each(%s::json) AS e", hopper_literal(text));
	if (n < 1 || n > (uint64) Max(inputs->n, 1))
		refuse_padding(summary);
	padding = palloc0(sizeof(hopper_pack_padding) * Max(inputs->n, 1));
	for (uint64 row = 0; row < n; row++)
	{
		const char *name = hopper_text_cell(summary, row, 1);
		const char *cut = hopper_cell(row, 4);
		hopper_pack_padding *rule;
		bool		beginning = false;
		int			i = 0;

		while (i < inputs->n && strcmp(inputs->names[i], name) != 0)
			i++;
		rule = &padding[i];
		if ((i > 0 && i == inputs->n) || rule->given || hopper_cell(row, 3) == NULL ||
			hopper_padding_side(hopper_text_cell(summary, row, 2), "", &rule->before) ||
			(cut && hopper_padding_side(cut, "", &beginning)))
			refuse_padding(summary);
		rule->given = true;
		rule->value = hopper_float_value(row, 3);
		rule->truncate = cut == NULL ? PACK_REFUSE_LONGER
			: beginning ? PACK_CUT_BEGINNING : PACK_CUT_END;
		if (!hopper_padding_fits(HOPPER_FLOAT64, rule->value))
			refuse_padding(summary);
	}
	SPI_freetuptable(SPI_tuptable);
	return padding;
}
