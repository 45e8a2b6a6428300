/*
 * reports.c
 *		What segments tell, as bytes and back.
 */
#include "pg/greenplum/reports.h"

#include <math.h>

#include "utils/memutils.h"

#include "pg/greenplum/wire.h"

/* What the bytes begin with; another one with each change of what follows. */
#define REPORT_FORMAT 2
#define NOT_A_MODELS 0			/* of an evaluation */

/* The least that an event and a visit take: their numbers, and the lengths of an event's texts. */
#define LEAST_EVENT (15 * sizeof(int64))
#define VISIT_SIZE (15 * sizeof(int64))

/* --- writing --- */

static void
begin_report(StringInfo out)
{
	initStringInfo(out);
	hopper_put_int(out, REPORT_FORMAT);
}

static Datum
end_report(StringInfo out)
{
	Datum		value = hopper_bytes_datum(out->data, out->len);

	pfree(out->data);
	return value;
}

static void
put_event(StringInfo out, const hopper_event *event)
{
	hopper_put_int(out, event->type);
	hopper_put_int(out, event->mst_key);
	hopper_put_int(out, event->iteration);
	hopper_put_int(out, event->split);
	hopper_put_int(out, event->running);
	hopper_put_int(out, event->n_live);
	hopper_put_number(out, event->loss);
	hopper_put_int(out, event->n_metrics);
	for (int i = 0; i < event->n_metrics; i++)
		hopper_put_number(out, event->metrics[i]);
	hopper_put_number(out, event->elapsed);
	hopper_put_text(out, event->message);
	hopper_put_text(out, event->detail);
	hopper_put_text(out, event->hint);
	hopper_put_int(out, event->partition);
	hopper_put_int(out, event->take);
	hopper_put_int(out, event->reason_size);
}

static void
put_visit(StringInfo out, const hopper_visit *visit)
{
	hopper_put_int(out, visit->mst_key);
	hopper_put_int(out, visit->iteration);
	hopper_put_int(out, visit->kind);
	hopper_put_int(out, visit->split);
	hopper_put_int(out, visit->worker);
	hopper_put_int(out, visit->hop);
	hopper_put_int(out, visit->first_partition);
	hopper_put_int(out, visit->n_partitions);
	hopper_put_number(out, visit->started);
	hopper_put_number(out, visit->read);
	hopper_put_number(out, visit->wait);
	hopper_put_number(out, visit->hopping);
	hopper_put_number(out, visit->train);
	hopper_put_number(out, visit->evaluate);
	hopper_put_int(out, visit->bytes_written);
}

Datum
hopper_report_datum(const hopper_group_part *part)
{
	StringInfoData out;

	begin_report(&out);
	hopper_put_int(&out, part->n_events);
	for (int i = 0; i < part->n_events; i++)
		put_event(&out, &part->events[i]);
	hopper_put_int(&out, part->n_visits);
	for (int i = 0; i < part->n_visits; i++)
		put_visit(&out, &part->visits[i]);
	return end_report(&out);
}

Datum
hopper_result_datum(const hopper_model_result *result)
{
	StringInfoData out;

	begin_report(&out);
	hopper_put_int(&out, result->status);
	hopper_put_int(&out, result->iterations);
	hopper_put_number(&out, result->seconds_training);
	hopper_put_number(&out, result->seconds_evaluating);
	hopper_put_number(&out, result->seconds_waiting);
	hopper_put_int(&out, result->examples);
	hopper_put_int(&out, result->n_parameters);
	hopper_put_int(&out, result->n_weights);
	hopper_put_int(&out, (int64) result->state_size);
	hopper_put_text(&out, result->digest);
	hopper_put_text(&out, result->loss_type);
	hopper_put_int(&out, result->n_metrics);
	for (int i = 0; i < result->n_metrics; i++)
		hopper_put_text(&out, result->metrics_type[i]);
	hopper_put_text(&out, result->error);
	hopper_put_text(&out, result->error_detail);
	hopper_put_int(&out, result->reason_size);
	hopper_put_int(&out, result->stopped);
	hopper_put_int(&out, result->best_iteration);
	hopper_put_int(&out, result->kept_iteration);
	hopper_put_number(&out, result->learning_rate);
	hopper_put_int(&out, result->mixed);
	return end_report(&out);
}

Datum
hopper_values_datum(const hopper_event *event)
{
	StringInfoData out;

	begin_report(&out);
	put_event(&out, event);
	return end_report(&out);
}

Datum
hopper_counts_datum(const int64_t *counts, int32 n)
{
	StringInfoData out;

	begin_report(&out);
	hopper_put_int(&out, n);
	hopper_put_bytes(&out, counts, sizeof(int64) * n * n);
	return end_report(&out);
}

/* --- checks --- */

static bool
is_seconds(double seconds)
{
	return isfinite(seconds) && seconds >= 0;
}

static bool
is_split(int32 split)
{
	return split == HOPPER_SPLIT_TRAIN || split == HOPPER_SPLIT_VALID;
}

static bool
is_event(const hopper_event *event, int32 mst_key)
{
	return (event->type == HOPPER_EVENT_METRICS || event->type == HOPPER_EVENT_MODEL_FAILED ||
			event->type == HOPPER_EVENT_MODEL_STOPPED || event->type == HOPPER_EVENT_WARNING) &&
		event->mst_key == mst_key && event->iteration >= 0 && is_split(event->split);
}

static bool
is_visit(const hopper_visit *visit, int32 mst_key)
{
	return visit->mst_key == mst_key && visit->iteration >= 0 &&
		(visit->kind == HOPPER_VISIT_TRAIN || visit->kind == HOPPER_VISIT_EVALUATE) &&
		is_split(visit->split) && visit->hop >= 0 && visit->first_partition >= 0 &&
		visit->n_partitions >= 0 && visit->bytes_written >= 0 && isfinite(visit->started) &&
		isfinite(visit->read) && isfinite(visit->wait) && isfinite(visit->hopping) &&
		isfinite(visit->train) && isfinite(visit->evaluate);
}

static bool
is_result(const hopper_model_result *result, bool may_train)
{
	return (result->status == HOPPER_MODEL_DONE || result->status == HOPPER_MODEL_FAILED ||
			(may_train && result->status == HOPPER_MODEL_TRAINING)) &&
		result->iterations >= 0 && result->best_iteration >= 0 && result->kept_iteration >= 0 &&
		result->examples >= 0 && result->n_parameters >= 0 && result->n_weights >= 0 &&
		(result->stopped == 0 || result->stopped == 1) &&
		is_seconds(result->seconds_training) && is_seconds(result->seconds_evaluating) &&
		is_seconds(result->seconds_waiting);
}

/* --- reading --- */

/* `damaged`: the error's message where it is no such report. */
static void
open_report(const bytea *bytes, const char *damaged, hopper_reader *in)
{
	in->at = VARDATA_ANY(bytes);
	in->end = in->at + VARSIZE_ANY_EXHDR(bytes);
	in->damaged = damaged;
	if (hopper_get_int(in) != REPORT_FORMAT)
		hopper_refuse(in);
}

static void
open_model_report(const bytea *bytes, int segment, int32 mst_key, hopper_reader *in)
{
	open_report(bytes, psprintf("what segment %d tells of configuration %d is damaged", segment,
								mst_key), in);
}

static void
close_report(hopper_reader *in, bool holds)
{
	if (!holds)
		hopper_refuse(in);
	hopper_get_end(in);
}

static void
get_event(hopper_reader *in, int32 mst_key, hopper_event *event)
{
	memset(event, 0, sizeof(*event));
	event->type = hopper_get_int32(in);
	event->mst_key = hopper_get_int32(in);
	event->iteration = hopper_get_int32(in);
	event->split = hopper_get_int32(in);
	event->running = hopper_get_bool(in);
	event->n_live = hopper_get_int32(in);
	event->loss = hopper_get_number(in);
	event->n_metrics = (int32) hopper_get_int_between(in, 0, HOPPER_MAX_METRICS);
	for (int i = 0; i < event->n_metrics; i++)
		event->metrics[i] = hopper_get_number(in);
	event->elapsed = hopper_get_number(in);
	hopper_get_field(in, event->message, sizeof(event->message));
	hopper_get_field(in, event->detail, sizeof(event->detail));
	hopper_get_field(in, event->hint, sizeof(event->hint));
	event->partition = hopper_get_int32(in);
	event->take = hopper_get_int32(in);
	event->reason_size = (int32) hopper_get_int_between(in, 0, strlen(event->message));
	if (!is_event(event, mst_key))
		hopper_refuse(in);
}

static void
get_visit(hopper_reader *in, int32 mst_key, hopper_visit *visit)
{
	visit->mst_key = hopper_get_int32(in);
	visit->iteration = hopper_get_int32(in);
	visit->kind = hopper_get_int32(in);
	visit->split = hopper_get_int32(in);
	visit->worker = hopper_get_int32(in);
	visit->hop = hopper_get_int32(in);
	visit->first_partition = hopper_get_int32(in);
	visit->n_partitions = hopper_get_int32(in);
	visit->started = hopper_get_number(in);
	visit->read = hopper_get_number(in);
	visit->wait = hopper_get_number(in);
	visit->hopping = hopper_get_number(in);
	visit->train = hopper_get_number(in);
	visit->evaluate = hopper_get_number(in);
	visit->bytes_written = hopper_get_int(in);
	if (!is_visit(visit, mst_key))
		hopper_refuse(in);
}

/* For n things of `width` bytes. */
static void *
allocate(size_t n, size_t width)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, n * width + 1);
}

void
hopper_read_report(const bytea *bytes, int segment, int32 mst_key, hopper_report *report)
{
	hopper_reader in;

	open_model_report(bytes, segment, mst_key, &in);
	report->n_events = hopper_get_count(&in, LEAST_EVENT);
	report->events = allocate(report->n_events, sizeof(hopper_event));
	for (int i = 0; i < report->n_events; i++)
		get_event(&in, mst_key, &report->events[i]);
	report->n_visits = hopper_get_count(&in, VISIT_SIZE);
	report->visits = allocate(report->n_visits, sizeof(hopper_visit));
	for (int i = 0; i < report->n_visits; i++)
		get_visit(&in, mst_key, &report->visits[i]);
	close_report(&in, true);
}

void
hopper_read_result(const bytea *bytes, int segment, int32 mst_key, bool may_train,
				   hopper_model_result *result)
{
	hopper_reader in;

	open_model_report(bytes, segment, mst_key, &in);
	memset(result, 0, sizeof(*result));
	result->status = hopper_get_int32(&in);
	result->iterations = hopper_get_int32(&in);
	result->seconds_training = hopper_get_number(&in);
	result->seconds_evaluating = hopper_get_number(&in);
	result->seconds_waiting = hopper_get_number(&in);
	result->examples = hopper_get_int(&in);
	result->n_parameters = hopper_get_int(&in);
	result->n_weights = hopper_get_int(&in);
	result->state_size = (size_t) hopper_get_int_between(&in, 0, PG_INT64_MAX);
	hopper_get_field(&in, result->digest, sizeof(result->digest));
	hopper_get_field(&in, result->loss_type, sizeof(result->loss_type));
	result->n_metrics = (int32) hopper_get_int_between(&in, 0, HOPPER_MAX_METRICS);
	for (int i = 0; i < result->n_metrics; i++)
		hopper_get_field(&in, result->metrics_type[i], sizeof(result->metrics_type[i]));
	hopper_get_field(&in, result->error, sizeof(result->error));
	hopper_get_field(&in, result->error_detail, sizeof(result->error_detail));
	result->reason_size = (int32) hopper_get_int_between(&in, 0, strlen(result->error));
	result->stopped = hopper_get_int32(&in);
	result->best_iteration = hopper_get_int32(&in);
	result->kept_iteration = hopper_get_int32(&in);
	result->learning_rate = hopper_get_number(&in);
	result->mixed = hopper_get_bool(&in);
	close_report(&in, is_result(result, may_train));
}

void
hopper_read_values(const bytea *bytes, hopper_event *event)
{
	hopper_reader in;

	open_report(bytes, "what the segments tell of an evaluation is damaged", &in);
	get_event(&in, NOT_A_MODELS, event);
	close_report(&in, event->type == HOPPER_EVENT_METRICS);
}

int64_t *
hopper_read_counts(const bytea *bytes, int *n)
{
	hopper_reader in;
	int64_t    *counts;

	open_report(bytes, "what the segments tell of the confusion of classes is damaged", &in);
	*n = (int) hopper_get_int_between(&in, 1, INT16_MAX);
	counts = hopper_get_array(&in, (int64) *n * *n, sizeof(int64));
	close_report(&in, true);
	return counts;
}

Datum
hopper_told_value(uint64 row, int column, Oid type)
{
	bool		isnull;
	Datum		value = hopper_value(row, column, type, &isnull);

	if (isnull)
	{
		hopper_reader in = {NULL, NULL, "what the segments tell is incomplete"};

		hopper_refuse(&in);
	}
	return value;
}
