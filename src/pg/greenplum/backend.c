/*
 * backend.c
 *		A cluster: the data lie on its segments. It trains a run in the sessions that step it.
 */
#include "pg/greenplum/segments.h"

#include "cdb/cdbvars.h"

#include "pg/greenplum/kernel.h"

static bool
row_versions(Oid relation, const char *key_column, int32 key, StringInfo versions, int64 *n)
{
	return false;
}

static bool
has_ctid(Oid relation)
{
	return !hopper_is_external(relation) && !GpPolicyIsReplicated(GpPolicyFetch(relation));
}

static bool
on_a_segment(void)
{
	return Gp_role == GP_ROLE_EXECUTE;
}

static void
require_partitions(const hopper_packed *packed)
{
}

static void
start_worker(const struct hopper_run_row *row)
{
	hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
				 errmsg("a cluster does not train in the background"),
				 errhint("Make a run with hopper.create_run(), and call hopper.step(run, "
						 "seconds) again and again until it says done or failed."));
}

static void
register_supervisor(void)
{
}

const struct hopper_backend hopper_backend = {
	.safe_path = hopper_safe_path,
	.callers_path = hopper_callers_path,
	.open_at_once = hopper_portal_open,
	.open_cursor = hopper_cursor_open,
	.open_row_cursor = hopper_row_cursor_open,
	.give_rows = hopper_row_cursor_give,
	.row_versions = row_versions,
	.has_ctid = has_ctid,
	.on_a_segment = on_a_segment,
	.require_segments = hopper_require_segments,
	.chosen_segments = hopper_chosen_segments,
	.place_partitions = hopper_place_partitions,
	.partition_keys = hopper_partition_keys,
	.require_partitions = require_partitions,
	.pack = hopper_pack_move_rows,
	.predict = hopper_predict_source,
	.evaluate = hopper_evaluate_data,
	.training = &hopper_training_on_segments,
	.forecast = hopper_forecast_costs,
	.start_worker = start_worker,
	.register_supervisor = register_supervisor,
};
