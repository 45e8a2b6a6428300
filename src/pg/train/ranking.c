/*
 * ranking.c
 *		What the models of a run are compared by: one rule for the progress lines, the best model
 *		and the leaderboard.
 */
#include "pg/train/ranking.h"

#include "pg/train/outputs.h"

enum
{
	METRIC, DIRECTION, GROUP, NAME, INSTEAD, N_COLUMNS
};

static void
take_rows(const hopper_rows *rows, hopper_ranking *out)
{
	if (rows->n_columns != N_COLUMNS || rows->n_rows != out->n)
		elog(ERROR, "the core ranks configurations in an unknown form");
	for (int i = 0; i < out->n; i++)
	{
		const char *const *cells = rows->cells + (size_t) i * N_COLUMNS;
		hopper_rank *rank = &out->ranks[i];

		CHECK_FOR_INTERRUPTS();
		rank->metric = atoi(cells[METRIC]) - 1;
		rank->direction = (hopper_direction) atoi(cells[DIRECTION]);
		rank->group = atoi(cells[GROUP]);
		out->n_groups = Max(out->n_groups, rank->group);
		out->by_loss_instead |= cells[INSTEAD][0] == '1';
		/* Most configurations have the one before's. */
		if (i > 0 && out->ranks[i - 1].group == rank->group)
			rank->name = out->ranks[i - 1].name;
		else
			rank->name = pstrdup(hopper_from_utf8(cells[NAME]));
	}
}

void
hopper_rank_configs(int n, const hopper_ranked_config *configs, const hopper_data_desc *data,
					const char *rank_by, bool lenient, hopper_ranking *out)
{
	memset(out, 0, sizeof(*out));
	out->n = n;
	out->ranks = hopper_palloc0_huge(Max(n, 1) * sizeof(hopper_rank));
	take_rows(HOPPER_CORE_ROWS(rank_configs, n, configs, data, hopper_to_utf8(rank_by),
							   lenient), out);
}

hopper_ranked_config
hopper_ranked_by_architecture(const hopper_config *config)
{
	hopper_ranked_config ranked = {.compile_params = config->compile_params};

	ranked.model_arch = config->model_arch;
	ranked.model_arch_size = config->model_arch_size;
	return ranked;
}

hopper_ranked_config
hopper_ranked_by_info(uint64 row, int params, int names)
{
	char	   *text = hopper_cell(row, params);
	hopper_ranked_config ranked = {.compile_params = text ? hopper_to_utf8(text) : ""};
	const char **metrics = (const char **) hopper_name_cells(row, names, &ranked.n_metrics);

	for (int i = 0; i < ranked.n_metrics; i++)
		metrics[i] = hopper_to_utf8(metrics[i]);
	ranked.metrics = metrics;
	return ranked;
}

char *
hopper_own_ranking(const hopper_name *model)
{
	hopper_name summary = hopper_outputs_named(model).summary;
	Oid			oid = hopper_relation_oid(&summary, true);
	char	   *metric;
	char	   *space;

	if (!OidIsValid(oid) || get_attnum(oid, "best_metric") == InvalidAttrNumber ||
		pg_class_aclcheck(oid, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		return NULL;
	if (hopper_select_latest("SELECT best_metric::pg_catalog.text FROM %s", summary.quoted) != 1)
		return NULL;
	metric = hopper_cell(0, 1);
	space = metric ? strchr(metric, ' ') : NULL;
	return space ? space + 1 : NULL;
}

bool
hopper_keeps_best(const char *fit_params)
{
	int32		keeps;

	HOPPER_CORE(keeps_best, hopper_to_utf8(fit_params), &keeps);
	return keeps != 0;
}

bool
hopper_ranked_by_search(const hopper_name *info)
{
	Oid			relation = hopper_relation_oid(info, false);
	AttrNumber	column = get_attnum(relation, HOPPER_SEARCH_PLACE);

	return column != InvalidAttrNumber && get_atttype(relation, column) == INT4OID &&
		hopper_select_latest("SELECT 1 FROM %s WHERE status <> 'failed'"
							 " HAVING count(*) > 0 AND count(*) = count(" HOPPER_SEARCH_PLACE ")",
							 info->quoted) > 0;
}

#define MOST_GROUPS 10			/* that a message lists */

/* "accuracy (2 configurations), mae (1 configuration)" */
static char *
groups_words(const hopper_ranking *ranking)
{
	int		   *counts = palloc0((ranking->n_groups + 1) * sizeof(int));
	char	  **names = palloc0((ranking->n_groups + 1) * sizeof(char *));
	StringInfo	words = makeStringInfo();

	for (int i = 0; i < ranking->n; i++)
	{
		counts[ranking->ranks[i].group]++;
		names[ranking->ranks[i].group] = ranking->ranks[i].name;
	}
	for (int i = 1; i <= Min(ranking->n_groups, MOST_GROUPS); i++)
		appendStringInfo(words, "%s%s (%s)", i > 1 ? ", " : "", names[i],
						 hopper_plural(counts[i], "configuration", "configurations"));
	if (ranking->n_groups > MOST_GROUPS)
		appendStringInfo(words, " and %d more", ranking->n_groups - MOST_GROUPS);
	return words->data;
}

void
hopper_tell_ranking(const hopper_ranking *ranking, const char *shown)
{
	if (ranking->n_groups > 1)
		ereport(WARNING, errmsg("the configurations of \"%s\" have neither a metric nor a loss in "
								"common: none of them will be the best", shown),
				errdetail("Each is ranked among those with the same: %s.", groups_words(ranking)),
				errhint("Give all of them one metric, by metrics in compile_params."));
	else if (ranking->by_loss_instead)
		ereport(NOTICE, errmsg("the configurations of \"%s\" have no metric in common and are "
							   "ranked by their loss", shown));
}
