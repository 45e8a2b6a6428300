/*
 * limits.h
 *		How much of something there may be.
 */
#ifndef MODEL_HOPPER_LIMITS_H
#define MODEL_HOPPER_LIMITS_H

#define HOPPER_MAX_RANK 8
#define HOPPER_MAX_INPUTS 1000	/* of a model */
#define HOPPER_MAX_OUTPUTS 32
#define HOPPER_MAX_METRICS 32	/* of a configuration */
#define HOPPER_MAX_THREADS 1024	/* of a call: more than any machine has cores for */
#define HOPPER_MAX_NAME 256		/* bytes of a loss or metric as the user wrote it */

#endif							/* MODEL_HOPPER_LIMITS_H */
