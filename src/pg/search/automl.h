/*
 * automl.h
 *		A search while it runs.
 */
#ifndef HOPPER_AUTOML_H
#define HOPPER_AUTOML_H

#include "pg/server/glue.h"
#include "pg/server/tables.h"

#include "pg/codec/packed.h"
#include "pg/server/complaints.h"
#include "pg/train/fit.h"

/* What trials are compared by, or are to keep within a bound. */
typedef struct hopper_searched
{
	char	   *name;
	hopper_measure measure;
	bool		ascends;		/* an objective of which more is better */
} hopper_searched;

/* The tables that a search makes (search/tables.c). */
typedef struct hopper_search_names
{
	/* What they will be called, and then are: until then those below may have other names. */
	hopper_name final_output;
	hopper_name final_selection;
	bool		of_run;			/* those below are a run's own until the search ends */
	hopper_making models;		/* with trials, decisions and rungs */
	hopper_making configs;		/* the selection table and its summary */
	hopper_name output;
	hopper_name info;
	hopper_name state;
	hopper_name trials;
	hopper_name decisions;
	hopper_name rungs;
	hopper_name selection;
	hopper_name selection_summary;
} hopper_search_names;

/* Whether a trial ends with its next iteration, as others wish. */
typedef enum hopper_search_over
{
	HOPPER_NOT_OVER,
	HOPPER_OVER,
	HOPPER_OVER_TOLD			/* with an event that names the iteration */
} hopper_search_over;

/* A trial of the selection table, or of an earlier search. */
typedef struct hopper_search_trial
{
	int32		model_id;
	const char *impossible;		/* why it cannot be trained, or NULL */
	const char *parameters;		/* what was chosen, as JSON in UTF-8 */
	int32		trained;		/* iterations of its last result */
	int32		base;			/* iterations that it had when it was asked for last */
	hopper_search_over over;
} hopper_search_trial;

typedef struct hopper_automl
{
	hopper_name packed;
	hopper_packed train;
	hopper_name models;
	char	   *validation;		/* quoted, or NULL */
	char	   *validation_checksum;	/* of that table */
	const hopper_name *earlier;	/* the models of from_run, or NULL */
	int32	   *earlier_keys;	/* of its trials that are known here, in their order */
	hopper_search_options options;
	hopper_complaints complaints;	/* about the arguments: told with what the core finds */
	hopper_searched *measures;	/* objectives, then constraints */
	int			n_objectives;
	int			n_measures;
	hopper_search *search;
	hopper_search_names tables;
	hopper_search_trial *trials;	/* by their numbers */
	int			n_trials;
	int			allocated;
	hopper_fit	asked;			/* what its trainings are asked for, but for configurations */
	int			threads;		/* as they were given */
	/* (search/architectures.c) that were made, and that were there before, or NULL */
	struct HTAB *networks;
	struct HTAB *architectures;
	bool		replace;
	bool		cuts;			/* trials under way at the end of max_seconds */
	TimestampTz started;		/* less what earlier sessions have spent */
	/* Of a run that outlives its session (search/replay.c): 0 otherwise. */
	int64		number;
	int			batch;			/* results that were told between two askings */
	int			n_told;			/* in the journal */
	bool		stopped;		/* nothing more begins: its time was up */
	double		seconds_ended;	/* that trainings which have ended have taken together */
	int			n_ended;		/* how many */
	bool		replays;		/* what the journal has is told again */
	int32	   *known_models;	/* by trial: the model of its row in the selection table, or 0 */
	int			n_known;
	bool		limited;		/* to hopper.max_configs, not to fewer */
	bool		has_rungs;		/* that are told as they are decided */
	const char *wants_libtorch;	/* what of a trial did; NULL: of none yet */
} hopper_automl;

#define HOPPER_MAX_ASSIGNMENTS 256	/* that are taken from the search at once */

/*
 * What the search wants now: ends it where its time is up, notes new trials, and leaves in `work`
 * the *n assignments that can be trained. False: it wants nothing at the moment.
 */
extern bool hopper_search_ask(hopper_automl *run, hopper_search_assignment *work, int *n);


/* --- what is asked for (search/arguments.c) --- */

/*
 * Fills what the arguments of automl() and explain_automl() say. SPI must be connected. ERROR where
 * the tables of data and architectures cannot be read; what else is wrong is said by
 * hopper_search_start().
 */
extern void hopper_automl_arguments(FunctionCallInfo fcinfo, hopper_automl *run);
/* A trial is a number from 0 up, its row has a key from 1 up. */
static inline int32
hopper_key_of_trial(int64 trial)
{
	return (int32) trial + 1;
}

static inline int64
hopper_trial_of_key(int32 mst_key)
{
	return (int64) mst_key - 1;
}

/* Says so where hopper.max_configs has ended the search. */
extern void hopper_search_tell_limit(const hopper_automl *run);
/* Begins the search; ERROR with all that is wrong with it. A guard frees it. */
extern hopper_guard *hopper_search_start(hopper_automl *run);
/*
 * The architectures' JSON in UTF-8, with {"hopper": ...} in them or not; "" and a complaint where
 * there is none.
 */
extern const char *const *hopper_search_archs(const hopper_name *models, const int32 *ids, int n,
											  hopper_complaints *complaints);
/* A complaint where nothing says what may be chosen. */
extern void hopper_search_require_choice(const hopper_search_options *options,
										 hopper_complaints *complaints);
/* ERROR with what the core says; with a single complaint alone as it was made. */
extern void hopper_search_throw(const hopper_error *error, const hopper_complaints *complaints)
			pg_attribute_noreturn();

/* --- architectures of trials (search/architectures.c) --- */

/* The row of the filled-in architecture, which is made once; `structure` says what shaped it. */
extern int32 hopper_search_network(hopper_automl *run, int32 template_id, const char *arch,
								   const char *structure);
/*
 * All of a configuration but its key; texts are not copied. `arch`: JSON in UTF-8, or NULL: the
 * model's. False where there is none, which is refused elsewhere.
 */
extern bool hopper_search_set_config(const hopper_automl *run, hopper_config *config,
									 int32 model_id, const char *arch, const char *compile_params,
									 const char *fit_params);
/* What is wrong with a configuration and these data, or NULL. */
extern const char *hopper_search_problem(const hopper_automl *run, const hopper_config *config);
/* ERROR where none of the configurations that stand for all can be trained. */
extern void hopper_search_require_possible(hopper_automl *run);

/* --- results (search/outcome.c) --- */

/* The first objective that is a metric or the loss; else the loss: the leaderboard is by it. */
extern const hopper_searched *hopper_search_ranking(const hopper_automl *run);
/* "validation accuracy", "parameters" */
extern const char *hopper_search_objective(const hopper_automl *run);
/* "validation accuracy 0.9800", "parameters 65" */
extern const char *hopper_search_objective_words(const hopper_automl *run, double value);

/* The best trial so far, or -1 where all have failed. */
extern int64 hopper_search_best(const hopper_automl *run);
/*
 * Tells the search what came of the trial at this place of its training. A NOTICE for each rung
 * that is decided by it.
 */
extern void hopper_search_tell(hopper_automl *run, const hopper_training *training, int at);
/* A result of the journal (search/replay.c). */
extern void hopper_search_tell_result(hopper_automl *run, int64 trial,
									 const hopper_search_told *told);
/* Tells of those that cannot be trained; how many are left, at the beginning of `work`. */
extern int	hopper_search_refuse(hopper_automl *run, hopper_search_assignment *work, int n);

/* --- tables (search/tables.c) --- */

/* Sets the names of all tables of a search from those of the first ones. */
extern void hopper_search_name_tables(hopper_search_names *names, const hopper_name *output,
									  const hopper_name *selection);
/*
 * Makes the selection table, <model_table>_trials, _rungs and _decisions; ERROR where they or the
 * models are there already, or with `replace` where they are something else: then the new ones, and
 * the models, have other names until hopper_search_replace_tables(). Of run `number`, unless 0,
 * they are the run's own tables until then.
 */
extern void hopper_search_create_tables(hopper_search_names *names,
										const hopper_name *architectures, bool replace,
										int64 number);
/* The tables that hopper_search_create_tables() has made for a run. */
extern void hopper_search_use_tables(hopper_search_names *names, bool replace, int64 number);
/* All that a search makes beside models of this name: HOPPER_MODEL_TABLES, fewer of a long name. */
extern int	hopper_search_model_tables(const hopper_name *output, hopper_table *tables);
/* The model selection table of a search and its summary. */
#define HOPPER_CONFIGS_TABLES 2
extern void hopper_search_config_tables(const hopper_name *selection, hopper_table *tables);
/* Before an earlier search's models, summary and trials are read: as hopper_open_to_read(). */
extern void hopper_search_open(const hopper_name *output);
/* ERROR where the table of trials, which others may write to, is not what a search has written. */
extern void hopper_search_check_trials(const hopper_name *trials);
/* What was made gets the place of old tables, or stays where it is, with a WARNING. */
extern void hopper_search_replace_tables(hopper_search_names *names);

/* --- what is in them (search/results.c) --- */

/* Puts the trials that the selection table does not have yet into it. */
extern void hopper_search_write_new_trials(hopper_automl *run);
/*
 * Finds out before the search whether its end can be written: an event trigger may give new tables
 * columns or triggers that stand in its way.
 */
extern void hopper_search_rehearse(const hopper_automl *run);
/*
 * Trials, results, decisions, MADlib's columns of its outputs; leaves the best in the selection
 * table.
 */
extern void hopper_search_finish_tables(const hopper_automl *run, int64 best);

/* Method, objective and what may be chosen, as JSON. */
extern const char *hopper_search_json(const hopper_automl *run);

/* --- what others wish of a run's search (search/steering.c) --- */

/* Events of runs. */
#define HOPPER_STOP_TRIAL "stop trial"
/* What comes of one that has nothing to change any more. */
#define HOPPER_TOO_LATE "too late: it has ended"
#define HOPPER_PIN_TRIAL "pin trial"
#define HOPPER_UNPIN_TRIAL "unpin trial"
#define HOPPER_ENQUEUE_TRIAL "enqueue trial"

typedef struct hopper_search_wish
{
	const char *event;			/* one of these */
	TimestampTz at;
	int32		mst_key;		/* 0: of no trial */
	const char *text;			/* why; of one to enqueue: its parameters */
} hopper_search_wish;

/*
 * Steers the search as others wish by now, and notes it in the journal; whether a trial is to stop.
 * SPI must be connected.
 */
extern bool hopper_search_steer(hopper_automl *run);
/* At the end: says of wishes that the journal does not have that they came too late. */
extern void hopper_search_refuse_wishes(hopper_automl *run);
/* A wish alone, which the journal has; what is wrong with it, or NULL. */
extern const char *hopper_search_heed(hopper_automl *run, const hopper_search_wish *wish);

/* --- searches that outlive their sessions (search/replay.c) --- */

/*
 * In the journal of run->number: a result that was told, and why it failed; or that nothing more is
 * to begin, for this reason; or what was wished of a trial. The others are NULL, the trial -1. SPI
 * must be connected.
 */
extern void hopper_search_note(hopper_automl *run, int64 trial, const hopper_search_told *told,
							   const char *reason, const hopper_search_wish *wish);
/*
 * Tells a search that has just been started what its journal says. Returns the assignments that are
 * under way, *n of them, in the order of their beginning. ERROR 55000 where the journal is not this
 * search's: its models or its space have changed.
 */
extern hopper_search_assignment *hopper_search_replay(hopper_automl *run, int *n);

/* --- the whole of it --- */

typedef struct hopper_search_result
{
	int64		best;			/* a trial */
	double		value;			/* its first objective */
	int64		configurations;
	int64		failed;
	int64		iterations;
} hopper_search_result;

/*
 * What is left once nothing trains any more: tables of trials and decisions, their names, and the
 * last messages. ERROR where there is no best one.
 */
extern void hopper_search_conclude(hopper_automl *run, hopper_search_result *result);
/* The ERROR alone. */
extern void hopper_search_refuse_without_best(const hopper_automl *run) pg_attribute_noreturn();

#endif							/* HOPPER_AUTOML_H */
