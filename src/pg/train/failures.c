/*
 * failures.c
 *		Why configurations failed, in few words.
 */
#include "pg/train/run.h"

#define MAX_REASONS 5			/* that an error lists */

char *
hopper_short_reason(const char *utf8_message, int32 size)
{
	return hopper_from_utf8(size > 0 ? pnstrdup(utf8_message, size) : utf8_message);
}

/*
 * "16 failed: loss became NaN (15), out of memory (1).", the most frequent reason first; with one
 * reason "16 failed: loss became NaN."
 */
static char *
counted_reasons(const hopper_training *training)
{
	int			n = training->n_configs;
	const char **reasons = palloc(n * sizeof(char *));
	StringInfo	words = makeStringInfo();
	hopper_rows *counted;

	for (int i = 0; i < n; i++)
		reasons[i] = hopper_short_reason(training->results[i].error,
										 training->results[i].reason_size);
	counted = HOPPER_CORE_ROWS(count_texts, n, reasons);
	appendStringInfo(words, "%d failed:", n);
	for (int i = 0; i < Min(counted->n_rows, MAX_REASONS); i++)
	{
		appendStringInfo(words, "%s %s", i == 0 ? "" : ",", counted->cells[2 * i]);
		if (counted->n_rows > 1)
			appendStringInfo(words, " (%s)", counted->cells[2 * i + 1]);
	}
	if (counted->n_rows > MAX_REASONS)
		appendStringInfoString(words, ", and others");
	appendStringInfoChar(words, '.');
	return words->data;
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
