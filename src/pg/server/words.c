/*
 * words.c
 *		Numbers as people read them.
 */
#include "pg/server/glue.h"

char *
hopper_count_words(int64 count)
{
	char	   *digits = psprintf(INT64_FORMAT, count);
	int			n = strlen(digits);
	int			first = digits[0] == '-' ? 1 : 0;
	StringInfo	words = makeStringInfo();

	for (int i = 0; i < n; i++)
	{
		if (i > first && (n - i) % 3 == 0)
			appendStringInfoChar(words, ',');
		appendStringInfoChar(words, digits[i]);
	}
	return words->data;
}

char *
hopper_plural(int64 count, const char *singular, const char *plural)
{
	return psprintf("%s %s", hopper_count_words(count), count == 1 ? singular : plural);
}

char *
hopper_duration_words(double seconds)
{
	int64		whole = (int64) (seconds + 0.5);

	if (seconds < 9.95)
		return psprintf("%.1f s", seconds);
	if (whole < 60)
		return psprintf("%d s", (int) whole);
	if (whole < 3600)
		return psprintf("%d min %d s", (int) (whole / 60), (int) (whole % 60));
	return psprintf("%s h %d min", hopper_count_words(whole / 3600), (int) (whole % 3600 / 60));
}

double
hopper_round_seconds(double seconds)
{
	return rint(seconds * 1e6) / 1e6;
}

char *
hopper_bytes_words(int64 bytes)
{
	return text_to_cstring(DatumGetTextPP(DirectFunctionCall1(pg_size_pretty,
															  Int64GetDatum(bytes))));
}

char *
hopper_hex(const uint8_t *bytes, int n)
{
	StringInfo	text = makeStringInfo();

	for (int i = 0; i < n; i++)
		appendStringInfo(text, "%02x", bytes[i]);
	return text->data;
}
