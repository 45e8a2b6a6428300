/*
 * output_table.c
 *		The table of predictions: a new one, one that takes another's place, or rows that take the
 *		place of others in a table that stays.
 */
#include "pg/predict/run.h"

/* replace, of type hopper.replacement; *rows: the rows of the table that is there. */
static bool
replacement_argument(FunctionCallInfo fcinfo, int at, bool *rows)
{
	char	   *given = hopper_string_argument(fcinfo, at);
	bool		replace = false;

	*rows = given && pg_strcasecmp(given, "rows") == 0;
	if (given && !*rows && !parse_bool(given, &replace))
		hopper_wrong(errmsg("replace must be true, false or 'rows', got \"%s\"", given));
	return replace || *rows;
}

/*
 * Before a table's rows are replaced. Its triggers run, so that it must be the caller's; and two
 * that fill it at once would keep each other's rows.
 */
static void
require_refillable(const hopper_name *table)
{
	Oid			relation = hopper_relation_oid(table, false);
	char		kind = get_rel_relkind(relation);

	if (kind != RELKIND_RELATION && !hopper_is_partitioned(kind))
		hopper_raise(ERRCODE_WRONG_OBJECT_TYPE,
					 errmsg("\"%s\" is not a table, so that its rows cannot be replaced",
							table->shown));
	if (!hopper_is_owner(relation))
		hopper_raise(ERRCODE_INSUFFICIENT_PRIVILEGE,
					 errmsg("must be owner of table %s", table->shown));
	if (hopper_hides_rows(relation))
		hopper_raise(ERRCODE_INSUFFICIENT_PRIVILEGE,
					 errmsg("row-level security of \"%s\" may hide rows that are to be replaced",
							table->shown));
	hopper_lock_table(table, ShareRowExclusiveLock, "SHARE ROW EXCLUSIVE");
}

/* Columns of the table that was made, with the types that they have in the one that is kept. */
static void
require_columns(const hopper_prediction *run)
{
	Oid			made = hopper_relation_oid(&run->output_table, false);
	Oid			kept = hopper_relation_oid(&run->final.name, false);
	int			n;
	char	  **names = hopper_column_names(made, &n);

	for (int i = 0; i < n; i++)
	{
		AttrNumber	there = get_attnum(kept, names[i]);
		Oid			type = get_atttype(made, get_attnum(made, names[i]));

		if (there == InvalidAttrNumber || get_atttype(kept, there) != type)
			hopper_raise(ERRCODE_DATATYPE_MISMATCH,
						 errmsg("the rows of \"%s\" cannot be replaced by these predictions",
								run->final.name.shown),
						 errdetail("It has no column \"%s\" of type %s.", names[i],
								   format_type_be(type)),
						 errhint("Choose another name for the output, or pass replace => true."));
	}
}

/* In the caller's hands: triggers of the table see what an INSERT of the caller's would do. */
static void
replace_rows(const hopper_prediction *run, int64 n_rows)
{
	int			n;
	char	  **names = hopper_column_names(hopper_relation_oid(&run->output_table, false), &n);
	const char *columns = hopper_identifiers(n, names);

	hopper_change("DELETE FROM %s", run->final.name.quoted);
	hopper_change("INSERT INTO %s (%s) SELECT %s FROM %s", run->final.name.quoted, columns,
				  columns, run->output_table.quoted);
	if ((int64) SPI_processed != n_rows)
		hopper_raise(ERRCODE_TRIGGERED_ACTION_EXCEPTION,
					 errmsg("\"%s\" does not take all rows of predictions", run->final.name.shown),
					 errhint("Look for triggers and rules of the table."));
	hopper_exec("DROP TABLE %s", run->output_table.quoted);
}

static void
comment_output(const hopper_prediction *run)
{
	hopper_predict_columns list;

	hopper_comment_table(&run->output_table, "predictions by model_hopper");
	hopper_predict_list_columns(run, &list);
	for (int i = 0; i < list.n; i++)
		if (list.columns[i].meaning)
			hopper_comment_column(&run->output_table, list.columns[i].name,
								  list.columns[i].meaning);
}

void
hopper_predict_make_output(const hopper_prediction *run, const char *distributed)
{
	hopper_exec("CREATE TABLE %s (%s)%s", run->output_table.quoted,
				hopper_predict_column_definitions(run), distributed);
	if (run->keeps_final)
		require_columns(run);
	else
		comment_output(run);
}

void
hopper_predict_prepare_output(FunctionCallInfo fcinfo, hopper_prediction *run, int at,
							  int at_replace)
{
	hopper_table made;
	bool		rows;
	bool		replace = replacement_argument(fcinfo, at_replace, &rows);

	run->final.kind = HOPPER_TABLE_PREDICTIONS;
	run->final.name = hopper_name_argument(fcinfo, at, "output_table");
	run->output_table = run->final.name;
	/* A session that fills it at the same time makes it for both. */
	if (rows && !OidIsValid(hopper_relation_oid(&run->final.name, true)))
		hopper_await_name(&run->final.name);
	run->keeps_final = rows && OidIsValid(hopper_relation_oid(&run->final.name, true));
	if (run->keeps_final)
		require_refillable(&run->final.name);
	else if (!hopper_make_room(&run->final, 1, replace))
		return;
	hopper_name_new(&run->final, 1, "", &made);
	run->output_table = made.name;
}

void
hopper_predict_finish_output(const hopper_prediction *run, int64 n_rows)
{
	if (run->keeps_final)
		replace_rows(run, n_rows);
	else if (strcmp(run->output_table.name, run->final.name.name) != 0)
	{
		hopper_table made = {run->output_table, HOPPER_TABLE_PREDICTIONS};

		(void) hopper_exchange_results(&run->final, &made, 1);
	}
}
