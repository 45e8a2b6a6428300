/*
 * devices.h
 *		Where a call computes: the use_gpus, threads and dtype arguments.
 */
#ifndef HOPPER_DEVICES_H
#define HOPPER_DEVICES_H

#include "pg/server/glue.h"

#include "pg/server/ceilings.h"

/*
 * For what the CPU alone does, "evaluation computes": ERROR where use_gpus is true (55000 without a
 * GPU, else 0A000).
 */
extern void hopper_check_use_gpus(bool use_gpus, const char *what);
/*
 * What training computes on: use_gpus, gpus and fuse of `options`. `gpus`: n indexes, or NULL.
 * ERROR where no GPU is (on Greenplum later, on a segment); whether those of `gpus` exist is
 * checked when the run is created.
 */
extern void hopper_choose_gpus(bool use_gpus, const int32 *gpus, int n, bool fuse,
							   hopper_run_options *options);
/* "2 threads", "1 GPU": what training computes on. */
extern const char *hopper_devices_text(const hopper_run_options *options);
/*
 * ERROR 22023 for an unknown precision, 0A000 for one that the device does not have; a NOTICE where
 * it will be slower than fp32.
 */
extern void hopper_check_precision(const char *precision, bool on_gpus);
/*
 * The threads argument, or hopper.threads where it is NULL, within hopper.max_threads; ERROR 22023
 * below 1.
 */
extern int	hopper_choose_threads(bool given, int32 threads);

#endif							/* HOPPER_DEVICES_H */
