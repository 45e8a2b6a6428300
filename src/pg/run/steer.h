/*
 * steer.h
 *		What others want of the trials of a run while it trains.
 *
 * A want is an event of the run, with who and when. What holds for a trial is the newest one of it,
 * so that reading all of them again leads to the same place: whoever drives the run now.
 */
#ifndef HOPPER_RUN_STEER_H
#define HOPPER_RUN_STEER_H

#include "pg/train/store.h"

typedef struct hopper_steering
{
	int			n;				/* wants */
	int			n_added;		/* of them, those that add trials */
	struct hopper_want
	{
		int32		trial;		/* 0: all */
		int32		iterations; /* 0: it is to stop; -1: trials were added */
	}		   *wants;			/* the newest last */
} hopper_steering;

/* In the current memory context. SPI must be connected. */
extern void hopper_steering_read(int64 run, hopper_steering *steering);
/* How far a trial is to train, 0: one iteration more; `planned` where nobody wants anything. */
extern int32 hopper_steering_target(const hopper_steering *steering, int32 trial, int32 planned);

#endif							/* HOPPER_RUN_STEER_H */
