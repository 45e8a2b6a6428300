/*
 * made.h
 *		Tables that the functions make: knowing them again, making room for new ones, dropping them.
 */
#ifndef HOPPER_MADE_H
#define HOPPER_MADE_H

#include "pg/server/rights.h"

typedef enum hopper_made_kind
{
	HOPPER_MADE_MODELS,
	HOPPER_MADE_STATES,
	HOPPER_MADE_INFOS,
	HOPPER_MADE_RUN,			/* <out>_summary of training */
	HOPPER_MADE_TRIALS,			/* of a search */
	HOPPER_MADE_DECISIONS,
	HOPPER_MADE_RUNGS,
	HOPPER_MADE_PACKED,
	HOPPER_MADE_PACKED_SUMMARY,
	HOPPER_MADE_PREDICTIONS,
	HOPPER_MADE_EVALUATION,
	HOPPER_MADE_CONFUSION,
	HOPPER_MADE_CONFIGS,
	HOPPER_MADE_CONFIGS_SUMMARY
} hopper_made_kind;

typedef struct hopper_made
{
	hopper_name name;
	hopper_made_kind kind;
} hopper_made;

/* Whether it is a table with the columns of its kind. */
extern bool hopper_is_made(Oid relation, hopper_made_kind kind);
/* Whether it was dropped since it was looked up, before it was locked. */
extern bool hopper_is_gone(Oid relation);
/* Whether it has not those of another kind, too. */
extern bool hopper_is_made_alone(Oid relation, hopper_made_kind kind);
/* "a table of trained models", and the names of its columns up to a NULL. */
extern const char *hopper_made_what(hopper_made_kind kind);
extern const char *const *hopper_made_columns(hopper_made_kind kind);
/* The comment on the column of a table of predictions that holds what a layer gives. */
#define HOPPER_LAYER_COMMENT "what this layer gives"
/*
 * What such a table calls a column of today's: earlier versions called some otherwise, and made
 * tables without others, for which NULL is returned. A column that no version left out has its own
 * name, whether it is there or not.
 */
extern const char *hopper_column_there(Oid relation, const char *column);
/* The same to be selected: quoted, or a NULL of type text. */
extern const char *hopper_column_selected(Oid relation, const char *column);
/* Whether its value, where it is not NULL, must not be left out of a table without the column. */
extern bool hopper_column_needed(const char *column);

/*
 * Before tables[0] and its companions, the others, are made. Where tables[0] is there already:
 * ERROR 42P07, or with `replace` true is returned, and hopper_drop_to_replace() or
 * hopper_exchange() has to follow once the new ones can be made; ERROR 42809, 42501 or 2BP01
 * where one of them is something else, or another role's, or something depends on it. Companions
 * that an earlier tables[0] has left are dropped at once, with a NOTICE; ERROR 55000 where they may
 * be those of a table that was renamed. Nobody else can make tables of these names until the
 * transaction ends.
 */
extern bool hopper_make_room(const hopper_made *tables, int n, bool replace);
/*
 * Names that nobody has and that are to each other as those of `tables`, for what will have these
 * later, or had them: in the schema of tables[0], `prefix` before a number. Fills `named`.
 */
extern void hopper_name_elsewhere(const hopper_made *tables, int n, const char *prefix,
								  hopper_made *named);
/*
 * The same for tables in the making, "hopper_new<what>" before a number: messages call them by the
 * names of `tables`, until hopper_exchange_results() or the end of the statement.
 */
extern void hopper_name_new(const hopper_made *tables, int n, const char *what, hopper_made *named);
/* The names of `tables` for another tables[0]; ERROR 42622 where one is too long. */
extern void hopper_name_like(const hopper_name *name, const hopper_made *tables, int n,
							 hopper_made *named);
/*
 * Drops those that there are, after another session's statements that use them; *words (or NULL)
 * names them: "a", "b" and "c". Returns how many.
 */
extern int	hopper_drop_made(const hopper_made *tables, int n, char **words);
/*
 * The same before tables of these names are made again, in this transaction and memory context: the
 * new ones have the old ones' owners, rights and policies once hopper_grant_again() is called: when
 * they are filled, because policies may forbid that.
 */
typedef struct hopper_grants
{
	int			n;
	hopper_name *tables;
	hopper_rights **rights;		/* by table */
} hopper_grants;
extern hopper_grants *hopper_drop_to_replace(const hopper_made *tables, int n);
/* NULL for none; tables that were not made again are left out. */
extern void hopper_grant_again(const hopper_grants *grants);
/* ERROR 42809 or 42501 where what has the name is something else, or another role's. */
extern void hopper_require_replaceable(const hopper_made *table);
/* With its primary key's index, after another session's statements that use it. */
extern void hopper_rename_made(const hopper_name *table, const hopper_name *new_name);
/*
 * Several tables are locked in one order, whoever needs them for whatever, so that no two sessions
 * wait for each other: those that go together as they are listed (hopper_outputs_tables() and
 * hopper_search_tables(), hopper_packed_tables(), a model selection table before its summary), and
 * several such groups by their first tables' names. What is not there, or not the caller's to lock,
 * is left out: who needs it finds that out when it is used.
 */
typedef struct hopper_made_group
{
	const hopper_made *tables;
	int			n;
	bool		alone;			/* nobody else may use them; else: to read them */
} hopper_made_group;
extern void hopper_lock_made(const hopper_made_group *groups, int n);
/* The same to read one group. */
extern void hopper_lock_to_read(const hopper_made *tables, int n);
/* The function that drops such tables, or NULL. */
extern const char *hopper_made_drop(hopper_made_kind kind);

/* --- new tables in the place of old ones (server/exchange.c) --- */

/*
 * Gives others[i], where it is there, the name of tables[i] in the same schema, and its owner,
 * rights and policies (server/rights.h) beside those that others[i] has; tables[i] is dropped where
 * it is there. The names of all of them begin with that of tables[0].
 */
extern void hopper_exchange(const hopper_made *tables, const hopper_made *others, int n);
/* Finds out whether it can be done, and takes it back. */
extern void hopper_exchange_rehearse(const hopper_made *tables, const hopper_made *others, int n);
/*
 * The same at the end of long work, for others[i] that were made for it: others have no rights on
 * them but those that they have on tables[i]. It waits for locks as long as it takes, and fails
 * only where the statement ends. Old tables that cannot be dropped get other names; false: the new
 * ones keep theirs, and their rights. A WARNING says so. With true they may be somebody else's now,
 * and have policies: what is to be in them has to be there before.
 */
extern bool hopper_exchange_results(const hopper_made *tables, const hopper_made *others, int n);

#endif							/* HOPPER_MADE_H */
