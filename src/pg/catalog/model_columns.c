/*
 * model_columns.c
 *		model_columns(): what a stored model asks of the columns of a table that are its inputs.
 *		Keras' layers that prepare data, such as StringLookup, are treatments of these columns.
 */
#include "pg/catalog/models.h"

#include "utils/json.h"

#include "pg/codec/schema.h"

hopper_model_column *
hopper_model_columns(const hopper_model *model, int *n)
{
	hopper_model_column *columns;
	hopper_rows *rows =
		HOPPER_CORE_ROWS(model_columns, model->arch, model->arch_size,
						 HOPPER_HAS_FLOATS(&model->weights) ? 1 : 0);

	*n = rows->n_rows;
	columns = palloc0(sizeof(hopper_model_column) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
	{
		const char *const *cells = hopper_row(rows, i);

		columns[i].name = hopper_from_utf8(cells[0]);
		columns[i].treatment = hopper_from_utf8(cells[1]);
		columns[i].is_prepared = cells[2][0] == 't';
	}
	return columns;
}

/* {"column": treatment, ...}, of columns that may have other names than the inputs. */
static void
append_treatments(StringInfo text, int n, const hopper_model_column *columns, char *const *names)
{
	appendStringInfoChar(text, '{');
	for (int i = 0; i < n; i++)
	{
		appendStringInfoString(text, i ? ", " : "");
		escape_json(text, names[i]);
		appendStringInfo(text, ": %s", columns[i].treatment);
	}
	appendStringInfoChar(text, '}');
}

char *
hopper_model_schema(int n, const hopper_model_column *columns, const hopper_pack_column *x)
{
	char	  **names = palloc(sizeof(char *) * Max(n, 1));
	StringInfo	request = makeStringInfo();

	for (int i = 0; i < n; i++)
		names[i] = x[i].name;
	appendStringInfoString(request, "{\"treatments\": ");
	append_treatments(request, n, columns, names);
	for (int i = 0; i < n; i++)
		if (hopper_schema_family(x[i].type) == NULL)
			hopper_raise(ERRCODE_DATATYPE_MISMATCH,
						 errmsg("column \"%s\" is of type %s, for which there is no treatment",
								x[i].name, x[i].sql_type),
						 errhint("Cast the column in a view."));
	appendStringInfoString(request, ", ");
	hopper_schema_append_columns(request, n, x);
	appendStringInfoChar(request, '}');
	return hopper_from_utf8(HOPPER_CORE_ROWS(schema.complete,
											 hopper_to_utf8(request->data))->cells[0]);
}

/* model_columns(model_arch_table, model_id) */
HOPPER_SPI_FUNCTION(hopper_sql_model_columns)
{
	hopper_name table = hopper_name_argument(fcinfo, 0, "model_arch_table");
	hopper_model model;
	hopper_model_column *columns;
	char	  **names;
	const char *cells[2];
	hopper_rows result = {.n_rows = 1,.n_columns = 2,.cells = cells};
	StringInfo	treatments = makeStringInfo();
	int			n;

	(void) hopper_require_model_table(&table);
	hopper_read_model(&table, hopper_model_id_argument(fcinfo, 1), &model);
	columns = hopper_model_columns(&model, &n);
	names = palloc(sizeof(char *) * Max(n, 1));
	for (int i = 0; i < n; i++)
		names[i] = columns[i].name;
	append_treatments(treatments, n, columns, names);
	cells[0] = hopper_identifiers(n, names);
	cells[1] = treatments->data;
	return hopper_return_rows(fcinfo, &result);
}
