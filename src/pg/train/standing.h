/*
 * standing.h
 *		What a trial has reached so far: its newest values, what it is compared by, and when.
 */
#ifndef HOPPER_STANDING_H
#define HOPPER_STANDING_H

#include "pg/train/run.h"

typedef struct hopper_standing
{
	hopper_maybe value;			/* what it is compared by, of the weights that it delivers */
	const char *latest;			/* [["validation accuracy", iteration, value], ...]; or NULL */
	bool		begun;
	double		began;			/* seconds after its run: when its first iteration began, about */
	double		elapsed;		/* and when its newest values were known */
} hopper_standing;

/* Of configuration `at`; nothing is known where the training has no results yet. */
extern void hopper_standing_of(const hopper_training *training, int at, hopper_standing *standing);
/* "failed", "training", "stopped" or "done" */
extern const char *hopper_status_words(const hopper_model_result *result);
/* What the weights that a model delivers have reached on a split, or NULL. */
extern const hopper_point *hopper_delivered_point(const hopper_model_result *result,
												  const hopper_history *history, int split);
/* Where configuration `at` has this metric among its own; -1: it is the loss, -2: nowhere. */
extern int	hopper_metric_place(const hopper_training *training, int at, const char *name);

/* "training", "validation": by hopper_split */
extern const char *const hopper_split_names[2];

#endif							/* HOPPER_STANDING_H */
