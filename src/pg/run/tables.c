/*
 * tables.c
 *		The tables that a run keeps its models in until it is done.
 */
#include "pg/run/driver.h"

#include "pg/run/lease.h"
#include "pg/search/automl.h"

/* Whether a relation of any schema is called as run `number` would call a table of its own. */
static bool
is_number_taken(int64 number)
{
	char	   *own = psprintf("hopper_run_" INT64_FORMAT, number);

	/* "`" comes after "_"; both sides are names, which are compared byte by byte. */
	return hopper_select_latest("SELECT FROM pg_class WHERE relname = %s"
								" OR relname >= %s AND relname < %s LIMIT 1",
								hopper_literal(own), hopper_literal(psprintf("%s_", own)),
								hopper_literal(psprintf("%s`", own))) > 0 ||
		hopper_lease_holder(number) != 0;
}

int64
hopper_run_new_number(void)
{
	int64		number;

	do
	{
		CHECK_FOR_INTERRUPTS();
		number = hopper_store_next();
	} while (is_number_taken(number));
	return number;
}

#define MOST_TABLES (HOPPER_MODEL_TABLES + HOPPER_CONFIGS_TABLES)

/* Their number; of a search with what it has beside models. The run has tables. */
static int
tables_of(const hopper_run_row *row, bool searched, hopper_table *tables)
{
	hopper_name models = hopper_parse_name(cstring_to_text(row->tables), "tables");
	hopper_outputs outputs = hopper_outputs_named(&models);
	hopper_name selection;

	hopper_outputs_tables(&outputs, tables);
	if (!searched || !hopper_is_search(row))
		return HOPPER_OUTPUT_TABLES;
	(void) hopper_search_tables(&models, tables + HOPPER_OUTPUT_TABLES);
	selection = hopper_parse_name(cstring_to_text(row->selection), "selection");
	hopper_search_config_tables(&selection, tables + HOPPER_MODEL_TABLES);
	return MOST_TABLES;
}

void
hopper_run_require_tables(const hopper_run_row *row, bool searched)
{
	hopper_table tables[MOST_TABLES];
	int			n = tables_of(row, searched, tables);

	for (int i = 0; i < n; i++)
	{
		/* It is called by its own name, not as it is shown while the run trains. */
		const char *name = psprintf("%s.%s", tables[i].name.schema, tables[i].name.name);
		Oid			relation = hopper_relation_oid(&tables[i].name, true);

		if (!OidIsValid(relation))
			hopper_raise(ERRCODE_UNDEFINED_TABLE,
						 errmsg("run " INT64_FORMAT " does not find its table \"%s\"", row->run,
								name),
						 errdetail("It was renamed or dropped."),
						 row->outcome && strcmp(row->outcome, "done") == 0 ? 0
						 : errhint("Give it back its name and schema, or end the run with "
								   "hopper.cancel(" INT64_FORMAT ").", row->run));
		if (GetUserId() == row->role && !has_privs_of_role(row->role, hopper_owner(relation)))
			hopper_raise(ERRCODE_INSUFFICIENT_PRIVILEGE,
						 errmsg("table \"%s\" of run " INT64_FORMAT " belongs to role \"%s\" now",
								name, row->run, hopper_role_name(hopper_owner(relation))),
						 errdetail("The run is still that of \"%s\", with whose rights it trains.",
								   hopper_role_name(row->role)),
						 errhint("ALTER TABLE %s OWNER TO %s; or end the run with "
								 "hopper.cancel(" INT64_FORMAT ").", tables[i].name.quoted,
								 hopper_identifier(hopper_role_name(row->role)), row->run));
	}
}

/* A table with the run's number in another schema than the run knows, which was renamed. */
static bool
is_elsewhere(const hopper_run_row *row, hopper_name *name)
{
	bool		found;

	found = strncmp(name->name, "hopper_run_", strlen("hopper_run_")) == 0 &&
		hopper_select_latest("SELECT oid::int8 FROM pg_class WHERE relname = %s AND relkind = 'r'"
							 " AND relowner = %u", hopper_literal(name->name), row->role) == 1;
	if (found)
		*name = hopper_name_of((Oid) hopper_int_cell(NULL, 0, 1, 0, PG_UINT32_MAX));
	return found;
}

void
hopper_run_drop_tables(const hopper_run_row *row)
{
	hopper_table tables[MOST_TABLES];
	hopper_table there[MOST_TABLES];
	int			n_there = 0;
	int			n;

	if (row->tables == NULL)
		return;
	n = tables_of(row, true, tables);
	for (int i = 0; i < n; i++)
	{
		hopper_table table = tables[i];
		Oid			relation = hopper_relation_oid(&table.name, true);

		if (OidIsValid(relation) ? hopper_is_owner(relation) : is_elsewhere(row, &table.name))
			there[n_there++] = table;
		else
			ereport(NOTICE, errmsg("table \"%s\" of run " INT64_FORMAT " was not found",
								   tables[i].name.shown, row->run),
					errdetail("Where it was renamed, or given to another role, it stays."));
	}
	(void) hopper_drop_tables(there, n_there, NULL);
}

void
hopper_run_open_tables(const hopper_run_row *row, bool written, hopper_outputs *outputs,
					   hopper_name *selection)
{
	char	   *by = psprintf("run " INT64_FORMAT, row->run);
	hopper_name own = hopper_parse_name(cstring_to_text(row->tables), "tables");

	hopper_run_require_tables(row, false);
	*outputs = hopper_outputs_named(&own);
	hopper_require_plain(&outputs->model, by, written);
	hopper_require_plain(&outputs->info, by, written);
	hopper_require_plain(&outputs->summary, by, false);
	hopper_require_plain(&outputs->state, by, written);
	if (selection == NULL)
		return;
	*selection = hopper_parse_name(cstring_to_text(row->selection), "model_selection_table");
	hopper_require_plain(selection, by, written);
}
