/*
 * pack.h
 *		Packing on the segments of a Greenplum cluster: what coordinator and segments share.
 *
 *	1. A table function encodes the rows where the source has them, into a working table
 *	   (key, stratum, body) that is spread over the segments at random, and into one row more of
 *	   each segment how large its numbers are.
 *	2. The coordinator reads the keys in order and notes where each buffer ends. Where some
 *	   are equal, the segments give copies keys of their own, and it reads once more.
 *	3. One INSERT ... SELECT moves the bodies from segment to segment to where their buffers are to
 *	   lie, sorts them there and makes buffers of them.
 *
 * Rows with the same key hold the same bytes. Where they lie in the working table (segment, then
 * ctid) makes the order a total one.
 */
#ifndef HOPPER_GREENPLUM_PACK_H
#define HOPPER_GREENPLUM_PACK_H

#include "pg/pack/pack.h"
#include "pg/greenplum/segments.h"

#include "pg/greenplum/wire.h"
#include "storage/itemptr.h"

/* A place in the order, to be compared as bytes: key, segment, block, offset. */
#define PACK_PLACE_SIZE (PACK_KEY_SIZE + 10)

/* In the working table: of the row of each segment whose key is hopper_pack_ranges_bytes(). */
#define PACK_STRATUM_OF_RANGES (-1)

extern void hopper_pack_write_place(char *place, const char *key, int32 segment, ItemPointer row);

/* The parts that prediction sends as well. */
extern void hopper_pack_wire_source(hopper_wire *wire, hopper_pack_source *source);
/* Of the columns, which are there before. */
extern void hopper_pack_wire_values(hopper_wire *wire, hopper_pack_values *values, int n_columns,
									const hopper_pack_column *columns);
/*
 * Takes the shape of arrays from a row of the source that has one, without moving its values; where
 * no row has any, the segments will complain of the first one they see. False: there are no rows.
 */
extern bool hopper_pack_learn_shape_remotely(const hopper_pack_source *source,
											 hopper_pack_values *values);

/* The encoding of rows; only what hopper_pack_encode_row() and its messages need comes back. */
extern const hopper_description hopper_job_description;

/*
 * Where the rows of one output go. A row is in it if `validation` says on which side of its
 * stratum's limit it belongs, and its buffer is the first one whose end is not before it.
 */
typedef struct hopper_pack_plan
{
	bool		validation;
	hopper_pack_row_shape row;
	int32		n_strata;
	char	   *limits;			/* PACK_PLACE_SIZE each: the last row for validation */
	bool	   *any;			/* whether any row of the stratum is for validation */
	int32		n_buffers;
	char	   *ends;			/* PACK_PLACE_SIZE each: the last row of the buffer */
	int32	   *partitions;
	int32	   *rows;
	int32	   *keys;			/* __dist_key__ */
} hopper_pack_plan;

extern const hopper_description hopper_plan_description;

#endif							/* HOPPER_GREENPLUM_PACK_H */
