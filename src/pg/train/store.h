/*
 * store.h
 *		Runs as rows: what the extension's tables all_runs, all_trials, all_trial_metrics and
 *		all_run_events say.
 *
 * The tables belong to the extension's owner; nobody else has rights on them, and views show each
 * role its own runs (sql/views.sql). All functions need a connected SPI, and write as that owner.
 */
#ifndef HOPPER_STORE_H
#define HOPPER_STORE_H

#include "pg/server/own_tables.h"
#include "pg/train/fit.h"

typedef enum hopper_wish
{
	HOPPER_WISH_RUN,			/* it is to go on */
	HOPPER_WISH_PAUSE,
	HOPPER_WISH_CANCEL
} hopper_wish;

/* A row of all_runs, as far as the driver needs it. Texts are palloc'ed. */
typedef struct hopper_run_row
{
	int64		run;
	Oid			role;			/* whose run it is, with whose rights it reads and writes */
	char	   *function;		/* "fit" */
	char	   *statement;		/* the call, with all its arguments written out */
	char	   *search_path;
	/* of schema hopper, "name=value" each in a line; NULL: trained in the foreground */
	char	   *settings;
	char	   *tables;			/* quoted name of its table of models, or NULL: it has none */
	char	   *selection;		/* quoted: of its configurations, or of its search; or NULL */
	char	   *model_table;	/* as it was asked for */
	char	   *data;			/* checksums of its packed tables */
	char	   *continues;		/* hopper_fit.continues, or NULL */
	char	   *compared_by;	/* metric that its trials are compared by, or NULL */
	/*
	 * What a function that trains more than this run does at its end, a SELECT: $1 is the name of
	 * the models, or NULL where the run was cancelled; or NULL. The run's role may have written it.
	 */
	char	   *closing;
	bool		started;
	char	   *outcome;		/* "done", "failed", "cancelled"; NULL: it has not ended */
	char	   *error;			/* why it failed, or "" */
} hopper_run_row;

/* Of automl(). */
static inline bool
hopper_is_search(const hopper_run_row *row)
{
	return strcmp(row->function, "automl") == 0;
}

/*
 * Of a run that trains several times, one after the other: what it trains now. Of what it has
 * trained before nothing stays, but in its events.
 */
extern void hopper_store_next_training(const hopper_run_row *row, const hopper_fit *fit);
/* A number that no run has. */
extern int64 hopper_store_next(void);
/* A new row; `run`, role and times are filled in here. */
extern void hopper_store_create(const hopper_run_row *row, const hopper_fit *fit);
/*
 * ERROR 42704 where there is none, 42501 where the caller has none of its role's rights. `lock`:
 * against other changes until the transaction ends, which waits for a step of another session.
 */
extern void hopper_store_read(int64 run, bool lock, hopper_run_row *row);
/*
 * A run that the caller sees, that has not ended, and whose models are to have this name; 0: none.
 * `but`: other than this one.
 */
extern int64 hopper_store_making(const hopper_name *output, int64 but);
/* Reads a run for what a role may do to whom its owner has granted steering it. */
extern void hopper_store_read_steered(int64 run, bool lock, hopper_run_row *row);
/* role: 0 for everybody. It sees the run, steers it, or does neither (revoked). */
extern void hopper_store_grant(int64 run, Oid role, bool steers);
extern void hopper_store_revoke(int64 run, Oid role);
/* ERROR 42704 where the role of the run was dropped: nobody can train it any more. */
extern void hopper_store_require_role(const hopper_run_row *row);
/* Whether the database has the extension, and one that knows runs: a worker may find otherwise. */
extern bool hopper_store_is_there(void);
/* hopper_store_read() without these errors; false where there is none. */
extern bool hopper_store_find(int64 run, bool lock, hopper_run_row *row);
/*
 * What the newest of its events "created", "submitted", "resumed", "pause" and "cancel" asks for: a
 * wish is an event, so that it waits for nobody who has locked the run's row.
 */
extern hopper_wish hopper_store_wish(int64 run);
/*
 * `queued`: by the worker that it was queued for. `opening`: a number of this opening of the run.
 */
extern void hopper_store_started(int64 run, bool queued, int64 opening);
/* Whether nothing has opened, queued or ended it since then. Locks it. */
extern bool hopper_store_is_open(int64 run, int64 opening);
/* One that has failed has not ended any more. */
extern void hopper_store_reopen(int64 run);
/* A background worker is to train it, with these settings (NULL: as before); `event` says why. */
extern void hopper_store_queued(int64 run, const char *event, const char *settings);
/* No worker is to train it, which waits for resume() or a start of the server. */
extern void hopper_store_interrupted(int64 run, const ErrorData *why);
/* `fit`: its results, or NULL where there are none; `error`: why it failed, or NULL. */
extern void hopper_store_ended(int64 run, const char *outcome, const hopper_fit *fit,
							   const ErrorData *error);
/*
 * Where its models are now, quoted; NULL: nowhere. `shown`: their name where it is not the one that
 * was asked for, else NULL.
 */
extern void hopper_store_set_tables(int64 run, const char *tables, const char *shown);
/*
 * What these trials (places in the training) are by now, with values of metrics that are new.
 * `first`: the run has none yet.
 */
extern void hopper_store_trials(int64 run, hopper_training *training, const int *which, int n,
								bool first);
/*
 * The values that the trials of a run have, those of a grid, as a query: what a search may choose
 * is known before. `trials`: SQL, what has their column "parameters".
 */
#define HOPPER_STORE_GRID(trials) "SELECT pg_catalog.json_build_object('method', 'grid', 'space'," \
	" pg_catalog.json_agg(pg_catalog.json_build_object('parameter', key, 'type'," \
	" CASE n WHEN 1 THEN 'constant' ELSE 'choice' END, 'choices', choices)))::text AS search" \
	" FROM (SELECT e.key, pg_catalog.count(DISTINCT e.value) AS n, pg_catalog.array_to_json(" \
	"pg_catalog.array_agg(DISTINCT e.value)) AS choices FROM (SELECT parameters FROM " trials \
	") AS t, pg_catalog.jsonb_each(t.parameters::jsonb) AS e GROUP BY e.key) AS p" \
	" HAVING pg_catalog.count(*) > 0"
/* The column "parameters" of all configurations of a training, a text[]. */
extern Datum hopper_store_parameters(const hopper_training *training);
/* The values of its trials' parameters, where no search has said what it may choose. */
extern void hopper_store_grid(int64 run);
/* The iterations that the model of a trial had before the run. */
typedef struct hopper_earlier
{
	int32		trial;
	int32		iterations;
} hopper_earlier;
/* Of all trials, which ascend; returns their number. */
extern int	hopper_store_earlier(int64 run, hopper_earlier **trials);
/* A trial whose model is a copy of another's has the iterations that it had before the run. */
extern void hopper_store_inherit(int64 run, int32 trial, int32 parent);
/* Whether a trial has ended, and did not fail. */
extern bool hopper_store_has_result(int64 run);
/* Whether this trial has ended, as of the last checkpoint. */
extern bool hopper_store_has_ended(int64 run, int32 trial);
/* The values of a trial after this iteration go. */
extern void hopper_store_forget(int64 run, int32 trial, int32 iteration);
/*
 * The values of these trials (places in the training) that the run has brought go; all that their
 * histories have come with hopper_store_trials(). Values that a checkpoint took while weights moved
 * may have been evaluated since then.
 */
extern void hopper_store_replace_metrics(int64 run, hopper_training *training, const int *which,
										 int n);
/* A run that one statement has trained to its end. */
extern void hopper_store_record(int64 run, const hopper_fit *fit);
/* How long a checkpoint took, of all trials that were due. */
extern void hopper_store_checkpoint(int64 run, double seconds);
/* trial: 0 for none; detail may be NULL. */
extern void hopper_store_event(int64 run, const char *event, int32 trial, const char *detail);
/* A trial that has halted in this iteration trains to its last one, as others wish. */
extern void hopper_store_steered(int64 run, int32 trial, int32 iteration, int32 last);
/* Makes those of the configurations trials of the run that are none yet; how many. */
extern int	hopper_store_new_trials(int64 run, const hopper_config *configs, int n);
/* ERROR 55000 where a configuration is not what it was when the run was created. */
extern void hopper_store_require_same(int64 run, const hopper_fit *fit);
/* A checksum of an architecture, as text; NULL counts as "". */
extern Datum hopper_store_digest(const char *text);
/* All rows of a run; its tables are the caller's to drop. */
extern void hopper_store_drop(int64 run);
/* The run that has trained the models of this table last, or 0. */
extern int64 hopper_store_run_of(Oid models);
/* What trials have reached in the mean of several trainings. */
typedef struct hopper_means
{
	TimestampTz began;			/* of all of it, before the training that has the run's row */
	const char *metric;			/* "accuracy", or NULL */
	hopper_param trials;		/* int4[], the best first; or NULL */
	hopper_param values;		/* float8[] beside them; NULL of a trial that has failed */
} hopper_means;
/*
 * The run of a cross-validation has them, with `row`'s function and model_table; a run in the
 * foreground has begun with all of it.
 */
extern void hopper_store_means(const hopper_run_row *row, const hopper_means *means);

#endif							/* HOPPER_STORE_H */
