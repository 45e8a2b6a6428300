/*
 * ensemble.c
 *		ensemble(): the trained models that predict best together become one more model of their
 *		table.
 *
 * It is a functional model of its members (the core's ensemble), so that whatever reads a model
 * reads it: prediction, evaluation, exports, copies. It has no state, and cannot be trained on.
 */
#include "pg/predict/added.h"

#define MOST_STEPS 1000

typedef struct ensembling
{
	hopper_name table;
	hopper_outputs outputs;
	hopper_packed data;
	hopper_trained *models;		/* candidates, ascending by mst_key */
	int			n;
	int			metric;			/* of models[0], -1: the loss */
	const hopper_ensemble_api *api;
	hopper_ensemble *ensemble;
	hopper_guard *guard;
	/* what came of it */
	hopper_ensemble_step *steps;
	int32		n_steps;
	int		   *counts;			/* by candidate: how often it was chosen */
	hopper_trained result;
} ensembling;

/* Reads the models that have weights, of these keys; NULL: all. */
static void
read_candidates(ensembling *work, const int32 *keys, int n_keys)
{
	uint64		n = hopper_select("SELECT mst_key FROM %s WHERE model_weights IS NOT NULL"
								  " ORDER BY mst_key", work->outputs.model.quoted);
	int32	   *found = palloc(Max(n, 1) * sizeof(int32));
	int			n_wanted = 0;

	for (uint64 row = 0; row < n; row++)
		found[row] = hopper_key_cell(&work->outputs.model, row, 1);
	work->models = palloc0(Max(n, 1) * sizeof(hopper_trained));
	for (uint64 row = 0; row < n; row++)
	{
		bool		wanted = keys == NULL;

		for (int i = 0; i < n_keys && !wanted; i++)
			wanted = keys[i] == found[row];
		if (!wanted)
			continue;
		n_wanted++;
		hopper_read_trained(&work->table, true, found[row], &work->models[work->n]);
		/* An ensemble is no part of another one. */
		if (strstr(work->models[work->n].config.model_arch, "\"ensemble_model\"") == NULL)
			work->n++;
		CHECK_FOR_INTERRUPTS();
	}
	if (keys && n_wanted < n_keys)
		hopper_wrong(errmsg("\"%s\" does not hold all models of mst_keys", work->table.shown));
	if (work->n < 2)
		hopper_wrong(errmsg("an ensemble needs two models or more of \"%s\"", work->table.shown));
}

/* The place of what judges among the first candidate's metrics; -1: the loss. */
static int
judging_metric(const ensembling *work, const char *name)
{
	const hopper_trained *first = &work->models[0];
	hopper_best best;

	if (name == NULL)
	{
		/* "validation accuracy" */
		best = hopper_outputs_best(&work->outputs, NULL);
		name = best.metric ? strchr(best.metric, ' ') + 1 : "loss";
	}
	for (int i = 0; i < first->n_metrics; i++)
		if (strcmp(first->metrics_type[i], name) == 0)
			return i;
	if (strcmp(name, "loss") != 0)
		hopper_wrong(errmsg("configuration %d of \"%s\" has no metric \"%s\"", first->mst_key,
							work->table.shown, name));
	return -1;
}

static void
add_to_ensemble(const hopper_buffer *buffer, void *state)
{
	const ensembling *work = state;

	HOPPER_CHECK(work->api->add_buffer(work->ensemble, buffer, hopper_fault));
	CHECK_FOR_INTERRUPTS();
}

static void
select_members(ensembling *work, int size, int initial)
{
	hopper_config *candidates = palloc(work->n * sizeof(hopper_config));
	const char *wanted_by;

	for (int i = 0; i < work->n; i++)
		candidates[i] = work->models[i].config;
	wanted_by = hopper_wants_libtorch(candidates, work->n, &work->data.desc);
	work->api = &hopper_engine(wanted_by)->ensemble;
	HOPPER_CHECK(work->api->create(&work->models[0].config, &work->data.desc, work->metric,
								   hopper_effective_memory_limit(), &work->ensemble,
								   hopper_fault));
	work->guard = hopper_guard_add(work->ensemble, work->api->free);
	hopper_scan_packed(&work->data, HOPPER_SPLIT_VALID, HOPPER_ALL_PARTITIONS, add_to_ensemble,
					   work);
	for (int i = 0; i < work->n; i++)
	{
		hopper_config config = work->models[i].config;

		config.weights = hopper_floats_whole(&work->models[i].weights);
		HOPPER_CHECK(work->api->add_model(work->ensemble, &config, hopper_fault));
		hopper_floats_release(&work->models[i].weights);
		CHECK_FOR_INTERRUPTS();
	}
	work->steps = palloc(size * sizeof(hopper_ensemble_step));
	HOPPER_CHECK(work->api->select(work->ensemble, size, initial, work->steps, &work->n_steps,
								   hopper_fault));
	hopper_guard_release(work->guard);
	work->counts = palloc0(work->n * sizeof(int));
	for (int i = 0; i < work->n_steps; i++)
		work->counts[work->steps[i].model]++;
}

/* The architecture and the weights: the members', one behind the other. */
static bytea *
join_members(ensembling *work)
{
	hopper_config *members = palloc(work->n * sizeof(hopper_config));
	double	   *shares = palloc(work->n * sizeof(double));
	hopper_trained *result = &work->result;
	bytea	   *weights;
	float	   *floats;
	int64		total = 0;
	int			n = 0;

	for (int i = 0; i < work->n; i++)
	{
		if (work->counts[i] == 0)
			continue;
		members[n] = work->models[i].config;
		shares[n++] = (double) work->counts[i] / work->n_steps;
		total += work->models[i].config.n_weights;
	}
	*result = work->models[0];
	result->config.model_arch =
		hopper_made(work->api->architecture(members, shares, n, &work->data.desc,
											HOPPER_MADE))->cells[0];
	result->config.model_arch_size = strlen(result->config.model_arch);
	result->config.n_weights = total;
	result->config.fit_params = NULL;
	weights = hopper_new_weights(total, &floats);
	total = 0;
	for (int i = 0; i < work->n; i++)
	{
		hopper_trained *model = &work->models[i];

		if (work->counts[i] == 0)
			continue;
		hopper_read_trained(&work->table, true, model->mst_key, model);
		hopper_floats_copy(&model->weights, 0, model->config.n_weights, floats + total);
		total += model->config.n_weights;
		hopper_floats_release(&model->weights);
	}
	result->weights = (hopper_floats) {.n = total,.values = floats};
	return weights;
}

static Datum
result_row(FunctionCallInfo fcinfo, const ensembling *work)
{
	Datum	   *members = palloc(work->n * sizeof(Datum));
	Datum	   *shares = palloc(work->n * sizeof(Datum));
	int			n = 0;

	for (int i = 0; i < work->n; i++)
		if (work->counts[i] > 0)
		{
			members[n] = Int32GetDatum(work->models[i].mst_key);
			shares[n++] = Float8GetDatum((double) work->counts[i] / work->n_steps);
		}
	return hopper_return_params(fcinfo, HOPPER_PARAMS(
		HOPPER_INT4(work->result.mst_key),
		HOPPER_PARAM(INT4ARRAYOID, hopper_array(INT4OID, n, members, NULL)),
		HOPPER_PARAM(FLOAT8ARRAYOID, hopper_array(FLOAT8OID, n, shares, NULL)),
		hopper_text_param(work->metric < 0 ? "loss" : work->models[0].metrics_type[work->metric]),
		HOPPER_FLOAT8(work->steps[work->n_steps - 1].value),
		HOPPER_INT4(work->models[work->steps[0].model].mst_key),
		HOPPER_FLOAT8(work->steps[0].value)));
}

/* ensemble(model_table, packed_table, size, mst_keys, rank_by, initial) */
HOPPER_SPI_FUNCTION(hopper_sql_ensemble)
{
	ensembling	work = {0};
	hopper_name packed;
	bytea	   *weights;
	int32	   *keys;
	int			n_keys = 0;
	int			size;
	int			initial;

	work.table = hopper_name_argument(fcinfo, 0, "model_table");
	packed = hopper_name_argument(fcinfo, 1, "packed_table");
	size = hopper_positive_argument(fcinfo, 2, "size", 20);
	initial = hopper_positive_argument(fcinfo, 5, "initial", 5);
	if (size > MOST_STEPS)
		hopper_wrong(errmsg("size must be from 1 to %d", MOST_STEPS));
	keys = hopper_integers_argument(fcinfo, 3, "mst_keys", 1, PG_INT32_MAX, &n_keys);
	work.outputs = hopper_outputs_named(&work.table);
	hopper_outputs_take_back(&work.table);
	hopper_outputs_lock(&work.outputs);
	read_candidates(&work, keys, keys ? n_keys : 0);
	work.metric = judging_metric(&work, PG_ARGISNULL(4) ? NULL : hopper_string_argument(fcinfo, 4));
	hopper_read_compatible(&packed, "packed table", &work.models[0].data, work.table.shown,
						   &work.data);
	select_members(&work, size, initial);
	weights = join_members(&work);
	hopper_add_trained(&work.result, weights, &work.data);
	return result_row(fcinfo, &work);
}
