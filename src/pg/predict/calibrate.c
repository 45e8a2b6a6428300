/*
 * calibrate.c
 *		calibrate(): a trained classifier with a temperature becomes one more model of its table.
 *
 * Its logits are divided by the temperature, and so are the weights of the layer that makes them:
 * it has its model's architecture. Where no weights make them, as those of an ensemble, a layer
 * behind the model divides them. So whatever reads a model reads it. It has no state, and cannot be
 * trained on.
 */
#include "pg/predict/added.h"

typedef struct calibrating
{
	const hopper_calibration_api *api;
	hopper_calibration *calibration;
} calibrating;

static void
add_to_calibration(const hopper_buffer *buffer, void *state)
{
	const calibrating *work = state;

	HOPPER_CHECK(work->api->add_buffer(work->calibration, buffer, hopper_fault));
	CHECK_FOR_INTERRUPTS();
}

static void
find_temperature(hopper_trained *model, const hopper_packed *data, hopper_calibrated *found)
{
	const char *wanted_by = hopper_wants_libtorch(&model->config, 1, &data->desc);
	const hopper_calibration_api *api = &hopper_engine(wanted_by)->calibration;
	hopper_config config = model->config;
	hopper_calibration *calibration;
	hopper_guard *guard;

	HOPPER_CHECK(api->create(&model->config, &data->desc, hopper_effective_memory_limit(),
							 &calibration, hopper_fault));
	guard = hopper_guard_add(calibration, api->free);
	hopper_scan_packed(data, HOPPER_SPLIT_VALID, HOPPER_ALL_PARTITIONS, add_to_calibration,
					   &(calibrating) {api, calibration});
	config.weights = hopper_floats_whole(&model->weights);
	HOPPER_CHECK(api->find(calibration, &config, found, hopper_fault));
	if (found->n_weights == 0)
	{
		hopper_rows *rows;

		HOPPER_CHECK(api->architecture(calibration, &config, found->temperature, &rows,
									   hopper_fault));
		model->config.model_arch = hopper_take_rows(rows)->cells[0];
		model->config.model_arch_size = strlen(model->config.model_arch);
	}
	hopper_guard_release(guard);
}

/* The model's weights, those of its logits divided by the temperature. */
static bytea *
scale_weights(hopper_trained *model, const hopper_calibrated *found)
{
	float	   *floats;
	bytea	   *weights = hopper_new_weights(model->config.n_weights, &floats);

	hopper_floats_copy(&model->weights, 0, model->config.n_weights, floats);
	hopper_floats_release(&model->weights);
	for (int64 i = 0; i < found->n_weights; i++)
		floats[found->first_weight + i] /= found->temperature;
	model->weights = (hopper_floats) {.n = model->config.n_weights,.values = floats};
	return weights;
}

/* calibrate(model_table, packed_table, mst_key) */
HOPPER_SPI_FUNCTION(hopper_sql_calibrate)
{
	hopper_name table;
	hopper_name packed;
	hopper_outputs outputs;
	hopper_trained model;
	hopper_packed data;
	hopper_calibrated found;
	int32		source;

	table = hopper_name_argument(fcinfo, 0, "model_table");
	packed = hopper_name_argument(fcinfo, 1, "packed_table");
	outputs = hopper_outputs_named(&table);
	hopper_outputs_take_back(&table);
	hopper_outputs_lock(&outputs);
	hopper_read_trained(&table, !PG_ARGISNULL(2), hopper_key_argument(fcinfo, 2), &model);
	source = model.mst_key;
	hopper_read_compatible(&packed, "packed table", &model.data, table.shown, &data);
	find_temperature(&model, &data, &found);
	hopper_add_trained(&model, scale_weights(&model, &found), &data);
	return hopper_return_params(fcinfo, HOPPER_PARAMS(
		HOPPER_INT4(model.mst_key), HOPPER_INT4(source), HOPPER_FLOAT8(found.temperature),
		HOPPER_FLOAT8(found.loss), HOPPER_FLOAT8(found.loss_before), HOPPER_FLOAT8(found.error),
		HOPPER_FLOAT8(found.error_before)));
}
