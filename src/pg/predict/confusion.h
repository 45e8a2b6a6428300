/*
 * confusion.h
 *		The table of evaluate() that says which classes were taken for which.
 */
#ifndef HOPPER_CONFUSION_H
#define HOPPER_CONFUSION_H

#include "pg/train/outputs.h"

/* ERROR 22023 where the model does not tell classes apart. */
extern void hopper_require_classes(const hopper_trained *model, const hopper_name *shown);

/*
 * Fills `table` with a row a class: `counts` holds n x n numbers of examples, a row a label and a
 * column a prediction.
 */
extern void hopper_write_confusion(const hopper_name *table, const hopper_trained *model,
								   const int64_t *counts, int n);

#endif							/* HOPPER_CONFUSION_H */
