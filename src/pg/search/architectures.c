/*
 * architectures.c
 *		Architectures of trials: rows for those whose parameters a search fills in, and whether
 *		they can be trained on the data.
 */
#include "pg/search/automl.h"

#include "access/hash.h"
#include "utils/hsearch.h"

#include "pg/catalog/configs.h"
#include "pg/catalog/models.h"
#include "pg/catalog/problems.h"

/* An architecture that was made, found by its text. */
typedef struct made_network
{
	const char *arch;			/* the key: what it points to */
	int32		model_id;
} made_network;

static uint32
hash_arch(const void *key, Size size)
{
	const char *arch = *(const char *const *) key;

	return DatumGetUInt32(hash_any((const unsigned char *) arch, (int) strlen(arch)));
}

static int
compare_archs(const void *a, const void *b, Size size)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static HTAB *
made_networks(hopper_automl *run)
{
	HASHCTL		control = {0};

	if (run->networks)
		return run->networks;
	control.keysize = sizeof(const char *);
	control.entrysize = sizeof(made_network);
	control.hash = hash_arch;
	control.match = compare_archs;
	control.hcxt = CurrentMemoryContext;
	run->networks = hash_create("hopper architectures of trials", 256, &control,
								HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_CONTEXT);
	return run->networks;
}

int32
hopper_search_network(hopper_automl *run, int32 template_id, const char *arch,
					  const char *structure)
{
	made_network *network;
	bool		found;
	hopper_model base;
	hopper_new_model added = {arch};
	int			level;

	network = hash_search(made_networks(run), &arch, HASH_ENTER, &found);
	if (found)
		return network->model_id;
	network->arch = pstrdup(arch);
	/* An earlier search may have made it. */
	if (run->architectures == NULL)
		run->architectures = hopper_read_architectures(&run->models);
	if (hopper_find_architecture(run->architectures, &run->models, arch, &network->model_id))
		return network->model_id;
	hopper_read_model(&run->models, template_id, &base);
	added.name = cstring_to_text(psprintf("%s %s", base.name ? base.name
									: psprintf("architecture %d", template_id),
										 hopper_from_utf8(structure)));
	added.description = cstring_to_text(psprintf("made by automl() for %s from model %d",
										   run->tables.final_output.shown, template_id));
	/* That a shape is taken from the data is nothing to say of each. */
	level = NewGUCNestLevel();
	hopper_set_for_now("client_min_messages", "warning");
	if (!hopper_add_model(&run->models, &added, &network->model_id))
		hopper_raise(ERRCODE_TRIGGERED_ACTION_EXCEPTION,
					 errmsg("a trigger of \"%s\" took the architecture of a trial away",
							run->models.shown));
	AtEOXact_GUC(true, level);
	return network->model_id;
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
