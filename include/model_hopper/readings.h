/*
 * readings.h
 *		What a process has read of configurations' texts, for both libraries.
 */
#ifndef MODEL_HOPPER_READINGS_H
#define MODEL_HOPPER_READINGS_H

#include <stdint.h>

/*
 * The one exception to the rule that C++ does not cross the boundary: `store` is C++, which both
 * libraries understand where they are of one build.
 */
typedef struct hopper_readings
{
	const char *build;			/* equal in libraries of one build */
	void	   *store;			/* lives as long as the process */
	int64_t		count;			/* texts that have been read into it so far */
} hopper_readings;

#endif							/* MODEL_HOPPER_READINGS_H */
