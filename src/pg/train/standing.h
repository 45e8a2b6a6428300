/*
 * standing.h
 *		What a trial has reached so far: its newest values, what it is compared by, and when.
 */
#ifndef HOPPER_STANDING_H
#define HOPPER_STANDING_H

#include "pg/train/run.h"

typedef struct hopper_standing
{
	bool		has_value;
	double		value;			/* what it is compared by, of the weights that it delivers */
	const char *latest;			/* [["validation accuracy", iteration, value], ...]; or NULL */
	bool		begun;
	double		began;			/* seconds after its run: when its first iteration began, about */
	double		elapsed;		/* and when its newest values were known */
} hopper_standing;

/* Of configuration `at`; nothing is known where the training has no results yet. */
extern void hopper_standing_of(const hopper_training *training, int at, hopper_standing *standing);

/* "training", "validation": by hopper_split */
extern const char *const hopper_split_names[2];

#endif							/* HOPPER_STANDING_H */
