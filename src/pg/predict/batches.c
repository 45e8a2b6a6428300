/*
 * batches.c
 *		Rows through the model, wherever they come from: the main thread encodes them, the core's
 *		threads compute. Batches go through in order, a few at a time.
 */
#include "pg/predict/run.h"

#include "utils/datum.h"

/* Large enough for the matrix products, small enough for the caches and for cancelling. */
#define BATCH_ROWS 1024
#define BATCH_BYTES (8 * 1024 * 1024)

/* Latches of old kernels are set by few signals: wait no longer than this, in milliseconds. */
#define LONGEST_WAIT 500

const hopper_predictor_api *
hopper_predict_library(const char *model_arch, size_t model_arch_size,
					   const hopper_data_desc *data, const char *layer)
{
	return &hopper_engine(hopper_predictor_wants_libtorch(model_arch, model_arch_size, data,
														  layer))->predictor;
}

typedef struct push_target
{
	const hopper_predictor_api *api;
	hopper_predictor *predictor;
} push_target;

static int
push_piece(void *to, int64 first, const float *values, int64 n, hopper_error *error)
{
	push_target *target = to;

	return target->api->add_weights(target->predictor, values, n, error);
}

void
hopper_predict_push_weights(const hopper_predictor_api *api, hopper_predictor *predictor,
							const hopper_floats *weights)
{
	push_target target = {api, predictor};

	hopper_floats_pass(weights, push_piece, &target);
}

char *
hopper_predict_row_query(const hopper_prediction *run)
{
	const char *id = run->id_column ? hopper_identifier(run->id_column) : run->whole_row;
	char	   *list = hopper_pack_row_list(&run->rows, id, run->id_column == NULL);

	/*
	 * The features stand in the list twice, by themselves and in the whole row. Without OFFSET the
	 * planner would take the view apart and compute each of its expressions as often.
	 */
	if (run->source_query)
		return psprintf("SELECT %s FROM (SELECT * FROM (%s) AS hopper_query OFFSET 0) AS"
						" hopper_source", list, run->source_query);
	return psprintf(run->is_view ? "SELECT %s FROM (SELECT * FROM %s OFFSET 0) AS hopper_source"
					: "SELECT %s FROM %s AS hopper_source", list, run->source.quoted);
}

void
hopper_predict_set_row_types(hopper_prediction *run, Oid id_type, bool named)
{
	run->id_oid = id_type;
	get_typlenbyval(id_type, &run->id_length, &run->id_by_value);
	run->rows.rows_hint = PREDICT_HINT_ROWS;
	hopper_pack_set_row_types(&run->rows, 1, &id_type, named);
}

void
hopper_predict_start(hopper_prediction *run)
{
	hopper_data_desc desc = {0};

	hopper_pack_values_describe(&run->values, &desc);
	desc.y_kind = HOPPER_LABEL_VALUE;
	desc.y_type = HOPPER_FLOAT32;
	desc.n_partitions = 1;
	desc.table_name = run->source.shown;
	desc.x_column = run->rows.x[0].name;
	desc.y_column = run->model.class_name;
	hopper_predict_open(run, &desc);
	run->work.output = hopper_predict_output_create(&run->model, &run->what, run->work.n_outputs,
													run->labels.n, run->labels.values,
													run->labels.nulls);
}

static void
begin_batch(hopper_predict_work *work)
{
	work->n_added = 0;
	HOPPER_CHECK(work->api->room(work->predictor, (void **) &work->features, hopper_fault));
}

void
hopper_predict_open(hopper_prediction *run, hopper_data_desc *desc)
{
	hopper_predict_work *work = &run->work;
	hopper_prediction_plan plan = {0};
	int64		limit;
	int64		weights;
	int32_t		n_outputs;

	desc->normalizing_const = run->model.data.desc.normalizing_const;
	work->share = hopper_share_new();
	work->threads = hopper_take_threads(work->share, work->threads, 1);
	limit = hopper_effective_memory_limit();
	weights = Min(limit, run->model.weights.n * (int64) sizeof(float));
	hopper_take_memory(work->share, weights);
	work->event_fd = hopper_eventfd_open();
	work->api = hopper_predict_library(run->model.model_arch, run->model.model_arch_size, desc,
									   run->model.layer);
	HOPPER_CHECK(work->api->create(run->model.model_arch, run->model.model_arch_size,
								   run->model.weights.n, desc, run->model.layer, work->threads,
								   limit, work->event_fd, &work->predictor, &n_outputs,
								   hopper_fault));
	work->guard = hopper_guard_add(work->predictor, work->api->free);
	hopper_predict_push_weights(work->api, work->predictor, &run->model.weights);
	hopper_floats_release(&run->model.weights);
	/* One batch at each thread and one on its way to it. */
	plan.rows = Max(1, Min(BATCH_ROWS, BATCH_BYTES / (int64) Max(run->values.size, 1)));
	plan.batches = Min(2 * work->threads, PREDICT_MAX_BATCHES);
	HOPPER_CHECK(work->api->plan(work->predictor, &plan, hopper_fault));
	hopper_take_memory(work->share, plan.bytes - weights);
	work->batch_rows = plan.rows;
	work->depth = plan.batches;
	work->n_outputs = n_outputs;
	hopper_predict_bind_outputs(&run->model, work->n_outputs);
	work->scratch = AllocSetContextCreate(CurrentMemoryContext, "hopper features",
										  ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < work->depth; i++)
	{
		hopper_predict_batch *batch = &work->batches[i];

		batch->context = AllocSetContextCreate(CurrentMemoryContext, "hopper prediction keys",
											   ALLOCSET_DEFAULT_SIZES);
		batch->ids = palloc(work->batch_rows * sizeof(Datum));
		batch->id_nulls = palloc(work->batch_rows * sizeof(bool));
		batch->lacking = palloc(work->batch_rows * sizeof(bool));
	}
	begin_batch(work);
}

static hopper_predict_batch *
next_batch(hopper_predict_work *work)
{
	return &work->batches[(work->first + work->n_batches) % work->depth];
}

bool
hopper_predict_add_numbers(hopper_prediction *run, const char *numbers)
{
	hopper_predict_work *work = &run->work;

	work->has_numbers = hopper_pack_values_copy(&run->values, numbers, work->features +
												work->n_added * run->values.size);
	return work->has_numbers;
}

void
hopper_predict_add(hopper_prediction *run, const Datum *values, const bool *nulls)
{
	hopper_predict_work *work = &run->work;
	hopper_predict_batch *batch = next_batch(work);
	int			row = work->n_added++;
	int			id = run->rows.n_x;
	char	   *features = work->features + row * run->values.size;
	MemoryContext caller;

	if (row == 0)
	{
		MemoryContextReset(batch->context);
		batch->first_row = run->rows.row_number + 1;
	}
	run->rows.row_number++;
	run->rows.values = values;
	run->rows.nulls = nulls;
	caller = MemoryContextSwitchTo(work->scratch);
	batch->lacking[row] = !work->has_numbers &&
		!hopper_pack_values_encode(&run->values, &run->rows, values, nulls, features);
	work->has_numbers = false;
	if (batch->lacking[row])
	{
		work->n_lacking++;
		memset(features, 0, run->values.size);
	}
	batch->id_nulls[row] = nulls[id];
	batch->ids[row] = (Datum) 0;
	if (!nulls[id])
	{
		MemoryContextSwitchTo(batch->context);
		batch->ids[row] = datumCopy(values[id], run->id_by_value, run->id_length);
	}
	MemoryContextSwitchTo(caller);
	/* The next row's copies take the same memory, which the caches hold. */
	MemoryContextReset(work->scratch);
}

void
hopper_predict_submit(hopper_prediction *run)
{
	hopper_predict_work *work = &run->work;
	int			n = work->n_added;

	next_batch(work)->n = n;
	HOPPER_CHECK(work->api->submit(work->predictor, work->features, n * run->values.size, n,
								   hopper_fault));
	work->n_batches++;
	begin_batch(work);
}

/* Which rows those are of which one cannot be computed. */
static void
batch_context(void *state)
{
	const hopper_prediction *run = state;
	const hopper_predict_batch *batch = &run->work.batches[run->work.first];
	int			last = batch->n - 1;

	if (batch->first_row == 0)
		return;					/* of a packed table, of which rows may be left out */
	if (run->id_column == NULL || batch->id_nulls[0] || batch->id_nulls[last])
	{
		errcontext("predicting rows number " INT64_FORMAT " to " INT64_FORMAT " of \"%s\"",
				   batch->first_row, batch->first_row + last, run->source.shown);
		return;
	}
	errcontext("predicting the rows of \"%s\" from (%s)=(%s) to (%s)", run->source.shown,
			   run->id_column, hopper_text_of(run->id_oid, batch->ids[0]),
			   hopper_text_of(run->id_oid, batch->ids[last]));
}

const hopper_predict_batch *
hopper_predict_take(hopper_prediction *run, bool wait, const float **outputs)
{
	hopper_predict_work *work = &run->work;
	hopper_predict_batch *batch = &work->batches[work->first];
	int32_t		n;
	int			ready;

	while ((ready = work->api->take(work->predictor, outputs, &n, hopper_fault)) == 0)
	{
		if (!wait)
			return NULL;
		hopper_wait(work->event_fd, LONGEST_WAIT);
	}
	if (ready < 0)
	{
		ErrorContextCallback context = {error_context_stack, batch_context, run};

		error_context_stack = &context;
		hopper_throw(hopper_fault);
	}
	if (n != batch->n)
		elog(ERROR, "the core predicted %d rows where %d were given", n, batch->n);
	return batch;
}

void
hopper_predict_done(hopper_prediction *run)
{
	hopper_predict_work *work = &run->work;

	work->first = (work->first + 1) % work->depth;
	work->n_batches--;
}

void
hopper_predict_end(hopper_prediction *run)
{
	hopper_predict_work *work = &run->work;

	hopper_guard_release(work->guard);
	hopper_eventfd_close(work->event_fd);
	hopper_share_release(work->share);
	work->predictor = NULL;
	if (work->n_lacking > 0)
		ereport(NOTICE, errmsg("%s of \"%s\" %s no prediction",
							   hopper_plural(work->n_lacking, "row", "rows"), run->source.shown,
							   work->n_lacking == 1 ? "has" : "have"),
				errdetail("A feature is NULL there, or no finite number."));
}
