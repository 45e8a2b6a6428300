/*
 * devices.h
 *		Where a call computes: the use_gpus, threads and precision arguments.
 */
#ifndef HOPPER_DEVICES_H
#define HOPPER_DEVICES_H

#include "pg/glue.h"

/* ERROR where use_gpus is true and cannot be served: 55000 without a GPU, 0A000 with one. */
extern void hopper_check_use_gpus(bool use_gpus);
/*
 * ERROR 22023 for an unknown precision, 0A000 for one that the device does not have; a NOTICE where
 * it will be slower than fp32.
 */
extern void hopper_check_precision(const char *precision, bool on_gpus);
/* The threads argument, or hopper.threads where it is NULL; ERROR 22023 below 1. */
extern int	hopper_choose_threads(bool given, int32 threads);

#endif							/* HOPPER_DEVICES_H */
