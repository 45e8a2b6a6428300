/*
 * padding.c
 *		Sequences of unequal length in a source: how long each input's are to be, and a look at all
 *		of them before any is packed, so that what is too long is told at once and counted.
 */
#include "pg/pack/pack.h"

/* What pad_to says: one length, or one for each input that it names. */
typedef struct hopper_pad_to
{
	int			n;
	char	  **names;			/* NULL: one length, whatever the input's name */
	int32	   *lengths;		/* 0: that of the longest */
} hopper_pad_to;

/* --- arguments --- */

#define PAD_TO_HINT \
	"Write a number of steps, 'longest', or either by input: '{\"words\": 40}'."

/* A number from 1 on or 'longest', which is 0; -1 after a complaint. */
static int32
get_length(hopper_pack_request *request, const char *written)
{
	char	   *end;
	long long	number;

	if (written == NULL)
		written = "null";
	if (strcmp(written, "longest") == 0)
		return 0;
	number = strtoll(written, &end, 10);
	if (end == written || *end != '\0')
		hopper_pack_complain(request, psprintf("pad_to \"%s\" is not known", written), PAD_TO_HINT);
	else if (number < 1)
		hopper_pack_complain(request, psprintf("pad_to must be at least 1, got %s", written),
							 PAD_TO_HINT);
	else if (number > PACK_MAX_BUFFER_BYTES)
		hopper_complain(&request->complaints, ERRCODE_PROGRAM_LIMIT_EXCEEDED,
						psprintf("pad_to must be at most %d, got %s", PACK_MAX_BUFFER_BYTES,
								 written), NULL, NULL);
	else
		return (int32) number;
	return -1;
}

/* NULL after a complaint. */
static hopper_pad_to *
get_lengths(hopper_pack_request *request, char *written)
{
	hopper_pad_to *pad_to = palloc0(sizeof(hopper_pad_to));
	bool		good = true;
	uint64		n;

	if (written[strspn(written, " \t\r\n")] != '{')
	{
		pad_to->n = 1;
		pad_to->lengths = palloc(sizeof(int32));
		pad_to->lengths[0] = get_length(request, written);
		return pad_to->lengths[0] < 0 ? NULL : pad_to;
	}
	hopper_require_list_bytes(cstring_to_text(written), "pad_to");
	hopper_require_json(written, "pad_to", PAD_TO_HINT);
	n = hopper_select("SELECT key, value FROM json_each_text(%s::json)", hopper_literal(written));
	if (n < 1 || n > HOPPER_MAX_INPUTS)
	{
		hopper_pack_complain(request,
							 psprintf("pad_to names " UINT64_FORMAT
									  " inputs, from 1 to %d are possible", n, HOPPER_MAX_INPUTS),
							 PAD_TO_HINT);
		return NULL;
	}
	pad_to->n = (int) n;
	pad_to->names = palloc(sizeof(char *) * n);
	pad_to->lengths = palloc(sizeof(int32) * n);
	for (uint64 row = 0; row < n; row++)
	{
		pad_to->names[row] = hopper_cell(row, 1);
		pad_to->lengths[row] = get_length(request, hopper_cell(row, 2));
		good = good && pad_to->lengths[row] >= 0;
		for (uint64 k = 0; k < row; k++)
			if (strcmp(pad_to->names[k], pad_to->names[row]) == 0)
			{
				hopper_complain(&request->complaints, ERRCODE_INVALID_PARAMETER_VALUE,
								psprintf("pad_to names input \"%s\" twice", pad_to->names[row]),
								NULL, NULL);
				good = false;
			}
	}
	return good ? pad_to : NULL;
}

/* 'post' or 'pre'; false after a complaint. */
static bool
get_side(hopper_pack_request *request, const char *written, const char *argument,
		 const char *hint, bool *before)
{
	char	   *problem = hopper_padding_side(written, argument, before);

	if (problem)
		hopper_pack_complain(request, problem, hint);
	return problem == NULL;
}

void
hopper_pack_padding_arguments(FunctionCallInfo fcinfo, int at, hopper_pack_request *request)
{
	hopper_pack_padding *padding = &request->padding;
	bool		beginning;

	padding->given = !PG_ARGISNULL(at);
	padding->value = PG_ARGISNULL(at + 1) ? 0 : PG_GETARG_FLOAT8(at + 1);
	if (!isfinite((float) padding->value))
		hopper_pack_complain(request, psprintf("pad_value must be a number that real holds, got %g",
								 padding->value), NULL);
	if (!PG_ARGISNULL(at + 2))
		(void) get_side(request, text_to_cstring(PG_GETARG_TEXT_PP(at + 2)), "pad_side",
						"Use 'post' (the padding follows the values) or 'pre' (it comes before "
						"them).", &padding->before);
	if (!PG_ARGISNULL(at + 3) &&
		get_side(request, text_to_cstring(PG_GETARG_TEXT_PP(at + 3)), "truncate",
				 "Use 'post' (the end is cut off) or 'pre' (the beginning is).", &beginning))
		padding->truncate = beginning ? PACK_CUT_BEGINNING : PACK_CUT_END;
	if (padding->given)
		request->pad_to = get_lengths(request, text_to_cstring(PG_GETARG_TEXT_PP(at)));
	else if (padding->value != 0 || padding->before || padding->truncate != PACK_REFUSE_LONGER)
		hopper_pack_complain(request, "pad_value, pad_side and truncate need pad_to", PAD_TO_HINT);
}

/* --- which input --- */

/* One input, or one of several. */
static hopper_pack_values *
input_at(hopper_pack_job *job, int i)
{
	return job->x.n_parts > 0 ? &job->x.parts[i] : &job->x;
}

static int
n_inputs(const hopper_pack_job *job)
{
	return Max(job->x.n_parts, 1);
}

/* As pad_to calls it; of one input, its column. */
static char *
input_name(const hopper_pack_job *job, int i)
{
	return job->x.n_parts > 0 ? job->x.inputs.names[i] : job->source.x[0].name;
}

/* Lengths by input, -1: not padded; whatever the argument's form was. */
static int32 *
lengths_of_inputs(hopper_pack_job *job)
{
	const hopper_pad_to *pad_to = job->request.pad_to;
	int			n = n_inputs(job);
	char	  **names = palloc(sizeof(char *) * n);
	int32	   *lengths = palloc(sizeof(int32) * n);
	int			n_arrays = 0;

	for (int i = 0; i < n; i++)
	{
		names[i] = input_name(job, i);
		lengths[i] = -1;
		n_arrays += input_at(job, i)->layout == PACK_ARRAY;
	}
	if (n_arrays == 0)
		hopper_wrong(errmsg("pad_to needs a column of arrays"),
					 errdetail("Column \"%s\" of \"%s\" is of type %s.", job->source.x[0].name,
							   job->source.name.shown, job->source.x[0].sql_type));
	if (pad_to->names == NULL && n_arrays > 1 && pad_to->lengths[0] > 0)
		hopper_wrong(errmsg("pad_to is one length, and %d inputs of \"%s\" are arrays", n_arrays,
							job->source.name.shown),
					 errhint("Name those that are sequences: pad_to => '{\"words\": 40}'."));
	for (int i = 0; pad_to->names == NULL && i < n; i++)
		if (input_at(job, i)->layout == PACK_ARRAY)
			lengths[i] = pad_to->lengths[0];
	for (int k = 0; pad_to->names && k < pad_to->n; k++)
	{
		int			i = 0;

		while (i < n && strcmp(names[i], pad_to->names[k]) != 0)
			i++;
		if (i == n)
			hopper_wrong(errmsg("pad_to names \"%s\", which is no input", pad_to->names[k]),
						 errdetail("The inputs are %s.", hopper_columns_words(n, names)));
		if (input_at(job, i)->layout != PACK_ARRAY)
			hopper_wrong(errmsg("pad_to needs a column of arrays"),
						 errdetail("Input \"%s\" has column \"%s\" of type %s.", names[i],
								   input_at(job, i)->columns[0].name,
								   input_at(job, i)->columns[0].sql_type));
		lengths[i] = pad_to->lengths[k];
	}
	return lengths;
}

/* --- what the source holds --- */

typedef struct lengths_found
{
	int64		longest;
	int64		n_shorter;		/* than the length that was asked for, or the longest */
	int64		n_longer;
} lengths_found;

/* Of the rows that are packed; `length` 0: the longest. */
static lengths_found
find_lengths(const hopper_pack_job *job, const hopper_pack_column *column, int32 length)
{
	const char *name = hopper_identifier(column->name);
	lengths_found found = {0};
	uint64		n;

	n = hopper_select_at_once("SELECT s.n, pg_catalog.count(*) FROM"
							  " (SELECT CASE WHEN %s IS NOT NULL THEN"
							  "  coalesce(pg_catalog.array_length(%s, 1), 0) END AS n FROM %s%s) s"
							  " WHERE s.n IS NOT NULL GROUP BY s.n", name, name,
							  job->source.name.quoted,
							  hopper_pack_labelled_rows(&job->request, &job->source));
	for (uint64 row = 0; row < n; row++)
		found.longest = Max(found.longest,
							hopper_int_cell(&job->source.name, row, 1, 0, PG_INT32_MAX));
	if (length == 0)
		length = (int32) found.longest;
	for (uint64 row = 0; row < n; row++)
	{
		int64		steps = hopper_int_cell(&job->source.name, row, 1, 0, PG_INT32_MAX);
		int64		rows = hopper_int_cell(&job->source.name, row, 2, 0, PG_INT64_MAX);

		found.n_shorter += steps < length ? rows : 0;
		found.n_longer += steps > length ? rows : 0;
	}
	return found;
}

int
hopper_pack_first_shape(const hopper_pack_job *job, const hopper_pack_column *column,
						const char *labelled, int64 *shape)
{
	const char *name = hopper_identifier(column->name);
	StringInfo	query = makeStringInfo();
	int			rank = 0;

	for (int i = 1; i <= HOPPER_MAX_RANK; i++)
		appendStringInfo(query, "%s pg_catalog.array_length(%s, %d)", i > 1 ? "," : "", name, i);
	if (hopper_select_at_once("SELECT %s FROM %s%s%s pg_catalog.array_length(%s, 1) IS NOT NULL"
							  " LIMIT 1", query->data, job->source.name.quoted, labelled,
							  labelled[0] ? " AND" : " WHERE", name) == 0)
		hopper_wrong(errmsg("column \"%s\" of \"%s\" holds no arrays with elements", column->name,
							job->source.name.shown));
	for (; rank < HOPPER_MAX_RANK && hopper_cell(0, rank + 1); rank++)
		shape[rank] = hopper_int_cell(&job->source.name, 0, rank + 1, 1, PACK_MAX_BUFFER_BYTES);
	return rank;
}

static void
require_fitting_value(const hopper_pack_job *job, const hopper_pack_values *x)
{
	double		value = x->padding.value;

	if (!hopper_padding_fits(x->type, value))
		hopper_wrong(errmsg("pad_value %g cannot be packed as %s", value,
							hopper_pack_type_name(x->type)),
					 errdetail("Column \"%s\" of \"%s\" is of type %s.", x->columns[0].name,
							   job->source.name.shown, x->columns[0].sql_type),
					 errhint("Cast the column in a view."));
	if (!isfinite((float) (value / x->divisor)))
		hopper_wrong(errmsg("pad_value %g divided by normalizing_const is out of range for real",
							value));
}

static void
refuse_longer(const hopper_pack_job *job, const hopper_pack_values *x, int32 length,
			  const lengths_found *found)
{
	hopper_wrong(errmsg("column \"%s\" of \"%s\" holds %s of more than %s", x->columns[0].name,
						job->source.name.shown,
						hopper_plural(found->n_longer, "sequence", "sequences"),
						hopper_plural(length, "step", "steps")),
				 errdetail("The longest has " INT64_FORMAT " steps.", found->longest),
				 job->request.validation
				 ? errhint("Cut them in a view, such as %s[1:%d]; or pack the training data with "
						   "truncate => 'post', which then holds here as well.",
						   hopper_identifier(x->columns[0].name), length)
				 : errhint("Pass pad_to => 'longest', or truncate => 'post' to cut off the end "
						   "('pre': the beginning)."));
}

/* `length`: 0: the longest; of validation data it is known. */
static void
pad_input(hopper_pack_job *job, hopper_pack_values *x, int32 length)
{
	const hopper_pack_column *column = &x->columns[0];
	lengths_found found = find_lengths(job, column, length);
	StringInfo	sentences = makeStringInfo();

	if (!x->padding.given)
	{
		int64		shape[HOPPER_MAX_RANK];
		int			rank = hopper_pack_first_shape(job, column,
												   hopper_pack_labelled_rows(&job->request,
																			 &job->source), shape);

		shape[0] = length = length > 0 ? length : (int32) found.longest;
		x->padding = job->request.padding;
		require_fitting_value(job, x);
		hopper_pack_values_set_shape(x, rank, shape);
	}
	if (found.n_longer > 0 && x->padding.truncate == PACK_REFUSE_LONGER)
		refuse_longer(job, x, length, &found);
	appendStringInfo(sentences, "%s Sequences in column \"%s\" have %s: %s filled up%s.",
					 job->padded ? job->padded : "", column->name,
					 hopper_plural(length, "step", "steps"), hopper_count_words(found.n_shorter),
					 found.n_longer > 0
					 ? psprintf(", %s cut", hopper_count_words(found.n_longer)) : "");
	job->padded = sentences->data;
}

void
hopper_pack_set_padding(hopper_pack_job *job)
{
	int32	   *lengths;

	for (int i = 0; job->request.validation && i < n_inputs(job); i++)
		if (input_at(job, i)->padding.given)
			pad_input(job, input_at(job, i), (int32) input_at(job, i)->shape[0]);
	if (job->request.pad_to == NULL)
		return;
	lengths = lengths_of_inputs(job);
	for (int i = 0; i < n_inputs(job); i++)
	{
		if (lengths[i] < 0)
			continue;
		if (input_at(job, i)->shape_known)
			hopper_wrong(errmsg("image_shape and pad_to exclude each other"),
						 errdetail("Both are for input \"%s\".", input_name(job, i)));
		pad_input(job, input_at(job, i), lengths[i]);
	}
	if (job->x.n_parts > 0)
		hopper_pack_values_know_inputs(&job->x);
}
