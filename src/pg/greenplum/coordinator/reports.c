/*
 * reports.c
 *		Reading what segments tell.
 */
#include "pg/greenplum/coordinator/reports.h"

#include <math.h>

#include "utils/memutils.h"

#define NOT_A_MODELS 0			/* of an evaluation */

static void refuse(const char *what) pg_attribute_noreturn();

static void
refuse(const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("%s", what),
			 errhint("Install the libraries of one build on all hosts, reconnect, and repeat.")));
	pg_unreachable();
}

static void
refuse_model(int segment, int32 mst_key)
{
	refuse(psprintf("what segment %d tells of configuration %d is damaged", segment, mst_key));
}

/* --- checks --- */

static bool
is_text(const char *text, size_t room)
{
	return memchr(text, '\0', room) != NULL;
}

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
		event->mst_key == mst_key && event->iteration >= 0 && is_split(event->split) &&
		event->n_metrics >= 0 && event->n_metrics <= HOPPER_MAX_METRICS &&
		is_text(event->message, sizeof(event->message)) &&
		is_text(event->detail, sizeof(event->detail)) &&
		is_text(event->hint, sizeof(event->hint));
}

static bool
is_visit(const hopper_visit *visit, int32 mst_key)
{
	return visit->mst_key == mst_key && visit->iteration >= 0 &&
		(visit->kind == HOPPER_VISIT_TRAIN || visit->kind == HOPPER_VISIT_EVALUATE) &&
		is_split(visit->split) && visit->hop >= 0 && visit->first_partition >= 0 &&
		visit->n_partitions >= 0 && visit->bytes_written >= 0 && isfinite(visit->started) &&
		isfinite(visit->read) && isfinite(visit->wait) && isfinite(visit->moved) &&
		isfinite(visit->train) && isfinite(visit->evaluate);
}

static bool
is_result(const hopper_model_result *result)
{
	if (result->status != HOPPER_MODEL_DONE && result->status != HOPPER_MODEL_FAILED)
		return false;
	if (result->n_metrics < 0 || result->n_metrics > HOPPER_MAX_METRICS)
		return false;
	for (int i = 0; i < result->n_metrics; i++)
		if (!is_text(result->metrics_type[i], sizeof(result->metrics_type[i])))
			return false;
	return result->iterations >= 0 && result->best_iteration >= 0 && result->kept_iteration >= 0 &&
		result->examples >= 0 && result->n_parameters >= 0 && result->n_weights >= 0 &&
		(result->stopped == 0 || result->stopped == 1) &&
		is_seconds(result->seconds_training) && is_seconds(result->seconds_evaluating) &&
		is_seconds(result->seconds_waiting) &&
		is_text(result->digest, sizeof(result->digest)) &&
		is_text(result->loss_type, sizeof(result->loss_type)) &&
		is_text(result->error, sizeof(result->error)) &&
		is_text(result->error_detail, sizeof(result->error_detail));
}

/* --- reading --- */

/* n things of `width` bytes. */
static void *
copy_array(const char *bytes, size_t n, size_t width)
{
	void	   *copy = MemoryContextAllocHuge(CurrentMemoryContext, n * width + 1);

	memcpy(copy, bytes, n * width);
	return copy;
}

void
hopper_read_report(const bytea *bytes, int segment, int32 mst_key, hopper_report *report)
{
	const char *at = VARDATA_ANY(bytes);
	size_t		left = VARSIZE_ANY_EXHDR(bytes);
	int32		n_events;

	if (left < sizeof(n_events))
		refuse_model(segment, mst_key);
	memcpy(&n_events, at, sizeof(n_events));
	at += sizeof(n_events);
	left -= sizeof(n_events);
	if (n_events < 0 || (size_t) n_events > left / sizeof(hopper_event) ||
		(left - n_events * sizeof(hopper_event)) % sizeof(hopper_visit) != 0)
		refuse_model(segment, mst_key);
	report->n_events = n_events;
	report->events = copy_array(at, n_events, sizeof(hopper_event));
	at += n_events * sizeof(hopper_event);
	left -= n_events * sizeof(hopper_event);
	report->n_visits = (int) (left / sizeof(hopper_visit));
	report->visits = copy_array(at, report->n_visits, sizeof(hopper_visit));
	for (int i = 0; i < report->n_events; i++)
		if (!is_event(&report->events[i], mst_key))
			refuse_model(segment, mst_key);
	for (int i = 0; i < report->n_visits; i++)
		if (!is_visit(&report->visits[i], mst_key))
			refuse_model(segment, mst_key);
}

void
hopper_read_result(const bytea *bytes, int segment, int32 mst_key, hopper_model_result *result)
{
	if (VARSIZE_ANY_EXHDR(bytes) != sizeof(*result))
		refuse_model(segment, mst_key);
	memcpy(result, VARDATA_ANY(bytes), sizeof(*result));
	if (!is_result(result))
		refuse_model(segment, mst_key);
}

void
hopper_read_values(const bytea *bytes, hopper_event *event)
{
	if (VARSIZE_ANY_EXHDR(bytes) != sizeof(*event))
		refuse("what the segments tell of an evaluation is damaged");
	memcpy(event, VARDATA_ANY(bytes), sizeof(*event));
	if (event->type != HOPPER_EVENT_METRICS || !is_event(event, NOT_A_MODELS))
		refuse("what the segments tell of an evaluation is damaged");
}

int64_t *
hopper_read_counts(const bytea *bytes, int *n)
{
	size_t		size = VARSIZE_ANY_EXHDR(bytes);
	size_t		side = (size_t) sqrt((double) (size / sizeof(int64_t)));

	if (side == 0 || side * side * sizeof(int64_t) != size)
		refuse("what the segments tell of the confusion of classes is damaged");
	*n = (int) side;
	return copy_array(VARDATA_ANY(bytes), side * side, sizeof(int64_t));
}

Datum
hopper_told_value(uint64 row, int column, Oid type)
{
	bool		isnull;
	Datum		value = hopper_value(row, column, type, &isnull);

	if (isnull)
		refuse("what the segments tell is incomplete");
	return value;
}
