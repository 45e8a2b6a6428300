/*
 * evaluate.c
 *		Evaluation on the segments: the coordinator's part. Sums come here, data do not.
 */
#include "pg/predict/evaluate.h"
#include "pg/greenplum/reports.h"
#include "pg/greenplum/evaluate.h"

/* The sums of all partitions, those of a segment one behind another. */
static bytea *
sum_up(const hopper_packed *data, bytea *description)
{
	const hopper_packed *splits[] = {data, NULL};
	StringInfo	sums = makeStringInfo();
	bytea	   *result;
	uint64		n;

	n = hopper_calls_once(hopper_calls_over_buffers("segment_evaluation($1, k, p, b, n, x, y, c)",
													splits, NULL), true, SPI_OK_SELECT,
						  HOPPER_PARAMS(HOPPER_BYTEA(description)));
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
	bytea	   *description;
	bytea	   *sums;
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
	description = hopper_describe(&hopper_evaluation_description, &evaluation);
	sums = sum_up(data, description);
	/* each segment adds them up and gets the same; so no libtorch is needed here */
	if (hopper_calls_once("SELECT event, confusion FROM segment_evaluation_total($1, $2) LIMIT 1",
						  true, SPI_OK_SELECT,
						  HOPPER_PARAMS(HOPPER_BYTEA(description), HOPPER_BYTEA(sums))) != 1)
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
