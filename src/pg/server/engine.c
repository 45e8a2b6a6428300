/*
 * engine.c
 *		Which library computes what a call asks for.
 *
 * libhopper_core.so's engine takes what goes by planned steps; what else there is wants libtorch,
 * which takes a session half a second and much memory to load. A handle is that engine's which made
 * it: whoever makes one chooses once, for all that the handle is for.
 */
#include "pg/server/glue.h"

/* The one cell that the core answers, in the server's encoding; NULL: none. */
static const char *
answer(const hopper_rows *rows)
{
	return rows->n_rows > 0 ? hopper_from_utf8(rows->cells[0]) : NULL;
}

const char *
hopper_wants_libtorch(const hopper_config *configs, int n, const hopper_data_desc *data)
{
	return answer(HOPPER_CORE_ROWS(wants_libtorch, configs, n, data));
}

const char *
hopper_predictor_wants_libtorch(const char *model_arch, size_t model_arch_size,
								const hopper_data_desc *data, const char *layer)
{
	return answer(HOPPER_CORE_ROWS(predictor_wants_libtorch, model_arch, model_arch_size, data,
								   layer));
}

const hopper_engine_api *
hopper_engine(const char *wants_libtorch)
{
	return wants_libtorch ? &hopper_torch(wants_libtorch)->engine : &hopper_core()->engine;
}
