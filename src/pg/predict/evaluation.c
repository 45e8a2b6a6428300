/*
 * evaluation.c
 *		An evaluation of the core that is given packed buffers; confusion matrix, precision and
 *		recall of each class, as a table.
 */
#include "pg/predict/evaluate.h"
#include "pg/predict/predict.h"

static int
push_piece_of_evaluated(void *to, int64 first, const float *values, int64 n, hopper_error *error)
{
	const hopper_evaluating *run = to;

	return run->api->add_weights(run->evaluation, values, n, error);
}

void
hopper_evaluation_open(hopper_evaluating *run, const hopper_config *config,
					   const hopper_floats *weights, const hopper_data_desc *desc, int threads,
					   long longest_wait)
{
	run->event_fd = hopper_eventfd_open();
	run->longest_wait = longest_wait;
	run->partition = -1;
	run->api = &hopper_engine(hopper_wants_libtorch(config, 1, desc))->evaluation;
	HOPPER_CHECK(run->api->create(config, desc, threads, run->event_fd, &run->evaluation,
								  hopper_fault));
	run->guard = hopper_guard_add(run->evaluation, run->api->free);
	if (weights)
		hopper_floats_pass(weights, push_piece_of_evaluated, run);
}

void
hopper_evaluation_wait(const hopper_evaluating *run, int32 partition)
{
	int			room;

	while ((room = run->api->room(run->evaluation, partition, hopper_fault)) == 0)
		hopper_wait(run->event_fd, run->longest_wait);
	if (room < 0)
		hopper_throw(hopper_fault);
}

void
hopper_evaluation_add(hopper_evaluating *run, const hopper_buffer *buffer)
{
	if (buffer->partition_id != run->partition)
		hopper_evaluation_wait(run, buffer->partition_id);
	run->partition = buffer->partition_id;
	HOPPER_CHECK(run->api->add_buffer(run->evaluation, buffer, hopper_fault));
	CHECK_FOR_INTERRUPTS();
}

void
hopper_evaluation_close(hopper_evaluating *run)
{
	hopper_guard_release(run->guard);
	hopper_eventfd_close(run->event_fd);
}

/* --- the confusion of classes --- */

static const hopper_column confusion_columns[] = {
	{"row_id", INT4OID, "index of the class",.marks = true},
	{"class", TEXTOID, "the class; NULL where a place has none",.marks = true},
	{"confusion_arr", INT8ARRAYOID,
	"examples of this class by predicted class, in the order of row_id",.marks = true},
	{"examples", INT8OID, "examples of this class",.marks = true},
	{"predicted", INT8OID, "examples that were predicted to be of this class",.marks = true},
	{"precision", FLOAT8OID, "share of the right ones among those predicted"},
	{"recall", FLOAT8OID, "share of those found among those that there are",.marks = true},
	{"f1_score", FLOAT8OID, "harmonic mean of precision and recall",.marks = true},
};

#define CONFUSION_COLUMNS lengthof(confusion_columns)

const hopper_layout hopper_confusion_layout = {
	.what = "a confusion table",.columns = confusion_columns,.n = CONFUSION_COLUMNS
};

void
hopper_require_classes(const hopper_trained *model, const hopper_name *shown)
{
	const hopper_data_desc *desc = &model->data.desc;
	int32		kind = desc->n_outputs == 1 ? desc->outputs[0].kind : desc->y_kind;
	hopper_predict_model predicted;

	hopper_predict_from_trained(model, &predicted);
	if (kind == HOPPER_LABEL_CLASS || predicted.is_each)
		return;
	hopper_wrong(errmsg("confusion_table needs a model of classes but \"%s\" was trained on %s",
						shown->shown,
						desc->n_outputs > 1 ? "several outputs"
						: kind == HOPPER_LABEL_VALUE ? "numbers" : "arrays"),
				 desc->n_outputs > 1
				 ? errhint("Leave it out, and count what hopper.predict() writes.")
				 : errhint("Leave confusion_table out."));
}

/* a / b; NULL where b is zero */
static hopper_param
share(double a, double b)
{
	return HOPPER_IF(b > 0, HOPPER_FLOAT8(b > 0 ? a / b : 0));
}

static void
insert_class(const hopper_name *table, const hopper_predict_model *model, const int64_t *counts,
			 int n, int at)
{
	Datum	   *row = palloc(n * sizeof(Datum));
	const char *name = hopper_predict_class_name(model, at);
	int64		labels = 0;
	int64		predictions = 0;
	int64		right = counts[(int64) at * n + at];

	for (int i = 0; i < n; i++)
	{
		row[i] = Int64GetDatum(counts[(int64) at * n + i]);
		labels += counts[(int64) at * n + i];
		predictions += counts[(int64) i * n + at];
	}
	hopper_insert_params(table, HOPPER_PARAMS(
		HOPPER_INT4(at + 1), hopper_text_param(name),
		HOPPER_PARAM(INT8ARRAYOID, hopper_array(INT8OID, n, row, NULL)), HOPPER_INT8(labels),
		HOPPER_INT8(predictions), share(right, predictions), share(right, labels),
		share(2.0 * right, labels + predictions)));
	pfree(row);
}

void
hopper_write_confusion(const hopper_name *table, const hopper_trained *model,
					   const int64_t *counts, int n)
{
	hopper_predict_model predicted;

	hopper_predict_from_trained(model, &predicted);
	for (int at = 0; at < n; at++)
	{
		insert_class(table, &predicted, counts, n, at);
		CHECK_FOR_INTERRUPTS();
	}
}
