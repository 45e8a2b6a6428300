/*
 * store_change.c
 *		How rows of runs are written: as the tables' owner, one session after the other.
 */
#include "pg/train/store.h"

/*
 * Of sessions that write what a slice or a training has come to, one has its turn after the other,
 * as each of them takes whole tables on segments: in an order that all keep, with what may be
 * written at any time first.
 */
static void
take_turn(const char *table)
{
	static const char *const at_any_time[] = {"all_run_events", "all_search_results",
	"all_run_grants"};
	static const char *const turn = "all_runs";

	if (!HOPPER_DATA_ON_SEGMENTS)
		return;
	for (int i = 0; i < lengthof(at_any_time); i++)
		if (strcmp(table, at_any_time[i]) == 0)
			return;
	hopper_own_hold(at_any_time, 1, RowExclusiveLock, "the record of runs");
	hopper_own_hold(&turn, 1, ExclusiveLock, "the record of runs");
}

void
hopper_store_change(const char *table, const char *query, const hopper_own_values *list)
{
	take_turn(table);
	hopper_own_change(table, "the record of runs", query, list);
}

Datum
hopper_store_digest(const char *text)
{
	uint8_t		checksum[HOPPER_CHECKSUM_SIZE];
	char		hex[2 * HOPPER_CHECKSUM_SIZE + 1];

	/* Not md5(), which servers that follow FIPS 140 do not have. */
	hopper_core()->buffer_checksum(0, 0, 0, text, text ? strlen(text) : 0, NULL, 0, checksum);
	for (int i = 0; i < HOPPER_CHECKSUM_SIZE; i++)
		snprintf(hex + 2 * i, 3, "%02x", checksum[i]);
	return CStringGetTextDatum(hex);
}
