/*
 * inputs.c
 *		Features of models with several inputs: which columns belong to which input, and their rows
 *		as packed bytes: one input behind the other, each in its own type.
 *
 * The user names them in independent_varname: '{"image": "pixels", "numbers": ["age", "height"]}'.
 * A summary keeps what was packed in its column "inputs", as text:
 * [{"name": "image", "columns": 1, "type": "uint8", "shape": [28, 28, 1]}, ...]
 */
#include "pg/codec/rows.h"

#include "utils/json.h"

/* --- what the user asks for --- */

/* "input", and of the labels "output" */
static const char *
named_word(const char *argument)
{
	return strcmp(argument, "dependent_varname") == 0 ? "output" : "input";
}

static char *
named_hint(const char *argument)
{
	return strcmp(named_word(argument), "output") == 0
		? "Write '{\"output\": \"column\", ...}'."
		: "Write '{\"input\": \"column\", ...}', or a list of columns in place of one.";
}

static void
read_json(void *written)
{
	(void) hopper_select("SELECT %s::json", hopper_literal(written));
}

void
hopper_require_json(char *written, const char *argument, const char *hint)
{
	ErrorData  *error = hopper_attempt(read_json, written);

	if (error == NULL)
		return;
	if (error->sqlerrcode != ERRCODE_INVALID_TEXT_REPRESENTATION)
		ReThrowError(error);
	hopper_wrong(errmsg("argument \"%s\" begins like a JSON object and is none", argument),
				 error->detail ? errdetail("%s", error->detail) : 0,
				 errhint("%s", hint));
}

bool
hopper_inputs_argument(text *value, const char *argument, hopper_pack_inputs *inputs,
					   List **columns)
{
	char	   *written = value ? text_to_cstring(value) : "";
	int64		n_read = 0;
	uint64		n;

	memset(inputs, 0, sizeof(*inputs));
	if (written[strspn(written, " \t\r\n")] != '{')
		return false;
	*columns = NIL;
	hopper_require_list_bytes(value, argument);
	hopper_require_json(written, argument, named_hint(argument));
	n = hopper_select("SELECT e.i, e.key, a.v"
					  " FROM json_each(%s::json) WITH ORDINALITY AS e(key, value, i)"
					  " LEFT JOIN LATERAL json_array_elements_text(CASE json_typeof(e.value)"
					  " WHEN 'array' THEN e.value ELSE json_build_array(e.value) END)"
					  " WITH ORDINALITY AS a(v, k) ON true ORDER BY e.i, a.k",
					  hopper_literal(written));
	inputs->names = palloc((n + 1) * sizeof(char *));
	inputs->columns = palloc0((n + 1) * sizeof(int));
	for (uint64 row = 0; row < n; row++)
	{
		int64		number = hopper_int_cell(NULL, row, 1, 1, PG_INT64_MAX);
		char	   *column = hopper_cell(row, 3);

		CHECK_FOR_INTERRUPTS();
		if (number > n_read)
		{
			char	   *name = hopper_cell(row, 2);

			/* beyond the limit they are only counted */
			for (int i = 0; i < inputs->n && inputs->n <= HOPPER_MAX_INPUTS; i++)
				if (strcmp(inputs->names[i], name) == 0)
					hopper_wrong(errmsg("argument \"%s\" names %s \"%s\" twice", argument,
										named_word(argument), name));
			inputs->names[inputs->n++] = name;
			n_read = number;
		}
		if (column == NULL || column[0] == '\0')
			hopper_wrong(errmsg("argument \"%s\" has no columns for %s \"%s\"", argument,
								named_word(argument), inputs->names[inputs->n - 1]),
						 errhint("%s", named_hint(argument)));
		inputs->columns[inputs->n - 1]++;
		*columns = lappend(*columns, column);
	}
	if (inputs->n < 1 || inputs->n > HOPPER_MAX_INPUTS)
		hopper_wrong(errmsg("argument \"%s\" names %d %ss, from 1 to %d are possible", argument,
							inputs->n, named_word(argument), HOPPER_MAX_INPUTS));
	/* the input of a model with one is what it is, whatever its name */
	if (inputs->n == 1)
		inputs->n = 0;
	return true;
}

bool
hopper_same_inputs(text *value, const char *argument, int n_columns, char *const *columns,
				   const hopper_pack_inputs *inputs)
{
	hopper_pack_inputs given;
	List	   *names;
	int			first = 0;

	if (!hopper_inputs_argument(value, argument, &given, &names))
	{
		/* The list that packed them: a column an input. */
		names = hopper_column_list(value, argument);
		given = *inputs;
		if (n_columns != inputs->n)
			return false;
	}
	if (given.n != inputs->n || list_length(names) != n_columns)
		return false;
	for (int i = 0; i < given.n; first += given.columns[i++])
	{
		int			at = 0;
		int			k = 0;

		while (k < inputs->n && strcmp(inputs->names[k], given.names[i]) != 0)
			at += inputs->columns[k++];
		if (k == inputs->n || inputs->columns[k] != given.columns[i])
			return false;
		/* within an input their order counts */
		for (int c = 0; c < given.columns[i]; c++)
			if (strcmp(list_nth(names, first + c), columns[at + c]) != 0)
				return false;
	}
	return true;
}

void
hopper_inputs_of_columns(int n, const hopper_pack_column *columns, hopper_pack_inputs *inputs)
{
	bool		arrays = false;

	for (int i = 0; i < n; i++)
		arrays = arrays || columns[i].type == BYTEAOID ||
			OidIsValid(get_element_type(columns[i].type));
	if (n < 2 || !arrays)
		return;
	if (n > HOPPER_MAX_INPUTS)
		hopper_raise(ERRCODE_PROGRAM_LIMIT_EXCEEDED,
					 errmsg("a model has at most %d inputs, got %d columns", HOPPER_MAX_INPUTS, n));
	inputs->n = n;
	inputs->names = palloc(n * sizeof(char *));
	inputs->columns = palloc(n * sizeof(int));
	for (int i = 0; i < n; i++)
	{
		inputs->names[i] = columns[i].name;
		inputs->columns[i] = 1;
	}
}

/* --- rows --- */

void
hopper_pack_values_know_inputs(hopper_pack_values *values)
{
	values->count = 0;
	values->size = 0;
	for (int i = 0; i < values->n_parts; i++)
	{
		if (!values->parts[i].shape_known)
			return;
		values->count += values->parts[i].count;
		values->size += values->parts[i].size;
	}
	if (values->size > PACK_MAX_BUFFER_BYTES)
		hopper_raise(ERRCODE_PROGRAM_LIMIT_EXCEEDED,
					 errmsg("a row of %d inputs is too large to be packed", values->n_parts),
					 errdetail("It has %zu bytes; %d are allowed.", values->size,
							   PACK_MAX_BUFFER_BYTES));
	values->rank = 1;
	values->shape[0] = values->count;
	values->shape_known = true;
}

void
hopper_pack_values_init_inputs(hopper_pack_values *values, const hopper_pack_inputs *inputs,
							   int n_columns, const hopper_pack_column *columns,
							   const char *relation)
{
	int			at = 0;

	if (inputs->n == 0)
	{
		hopper_pack_values_init(values, n_columns, columns, relation);
		return;
	}
	memset(values, 0, sizeof(*values));
	values->layout = PACK_INPUTS;
	values->divisor = 1.0;
	values->n_columns = n_columns;
	values->columns = columns;
	values->elements = palloc0(sizeof(Oid) * n_columns);
	values->inputs = *inputs;
	values->n_parts = inputs->n;
	values->parts = palloc0(sizeof(hopper_pack_values) * inputs->n);
	for (int i = 0; i < inputs->n; at += inputs->columns[i++])
	{
		hopper_pack_values_init(&values->parts[i], inputs->columns[i], columns + at, relation);
		memcpy(values->elements + at, values->parts[i].elements,
			   sizeof(Oid) * inputs->columns[i]);
	}
	hopper_pack_values_know_inputs(values);
}

/* Columns of numbers are as many as the input has values. */
static void
require_columns(const hopper_pack_values *part, const hopper_input *input)
{
	int64		count = hopper_shape_count(input->rank, input->shape);

	if (part->layout == PACK_SCALARS && count != part->n_columns)
		hopper_wrong(errmsg("input \"%s\" expects %s, not %s", input->name,
							hopper_plural(count, "value", "values"),
							hopper_plural(part->n_columns, "column", "columns")));
}

void
hopper_pack_values_take_inputs(hopper_pack_values *values, const hopper_data_desc *desc)
{
	Assert(values->n_parts == desc->n_inputs);
	for (int i = 0; i < values->n_parts; i++)
	{
		const hopper_input *input = &desc->inputs[i];
		hopper_pack_values *part = &values->parts[i];

		/* of bytes the type is what they hold; numbers are not to lose digits */
		if (part->layout == PACK_BYTES)
			hopper_pack_values_set_bytes_type(part, input->type ? input->type : HOPPER_FLOAT32,
											  true);
		else
			part->type = Max(part->type, input->type);
		require_columns(part, input);
		hopper_pack_values_set_shape(part, input->rank, input->shape);
	}
	hopper_pack_values_know_inputs(values);
}

void
hopper_pack_values_describe(const hopper_pack_values *values, hopper_data_desc *desc)
{
	hopper_input *inputs;

	desc->x_type = values->type;
	desc->x_rank = values->rank;
	memcpy(desc->x_shape, values->shape, sizeof(desc->x_shape));
	if (values->n_parts == 0)
		return;
	inputs = palloc0(sizeof(hopper_input) * values->n_parts);
	for (int i = 0; i < values->n_parts; i++)
	{
		const hopper_pack_values *part = &values->parts[i];

		inputs[i].name = values->inputs.names[i];
		inputs[i].type = part->type;
		inputs[i].rank = part->rank;
		memcpy(inputs[i].shape, part->shape, sizeof(inputs[i].shape));
	}
	desc->n_inputs = values->n_parts;
	desc->inputs = inputs;
}

/* --- summaries --- */

char *
hopper_inputs_text(const hopper_pack_values *values)
{
	StringInfo	text = makeStringInfo();

	if (values->n_parts == 0)
		return NULL;
	for (int i = 0; i < values->n_parts; i++)
	{
		const hopper_pack_values *part = &values->parts[i];

		appendStringInfoString(text, i ? ", {\"name\": " : "[{\"name\": ");
		escape_json(text, values->inputs.names[i]);
		appendStringInfo(text, ", \"columns\": %d, \"type\": \"%s\", \"shape\": [",
						 values->inputs.columns[i], hopper_pack_type_name(part->type));
		for (int k = 0; k < part->rank; k++)
			appendStringInfo(text, "%s" INT64_FORMAT, k ? ", " : "", part->shape[k]);
		appendStringInfoString(text, "]}");
	}
	appendStringInfoChar(text, ']');
	return text->data;
}

pg_attribute_noreturn() static void
refuse_inputs(const hopper_name *summary)
{
	hopper_refuse_damaged(summary, "Column \"inputs\" does not describe the inputs of a row.");
}

void
hopper_read_inputs(const hopper_name *summary, const char *text, int n_columns,
				   hopper_data_desc *desc, hopper_pack_inputs *inputs)
{
	hopper_input *read;
	int64		values = 0;
	int			columns = 0;
	uint64		n;

	memset(inputs, 0, sizeof(*inputs));
	if (text == NULL)
		return;
	n = hopper_select("SELECT e.v->>'name', (e.v->>'columns')::int4, e.v->>'type',"
					  " translate(e.v->>'shape', '[]', '{}')::int4[]"
					  " FROM json_array_elements(%s::json) WITH ORDINALITY AS e(v, i)"
					  " ORDER BY e.i", hopper_literal(text));
	if (n < 2 || n > HOPPER_MAX_INPUTS)
		refuse_inputs(summary);
	read = palloc0(n * sizeof(hopper_input));
	inputs->n = (int) n;
	inputs->names = palloc(n * sizeof(char *));
	inputs->columns = palloc(n * sizeof(int));
	for (uint64 i = 0; i < n; i++)
	{
		int			count = (int) hopper_int_cell(summary, i, 2, 1, n_columns);
		int64		product;

		read[i].name = inputs->names[i] = hopper_text_cell(summary, i, 1);
		read[i].type = hopper_pack_type_from_name(hopper_text_cell(summary, i, 3));
		read[i].rank = hopper_shape_cell(summary, i, 4, read[i].shape);
		product = hopper_shape_count(read[i].rank, read[i].shape);
		if (product > PACK_MAX_BUFFER_BYTES || read[i].type == 0 || read[i].rank < 1)
			refuse_inputs(summary);
		inputs->columns[i] = count;
		columns += count;
		values += product;
	}
	SPI_freetuptable(SPI_tuptable);
	if (columns != n_columns || desc->x_type != 0 || desc->x_rank != 1 ||
		desc->x_shape[0] != values)
		refuse_inputs(summary);
	desc->n_inputs = (int32) n;
	desc->inputs = read;
}
