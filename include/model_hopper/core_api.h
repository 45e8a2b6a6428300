/*
 * core_api.h
 *		The boundary between the PostgreSQL glue (C) and the core (C++17).
 *
 * Two libraries stand behind this header:
 *
 *	libhopper_core.so	checks, parsing, packing: no libtorch; loads in milliseconds.
 *						Exports hopper_core_api_get().
 *	libhopper_torch.so	training, evaluation, prediction: libtorch.
 *						Exports hopper_torch_api_get().
 *
 * Each returns a table of functions, or NULL when the caller's HOPPER_API_VERSION is not its own.
 *
 * Rules that hold for every function here:
 *	- Only C types cross. No exception, signal, longjmp or thread of the core leaves it.
 *	- A function that can fail returns 0 on success and otherwise a hopper_code, with *error
 *	  filled in. The caller owns the error struct.
 *	- Memory that the core hands out stays valid until the matching free call. Memory that the
 *	  caller passes in is only read during the call.
 *	- No function calls back, but to ask whether it is to end (ask_for_cancel()).
 *	  Functions of one handle are called by one thread at a time.
 *	- Text is UTF-8 and NUL-terminated unless a length goes with it.
 */
#ifndef MODEL_HOPPER_CORE_API_H
#define MODEL_HOPPER_CORE_API_H

#include "model_hopper/core.h"
#include "model_hopper/torch.h"

#endif							/* MODEL_HOPPER_CORE_API_H */
