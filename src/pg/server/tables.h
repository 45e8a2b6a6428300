/*
 * tables.h
 *		Tables that the functions make: knowing them again, making room for new ones, dropping them.
 */
#ifndef HOPPER_SERVER_TABLES_H
#define HOPPER_SERVER_TABLES_H

#include "pg/server/rights.h"

typedef enum hopper_table_kind
{
	HOPPER_TABLE_MODELS,
	HOPPER_TABLE_STATES,
	HOPPER_TABLE_INFOS,
	HOPPER_TABLE_RUN,			/* <out>_summary of training */
	HOPPER_TABLE_TRIALS,			/* of a search */
	HOPPER_TABLE_DECISIONS,
	HOPPER_TABLE_RUNGS,
	HOPPER_TABLE_PACKED,
	HOPPER_TABLE_PACKED_SUMMARY,
	HOPPER_TABLE_PREDICTIONS,
	HOPPER_TABLE_EVALUATION,
	HOPPER_TABLE_CONFUSION,
	HOPPER_TABLE_CONFIGS,
	HOPPER_TABLE_CONFIGS_SUMMARY
} hopper_table_kind;

/*
 * What such a table has, listed once, in the file that makes it: what creates it, says in psql what
 * its columns mean, checks them and tells it from other tables goes by that list.
 */
typedef struct hopper_column
{
	const char *name;			/* NULL: the data give it */
	Oid			type;			/* InvalidOid: likewise */
	const char *meaning;		/* or NULL */
	const char *rule;			/* behind the type where it is made, such as "NOT NULL", or NULL */
	bool		marks;			/* others' tables hardly have all columns that do */
	const char *since;			/* tables of earlier versions lack it; NULL: all have it */
	const char *before;			/* what these called it; NULL: they have nothing like it */
	bool		needed;			/* then a value of it must not be left out */
} hopper_column;

typedef struct hopper_layout
{
	const char *what;			/* "a table of trained models" */
	const char *drop;			/* the function that drops it, or NULL */
	bool		(*is_like) (Relation relation);	/* where marks do not tell; else NULL */
	bool		completes;		/* without it the table that it goes with cannot be used */
	const hopper_column *columns;
	int			n;
} hopper_layout;

/* By kind; and those of single kinds, each defined in its room. */
extern const hopper_layout *hopper_layout_of(hopper_table_kind kind);
extern const hopper_layout hopper_models_layout;
extern const hopper_layout hopper_states_layout;
extern const hopper_layout hopper_infos_layout;
extern const hopper_layout hopper_run_layout;
extern const hopper_layout hopper_trials_layout;
extern const hopper_layout hopper_decisions_layout;
extern const hopper_layout hopper_rungs_layout;
extern const hopper_layout hopper_packed_layout;
extern const hopper_layout hopper_packed_summary_layout;
extern const hopper_layout hopper_predictions_layout;
extern const hopper_layout hopper_evaluation_layout;
extern const hopper_layout hopper_confusion_layout;
extern const hopper_layout hopper_configs_layout;
extern const hopper_layout hopper_configs_summary_layout;

/* What columns mean that tables of several rooms have. */
#define HOPPER_MEANS_KEY "number of the configuration (model selection tuple)"
#define HOPPER_MEANS_MODEL_ID "number of the architecture"
#define HOPPER_MEANS_MODEL_ARCH "architecture: Keras' JSON"
#define HOPPER_MEANS_WEIGHTS "weights: float32 values in the order of Keras' get_weights()"
#define HOPPER_MEANS_COMPILE_PARAMS "loss, optimizer and metrics, in Keras' words"
#define HOPPER_MEANS_FIT_PARAMS "batch size, epochs and so on, in Keras' words"
#define HOPPER_MEANS_ARCH_TABLE "table of architectures"
#define HOPPER_MEANS_OBJECT_TABLE "MADlib's table of custom functions; none here"
#define HOPPER_MEANS_GIVEN "as it was given"
#define HOPPER_MEANS_METRICS_TYPE "names of the metrics; the first one ranks"
#define HOPPER_MEANS_LOSS_TYPE "name of the loss"
#define HOPPER_MEANS_ITERATIONS "finished ones, counted over warm starts"
#define HOPPER_MEANS_ERROR "why it failed"

/*
 * The columns for CREATE TABLE: "mst_key integer, part integer". `names` and `types` (SQL) are
 * those that the list leaves to the data, in its order.
 */
extern char *hopper_layout_columns(const hopper_layout *layout, const char *const *names,
								   const char *const *types);
/*
 * Where it is in a table, which an earlier version may have made; NULL: nowhere. What no version
 * left out has its own name, whether it is there or not.
 */
extern const char *hopper_column_there(Oid relation, const hopper_column *column);
/* The column as it is selected: quoted, or a NULL of type text. */
extern const char *hopper_column_selected(Oid relation, hopper_table_kind kind,
										  const char *column);
/*
 * What such a table, just made, says of its columns in psql; `names` as above, or NULL. `comment`
 * is its own.
 */
extern void hopper_comment_layout(const hopper_name *table, const hopper_layout *layout,
								const char *const *names, const char *comment);
/* Makes such a table without a key, and says so. */
extern void hopper_create_layout(const hopper_name *table, const hopper_layout *layout,
								 const char *comment);

typedef struct hopper_table
{
	hopper_name name;
	hopper_table_kind kind;
} hopper_table;

/* Whether it is a table with the columns of its kind, and their types. */
extern bool hopper_is_table(Oid relation, hopper_table_kind kind);
/* Whether it has not those of another kind, too. */
extern bool hopper_is_table_alone(Oid relation, hopper_table_kind kind);
/*
 * Before tables[0] and its companions, the others, are made. Where tables[0] is there already:
 * ERROR 42P07, or with `replace` true is returned, and hopper_drop_to_replace() or
 * hopper_exchange() has to follow once the new ones can be made; ERROR 42809, 42501 or 2BP01
 * where one of them is something else, or another role's, or something depends on it. Companions
 * that an earlier tables[0] has left are dropped at once, with a NOTICE; ERROR 55000 where they may
 * be those of a table that was renamed. Nobody else can make tables of these names until the
 * transaction ends.
 */
extern bool hopper_make_room(const hopper_table *tables, int n, bool replace);
/*
 * Names that nobody has and that are to each other as those of `tables`, for what will have these
 * later, or had them: in the schema of tables[0], `prefix` before a number. Fills `named`. They are
 * the caller's until the transaction ends.
 */
extern void hopper_name_elsewhere(const hopper_table *tables, int n, const char *prefix,
								  hopper_table *named);
/*
 * Names for tables in the making, "hopper_new<what>" before a number: messages call them by the
 * names of `tables`, until hopper_exchange_results() or the end of the statement.
 */
extern void hopper_name_new(const hopper_table *tables, int n, const char *what,
							hopper_table *named);
/* The names of `tables` for another tables[0]; ERROR 42622 where one is too long. */
extern void hopper_name_like(const hopper_name *name, const hopper_table *tables, int n,
							 hopper_table *named);
/*
 * Drops those that there are, after another session's statements that use them; *words (or NULL)
 * names them: "a", "b" and "c". Returns how many.
 */
extern int	hopper_drop_tables(const hopper_table *tables, int n, char **words);
/*
 * Drops tables before others of these names are made, in this transaction and memory context: the
 * new ones have the old ones' owners, rights and policies once hopper_grant_again() is called: when
 * they are filled, because policies may forbid that.
 */
typedef struct hopper_grants
{
	int			n;
	hopper_name *tables;
	hopper_rights **rights;		/* by table */
	List	   *publications;	/* that list some of them: names, as SQL has them */
	List	   *published;		/* by publication: what it lists of them, as SQL has it */
} hopper_grants;
extern hopper_grants *hopper_drop_to_replace(const hopper_table *tables, int n);
/* Of tables that are there, which nobody else uses from now on. */
extern hopper_grants *hopper_note_grants(const hopper_table *tables, int n);
/* NULL for none; tables that were not made again are left out. */
extern void hopper_grant_again(const hopper_grants *grants);
/*
 * A WARNING for each publication that has lost them to other tables of their names: who owns it has
 * to add these, and subscribers have to read them from the beginning.
 */
extern void hopper_tell_unpublished(const hopper_grants *grants);
/* ERROR 42809 or 42501 where what has the name is something else, or another role's. */
extern void hopper_require_replaceable(const hopper_table *table);
/* ERROR 42P07 where something has the name, with a hint what to do with a table of ours. */
extern void hopper_require_new(const hopper_table *table);
/* With its primary key's index, after another session's statements that use it. */
extern void hopper_rename_table(const hopper_name *table, const hopper_name *new_name);
/*
 * Several tables are locked in one order, whoever needs them for whatever, so that no two sessions
 * wait for each other: those that go together as they are listed (hopper_outputs_tables() and
 * hopper_search_tables(), hopper_packed_tables(), a model selection table before its summary), and
 * several such groups by their first tables' names. A companion that is not there, and a table
 * that is not the caller's to lock, are left out: who needs it finds that out when it is used. What
 * other sessions have committed until then is seen from now on.
 */
typedef struct hopper_table_group
{
	const hopper_table *tables;
	int			n;
	bool		alone;			/* nobody else may use them; else: to read them */
	bool		optional;		/* left out where tables[0] is not there; else: ERROR 42P01 */
} hopper_table_group;
/*
 * Groups that are read are opened so: ERROR 42501 where one of the others is not what tables[0] is
 * taken for (hopper_require_harmless()).
 */
extern void hopper_lock_tables(const hopper_table_group *groups, int n);
/* Opens one group to read it: for all that is read through a table which the caller names. */
extern void hopper_open_to_read(const hopper_table *tables, int n);
/* The refusal alone, of tables that are locked; `written`: of tables[0] itself, too. */
extern void hopper_require_harmless_tables(const hopper_table *tables, int n, bool written);

/* --- new tables in the place of old ones (server/exchange.c) --- */

/*
 * Gives others[i], where it is there, the name of tables[i] in the same schema, and its owner,
 * rights and policies (server/rights.h) beside those that others[i] has; tables[i] is dropped where
 * it is there. The names of all of them begin with that of tables[0].
 */
extern void hopper_exchange(const hopper_table *tables, const hopper_table *others, int n);
/*
 * Exchanges at the end of long work, for others[i] that were made for it: others have no rights on
 * them but those that they have on tables[i]. It waits for locks as long as it takes, and fails
 * only where the statement ends. Old tables that cannot be dropped get other names; false: the new
 * ones keep theirs, and their rights. A WARNING says so. With true they may be somebody else's now,
 * and have policies: what is to be in them has to be there before.
 */
extern bool hopper_exchange_results(const hopper_table *tables, const hopper_table *others, int n);
/*
 * Tables of a call in the making: where others of their names are to be replaced, under names of
 * their own until they are filled.
 */
#define HOPPER_MOST_TABLES 7
typedef struct hopper_making
{
	int			n;
	bool		replaces;
	hopper_table tables[HOPPER_MOST_TABLES];	/* as they will be called */
	hopper_table made[HOPPER_MOST_TABLES];	/* as they are called until then */
} hopper_making;

/* hopper_make_room() for making->tables, and names for making->made, as hopper_name_new(). */
extern void hopper_making_begin(hopper_making *making, bool replace, const char *what);
/* Finds out whether others can be replaced, where they are to be, and takes it back. */
extern void hopper_making_rehearse(const hopper_making *making);
/* hopper_exchange_results(), likewise; true where nothing is. */
extern bool hopper_making_end(const hopper_making *making);
/*
 * Publishes tables that were made under names of their own, where nothing may be at their places:
 * what is there by now stays, with a WARNING and false, unless it is to be replaced.
 */
extern bool hopper_publish(const hopper_making *making, bool replace);

/* Whether somebody has event triggers, which may change new tables. SPI must be connected. */
extern bool hopper_event_triggers_exist(void);

#endif							/* HOPPER_SERVER_TABLES_H */
