/*
 * run.h
 *		One training run of the core, driven from the main thread.
 */
#ifndef HOPPER_TRAIN_RUN_H
#define HOPPER_TRAIN_RUN_H

#include "pg/server/ceilings.h"
#include "pg/server/glue.h"
#include "pg/train/history.h"
#include "pg/codec/packed.h"
#include "pg/train/ranking.h"
#include "pg/train/timeline.h"

typedef struct hopper_training
{
	/* set by the caller */
	int64		number;			/* of the run, in all tables of runs; 0: it gets one at its end */
	const char *function;		/* what the messages begin with: "fit" */
	const char *shown;			/* the output table, for messages */
	const char *quoted;			/* and as an argument of another call */
	hopper_run_options options; /* without event_fd */
	const hopper_packed *train;
	const hopper_packed *valid; /* or NULL */
	int			n_configs;
	const hopper_config *configs;	/* ascending by mst_key */
	hopper_history **histories; /* one a configuration */
	const hopper_ranking *ranking;	/* of the configurations */
	bool		threads_given;	/* options.threads is the caller's, not the default */
	const char *rank_by;		/* metric or "loss" that all are compared by; NULL: none */
	const char *search;			/* what a search may choose, as JSON; NULL: it is none */
	/* What a search has chosen for configuration `at`, as JSON in UTF-8; NULL: it is none. */
	const char *(*chosen) (const struct hopper_training *training, int at);
	/* The tables that it fills, where its models are whenever no memory has them. */
	const struct hopper_outputs *stored;
	bool		rehearsed;		/* nothing was trained: results are made up of zeros */
	bool		keeps_others;	/* models of other configurations stay in the outputs */
	/*
	 * Called whenever one of them has ended what it was to train, or failed; or NULL.
	 */
	void		(*ended) (struct hopper_training *training, int at, bool failed);
	void	   *ended_state;	/* the caller's */
	/*
	 * Called when a configuration has halted (halt_for_checkpoints) after so many iterations: then
	 * its state can be read. It goes on by release().
	 */
	void		(*halted) (struct hopper_training *training, int at, int32 iteration);
	bool		halts_each;		/* each halts after an iteration, from the start on */
	/* Called when all events that waited have been handled: writes what they told; or NULL. */
	void		(*write) (struct hopper_training *training);
	bool		enters;			/* configurations enter that are not there yet: a search */
	/* Writes these, which have ended, into its tables (hopper_outputs_write_ended()). */
	void		(*save) (struct hopper_training *training, const int *which, int n);
	bool		commits;		/* it trains in several transactions: a durable run */
	struct hopper_saved *saved; /* an entry a configuration */
	/* One that has begun, in turns with which its threads work; or NULL. */
	struct hopper_training *leader;

	/* What of it wants libtorch (hopper_wants_libtorch()), 'use_gpus', or NULL. */
	const char *wants_libtorch;

	/* set by the engine */
	const hopper_run_api *api;	/* of `run`, which segments have none of */
	hopper_run *run;
	hopper_run_info info;
	hopper_model_result *results;	/* per configuration */
	int			n_failed;
	double		seconds_reading;	/* of data, before training; not in info.seconds_wall */
	hopper_timeline *timeline;

	/* its own */
	hopper_share *share;
	int64		share_bytes;	/* memory that it has taken */
	hopper_guard *guard;
	int			event_fd;
	bool		started;
	bool		finished;
	struct hopper_training *beside; /* of a leader, or of one beside it: another, or NULL */
	bool	   *failed;
	bool	   *stopped;		/* by early stopping */
	int			n_stopped;
	List	   *told;			/* hopper_told *: why configurations failed, and warnings */
	double	   *costs;			/* of an iteration of each model, in any unit; NULL: a search */
	int			allocated;		/* configurations that there is room for */
	int		   *places;			/* open: by key, the configuration's place + 1, or 0 */
	int			n_places;
	struct open_segments *segments; /* that train it, where it is open */
} hopper_training;

/* What the tables have of a configuration. */
typedef struct hopper_saved
{
	int32		stored;			/* iterations behind the state that is in the tables */
	int32		stored_until;	/* the last iteration whose values all_trial_metrics has */
	bool		there;			/* they may have rows of it */
	bool		written;		/* it has ended, and model, state and info are in the tables */
	/* Of a durable run: */
	bool		ends;			/* it has ended, and is to be written */
	bool		halts;			/* it has halted, and its checkpoint is to be written */
	int32		halted_in;		/* the iteration */
	bool		halted;			/* after its checkpoint, as long as the driver halts */
	int32		target;			/* iterations that it trains to, 0: to the next one */
	int32		earlier;		/* iterations that its model had before the run: a warm start */
	/* On segments, where rows of trials are written at the end of a slice: */
	bool		due;			/* its row is to be written, with values that are new */
	bool		retold;			/* and with all values that the run has brought */
} hopper_saved;

typedef struct hopper_told
{
	char	   *text;
	int			n;				/* so often */
} hopper_told;

typedef struct hopper_progress
{
	TimestampTz started;
	TimestampTz last_line;
	double		interval;		/* seconds; doubled as the run grows long */
	int			n_lines;
	double		wakes;			/* seconds after its start: the loop looks then, too; 0: never */
} hopper_progress;

/* fit "models" and 4 others; palloc'ed */
extern char *hopper_training_words(const hopper_training *training);
/* An error context, of hopper_training *: where the run was. */
extern void hopper_training_context(void *training);
/*
 * Whether all that it ever trains is known when it starts, and trains in one statement: neither a
 * search nor a durable run.
 */
extern bool hopper_training_is_whole(const hopper_training *training);

/* The iterations that a configuration's model had before the run: a warm start. */
extern int32 hopper_training_earlier(const hopper_training *training, int at);
/* The place of a configuration in the run, or -1. */
extern int	hopper_training_place(const hopper_training *training, int32 mst_key);
/* What is known of it by now: results[at]. */
extern void hopper_training_look(hopper_training *training, int at);
/* Whether each configuration halts after each of its iterations: in this process. */
extern void hopper_training_halt_each(const hopper_training *training, bool each);
/* Once it has finished: results and failures of all. */
extern void hopper_training_take(hopper_training *training);

/*
 * What local/ and greenplum/ both use (train/open_run.c): the configurations are to be more, and
 * have places.
 */
extern void hopper_training_open(hopper_training *training);
/* One more, which is copied; its place. */
extern int	hopper_training_add(hopper_training *training, const hopper_config *config,
								hopper_history *history);
/* Metrics of iterations before the training are in the order of its own, once these are known. */
extern void hopper_training_order_metrics(hopper_training *training, int at);
/* Room for the results of the configurations. */
extern void hopper_training_allocate(hopper_training *training);

/* What an iteration of each model costs, in any unit; palloc'ed. */
extern double *hopper_training_costs(const hopper_training *training);

/* --- why configurations failed --- */

/*
 * What failures have in common: "loss became NaN" of "loss became NaN after 3 steps with ...";
 * `size` as the core tells it, 0: all of the message. palloc'ed.
 */
extern char *hopper_short_reason(const char *utf8_message, int32 size);
/* ERROR 22000 with the reasons where no configuration has a result that is not failed. */
extern void hopper_refuse_all_failed(const hopper_training *training);

/* --- telling (train/progress.c) --- */

/* What is done of a run, from the metrics that came in. */
typedef struct hopper_done
{
	int64		iterations;		/* of all models that are not failed, in this run */
	int64		iterations_total;
	int64		trials_training;	/* with iterations left */
	double		work;			/* 0 to 1: iterations by their models' cost */
} hopper_done;

/* Of it and those beside it. */
extern hopper_done hopper_training_done(const hopper_training *training);

/* What other sessions see of it, if it is due (server/watch.h). */
extern void hopper_progress_watch(const hopper_progress *progress,
								  const hopper_training *training);
extern void hopper_progress_begin(hopper_progress *progress);	/* without a line */
extern void hopper_progress_start(hopper_progress *progress, const hopper_training *training);
/* Whether a line is due; it counts as told then. */
extern bool hopper_progress_due(hopper_progress *progress);
/* A line if one is due. */
extern void hopper_progress_line(hopper_progress *progress, const hopper_training *training);
/* How long to sleep at most until a line may be due, in ms; -1: forever. */
extern long hopper_progress_timeout(const hopper_progress *progress);
/*
 * Takes in, and tells, what happens to a model whoever trains it: metrics, that it has failed or
 * was stopped, a warning (which is of no configuration). False: it is another event.
 */
extern bool hopper_progress_take(hopper_training *training, int at, const hopper_event *event);
/* `best_metric`: "validation accuracy"; NULL: none is the best. */
extern void hopper_progress_finished(const hopper_training *training, int32 best_mst_key,
									 const char *best_metric, double best_value);

#endif							/* HOPPER_TRAIN_RUN_H */
