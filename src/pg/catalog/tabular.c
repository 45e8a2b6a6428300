/*
 * tabular.c
 *		tabular(): a published network for tables, written out for a packed one.
 */
#include "pg/catalog/models.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "pg/codec/rows.h"

PG_FUNCTION_INFO_V1(hopper_sql_tabular);

#define RECIPE_CELLS 4			/* architecture, compile_params, fit_params, space */

/* What the core writes, copied; NULL where a cell is. */
static void
write_recipe(const char *recipe, const char *options, const hopper_data_desc *data,
			 char *cells[RECIPE_CELLS])
{
	hopper_rows *rows;
	hopper_error error;
	hopper_guard *guard;

	HOPPER_CHECK(hopper_core()->tabular(recipe, options, data, &rows, &error), error);
	guard = hopper_guard_rows(rows);
	for (int i = 0; i < RECIPE_CELLS; i++)
		cells[i] = rows->cells[i] == NULL ? NULL : pstrdup(rows->cells[i]);
	hopper_guard_release(guard);
}

/* The options with what the schema of the packed table says of its columns, unless they do. */
static const char *
with_columns(const hopper_packed *packed, const char *options)
{
	const char *given = hopper_literal(options);

	/* Without what 9.4 has not for jsonb; of a key that comes twice jsonb keeps the last. */
	if (hopper_select("WITH slots AS (SELECT row_number() OVER (ORDER BY c.i, s.j) AS place,"
					  "  c.i, s.slot FROM jsonb_array_elements(%s::jsonb->'columns')"
					  "   WITH ORDINALITY AS c(col, i),"
					  "  jsonb_array_elements(c.col->'slots') WITH ORDINALITY AS s(slot, j))"
					  " SELECT json_object_agg(o.key, o.value ORDER BY o.given)::text::jsonb::text"
					  " FROM (SELECT 'categories'::text AS key, coalesce(json_object_agg(place,"
					  "   slot->'cardinality'), '{}') AS value, false AS given FROM slots"
					  "   WHERE slot->>'kind' = 'index'"
					  "  UNION ALL SELECT 'texts', coalesce(json_object_agg(t.place, t.ids), '{}'),"
					  "   false FROM (SELECT min(place) AS place, json_build_object('length',"
					  "    count(*), 'ids', max((slot->>'cardinality')::bigint)) AS ids FROM slots"
					  "    WHERE slot->>'kind' = 'word' GROUP BY i) AS t"
					  "  UNION ALL SELECT 'one_hot', coalesce(json_agg(place), '[]'), false"
					  "   FROM slots WHERE slot->>'kind' IN ('one_hot', 'indicator')"
					  "  UNION ALL SELECT e.key, e.value, true FROM json_each(CASE"
					  "   json_typeof(%s::json) WHEN 'object' THEN %s::json ELSE '{}' END)"
					  "   AS e) AS o"
					  " WHERE json_typeof(%s::json) = 'object'",
					  hopper_literal(packed->schema_text), given, given, given) != 1 ||
		hopper_cell(0, 1) == NULL)
		return options;
	return hopper_cell(0, 1);
}

/* The recipe's cells for a packed table: while SPI's memory, which has its classes, is there. */
static void
recipe_for(const hopper_name *name, const char *recipe, const char *options, char **cells)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext own;
	hopper_packed packed;

	hopper_connect();
	hopper_read_packed(name, false, &packed);
	if (packed.schema_text)
		options = with_columns(&packed, options);
	/* The cells outlive it; each statement ends in SPI's memory. */
	own = MemoryContextSwitchTo(caller);
	write_recipe(hopper_to_utf8(recipe), hopper_to_utf8(options), &packed.desc, cells);
	MemoryContextSwitchTo(own);
	hopper_finish();
}

/* tabular(model_arch_table, packed_table, recipe, options, name, replace) */
Datum
hopper_sql_tabular(PG_FUNCTION_ARGS)
{
	hopper_name table = hopper_name_argument(fcinfo, 0, "model_arch_table");
	hopper_name packed_name = hopper_name_argument(fcinfo, 1, "packed_table");
	const char *recipe = PG_ARGISNULL(2) ? "realmlp" : hopper_string_argument(fcinfo, 2);
	const char *options = PG_ARGISNULL(3) ? "{}" : hopper_string_argument(fcinfo, 3);
	char	   *cells[RECIPE_CELLS];
	hopper_new_model model = {NULL};
	int32		model_id = 0;
	TupleDesc	descriptor;
	Datum		values[RECIPE_CELLS];
	bool		nulls[RECIPE_CELLS] = {false};

	hopper_require_other_tables(fcinfo, "model_arch_table",
								(const char *const[]) {"packed_table", NULL});
	if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	descriptor = BlessTupleDesc(descriptor);
	recipe_for(&packed_name, recipe, options, cells);
	model.arch = cells[0];
	model.name = PG_ARGISNULL(4) ? cstring_to_text(recipe) : PG_GETARG_TEXT_PP(4);
	model.replace = !PG_ARGISNULL(5) && PG_GETARG_BOOL(5);
	nulls[0] = !hopper_add_model(&table, &model, &model_id);
	values[0] = Int32GetDatum(model_id);
	for (int i = 1; i < RECIPE_CELLS; i++)
	{
		nulls[i] = cells[i] == NULL;
		values[i] = nulls[i] ? (Datum) 0 : CStringGetTextDatum(hopper_from_utf8(cells[i]));
	}
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(descriptor, values, nulls)));
}
