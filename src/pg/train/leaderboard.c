/*
 * leaderboard.c
 *		Comparing the models of a run: leaderboard(), learning_curves(), sparkline().
 */
#include "pg/train/outputs.h"
#include "pg/train/ranking.h"

/* The info table of an output table; it can be read. */
static hopper_name
info_of(const hopper_name *model)
{
	hopper_outputs outputs = hopper_outputs_named(model);
	hopper_name info = outputs.info;
	Oid			info_oid;

	hopper_outputs_open(&outputs);
	info_oid = hopper_relation_oid(&info, true);
	if (!OidIsValid(info_oid) || get_attnum(info_oid, "metrics_iters") == InvalidAttrNumber)
		hopper_outputs_refuse(model,
							  psprintf("It has no companion \"%s\" with the models' metrics.",
									   info.shown));
	hopper_require_select(info_oid);
	return info;
}

/* By group. */
static const char *
names_literal(const hopper_ranking *ranking)
{
	StringInfo	text = makeStringInfo();
	int			n = 0;

	/* Groups are numbered as they come. */
	for (int i = 0; i < ranking->n; i++)
		if (ranking->ranks[i].group > n)
			appendStringInfo(text, "%s%s", n++ ? ", " : "",
							 hopper_literal(ranking->ranks[i].name));
	return psprintf("ARRAY[%s]::text[]", text->data);
}

/*
 * A query of mst_key, place (of the metric; 0: the loss), direction, grp, keeps_best (1: its
 * weights are those of the best iteration) and metric of each configuration that has not failed.
 * rank_by NULL: by what the run was.
 */
static char *
ranks_query(const hopper_name *model, const hopper_name *info, const char *rank_by, int *n_groups)
{
	enum
	{
		KEY, PLACE, DIRECTION, GROUP, KEEPS_BEST, N_COLUMNS
	};
	typedef int32 row[N_COLUMNS];
	bool		own = rank_by == NULL;
	int			n = (int) hopper_select_latest("SELECT mst_key,"
											   " compile_params::pg_catalog.text,"
											   " metrics_type::pg_catalog.text[],"
											   " fit_params::pg_catalog.text FROM %s"
											   " WHERE status <> 'failed'"
											   " ORDER BY mst_key", info->quoted);
	hopper_ranked_config *ranked = palloc0(Max(n, 1) * sizeof(*ranked));
	row		   *rows = palloc(Max(n, 1) * sizeof(row));
	const char *lists[N_COLUMNS];
	hopper_ranking ranking;

	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		rows[i][KEY] = hopper_key_cell(info, i, 1);
		ranked[i] = hopper_ranked_by_info(i, 2, 3);
		rows[i][KEEPS_BEST] = hopper_keeps_best(hopper_cell(i, 4));
	}
	SPI_freetuptable(SPI_tuptable);
	hopper_rank_configs(n, ranked, NULL, own ? hopper_own_ranking(model) : rank_by, own, &ranking);
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		rows[i][PLACE] = ranking.ranks[i].metric + 1;
		rows[i][DIRECTION] = ranking.ranks[i].direction;
		rows[i][GROUP] = ranking.ranks[i].group;
	}
	*n_groups = ranking.n_groups;
	for (int i = 0; i < N_COLUMNS; i++)
		lists[i] = hopper_keys_literal(n, &rows[0][i], sizeof(row));
	return psprintf("SELECT mst_key, place, direction, grp, keeps_best, (%s)[grp] AS metric"
					" FROM unnest(%s, %s, %s, %s, %s)"
					"  AS r (mst_key, place, direction, grp, keeps_best)",
					names_literal(&ranking), lists[KEY], lists[PLACE], lists[DIRECTION],
					lists[GROUP], lists[KEEPS_BEST]);
}

static bool
may_look(const hopper_name *model)
{
	return pg_class_aclcheck(hopper_relation_oid(model, false), GetUserId(), ACL_SELECT) ==
		ACLCHECK_OK;
}

/* Whether the model of a row of `ranked` can be used; NULL where the caller may not look. */
static const char *
has_weights(const hopper_name *model)
{
	if (!may_look(model))
		return "NULL::boolean";
	return psprintf("EXISTS (SELECT 1 FROM %s m WHERE m.mst_key = ranked.mst_key)", model->quoted);
}

/* In metrics_iters, of a row "i": the iteration whose weights the model has. */
#define DELIVERED_AT \
	"(SELECT at FROM generate_subscripts(i.metrics_iters, 1) at" \
	" WHERE i.validation_loss[at] IS NOT DISTINCT FROM i.validation_loss_final" \
	" AND i.training_loss[at] IS NOT DISTINCT FROM i.training_loss_final" \
	" AND i.validation_metrics[at] IS NOT DISTINCT FROM i.validation_metrics_final" \
	" ORDER BY (r.keeps_best = 1 AND i.metrics_iters[at] = i.best_iteration) DESC NULLS LAST," \
	" at DESC LIMIT 1)"

/*
 * Models of a search are ranked as it has compared them, unless another metric is asked for, others
 * by one metric that all configurations compute (params/ranking.h): by its validation value where
 * any of those that are compared has one, else by its training value, and equal ones by the losses.
 * A training value is never compared with a validation value: who has none of these then comes
 * after who has. NaN, which is above all numbers and
 * their negatives, comes after all of them. Where the configurations have nothing in common each
 * group is ranked on its own, the first n of each. Failed configurations come last, without a rank.
 *
 * best_value is of any iteration, the other values are of the weights that there are.
 * `curve` and `weights` are expressions of the last columns.
 *
 * A metric that is not the first is final at the iteration at which loss and first metric are.
 */
static char *
compared_query(const hopper_name *model, const char *rank_by, int n, bool usable,
			   const char *curve, const char *weights)
{
	hopper_name info = info_of(model);
	int			n_groups;
	const char *ranks = ranks_query(model, &info, rank_by, &n_groups);
	bool		searched = rank_by == NULL && hopper_ranked_by_search(&info);
	bool		by_group = n_groups > 1 && !searched && !usable;
	const char *condition = "";
	const char *rows = psprintf("%s i", info.quoted);
	StringInfo	query = makeStringInfo();

	/* From segments all rows come to where they are ranked at once, by one motion. */
	if (HOPPER_DATA_ON_SEGMENTS)
		rows = psprintf("(SELECT * FROM %s LIMIT %d) i", info.quoted, PG_INT32_MAX);
	if (usable)
		condition = psprintf(" WHERE %s", has_weights(model));
	else if (n > 0 && by_group)
		condition = psprintf(" WHERE status <> 'failed' AND reached <= %d", n);
	appendStringInfo(query,
					 "WITH ranks AS (%s), "
					 "placed AS ("
					 " SELECT i.*, r.place, r.direction, r.grp, r.metric, " DELIVERED_AT " AS kept"
					 " FROM %s LEFT JOIN ranks r ON r.mst_key = i.mst_key), "
					 "measured AS ("
					 " SELECT *,"
					 "  CASE place WHEN 0 THEN validation_loss_final"
					 "   WHEN 1 THEN validation_metrics_final"
					 "   ELSE validation_metrics_all[place][kept] END AS valid,"
					 "  CASE place WHEN 0 THEN training_loss_final"
					 "   WHEN 1 THEN training_metrics_final"
					 "   ELSE training_metrics_all[place][kept] END AS train"
					 " FROM placed), "
					 "judged AS ("
					 " SELECT *, bool_or(valid IS NOT NULL)"
					 "  OVER (PARTITION BY status <> 'failed', grp) AS validated FROM measured), "
					 "ranked AS ("
					 " SELECT *, rank() OVER best AS reached"
					 " FROM judged"
					 " WINDOW best AS (PARTITION BY status <> 'failed'%s"
					 "  ORDER BY %sCASE WHEN validated THEN valid ELSE train END * -direction,"
					 "   CASE WHEN validated THEN validation_loss_final"
					 "    ELSE training_loss_final END,"
					 "   CASE WHEN valid IS NULL THEN train * -direction END)) "
					 "SELECT CASE WHEN status <> 'failed' THEN reached::int END AS rank,"
					 " mst_key, model_id, status, metric, valid, train,"
					 " (train - valid) * direction AS overfit_gap,"
					 " validation_loss_final, training_loss_final, iterations,"
					 " round((seconds_training + seconds_evaluating)::numeric, 6)::float8"
					 "  AS seconds, parameters, compile_params, fit_params, %s AS curve,"
					 " best.value AS best_value, best.iteration AS best_iteration,"
					 " %s AS has_weights "
					 "FROM ranked LEFT JOIN LATERAL ("
					 "  SELECT v.value, metrics_iters[v.at] AS iteration FROM ("
					 "   SELECT at, CASE WHEN place > 0 THEN"
					 "     CASE WHEN validated THEN validation_metrics_all[place][at]"
					 "     ELSE training_metrics_all[place][at] END"
					 "    WHEN validated THEN validation_loss[at]"
					 "    ELSE training_loss[at] END AS value"
					 "   FROM generate_subscripts(metrics_iters, 1) at) v"
					 "  WHERE v.value <> 'NaN'"
					 "  ORDER BY v.value * -direction, v.at LIMIT 1) best ON true"
					 "%s ORDER BY (status <> 'failed') DESC%s, reached, mst_key",
					 ranks, rows,
					 searched ? "" : ", grp",
					 searched ? HOPPER_SEARCH_PLACE ", " : "", curve, weights, condition,
					 searched ? "" : ", grp");
	if (n > 0 && !by_group)
		appendStringInfo(query, " LIMIT %d", n);
	return query->data;
}

char *
hopper_compared_query(const hopper_name *model, const char *rank_by, int n, bool usable)
{
	return compared_query(model, rank_by, n, usable, "NULL::text", "NULL::boolean");
}

/* `usable`: of those that have weights. Without a metric where there is none. */
static hopper_best
ranked_best(const hopper_outputs *outputs, const char *rank_by, bool usable)
{
	hopper_best best = {0};
	const char *metric;
	/* Latest: what was inserted by this very statement must be seen. */
	uint64		n = hopper_select_latest("SELECT mst_key, metric, coalesce(valid, train),"
										 " valid IS NOT NULL FROM (%s) b",
										 hopper_compared_query(&outputs->model, rank_by, 1,
															   usable));

	if (n == 0 && !usable)
		hopper_refuse_damaged(&outputs->info, "It has no row.");
	metric = n == 1 ? hopper_cell(0, 2) : NULL;
	if (metric == NULL)
		return best;
	best.mst_key = hopper_key_cell(&outputs->info, 0, 1);
	best.value = hopper_float_value(0, 3);
	best.metric = psprintf("%s %s", strcmp(hopper_cell(0, 4), "t") == 0 ? "validation"
						   : "training", metric);
	return best;
}

/*
 * Not by hopper.leaderboard(): the right to call it may be taken from a role while its models are
 * trained, and its tables are still its own.
 */
hopper_best
hopper_outputs_best(const hopper_outputs *outputs, const char *rank_by)
{
	hopper_best best = ranked_best(outputs, rank_by, false);

	/* Models may have been deleted, whose infos stay. */
	if (best.metric && may_look(&outputs->model) &&
		!hopper_any(hopper_select_latest("SELECT FROM %s WHERE mst_key = %d",
										 outputs->model.quoted, best.mst_key)))
		best = ranked_best(outputs, rank_by, true);
	return best;
}

/*
 * Of the split that the rank compares; one that has no validation values among others that have is
 * compared by its training.
 */
static char *
curve(void)
{
	return psprintf("%s(CASE WHEN place > 0 THEN"
					" coalesce(CASE WHEN validated OR status = 'failed'"
					"  THEN validation_metrics_all[place:place] END,"
					"  training_metrics_all[place:place])"
					" ELSE coalesce(CASE WHEN validated OR status = 'failed'"
					"  THEN validation_loss END, training_loss) END)",
					hopper_own_name("sparkline"));
}

/* leaderboard(model_table, n, rank_by) */
HOPPER_SPI_FUNCTION(hopper_sql_leaderboard)
{
	hopper_name model;
	char	   *rank_by = hopper_string_argument(fcinfo, 2);
	int			n = hopper_integer_argument(fcinfo, 1, "n", 0);

	if (!PG_ARGISNULL(1))
		hopper_require_positive(n, "n", "Leave n out to see every configuration.");
	model = hopper_name_argument(fcinfo, 0, "model_table");
	return hopper_return_query(fcinfo, compared_query(&model, rank_by, n, false, curve(),
													  has_weights(&model)));
}

/* learning_curves(model_table): a row a model, iteration, split and metric. */
HOPPER_FUNCTION(hopper_sql_learning_curves)
{
	hopper_name model = hopper_name_argument(fcinfo, 0, "model_table");
	hopper_name info = info_of(&model);
	StringInfo	query = makeStringInfo();

	appendStringInfo(query,
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
	return hopper_return_query(fcinfo, query->data);
}

/* sparkline(points, width): in blocks where both database and client can have them. */
HOPPER_FUNCTION(hopper_sql_sparkline)
{
	bool		blocks = GetDatabaseEncoding() == PG_UTF8 && pg_get_client_encoding() == PG_UTF8;
	Datum	   *points;
	bool	   *nulls;
	double	   *values;
	int			n;
	int			width;
	hopper_rows *line;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	width = hopper_positive_argument(fcinfo, 1, "width", 30);
	n = hopper_elements(PG_GETARG_ARRAYTYPE_P(0), &points, &nulls);
	values = MemoryContextAllocHuge(CurrentMemoryContext, Max(n, 1) * sizeof(double));
	for (int i = 0; i < n; i++)
		values[i] = nulls[i] ? NAN : DatumGetFloat8(points[i]);
	line = HOPPER_CORE_ROWS(sparkline, values, n, width, blocks);
	PG_RETURN_TEXT_P(cstring_to_text(line->cells[0]));
}

/* metric_ascends(text): whether larger values of this metric are better; NULL: nobody can say. */
HOPPER_FUNCTION(hopper_sql_metric_ascends)
{
	int32_t		direction;

	HOPPER_CORE(metric_direction, hopper_utf8_argument(fcinfo, 0), &direction);
	if (direction == HOPPER_NO_DIRECTION)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(direction == HOPPER_LARGER_IS_BETTER);
}
