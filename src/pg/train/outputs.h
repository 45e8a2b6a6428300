/*
 * outputs.h
 *		The tables that training leaves behind, and reading a model from them.
 *
 *	<out>			mst_key, model_weights, model_arch: a row a trained model
 *	<out>_state		mst_key, part, state: what training needs to go on, in parts
 *	<out>_info		a row a configuration, failed ones too: metrics, times, digest
 *	<out>_summary	one row: the run, its data and its settings
 *
 * Where a script for MADlib trained (sql/compat/madlib.sql), _info and _summary have MADlib's
 * columns alone, and what they have otherwise is in <out>_metrics and <out>_run.
 */
#ifndef HOPPER_OUTPUTS_H
#define HOPPER_OUTPUTS_H

#include "pg/server/floats.h"
#include "pg/server/tables.h"
#include "pg/train/history.h"
#include "pg/codec/packed.h"
#include "pg/train/run.h"

typedef struct hopper_outputs
{
	hopper_name model;
	hopper_name state;
	hopper_name info;
	hopper_name summary;
} hopper_outputs;

/* The first of the leaderboard whose weights are there. */
typedef struct hopper_best
{
	int32		mst_key;
	char	   *metric;			/* "validation accuracy", "training loss"; NULL: none is the best */
	double		value;
} hopper_best;

/* What the summary says beside what the training itself knows; tables as they can be passed on. */
typedef struct hopper_run_record
{
	const char *source_table;
	const char *validation_table;	/* or NULL */
	const char *model_arch_table;
	const char *model_selection_table;	/* or NULL */
	int32		num_iterations;
	int32		frequency;
	bool		warm_start;
	const char *statement;		/* the call, with all its arguments; not in the summary */
	const char *name;
	const char *description;
	const char *rank_by;		/* what all configurations are compared by; NULL: nothing */
	TimestampTz started;
	TimestampTz ended;
	hopper_best best;
} hopper_run_record;

#define HOPPER_OUTPUT_TABLES 4

/* Of the tables that are there, or are to be made. */
extern hopper_outputs hopper_outputs_named(const hopper_name *model);
/*
 * Before a model is made, replaced, continued or moved: tables in MADlib's shape go, and what
 * stands for them gets their names. Nothing where the model is another role's. SPI must be
 * connected.
 */
extern void hopper_outputs_take_back(const hopper_name *model);
extern void hopper_outputs_tables(const hopper_outputs *outputs, hopper_table *tables);
#define HOPPER_SEARCH_TABLES 3
#define HOPPER_MODEL_TABLES (HOPPER_OUTPUT_TABLES + HOPPER_SEARCH_TABLES)

/* What a search leaves beside them; how many, 0 where the name is too long for them. */
extern int	hopper_search_tables(const hopper_name *model, hopper_table *tables);
/*
 * All that goes with a model, whoever drops it, moves it, copies it or replaces it: its own tables,
 * whether they are there or not, then those of a search that are there. Tables of these names may
 * be somebody else's, who planted them there: `mine` leaves those of other roles than the caller's
 * out, otherwise those of others than the model's owner. Fills up to HOPPER_MODEL_TABLES;
 * returns how many.
 */
extern int	hopper_model_tables(const hopper_outputs *outputs, bool mine, hopper_table *tables);
/* Gives a new table its primary key, or where its kind has none what updates of it need instead. */
extern void hopper_output_add_key(const hopper_table *table);
/*
 * As hopper_make_room(). Returns the tables to make: those of `outputs` themselves, or where they
 * are to be replaced others, which take their place once they are filled, by
 * hopper_outputs_publish(): until then others use the old ones. It returns false where that could
 * not be done, or is not to be (`replace`), with a WARNING: then they stay where they are.
 * `continues`: what a search has left beside the old models stays beside them, as in a warm start.
 */
extern hopper_outputs hopper_outputs_make_room(const hopper_outputs *outputs, bool replace);
extern bool hopper_outputs_publish(const hopper_outputs *outputs, const hopper_outputs *working,
								   bool replace, bool continues);
/* What the summary of `outputs` calls its own tables, which have these names or are to get them. */
extern void hopper_outputs_update_names(const hopper_outputs *outputs,
										const hopper_outputs *names);
/* Whether it can be done, before the training. */
/*
 * ERROR 55000 where tables that others are to take the place of have what these would not have, but
 * rights and policies: constraints, indexes, triggers, rules.
 */
extern void hopper_outputs_refuse_losses(const hopper_outputs *outputs);
extern void hopper_outputs_rehearse_replace(const hopper_outputs *outputs,
											const hopper_outputs *working, bool continues);
/*
 * Before models are changed, by a warm start say: ERROR where the tables are not those of training,
 * 42501 where another role's functions would run; nobody else can lock rows of them or write to
 * them until the transaction ends.
 */
extern void hopper_outputs_lock(const hopper_outputs *outputs);
/* ERROR 42809 of a table that training did not make; 42P01 where it is not there any more. */
extern void hopper_outputs_refuse(const hopper_name *model,
								  const char *detail) pg_attribute_noreturn();
/* ERROR 42809 where one of them is not there. */
extern void hopper_outputs_require_all(const hopper_outputs *outputs);
/* Before models are read, compared or used: as hopper_open_to_read(). */
extern void hopper_outputs_open(const hopper_outputs *outputs);
extern void hopper_outputs_create(const hopper_outputs *outputs, const hopper_packed *train,
								  bool large);
/*
 * Whether values of the models' weights and states are worth telling the server not to compress
 * them, which takes a cluster longer than to compress small ones.
 */
extern bool hopper_outputs_are_large(const hopper_config *configs, int n,
									 const hopper_data_desc *data);
/* The weights of all; 0 for those that nobody knows (train/sizes.c). */
extern int64 hopper_weights_of_all(const hopper_config *configs, int n,
								   const hopper_data_desc *data);
/* ERROR 42804 or 42703 where a column is not of the type that it was made with. */
extern void hopper_outputs_check_columns(const hopper_outputs *outputs,
										 const hopper_packed *train);
/* ERROR likewise for the table of how models did. */
extern void hopper_outputs_check_info(const hopper_outputs *outputs);
/* ERROR likewise for one column. */
extern void hopper_check_column(const hopper_name *table, const char *column, Oid type);
/*
 * ERROR where what the run will write at its end could not be written: before it trains. The
 * tables exist; for a warm start they are filled (train/rehearsal.c).
 */
extern void hopper_outputs_rehearse(const hopper_outputs *outputs, const hopper_training *planned,
									const hopper_run_record *record);
/*
 * Of a warm start: takes away what the tables have of its configurations, and of others unless it
 * keeps them, but not what it has written itself. Not TRUNCATE: that would wait for readers, take
 * the rows away from older snapshots, and want another right.
 */
extern void hopper_outputs_clear(hopper_training *training);
/* A configuration that a search refused before it was built: `error` (UTF-8) says why. */
extern void hopper_outputs_write_refused(const hopper_outputs *outputs,
										 const hopper_config *config, const char *error);
/*
 * Models, states and infos of configurations (places in the training) that have halted, in the
 * place of those before, whose states stay as the checkpoint before.
 */
extern void hopper_outputs_write_checkpoints(hopper_training *training, const int *which, int n);
/* The model, state and info of one configuration become another's, too, which has none. */
extern void hopper_outputs_copy_one(const hopper_outputs *outputs, int32 from, int32 to);
/*
 * Into new tables of a run, for a warm start: the models of `earlier`, those of `configs` alone
 * unless the others are kept. Their infos say that they train.
 */
extern void hopper_outputs_continue(const hopper_outputs *outputs, const hopper_outputs *earlier,
									const hopper_config *configs, int n, bool keeps_others);
/*
 * One text for all models of these tables and what they have come to; NULL where they are not
 * there, or not the caller's.
 */
extern char *hopper_outputs_digest(const hopper_outputs *outputs);
/* All of one configuration goes from models, states and infos. */
extern void hopper_outputs_clear_one(const hopper_outputs *outputs, int32 mst_key);
/*
 * Models, states and infos of those that have ended, in the place of what the tables have of them;
 * notes it in training->saved. The core has no state of them any more.
 */
extern void hopper_outputs_write_ended(hopper_training *training, const int *which, int n);
/* Models, states and infos, of all that are not written. */
extern void hopper_outputs_write_models(hopper_training *training);
/*
 * The query of leaderboard(model, n, rank_by), without curves and with columns valid and train for
 * its values, for a caller that is connected; n: 0 for all. `usable`: of models alone whose weights
 * are there, the first n of all groups.
 */
extern char *hopper_compared_query(const hopper_name *model, const char *rank_by, int n,
								   bool usable);
/* From the results and histories of a training that has ended; `rank_by` as it was ranked by. */
extern hopper_best hopper_training_best(const hopper_training *training, const char *rank_by);
/* From what is in the tables; `rank_by` as leaderboard() takes it, or NULL. */
extern hopper_best hopper_outputs_best(const hopper_outputs *outputs, const char *rank_by);
extern void hopper_outputs_write_summary(const hopper_outputs *outputs,
										 const hopper_training *training,
										 const hopper_run_record *record);

/* A literal with the name and schema of a relation; ERROR 42P01 where there is none. */
extern const char *hopper_whole_name(const hopper_name *name);

/* --- reading one trained model --- */

typedef struct hopper_trained
{
	hopper_outputs outputs;
	int32		mst_key;
	hopper_config config;		/* without state, and with the number of its weights only: */
	hopper_floats weights;
	int			n_metrics;
	char	  **metrics_type;
	char	   *loss_type;
	hopper_packed data;			/* what it was trained on */
} hopper_trained;

/*
 * Sets `outputs` and what belongs to the training data. SPI must be connected. ERROR 42P01, or
 * 42809 where it is no output table.
 */
extern void hopper_read_trained_data(const hopper_name *table, hopper_trained *out);

/*
 * The model `mst_key` of an output table (has_key false: the best, with a NOTICE where it is not
 * the only one). Everything is allocated in the current memory context. SPI must be connected.
 * ERROR 42P01, 42809 (no output table), 22023 (no such model).
 */
extern void hopper_read_trained(const hopper_name *table, bool has_key, int32 mst_key,
								hopper_trained *out);

/*
 * ERROR 22023 where `table`'s examples are not those of `trained`, which has this name: their
 * shape, features, kind of label, classes or constant differ. `table_is` is "training table" or the
 * like.
 */
extern void hopper_check_compatible(const hopper_packed *table, const char *table_is,
									const hopper_packed *trained, const char *name);
/* Reads a table that goes with a model or with a training table, and checks that it does. */
extern void hopper_read_compatible(const hopper_name *table, const char *table_is,
								   const hopper_packed *trained, const char *name,
								   hopper_packed *out);

#endif							/* HOPPER_OUTPUTS_H */
