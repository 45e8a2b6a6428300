/*
 * packed.c
 *		predict_packed(): what a model predicts for rows of a packed table, beside their labels.
 */
#include "pg/predict/run.h"

#include "utils/tuplestore.h"

#define PACKED_COLUMNS 5

typedef struct packed_prediction
{
	hopper_packed data;
	hopper_prediction base;		/* the model, and what computes */
	hopper_predict_classes classes;
	size_t		y_size;			/* bytes of an example's labels */
	int64		most;			/* rows wanted */
	int64		seen;			/* rows read */

	/* By row that was taken; outputs come in this order. */
	double	   *labels;
	int64	   *numbers;
	int64		taken;
	int64		told;			/* rows of the result */

	Tuplestorestate *store;
	TupleDesc	descriptor;
	MemoryContext row_context;
} packed_prediction;

/* A label that is a number, in its own unit. */
static double
label_in_unit(const packed_prediction *run, double label)
{
	const hopper_label_scale *scale = &run->base.model.scale;

	return scale->is_scaled ? label * scale->deviation + scale->mean : label;
}

static void
put_class_name(const packed_prediction *run, int class, Datum *value, bool *null)
{
	const char *name = hopper_predict_class_name(&run->base.model, class);

	*null = name == NULL;
	if (name)
		*value = CStringGetTextDatum(name);
}

static Datum
double_text(double value)
{
	return CStringGetTextDatum(DatumGetCString(DirectFunctionCall1(float8out,
																   Float8GetDatum(value))));
}

static void
put_prediction(packed_prediction *run, const float *outputs)
{
	const hopper_predict_model *model = &run->base.model;
	MemoryContext caller = MemoryContextSwitchTo(run->row_context);
	Datum		values[PACKED_COLUMNS] = {0};
	bool		nulls[PACKED_COLUMNS] = {false};
	double		label = run->labels[run->told];

	values[0] = Int64GetDatum(run->numbers[run->told]);
	if (model->is_value)
	{
		double		value;

		hopper_predict_values(model, 1, outputs, &value);
		values[1] = double_text(label_in_unit(run, label));
		values[2] = double_text(value);
		nulls[3] = true;
		values[4] = hopper_floats_datum(1, &value);
	}
	else
	{
		int			best;

		hopper_predict_rank(&run->classes, model, run->base.work.n_outputs, outputs, true);
		best = run->classes.order[0];
		put_class_name(run, (int) label, &values[1], &nulls[1]);
		put_class_name(run, best, &values[2], &nulls[2]);
		values[3] = Float8GetDatum(run->classes.probabilities[best]);
		values[4] = hopper_floats_datum(model->n_classes, run->classes.probabilities);
	}
	tuplestore_putvalues(run->store, run->descriptor, values, nulls);
	run->told++;
	MemoryContextSwitchTo(caller);
	MemoryContextReset(run->row_context);
}

static void
take_batch(packed_prediction *run)
{
	const float *outputs;
	int			n = hopper_predict_take(&run->base, true, &outputs)->n;

	for (int i = 0; i < n; i++)
		put_prediction(run, outputs + (int64) i * run->base.work.n_outputs);
	hopper_predict_done(&run->base);
	CHECK_FOR_INTERRUPTS();
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

	if (buffer->x_size != buffer->n * run->base.values.size ||
		buffer->y_size != buffer->n * run->y_size ||
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
	hopper_predict_work *work = &run->base.work;
	size_t		x_size = run->base.values.size;
	int32		y_type = run->data.desc.n_outputs ? HOPPER_FLOAT32 : run->data.desc.y_type;

	check_buffer(run, buffer);
	for (int i = 0; i < buffer->n; i++)
	{
		if (!is_wanted(run, run->seen++))
			continue;
		if (work->n_batches == work->depth)
			take_batch(run);
		memcpy(work->features + work->n_added * x_size, (const char *) buffer->x + i * x_size,
			   x_size);
		run->labels[run->taken] = hopper_number_at(y_type, (const char *) buffer->y +
												   i * run->y_size, 0);
		run->numbers[run->taken++] = run->seen;
		if (++work->n_added == work->batch_rows)
			hopper_predict_submit(&run->base);
	}
	CHECK_FOR_INTERRUPTS();
}

static void
measure_rows(packed_prediction *run)
{
	const hopper_data_desc *desc = &run->data.desc;
	size_t	   *x_size = &run->base.values.size;

	if (desc->n_inputs == 0)
		*x_size = hopper_core()->type_size(desc->x_type) *
			hopper_shape_count(desc->x_rank, desc->x_shape);
	for (int i = 0; i < desc->n_inputs; i++)
		*x_size += hopper_core()->type_size(desc->inputs[i].type) *
			hopper_shape_count(desc->inputs[i].rank, desc->inputs[i].shape);
	run->y_size = desc->n_outputs ? sizeof(float4) * hopper_shape_count(desc->y_rank, desc->y_shape)
		: hopper_core()->type_size(desc->y_type);
}

/* predict_packed(model_table, packed_table, mst_key, n) */
HOPPER_SPI_FUNCTION(hopper_sql_predict_packed)
{
	hopper_name table = hopper_name_argument(fcinfo, 0, "model_table");
	hopper_name packed_table = hopper_name_argument(fcinfo, 1, "packed_table");
	hopper_trained trained;
	packed_prediction run;

	hopper_require_set_context(fcinfo);
	memset(&run, 0, sizeof(run));
	run.most = PG_ARGISNULL(3) ? PG_INT64_MAX : PG_GETARG_INT64(3);
	if (run.most < 1)
		hopper_wrong(errmsg("n must be a positive number of rows"));
	hopper_read_trained(&table, !PG_ARGISNULL(2), hopper_key_argument(fcinfo, 2), &trained);
	hopper_predict_from_trained(&trained, &run.base.model);
	if (run.base.model.n_parts > 0 || run.base.model.is_array || run.base.model.is_each)
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("model \"%s\" does not predict one class or number a row", table.shown),
					 errhint("hopper.predict() on the table that was packed gives what it "
							 "predicts."));
	hopper_read_compatible(&packed_table, "packed table", &trained.data, table.shown, &run.data);
	run.most = Min(run.most, run.data.desc.n_rows);
	measure_rows(&run);
	run.store = hopper_begin_result(fcinfo, &run.descriptor);
	run.row_context = AllocSetContextCreate(CurrentMemoryContext, "hopper predicted row",
											ALLOCSET_DEFAULT_SIZES);
	run.base.work.threads = hopper_effective_threads();
	hopper_predict_open(&run.base, &run.data.desc);
	hopper_predict_classes_init(&run.classes, &run.base.model);
	run.labels = MemoryContextAllocHuge(CurrentMemoryContext, (run.most + 1) * sizeof(double));
	run.numbers = MemoryContextAllocHuge(CurrentMemoryContext, (run.most + 1) * sizeof(int64));
	hopper_scan_packed(&run.data, HOPPER_SPLIT_VALID, HOPPER_ALL_PARTITIONS, read_buffer, &run);
	if (run.base.work.n_added > 0)
		hopper_predict_submit(&run.base);
	while (run.base.work.n_batches > 0)
		take_batch(&run);
	hopper_predict_end(&run.base);
	return (Datum) 0;
}
