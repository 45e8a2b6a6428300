/*
 * models.c
 *		load_model(), delete_model() and describe_model().
 */
#include "pg/catalog/models.h"

#include <ctype.h>

#include "storage/lmgr.h"

#include "pg/codec/packed.h"
#include "pg/server/tables.h"

/* With room for the other columns. */
#define MAX_ROW_TEXT (MaxAllocSize - 64 * 1024)

int32
hopper_model_id_argument(FunctionCallInfo fcinfo, int at)
{
	int			n;

	hopper_require_argument(fcinfo, at, "model_id");
	return *hopper_integers_argument(fcinfo, at, "model_id", 1, 1, &n);
}

int32 *
hopper_model_ids_argument(FunctionCallInfo fcinfo, int least, int *n)
{
	int			at = hopper_argument(fcinfo, "model_id_list");

	hopper_require_argument(fcinfo, at, "model_id_list");
	return hopper_integers_argument(fcinfo, at, "model_id_list", least, PG_INT32_MAX, n);
}

/* The architecture's text in UTF-8. */
static char *
required_architecture(FunctionCallInfo fcinfo, int index)
{
	if (PG_ARGISNULL(index))
		hopper_raise(ERRCODE_NULL_VALUE_NOT_ALLOWED,
					 errmsg("argument \"model_arch\" must not be null"),
					 errhint("Use hopper.mlp() or the output of model.to_json()."));
	return hopper_to_utf8(text_to_cstring(PG_GETARG_TEXT_PP(index)));
}

/* A name for a new model lands in model_weights where its argument is not named. */
static void
refuse_name_as_weights(bytea *weights)
{
	const char *bytes = VARDATA_ANY(weights);
	int			n = (int) Min(VARSIZE_ANY_EXHDR(weights), NAMEDATALEN);

	for (int i = 0; i < n; i++)
		if (!isalnum((unsigned char) bytes[i]) && memchr("_- .", bytes[i], 4) == NULL)
			return;
	if (n == 0 || n == NAMEDATALEN)
		return;
	hopper_wrong(errmsg("model_weights are the text \"%.*s\"", n, bytes),
				 errhint("The third argument is model_weights. To name the model, write name := "
						 "'%.*s'.", n, bytes));
}

/* Whether a text begins as a JSON object does. */
static bool
is_object(const char *written)
{
	return written[strspn(written, " \t\r\n")] == '{';
}

Oid
hopper_require_model_table(const hopper_name *table)
{
	static const char *const columns[] = {"model_id", "model_arch", "model_weights", "name",
	"description"};

	return hopper_require_columns_of(table, "a table of model architectures", lengthof(columns),
									 columns, "Name a table that hopper.load_model() made, or a "
									 "new one for it to make.");
}

/*
 * What the architecture says of itself. False where its input's shape is the data's to say, which
 * `error` then words; ERROR where the architecture is wrong.
 */
static bool
inspect(const char *arch, size_t size, hopper_model_info *info, hopper_error *error)
{
	if (hopper_core()->inspect_model(arch, size, info, error) == 0)
		return true;
	if (error->code != HOPPER_NOT_READY)
		hopper_throw(error);
	return false;
}

bool
hopper_find_model(const hopper_name *table, int32 model_id, hopper_model *model)
{
	bool		is_null;
	Datum		weights;
	char	   *arch;

	if (hopper_select("SELECT model_arch::pg_catalog.text, model_weights, name::pg_catalog.text"
					  " FROM %s WHERE model_id OPERATOR(pg_catalog.=) %d",
					  table->quoted, model_id) == 0)
		return false;
	memset(model, 0, sizeof(*model));
	model->model_id = model_id;
	arch = hopper_cell(0, 1);
	model->arch = arch ? hopper_to_utf8(arch) : pstrdup("");
	model->arch_size = strlen(model->arch);
	weights = hopper_value(0, 2, BYTEAOID, &is_null);
	if (!is_null)
		hopper_floats_of(weights, false, &model->weights);
	model->name = hopper_cell(0, 3);
	SPI_freetuptable(SPI_tuptable);
	return true;
}

void
hopper_no_such_model(const hopper_name *table, int32 model_id)
{
	char	   *known = NULL;
	uint64		n_models = hopper_select("SELECT model_id::pg_catalog.text FROM %s"
										 " ORDER BY model_id LIMIT 21", table->quoted);
	uint64		row;

	for (row = 0; row < n_models; row++)
	{
		if (row == 20)
			known = psprintf("%s, ...", known);
		else
			known = known ? psprintf("%s, %s", known, hopper_cell(row, 1)) : hopper_cell(row, 1);
	}
	hopper_raise(ERRCODE_UNDEFINED_OBJECT,
				 errmsg("model %d does not exist in \"%s\"", model_id, table->shown),
				 known ? errhint("The table holds: %s.", known)
				 : errhint("The table is empty; add models with hopper.load_model()."));
	pg_unreachable();
}

void
hopper_read_model(const hopper_name *table, int32 model_id, hopper_model *model)
{
	if (!hopper_find_model(table, model_id, model))
		hopper_no_such_model(table, model_id);
}

bool
hopper_find_named_model(const hopper_name *table, const char *name, int32 *model_id)
{
	hopper_select("SELECT model_id FROM %s"
				  " WHERE name OPERATOR(pg_catalog.=) %s ORDER BY model_id LIMIT 2",
				  table->quoted, hopper_literal(name));
	if (SPI_processed == 0)
		return false;
	if (SPI_processed > 1)
		hopper_wrong(errmsg("several models in \"%s\" are named \"%s\"", table->shown, name),
					 errdetail("Two of them are %s and %s.", hopper_cell(0, 1), hopper_cell(1, 1)),
					 errhint("Give the model_id, or delete all but one of them: replace := true "
							 "then takes its place."));
	*model_id = hopper_key_cell(table, 0, 1);
	SPI_freetuptable(SPI_tuptable);
	return true;
}

/* A row that pg_dump cannot write would spoil every backup of the database. */
static void
require_dumpable(FunctionCallInfo fcinfo, const char *arch)
{
	int64		weights = 0;

	if (!PG_ARGISNULL(2))
		weights = (int64) toast_raw_datum_size(PG_GETARG_DATUM(2));
	/* As text: two digits a byte of weights; the architecture may need escapes. */
	if (2 * weights + 2 * (int64) strlen(arch) > MAX_ROW_TEXT)
		hopper_raise(ERRCODE_PROGRAM_LIMIT_EXCEEDED,
					 errmsg("architecture and weights of %s are more than can be stored",
							hopper_bytes_words(weights + (int64) strlen(arch))),
					 errdetail("Written as text, as pg_dump does, the row of a model must stay "
							   "below 1 GB."));
}

/* Users make such tables, too. */
static const hopper_column architectures_columns[] = {
	{"model_id", InvalidOid, HOPPER_MEANS_MODEL_ID, "PRIMARY KEY"},
	{"model_arch", JSONOID, HOPPER_MEANS_MODEL_ARCH, "NOT NULL"},
	{"model_weights", BYTEAOID, HOPPER_MEANS_WEIGHTS},
	{"name", TEXTOID, HOPPER_MEANS_GIVEN},
	{"description", TEXTOID, HOPPER_MEANS_GIVEN},
};

static const hopper_layout architectures_layout = {
	.columns = architectures_columns,.n = lengthof(architectures_columns)
};

static void
create_model_table(const hopper_name *table)
{
	hopper_exec("CREATE TABLE %s (%s)" HOPPER_DISTRIBUTED_BY("model_id"), table->quoted,
				hopper_layout_columns(&architectures_layout, NULL,
									  (const char *const[]) {HOPPER_IDENTITY}));
	/* Weights are noise to a compressor: it would only cost time at each read. */
	hopper_exec("ALTER TABLE %s ALTER COLUMN model_weights SET STORAGE EXTERNAL", table->quoted);
	hopper_comment_layout(table, &architectures_layout, NULL,
						"model architectures, filled by hopper.load_model()");
	ereport(NOTICE, errmsg("created table \"%s\" for model architectures", table->shown));
}

char *
hopper_complete_architecture(const char *arch)
{
	hopper_rows *rows = HOPPER_CORE_ROWS(complete_model, arch, strlen(arch));

	return hopper_from_utf8(rows->n_rows ? rows->cells[0] : arch);
}

/* Says what in the architecture is read as something else. */
static void
tell_notes(const char *arch)
{
	hopper_tell_notes(HOPPER_CORE_ROWS(notes_on_model, arch, strlen(arch)),
					  0);
}

/*
 * Whether it has parameters of a search in it, {"hopper": "units"}; ERROR where those are not
 * understood. It becomes an architecture when automl() has filled them in.
 */
static bool
is_template(const char *arch)
{
	/* Most have no such key, and are not parsed for it. */
	if (strstr(arch, "\"hopper\"") == NULL)
		return false;
	return HOPPER_CORE_ROWS(search.template_parameters, arch, strlen(arch))->n_rows > 0;
}

/*
 * The statement that stores $1 to $4, architecture, weights, name and description, and returns the
 * number; `rc` is what it executes to.
 */
static char *
store_statement(const hopper_name *table, const hopper_new_model *model, int *rc)
{
	int32		model_id;

	if (model->replace &&
		hopper_find_named_model(table, text_to_cstring(model->name), &model_id))
	{
		*rc = SPI_OK_UPDATE_RETURNING;
		return psprintf("UPDATE %s SET model_arch = $1::pg_catalog.json, model_weights = $2,"
						" name = $3, description = $4 WHERE model_id OPERATOR(pg_catalog.=) %d"
						" RETURNING model_id::pg_catalog.int4", table->quoted, model_id);
	}
	*rc = SPI_OK_INSERT_RETURNING;
	return psprintf("INSERT INTO %s (model_arch, model_weights, name, description)"
					" VALUES ($1::pg_catalog.json, $2, $3, $4)"
					" RETURNING model_id::pg_catalog.int4", table->quoted);
}

bool
hopper_add_model(const hopper_name *table, const hopper_new_model *model, int32 *model_id)
{
	const char *arch = model->arch;
	hopper_model_info info;
	hopper_error error = {0};
	hopper_param params[4];
	char	   *statement;
	int			rc;
	bool		is_null = true;
	bool		is_whole = !is_template(arch);
	bool		pushed;
	hopper_floats floats;

	if (model->replace && model->name == NULL)
		hopper_wrong(errmsg("replace needs the name of a model"),
					 errhint("Give it as name := 'small'."));
	if (!is_whole && model->has_weights)
		hopper_wrong(errmsg("an architecture with parameters of a search has no weights"));
	if (model->has_weights)
		hopper_floats_of(model->weights, true, &floats);
	if (is_whole && !inspect(arch, strlen(arch), &info, &error))
		ereport(NOTICE, errmsg_internal("%s", hopper_from_utf8(error.message)),
				errdetail("The shape is taken from the packed data."));
	if (is_whole)
		tell_notes(arch);
	if (model->has_weights)
	{
		hopper_floats_check(&floats, arch, strlen(arch));
		hopper_floats_release(&floats);
	}
	params[0] = hopper_text_param(is_whole ? hopper_complete_architecture(arch)
								  : hopper_from_utf8(arch));
	params[1] = HOPPER_IF(model->has_weights, HOPPER_PARAM(BYTEAOID, model->weights));
	params[2] = HOPPER_IF(model->name, HOPPER_PARAM(TEXTOID, PointerGetDatum(model->name)));
	params[3] = HOPPER_IF(model->description,
						  HOPPER_PARAM(TEXTOID, PointerGetDatum(model->description)));

	/* a search that is connected adds models, too */
	pushed = hopper_connect_within();
	if (!OidIsValid(hopper_relation_oid(table, true)))
	{
		hopper_require_absent(table);
		create_model_table(table);
	}
	else
		(void) hopper_require_model_table(table);
	statement = store_statement(table, model, &rc);
	if (hopper_execute_params(statement, lengthof(params), params) != rc)
		elog(ERROR, "storing a model failed");
	/* A trigger can take the row away. */
	if (SPI_processed > 0)
	{
		*model_id = DatumGetInt32(hopper_value(0, 1, INT4OID, &is_null));
		/* CREATE TABLE ... AS makes such tables. */
		if (is_null)
			hopper_raise(ERRCODE_NOT_NULL_VIOLATION,
						 errmsg("\"%s\" gives its models no numbers", table->shown),
						 errdetail("Its column \"model_id\" is no identity and has no default."),
						 errhint("Name a table that hopper.load_model() made, or a new one for "
								 "it to make."));
	}
	hopper_finish_within(pushed);
	return !is_null;
}

/*
 * load_model(model_arch_table, model_arch, model_weights, name, description, replace) -> model_id
 */
HOPPER_FUNCTION(hopper_sql_load_model)
{
	hopper_name table;
	char	   *arch = required_architecture(fcinfo, 1);
	hopper_new_model model = {arch,.has_weights = !PG_ARGISNULL(2)};
	int32		model_id;

	if (!PG_ARGISNULL(0) && is_object(text_to_cstring(PG_GETARG_TEXT_PP(0))) && !is_object(arch))
		hopper_wrong(errmsg("the table and the architecture are swapped"),
					 errhint("Write hopper.load_model(table, architecture)."));
	table = hopper_name_argument(fcinfo, 0, "model_arch_table");
	require_dumpable(fcinfo, arch);
	if (model.has_weights)
	{
		refuse_name_as_weights(PG_GETARG_BYTEA_P_SLICE(2, 0, NAMEDATALEN));
		model.weights = PG_GETARG_DATUM(2);
	}
	model.name = hopper_text_argument(fcinfo, 3);
	model.description = hopper_text_argument(fcinfo, 4);
	model.replace = !PG_ARGISNULL(5) && PG_GETARG_BOOL(5);
	if (!hopper_add_model(&table, &model, &model_id))
		PG_RETURN_NULL();
	PG_RETURN_INT32(model_id);
}

static void
drop_table(void *state)
{
	const hopper_name *table = state;

	hopper_exec("DROP TABLE %s", table->quoted);
}

/* Why the table stays although it shows no more models; NULL where it does not. */
static const char *
why_kept(const hopper_name *table, Oid relation)
{
	ErrorData  *error;

	if (hopper_hides_rows(relation))
		return "Row-level security may hide others.";
	if (IsolationUsesXactSnapshot())
		return "This transaction does not see what other sessions have added.";
	/* Waiting would be waiting for somebody who adds a model. */
	if (!ConditionalLockRelationOid(relation, AccessExclusiveLock))
		return "Another session uses it.";
	/* Under the lock: the last look was at an older state. */
	if (hopper_select_latest("SELECT 1 FROM %s LIMIT 1", table->quoted) > 0)
		return "Another session has added models.";
	error = hopper_attempt(drop_table, (void *) table);
	if (error == NULL)
		return NULL;
	if (error->sqlerrcode != ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST &&
		error->sqlerrcode != ERRCODE_OBJECT_IN_USE)
		ReThrowError(error);
	return psprintf("%s.", error->message);
}

/* delete_model(model_arch_table, model_id) */
HOPPER_FUNCTION(hopper_sql_delete_model)
{
	hopper_name table = hopper_name_argument(fcinfo, 0, "model_arch_table");
	int32		model_id = hopper_model_id_argument(fcinfo, 1);
	Oid			relation = hopper_require_model_table(&table);
	const char *kept;

	hopper_connect_only();
	hopper_change("DELETE FROM %s WHERE model_id OPERATOR(pg_catalog.=) %d", table.quoted,
				  model_id);
	if (SPI_processed == 0)
		hopper_no_such_model(&table, model_id);
	/* Not the statement's snapshot: it would still show the row. */
	if (hopper_select_latest("SELECT 1 FROM %s LIMIT 1", table.quoted) == 0 &&
		hopper_is_owner(relation))
	{
		kept = why_kept(&table, relation);
		if (kept)
			ereport(NOTICE, errmsg("table \"%s\" holds no more models and stays", table.shown),
					errdetail_internal("%s", kept));
		else
			ereport(NOTICE, errmsg("dropped table \"%s\", which held no more models", table.shown));
	}
	SPI_finish();
	PG_RETURN_VOID();
}

static Datum
describe(FunctionCallInfo fcinfo, const char *arch, const hopper_data_desc *data)
{
	return hopper_return_rows(fcinfo,
							  HOPPER_CORE_ROWS(describe_model, arch, strlen(arch), data));
}

/* describe_model(model_arch_table, model_id, packed_table) */
HOPPER_FUNCTION(hopper_sql_describe_model)
{
	hopper_name table = hopper_name_argument(fcinfo, 0, "model_arch_table");
	int32		model_id = hopper_model_id_argument(fcinfo, 1);
	hopper_model model;
	const char *arch;
	hopper_packed packed;

	(void) hopper_require_model_table(&table);
	hopper_connect_only();
	hopper_read_model(&table, model_id, &model);
	arch = model.arch;
	if (!PG_ARGISNULL(2))
	{
		hopper_name data = hopper_name_argument(fcinfo, 2, "packed_table");

		hopper_read_packed(&data, false, &packed);
	}
	/* The result lies in the query's memory; what describes the data goes with SPI's. */
	(void) describe(fcinfo, arch, PG_ARGISNULL(2) ? NULL : &packed.desc);
	SPI_finish();
	return (Datum) 0;
}

/* describe_model(model_arch) */
HOPPER_FUNCTION(hopper_sql_describe_architecture)
{
	char	   *arch = required_architecture(fcinfo, 0);

	/* A table's name, and no model_id. */
	if (arch[0] && strlen(arch) < 2 * NAMEDATALEN && strpbrk(arch, " {}[]:\n\t") == NULL)
		hopper_raise(ERRCODE_INVALID_TEXT_REPRESENTATION,
					 errmsg("\"%s\" is not a model architecture", arch),
					 errhint("For a model of a table give its model_id, too: "
							 "hopper.describe_model(%s, 1).", hopper_literal(arch)));
	return describe(fcinfo, arch, NULL);
}
