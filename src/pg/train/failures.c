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

typedef struct counted_reason
{
	char	   *words;
	int			first;			/* configuration */
	int			count;
} counted_reason;

static int
compare_words(const void *a, const void *b)
{
	const counted_reason *x = a;
	const counted_reason *y = b;
	int			order = strcmp(x->words, y->words);

	CHECK_FOR_INTERRUPTS();
	return order ? order : x->first - y->first;
}

static int
compare_counts(const void *a, const void *b)
{
	const counted_reason *x = a;
	const counted_reason *y = b;

	return x->count != y->count ? y->count - x->count : x->first - y->first;
}

/*
 * "16 failed: loss became NaN (15), out of memory (1).", the most frequent reason first; with one
 * reason "16 failed: loss became NaN."
 */
static char *
counted_reasons(const hopper_training *training)
{
	int			n = training->n_configs;
	counted_reason *reasons = palloc(n * sizeof(counted_reason));
	int			n_reasons = 0;
	StringInfo	words = makeStringInfo();

	for (int i = 0; i < n; i++)
	{
		reasons[i].words = hopper_short_reason(training->results[i].error,
											   training->results[i].reason_size);
		reasons[i].first = i;
		reasons[i].count = 1;
	}
	qsort(reasons, n, sizeof(counted_reason), compare_words);
	for (int i = 0; i < n; i++)
	{
		if (n_reasons > 0 && strcmp(reasons[n_reasons - 1].words, reasons[i].words) == 0)
			reasons[n_reasons - 1].count++;
		else
			reasons[n_reasons++] = reasons[i];
	}
	qsort(reasons, n_reasons, sizeof(counted_reason), compare_counts);

	appendStringInfo(words, "%d failed:", n);
	for (int i = 0; i < Min(n_reasons, MAX_REASONS); i++)
	{
		appendStringInfo(words, "%s %s", i == 0 ? "" : ",", reasons[i].words);
		if (n_reasons > 1)
			appendStringInfo(words, " (%d)", reasons[i].count);
	}
	if (n_reasons > MAX_REASONS)
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
