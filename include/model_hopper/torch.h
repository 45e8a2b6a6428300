/*
 * torch.h
 *		libhopper_torch.so: an engine with libtorch, and what else asks libtorch.
 */
#ifndef MODEL_HOPPER_TORCH_H
#define MODEL_HOPPER_TORCH_H

#include <stdint.h>

#include "model_hopper/basics.h"
#include "model_hopper/engine.h"
#include "model_hopper/readings.h"

#ifdef __cplusplus
extern "C"
{
#endif

typedef struct hopper_torch_api
{
	int32_t		version;		/* HOPPER_API_VERSION */
	int32_t		size;			/* sizeof(hopper_torch_api) */

	void		(*rows_free) (void *rows);

	/* As libhopper_core.so's; for the thread that calls it. Its own threads have flags. */
	void		(*ask_for_cancel) (int (*question) (void));

	/* What this library reads configurations into: its own store, or the one that it was given. */
	int			(*readings) (hopper_readings *readings, hopper_error *error);
	/*
	 * From now on what libhopper_core.so has read is not read again, and the other way round. Once
	 * a process, before anything else; 0 where that library is of another build: then each reads
	 * for itself.
	 */
	int			(*share_readings) (const hopper_readings *readings);

	/* name, value: libtorch and CUDA; beside libhopper_core.so's */
	int			(*build_info) (hopper_rows **rows, hopper_error *error);
	/* gpu_configuration(): host, name, index, memory_mb, capability; no rows without a GPU */
	int			(*gpus) (hopper_rows **rows, hopper_error *error);

	hopper_engine_api engine;
} hopper_torch_api;

/* hopper_torch_api_get(); NULL where the caller's version is another one. */
typedef const hopper_torch_api *(*hopper_torch_api_get_fn) (int32_t version);

#ifdef __cplusplus
}
#endif

#endif							/* MODEL_HOPPER_TORCH_H */
