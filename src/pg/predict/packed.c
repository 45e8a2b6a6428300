/*
 * packed.c
 *		predict_packed(): what a model predicts for rows of a packed table, beside their labels.
 */
#include "pg/predict/predict.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "pg/codec/placement.h"
#include "pg/server/ceilings.h"

PG_FUNCTION_INFO_V1(hopper_sql_predict_packed);

#define N_COLUMNS 5
#define BATCH_ROWS 1024
/* Latches of old kernels are set by few signals: wait no longer than this, in milliseconds. */
#define LONGEST_WAIT 500

typedef struct packed_prediction
{
	hopper_packed data;
	hopper_predict_model model;
	hopper_predictor *predictor;
	hopper_prediction_plan plan;
	int			event_fd;
	int			n_outputs;
	hopper_predict_classes classes;
	size_t		x_size;			/* bytes of an example */
	size_t		y_size;			/* and of its labels */
	int64		most;			/* rows wanted */
	int64		seen;			/* rows read */

	/* the batch that is being read */
	char	   *x;
	int			n;
	int			in_flight;		/* batches */
	/* By row that was taken; outputs come in this order. */
	double	   *labels;
	int64	   *numbers;
	int64		taken;
	int64		told;			/* rows of the result */

	Tuplestorestate *store;
	TupleDesc	descriptor;
	MemoryContext row_context;
} packed_prediction;

static void
free_predictor(void *predictor)
{
	hopper_torch()->predictor.free((hopper_predictor *) predictor);
}

static double
number_at(int32 type, const char *bytes)
{
	int16		small;
	int32		middle;
	int64		large;
	float4		single;
	double		value;

	switch (type)
	{
		case HOPPER_UINT8:
			return (uint8) *bytes;
		case HOPPER_INT16:
			memcpy(&small, bytes, sizeof(small));
			return small;
		case HOPPER_INT32:
			memcpy(&middle, bytes, sizeof(middle));
			return middle;
		case HOPPER_INT64:
			memcpy(&large, bytes, sizeof(large));
			return (double) large;
		case HOPPER_FLOAT32:
			memcpy(&single, bytes, sizeof(single));
			return single;
		default:
			memcpy(&value, bytes, sizeof(value));
			return value;
	}
}

/* A label that is a number, in its own unit. */
static double
label_in_unit(const packed_prediction *run, double label)
{
	const hopper_label_scale *scale = &run->model.scale;

	return scale->is_scaled ? label * scale->deviation + scale->mean : label;
}

static void
put_class_name(const packed_prediction *run, int class, Datum *value, bool *null)
{
	const hopper_predict_model *model = &run->model;
	const char *name = model->n_class_values == 0 ? psprintf("%d", class)
		: class >= 0 && class < model->n_class_values ? model->class_values[class] : NULL;

	*null = name == NULL;
	if (name)
		*value = CStringGetTextDatum(name);
}

static Datum
number_text(double value)
{
	return CStringGetTextDatum(DatumGetCString(DirectFunctionCall1(float8out,
																   Float8GetDatum(value))));
}

static void
put_row(packed_prediction *run, const float *outputs)
{
	const hopper_predict_model *model = &run->model;
	MemoryContext caller = MemoryContextSwitchTo(run->row_context);
	Datum		values[N_COLUMNS] = {0};
	bool		nulls[N_COLUMNS] = {false};
	int			n = model->is_value ? 1 : run->model.n_classes;
	Datum	   *cells = palloc(n * sizeof(Datum));
	double		label = run->labels[run->told];

	values[0] = Int64GetDatum(run->numbers[run->told]);
	if (model->is_value)
	{
		double		value;

		hopper_predict_values(model, 1, outputs, &value);
		values[1] = number_text(label_in_unit(run, label));
		values[2] = number_text(value);
		nulls[3] = true;
		cells[0] = Float8GetDatum(value);
	}
	else
	{
		int			best;

		hopper_predict_rank(&run->classes, model, run->n_outputs, outputs, true);
		best = run->classes.order[0];
		put_class_name(run, (int) label, &values[1], &nulls[1]);
		put_class_name(run, best, &values[2], &nulls[2]);
		values[3] = Float8GetDatum(run->classes.probabilities[best]);
		for (int i = 0; i < n; i++)
			cells[i] = Float8GetDatum(run->classes.probabilities[i]);
	}
	values[4] = PointerGetDatum(construct_array(cells, n, FLOAT8OID, sizeof(float8),
												FLOAT8PASSBYVAL, 'd'));
	tuplestore_putvalues(run->store, run->descriptor, values, nulls);
	run->told++;
	MemoryContextSwitchTo(caller);
	MemoryContextReset(run->row_context);
}

static void
take_batch(packed_prediction *run)
{
	const float *outputs;
	int32_t		n;
	hopper_error error;
	int			ready;

	while ((ready = hopper_torch()->predictor.take(run->predictor, &outputs, &n, &error)) == 0)
		hopper_wait(run->event_fd, LONGEST_WAIT);
	if (ready < 0)
		hopper_throw(&error);
	run->in_flight--;
	for (int i = 0; i < n; i++)
		put_row(run, outputs + (int64) i * run->n_outputs);
	CHECK_FOR_INTERRUPTS();
}

static void
submit_batch(packed_prediction *run)
{
	hopper_error error;

	if (run->n == 0)
		return;
	if (run->in_flight == run->plan.batches)
		take_batch(run);
	HOPPER_CHECK(hopper_torch()->predictor.submit(run->predictor, run->x, run->n * run->x_size,
												  run->n, &error), error);
	run->in_flight++;
	run->n = 0;
}

/* Rows that lie as evenly among all as whole numbers allow. */
static bool
is_wanted(const packed_prediction *run, int64 row)
{
	double		share = (double) run->most / (double) run->data.desc.n_rows;

	return share >= 1 || floor((row + 1) * share) > floor(row * share);
}

static void
check_buffer(const packed_prediction *run, const hopper_buffer *buffer)
{
	uint8_t		checksum[HOPPER_CHECKSUM_SIZE];

	if (buffer->x_size != buffer->n * run->x_size || buffer->y_size != buffer->n * run->y_size ||
		run->seen + buffer->n > run->data.desc.n_rows)
		hopper_refuse_packed(&run->data,
							 psprintf("Buffer %d of partition %d does not hold its rows.",
									  buffer->buffer_id, buffer->partition_id));
	hopper_core()->buffer_checksum(buffer->partition_id, buffer->buffer_id, buffer->n, buffer->x,
								   buffer->x_size, buffer->y, buffer->y_size, checksum);
	if (buffer->checksum == NULL || memcmp(checksum, buffer->checksum, sizeof(checksum)) != 0)
		hopper_refuse_packed(&run->data,
							 psprintf("The checksum of buffer %d of partition %d is wrong.",
									  buffer->buffer_id, buffer->partition_id));
}

static void
read_buffer(const hopper_buffer *buffer, void *state)
{
	packed_prediction *run = state;
	int32		y_type = run->data.desc.n_outputs ? HOPPER_FLOAT32 : run->data.desc.y_type;

	check_buffer(run, buffer);
	for (int i = 0; i < buffer->n; i++)
	{
		if (!is_wanted(run, run->seen++))
			continue;
		memcpy(run->x + run->n * run->x_size, (const char *) buffer->x + i * run->x_size,
			   run->x_size);
		run->labels[run->taken] = number_at(y_type,
											(const char *) buffer->y + i * run->y_size);
		run->numbers[run->taken++] = run->seen;
		if (++run->n == run->plan.rows)
			submit_batch(run);
	}
	CHECK_FOR_INTERRUPTS();
}

static int64
count_of(int rank, const int64_t *shape)
{
	int64		count = 1;

	for (int i = 0; i < rank; i++)
		count *= shape[i];
	return count;
}

static void
measure_rows(packed_prediction *run)
{
	const hopper_data_desc *desc = &run->data.desc;

	if (desc->n_inputs == 0)
		run->x_size = hopper_core()->type_size(desc->x_type) *
			count_of(desc->x_rank, desc->x_shape);
	for (int i = 0; i < desc->n_inputs; i++)
		run->x_size += hopper_core()->type_size(desc->inputs[i].type) *
			count_of(desc->inputs[i].rank, desc->inputs[i].shape);
	run->y_size = desc->n_outputs ? sizeof(float4) * count_of(desc->y_rank, desc->y_shape)
		: hopper_core()->type_size(desc->y_type);
}

static void
open_predictor(packed_prediction *run, const hopper_trained *trained)
{
	hopper_share *share = hopper_share_new();
	int			threads = hopper_take_threads(share, hopper_effective_threads(), 1);
	int64		limit = hopper_effective_memory_limit();
	hopper_error error;
	int32_t		n_outputs;
	hopper_data_desc desc = run->data.desc;

	desc.normalizing_const = run->model.normalizing_const;
	run->event_fd = hopper_eventfd_open();
	HOPPER_CHECK(hopper_torch()->predictor.create(run->model.model_arch,
												  run->model.model_arch_size,
												  run->model.weights.n, &desc, NULL, threads,
												  limit, run->event_fd, &run->predictor,
												  &n_outputs, &error), error);
	(void) hopper_guard_add(run->predictor, free_predictor);
	hopper_predict_push_weights(run->predictor, &run->model.weights);
	hopper_floats_release(&run->model.weights);
	run->plan.rows = BATCH_ROWS;
	run->plan.batches = 2 * threads;
	HOPPER_CHECK(hopper_torch()->predictor.plan(run->predictor, &run->plan, &error), error);
	hopper_take_memory(share, run->plan.bytes);
	run->n_outputs = n_outputs;
	hopper_predict_bind_outputs(&run->model, n_outputs);
	hopper_predict_classes_init(&run->classes, &run->model);
}

/* predict_packed(model_table, packed_table, mst_key, n) */
Datum
hopper_sql_predict_packed(PG_FUNCTION_ARGS)
{
	hopper_name table = hopper_name_argument(fcinfo, 0, "model_table");
	hopper_name packed_table = hopper_name_argument(fcinfo, 1, "packed_table");
	hopper_trained trained;
	packed_prediction run;

	hopper_require_set_context(fcinfo);
	memset(&run, 0, sizeof(run));
	run.most = PG_ARGISNULL(3) ? PG_INT64_MAX : PG_GETARG_INT64(3);
	if (run.most < 1)
		hopper_raise(ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("n must be a positive number of rows"));
	hopper_connect();
	hopper_read_trained(&table, !PG_ARGISNULL(2), hopper_key_argument(fcinfo, 2), &trained);
	hopper_predict_from_trained(&trained, &run.model);
	if (run.model.n_parts > 0 || run.model.is_array || run.model.is_each)
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("model \"%s\" does not predict one class or number a row", table.shown),
					 errhint("hopper.predict() on the table that was packed gives what it "
							 "predicts."));
	hopper_read_packed(&packed_table, true, &run.data);
	hopper_require_partitions(&run.data);
	hopper_check_compatible(&run.data, "packed table", &trained.desc, trained.n_x_columns,
							trained.x_columns, trained.schema_text, table.shown);
	run.most = Min(run.most, run.data.desc.n_rows);
	measure_rows(&run);
	run.store = hopper_begin_result(fcinfo, &run.descriptor);
	run.row_context = AllocSetContextCreate(CurrentMemoryContext, "hopper predicted row",
											ALLOCSET_DEFAULT_SIZES);
	open_predictor(&run, &trained);
	run.x = MemoryContextAllocHuge(CurrentMemoryContext, (Size) run.plan.rows * run.x_size);
	run.labels = MemoryContextAllocHuge(CurrentMemoryContext, (run.most + 1) * sizeof(double));
	run.numbers = MemoryContextAllocHuge(CurrentMemoryContext, (run.most + 1) * sizeof(int64));
	hopper_scan_packed(&run.data, HOPPER_SPLIT_VALID, read_buffer, &run);
	submit_batch(&run);
	while (run.in_flight > 0)
		take_batch(&run);
	hopper_eventfd_close(run.event_fd);
	hopper_finish();
	return (Datum) 0;
}
