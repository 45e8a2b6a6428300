/*
 * failures.c
 *		Why configurations failed, in few words.
 */
#include "pg/train/run.h"

char *
hopper_short_reason(const char *utf8_message, int32 size)
{
	return hopper_from_utf8(size > 0 ? pnstrdup(utf8_message, size) : utf8_message);
}

/* "16 failed: loss became NaN (15), out of memory (1).", with one reason without its number */
static char *
counted_reasons(const hopper_training *training)
{
	int			n = training->n_configs;
	const char **reasons = palloc(n * sizeof(char *));

	for (int i = 0; i < n; i++)
		reasons[i] = hopper_short_reason(training->results[i].error,
										 training->results[i].reason_size);
	return psprintf("%d failed: %s.", n, HOPPER_CORE_ROWS(count_texts, n, reasons)->cells[0]);
}

void
hopper_refuse_all_failed(const hopper_training *training)
{
	if (training->n_failed == training->n_configs)
		hopper_raise(ERRCODE_DATA_EXCEPTION,
					 errmsg("no configuration of \"%s\" finished", training->shown),
					 errdetail("%s", counted_reasons(training)),
					 errhint("The warnings above tell more."));
}
