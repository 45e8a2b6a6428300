/*
 * evaluate.h
 *		Loss and metrics of a trained model on a packed table.
 */
#ifndef HOPPER_EVALUATE_H
#define HOPPER_EVALUATE_H

#include "pg/train/outputs.h"
#include "pg/codec/packed.h"

/*
 * Loss and metrics of `model` on `data`, which goes together with it, in *event; examples by label
 * and prediction to the new table `confusion`, or NULL. SPI must be connected. (evaluate.c,
 * greenplum/coordinator/evaluate.c)
 */
extern void hopper_evaluate_data(const hopper_trained *model, const hopper_packed *data,
								 hopper_event *event, const hopper_name *confusion);

#endif							/* HOPPER_EVALUATE_H */
