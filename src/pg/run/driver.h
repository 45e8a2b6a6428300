/*
 * driver.h
 *		The loop that a durable run is trained by: open, step, close.
 *
 * A session has one run at a time. Between two steps nothing of it hangs on a transaction: the
 * threads of the core train, and what the session holds of it lies in memory of its own. A step
 * writes what has come meanwhile, checkpoints and results, in the transaction that is open; its
 * caller commits that. Where a transaction aborts, the run in this session ends, and another
 * session resumes it from its last checkpoint.
 *
 * An error within a step ends the run in this session, too (transactions abort).
 */
#ifndef HOPPER_RUN_DRIVER_H
#define HOPPER_RUN_DRIVER_H

#include "pg/train/store.h"

/*
 * A new run of a statement that calls fit() or fit_multiple_model(): looks at all that can be
 * wrong, makes the run's tables, and writes its rows. Returns its number. SPI must be connected.
 */
extern int64 hopper_driver_create(const char *statement);

/*
 * Takes the run's lease and begins to train, from its checkpoints where there are some; where this
 * session has stepped it, and nobody has driven it since, it goes on with what it has. ERROR 55006
 * where another session drives it, 55000 where it has ended or its data have changed. `halts`:
 * each trial halts at the end of its next iteration, as by hopper_driver_halt().
 */
extern void hopper_driver_open(int64 run, bool halts);
/* Whether this session has the run: after a step that trains on it may have to open it again. */
extern bool hopper_driver_has(int64 run);

typedef enum hopper_driver_state
{
	HOPPER_DRIVER_TRAINS,
	HOPPER_DRIVER_PAUSED,		/* as somebody wished; resumed by another opening */
	HOPPER_DRIVER_CANCELLED,
	HOPPER_DRIVER_FAILED,		/* on segments: no trial has a result */
	HOPPER_DRIVER_DONE			/* its models have their names */
} hopper_driver_state;

/* Sleeps until there is something to write, or `seconds` are over; no snapshot is held. */
extern void hopper_driver_wait(double seconds);
/*
 * Writes it. With another state than TRAINS the run has been closed. The transaction is to be
 * committed then.
 */
extern hopper_driver_state hopper_driver_step(void);
/* Why all trials failed is written, and the next step, in another transaction, is an error. */
extern bool hopper_driver_refuses(void);
/*
 * All its trials halt at the end of their iterations, and stay there: what they have trained is in
 * the steps until has_halted().
 */
extern void hopper_driver_halt(void);
extern bool hopper_driver_has_halted(void);
/*
 * After they have halted, before the transaction ends: others may drive it then. On segments the
 * training ends with it.
 */
extern void hopper_driver_end_transaction(void);
/*
 * After the commit: makes the tables of checkpoints small again where they have grown; whether
 * there is something to commit.
 */
extern bool hopper_driver_compact(void);

/*
 * Executes what the run does at its end, as its role, with the name of its models; NULL: it was
 * cancelled. Another role does nothing. SPI must be connected.
 */
extern void hopper_run_close(const hopper_run_row *row, const char *models);
/* The end of a run that nobody drives: its tables go. SPI must be connected. */
extern void hopper_run_cancel(const hopper_run_row *row);
/* "running", "paused", ... */
extern const char *hopper_driver_state_words(hopper_driver_state state);
/* The first argument. */
extern int64 hopper_run_argument(FunctionCallInfo fcinfo);

/* Ends it in this session, as if the session had ended. */
extern void hopper_driver_abandon(void);
/* Ends it so where others may drive it; an error where it drives it. */
extern void hopper_driver_leave(void);

/* --- the statement of a run, and the settings that it depends on (run/create.c) --- */

/* ERROR 22023 where a statement is not one SELECT. */
extern void hopper_require_one_select(const char *statement);
/* Settings of schema hopper that the session has changed, "name=value" each in a line. */
extern char *hopper_settings_text(void);
/* Until the level of settings ends. */
extern void hopper_apply_settings(const char *search_path, const char *settings);

/*
 * --- the tables that a run keeps its models in until it is done (run/tables.c) ---
 *
 * hopper_run_NUMBER and those that go with it: they belong to its role, which may rename or drop
 * them at any time.
 */

/*
 * A number that no run has, no table and no process: an extension that was dropped leaves tables
 * and drivers of its runs behind, and a dump without schema hopper brings tables. SPI must be
 * connected.
 */
extern int64 hopper_run_new_number(void);
/*
 * ERROR 42P01 where one is not there by its name, with what to do; `searched`: also those that a
 * search has beside its models.
 */
extern void hopper_run_require_tables(const hopper_run_row *row, bool searched);
/*
 * Drops those that there are, also where their schema has another name by now; a NOTICE for each
 * that is not found, or is another role's.
 */
extern void hopper_run_drop_tables(const hopper_run_row *row);
/*
 * The tables of a run, and, unless NULL, its model selection table (the run has one), for a caller
 * who may have no more than the run's number: ERROR 42501 where one of them would run functions of
 * another role (hopper_require_plain()).
 */
extern void hopper_run_open_tables(const hopper_run_row *row, bool written,
								   hopper_outputs *outputs, hopper_name *selection);

/*
 * --- what others want of the trials of a run while it trains (run/steer.c) ---
 *
 * A want is an event of the run, with who and when. What holds for a trial is the newest one of it,
 * so that reading all of them again leads to the same place: whoever drives the run now.
 */

typedef struct hopper_steering
{
	int			n;				/* wants */
	int			n_added;		/* of them, those that add trials */
	struct hopper_want
	{
		int32		trial;		/* 0: all */
		int32		iterations; /* 0: it is to stop; -1: trials were added */
	}		   *wants;			/* the newest last */
} hopper_steering;

/* In the current memory context. SPI must be connected. */
extern void hopper_steering_read(int64 run, hopper_steering *steering);
/* How far a trial is to train, 0: one iteration more; `planned` where nobody wants anything. */
extern int32 hopper_steering_target(const hopper_steering *steering, int32 trial, int32 planned);

#endif							/* HOPPER_RUN_DRIVER_H */
