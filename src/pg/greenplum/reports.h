/*
 * reports.h
 *		What segments tell the coordinator of models: read in full, and compared with what was
 *		asked, before anything of it is used. The format is wire.h's, behind a number of its own.
 *
 * It came through tables and functions that the coordinator does not hold in its hands: an error of
 * a segment, another build there, or a function that somebody replaced must end the run, not the
 * server.
 */
#ifndef HOPPER_REPORTS_H
#define HOPPER_REPORTS_H

#include "pg/server/glue.h"

/* --- a segment's part: bytea --- */

/* Events and visits of a part that goes out. */
extern Datum hopper_report_datum(const hopper_group_part *part);
extern Datum hopper_result_datum(const hopper_model_result *result);
/* Loss and metrics of one pass over data. */
extern Datum hopper_values_datum(const hopper_event *event);
/* n x n counts. */
extern Datum hopper_counts_datum(const int64_t *counts, int32 n);

/* --- the coordinator's --- */

typedef struct hopper_report
{
	int			n_events;
	hopper_event *events;
	int			n_visits;
	hopper_visit *visits;
} hopper_report;

/* ERROR XX001 where it is not a report of this configuration; palloc'ed. */
extern void hopper_read_report(const bytea *bytes, int segment, int32 mst_key,
							   hopper_report *report);
/*
 * Reads the result of a model that is done or has failed, or, `may_train`, that has halted, with
 * such an ERROR.
 */
extern void hopper_read_result(const bytea *bytes, int segment, int32 mst_key, bool may_train,
							   hopper_model_result *result);
/* The values of one pass over data, for a model without a number of its own. */
extern void hopper_read_values(const bytea *bytes, hopper_event *event);
/* n x n counts, palloc'ed. */
extern int64_t *hopper_read_counts(const bytea *bytes, int *n);
/* Of row `row` of the current result; ERROR XX001 where it is NULL. */
extern Datum hopper_told_value(uint64 row, int column, Oid type);

#endif							/* HOPPER_REPORTS_H */
