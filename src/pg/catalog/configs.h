/*
 * configs.h
 *		Model selection tables: reading configurations, and refusing bad ones.
 *
 * A selection table <t> has columns mst_key, model_id, compile_params and fit_params; the first row
 * of <t>_summary names the table of model architectures. Users may write both by hand.
 */
#ifndef HOPPER_CONFIGS_H
#define HOPPER_CONFIGS_H

#include "pg/server/glue.h"

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

#endif							/* HOPPER_CONFIGS_H */
