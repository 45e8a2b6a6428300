/*
 * architectures.c
 *		Architectures of trials: rows for those whose parameters a search fills in, and whether
 *		they can be trained on the data.
 */
#include "pg/search/automl.h"

#include "pg/catalog/configs.h"
#include "pg/catalog/models.h"
#include "pg/catalog/problems.h"

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

/* Everything that is wrong with a configuration is appended; whether it is an error. */
static bool
add_problems(hopper_automl *run, hopper_problems *problems, int32 key, int32 model_id,
			 const char *arch, const char *compile_params, const char *fit_params)
{
	hopper_config config = {.mst_key = key, .model_id = model_id};
	int			before = problems->n;

	config.model_arch = arch ? arch : arch_of(run, model_id);
	if (config.model_arch == NULL)
		return false;
	config.model_arch_size = strlen(config.model_arch);
	config.compile_params = compile_params;
	config.fit_params = fit_params;
	hopper_add_core_problems(problems, &config, 1, &run->train.desc);
	for (int i = before; i < problems->n; i++)
		if (problems->items[i].is_error)
			return true;
	return false;
}

const char *
hopper_search_problem(hopper_automl *run, int32 model_id, const char *arch,
					  const char *compile_params, const char *fit_params)
{
	hopper_problems problems = {0};

	if (!add_problems(run, &problems, 1, model_id, arch, compile_params, fit_params))
		return NULL;
	for (int i = 0; i < problems.n; i++)
		if (problems.items[i].is_error)
			return problems.items[i].message;
	return NULL;
}

void
hopper_search_require_possible(hopper_automl *run)
{
	hopper_problems problems = {0};
	hopper_rows *rows = hopper_made(hopper_core()->search.probes(run->search, HOPPER_MADE));
	int			n_wrong = 0;

	for (int row = 0; row < rows->n_rows; row++)
	{
		const char *const *cells = rows->cells + (size_t) row * rows->n_columns;

		CHECK_FOR_INTERRUPTS();
		n_wrong += add_problems(run, &problems, row + 1, atoi(cells[0]), cells[1], cells[2],
								cells[3]);
	}
	/* Where some can be trained, the others are told to the algorithm as failed. */
	if (n_wrong == rows->n_rows)
		hopper_report_problems(&problems, rows->n_rows);
}
