/*
 * evaluate.h
 *		Evaluation on the segments of a Greenplum cluster: each sums up its own partitions; the sums
 *		are added in the order of the partitions, as on one server.
 */
#ifndef HOPPER_GREENPLUM_EVALUATE_H
#define HOPPER_GREENPLUM_EVALUATE_H

#include "pg/train/outputs.h"
#include "pg/greenplum/segments.h"
#include "pg/greenplum/wire.h"

typedef struct hopper_segment_evaluation
{
	hopper_config config;
	const hopper_floats *weights;	/* that a description gets; once read they are in `config` */
	hopper_data_desc desc;
	int32	   *keys;			/* of each partition */
	int			threads;		/* of each segment; 0: its share of the host */
	int64		memory_limit;	/* of each segment; 0: its share of the host */
	int			segments_on_host;
} hopper_segment_evaluation;

extern const hopper_description hopper_evaluation_description;

#endif							/* HOPPER_GREENPLUM_EVALUATE_H */
