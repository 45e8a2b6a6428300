/*
 * added.h
 *		A model that is made of trained ones, and not by training.
 */
#ifndef HOPPER_ADDED_H
#define HOPPER_ADDED_H

#include "pg/codec/packed.h"
#include "pg/train/outputs.h"

/*
 * Adds it to its table, which is locked: a new mst_key, which `model` gets, its weights (a bytea of
 * the floats that model->weights points to) and one evaluation on `data`, by which the best model
 * of the table is found anew. It has no state.
 */
extern void hopper_add_trained(hopper_trained *model, bytea *weights, const hopper_packed *data);
/* A bytea for n floats, *floats; its memory is counted. */
extern bytea *hopper_new_weights(int64 n, float **floats);

#endif							/* HOPPER_ADDED_H */
