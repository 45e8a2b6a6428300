/*
 * leaderboard.c
 *		Comparing the models of a run: leaderboard(), learning_curves(), sparkline().
 */
#include "pg/server/glue.h"
#include "pg/train/history.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"

PG_FUNCTION_INFO_V1(hopper_sql_leaderboard);
PG_FUNCTION_INFO_V1(hopper_sql_learning_curves);
PG_FUNCTION_INFO_V1(hopper_sql_sparkline);
PG_FUNCTION_INFO_V1(hopper_sql_metric_ascends);

/* The info table of the output table that the first argument names; it can be read. */
static hopper_name
info_table(FunctionCallInfo fcinfo)
{
	hopper_name model = hopper_parse_name(PG_ARGISNULL(0) ? NULL : PG_GETARG_TEXT_PP(0),
										  "model_table");
	hopper_name info = hopper_name_with_suffix(&model, "info");
	Oid			model_oid = hopper_relation_oid(&model, false);
	Oid			info_oid = hopper_relation_oid(&info, true);

	if (!OidIsValid(info_oid) || get_attnum(info_oid, "metrics_iters") == InvalidAttrNumber)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not an output table of hopper.fit_multiple_model()",
						model.shown),
				 errdetail("It has no companion \"%s\" with the models' metrics.", info.shown)));
	(void) model_oid;
	hopper_require_select(info_oid);
	return info;
}

/*
 * leaderboard(model_table, n)
 *
 * Ranked by the validation metric, else the training metric, else the losses, each in its
 * direction; metrics without a direction (counts) leave it to the losses. NaN, which is above all
 * numbers and their negatives, comes after all of them. Failed configurations come last and have no
 * rank.
 */
Datum
hopper_sql_leaderboard(PG_FUNCTION_ARGS)
{
	hopper_name info = info_table(fcinfo);
	StringInfoData query;

	if (!PG_ARGISNULL(1) && PG_GETARG_INT32(1) < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("n must be at least 1, got %d", PG_GETARG_INT32(1)),
				 errhint("Leave n out to see every configuration.")));

	initStringInfo(&query);
	appendStringInfo(&query,
					 "WITH directed AS ("
					 " SELECT i.*,"
					 "  hopper.metric_ascends(coalesce(metrics_type[1], 'loss')) AS ascends"
					 " FROM %s i), "
					 "scored AS ("
					 " SELECT *,"
					 "  CASE WHEN ascends IS NULL"
					 "   THEN coalesce(validation_loss_final, training_loss_final)"
					 "   ELSE coalesce(validation_metrics_final, training_metrics_final,"
					 "                 validation_loss_final, training_loss_final) END AS score"
					 " FROM directed), "
					 "ranked AS ("
					 " SELECT *, rank() OVER (ORDER BY (status <> 'failed') DESC,"
					 "  CASE WHEN ascends THEN -score ELSE score END,"
					 "  coalesce(validation_loss_final, training_loss_final)) AS place"
					 " FROM scored) "
					 "SELECT CASE WHEN status <> 'failed' THEN place::int END,"
					 " mst_key, model_id, status,"
					 " validation_metrics_final, training_metrics_final,"
					 " CASE WHEN ascends"
					 "  THEN training_metrics_final - validation_metrics_final"
					 "  WHEN ascends IS NULL THEN validation_loss_final - training_loss_final"
					 "  ELSE coalesce(validation_metrics_final, validation_loss_final)"
					 "     - coalesce(training_metrics_final, training_loss_final) END,"
					 " validation_loss_final, training_loss_final, iterations,"
					 " round((seconds_training + seconds_evaluating)::numeric, 6)::float8,"
					 " parameters,"
					 " compile_params, fit_params,"
					 " hopper.sparkline(coalesce(validation_metrics, training_metrics,"
					 "                           validation_loss, training_loss)) "
					 "FROM ranked ORDER BY (status <> 'failed') DESC, place, mst_key",
					 info.quoted);
	if (!PG_ARGISNULL(1))
		appendStringInfo(&query, " LIMIT %d", PG_GETARG_INT32(1));
	return hopper_return_query(fcinfo, query.data);
}

/* learning_curves(model_table): a row a model, iteration, split and metric. */
Datum
hopper_sql_learning_curves(PG_FUNCTION_ARGS)
{
	hopper_name info = info_table(fcinfo);
	StringInfoData query;

	initStringInfo(&query);
	appendStringInfo(&query,
					 "SELECT i.mst_key, i.metrics_iters[t.at], t.split, t.metric, t.value,"
					 " i.metrics_elapsed_time[t.at] "
					 "FROM %s i CROSS JOIN LATERAL ("
					 " SELECT at, 1, 'training', 0, 'loss', i.training_loss[at]"
					 " FROM generate_subscripts(i.training_loss, 1) at"
					 " UNION ALL"
					 " SELECT at, 2, 'validation', 0, 'loss', i.validation_loss[at]"
					 " FROM generate_subscripts(i.validation_loss, 1) at"
					 " UNION ALL"
					 " SELECT at, 1, 'training', m, i.metrics_type[m],"
					 "  i.training_metrics_all[m][at]"
					 " FROM generate_subscripts(i.training_metrics_all, 1) m,"
					 "  generate_subscripts(i.training_metrics_all, 2) at"
					 " UNION ALL"
					 " SELECT at, 2, 'validation', m, i.metrics_type[m],"
					 "  i.validation_metrics_all[m][at]"
					 " FROM generate_subscripts(i.validation_metrics_all, 1) m,"
					 "  generate_subscripts(i.validation_metrics_all, 2) at"
					 ") t (at, side, split, place, metric, value) "
					 "WHERE t.value IS NOT NULL "
					 "ORDER BY i.mst_key, 2, t.side, t.place",
					 info.quoted);
	return hopper_return_query(fcinfo, query.data);
}

/*
 * 0 to 7; halves, because the difference of two numbers can be infinite where they are not, and NaN
 * has no place among the levels.
 */
static int
level_of(double value, double low, double high)
{
	double		range = high / 2 - low / 2;
	double		share = (value / 2 - low / 2) / range;

	if (!(range > 0) || !isfinite(share))
		return 3;
	return Max(Min((int) (share * 8), 7), 0);
}

/*
 * sparkline(points, width): a value a character, from the lowest to the highest of
 * the array. Longer arrays are thinned out, first and last value stay.
 */
Datum
hopper_sql_sparkline(PG_FUNCTION_ARGS)
{
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const ascii[] = {"_", ".", "-", "~", "=", "+", "*", "#"};
	const char *const *drawn =
		GetDatabaseEncoding() == PG_UTF8 && pg_get_client_encoding() == PG_UTF8 ? blocks : ascii;
	Datum	   *values;
	bool	   *nulls;
	int			n,
				width,
				shown;
	double		low = INFINITY,
				high = -INFINITY;
	StringInfoData line;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	width = PG_ARGISNULL(1) ? 30 : PG_GETARG_INT32(1);
	if (width < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("width must be at least 1, got %d", width)));
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(0), FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
					  'd', &values, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		double		value = DatumGetFloat8(values[i]);

		if (nulls[i] || !isfinite(value))
			continue;
		low = Min(low, value);
		high = Max(high, value);
	}

	initStringInfo(&line);
	shown = Min(n, width);
	for (int i = 0; i < shown; i++)
	{
		int			at = shown == 1 ? n - 1 : (int) ((int64) i * (n - 1) / (shown - 1));
		double		value = DatumGetFloat8(values[at]);

		if (nulls[at] || !isfinite(value))
		{
			appendStringInfoChar(&line, ' ');
			continue;
		}
		appendStringInfoString(&line, drawn[level_of(value, low, high)]);
	}
	PG_RETURN_TEXT_P(cstring_to_text_with_len(line.data, line.len));
}

/* metric_ascends(text): whether larger values of this metric are better; NULL: nobody can say. */
Datum
hopper_sql_metric_ascends(PG_FUNCTION_ARGS)
{
	hopper_direction direction =
		hopper_metric_direction(text_to_cstring(PG_GETARG_TEXT_PP(0)));

	if (direction == HOPPER_NO_DIRECTION)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(direction == HOPPER_LARGER_IS_BETTER);
}
