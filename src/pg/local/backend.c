/*
 * backend.c
 *		One server: all data lie in one place.
 */
#include "pg/local/local.h"

#include "pg/codec/packed.h"

static int
chosen_segments(const char *rules, int32 **contents)
{
	*contents = NULL;
	return 0;
}

static int32 *
place_partitions(Oid table, int32 n_partitions, int n_segments, const int32 *contents,
				 int32 *n_starts, int32 **starts)
{
	return NULL;
}

static int32 *
partition_keys(const hopper_packed *packed)
{
	return NULL;
}

static void
require_partitions(const hopper_packed *packed)
{
	char	   *last;

	hopper_select("SELECT pg_catalog.max(partition_id)::pg_catalog.int8 FROM %s",
				  packed->table.quoted);
	last = hopper_cell(0, 1);
	if (last == NULL || strtoll(last, NULL, 10) != packed->desc.n_partitions - 1)
		hopper_refuse_packed(packed, psprintf("Its last partition is %s; the summary speaks of %d "
									   "partitions", last ? last : "missing",
									   packed->desc.n_partitions));
}

static void
require_segments(void)
{
}

static bool
has_ctid(Oid relation)
{
	return true;
}

static bool
on_a_segment(void)
{
	return false;
}

const struct hopper_backend hopper_backend = {
	.safe_path = hopper_safe_path,
	.callers_path = hopper_callers_path,
	.open_at_once = hopper_cursor_open,
	.open_cursor = hopper_cursor_open,
	.open_row_cursor = hopper_row_cursor_open,
	.give_rows = hopper_row_cursor_give,
	.row_versions = hopper_row_versions,
	.has_ctid = has_ctid,
	.on_a_segment = on_a_segment,
	.require_segments = require_segments,
	.chosen_segments = chosen_segments,
	.place_partitions = place_partitions,
	.partition_keys = partition_keys,
	.require_partitions = require_partitions,
	.pack = hopper_pack_move_rows,
	.predict = hopper_predict_source,
	.evaluate = hopper_evaluate_data,
	.training = &hopper_training_here,
	.forecast = hopper_forecast_costs,
	.start_worker = hopper_worker_start,
	.register_supervisor = hopper_supervisor_register,
};
