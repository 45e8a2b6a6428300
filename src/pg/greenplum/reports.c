/*
 * reports.c
 *		What segments tell, as bytes and back.
 */
#include "pg/greenplum/reports.h"

#include "pg/greenplum/wire.h"

/* What the bytes begin with; another one with each change of what follows. */
#define REPORT_FORMAT 3
#define NOT_A_MODELS 0			/* of an evaluation */

/* The least that an event takes: its numbers, and the lengths of its texts. */
#define LEAST_EVENT (15 * sizeof(int64))

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

/* --- the parts --- */

static void
pass_event(hopper_wire *wire, int32 mst_key, hopper_event *event)
{
	event->type = hopper_wire_int32(wire, event->type);
	event->mst_key = hopper_wire_int32(wire, event->mst_key);
	event->iteration = hopper_wire_int32(wire, event->iteration);
	event->split = hopper_wire_int32(wire, event->split);
	event->running = hopper_wire_bool(wire, event->running);
	event->n_live = hopper_wire_int32(wire, event->n_live);
	event->loss = hopper_wire_number(wire, event->loss);
	event->n_metrics = (int32) hopper_wire_between(wire, event->n_metrics, 0,
												   HOPPER_MAX_METRICS);
	for (int i = 0; i < event->n_metrics; i++)
		event->metrics[i] = hopper_wire_number(wire, event->metrics[i]);
	event->elapsed = hopper_wire_number(wire, event->elapsed);
	hopper_wire_field(wire, event->message, sizeof(event->message));
	hopper_wire_field(wire, event->detail, sizeof(event->detail));
	hopper_wire_field(wire, event->hint, sizeof(event->hint));
	event->partition = hopper_wire_int32(wire, event->partition);
	event->take = hopper_wire_int32(wire, event->take);
	event->reason_size = (int32) hopper_wire_between(wire, event->reason_size, 0,
													 strlen(event->message));
	if (wire->reads && !is_event(event, mst_key))
		hopper_refuse(wire);
}

/* mst_key: of what is read. */
static void
pass_report(hopper_wire *wire, int32 mst_key, hopper_report *report)
{
	report->n_events = hopper_wire_count(wire, report->n_events, LEAST_EVENT);
	report->events = hopper_wire_items(wire, report->events, report->n_events,
									   sizeof(hopper_event));
	for (int i = 0; i < report->n_events; i++)
		pass_event(wire, mst_key, &report->events[i]);
	report->n_visits = hopper_wire_count(wire, report->n_visits, sizeof(hopper_visit));
	report->visits = hopper_wire_array(wire, report->visits, report->n_visits,
									   sizeof(hopper_visit));
	for (int i = 0; wire->reads && i < report->n_visits; i++)
		if (!is_visit(&report->visits[i], mst_key))
			hopper_refuse(wire);
}

static void
pass_result(hopper_wire *wire, hopper_model_result *result)
{
	result->status = hopper_wire_int32(wire, result->status);
	result->iterations = hopper_wire_int32(wire, result->iterations);
	result->seconds_training = hopper_wire_number(wire, result->seconds_training);
	result->seconds_evaluating = hopper_wire_number(wire, result->seconds_evaluating);
	result->seconds_waiting = hopper_wire_number(wire, result->seconds_waiting);
	result->examples = hopper_wire_int(wire, result->examples);
	result->n_parameters = hopper_wire_int(wire, result->n_parameters);
	result->n_weights = hopper_wire_int(wire, result->n_weights);
	result->state_size = (size_t) hopper_wire_between(wire, (int64) result->state_size, 0,
													  PG_INT64_MAX);
	hopper_wire_field(wire, result->digest, sizeof(result->digest));
	hopper_wire_field(wire, result->loss_type, sizeof(result->loss_type));
	result->n_metrics = (int32) hopper_wire_between(wire, result->n_metrics, 0,
													HOPPER_MAX_METRICS);
	for (int i = 0; i < result->n_metrics; i++)
		hopper_wire_field(wire, result->metrics_type[i], sizeof(result->metrics_type[i]));
	hopper_wire_field(wire, result->error, sizeof(result->error));
	hopper_wire_field(wire, result->error_detail, sizeof(result->error_detail));
	result->reason_size = (int32) hopper_wire_between(wire, result->reason_size, 0,
													  strlen(result->error));
	result->stopped = hopper_wire_int32(wire, result->stopped);
	result->best_iteration = hopper_wire_int32(wire, result->best_iteration);
	result->kept_iteration = hopper_wire_int32(wire, result->kept_iteration);
	result->learning_rate = hopper_wire_number(wire, result->learning_rate);
	result->mixed = hopper_wire_bool(wire, result->mixed);
}

/* --- writing --- */

static void
begin_report(hopper_wire *wire)
{
	hopper_wire_write(wire);
	(void) hopper_wire_int(wire, REPORT_FORMAT);
}

static Datum
end_report(hopper_wire *wire)
{
	Datum		value = hopper_bytes_datum(wire->out.data, wire->out.len);

	pfree(wire->out.data);
	return value;
}

Datum
hopper_report_datum(const hopper_group_part *part)
{
	hopper_report report = {part->n_events, (hopper_event *) part->events, part->n_visits,
	(hopper_visit *) part->visits};
	hopper_wire wire;

	begin_report(&wire);
	pass_report(&wire, 0, &report);
	pfree(report.events);
	return end_report(&wire);
}

Datum
hopper_result_datum(const hopper_model_result *result)
{
	hopper_model_result sent = *result;
	hopper_wire wire;

	begin_report(&wire);
	pass_result(&wire, &sent);
	return end_report(&wire);
}

Datum
hopper_values_datum(const hopper_event *event)
{
	hopper_event sent = *event;
	hopper_wire wire;

	begin_report(&wire);
	pass_event(&wire, NOT_A_MODELS, &sent);
	return end_report(&wire);
}

Datum
hopper_counts_datum(const int64_t *counts, int32 n)
{
	hopper_wire wire;

	begin_report(&wire);
	(void) hopper_wire_int(&wire, n);
	(void) hopper_wire_array(&wire, counts, (int64) n * n, sizeof(int64));
	return end_report(&wire);
}

/* --- reading --- */

/* `damaged`: the error's message where it is no such report. */
static void
open_report(const bytea *bytes, const char *damaged, hopper_wire *wire)
{
	hopper_wire_read(bytes, damaged, wire);
	if (hopper_wire_int(wire, 0) != REPORT_FORMAT)
		hopper_refuse(wire);
}

static void
open_model_report(const bytea *bytes, int segment, int32 mst_key, hopper_wire *wire)
{
	open_report(bytes, psprintf("what segment %d tells of configuration %d is damaged", segment,
								mst_key), wire);
}

static void
close_report(const hopper_wire *wire, bool holds)
{
	if (!holds)
		hopper_refuse(wire);
	hopper_wire_end(wire);
}

void
hopper_read_report(const bytea *bytes, int segment, int32 mst_key, hopper_report *report)
{
	hopper_wire wire;

	open_model_report(bytes, segment, mst_key, &wire);
	pass_report(&wire, mst_key, report);
	close_report(&wire, true);
}

void
hopper_read_result(const bytea *bytes, int segment, int32 mst_key, bool may_train,
				   hopper_model_result *result)
{
	hopper_wire wire;

	open_model_report(bytes, segment, mst_key, &wire);
	memset(result, 0, sizeof(*result));
	pass_result(&wire, result);
	close_report(&wire, is_result(result, may_train));
}

void
hopper_read_values(const bytea *bytes, hopper_event *event)
{
	hopper_wire wire;

	open_report(bytes, "what the segments tell of an evaluation is damaged", &wire);
	memset(event, 0, sizeof(*event));
	pass_event(&wire, NOT_A_MODELS, event);
	close_report(&wire, event->type == HOPPER_EVENT_METRICS);
}

int64_t *
hopper_read_counts(const bytea *bytes, int *n)
{
	hopper_wire wire;
	int64_t    *counts;

	open_report(bytes, "what the segments tell of the confusion of classes is damaged", &wire);
	*n = (int) hopper_wire_between(&wire, 0, 1, INT16_MAX);
	counts = hopper_wire_array(&wire, NULL, (int64) *n * *n, sizeof(int64));
	close_report(&wire, true);
	return counts;
}

Datum
hopper_told_value(uint64 row, int column, Oid type)
{
	bool		isnull;
	Datum		value = hopper_value(row, column, type, &isnull);

	if (isnull)
	{
		hopper_wire wire = {.damaged = "what the segments tell is incomplete"};

		hopper_refuse(&wire);
	}
	return value;
}
