/*
 * explained.c
 *		What explanations of a model ask for: the model, rows with its columns, a class.
 */
#include "pg/predict/explained.h"

static void
require_class_or_value(const hopper_predict_model *model)
{
	hopper_predict_require_one_value(model);
	if (!model->is_value && model->n_class_values == 0)
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("the classes of model \"%s\" have no names", model->shown),
					 errhint("Pack a label column of classes, rather than 1-hot encoded ones."));
}

void
hopper_explained_open(FunctionCallInfo fcinfo, const char *source, hopper_explained *what)
{
	hopper_name table = hopper_name_named(fcinfo, "model_table");
	int			key = hopper_argument(fcinfo, "mst_key");
	List	   *x = NIL;
	StringInfo	names = makeStringInfo();

	if (HOPPER_DATA_ON_SEGMENTS)
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("predictions are not explained on a cluster yet"),
					 errdetail("Changed rows would be predicted where they lie, on the segments."));
	memset(what, 0, sizeof(*what));
	what->source = hopper_name_named(fcinfo, source);
	hopper_read_trained(&table, !PG_ARGISNULL(key), hopper_key_argument(fcinfo, key),
						&what->trained);
	hopper_predict_from_trained(&what->trained, &what->model);
	require_class_or_value(&what->model);
	what->relation = hopper_source_oid(&what->source);
	hopper_predict_refuse_packed(&what->source, what->relation);
	what->n = what->trained.data.n_x_columns;
	for (int i = 0; i < what->n; i++)
		x = lappend(x, what->trained.data.x_columns[i]);
	hopper_require_columns(what->relation, x);
	what->columns = palloc(what->n * sizeof(hopper_pack_column));
	for (int i = 0; i < what->n; i++)
	{
		const char *name = what->trained.data.x_columns[i];

		hopper_pack_resolve_column(what->relation, name, &what->columns[i]);
		appendStringInfo(names, "%s%s", i ? ", " : "", hopper_literal(name));
	}
	what->names = psprintf("ARRAY[%s]::text[]", names->data);
}

static const char *
class_name(const hopper_explained *what, int class)
{
	const char *name = what->model.class_values[class];

	return name ? name : "NULL";
}

void
hopper_explained_take_class(FunctionCallInfo fcinfo, hopper_explained *what)
{
	const hopper_predict_model *model = &what->model;
	char	   *given = hopper_string_named(fcinfo, "class_value");
	StringInfo	known = makeStringInfo();

	what->output = model->is_value ? 1 : model->n_class_values == 2 ? 2 : 0;
	if (given == NULL)
		return;
	if (model->is_value)
		hopper_wrong(errmsg("class_value is given but model \"%s\" predicts numbers",
							model->shown));
	for (int i = 0; i < model->n_class_values; i++)
	{
		if (strcmp(class_name(what, i), given) == 0)
		{
			what->output = i + 1;
			return;
		}
		if (i < 20)
			appendStringInfo(known, "%s\"%s\"", i ? ", " : "", class_name(what, i));
	}
	hopper_wrong(errmsg("model \"%s\" knows no class \"%s\"", model->shown, given),
				 errdetail("Its classes are %s%s.", known->data,
						   model->n_class_values > 20 ? " and more" : ""));
}

const char *
hopper_explained_class(const hopper_explained *what)
{
	return psprintf("%s::text", what->model.is_value ? "NULL"
					: hopper_literal(class_name(what, what->output - 1)));
}

char *
hopper_explained_outputs(const hopper_explained *what, const char *values)
{
	return psprintf("%s(%s::text, %d::int8, 'error', NULL, NULL, ROW(%s))",
					hopper_own_name("predict_outputs"),
					hopper_literal(what->trained.outputs.model.quoted), what->trained.mst_key,
					values + strlen(", "));
}

char *
hopper_explained_largest(const hopper_explained *what)
{
	StringInfo	all = makeStringInfo();
	StringInfo	cases = makeStringInfo();

	for (int i = 1; i <= what->model.n_class_values; i++)
	{
		appendStringInfo(all, "%so[%d]", i > 1 ? ", " : "", i);
		appendStringInfo(cases, " WHEN o[%d] THEN %d", i, i);
	}
	return psprintf("CASE GREATEST(%s)%s END", all->data, cases->data);
}

int
hopper_explained_count(FunctionCallInfo fcinfo, const char *argument, int otherwise, int least,
					   int most)
{
	int			at = hopper_argument(fcinfo, argument);
	int			given = hopper_integer_argument(fcinfo, at, argument, otherwise);

	if (given < least || given > most)
		hopper_wrong(errmsg("%s must be from %d to %d, got %d", argument, least, most, given));
	return given;
}

int64
hopper_explained_seed(FunctionCallInfo fcinfo)
{
	int			at = hopper_argument(fcinfo, "seed");

	return PG_ARGISNULL(at) ? 0 : PG_GETARG_INT64(at);
}

/*
 * Rows come in the order of a hash of their columns. Equal rows have one hash, and come one after
 * the other: where most of them do, a few kinds of rows would be all. Then each kind is counted,
 * and each row of it has a hash of its own. Which way it goes depends on the rows alone.
 */
char *
hopper_explained_rows(const hopper_explained *what, const char *label, const char *where, int most,
					  int64 seed)
{
	List	   *hashed = NIL;
	StringInfo	list = makeStringInfo();
	StringInfo	columns = makeStringInfo();
	const char *few = psprintf("(SELECT count(*) = %d AND 2 * count(DISTINCT h) < count(*) FROM s)",
							   most);
	const char *rows;

	for (int i = 0; i < what->n; i++)
	{
		hashed = lappend(hashed, &what->columns[i]);
		appendStringInfo(list, ", %s AS x%d", hopper_identifier(what->columns[i].name), i + 1);
		appendStringInfo(columns, "x%d, ", i + 1);
	}
	rows = psprintf("SELECT %s AS h%s, %s FROM %s%s", hopper_hash_text(hashed, seed), list->data,
					label, what->source.quoted, where);
	return psprintf("WITH s AS MATERIALIZED (%s ORDER BY h, c, y LIMIT %d) SELECT row_number() OVER"
					" (ORDER BY h, c, y) AS i, t.* FROM (SELECT * FROM s WHERE NOT %s UNION ALL"
					" (SELECT %s AS h, %sc, y FROM (SELECT u.*, generate_series(1, count(*)) AS n"
					" FROM (%s) AS u WHERE %s GROUP BY h, %sc, y) AS k ORDER BY 1 LIMIT %d)) AS t",
					rows, most, few,
					psprintf(HOPPER_SQL_HASH,
							 "concat_ws('/', h, c, encode(float8send(y), 'hex'), n)"),
					columns->data, rows, few, columns->data, most);
}

void
hopper_explained_require_rows(const hopper_explained *what, const char *where, const char *hint)
{
	if (hopper_select("SELECT FROM %s%s LIMIT 1", what->source.quoted, where) == 0)
		hopper_wrong(errmsg("\"%s\" holds no rows to explain model \"%s\" by", what->source.shown,
							what->model.shown),
					 hint ? errhint("%s", hint) : 0);
}
