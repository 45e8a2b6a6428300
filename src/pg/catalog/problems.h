/*
 * problems.h
 *		Lists of problems of configurations, and the error that shows such a list.
 */
#ifndef HOPPER_PROBLEMS_H
#define HOPPER_PROBLEMS_H

#include "pg/server/glue.h"

typedef struct hopper_problem
{
	int32		mst_key;
	bool		is_error;		/* else a warning */
	int			sqlstate;
	const char *message;
	const char *detail;			/* or NULL */
	const char *hint;			/* or NULL */
	int			order;			/* in which it was added */
} hopper_problem;

typedef struct hopper_problems
{
	int			n;
	int			allocated;
	hopper_problem *items;
} hopper_problems;

extern void hopper_add_problem(hopper_problems *problems, hopper_problem problem);
/* What the core finds in the configurations; `desc` may be NULL. */
extern void hopper_add_core_problems(hopper_problems *problems, const hopper_config *configs, int n,
									 const hopper_data_desc *desc);
/* By key, errors first, then as they were added. */
extern void hopper_sort_problems(hopper_problems *problems);
/*
 * One ERROR with all problems that are errors, out of `n_configs` configurations; where there is
 * none, a WARNING for each different warning.
 */
extern void hopper_report_problems(hopper_problems *problems, int n_configs);

#endif							/* HOPPER_PROBLEMS_H */
