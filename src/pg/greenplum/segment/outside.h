/*
 * outside.h
 *		Models that wait outside of a segment's share of a run, because there is no room for them
 *		beside the others, those that have gone out of it to make room, and those that came while
 *		the data were not here, which go out again as they came.
 *
 * Bytes of the former lie in temporary files, which temp_file_limit counts; what came back lies in
 * memory. All of it is the statement's and goes with it, before its files are closed: what has a
 * closed file would read and write what this process has open under its number since. Any role may
 * send models and take them, so that those of another role are nobody's to take.
 */
#ifndef HOPPER_OUTSIDE_H
#define HOPPER_OUTSIDE_H

#include "pg/server/glue.h"

/* A part that lies outside, or is handed out again. */
typedef struct hopper_outside_part
{
	int32		mst_key;
	int32		next_key;
	int32		part;
	int32		n_parts;
	bool		done;
	bytea	   *untrained;		/* as it came, without next_key; NULL: its bytes lie in a file */
	bytea	   *report;			/* or NULL */
	bytea	   *result;			/* or NULL */
	off_t		at;				/* of its bytes in their file */
	int			file;
	Size		size;
	bool		taken;
} hopper_outside_part;

/* Forgets what an earlier visit of this statement has left. */
extern void hopper_outside_forget(void);
/* A part of a model that has to wait. */
extern void hopper_outside_keep(int32 mst_key, int32 part, int32 n_parts, const bytea *body);
/* A part of a model for which there are no data here. */
extern void hopper_outside_return(int32 mst_key, int32 part, int32 n_parts, bytea *body);
/* Whether there are such. */
extern bool hopper_outside_has_untrained(void);
/*
 * While the group is at work: what is through goes out where others wait, and one of these comes
 * in. False: nothing of that, for now.
 */
extern bool hopper_outside_exchange(const hopper_group_api *api, hopper_group *group);
/*
 * The next part of the caller's own that has gone out; NULL: there is none. The caller frees what
 * comes of bytes().
 */
extern hopper_outside_part *hopper_outside_next(void);
extern bytea *hopper_outside_bytes(const hopper_outside_part *part);
/* After the last one of the caller's own. */
extern void hopper_outside_end(void);

#endif							/* HOPPER_OUTSIDE_H */
