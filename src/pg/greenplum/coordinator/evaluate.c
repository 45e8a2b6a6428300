/*
 * evaluate.c
 *		Evaluation on the segments: the coordinator's part. Sums come here, data do not.
 */
#include "pg/predict/confusion.h"
#include "pg/predict/evaluate.h"
#include "pg/greenplum/reports.h"
#include "pg/greenplum/evaluate.h"

static uint64
select_described(const char *query, int n, Datum *values)
{
	Oid			types[] = {BYTEAOID, BYTEAOID};
	SPIPlanPtr	plan = hopper_calls_prepare(query, n, types);

	hopper_calls_execute(plan, values, true, SPI_OK_SELECT);
	SPI_freeplan(plan);
	return SPI_processed;
}

/* The sums of all partitions, those of a segment one behind another. */
static bytea *
sum_up(const hopper_packed *data, bytea *description)
{
	Datum		values[] = {PointerGetDatum(description)};
	const hopper_packed *splits[] = {data, NULL};
	StringInfo	sums = makeStringInfo();
	bytea	   *result;
	uint64		n;

	n = select_described(hopper_calls_over_buffers("segment_evaluation($1, k, p, b, n, x, y, c)",
												   splits, NULL), 1, values);
	for (uint64 row = 0; row < n; row++)
	{
		bytea	   *part = DatumGetByteaPP(hopper_told_value(row, 1, BYTEAOID));

		appendBinaryStringInfo(sums, VARDATA_ANY(part), VARSIZE_ANY_EXHDR(part));
	}
	SPI_freetuptable(SPI_tuptable);
	result = palloc(VARHDRSZ + sums->len);
	SET_VARSIZE(result, VARHDRSZ + sums->len);
	memcpy(VARDATA(result), sums->data, sums->len);
	return result;
}

void
hopper_evaluate_data(const hopper_trained *model, const hopper_packed *data, hopper_event *event,
					 const hopper_name *confusion)
{
	hopper_segment_evaluation evaluation = {0};
	int			level = NewGUCNestLevel();
	Datum		values[2];
	bytea	   *description;
	int64_t    *counts = NULL;
	int			n_classes = 0;

	hopper_disable_orca();
	hopper_set_for_now("enable_hashagg", "off");
	hopper_require_segments();
	evaluation.config = model->config;
	evaluation.weights = &model->weights;
	evaluation.desc = data->desc;
	evaluation.keys = hopper_partition_keys(data);
	evaluation.threads = hopper_threads;
	evaluation.memory_limit = HOPPER_BYTES(hopper_memory_limit);
	evaluation.segments_on_host = hopper_segments_on_a_host();
	description = hopper_evaluate_describe(&evaluation);
	values[0] = PointerGetDatum(description);
	values[1] = PointerGetDatum(sum_up(data, description));
	/* each segment adds them up and gets the same; so no libtorch is needed here */
	if (select_described("SELECT event, confusion"
						 " FROM segment_evaluation_total($1, $2) LIMIT 1", 2, values) != 1)
		elog(ERROR, "no segment added up the evaluation");
	hopper_read_values(DatumGetByteaPP(hopper_told_value(0, 1, BYTEAOID)), event);
	if (confusion)
		counts = hopper_read_counts(DatumGetByteaPP(hopper_told_value(0, 2, BYTEAOID)),
									&n_classes);
	SPI_freetuptable(SPI_tuptable);
	if (confusion)
		hopper_write_confusion(confusion, model, counts, n_classes);
	AtEOXact_GUC(true, level);
}
