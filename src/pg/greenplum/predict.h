/*
 * predict.h
 *		Prediction on the segments of a Greenplum cluster: each predicts its own rows of the source,
 *		through a table function in the statement that inserts the predictions.
 */
#ifndef HOPPER_GREENPLUM_PREDICT_H
#define HOPPER_GREENPLUM_PREDICT_H

#include "pg/predict/run.h"
#include "pg/greenplum/pack.h"

/* Model, columns and form of the answers; what a segment needs to call hopper_predict_start(). */
extern bytea *hopper_predict_describe(const hopper_prediction *run, int segments_on_host);
extern void hopper_predict_read_description(const bytea *description, hopper_prediction *run);

#endif							/* HOPPER_GREENPLUM_PREDICT_H */
