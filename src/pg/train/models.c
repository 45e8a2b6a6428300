/*
 * models.c
 *		models(): what has been trained, as far as the caller may read it.
 */
#include "pg/train/outputs.h"

#include "storage/lmgr.h"
#include "utils/tuplestore.h"

/*
 * Plain tables with the columns that training gives them, in types of the server: nothing of
 * another role's runs when they are read. First the pairs of names, by an index: each table is
 * looked at once, however many there are.
 */
#define HAS_COLUMNS(relation, n, columns) \
	" AND " #n " = (SELECT count(*) FROM pg_attribute a WHERE a.attrelid = " relation \
	" AND a.attnum > 0 AND NOT a.attisdropped AND (a.attname::text, a.atttypid::oid) IN (" \
	columns "))"
#define LISTED_TABLES \
	"SELECT n.nspname::text, t.relname::text, t.model::int8, t.summary::int8, n.oid::int8," \
	" t.relowner::int8, pg_get_userbyid(t.relowner)::text, t.companion " \
	"FROM (SELECT c.relname, c.relnamespace, c.relowner, c.oid AS model, s.oid AS summary," \
	"   s.relname::text AS companion" \
	"  FROM pg_class c JOIN pg_class s ON s.relnamespace = c.relnamespace" \
	"   AND s.relname = ANY (ARRAY[(c.relname::text || '_summary')::name," \
	"    (c.relname::text || '_run')::name])" \
	"  WHERE c.relkind = 'r' AND s.relkind = 'r' AND s.relowner = c.relowner" \
	"   AND s.relname::text IN (c.relname::text || '_summary', c.relname::text || '_run')" \
	"  OFFSET 0) t" \
	" JOIN pg_namespace n ON n.oid = t.relnamespace " \
	"WHERE has_schema_privilege(n.oid, 'USAGE')" \
	" AND has_table_privilege(t.model, 'SELECT') AND has_table_privilege(t.summary, 'SELECT')" \
	" AND has_schema_privilege(t.relowner, n.oid, 'USAGE')" \
	" AND has_table_privilege(t.relowner, t.model, 'SELECT')" \
	" AND has_table_privilege(t.relowner, t.summary, 'SELECT')" \
	HAS_COLUMNS("t.model", 3, "('mst_key', 'int4'::regtype::oid), ('model_weights'," \
				" 'bytea'::regtype::oid), ('model_arch', 'json'::regtype::oid)") \
	HAS_COLUMNS("t.summary", 10, "('model_info', 'text'::regtype::oid), ('source_table'," \
				" 'text'::regtype::oid), ('validation_table', 'text'::regtype::oid)," \
				" ('end_training_time', 'timestamptz'::regtype::oid), ('best_mst_key'," \
				" 'int4'::regtype::oid), ('best_metric', 'text'::regtype::oid)," \
				" ('best_value', 'float8'::regtype::oid), ('name', 'text'::regtype::oid)," \
				" ('description', 'text'::regtype::oid), ('seconds'," \
				" 'float8'::regtype::oid)") \
	" ORDER BY 1, 2"

/* A model of the list. */
typedef struct listed_model
{
	char	   *schema;
	char	   *name;
	char	   *summary;
	char	   *role;
	Oid			relations[2];	/* itself and its summary */
	Oid			namespace;
	Oid			owner;
	bool		busy;			/* another session has locked it */
	Tuplestorestate *store;		/* gets its row */
	TupleDesc	descriptor;
} listed_model;

/* A column of the summary `s` that is of the best model; NULL where that was deleted since. */
static const char *
where_there(const char *column, const char *schema, const char *name)
{
	return psprintf("CASE WHEN s.best_mst_key IN (SELECT mst_key FROM ONLY %s.%s) THEN s.%s END",
					hopper_identifier(schema), hopper_identifier(name), column);
}

/* Whether it still has this name and is a table. */
static bool
is_still(Oid relation, Oid schema, const char *name)
{
	return get_relname_relid(name, schema) == relation &&
		get_rel_relkind(relation) == RELKIND_RELATION;
}

/* false where another session holds one of them */
static bool
lock_pair(const Oid relations[2])
{
	return ConditionalLockRelationOid(relations[0], AccessShareLock) &&
		ConditionalLockRelationOid(relations[1], AccessShareLock);
}

/* Whether reading it runs somebody's functions, who may let it fail or never end. */
static bool
runs_functions(Oid relation, Oid owner)
{
	return hopper_hides_rows(relation) ||
		(owner != GetUserId() && hopper_reading_runs(relation));
}

/*
 * The bytes of a model's tables as text, or "NULL" where another session holds one of them: nobody
 * waits for what another role may hold for ever.
 */
static const char *
bytes_of_tables(Oid schema, const char *name)
{
	static const char *const suffixes[] = {"", "_info", "_summary", "_state", "_trials", "_rungs",
	"_decisions", "_metrics", "_run"};
	Oid			locked[lengthof(suffixes)];
	int			n = 0;
	bool		all = true;
	StringInfo	list = makeStringInfo();
	const char *bytes = NULL;

	for (int i = 0; i < lengthof(suffixes) && all; i++)
	{
		Oid			relation = get_relname_relid(psprintf("%s%s", name, suffixes[i]), schema);

		if (!OidIsValid(relation))
			continue;
		all = ConditionalLockRelationOid(relation, AccessShareLock);
		if (all)
		{
			appendStringInfo(list, "%s%u", n ? "," : "", relation);
			locked[n++] = relation;
		}
	}
	if (all)
	{
		hopper_select("SELECT sum(pg_total_relation_size(p))::int8 FROM unnest('{%s}'::oid[]) p",
					  list->data);
		bytes = hopper_cell(0, 1);
	}
	while (n > 0)
		UnlockRelationOid(locked[--n], AccessShareLock);
	return bytes ? bytes : "NULL";
}

static char *
model_query(const listed_model *model)
{
	const char *schema = model->schema;
	const char *name = model->name;

	return psprintf("SELECT %s::text, %s::text, end_training_time, source_table,"
					" validation_table, (SELECT count(*) FROM ONLY %s.%s),"
					" %s, %s, %s, %s::int8, %s::text, s.name, s.description, s.seconds"
					" FROM ONLY %s.%s s LIMIT 1",
					hopper_literal(schema), hopper_literal(name), hopper_identifier(schema),
					hopper_identifier(name), where_there("best_mst_key", schema, name),
					where_there("best_metric", schema, name),
					where_there("best_value", schema, name),
					bytes_of_tables(model->namespace, name), hopper_literal(model->role),
					hopper_identifier(schema), hopper_identifier(model->summary));
}

/* In a subtransaction, with which its locks end. */
static void
list_model(void *state)
{
	listed_model *model = state;

	if (!lock_pair(model->relations))
	{
		model->busy = true;
		return;
	}
	if (!is_still(model->relations[0], model->namespace, model->name) ||
		!is_still(model->relations[1], model->namespace, model->summary) ||
		runs_functions(model->relations[0], model->owner) ||
		runs_functions(model->relations[1], model->owner))
		return;
	(void) hopper_select_as(model->owner, model_query(model));
	hopper_put_selected(model->store, model->descriptor);
}

/* What is wrong with one model does not keep the others from being listed. */
static void
tell_left_out(const listed_model *model, ErrorData *error)
{
	int			category = error ? ERRCODE_TO_CATEGORY(error->sqlerrcode) : 0;

	if (category == ERRCODE_OPERATOR_INTERVENTION ||
		category == ERRCODE_INSUFFICIENT_RESOURCES)
		ReThrowError(error);
	if (error)
		ereport(WARNING, errmsg("model \"%s.%s\" is left out: %s", model->schema, model->name,
								error->message));
	else if (model->busy)
		ereport(NOTICE, errmsg("model \"%s.%s\" is left out: another session has locked it",
							   model->schema, model->name));
}

/* models() */
HOPPER_SPI_FUNCTION(hopper_sql_models)
{
	listed_model model = {0};
	MemoryContext context;
	SPITupleTable *listed;
	uint64		n;
	int			level;

	model.store = hopper_begin_result(fcinfo, &model.descriptor);
	level = hopper_without_jit();
	n = hopper_select(LISTED_TABLES);
	listed = SPI_tuptable;
	context = AllocSetContextCreate(CurrentMemoryContext, "hopper model",
									ALLOCSET_DEFAULT_SIZES);
	/* A query for each table: one for all would open as many connections to each segment. */
	for (uint64 row = 0; row < n; row++)
	{
		MemoryContext caller = MemoryContextSwitchTo(context);

		CHECK_FOR_INTERRUPTS();
		SPI_tuptable = listed;
		SPI_processed = n;
		model.schema = hopper_text_cell(NULL, row, 1);
		model.name = hopper_text_cell(NULL, row, 2);
		model.summary = hopper_text_cell(NULL, row, 8);
		model.relations[0] = (Oid) hopper_int_cell(NULL, row, 3, 0, PG_UINT32_MAX);
		model.relations[1] = (Oid) hopper_int_cell(NULL, row, 4, 0, PG_UINT32_MAX);
		model.namespace = (Oid) hopper_int_cell(NULL, row, 5, 0, PG_UINT32_MAX);
		model.owner = (Oid) hopper_int_cell(NULL, row, 6, 0, PG_UINT32_MAX);
		model.role = hopper_text_cell(NULL, row, 7);
		model.busy = false;
		tell_left_out(&model, hopper_look(list_model, &model));
		MemoryContextSwitchTo(caller);
		MemoryContextReset(context);
	}
	AtEOXact_GUC(false, level);
	return (Datum) 0;
}
