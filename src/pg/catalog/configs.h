/*
 * configs.h
 *		Model selection tables: reading configurations, refusing bad ones, and writing them.
 *
 * A selection table <t> has columns mst_key, model_id, compile_params and fit_params; the first row
 * of <t>_summary names the table of model architectures. Users may write both by hand.
 */
#ifndef HOPPER_CONFIGS_H
#define HOPPER_CONFIGS_H

#include "pg/server/tables.h"

/*
 * All configurations by mst_key, with their architectures and stored weights, in the statement's
 * snapshot; *models gets the table of the architectures. SPI must be connected; everything is
 * allocated in the current memory context. ERROR where a table or column is missing, there is no
 * row, a key is NULL or comes twice, or a model does not exist.
 */
extern hopper_config *hopper_load_configs(const hopper_name *selection_table, hopper_name *models,
										  int *n);

/*
 * Configurations of keys above `after` up to `last`, of which there may be none. Architectures and
 * weights are read once as long as *known lives (hopper_known_model()).
 */
extern hopper_config *hopper_load_more_configs(const hopper_name *selection_table, int32 after,
											   int32 last, struct HTAB **known, int *n);

/* The table of architectures that <selection_table>_summary names. SPI must be connected. */
extern hopper_name hopper_selection_models(const hopper_name *selection_table);

/*
 * Raises one ERROR with every problem of the configurations, if there is any; else a WARNING for
 * each warning. `desc` may be NULL: then data and models are not compared.
 */
extern void hopper_require_valid_configs(const hopper_config *configs, int n,
										 const hopper_data_desc *desc);

/*
 * How many of the configurations have errors, which all have a model; *message: the first one's, if
 * there is one.
 */
extern int	hopper_count_failing(const hopper_config *configs, int n,
								 const hopper_data_desc *desc, const char **message);

/*
 * fit_params as training reads them: class_weight='balanced' written out for these data. What is
 * kept of a configuration has the user's words. UTF-8, the same pointer where it does not say so.
 */
extern const char *hopper_balanced_params(const char *fit_params, const hopper_data_desc *data);

/* --- writing them (catalog/selection.c) --- */

/* Where configurations go: a table that is there, or one that is made once they are checked. */
typedef struct hopper_destination
{
	hopper_name models;
	hopper_name selection;
	hopper_table tables[2];		/* it and its summary */
	bool		exists;
	bool		replaces;
	int64		first_key;
} hopper_destination;

/*
 * Adds the configurations that the core has listed, and frees the list; returns their number. All
 * that can be wrong with them is known before the first table is made. SPI must be connected.
 */
extern int32 hopper_write_configs(const hopper_destination *to, hopper_rows *rows);
/* The table that goes with a selection table; it says where the architectures are. */
extern void hopper_create_configs_summary(const hopper_name *summary, const hopper_name *models,
										  const char *comment);

#endif							/* HOPPER_CONFIGS_H */
