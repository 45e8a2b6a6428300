/*
 * output_rows.c
 *		Making and filling the tables that training leaves behind, column by column.
 */
#include "pg/train/output_rows.h"

void
hopper_begin_row(hopper_output_row *row, const hopper_layout *layout)
{
	memset(row, 0, sizeof(*row));
	row->layout = layout;
}

hopper_output_row *
hopper_new_row(const hopper_layout *layout)
{
	hopper_output_row *row = palloc(sizeof(hopper_output_row));

	hopper_begin_row(row, layout);
	return row;
}

void
hopper_fill_given(hopper_output_row *row, const char *name, hopper_param value)
{
	if (row->n == Min(row->layout->n, HOPPER_OUTPUT_COLUMNS))
		elog(ERROR, "too many columns in an output table");
	row->names[row->n] = name;
	row->values[row->n++] = value;
}

void
hopper_fill(hopper_output_row *row, const char *name, hopper_param value)
{
	const hopper_column *column = &row->layout->columns[row->n];

	if (row->n == row->layout->n || column->name == NULL || strcmp(column->name, name) != 0)
		elog(ERROR, "column %d of %s is not \"%s\"", row->n + 1, row->layout->what, name);
	value.type = column->type;
	hopper_fill_given(row, column->name, value);
}

void
hopper_outputs_refuse_table(const hopper_name *table, const char *what)
{
	hopper_unmet(errmsg("\"%s\" does not %s rows as training needs it", table->shown, what),
				 errhint("Look for triggers, rules and policies of row-level security on it."));
}

/* A value that a table without its column has no need of. */
static bool
is_spared(const hopper_output_row *row, int column)
{
	return row->values[column].isnull || !row->layout->columns[column].needed;
}

/* A generic plan: a custom one would hold copies of the values, which may be a gigabyte. */
static void
prepare(hopper_output_writer *writer, const hopper_output_row *const *rows, int n_rows)
{
	Oid			relation = hopper_relation_oid(writer->table, false);
	const hopper_output_row *first = rows[0];
	StringInfo	query = makeStringInfo();
	Oid		   *types = palloc(sizeof(Oid) * n_rows * first->n);
	int			n = 0;

	appendStringInfo(query, "INSERT INTO %s (", writer->table->quoted);
	for (int i = 0; i < first->n; i++)
	{
		const hopper_column *listed = &first->layout->columns[i];
		const char *column = listed->name ? hopper_column_there(relation, listed) : first->names[i];

		/* An earlier version's table has no place for it, and misses it as little. */
		writer->left_out[i] = column == NULL;
		for (int row = 0; row < n_rows; row++)
			writer->left_out[i] = writer->left_out[i] && is_spared(rows[row], i);
		if (!writer->left_out[i])
			appendStringInfo(query, "%s%s", n++ ? ", " : "",
							 hopper_identifier(column ? column : first->names[i]));
	}
	writer->n = 0;
	writer->n_rows = n_rows;
	for (int row = 0; row < n_rows; row++)
	{
		appendStringInfoString(query, row ? "), (" : n_rows == 1 ? ") SELECT " : ") VALUES (");
		n = 0;
		for (int i = 0; i < first->n; i++)
		{
			if (writer->left_out[i])
				continue;
			types[writer->n++] = first->values[i].type;
			appendStringInfo(query, "%s$%d", n++ ? ", " : "", writer->n);
		}
	}
	appendStringInfoString(query, n_rows == 1 ? "" : ")");
	writer->plan = hopper_prepare(query->data, writer->n, types, CURSOR_OPT_GENERIC_PLAN);
	pfree(types);
	pfree(query->data);
}

/* Whether the plan is for so many rows, and leaves out no value that the table has to have. */
static bool
suits(const hopper_output_writer *writer, const hopper_output_row *const *rows, int n_rows)
{
	for (int row = 0; row < n_rows; row++)
		for (int i = 0; i < rows[row]->n; i++)
			if (writer->left_out[i] && !is_spared(rows[row], i))
				return false;
	return writer->n_rows == n_rows;
}

void
hopper_output_write_rows(hopper_output_writer *writer, const hopper_output_row *const *rows,
						 int n_rows)
{
	Datum	   *values;
	char	   *nulls;
	int			n = 0;
	int			rc;

	if (writer->plan && !suits(writer, rows, n_rows))
		hopper_output_end(writer);
	if (writer->plan == NULL)
		prepare(writer, rows, n_rows);
	values = palloc(sizeof(Datum) * writer->n);
	nulls = palloc(writer->n);
	for (int row = 0; row < n_rows; row++)
		for (int i = 0; i < rows[row]->n; i++)
		{
			if (writer->left_out[i])
				continue;
			values[n] = rows[row]->values[i].value;
			nulls[n++] = rows[row]->values[i].isnull ? 'n' : ' ';
		}
	rc = SPI_execute_plan(writer->plan, values, nulls, false, 0);
	hopper_after_spi();
	pfree(values);
	pfree(nulls);
	if (rc < 0)
		elog(ERROR, "inserting into an output table failed: %s", SPI_result_code_string(rc));
	/* A trigger or a rule has done something else. */
	if (rc != SPI_OK_INSERT || SPI_processed != (uint64) n_rows)
		hopper_outputs_refuse_table(writer->table, "take");
}

void
hopper_output_write(hopper_output_writer *writer, const hopper_output_row *row)
{
	hopper_output_write_rows(writer, &row, 1);
}

void
hopper_output_end(hopper_output_writer *writer)
{
	if (writer->plan)
		SPI_freeplan(writer->plan);
	writer->plan = NULL;
}

void
hopper_output_insert(const hopper_name *table, const hopper_output_row *row)
{
	hopper_output_writer writer = {table};

	hopper_output_write(&writer, row);
	hopper_output_end(&writer);
}
