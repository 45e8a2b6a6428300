/*
 * arguments.c
 *		Arguments of training_preprocessor() and validation_preprocessor().
 */
#include "pg/pack/pack.h"

#include "utils/jsonb.h"

#define ARGUMENT(i, get, otherwise) (PG_ARGISNULL(i) ? (otherwise) : get(i))

static List *
split_columns(FunctionCallInfo fcinfo, int i, const char *argument)
{
	return hopper_column_list(hopper_text_argument(fcinfo, i), argument);
}

/* Complains of more than one. */
static char *
one_column(FunctionCallInfo fcinfo, hopper_pack_request *request, int i, const char *argument)
{
	List	   *columns = split_columns(fcinfo, i, argument);

	if (list_length(columns) > 1)
		hopper_pack_complain(request, psprintf("%s must be one column, got %d", argument,
											   list_length(columns)), NULL);
	return linitial(columns);
}

/* Which of `words` it is, from 1 on; 0 where it is NULL or after a complaint. */
static int
word_argument(FunctionCallInfo fcinfo, hopper_pack_request *request, int i, const char *argument,
			  const char *const *words, const char *hint)
{
	char	   *given = hopper_string_argument(fcinfo, i);

	for (int at = 0; words[at] && given; at++)
		if (strcmp(given, words[at]) == 0)
			return at + 1;
	if (given)
		hopper_pack_complain(request, psprintf("%s \"%s\" is not known", argument, given), hint);
	return 0;
}

/* 0 numbers after a complaint. */
static int
get_int_array(FunctionCallInfo fcinfo, hopper_pack_request *request, int i, const char *argument,
			  int most, int32 **values)
{
	char	   *problem;
	int			n;

	*values = NULL;
	if (PG_ARGISNULL(i))
		return 0;
	problem = hopper_integers_problem(PG_GETARG_ARRAYTYPE_P(i), argument, 1, most);
	if (problem)
	{
		hopper_pack_complain(request, problem, NULL);
		return 0;
	}
	*values = hopper_integers(PG_GETARG_ARRAYTYPE_P(i), &n);
	return n;
}

static void
require_between(hopper_pack_request *request, int value, int most, const char *argument)
{
	if (value < 1)
		hopper_pack_complain(request,
							 psprintf("%s must be at least 1, got %d", argument, value), NULL);
	else if (value > most)
		hopper_complain(&request->complaints, ERRCODE_PROGRAM_LIMIT_EXCEEDED,
						psprintf("%s must be at most %d, got %d", argument, most, value), NULL,
						NULL);
}

static List *
label_argument(FunctionCallInfo fcinfo, hopper_pack_request *request, int i)
{
	if (hopper_pack_outputs_argument(hopper_text_argument(fcinfo, i), request))
		return request->y_names;
	request->y_names = split_columns(fcinfo, i, "dependent_varname");
	if (list_length(request->y_names) > 1)
		hopper_pack_name_outputs(request);
	return request->y_names;
}

/* What both functions have beside columns; `buffer` and `rules` are the arguments' positions. */
static void
get_common(FunctionCallInfo fcinfo, hopper_pack_request *request, int buffer, int rules,
		   int replace)
{
	char	   *rule;

	memset(request, 0, sizeof(*request));
	request->source = hopper_parse_name(ARGUMENT(0, PG_GETARG_TEXT_PP, NULL), "source_table");
	request->output = hopper_parse_name(ARGUMENT(1, PG_GETARG_TEXT_PP, NULL), "output_table");
	request->statement = hopper_call_text(fcinfo);
	if (!PG_ARGISNULL(buffer))
	{
		request->buffer_size = hopper_integer_argument(fcinfo, buffer, "buffer_size", 0);
		require_between(request, request->buffer_size, PG_INT32_MAX, "buffer_size");
	}
	request->replace = ARGUMENT(replace, PG_GETARG_BOOL, false);
	request->normalizing_const = 1.0;
	if (PG_ARGISNULL(rules))
		return;
	rule = text_to_cstring(PG_GETARG_TEXT_PP(rules));
	request->distribution_rules = rule;
	if (!HOPPER_DATA_ON_SEGMENTS && strcmp(rule, "all_segments") != 0)
		hopper_complain(&request->complaints, ERRCODE_FEATURE_NOT_SUPPORTED,
						psprintf("distribution_rules \"%s\" needs Greenplum", rule),
						"This server keeps all data in one place.",
						"Leave distribution_rules out, or pass 'all_segments'.");
}

static hopper_pack_null_labels
null_labels_argument(FunctionCallInfo fcinfo, hopper_pack_request *request, int i)
{
	static const hopper_pack_null_labels rules[] = {PACK_NULL_ERROR, PACK_NULL_ERROR,
	PACK_NULL_SKIP, PACK_NULL_CLASS};
	static const char *const words[] = {"error", "skip", "class", NULL};

	return rules[word_argument(fcinfo, request, i, "null_labels", words,
							   "Use 'error', 'skip' (leave such rows out) or 'class' (NULL is a"
							   " class).")];
}

static int32
bytea_type_argument(FunctionCallInfo fcinfo, hopper_pack_request *request, int i)
{
	char	   *given;
	int32		type;

	if (PG_ARGISNULL(i))
		return 0;
	given = text_to_cstring(PG_GETARG_TEXT_PP(i));
	type = hopper_pack_type_from_name(given);
	if (type == 0)
		hopper_pack_complain(request, psprintf("bytea_type \"%s\" is not known", given),
							 psprintf("Use %s: the type of the numbers in each bytea,"
									  " little-endian.", hopper_pack_type_names()));
	return type;
}

static void
get_starts(hopper_pack_request *request)
{
	int			i;

	if (request->n_starts > 0 && request->starts[0] != 0)
		hopper_pack_complain(request, psprintf("starts must begin with partition 0, got %d",
											   request->starts[0]), NULL);
	for (i = 1; i < request->n_starts; i++)
		if (request->starts[i] <= request->starts[i - 1])
		{
			hopper_pack_complain(request,
								 psprintf("starts must ascend, got %d after %d",
										  request->starts[i], request->starts[i - 1]), NULL);
			return;
		}
}

/* As many numbers as there are outputs, in their order; 0: as many classes as there are. */
static void
get_output_classes(FunctionCallInfo fcinfo, hopper_pack_request *request, int i)
{
	int32	   *values;
	int			n = get_int_array(fcinfo, request, i, "num_classes", HOPPER_MAX_OUTPUTS, &values);

	if (n == 0)
		return;
	if (n != request->n_outputs)
	{
		hopper_pack_complain(request, psprintf("num_classes has %s for %d outputs",
											   hopper_plural(n, "number", "numbers"),
											   request->n_outputs),
							 "Give one for each output in their order, 0 for as many classes as"
							 " there are or for labels that are no classes.");
		return;
	}
	for (int k = 0; k < n; k++)
		if (values[k] != 0)
			require_between(request, values[k], PACK_MAX_CLASSES, "num_classes");
	request->output_classes = values;
}

/* group_varname and time_varname, from `at` on */
static void
get_split(FunctionCallInfo fcinfo, hopper_pack_request *request, int at)
{
	static const char *const names[] = {"group_varname", "time_varname"};

	for (int i = 0; i < 2; i++)
	{
		char	   *column;

		if (PG_ARGISNULL(at + i))
			continue;
		column = one_column(fcinfo, request, at + i, names[i]);
		if (request->split_name)
			hopper_pack_complain(request, "group_varname and time_varname exclude each other",
								 NULL);
		if (request->validation_fraction == 0)
			hopper_pack_complain(request, psprintf("%s needs validation_fraction", names[i]),
								 "Pass validation_fraction => 0.2 for a fifth of the rows.");
		request->split_name = column;
		request->by_time = i == 1;
	}
}

void
hopper_pack_training_arguments(FunctionCallInfo fcinfo, hopper_pack_request *request)
{
	static const int32 kinds[] = {0, HOPPER_LABEL_CLASS, HOPPER_LABEL_VALUE};
	static const char *const kind_words[] = {"class", "value", NULL};
	int32	   *values;
	int			n;
	int			i;

	get_common(fcinfo, request, 4, 7, 14);
	request->y_names = label_argument(fcinfo, request, 2);
	request->star = !PG_ARGISNULL(3) &&
		strcmp(text_to_cstring(PG_GETARG_TEXT_PP(3)), "*") == 0;
	if (!PG_ARGISNULL(23))
		request->treatments =
			DatumGetCString(DirectFunctionCall1(jsonb_out, PG_GETARG_DATUM(23)));
	if (request->star)
		;
	else if (!hopper_inputs_argument(hopper_text_argument(fcinfo, 3), "independent_varname",
								&request->inputs, &request->x_names))
		request->x_names = split_columns(fcinfo, 3, "independent_varname");
	if (!PG_ARGISNULL(5))
		request->normalizing_const = (float4) PG_GETARG_FLOAT8(5);
	if (!(request->normalizing_const > 0) || isinf(request->normalizing_const))
		hopper_pack_complain(request, psprintf("normalizing_const must be a number above 0, got %g",
											   request->normalizing_const), NULL);
	if (request->n_outputs > 1)
		get_output_classes(fcinfo, request, 6);
	else if (get_int_array(fcinfo, request, 6, "num_classes", 1, &values) > 0)
	{
		request->num_classes = values[0];
		require_between(request, request->num_classes, PACK_MAX_CLASSES, "num_classes");
	}
	if (!PG_ARGISNULL(8))
	{
		request->partitions = hopper_integer_argument(fcinfo, 8, "partitions", 0);
		require_between(request, request->partitions, PACK_MAX_PARTITIONS, "partitions");
	}
	request->seed = ARGUMENT(9, PG_GETARG_INT64, 0);
	if (!PG_ARGISNULL(10))
	{
		request->validation_fraction = PG_GETARG_FLOAT8(10);
		if (!(request->validation_fraction > 0 && request->validation_fraction < 1))
			hopper_pack_complain(request,
					 psprintf("validation_fraction must be above 0 and below 1, got %g",
							  request->validation_fraction),
					 request->validation_fraction > 1 ? "For 20 % write 0.2."
					 : "Leave it out to keep all rows for training.");
	}
	if (!PG_ARGISNULL(11))
	{
		request->fold_column = one_column(fcinfo, request, 11, "fold_column");
		if (request->validation_fraction > 0)
			hopper_pack_complain(request,
								 "validation_fraction and fold_column exclude each other", NULL);
	}
	n = get_int_array(fcinfo, request, 12, "image_shape", HOPPER_MAX_RANK, &values);
	for (i = 0; i < n; i++)
	{
		require_between(request, values[i], PG_INT32_MAX, "each number of image_shape");
		request->image_shape[i] = values[i];
	}
	request->image_rank = n;
	request->n_starts = get_int_array(fcinfo, request, 13, "starts", PG_INT16_MAX,
									  &request->starts);
	get_starts(request);
	request->label_kind = kinds[word_argument(fcinfo, request, 15, "label_kind", kind_words,
											  "Use 'class' or 'value' (numbers to be "
											  "predicted).")];
	request->null_labels = null_labels_argument(fcinfo, request, 16);
	request->bytea_type = bytea_type_argument(fcinfo, request, 17);
	if (!PG_ARGISNULL(18))
		request->weight_name = one_column(fcinfo, request, 18, "weight_varname");
	hopper_pack_padding_arguments(fcinfo, 19, request);
	get_split(fcinfo, request, 24);
}

/* Labels of the outputs that the training table has, in its order, and its weights. */
static void
trained_labels(FunctionCallInfo fcinfo, hopper_pack_request *request, int i)
{
	const hopper_packed *training = &request->training;
	const hopper_data_desc *desc = &training->desc;
	List	   *given = NIL;
	char	  **names = palloc(sizeof(char *) * desc->n_outputs);

	if (!PG_ARGISNULL(i))
		given = label_argument(fcinfo, request, i);
	request->weight_name = training->weight_column;
	for (int k = 0; k < desc->n_outputs; k++)
		names[k] = pstrdup(desc->outputs[k].name);
	if (given && (desc->n_outputs > 1 || request->n_outputs > 0))
	{
		bool		same = request->n_outputs == desc->n_outputs;
		List	   *ordered = NIL;

		for (int k = 0; same && k < desc->n_outputs; k++)
		{
			int			at = 0;

			while (at < request->n_outputs && strcmp(request->output_names[at], names[k]) != 0)
				at++;
			same = at < request->n_outputs;
			if (same)
				ordered = lappend(ordered, list_nth(given, at));
		}
		if (!same)
			hopper_wrong(errmsg("argument \"dependent_varname\" does not name the outputs of "
								"\"%s\"", training->table.shown),
						 errdetail("It has labels of %s.",
								   hopper_columns_words(desc->n_outputs, names)),
						 errhint("Leave it out, or name a column for each of them."));
		given = ordered;
	}
	if (given == NIL)
		for (int k = 0; k < desc->n_outputs; k++)
			given = lappend(given, pstrdup(desc->outputs[k].column));
	request->y_names = given;
	request->n_outputs = desc->n_outputs;
	request->output_names = names;
}

void
hopper_pack_validation_arguments(FunctionCallInfo fcinfo, hopper_pack_request *request)
{
	hopper_packed *training = &request->training;
	hopper_name table;

	get_common(fcinfo, request, 5, 6, 7);
	request->validation = true;
	request->null_labels = null_labels_argument(fcinfo, request, 8);
	table = hopper_name_argument(fcinfo, 4, "packed_table");
	hopper_read_packed(&table, false, training);
	request->normalizing_const = (float4) training->desc.normalizing_const;
	request->seed = training->seed;
	if (training->desc.n_outputs > 0)
		trained_labels(fcinfo, request, 2);
	else
	{
		request->y_names = PG_ARGISNULL(2) ? list_make1(pstrdup(training->desc.y_column))
			: label_argument(fcinfo, request, 2);
		request->n_outputs = 0;
	}
	request->x_names = hopper_feature_list(hopper_text_argument(fcinfo, 3), "independent_varname",
										   training->n_x_columns, training->x_columns,
										   &training->inputs, table.shown);
	request->inputs = training->inputs;
}
