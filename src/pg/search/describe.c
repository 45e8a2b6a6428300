/*
 * describe.c
 *		What a search may choose, and what one has found: describe_space(), best_config() and
 *		param_importance().
 */
#include "pg/search/automl.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(hopper_sql_describe_space);
PG_FUNCTION_INFO_V1(hopper_sql_best_config);
PG_FUNCTION_INFO_V1(hopper_sql_param_importance);

static char *
utf8_argument(FunctionCallInfo fcinfo, int at)
{
	return PG_ARGISNULL(at)
		? NULL : hopper_to_utf8(text_to_cstring(PG_GETARG_TEXT_PP(at)));
}

/* describe_space(model_arch_table, model_id_list, compile_params_grid, fit_params_grid, space) */
Datum
hopper_sql_describe_space(PG_FUNCTION_ARGS)
{
	hopper_search_options options = {0};
	hopper_rows *rows;
	hopper_error error;

	hopper_require_set_context(fcinfo);
	hopper_connect();
	options.model_ids = hopper_model_ids_argument(fcinfo, 1, &options.n_models);
	options.compile_grid = utf8_argument(fcinfo, 2);
	options.fit_grid = utf8_argument(fcinfo, 3);
	options.space = utf8_argument(fcinfo, 4);
	if (options.space == NULL && options.compile_grid == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"compile_params_grid\" must not be null"),
				 errdetail("It and fit_params_grid say what may be chosen, or space does.")));
	if (!PG_ARGISNULL(0) || options.space)
	{
		hopper_name models = hopper_parse_name(PG_ARGISNULL(0) ? NULL : PG_GETARG_TEXT_PP(0),
											   "model_arch_table");

		options.model_archs = hopper_search_archs(&models, options.model_ids, options.n_models);
	}
	HOPPER_CHECK(hopper_core()->search.describe_space(&options, &rows, &error), error);
	hopper_finish();
	return hopper_return_rows(fcinfo, rows, hopper_core()->rows_free);
}

/* A companion of a search's models; ERROR where they are of no search. */
static hopper_name
companion(FunctionCallInfo fcinfo, const char *suffix, const char *column)
{
	hopper_name models = hopper_parse_name(PG_ARGISNULL(0) ? NULL : PG_GETARG_TEXT_PP(0),
										   "model_table");
	hopper_name trials = hopper_name_with_suffix(&models, "trials");
	hopper_name table = hopper_name_with_suffix(&models, suffix);

	(void) hopper_relation_oid(&models, false);
	if (!OidIsValid(hopper_relation_oid(&trials, true)))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not the result of a search", models.shown),
				 errdetail("There is no table \"%s\".", trials.shown),
				 errhint("hopper.leaderboard() compares the models of any run.")));
	(void) hopper_require_column(hopper_relation_oid(&table, false), column);
	hopper_require_select(hopper_relation_oid(&table, false));
	return table;
}

/* best_config(model_table) */
Datum
hopper_sql_best_config(PG_FUNCTION_ARGS)
{
	hopper_name trials = companion(fcinfo, "trials", "place");

	return hopper_return_query(fcinfo,
							   psprintf("SELECT mst_key, value, iterations, parameters, model_id,"
										" compile_params, fit_params, objectives, constraints"
										" FROM %s WHERE status NOT IN ('failed', 'earlier')"
										" ORDER BY place LIMIT 1", trials.quoted));
}

/* param_importance(model_table) */
Datum
hopper_sql_param_importance(PG_FUNCTION_ARGS)
{
	hopper_name summary = companion(fcinfo, "summary", "parameter_importance");

	return hopper_return_query(fcinfo,
							   psprintf("SELECT row_number() OVER ()::int4, e->>'parameter',"
										" (e->>'importance')::float8"
										" FROM %s, json_array_elements("
										"parameter_importance::json) AS e", summary.quoted));
}
