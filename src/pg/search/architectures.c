/*
 * architectures.c
 *		Architectures of trials: rows for those whose parameters a search fills in, and whether
 *		they can be trained on the data.
 */
#include "pg/search/automl.h"

#include "pg/catalog/configs.h"
#include "pg/catalog/models.h"

int32
hopper_search_network(hopper_automl *run, int32 template_id, const char *arch,
					  const char *structure)
{
	int32	   *made;
	bool		found;
	hopper_model base;
	hopper_new_model added = {arch};
	int			level;

	if (run->networks == NULL)
		run->networks = hopper_new_architectures();
	made = hopper_enter_architecture(run->networks, arch, &found);
	if (found)
		return *made;
	/* An earlier search may have made it. */
	if (run->architectures == NULL)
		run->architectures = hopper_read_architectures(&run->models);
	if (hopper_find_architecture(run->architectures, &run->models, arch, made))
		return *made;
	hopper_read_model(&run->models, template_id, &base);
	added.name = cstring_to_text(psprintf("%s %s", base.name ? base.name
									: psprintf("architecture %d", template_id),
										 hopper_from_utf8(structure)));
	added.description = cstring_to_text(psprintf("made by automl() for %s from model %d",
										   run->tables.final_output.shown, template_id));
	/* That a shape is taken from the data is nothing to say of each. */
	level = NewGUCNestLevel();
	hopper_set_for_now("client_min_messages", "warning");
	if (!hopper_add_model(&run->models, &added, made))
		hopper_raise(ERRCODE_TRIGGERED_ACTION_EXCEPTION,
					 errmsg("a trigger of \"%s\" took the architecture of a trial away",
							run->models.shown));
	AtEOXact_GUC(true, level);
	return *made;
}

static const char *
arch_of(const hopper_automl *run, int32 model_id)
{
	const hopper_search_options *options = &run->options;

	for (int i = 0; i < options->n_models; i++)
		if (options->model_ids[i] == model_id)
			return options->model_archs[i];
	return NULL;
}

bool
hopper_search_set_config(const hopper_automl *run, hopper_config *config, int32 model_id,
						 const char *arch, const char *compile_params, const char *fit_params)
{
	config->model_id = model_id;
	config->model_arch = arch ? arch : arch_of(run, model_id);
	if (config->model_arch == NULL)
		return false;
	config->model_arch_size = strlen(config->model_arch);
	config->compile_params = compile_params;
	config->fit_params = fit_params;
	return true;
}

const char *
hopper_search_problem(const hopper_automl *run, const hopper_config *config)
{
	const char *problem = NULL;

	(void) hopper_count_failing(config, 1, &run->train.desc, &problem);
	return problem;
}

void
hopper_search_require_possible(hopper_automl *run)
{
	hopper_rows *rows = HOPPER_CORE_ROWS(search.probes, run->search);
	hopper_config *configs = palloc0(Max(rows->n_rows, 1) * sizeof(hopper_config));
	const char *problem;
	int			n = 0;

	for (int row = 0; row < rows->n_rows; row++)
	{
		const char *const *cells = hopper_row(rows, row);

		configs[n].mst_key = row + 1;
		n += hopper_search_set_config(run, &configs[n], atoi(cells[0]), cells[1], cells[2],
									  cells[3]);
	}
	/* Where some can be trained, the others are told to the algorithm as failed. */
	if (n > 0 && hopper_count_failing(configs, n, &run->train.desc, &problem) == rows->n_rows)
		hopper_require_valid_configs(configs, n, &run->train.desc);
}
