/*
 * manage.c
 *		Models as things: drop_model(), rename_model(), copy_model(), keep_best(), grant_model() and
 *		revoke_model(). A model, here, is an output of training: its four tables, and what a search
 *		left beside them.
 */
#include "pg/train/outputs.h"

#include "pg/server/ceilings.h"
#include "pg/train/store.h"

typedef struct model_tables
{
	hopper_outputs outputs;
	hopper_table tables[HOPPER_MODEL_TABLES];
	int			n;				/* hopper_model_tables() */
} model_tables;

static void
name_tables(const hopper_name *name, model_tables *model)
{
	model->outputs = hopper_outputs_named(name);
	hopper_outputs_tables(&model->outputs, model->tables);
	model->n = HOPPER_OUTPUT_TABLES;
}

static void
add_search_tables(model_tables *model, bool mine)
{
	model->n = hopper_model_tables(&model->outputs, mine, model->tables);
}

static bool
has_kind(const model_tables *model, hopper_table_kind kind)
{
	for (int i = 0; i < model->n; i++)
		if (model->tables[i].kind == kind)
			return true;
	return false;
}

/*
 * Names for the tables of `from` whose first is `name`, then those of a search that are there and
 * that `from` has none for: they go with what is replaced.
 */
static void
name_like(const hopper_name *name, const model_tables *from, model_tables *model)
{
	hopper_table there[HOPPER_MODEL_TABLES];
	int			n;

	name_tables(name, model);
	n = hopper_model_tables(&model->outputs, true, there);
	hopper_name_like(name, from->tables, from->n, model->tables);
	/* Its own four, also where those of `from` are beside tables in MADlib's shape. */
	hopper_outputs_tables(&model->outputs, model->tables);
	model->n = from->n;
	for (int i = HOPPER_OUTPUT_TABLES; i < n; i++)
		if (!has_kind(model, there[i].kind))
			model->tables[model->n++] = there[i];
}

/* ERROR 42809 where one of the tables that is there is none of training. */
static void
require_models(const model_tables *model)
{
	for (int i = 0; i < HOPPER_OUTPUT_TABLES; i++)
	{
		const hopper_table *table = &model->tables[i];
		Oid			relation = hopper_relation_oid(&table->name, true);

		/* What another session has just dropped is looked up again when the others are locked. */
		if (!OidIsValid(relation) || hopper_is_table(relation, table->kind) ||
			hopper_is_gone(relation))
			continue;
		hopper_raise(ERRCODE_WRONG_OBJECT_TYPE,
					 errmsg("\"%s\" is not a table that training made", table->name.shown),
					 i == 0 && hopper_is_table(relation, HOPPER_TABLE_PACKED)
					 ? errhint("It holds packed data, which hopper.drop_packed() drops.")
					 : errhint("Give the table that hopper.fit_multiple_model() or hopper.fit() "
							   "made."));
	}
}

/* The first argument's tables; as require_models(). */
static void
model_argument(FunctionCallInfo fcinfo, model_tables *model)
{
	hopper_name name = hopper_name_argument(fcinfo, 0, "model_table");

	name_tables(&name, model);
	require_models(model);
}

static void
require_owner(const model_tables *model)
{
	for (int i = 0; i < HOPPER_OUTPUT_TABLES; i++)
	{
		Oid			relation = hopper_relation_oid(&model->tables[i].name, true);

		if (OidIsValid(relation) && !hopper_is_owner(relation))
			aclcheck_error(ACLCHECK_NOT_OWNER, HOPPER_OBJECT_TABLE,
						   model->tables[i].name.shown);
	}
}

/*
 * The tables of a model, and those at its new name, where there are any to replace, which others
 * may give each other's names or copy over each other at the same time.
 */
static void
lock_both(const model_tables *model, bool alone, const hopper_name *name, bool replace)
{
	hopper_table here[HOPPER_MODEL_TABLES];
	hopper_outputs other = hopper_outputs_named(name);
	hopper_table there[HOPPER_MODEL_TABLES];
	hopper_table_group groups[] = {
		{.tables = here,.n = hopper_model_tables(&model->outputs, alone, here),.alone = alone},
		{.tables = there,.n = hopper_model_tables(&other, true, there),.alone = true,
		.optional = true},
	};

	hopper_require_other_table(name, "new_name", &model->outputs.model, "model_table");
	if (!replace)
		hopper_require_new(&there[0]);
	for (int i = 0; replace && i < groups[1].n; i++)
		hopper_require_replaceable(&there[i]);
	hopper_lock_tables(groups, lengthof(groups));
}

/* Of which `model` is to have the tables; their owner is the caller's role. */
static void
droppable_argument(FunctionCallInfo fcinfo, model_tables *model)
{
	hopper_name name = hopper_name_argument(fcinfo, 0, "model_table");

	hopper_outputs_take_back(&name);
	model_argument(fcinfo, model);
	require_owner(model);
	add_search_tables(model, true);
}

/* drop_model(model_table) -> number of tables */
HOPPER_SPI_FUNCTION(hopper_sql_drop_model)
{
	model_tables model;
	char	   *words;
	int			n;

	droppable_argument(fcinfo, &model);
	n = hopper_drop_tables(model.tables, model.n, &words);
	if (n > 0)
		ereport(NOTICE, errmsg("dropped %s", words));
	else
		ereport(NOTICE,
				errmsg("there is no model \"%s\", nothing was dropped", model.outputs.model.shown));
	PG_RETURN_INT32(n);
}

/* rename_model(model_table, new_name, replace) */
HOPPER_SPI_FUNCTION(hopper_sql_rename_model)
{
	model_tables model;
	model_tables renamed;
	hopper_name name;
	bool		replace = !PG_ARGISNULL(2) && PG_GETARG_BOOL(2);

	name = hopper_name_argument(fcinfo, 0, "model_table");
	hopper_outputs_take_back(&name);
	model_argument(fcinfo, &model);
	(void) hopper_relation_oid(&model.outputs.model, false);
	require_owner(&model);
	name = hopper_name_argument(fcinfo, 1, "new_name");
	if (name.qualified && strcmp(name.schema, model.outputs.model.schema) != 0)
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("rename_model() does not move a model to another schema"),
					 errhint("Copy it with hopper.copy_model(), and drop it."));
	/* Without a schema it is a name beside the old one, wherever the search_path leads. */
	name.schema = model.outputs.model.schema;
	name.quoted = psprintf("%s.%s", hopper_identifier(name.schema), hopper_identifier(name.name));
	hopper_outputs_take_back(&name);
	lock_both(&model, true, &name, replace);
	/* As they are now that nobody else can change them. */
	(void) hopper_relation_oid(&model.outputs.model, false);
	require_models(&model);
	require_owner(&model);
	add_search_tables(&model, true);
	name_like(&name, &model, &renamed);
	(void) hopper_make_room(renamed.tables, renamed.n, replace);
	(void) hopper_drop_tables(renamed.tables + model.n, renamed.n - model.n, NULL);
	/* Before it has the owner and the policies of what it replaces. */
	if (OidIsValid(hopper_relation_oid(&model.outputs.summary, true)))
	{
		hopper_require_harmless(&model.outputs.summary, &model.outputs.model, true);
		hopper_outputs_update_names(&model.outputs, &renamed.outputs);
	}
	hopper_exchange(renamed.tables, model.tables, model.n);
	PG_RETURN_VOID();
}

static void
require_readable(const model_tables *model)
{
	for (int i = 0; i < model->n; i++)
		hopper_require_select(hopper_relation_oid(&model->tables[i].name, false));
}

/* " WHERE mst_key = ANY ('{1,2}')" with the keys of argument `at`, which must be there; else "". */
static char *
keys_condition(FunctionCallInfo fcinfo, int at, const hopper_outputs *outputs)
{
	int			n;
	int32	   *keys = hopper_integers_argument(fcinfo, at, "mst_keys", 1, PG_INT32_MAX, &n);
	char	   *list;

	if (keys == NULL)
		return "";
	list = hopper_keys_literal(n, keys, sizeof(int32));
	/* The first in the list: there may be any number of them. */
	if (hopper_select("SELECT k FROM unnest(%s) WITH ORDINALITY AS u(k, i)"
					  " WHERE NOT EXISTS (SELECT 1 FROM %s m WHERE m.mst_key = u.k)"
					  " ORDER BY i LIMIT 1", list, outputs->model.quoted) > 0)
		hopper_wrong(errmsg("\"%s\" holds no model with mst_key %d", outputs->model.shown,
							hopper_key_cell(&outputs->model, 0, 1)));
	return psprintf(" WHERE mst_key OPERATOR(pg_catalog.=) ANY"
					" (SELECT pg_catalog.unnest(%s))", list);
}

/* --- copies --- */

typedef struct table_copy
{
	const hopper_table *from;
	const hopper_name *to;
	MemoryContext context;		/* of what follows */
	char	   *given;			/* names of columns that each new table gets, as an array */
} table_copy;

/*
 * Without what calls functions: conditions, defaults and indexes on expressions would be the other
 * owner's, and run with the rights of whoever writes the copy.
 */
static void
create_like(void *state)
{
	const table_copy *copy = state;

	hopper_exec("CREATE TABLE %s (LIKE %s INCLUDING STORAGE INCLUDING COMMENTS)"
				HOPPER_HEAP_STORAGE,
				copy->to->quoted, copy->from->name.quoted);
}

/* What an event trigger makes of a new table of this name. */
static void
find_given_columns(void *state)
{
	table_copy *copy = state;

	hopper_exec("CREATE TABLE %s ()" HOPPER_HEAP_STORAGE, copy->to->quoted);
	hopper_select_latest("SELECT coalesce(array_agg(attname::text), '{}')::text FROM pg_attribute"
						 " WHERE attrelid = %u AND attnum > 0 AND NOT attisdropped",
						 hopper_relation_oid(copy->to, false));
	copy->given = MemoryContextStrdup(copy->context, hopper_text_cell(NULL, 0, 1));
}

/* Makes the table where LIKE would take over columns that the event trigger then adds once more. */
static void
create_without_given(const table_copy *copy)
{
	uint64		n = hopper_select_latest("SELECT attname::text, format_type(atttypid, atttypmod),"
										 " attnotnull, attstorage = 'e' FROM pg_attribute"
										 " WHERE attrelid = %u AND attnum > 0"
										 " AND NOT attisdropped"
										 " AND attname::text <> ALL (%s::text[])"
										 " ORDER BY attnum",
										 hopper_relation_oid(&copy->from->name, false),
										 hopper_literal(copy->given));
	StringInfo	columns = makeStringInfo();
	StringInfo	storages = makeStringInfo();

	for (uint64 row = 0; row < n; row++)
	{
		char	   *name = hopper_identifier(hopper_cell(row, 1));

		appendStringInfo(columns, "%s%s %s%s", row ? ", " : "", name, hopper_cell(row, 2),
						 strcmp(hopper_cell(row, 3), "t") == 0 ? " NOT NULL" : "");
		if (strcmp(hopper_cell(row, 4), "t") == 0)
			appendStringInfo(storages, "%s ALTER COLUMN %s SET STORAGE EXTERNAL",
							 storages->len ? "," : "", name);
	}
	hopper_exec("CREATE TABLE %s (%s)" HOPPER_HEAP_STORAGE, copy->to->quoted, columns->data);
	if (storages->len > 0)
		hopper_exec("ALTER TABLE %s%s", copy->to->quoted, storages->data);
}

static void
create_copy(const hopper_table *from, const hopper_name *to)
{
	table_copy	copy = {from, to, CurrentMemoryContext};
	ErrorData  *error = hopper_attempt(create_like, &copy);

	if (error == NULL)
		return;
	if (error->sqlerrcode != ERRCODE_DUPLICATE_COLUMN)
		ReThrowError(error);
	hopper_rehearse(find_given_columns, &copy);
	create_without_given(&copy);
}

/* Columns of the one table that the other has, too, and takes values for: "a, b". */
static char *
columns_to_copy(const hopper_name *from, const hopper_name *to)
{
	return hopper_text(hopper_select_latest("SELECT string_agg(quote_ident(a.attname::text), ', '"
											" ORDER BY a.attnum) FROM pg_attribute a"
										 " JOIN (SELECT attname FROM pg_attribute"
										 "  WHERE attrelid = %u AND attnum > 0 AND NOT attisdropped"
										 "  AND NOT " HOPPER_TAKES_NO_VALUES ") t"
										 " ON t.attname = a.attname"
										 " WHERE a.attrelid = %u AND a.attnum > 0"
										 " AND NOT a.attisdropped",
										 hopper_relation_oid(to, false),
										 hopper_relation_oid(from, false)));
}

/* The server holds the weights of one model at a time, as a whole. */
static void
count_largest(const model_tables *model, const char *condition, hopper_share *share)
{
	const hopper_name *table = &model->outputs.model;

	hopper_take_memory(share, hopper_number(table, hopper_select(
		"SELECT coalesce(max(octet_length(model_weights)), 0)::int8 FROM %s%s", table->quoted,
		condition)));
}

static int64
count_models(const hopper_name *table)
{
	return hopper_number(table, hopper_select_latest("SELECT count(*) FROM %s", table->quoted));
}

/* copy_model(model_table, new_name, mst_keys, replace) -> number of models */
HOPPER_SPI_FUNCTION(hopper_sql_copy_model)
{
	model_tables model;
	model_tables copy;
	hopper_name name;
	hopper_best best;
	hopper_grants *grants;
	hopper_share *share;
	Snapshot	snapshot;
	char	   *condition;
	int64		n;
	bool		replace = !PG_ARGISNULL(3) && PG_GETARG_BOOL(3);

	model_argument(fcinfo, &model);
	(void) hopper_relation_oid(&model.outputs.model, false);
	name = hopper_name_argument(fcinfo, 1, "new_name");
	hopper_outputs_take_back(&name);
	lock_both(&model, false, &name, replace);
	/* As they are now that nobody else can change them. */
	require_models(&model);
	hopper_outputs_require_all(&model.outputs);
	add_search_tables(&model, false);
	require_readable(&model);
	hopper_require_harmless_tables(model.tables, model.n, false);
	condition = keys_condition(fcinfo, 2, &model.outputs);
	name_like(&name, &model, &copy);
	(void) hopper_make_room(copy.tables, copy.n, replace);
	/* What is changed at the end must not be of a type with conditions. */
	hopper_check_column(&model.outputs.summary, "model", TEXTOID);
	hopper_check_column(&model.outputs.summary, "model_info", TEXTOID);
	hopper_check_column(&model.outputs.summary, "best_mst_key", INT4OID);
	hopper_check_column(&model.outputs.summary, "best_metric", TEXTOID);
	hopper_check_column(&model.outputs.summary, "best_value", FLOAT8OID);
	hopper_check_column(&model.outputs.summary, "models_trained", INT4OID);
	grants = hopper_drop_to_replace(copy.tables, copy.n);
	share = hopper_share_new();
	count_largest(&model, condition, share);
	/* All tables as they were at one moment: a training may go on beside this. */
	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	for (int i = 0; i < model.n; i++)
	{
		const hopper_table *from = &model.tables[i];
		/* What a search did stays whole, whichever of its models are copied. */
		bool		whole = from->kind == HOPPER_TABLE_RUN || i >= HOPPER_OUTPUT_TABLES;

		const char *columns;
		char	   *comment;

		create_copy(from, &copy.tables[i].name);
		hopper_output_add_key(&copy.tables[i]);
		columns = columns_to_copy(&from->name, &copy.tables[i].name);
		hopper_change_at(snapshot, "INSERT INTO %s (%s) SELECT %s FROM %s%s",
						 copy.tables[i].name.quoted, columns, columns, from->name.quoted,
						 whole ? "" : condition);
		comment = hopper_text(hopper_select_latest(
			"SELECT description FROM pg_catalog.pg_description"
			" WHERE objoid OPERATOR(pg_catalog.=) %u::pg_catalog.oid"
			" AND classoid OPERATOR(pg_catalog.=) %u::pg_catalog.oid"
			" AND objsubid OPERATOR(pg_catalog.=) 0",
			hopper_relation_oid(&from->name, false), RelationRelationId));
		if (comment)
			hopper_comment_layout(&copy.tables[i].name, hopper_layout_of(from->kind), NULL,
								  comment);
	}
	UnregisterSnapshot(snapshot);
	hopper_share_release(share);
	hopper_outputs_update_names(&copy.outputs, &copy.outputs);
	best = hopper_outputs_best(&copy.outputs, NULL);
	n = count_models(&copy.outputs.model);
	hopper_change("UPDATE %s SET best_mst_key = %s, best_metric = %s, best_value = %s,"
				  " models_trained = %d", copy.outputs.summary.quoted,
				  best.metric ? psprintf("%d", best.mst_key) : "NULL",
				  hopper_literal(best.metric),
				  best.metric ? psprintf("'%.17g'", best.value) : "NULL", (int) n);
	hopper_grant_again(grants);
	PG_RETURN_INT64(n);
}

/* keep_best(model_table, n) -> number of models deleted */
HOPPER_SPI_FUNCTION(hopper_sql_keep_best)
{
	model_tables model;
	int32		n = hopper_positive_argument(fcinfo, 1, "n", 0);
	char	   *keys;
	int64		before;

	model_argument(fcinfo, &model);
	hopper_outputs_lock(&model.outputs);
	before = count_models(&model.outputs.model);
	if (before > 0 && hopper_outputs_best(&model.outputs, NULL).metric == NULL)
		hopper_wrong(errmsg("none of the models in \"%s\" is the best", model.outputs.model.shown),
					 errdetail("They have no metric in common."),
					 errhint("DELETE FROM %s WHERE mst_key ... deletes some of them.",
							 hopper_written_name(&model.outputs.model)));
	keys = hopper_text(hopper_select_latest(
		"SELECT coalesce(array_agg(mst_key)::text, '{}') FROM (%s) l",
		hopper_compared_query(&model.outputs.model, NULL, n, true)));
	hopper_change("DELETE FROM %s WHERE mst_key OPERATOR(pg_catalog.<>)"
				  " ALL (%s::pg_catalog.int4[])", model.outputs.model.quoted,
				  hopper_literal(keys));
	hopper_change("DELETE FROM %s WHERE mst_key OPERATOR(pg_catalog.<>)"
				  " ALL (%s::pg_catalog.int4[])", model.outputs.state.quoted,
				  hopper_literal(keys));
	before -= count_models(&model.outputs.model);
	ereport(NOTICE,
			errmsg("kept %s of \"%s\", deleted %s",
				   strcmp(keys, "{}") == 0 ? "no model"
				   : psprintf("%s %s", strchr(keys, ',') ? "configurations" : "configuration",
							  pnstrdup(keys + 1, strlen(keys) - 2)), model.outputs.model.shown,
				   hopper_plural(before, "model", "models")));
	PG_RETURN_INT64(before);
}

/* --- rights --- */

/* "TO role" or "FROM role" with the role quoted; "public" is everybody. */
static char *
role_argument(FunctionCallInfo fcinfo, int at)
{
	char	   *role;

	hopper_require_argument(fcinfo, at, "role");
	role = text_to_cstring(PG_GETARG_TEXT_PP(at));
	return pg_strcasecmp(role, "public") == 0 ? "PUBLIC" : hopper_identifier(role);
}

static bool
means_training(FunctionCallInfo fcinfo, int at)
{
	static const char *const words[] = {"predict", "train", NULL};

	return hopper_word_argument(fcinfo, at, "privilege", words,
								"Use 'predict' (predict, evaluate, leaderboard) or 'train' (go on"
								" training with warm_start, too).") == 1;
}

enum
{
	TO_PREDICT = 1,				/* reading all but the states */
	TO_TRAIN = 2				/* going on with them, and filling all tables anew */
};

/* `rights`: of those above */
static void
change_rights(const model_tables *model, const char *command, const char *preposition,
			  const char *role, int rights)
{
	for (int i = 0; i < model->n; i++)
	{
		const hopper_table *table = &model->tables[i];
		bool		state = table->kind == HOPPER_TABLE_STATES;

		if ((rights & TO_PREDICT) && !state)
			hopper_exec("%s SELECT ON TABLE %s %s %s", command, table->name.quoted, preposition,
						role);
		/* Training leaves a search's as they are. */
		if ((rights & TO_TRAIN) && i < HOPPER_OUTPUT_TABLES)
			hopper_exec("%s %sINSERT, DELETE ON TABLE %s %s %s", command,
						state ? "SELECT, " : "", table->name.quoted, preposition, role);
	}
}

/* grant_model(model_table, role, privilege) */
HOPPER_SPI_FUNCTION(hopper_sql_grant_model)
{
	model_tables model;
	char	   *role = role_argument(fcinfo, 1);
	bool		training = means_training(fcinfo, 2);
	Oid			id = InvalidOid;
	Oid			schema;

	model_argument(fcinfo, &model);
	hopper_outputs_open(&model.outputs);
	hopper_outputs_require_all(&model.outputs);
	if (strcmp(role, "PUBLIC") != 0)
		id = get_role_oid(text_to_cstring(PG_GETARG_TEXT_PP(1)), false);
	add_search_tables(&model, false);
	change_rights(&model, "GRANT", "TO", role, training ? TO_PREDICT | TO_TRAIN : TO_PREDICT);
	schema = get_rel_namespace(hopper_relation_oid(&model.outputs.model, false));
	if (OidIsValid(id) && hopper_schema_aclcheck(schema, id, ACL_USAGE) != ACLCHECK_OK)
		ereport(NOTICE,
				errmsg("role %s cannot use schema \"%s\" yet", role, get_namespace_name(schema)),
				errhint("GRANT USAGE ON SCHEMA %s TO %s;",
						hopper_identifier(get_namespace_name(schema)), role));
	PG_RETURN_VOID();
}

/* revoke_model(model_table, role, privilege): who cannot predict cannot train either */
HOPPER_SPI_FUNCTION(hopper_sql_revoke_model)
{
	model_tables model;
	char	   *role = role_argument(fcinfo, 1);
	bool		training = means_training(fcinfo, 2);

	model_argument(fcinfo, &model);
	hopper_outputs_open(&model.outputs);
	hopper_outputs_require_all(&model.outputs);
	add_search_tables(&model, false);
	change_rights(&model, "REVOKE", "FROM", role, training ? TO_TRAIN : TO_PREDICT | TO_TRAIN);
	PG_RETURN_VOID();
}
