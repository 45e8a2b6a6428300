/*
 * automl.h
 *		A search while it runs.
 */
#ifndef HOPPER_AUTOML_H
#define HOPPER_AUTOML_H

#include "pg/server/glue.h"

#include "utils/timestamp.h"

typedef struct hopper_automl
{
	hopper_name packed;
	hopper_name output;
	hopper_name info;
	hopper_name state;
	hopper_name models;
	hopper_name selection;
	hopper_name selection_summary;
	hopper_name trials;
	hopper_name decisions;
	char	   *validation;		/* quoted, or NULL */
	hopper_search_options options;
	char	   *method;
	char	   *arguments;		/* or NULL */
	char	   *settings;		/* further arguments of fit_multiple_model(), after a comma */
	double		max_seconds;	/* NaN: none */
	hopper_search *search;
	int64		n_trials;		/* in the selection table */
	int			rounds;
	TimestampTz started;
} hopper_automl;

/*
 * Makes the selection table, <model_table>_trials and _decisions; ERROR where they or the models
 * are there already, or with `replace` where they are something else.
 */
extern void hopper_search_create_tables(const hopper_automl *run, bool replace);
/* Puts the trials that the selection table does not have yet into it. */
extern void hopper_search_write_new_trials(hopper_automl *run);
/* Trials, decisions, MADlib's columns of its outputs; leaves the best in the selection table. */
extern void hopper_search_finish_tables(const hopper_automl *run, int64 best);

#endif							/* HOPPER_AUTOML_H */
