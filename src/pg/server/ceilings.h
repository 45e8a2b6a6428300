/*
 * ceilings.h
 *		What an administrator grants: hopper.max_threads and hopper.max_memory.
 *
 * Where the library is in shared_preload_libraries they are what all calls of the server may have
 * together, counted in shared memory; else each call may have that much.
 */
#ifndef HOPPER_CEILINGS_H
#define HOPPER_CEILINGS_H

#include "pg/server/glue.h"

#include "model_hopper/limits.h"

extern int	hopper_max_threads;		/* hopper.max_threads; 0: the processors */
extern hopper_megabytes hopper_max_memory;	/* hopper.max_memory; 0: by what there is */

/* From _PG_init(). */
extern void hopper_ceilings_init(void);

/*
 * Beside the totals: whether runs that went on when the server ended may still be taken up by the
 * launcher of this start (local/supervisor.c), which says when it has looked everywhere.
 */
extern bool hopper_looks_for_runs(void);
extern void hopper_note_runs_found(void);

/* `asked`, or hopper.max_threads where that is less. */
extern int	hopper_allowed_threads(int asked);
/* "hopper.max_threads is 4", for messages; palloc'ed. */
extern char *hopper_max_threads_words(void);
/*
 * On Greenplum: what a call may use on a segment, where hopper.max_threads and hopper.max_memory
 * are of each call and segment. `asked` 0 or less: the segment's share of its host.
 */
extern int	hopper_segment_threads(int asked, int segments_on_host);
extern int64 hopper_segment_memory(int64 asked, int segments_on_host);

/*
 * Before this session loads libtorch, whose memory stays to the session's end. ERROR 53200 where
 * hopper.max_memory is 0 and leaves no room.
 */
extern void hopper_take_library(void);

/*
 * What a call takes of the server's totals, until it is released, at the latest when the statement
 * or the (sub)transaction ends. Made before the handles whose threads and memory it counts.
 */
typedef struct hopper_share hopper_share;
extern hopper_share *hopper_share_new(void);
extern void hopper_share_release(hopper_share *share);
/*
 * Threads for a call that is about to start them: those of `asked` that hopper.max_threads leaves,
 * one at least (the session's own thread waits meanwhile), with a NOTICE where they are fewer;
 * ERROR 53000 below `least`.
 */
extern int	hopper_take_threads(hopper_share *share, int asked, int least);
/* Memory, further memory; ERROR 53200 where hopper.max_memory does not leave so much. */
extern void hopper_take_memory(hopper_share *share, int64 bytes);

/* Whether there is a temp_file_limit. */
extern bool hopper_limits_temporary(void);
/*
 * ERROR 53400 before `what` begins where so many bytes of temporary files are more than
 * temp_file_limit allows.
 */
extern void hopper_require_temporary(int64 bytes, const char *what, const char *hint);

/*
 * Memory without a share: false where it does not fit. Else the caller takes the bytes off
 * the counter (atomically; NULL: nothing is counted) when they are free.
 */
extern bool hopper_try_memory(int64 bytes, int64 **counter);
/* The error of hopper_take_memory(). */
extern void hopper_refuse_memory(int64 bytes) pg_attribute_noreturn();

#endif							/* HOPPER_CEILINGS_H */
