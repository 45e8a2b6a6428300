/*
 * error.c
 *		From the core's errors to PostgreSQL's; texts between UTF-8 and the server's encoding.
 */
#include "pg/glue.h"

#include "mb/pg_wchar.h"

int
hopper_sqlstate(int code)
{
	switch ((hopper_code) code)
	{
		case HOPPER_OK:
			return ERRCODE_SUCCESSFUL_COMPLETION;
		case HOPPER_INVALID_PARAMETER:
			return ERRCODE_INVALID_PARAMETER_VALUE;
		case HOPPER_INVALID_TEXT:
			return ERRCODE_INVALID_TEXT_REPRESENTATION;
		case HOPPER_DATA_EXCEPTION:
			return ERRCODE_DATA_EXCEPTION;
		case HOPPER_NOT_SUPPORTED:
			return ERRCODE_FEATURE_NOT_SUPPORTED;
		case HOPPER_LIMIT_EXCEEDED:
			return ERRCODE_PROGRAM_LIMIT_EXCEEDED;
		case HOPPER_OUT_OF_MEMORY:
			return ERRCODE_OUT_OF_MEMORY;
		case HOPPER_NOT_READY:
			return ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
		case HOPPER_CORRUPT:
			return ERRCODE_DATA_CORRUPTED;
		case HOPPER_DEVICE:
			return ERRCODE_SYSTEM_ERROR;
		case HOPPER_INTERNAL:
			break;
	}
	return ERRCODE_INTERNAL_ERROR;
}

/*
 * The text in the server's encoding, or NULL where it has a character that this lacks. The server's
 * functions know only an error for that until 14; nothing is left behind where a conversion, which
 * looks at nothing but its argument, ends with one.
 */
static char *
convert_from_utf8(const char *text, int length)
{
	MemoryContext caller = CurrentMemoryContext;
	char	   *volatile converted = NULL;

	PG_TRY();
	{
		converted = pg_any_to_server(text, length, PG_UTF8);
	}
	PG_CATCH();
	{
		if (geterrcode() != ERRCODE_UNTRANSLATABLE_CHARACTER)
			PG_RE_THROW();
		MemoryContextSwitchTo(caller);
		FlushErrorState();
	}
	PG_END_TRY();
	return converted;
}

/* A message must not become an error of its own: "?" for characters that there are not. */
char *
hopper_from_utf8(const char *text)
{
	int			length = (int) strlen(text);
	char	   *copy = pnstrdup(text, length);
	char	   *converted;
	StringInfoData shown;

	/* A text that was cut in the middle of a character. */
	if (!pg_verify_mbstr(PG_UTF8, copy, length, true))
		for (char *c = copy; *c; c++)
			if (IS_HIGHBIT_SET(*c))
				*c = '?';
	converted = convert_from_utf8(copy, length);
	if (converted)
		return converted;
	initStringInfo(&shown);
	for (char *c = copy; *c;)
	{
		int			size = pg_encoding_mblen(PG_UTF8, c);
		char	   *one = convert_from_utf8(pnstrdup(c, size), size);

		appendStringInfoString(&shown, one ? one : "?");
		c += size;
	}
	return shown.data;
}

char *
hopper_to_utf8(const char *text)
{
	return pg_server_to_any(text, (int) strlen(text), PG_UTF8);
}

void
hopper_throw(const hopper_error *error)
{
	const char *message = error->message[0] ? error->message : "the core failed without a message";
	const char *hint = error->hint[0] ? error->hint : NULL;

	if (hint == NULL && hopper_sqlstate(error->code) == ERRCODE_INTERNAL_ERROR)
		hint = "Please report this as a bug of model_hopper.";
	ereport(ERROR,
			(errcode(hopper_sqlstate(error->code)),
			 errmsg_internal("%s", hopper_from_utf8(message)),
			 error->detail[0] ? errdetail_internal("%s", hopper_from_utf8(error->detail)) : 0,
			 hint ? errhint("%s", hopper_from_utf8(hint)) : 0));
	pg_unreachable();
}
