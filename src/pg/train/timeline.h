/*
 * timeline.h
 *		Where the time of a run went: the visits of its models, collected while it runs, and kept in
 *		the extension's journal.
 *
 * The journal, hopper.journal_runs and hopper.journal_visits, belongs to the extension's owner;
 * nobody else has rights on it. Its statements run as the owner with a search_path of pg_catalog
 * alone, and nothing else does.
 */
#ifndef HOPPER_TIMELINE_H
#define HOPPER_TIMELINE_H

#include "pg/server/glue.h"

struct hopper_training;

/* What a row of the timeline stands for; a run has at most some 50,000 rows. */
typedef enum hopper_timeline_level
{
	HOPPER_TIMELINE_VISITS = 0, /* one visit */
	HOPPER_TIMELINE_ITERATIONS = 1, /* one model's visits of one iteration, kind and split */
	HOPPER_TIMELINE_MODELS = 2	/* one model's visits of one kind and split */
} hopper_timeline_level;

typedef struct hopper_timeline_row
{
	hopper_visit visit;			/* of several visits: the first's place, and their sums */
	int32		segment;		/* content id; 0 where there is one server */
	int32		n_visits;
} hopper_timeline_row;

typedef struct hopper_timeline
{
	MemoryContext context;
	hopper_timeline_level level;
	int			n;
	int			allocated;
	hopper_timeline_row *rows;
	int			n_configs;
	int		   *open;			/* rows that further visits are added to, or -1 */
} hopper_timeline;

/* Shares of the time that the run's workers had together, 0 to 1. */
typedef struct hopper_shares
{
	double		idle;
	double		hop;
} hopper_shares;

extern hopper_timeline *hopper_timeline_new(const struct hopper_training *training);
/* Room for so many configurations, where more have come. */
extern void hopper_timeline_grow(hopper_timeline *timeline, int n_configs);
/* `config`: the visiting model's place among the configurations. */
extern void hopper_timeline_add(hopper_timeline *timeline, int config, int32 segment,
								const hopper_visit *visit);
extern hopper_shares hopper_timeline_shares(const struct hopper_training *training);

/* Tables of the extension (server/own_tables.h). */
#define JOURNAL_RUNS "journal_runs"
#define JOURNAL_VISITS "journal_visits"

/* Before a run trains: its end waits for nobody. As hopper_own_hold(). */
extern void hopper_journal_hold(void);
/* A number that no run has: as the owner of the journal (server/own_tables.h). */
extern int64 hopper_journal_next(void);
/* Writes a finished run down; returns its number. SPI must be connected. */
extern int64 hopper_journal_write(const struct hopper_training *training, Oid output,
								  TimestampTz started);

#endif							/* HOPPER_TIMELINE_H */
