/*
 * pack.c
 *		training_preprocessor() and validation_preprocessor(): arguments, and the course of packing.
 */
#include "pg/pack.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "portability/instr_time.h"
#include "utils/array.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* All that one call needs. */
typedef struct pack_job
{
	pack_request request;
	pack_source source;
	pack_values x;
	pack_values y;				/* regression values, label arrays */
	pack_classes classes;		/* family PACK_NO_CLASS where y is used */
	int32		y_kind;			/* hopper_label_kind */
	size_t		y_size;
	Tuplesortstate *sort;
	int64		n_rows;
	int64		n_fold;			/* rows that the fold column marks */
} pack_job;

/* --- arguments --- */

#define ARGUMENT(i, get, otherwise) (PG_ARGISNULL(i) ? (otherwise) : get(i))

static List *
split_columns(FunctionCallInfo fcinfo, int i, const char *argument)
{
	List	   *names = NIL;
	ListCell   *cell;
	ListCell   *other;
	char	   *value;

	if (PG_ARGISNULL(i))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", argument)));
	value = text_to_cstring(PG_GETARG_TEXT_PP(i));
	if (!SplitIdentifierString(pstrdup(value), ',', &names) || names == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("argument \"%s\" is not a list of column names: %s", argument,
						value[0] ? value : "it is empty"),
				 errhint("Write column or column1, column2; names with blanks or capitals need double quotes.")));
	foreach(cell, names)
	{
		foreach(other, names)
		{
			if (other == cell)
				break;
			if (strcmp(lfirst(cell), lfirst(other)) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("argument \"%s\" names column \"%s\" twice", argument,
								(char *) lfirst(cell))));
		}
	}
	return names;
}

static int
get_int_array(FunctionCallInfo fcinfo, int i, const char *argument, int most, int32 **values)
{
	ArrayType  *array;
	Datum	   *elements;
	bool	   *nulls;
	int			n;
	int			k;

	*values = NULL;
	if (PG_ARGISNULL(i))
		return 0;
	array = PG_GETARG_ARRAYTYPE_P(i);
	deconstruct_array(array, INT4OID, sizeof(int32), true, 'i', &elements, &nulls, &n);
	if (ARR_NDIM(array) != 1 || n > most || (ARR_HASNULL(array) && array_contains_nulls(array)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 most == 1 ? errmsg("%s must be a list of one number", argument)
				 : errmsg("%s must be a list of 1 to %d numbers", argument, most)));
	*values = palloc(sizeof(int32) * n);
	for (k = 0; k < n; k++)
		(*values)[k] = DatumGetInt32(elements[k]);
	return n;
}

static void
require_positive(int value, const char *argument)
{
	if (value < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be at least 1, got %d", argument, value)));
}

/* Arguments that both functions have; `buffer` and `rules` are their positions. */
static void
get_common(FunctionCallInfo fcinfo, pack_request *request, int buffer, int rules)
{
	char	   *rule;

	memset(request, 0, sizeof(*request));
	request->source = hopper_parse_name(ARGUMENT(0, PG_GETARG_TEXT_PP, NULL), "source_table");
	request->output = hopper_parse_name(ARGUMENT(1, PG_GETARG_TEXT_PP, NULL), "output_table");
	request->y_names = split_columns(fcinfo, 2, "dependent_varname");
	request->x_names = split_columns(fcinfo, 3, "independent_varname");
	if (list_length(request->y_names) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("models with several outputs are not supported yet"),
				 errdetail("Argument \"dependent_varname\" names %d columns.",
						   list_length(request->y_names)),
				 errhint("Name one label column; several targets can be one array.")));
	if (!PG_ARGISNULL(buffer))
	{
		request->buffer_size = PG_GETARG_INT32(buffer);
		require_positive(request->buffer_size, "buffer_size");
	}
	request->normalizing_const = 1.0;
	if (PG_ARGISNULL(rules))
		return;
	rule = text_to_cstring(PG_GETARG_TEXT_PP(rules));
	if (strcmp(rule, "all_segments") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("distribution_rules \"%s\" needs Greenplum", rule),
				 errdetail("This server keeps all data in one place."),
				 errhint("Leave distribution_rules out, or pass 'all_segments'.")));
}

static void
get_starts(pack_request *request)
{
	int			i;

	if (request->n_starts > 0 && request->starts[0] != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("starts must begin with partition 0, got %d", request->starts[0])));
	for (i = 1; i < request->n_starts; i++)
		if (request->starts[i] <= request->starts[i - 1])
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("starts must ascend, got %d after %d", request->starts[i],
							request->starts[i - 1])));
}

static void
get_training_request(FunctionCallInfo fcinfo, pack_request *request)
{
	int32	   *values;
	int			n;
	int			i;

	get_common(fcinfo, request, 4, 7);
	if (!PG_ARGISNULL(5))
		request->normalizing_const = PG_GETARG_FLOAT4(5);
	if (!(request->normalizing_const > 0) || isinf(request->normalizing_const))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("normalizing_const must be a number above 0, got %g",
						request->normalizing_const)));
	if (get_int_array(fcinfo, 6, "num_classes", 1, &values) > 0)
	{
		request->num_classes = values[0];
		require_positive(request->num_classes, "num_classes");
		if (request->num_classes > PACK_MAX_CLASSES)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("num_classes must be at most %d, got %d", PACK_MAX_CLASSES,
							request->num_classes)));
	}
	if (!PG_ARGISNULL(8))
	{
		request->partitions = PG_GETARG_INT32(8);
		require_positive(request->partitions, "partitions");
	}
	request->seed = ARGUMENT(9, PG_GETARG_INT64, 0);
	if (!PG_ARGISNULL(10))
	{
		request->validation_fraction = PG_GETARG_FLOAT8(10);
		if (!(request->validation_fraction > 0 && request->validation_fraction < 1))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("validation_fraction must be between 0 and 1, got %g",
							request->validation_fraction)));
	}
	if (!PG_ARGISNULL(11))
	{
		List	   *names = split_columns(fcinfo, 11, "fold_column");

		if (list_length(names) > 1)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("fold_column must be one column, got %d", list_length(names))));
		if (request->validation_fraction > 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("validation_fraction and fold_column exclude each other")));
		request->fold_column = linitial(names);
	}
	n = get_int_array(fcinfo, 12, "image_shape", HOPPER_MAX_RANK, &values);
	for (i = 0; i < n; i++)
	{
		require_positive(values[i], "each number of image_shape");
		request->image_shape[i] = values[i];
	}
	request->image_rank = n;
	request->n_starts = get_int_array(fcinfo, 13, "starts", PG_INT16_MAX, &request->starts);
	get_starts(request);
}

/* All tables that packing creates must be absent before it starts. */
static void
require_outputs_absent(const pack_request *request)
{
	hopper_name name;

	hopper_require_absent(&request->output);
	name = hopper_name_with_suffix(&request->output, "summary");
	hopper_require_absent(&name);
	if (request->validation_fraction == 0 && !request->fold_column)
		return;
	name = hopper_name_with_suffix(&request->output, "validation");
	hopper_require_absent(&name);
	name = hopper_name_with_suffix(&name, "summary");
	hopper_require_absent(&name);
}

/* --- columns and types --- */

static const char *
feature_column(const pack_job *job)
{
	return job->source.n_x == 1 ? job->source.x[0].name : PACK_FEATURES;
}

static void
require_free_names(const pack_job *job)
{
	const char *x = feature_column(job);
	const char *y = job->source.y.name;
	const char *names[] = {"partition_id", "buffer_id", "n", "checksum", x, y,
	psprintf("%s_shape", x), psprintf("%s_shape", y), psprintf("%s_class_values", y)};
	int			i;
	int			k;

	for (i = 0; i < lengthof(names); i++)
	{
		if (strlen(names[i]) >= NAMEDATALEN)
			ereport(ERROR,
					(errcode(ERRCODE_NAME_TOO_LONG),
					 errmsg("column \"%s\" of \"%s\" has too long a name", i == 6 ? x : y,
							job->source.name.shown),
					 errdetail("The column \"%s\" goes with it, and names have at most %d bytes.",
							   names[i], NAMEDATALEN - 1),
					 errhint("Rename the column in a view and pack that.")));
		for (k = 0; k < i; k++)
			if (strcmp(names[i], names[k]) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("packed table would have two columns named \"%s\"", names[i]),
						 errhint("Rename the column in a view and pack that.")));
	}
}

static void
set_features(pack_job *job)
{
	const pack_request *request = &job->request;
	const pack_source *source = &job->source;
	pack_values *x = &job->x;
	const hopper_data_desc *trained = &request->training.desc;

	pack_values_init(x, source->n_x, source->x, source->name.shown);
	if (request->validation)
	{
		if (x->type > trained->x_type ||
			(x->layout == PACK_BYTES && x->type != trained->x_type))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("features of \"%s\" are %s but \"%s\" was packed with %s",
							source->name.shown, pack_type_name(x->type),
							request->training.table.shown, pack_type_name(trained->x_type)),
					 errdetail("Column \"%s\" is of type %s; the training data had %s.",
							   source->x[0].name, source->x[0].sql_type,
							   request->training.x_sql_types[0]),
					 errhint("Cast the column in a view.")));
		if (x->layout == PACK_SCALARS && (trained->x_rank != 1 || trained->x_shape[0] != x->count))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("independent_varname names " INT64_FORMAT
							" columns but \"%s\" was packed with features of shape %s",
							x->count, request->training.table.shown,
							pack_shape_text(trained->x_rank, trained->x_shape))));
		x->type = trained->x_type;
		pack_values_set_shape(x, trained->x_rank, trained->x_shape);
	}
	else if (request->image_rank > 0)
	{
		if (x->layout == PACK_SCALARS)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("image_shape needs a column of arrays or bytea"),
					 errdetail("Column \"%s\" of \"%s\" is of type %s.", source->x[0].name,
							   source->name.shown, source->x[0].sql_type)));
		pack_values_set_shape(x, request->image_rank, request->image_shape);
	}
	else if (x->layout == PACK_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" of \"%s\" is of type bytea, which needs image_shape",
						source->x[0].name, source->name.shown),
				 errhint("Pass image_shape => ARRAY[height, width, channels].")));
}

/* Numbers as labels: a scalar is a regression value, an array is packed as it is. */
static void
set_number_labels(pack_job *job)
{
	const hopper_packed *training = &job->request.training;
	const hopper_data_desc *trained = &training->desc;
	const pack_column *column = &job->source.y;
	pack_values *y = &job->y;

	if (column->type == BYTEAOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("label column \"%s\" of \"%s\" is of type bytea, which cannot be a label",
						column->name, job->source.name.shown),
				 errhint("Labels are boolean, integers, text, enums, numbers or arrays of numbers.")));
	if (!pack_number_type(column->type) && !OidIsValid(get_element_type(column->type)))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("label column \"%s\" of \"%s\" is of type %s, which cannot be a label",
						column->name, job->source.name.shown, column->sql_type),
				 errhint("Labels are boolean, integers, text, enums, numbers or arrays of numbers.")));
	if (job->request.num_classes > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("num_classes is given but label column \"%s\" of \"%s\" is of type %s,"
						" which has no classes",
						column->name, job->source.name.shown, column->sql_type),
				 errhint("Leave num_classes out, or cast the labels to integer or text in a view.")));
	pack_values_init(y, 1, column, job->source.name.shown);
	job->y_kind = y->layout == PACK_SCALARS ? HOPPER_LABEL_VALUE : HOPPER_LABEL_ARRAY;
	/* nothing computes with labels of more precision */
	if (job->y_kind == HOPPER_LABEL_VALUE || y->type == HOPPER_FLOAT64)
		y->type = HOPPER_FLOAT32;
	if (job->request.validation)
	{
		if (job->y_kind != trained->y_kind || y->type > trained->y_type)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("column \"%s\" of \"%s\" is of type %s but \"%s\" was packed with labels of type %s",
							column->name, job->source.name.shown, column->sql_type,
							training->table.shown, training->y_sql_type),
					 errhint("Cast the column in a view.")));
		y->type = trained->y_type;
	}
	if (job->y_kind == HOPPER_LABEL_VALUE)
		pack_values_set_shape(y, 0, NULL);
	else if (job->request.validation)
		pack_values_set_shape(y, trained->y_rank, trained->y_shape);
}

static void
set_labels(pack_job *job)
{
	const pack_request *request = &job->request;
	pack_family family = pack_label_family(job->source.y.type);

	if (request->validation && request->training.desc.y_kind == HOPPER_LABEL_CLASS)
	{
		pack_training_classes(request, &job->source, &job->classes);
		job->y_kind = HOPPER_LABEL_CLASS;
	}
	else if (!request->validation && family != PACK_NO_CLASS)
	{
		pack_read_classes(request, &job->source, &job->classes);
		job->y_kind = HOPPER_LABEL_CLASS;
	}
	else
		set_number_labels(job);
}

/* --- rows --- */

static void
refuse_empty(const pack_job *job)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("\"%s\" holds no rows", job->source.name.shown)));
}

/* Allocates the encoded row once the shapes are known: key, x, y, fold. */
static bytea *
start_rows(pack_job *job, const Datum *values, const bool *nulls)
{
	int			n_x = job->source.n_x;
	Size		size;
	bytea	   *row;

	pack_values_learn(&job->x, &job->source, values, nulls);
	if (job->y_kind == HOPPER_LABEL_CLASS)
		job->y_size = hopper_core()->type_size(job->classes.type);
	else
	{
		pack_values_learn(&job->y, &job->source, &values[n_x], &nulls[n_x]);
		job->y_size = job->y.size;
	}
	size = VARHDRSZ + PACK_KEY_SIZE + job->x.size + job->y_size + 1;
	row = palloc(size);
	SET_VARSIZE(row, size);
	return row;
}

static bool
get_fold(const pack_source *source, Datum value, bool isnull)
{
	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("column \"%s\" of \"%s\" holds NULL", source->fold.name,
						source->name.shown),
				 errdetail("%s.", pack_row_name(source)),
				 errhint("True marks a row for validation, false for training.")));
	return DatumGetBool(value);
}

static void
encode_row(pack_job *job, const Datum *values, const bool *nulls, bytea *row)
{
	const pack_source *source = &job->source;
	int			n_x = source->n_x;
	char	   *key = VARDATA(row);
	char	   *x = key + PACK_KEY_SIZE;
	char	   *y = x + job->x.size;
	char	   *fold = y + job->y_size;

	pack_values_encode(&job->x, source, values, nulls, x);
	if (job->y_kind == HOPPER_LABEL_CLASS)
	{
		int32		index = pack_class_index(&job->classes, &job->request, source, values[n_x],
											 nulls[n_x]);

		job->classes.counts[index]++;
		pack_put_index(job->classes.type, index, y);
	}
	else
		pack_values_encode(&job->y, source, &values[n_x], &nulls[n_x], y);
	*fold = 0;
	if (source->fold.name && get_fold(source, values[n_x + 1], nulls[n_x + 1]))
	{
		*fold = 1;
		job->n_fold++;
	}
	hopper_core()->row_key((uint64) job->request.seed, x, job->x.size, y, job->y_size,
						   (uint8_t *) key);
	job->n_rows++;
}

/* Rows of the next fetch: about as many bytes as a buffer. */
static long
next_fetch(void)
{
	uint64		bytes = 0;
	uint64		i;

	for (i = 0; i < SPI_processed; i++)
		bytes += SPI_tuptable->vals[i]->t_len;
	return Max(Min((uint64) PACK_BUFFER_BYTES / (bytes / SPI_processed + 1), 1000), 1);
}

/* Second pass: every row, encoded, into the sort. */
static void
read_rows(pack_job *job)
{
	pack_source *source = &job->source;
	MemoryContext row_context = AllocSetContextCreate(CurrentMemoryContext, "hopper packed row",
													  ALLOCSET_DEFAULT_SIZES);
	SPIPlanPtr	plan;
	Portal		portal;
	bytea	   *row = NULL;
	Datum	   *values = NULL;
	bool	   *nulls = NULL;
	long		fetch = 16;

	plan = SPI_prepare_cursor(pack_row_query(source,
											 job->y_kind == HOPPER_LABEL_CLASS
											 ? pack_label_expression(&source->y, job->classes.family)
											 : pack_label_expression(&source->y, PACK_NO_CLASS)),
							  0, NULL, CURSOR_OPT_NO_SCROLL);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);
	source->first_key = source->n_x + 2 + (source->fold.name ? 1 : 0);
	for (;;)
	{
		SPITupleTable *table;
		uint64		n;
		uint64		i;

		SPI_cursor_fetch(portal, true, fetch);
		table = SPI_tuptable;
		n = SPI_processed;
		if (n == 0)
			break;
		fetch = next_fetch();
		source->desc = table->tupdesc;
		if (values == NULL)
		{
			values = palloc(sizeof(Datum) * table->tupdesc->natts);
			nulls = palloc(sizeof(bool) * table->tupdesc->natts);
		}
		for (i = 0; i < n; i++)
		{
			MemoryContext caller;

			CHECK_FOR_INTERRUPTS();
			source->tuple = table->vals[i];
			source->row_number++;
			heap_deform_tuple(source->tuple, source->desc, values, nulls);
			if (row == NULL)
				row = start_rows(job, values, nulls);
			caller = MemoryContextSwitchTo(row_context);
			encode_row(job, values, nulls, row);
			MemoryContextSwitchTo(caller);
			MemoryContextReset(row_context);
			tuplesort_putdatum(job->sort, PointerGetDatum(row), false);
		}
		SPI_freetuptable(table);
	}
	SPI_cursor_close(portal);
	SPI_freeplan(plan);
	MemoryContextDelete(row_context);
	if (job->n_rows == 0)
		refuse_empty(job);
}

/* --- outputs --- */

/* How many rows of each class (or of all rows, as class 0) go to validation. */
static int64 *
validation_quotas(const pack_job *job, int64 *total)
{
	bool		by_class = job->y_kind == HOPPER_LABEL_CLASS;
	int			n = by_class ? job->classes.n : 1;
	int64	   *quotas = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(int64) * (n + 1));
	int			i;

	*total = 0;
	for (i = 0; i < n; i++)
	{
		int64		rows = by_class ? job->classes.counts[i] : job->n_rows;

		quotas[i] = (int64) floor(job->request.validation_fraction * rows + 0.5);
		*total += quotas[i];
	}
	return quotas;
}

static void
init_output(const pack_job *job, pack_output *output, const hopper_name *table, int64 n_rows,
			int32 partitions)
{
	memset(output, 0, sizeof(*output));
	output->table = *table;
	output->x_column = feature_column(job);
	output->y_column = job->source.y.name;
	output->n_rows = n_rows;
	output->partitions = partitions;
	output->buffer_size = job->request.buffer_size;
	output->x_size = job->x.size;
	output->y_size = job->y_size;
	pack_output_create(output, job->x.rank, job->x.shape,
					   job->y_kind == HOPPER_LABEL_CLASS ? 0 : job->y.rank, job->y.shape);
}

static void
check_split(const pack_job *job, int64 n_validation)
{
	const pack_request *request = &job->request;
	int64		n_training = job->n_rows - n_validation;

	if (request->validation_fraction > 0 && (n_validation == 0 || n_training == 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("validation_fraction %g of the " INT64_FORMAT " rows of \"%s\" leaves no row for %s",
						request->validation_fraction, job->n_rows, job->source.name.shown,
						n_validation == 0 ? "validation" : "training"),
				 job->y_kind == HOPPER_LABEL_CLASS
				 ? errdetail("It is taken of each class and rounded.") : 0));
	if (request->fold_column && (n_validation == 0 || n_training == 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" of \"%s\" leaves no row for %s", job->source.fold.name,
						job->source.name.shown, n_validation == 0 ? "validation" : "training"),
				 errhint("True marks a row for validation, false for training.")));
	if (request->partitions > n_training)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("partitions is %d but there are only " INT64_FORMAT " rows to train on",
						request->partitions, n_training)));
}

static void
check_starts(const pack_request *request, int32 partitions)
{
	if (request->n_starts > 0 && request->starts[request->n_starts - 1] >= partitions)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("starts names partition %d but there are only %d partitions",
						request->starts[request->n_starts - 1], partitions),
				 errdetail("Partitions count from 0.")));
}

/* Sorted rows into one or two packed tables. */
static void
write_rows(pack_job *job, pack_output *training, pack_output *validation)
{
	const pack_request *request = &job->request;
	bool		split = request->validation_fraction > 0 || request->fold_column;
	int64		n_validation = job->n_fold;
	int64	   *quotas = NULL;
	Datum		datum;
	bool		isnull;

	if (request->validation_fraction > 0)
		quotas = validation_quotas(job, &n_validation);
	check_split(job, n_validation);
	init_output(job, training, &request->output, job->n_rows - n_validation, request->partitions);
	check_starts(request, training->partitions);
	if (split)
	{
		hopper_name name = hopper_name_with_suffix(&request->output, "validation");

		init_output(job, validation, &name, n_validation, 0);
	}
	while (hopper_tuplesort_getdatum(job->sort, &datum, &isnull))
	{
		char	   *x = VARDATA(DatumGetPointer(datum)) + PACK_KEY_SIZE;
		char	   *y = x + job->x.size;
		bool		to_validation;

		CHECK_FOR_INTERRUPTS();
		if (quotas)
		{
			int32		class = job->y_kind == HOPPER_LABEL_CLASS
				? pack_get_index(job->classes.type, y) : 0;

			/* the first of each class in rank order */
			to_validation = quotas[class]-- > 0;
		}
		else
			to_validation = y[job->y_size] != 0;
		pack_output_add(to_validation ? validation : training, x, y);
		pfree(DatumGetPointer(datum));
	}
	pack_output_finish(training);
	if (split)
		pack_output_finish(validation);
}

/* 50000 as "50,000" */
static char *
grouped(int64 number)
{
	char	   *digits = psprintf(INT64_FORMAT, number);
	StringInfoData text;
	int			i;

	initStringInfo(&text);
	for (i = 0; digits[i]; i++)
	{
		if (i && (strlen(digits) - i) % 3 == 0)
			appendStringInfoChar(&text, ',');
		appendStringInfoChar(&text, digits[i]);
	}
	return text.data;
}

static void
report(const pack_job *job, const pack_output *training, const pack_output *validation,
	   double seconds)
{
	char	   *also = "";
	int64		bytes = training->bytes;

	if (validation)
	{
		also = psprintf(", %s for validation", grouped(validation->n_rows));
		bytes += validation->bytes;
	}
	ereport(NOTICE,
			(errmsg("packed %s rows of \"%s\" into %d %s%s, %s %s, %s in %.1f s",
					grouped(training->n_rows), job->source.name.shown, training->partitions,
					training->partitions == 1 ? "partition" : "partitions", also,
					grouped(training->n_buffers + (validation ? validation->n_buffers : 0)),
					training->n_buffers + (validation ? validation->n_buffers : 0) == 1
					? "buffer" : "buffers",
					text_to_cstring(DatumGetTextPP(DirectFunctionCall1(pg_size_pretty,
																	   Int64GetDatum(bytes)))),
					seconds)));
}

/* Packs; SPI is connected. Returns the number of rows of the source. */
static int64
pack(pack_job *job)
{
	const pack_request *request = &job->request;
	bool		split = request->validation_fraction > 0 || request->fold_column;
	pack_output training;
	pack_output validation;
	pack_summary summary = {0};
	instr_time	start;
	instr_time	end;

	INSTR_TIME_SET_CURRENT(start);
	require_outputs_absent(request);
	pack_open_source(request, &job->source);
	require_free_names(job);
	set_features(job);
	set_labels(job);
	/* memory above maintenance_work_mem goes to temporary files */
	job->sort = hopper_tuplesort_begin_datum(BYTEAOID,
											 lookup_type_cache(BYTEAOID, TYPECACHE_LT_OPR)->lt_opr,
											 InvalidOid, false, maintenance_work_mem);
	read_rows(job);
	tuplesort_performsort(job->sort);
	write_rows(job, &training, &validation);
	tuplesort_end(job->sort);

	summary.request = request;
	summary.source = &job->source;
	summary.x = &job->x;
	summary.y = job->y_kind == HOPPER_LABEL_CLASS ? NULL : &job->y;
	summary.classes = &job->classes;
	summary.y_kind = job->y_kind;
	pack_summary_write(&summary, &training,
					   request->validation ? request->training.table.shown : NULL);
	if (split)
		pack_summary_write(&summary, &validation, request->output.shown);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	report(job, &training, split ? &validation : NULL, INSTR_TIME_GET_DOUBLE(end));
	return job->n_rows;
}

PG_FUNCTION_INFO_V1(hopper_sql_training_preprocessor);

Datum
hopper_sql_training_preprocessor(PG_FUNCTION_ARGS)
{
	pack_job   *job = palloc0(sizeof(pack_job));
	int64		n_rows;

	get_training_request(fcinfo, &job->request);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	n_rows = pack(job);
	SPI_finish();
	PG_RETURN_INT64(n_rows);
}

PG_FUNCTION_INFO_V1(hopper_sql_validation_preprocessor);

Datum
hopper_sql_validation_preprocessor(PG_FUNCTION_ARGS)
{
	pack_job   *job = palloc0(sizeof(pack_job));
	pack_request *request = &job->request;
	hopper_name training;
	int64		n_rows;

	get_common(fcinfo, request, 5, 6);
	training = hopper_parse_name(ARGUMENT(4, PG_GETARG_TEXT_PP, NULL),
								 "training_preprocessor_table");
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	request->validation = true;
	hopper_read_packed(&training, &request->training);
	request->normalizing_const = (float4) request->training.desc.normalizing_const;
	request->seed = request->training.seed;
	n_rows = pack(job);
	SPI_finish();
	PG_RETURN_INT64(n_rows);
}
