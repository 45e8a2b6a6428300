/*
 * within.c
 *		Functions whose bodies are SQL, called NAME_within(): their errors come without the
 *		statements of these bodies.
 */
#include "pg/server/glue.h"

#include "parser/parse_func.h"
#include "utils/lsyscache.h"

static void
find_body(Oid function, FmgrInfo *body)
{
	char	   *name = psprintf("%s_within", get_func_name(function));
	Oid		   *types;
	int			n;

	(void) get_func_signature(function, &types, &n);
	fmgr_info(LookupFuncName(list_make2(makeString(get_namespace_name(hopper_schema())),
										makeString(name)), n, types, false), body);
}

/*
 * An error says what is wrong, and what to do. Its context would be a wall of statements that the
 * caller has not written.
 */
HOPPER_FUNCTION(hopper_sql_within)
{
	FmgrInfo   *volatile own = fcinfo->flinfo;
	MemoryContext caller = CurrentMemoryContext;
	FmgrInfo	body;
	Datum		result = 0;

	find_body(own->fn_oid, &body);
	PG_TRY();
	{
		fcinfo->flinfo = &body;
		result = FunctionCallInvoke(fcinfo);
		fcinfo->flinfo = own;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		fcinfo->flinfo = own;
		MemoryContextSwitchTo(caller);
		error = CopyErrorData();
		FlushErrorState();
		error->context = NULL;
		ReThrowError(error);
	}
	PG_END_TRY();
	return result;
}
