/*
 * ranking.h
 *		What the models of a run are compared by, from the core.
 */
#ifndef HOPPER_RANKING_H
#define HOPPER_RANKING_H

#include "pg/server/glue.h"

#define HOPPER_SEARCH_PLACE "search_place"	/* a column of a search's info table */

typedef struct hopper_rank
{
	int			metric;			/* its place among the configuration's from 0; -1: the loss */
	hopper_direction direction;
	int			group;			/* from 1: only configurations of one group can be compared */
	char	   *name;			/* of the metric, or "loss" */
} hopper_rank;

typedef struct hopper_ranking
{
	int			n;
	int			n_groups;
	bool		by_loss_instead;	/* they compute metrics, but none that all of them do */
	hopper_rank *ranks;			/* one for each configuration */
} hopper_ranking;

/*
 * Texts in UTF-8; data: the packed table's that architectures are for, or NULL. rank_by: NULL, a
 * metric or "loss"; ERROR 22023 where it is not the same for all, unless `lenient`: then what all
 * have.
 */
extern void hopper_rank_configs(int n, const hopper_ranked_config *configs,
								const hopper_data_desc *data, const char *rank_by, bool lenient,
								hopper_ranking *out);
/* What a configuration that is to be trained is compared by. */
extern hopper_ranked_config hopper_ranked_by_architecture(const hopper_config *config);
/* What a row of SPI_tuptable is compared by: compile_params, and metrics_type as text[]. */
extern hopper_ranked_config hopper_ranked_by_info(uint64 row, int params, int names);
/*
 * What the run's own summary says its models were ranked by: "validation accuracy" without the
 * first word; NULL where it says nothing, or may not be read. The run's tables have been opened.
 */
extern char *hopper_own_ranking(const hopper_name *model);
/*
 * Whether a search has decided which models of an info table are the best: it has given a place to
 * each that did not fail. What was trained since has none.
 */
extern bool hopper_ranked_by_search(const hopper_name *info);
/* Whether the weights of the best iteration are delivered; NULL or in the database's encoding. */
extern bool hopper_keeps_best(const char *fit_params);
/* Before training: a WARNING where there are several groups, a NOTICE of by_loss_instead. */
extern void hopper_tell_ranking(const hopper_ranking *ranking, const char *shown);

#endif							/* HOPPER_RANKING_H */
