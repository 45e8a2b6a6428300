/*
 * driver_state.h
 *		What the session that drives a run knows of it: written by create.c, which makes it,
 *		driver.c, which opens it, and steps.c.
 */
#ifndef HOPPER_DRIVER_STATE_H
#define HOPPER_DRIVER_STATE_H

#include "pg/run/driver.h"
#include "pg/search/pool.h"

typedef struct hopper_driver
{
	hopper_fit_taker taker;		/* while the statement of the run is executed */
	int64		run;
	bool		creates;
	hopper_run_row row;
	hopper_guard_scope *scope;	/* of what it holds beyond transactions */
	MemoryContext context;
	hopper_fit *fit;
	hopper_pool *pool;			/* of a search, whose fit this is; or NULL */
	hopper_progress progress;
	bool		leased;			/* the session has the lease, and drives it */
	int64		opening;		/* hopper_store_started() */
	bool		finished;		/* the core has nothing to train any more */
	bool		refuses;		/* nothing has come of it: the next step says so */
	bool		goes_on;		/* with another opening, of what it has closed with say */
	hopper_steering steering;	/* what holds now */
	hopper_earlier *earlier;	/* of fit(): an entry for each trial */
	int			n_earlier;
	bool		reopens;		/* it is opened again, for trials that are not in it */
	TimestampTz looked;			/* for wishes */
	TimestampTz last_checkpoint;	/* when the latest one was asked for */
	double		cost;			/* seconds that the latest one took */
	double		spent;			/* seconds within this step that wrote checkpoints */
	double		untold;			/* of steps of this slice, which is to tell of its checkpoint */
	int			n_written;		/* checkpoints in this step */
	bool		uncommitted;	/* this transaction has written some */
	int			n_halted;		/* trials, for a checkpoint that is to be written */
	int			n_ended;		/* trials that are to be written */
	bool		has_grown;		/* the table of states, by dead rows */
	int64		compacted;		/* bytes of the tables since they were made small, or 0 */
	int			n_seen;			/* trials of a search that have their rows */
	bool		halts;			/* what halts does not go on before the next step */
	bool		halts_now;		/* trials are asked to, even such as have trained nothing */
	int			level;			/* of transactions in which something was written last */
} hopper_driver;

/* This session's, or NULL. */
extern hopper_driver *hopper_driven;

/* Leaves the run that the session drives, if it may be left, for this one; 0: a new one. */
extern void hopper_driver_new(int64 run);
/*
 * In the way of the run, which whoever may have taken its role drives. Its own settings count but
 * in a session that trains it.
 */
extern hopper_restricted hopper_driver_begin_as_run(const hopper_run_row *row);
/* Executes the statement of a run: fit() hands over what it asks for. */
extern void hopper_driver_execute(const char *statement);
/* ERROR 42501 where the session has not the role of the run, 55000 where it has ended. */
extern void hopper_driver_require_role(const hopper_run_row *row);
/* The lease goes with the end of the transaction. */
extern void hopper_driver_rest(void);
/* Ends it in this session within a step, and rests. */
extern void hopper_driver_close(void);
/* Trials go on; `halts`: for an iteration each. */
extern void hopper_driver_go_on(bool halts);
/* Does what belongs to the run with its models, which may be that it goes on with others. */
extern void hopper_driver_close_models(const char *models);
/* hopper_fit.target */
extern int32 hopper_driver_target(const hopper_fit *fit, int32 trial);
/* hopper_training.halted, .ended and .write */
extern void hopper_driver_note_halted(hopper_training *training, int at, int32 iteration);
extern void hopper_driver_note_ended(hopper_training *training, int at, bool failed);
extern void hopper_driver_write(hopper_training *training);
/* The row of a trial that a search has begun. */
extern void hopper_driver_note_seen(hopper_training *training, int at);
/* What the slice has told of trials: on segments it is written at its end. */
extern void hopper_driver_write_due(hopper_training *training);
/* Whether dead rows of checkpoints take most of the tables that they are written to. */
extern bool hopper_driver_has_grown(void);

#endif							/* HOPPER_DRIVER_STATE_H */
