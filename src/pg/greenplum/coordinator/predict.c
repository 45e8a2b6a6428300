/*
 * predict.c
 *		Prediction on the segments: the coordinator's part. Rows and predictions do not come here.
 */
#include "pg/greenplum/predict.h"

/*
 * Predictions lie where their rows do, as far as the id can say it: by the id where the source is
 * distributed by it, in full on each segment where the source is, else at random.
 */
static const char *
distribution(const hopper_prediction *run)
{
	Oid			relation = hopper_relation_oid(&run->source, false);
	const GpPolicy *policy = GpPolicyFetch(relation);
	AttrNumber	id = get_attnum(relation, run->id_column);

	if (GpPolicyIsReplicated(policy))
		return HOPPER_HEAP_STORAGE " DISTRIBUTED REPLICATED";
	if (GpPolicyIsHashPartitioned(policy) && policy->nattrs == 1 && policy->attrs[0] == id)
		return psprintf(HOPPER_DISTRIBUTED_BY("%s"), hopper_identifier(run->id_column));
	return HOPPER_DISTRIBUTED_RANDOMLY;
}

int64
hopper_predict_source(hopper_prediction *run)
{
	char	   *columns = hopper_predict_column_definitions(run);
	bytea	   *description;
	int64		n_rows;
	int			level = NewGUCNestLevel();

	hopper_disable_orca();
	hopper_require_segments();
	if (!hopper_pack_learn_shape_remotely(&run->rows, &run->values))
		hopper_wrong(errmsg("\"%s\" has no rows", run->source.shown));
	hopper_predict_make_output(run, distribution(run));
	description = hopper_predict_describe(run, hopper_segments_on_a_host());
	/* The types that the plan lists are looked up here, and again where it runs. */
	n_rows = (int64) hopper_calls_once(
		psprintf("INSERT INTO %s SELECT * FROM segment_predict(TABLE(%s), $1) AS t (%s)",
				 run->output_table.quoted, hopper_predict_row_query(run), columns), false,
		SPI_OK_INSERT, HOPPER_PARAMS(HOPPER_BYTEA(description)));
	AtEOXact_GUC(true, level);
	return n_rows;
}
