/*
 * error.c
 *		From the core's errors to PostgreSQL's; texts between UTF-8 and the server's encoding.
 */
#include "pg/server/glue.h"

static hopper_error fault;
hopper_error *const hopper_fault = &fault;

int
hopper_sqlstate(int code)
{
	if (code == HOPPER_CANCELLED)
		return ERRCODE_QUERY_CANCELED;
	if (code == HOPPER_UNDEFINED)
		return ERRCODE_UNDEFINED_OBJECT;
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

char *
hopper_from_utf8(const char *text)
{
	int			left;
	char	   *copy;
	char	   *at;
	StringInfoData converted;

	if (text == NULL)
		return NULL;
	left = (int) strlen(text);
	at = copy = pnstrdup(text, left);
	/* A text that was cut in the middle of a character must not become an error of its own. */
	if (!pg_verify_mbstr(PG_UTF8, copy, left, true))
		for (char *c = copy; *c; c++)
			if (IS_HIGHBIT_SET(*c))
				*c = '?';
	if (GetDatabaseEncoding() == PG_UTF8 || GetDatabaseEncoding() == PG_SQL_ASCII)
		return copy;
	initStringInfo(&converted);
	for (;;)
	{
		int			done = hopper_convert_utf8(at, left, &converted);

		if (done == left)
			return converted.data;
		/* Nor must one with a character that the server's encoding lacks. */
		appendStringInfoChar(&converted, '?');
		done += pg_encoding_mblen(PG_UTF8, at + done);
		at += done;
		left -= done;
	}
}

char *
hopper_to_utf8(const char *text)
{
	return text ? pg_server_to_any(text, (int) strlen(text), PG_UTF8) : NULL;
}

bool
hopper_has_utf8(const char *text, size_t size)
{
	return GetDatabaseEncoding() != PG_SQL_ASCII ||
		pg_verify_mbstr(PG_UTF8, text, (int) size, true);
}

void
hopper_throw(const hopper_error *error)
{
	const char *message = error->message[0] ? error->message : "the core failed without a message";
	const char *hint = error->hint[0] ? error->hint : NULL;

	/* The server knows why: a timeout, or the user's request. */
	if (error->code == HOPPER_CANCELLED)
		CHECK_FOR_INTERRUPTS();
	if (hint == NULL && hopper_sqlstate(error->code) == ERRCODE_INTERNAL_ERROR)
		hint = "Please report this as a bug of model_hopper.";
	hopper_raise(hopper_sqlstate(error->code), errmsg_internal("%s", hopper_from_utf8(message)),
				 error->detail[0] ? errdetail_internal("%s", hopper_from_utf8(error->detail)) : 0,
				 hint ? errhint("%s", hopper_from_utf8(hint)) : 0);
	pg_unreachable();
}

bool
hopper_accepts(int code, const hopper_error *error)
{
	if (code == HOPPER_OUT_OF_MEMORY || code == HOPPER_CANCELLED || code == HOPPER_INTERNAL)
		hopper_throw(error);
	return code == 0;
}
