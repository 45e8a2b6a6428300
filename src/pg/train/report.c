/*
 * report.c
 *		report(): a page on a run. Functions of SQL make it (sql/functions/report_*.sql); here is
 *		found what is meant.
 */
#include "pg/train/outputs.h"

const char *
hopper_whole_name(const hopper_name *name)
{
	Oid			oid = hopper_relation_oid(name, false);
	char	   *schema = get_namespace_name(get_rel_namespace(oid));

	return hopper_literal(psprintf("%s.%s", hopper_identifier(schema),
								   hopper_identifier(get_rel_name(oid))));
}

/*
 * A page in ASCII, which is right in whatever encoding a client saves it: other letters are texts
 * of users, and HTML has numbers for them. Bytes of SQL_ASCII that are no UTF-8 become "?".
 */
static char *
in_ascii(const char *text)
{
	StringInfo	page = makeStringInfo();
	const char *end = text + strlen(text);

	for (const char *at = text; at < end;)
	{
		const unsigned char *bytes = (const unsigned char *) at;
		int			length = pg_utf_mblen(bytes);

		if (!IS_HIGHBIT_SET(*at))
			appendStringInfoChar(page, *at++);
		else if (at + length > end || !pg_utf8_islegal(bytes, length))
		{
			appendStringInfoChar(page, '?');
			at++;
		}
		else
		{
			appendStringInfo(page, "&#%u;", (unsigned) utf8_to_unicode(bytes));
			at += length;
		}
	}
	return page->data;
}

/* `table` and `run`: SQL */
static Datum
page(const char *table, const char *run)
{
	if (hopper_select_latest("SELECT %s.report_within(%s, %s)",
							 hopper_identifier(get_namespace_name(hopper_schema())), table,
							 run) != 1)
		elog(ERROR, "report_within() gave no page");
	PG_RETURN_TEXT_P(cstring_to_text(in_ascii(GetDatabaseEncoding() == PG_SQL_ASCII
											   ? hopper_cell(0, 1)
											   : hopper_to_utf8(hopper_cell(0, 1)))));
}

/* report(model_table) */
HOPPER_SPI_FUNCTION(hopper_sql_report)
{
	hopper_name models = hopper_name_argument(fcinfo, 0, "model_table");
	hopper_trained trained;

	/* What is no table of models is refused without the statements of a page. */
	hopper_read_trained_data(&models, &trained);
	return page(hopper_whole_name(&models), "NULL");
}

/* report(run) */
HOPPER_SPI_FUNCTION(hopper_sql_report_run)
{
	if (PG_ARGISNULL(0))
		hopper_raise(ERRCODE_NULL_VALUE_NOT_ALLOWED, errmsg("run must not be NULL"));
	return page("NULL", psprintf(INT64_FORMAT, PG_GETARG_INT64(0)));
}

/* The table that this column of the only row of `table` names; NULL where that is NULL. */
static const char *
table_in(const hopper_name *table, const char *column, const hopper_name *named,
		 hopper_name *found)
{
	if (hopper_select("SELECT %s::pg_catalog.text FROM %s WHERE %s IS NOT NULL", column,
					  table->quoted, column) != 1)
		return NULL;
	*found = hopper_name_in(table, named, hopper_cell(0, 1), column);
	return found->quoted;
}

static Datum
text_or_null(FunctionCallInfo fcinfo, const char *text)
{
	if (text == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(text));
}

/*
 * report_validation(model_table) -> the validation table that the models' summary names, or NULL.
 * ERROR 42501 where reading it would run functions of a role that the caller has not named.
 */
HOPPER_SPI_FUNCTION(hopper_sql_report_validation)
{
	hopper_name models = hopper_name_argument(fcinfo, 0, "model_table");
	hopper_outputs outputs = hopper_outputs_named(&models);
	hopper_name found;

	hopper_outputs_open(&outputs);
	return text_or_null(fcinfo, table_in(&outputs.summary, "validation_table", &models, &found));
}

/*
 * Of the packed table of training, or of validation, that the models' summary names: the name of
 * its summary, in `models`' words; false where none is named.
 */
static bool
summary_of_packed(FunctionCallInfo fcinfo, const hopper_name *models, hopper_name *summary)
{
	bool		of_validation = !PG_ARGISNULL(1) && PG_GETARG_BOOL(1);
	hopper_outputs outputs = hopper_outputs_named(models);
	hopper_name packed;

	hopper_outputs_open(&outputs);
	if (!table_in(&outputs.summary, of_validation ? "validation_table" : "source_table", models,
				  &packed))
		return false;
	*summary = hopper_name_with_suffix(&packed, "summary");
	hopper_require_harmless(summary, models, false);
	return true;
}

/*
 * report_source(model_table, of_validation) -> the table or view whose rows were packed for
 * training, or for validation, or NULL. ERROR 42501 as report_validation().
 */
HOPPER_SPI_FUNCTION(hopper_sql_report_source)
{
	hopper_name models = hopper_name_argument(fcinfo, 0, "model_table");
	hopper_name found;
	hopper_name summary;

	return text_or_null(fcinfo, summary_of_packed(fcinfo, &models, &summary)
						? table_in(&summary, "source_table", &models, &found) : NULL);
}

/*
 * report_packing(model_table, of_validation) -> the call that packed the rows for training, or for
 * validation; NULL where there are none or an earlier version packed them. ERROR 42501 as
 * report_validation().
 */
HOPPER_SPI_FUNCTION(hopper_sql_report_packing)
{
	hopper_name models = hopper_name_argument(fcinfo, 0, "model_table");
	hopper_name summary;

	if (summary_of_packed(fcinfo, &models, &summary) &&
		hopper_select("SELECT %s FROM %s",
					  hopper_column_selected(hopper_relation_oid(&summary, false),
											 HOPPER_TABLE_PACKED_SUMMARY, "statement"),
					  summary.quoted) == 1)
		return text_or_null(fcinfo, hopper_cell(0, 1));
	PG_RETURN_NULL();
}
