/*
 * segments_api.h
 *		A second table of libhopper_torch.so, for data that are spread over several processes. The
 *		rules of core_api.h hold.
 */
#ifndef MODEL_HOPPER_SEGMENTS_API_H
#define MODEL_HOPPER_SEGMENTS_API_H

#include "model_hopper/core_api.h"

#ifdef __cplusplus
extern "C"
{
#endif

typedef struct hopper_segments_api
{
	int32_t		version;		/* HOPPER_API_VERSION */
	int32_t		size;			/* sizeof(hopper_segments_api) */

	/*
	 * --- evaluation in several processes, each with some of the partitions ---
	 *
	 * evaluation_choose comes before evaluation_limit and the first buffer: only these partitions,
	 * ascending, come to this process. evaluation_sums takes the place of evaluation_poll: 1 and
	 * what evaluation_total wants of this process, valid until the evaluation is freed; 0: not yet;
	 * -1: *error.
	 * evaluation_total gives loss and metrics (and the confusion) of the sums of all processes, one
	 * behind another in any order; it needs neither data nor start (HOPPER_CORRUPT where a
	 * partition is missing).
	 */
	int			(*evaluation_choose) (hopper_evaluation *evaluation, const int32_t *partitions,
									  int32_t n, hopper_error *error);
	int			(*evaluation_sums) (hopper_evaluation *evaluation, const uint8_t **bytes,
									size_t *size, hopper_error *error);
	int			(*evaluation_total) (hopper_evaluation *evaluation, const uint8_t *bytes,
									 size_t size, hopper_event *event, hopper_error *error);
} hopper_segments_api;

/* hopper_segments_api_get(); NULL where the caller's version is another one. */
typedef const hopper_segments_api *(*hopper_segments_api_get_fn) (int32_t version);

#ifdef __cplusplus
}
#endif

#endif							/* MODEL_HOPPER_SEGMENTS_API_H */
