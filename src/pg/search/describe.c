/*
 * describe.c
 *		What a search may choose, and what one has found: describe_space(), best_config() and
 *		param_importance().
 */
#include "pg/search/automl.h"

#include "pg/catalog/models.h"
#include "pg/train/outputs.h"
#include "pg/train/ranking.h"

/* describe_space(model_arch_table, model_id_list, compile_params_grid, fit_params_grid, space) */
HOPPER_SPI_FUNCTION(hopper_sql_describe_space)
{
	hopper_search_options options = {0};
	hopper_complaints complaints = {NIL};
	hopper_rows *rows;
	hopper_error error;

	hopper_require_set_context(fcinfo);
	options.model_ids = hopper_model_ids_argument(fcinfo, 0, &options.n_models);
	options.compile_grid = hopper_utf8_argument(fcinfo, 2);
	options.fit_grid = hopper_utf8_argument(fcinfo, 3);
	options.space = hopper_utf8_argument(fcinfo, 4);
	hopper_search_require_choice(&options, &complaints);
	if (!PG_ARGISNULL(0) || options.space)
	{
		hopper_name models = hopper_name_argument(fcinfo, 0, "model_arch_table");

		options.model_archs = hopper_search_archs(&models, options.model_ids, options.n_models,
												  &complaints);
	}
	options.problems = hopper_complaints_for_core(&complaints, &options.n_problems);
	if (hopper_core()->search.describe_space(&options, &rows, &error) != 0)
		hopper_search_throw(&error, &complaints);
	return hopper_return_rows(fcinfo, hopper_take_rows(rows));
}

static hopper_name
models_argument(FunctionCallInfo fcinfo)
{
	return hopper_name_argument(fcinfo, 0, "model_table");
}

/* A companion of a search's models; ERROR where they are of no search. */
static hopper_name
companion(FunctionCallInfo fcinfo, const char *suffix, const char *column)
{
	hopper_name models = models_argument(fcinfo);
	hopper_name trials = hopper_name_with_suffix(&models, "trials");
	hopper_name table = strcmp(suffix, "summary") == 0 ? hopper_outputs_named(&models).summary
		: hopper_name_with_suffix(&models, suffix);

	hopper_search_open(&models);
	if (!OidIsValid(hopper_relation_oid(&trials, true)))
		hopper_raise(ERRCODE_WRONG_OBJECT_TYPE,
					 errmsg("\"%s\" is not the result of a search", models.shown),
					 errdetail("There is no table \"%s\".", trials.shown),
					 errhint("hopper.leaderboard() compares the models of any run."));
	(void) hopper_require_column(hopper_relation_oid(&table, false), column);
	hopper_require_select(hopper_relation_oid(&table, false));
	return table;
}

/* What the search would have answered, where that is no longer the best. */
static void
tell_change(const hopper_name *models, const hopper_name *trials, const hopper_best *best,
			bool searched)
{
	int32		first;

	if (best->metric == NULL)
		ereport(NOTICE, errmsg("none of the models in \"%s\" is the best", models->shown));
	else if (!searched)
		ereport(NOTICE, errmsg("models of \"%s\" were trained on since its search: the best is "
							   "what hopper.leaderboard() says now", models->shown));
	else if (hopper_select_latest("SELECT mst_key FROM %s WHERE status NOT IN ('failed', 'earlier')"
								  " AND place IS NOT NULL ORDER BY place LIMIT 1",
								  trials->quoted) > 0 &&
			 (first = hopper_key_cell(trials, 0, 1)) != best->mst_key)
		ereport(NOTICE, errmsg("the model of configuration %d, the best of the search, is not "
							   "there any more: this is the best of the others", first));
}

/*
 * best_config(model_table): the model that predictions take, too. What the search measured of it
 * holds as long as it was not trained on.
 */
HOPPER_SPI_FUNCTION(hopper_sql_best_config)
{
	hopper_name models = models_argument(fcinfo);
	hopper_name trials = companion(fcinfo, "trials", "place");
	hopper_outputs outputs = hopper_outputs_named(&models);
	hopper_best best;
	bool		searched;
	bool		measured;
	char	   *query;

	hopper_require_set_context(fcinfo);
	hopper_search_check_trials(&trials);
	hopper_outputs_check_info(&outputs);
	best = hopper_outputs_best(&outputs, NULL);
	searched = hopper_ranked_by_search(&outputs.info);
	measured = searched ||
		(get_attnum(hopper_relation_oid(&outputs.info, false), HOPPER_SEARCH_PLACE) !=
		 InvalidAttrNumber &&
		 hopper_select_latest("SELECT 1 FROM %s WHERE mst_key = %d AND " HOPPER_SEARCH_PLACE
							  " IS NOT NULL", outputs.info.quoted, best.mst_key) > 0);
	tell_change(&models, &trials, &best, searched);
	query = psprintf("SELECT i.mst_key, t.value, i.iterations, s.parameters, i.model_id,"
					 " i.compile_params, i.fit_params, t.objectives, t.constraints"
					 " FROM %s AS i LEFT JOIN %s AS s ON s.mst_key = i.mst_key"
					 " LEFT JOIN %s AS t ON t.mst_key = i.mst_key AND %s"
					 " WHERE i.mst_key = %d AND %s",
					 outputs.info.quoted, trials.quoted, trials.quoted, measured ? "true" : "false",
					 best.mst_key, best.metric ? "true" : "false");
	return hopper_return_query(fcinfo, query);
}

/* What the search has written, or the error of a text that is no such JSON. */
static void
read_importance(void *state)
{
	const hopper_name *summary = state;

	if (hopper_select("SELECT 1 FROM %s, json_array_elements(parameter_importance::json) AS e"
					  " WHERE (e->>'parameter') IS NULL"
					  " OR NOT coalesce((e->>'importance')::float8 BETWEEN 0 AND 1, false)",
					  summary->quoted) > 0)
		hopper_raise(ERRCODE_DATA_EXCEPTION, errmsg("a share is not from 0 to 1"));
}

static void
check_importance(hopper_name *summary)
{
	hopper_complaints complaints = {NIL};

	hopper_connect();
	hopper_check_column(summary, "parameter_importance", TEXTOID);
	if (!hopper_complain_unless(&complaints, read_importance, summary))
		hopper_refuse_damaged(summary, "Column \"parameter_importance\" is not what a search has"
							  " written.");
	hopper_finish();
}

/* param_importance(model_table) */
HOPPER_FUNCTION(hopper_sql_param_importance)
{
	hopper_name summary = companion(fcinfo, "summary", "parameter_importance");

	check_importance(&summary);
	return hopper_return_query(fcinfo,
							   psprintf("SELECT row_number() OVER ()::int4, e->>'parameter',"
										" (e->>'importance')::float8"
										" FROM %s, json_array_elements("
										"parameter_importance::json) AS e", summary.quoted));
}
