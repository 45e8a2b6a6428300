/*
 * call.c
 *		A call with its arguments as text, and the settings that it depends on.
 */
#include "pg/run/call.h"

#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "lib/stringinfo.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

char *
hopper_call_text(FunctionCallInfo fcinfo)
{
	Oid			function = fcinfo->flinfo->fn_oid;
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	StringInfoData text;
	Oid		   *types;
	char	  **names;
	char	   *modes;
	int			n;
	bool		first = true;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "there is no function %u", function);
	n = Min(get_func_arg_info(tuple, &types, &names, &modes), PG_NARGS());
	initStringInfo(&text);
	appendStringInfo(&text, "SELECT %s(",
					 hopper_own_name(NameStr(((Form_pg_proc) GETSTRUCT(tuple))->proname)));
	for (int at = 0; at < n; at++)
	{
		Oid			output;
		bool		is_varlena;

		if (PG_ARGISNULL(at))
			continue;
		getTypeOutputInfo(types[at], &output, &is_varlena);
		appendStringInfo(&text, "%s%s := %s::%s", first ? "" : ", ",
						 hopper_identifier(names[at]),
						 hopper_literal(OidOutputFunctionCall(output, PG_GETARG_DATUM(at))),
						 hopper_format_type_qualified(types[at]));
		first = false;
	}
	ReleaseSysCache(tuple);
	appendStringInfoChar(&text, ')');
	return text.data;
}

void
hopper_require_one_select(const char *statement)
{
	List	   *parsed = pg_parse_query(statement);

	if (list_length(parsed) == 1 && IsA(hopper_raw_statement(linitial(parsed)), SelectStmt))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("a run is made of one SELECT that calls a function that trains"),
			 errhint("For example: SELECT hopper.submit($$SELECT hopper.fit_multiple_model("
					 "'packed', 'models', 'configs', 10)$$);")));
}

char *
hopper_settings_text(void)
{
	static const char *const names[] = {"hopper.memory_limit", "hopper.mix_numerics",
	"hopper.notice_interval", "hopper.threads"};
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < lengthof(names); i++)
		appendStringInfo(&text, "%s=%s\n", names[i], hopper_setting(names[i]));
	return text.data;
}

void
hopper_apply_settings(const char *search_path, const char *settings)
{
	char	   *rest = pstrdup(settings ? settings : "");
	char	   *line;

	if (search_path)
		hopper_set_for_now("search_path", search_path);
	while ((line = strsep(&rest, "\n")) != NULL)
	{
		char	   *value = strchr(line, '=');

		if (value == NULL)
			continue;
		*value++ = '\0';
		hopper_set_for_now(line, value);
	}
}
