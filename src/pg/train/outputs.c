/*
 * outputs.c
 *		The output tables of a training run: making, replacing and copying them.
 */
#include "pg/train/outputs.h"

#include "pg/codec/rows.h"
#include "pg/train/output_rows.h"
#include "pg/train/store.h"

/* --- the tables --- */

static const hopper_column models_columns[] = {
	{"mst_key", INT4OID, HOPPER_MEANS_KEY,.marks = true},
	{"model_weights", BYTEAOID, HOPPER_MEANS_WEIGHTS,.marks = true},
	{"model_arch", JSONOID, HOPPER_MEANS_MODEL_ARCH,.marks = true},
};

const hopper_layout hopper_models_layout = {
	.what = "a table of trained models",.drop = "hopper.drop_model()",
	.columns = models_columns,.n = lengthof(models_columns)
};

static const hopper_column states_columns[] = {
	{"mst_key", INT4OID, HOPPER_MEANS_KEY,.marks = true},
	{"part", INT4OID, "place of this part of the state, from 0; of a run that trains also -1, -2 "
	"and so on, of the checkpoint before",.marks = true},
	{"state", BYTEAOID, "weights, the optimizer's moments and counters, for warm starts",
	.marks = true},
};

const hopper_layout hopper_states_layout = {
	.what = "a table of states of training",
	.columns = states_columns,.n = lengthof(states_columns)
};

void
hopper_outputs_tables(const hopper_outputs *outputs, hopper_table *tables)
{
	tables[0] = (hopper_table) {outputs->model, HOPPER_TABLE_MODELS};
	tables[1] = (hopper_table) {outputs->info, HOPPER_TABLE_INFOS};
	tables[2] = (hopper_table) {outputs->summary, HOPPER_TABLE_RUN};
	tables[3] = (hopper_table) {outputs->state, HOPPER_TABLE_STATES};
}

int
hopper_search_tables(const hopper_name *model, hopper_table *tables)
{
	if (strlen(model->name) + strlen("_decisions") >= NAMEDATALEN)
		return 0;
	tables[0] = (hopper_table) {hopper_name_with_suffix(model, "trials"), HOPPER_TABLE_TRIALS};
	tables[1] = (hopper_table) {hopper_name_with_suffix(model, "decisions"),
		HOPPER_TABLE_DECISIONS};
	tables[2] = (hopper_table) {hopper_name_with_suffix(model, "rungs"), HOPPER_TABLE_RUNGS};
	return HOPPER_SEARCH_TABLES;
}

/* NULL: it has none. */
static const char *
key_of(hopper_table_kind kind)
{
	switch (kind)
	{
		case HOPPER_TABLE_MODELS:
		case HOPPER_TABLE_INFOS:
			return "mst_key";
		case HOPPER_TABLE_STATES:
			return "mst_key, part";
		default:
			return NULL;
	}
}

void
hopper_output_add_key(const hopper_table *table)
{
	const char *key = key_of(table->kind);

	if (key)
		hopper_exec("ALTER TABLE %s ADD PRIMARY KEY (%s)", table->name.quoted, key);
	/* It has none, and its row is deleted: a publication of deletes would forbid that. */
	else if (table->kind == HOPPER_TABLE_RUN && HOPPER_HAS_PUBLICATIONS)
		hopper_exec("ALTER TABLE %s REPLICA IDENTITY FULL", table->name.quoted);
}

/* With its key: another statement for that would take a cluster longer than a small training. */
static void
create(const hopper_table *table)
{
	hopper_exec("CREATE TABLE %s (%s, PRIMARY KEY (%s))" HOPPER_DISTRIBUTED_BY("mst_key"),
				table->name.quoted,
				hopper_layout_columns(hopper_layout_of(table->kind), NULL, NULL),
				key_of(table->kind));
}

int
hopper_model_tables(const hopper_outputs *outputs, bool mine, hopper_table *tables)
{
	Oid			model = hopper_relation_oid(&outputs->model, true);
	hopper_table searched[HOPPER_SEARCH_TABLES];
	int			n_searched = hopper_search_tables(&outputs->model, searched);
	int			n = HOPPER_OUTPUT_TABLES;

	hopper_outputs_tables(outputs, tables);
	for (int i = 0; i < n_searched; i++)
	{
		Oid			relation = hopper_relation_oid(&searched[i].name, true);

		if (OidIsValid(relation) && hopper_is_table(relation, searched[i].kind) &&
			(mine ? hopper_is_owner(relation)
			 : OidIsValid(model) && hopper_owner(relation) == hopper_owner(model)))
			tables[n++] = searched[i];
	}
	return n;
}

hopper_outputs
hopper_outputs_make_room(const hopper_outputs *outputs, bool replace)
{
	hopper_making making;

	making.n = hopper_model_tables(outputs, true, making.tables);
	/* A search that begins has made its tables already, beside models that are to come. */
	if (!OidIsValid(hopper_relation_oid(&outputs->model, true)))
		making.n = HOPPER_OUTPUT_TABLES;
	hopper_making_begin(&making, replace, "");
	return making.replaces ? hopper_outputs_named(&making.made[0].name) : *outputs;
}

/* Of a warm start, what a search has left beside the old models stays beside them. */
static hopper_making
making_of(const hopper_outputs *outputs, const hopper_outputs *working, bool continues)
{
	hopper_making making = {.n = HOPPER_OUTPUT_TABLES,.replaces = true};

	if (continues)
		hopper_outputs_tables(outputs, making.tables);
	else
		making.n = hopper_model_tables(outputs, true, making.tables);
	hopper_name_like(&working->model, making.tables, making.n, making.made);
	return making;
}

void
hopper_outputs_rehearse_replace(const hopper_outputs *outputs, const hopper_outputs *working,
								bool continues)
{
	hopper_making making = making_of(outputs, working, continues);

	hopper_making_rehearse(&making);
}

bool
hopper_outputs_publish(const hopper_outputs *outputs, const hopper_outputs *working, bool replace,
					   bool continues)
{
	hopper_making making = making_of(outputs, working, continues);

	return hopper_publish(&making, replace);
}

void
hopper_outputs_update_names(const hopper_outputs *outputs, const hopper_outputs *names)
{
	hopper_change("UPDATE %s SET model = %s, model_info = %s", outputs->summary.quoted,
				  hopper_literal(names->model.quoted), hopper_literal(names->info.quoted));
}

void
hopper_outputs_refuse(const hopper_name *model, const char *detail)
{
	/* Where another session has dropped it meanwhile, it lacks no more than itself. */
	Oid			relation = hopper_relation_oid(model, false);
	hopper_outputs outputs = hopper_outputs_named(model);
	bool		alone = !OidIsValid(hopper_relation_oid(&outputs.info, true)) ||
		!OidIsValid(hopper_relation_oid(&outputs.summary, true));

	hopper_raise(ERRCODE_WRONG_OBJECT_TYPE,
				 errmsg("\"%s\" is not an output table of training", model->shown),
				 errdetail("%s", detail),
				 alone && hopper_is_table(relation, HOPPER_TABLE_MODELS)
				 ? errhint("Where it was given another name, give it its old one, and rename it "
						   "with hopper.rename_model(), which takes all its tables along.")
				 : errhint("Give the table that hopper.fit_multiple_model() or hopper.fit() "
						   "made."));
	pg_unreachable();
}

void
hopper_outputs_require_all(const hopper_outputs *outputs)
{
	hopper_table tables[HOPPER_OUTPUT_TABLES];

	hopper_outputs_tables(outputs, tables);
	(void) hopper_relation_oid(&outputs->model, false);
	for (int i = 1; i < lengthof(tables); i++)
		if (!OidIsValid(hopper_relation_oid(&tables[i].name, true)))
			hopper_outputs_refuse(&outputs->model, psprintf("It has no companion \"%s\".",
															tables[i].name.shown));
}

void
hopper_outputs_lock(const hopper_outputs *outputs)
{
	hopper_table tables[HOPPER_OUTPUT_TABLES];

	hopper_outputs_tables(outputs, tables);
	(void) hopper_relation_oid(&outputs->model, false);
	/* Before hours of training, after which they are refilled. */
	PreventCommandIfReadOnly("DELETE");
	hopper_lock_table(&outputs->model, ExclusiveLock, "EXCLUSIVE");
	hopper_outputs_require_all(outputs);
	for (int i = 1; i < lengthof(tables); i++)
		hopper_lock_table(&tables[i].name, ExclusiveLock, "EXCLUSIVE");
	hopper_renew_snapshot();
	hopper_require_harmless_tables(tables, lengthof(tables), true);
}

void
hopper_outputs_open(const hopper_outputs *outputs)
{
	hopper_table tables[HOPPER_OUTPUT_TABLES];

	hopper_outputs_tables(outputs, tables);
	/* without the states, which come last */
	hopper_open_to_read(tables, HOPPER_OUTPUT_TABLES - 1);
}

void
hopper_outputs_create(const hopper_outputs *outputs, const hopper_packed *train, bool large)
{
	hopper_table tables[HOPPER_OUTPUT_TABLES];
	const char *class_values = hopper_class_values_column(train);
	const char *class_values_type =
		hopper_format_type_qualified(train->class_values_column ? train->class_values_type
									 : TEXTARRAYOID);

	hopper_outputs_tables(outputs, tables);
	for (int i = 0; i < lengthof(tables); i++)
		if (tables[i].kind != HOPPER_TABLE_RUN)
			create(&tables[i]);
	hopper_exec("CREATE TABLE %s (%s)" HOPPER_DISTRIBUTED_RANDOMLY, outputs->summary.quoted,
				hopper_layout_columns(&hopper_run_layout, &class_values, &class_values_type));
	/*
	 * Trained floats do not compress; trying costs half of the time. All tables are there by now:
	 * what event triggers do to any of them after an ALTER is found by the rehearsal.
	 */
	if (large)
	{
		hopper_exec("ALTER TABLE %s ALTER COLUMN model_weights SET STORAGE EXTERNAL",
					outputs->model.quoted);
		hopper_exec("ALTER TABLE %s ALTER COLUMN state SET STORAGE EXTERNAL",
					outputs->state.quoted);
	}
	hopper_output_add_key(&tables[2]);
	hopper_comment_layout(&outputs->model, &hopper_models_layout, NULL,
						"trained models: a row per configuration that did not fail");
	hopper_comment_layout(&outputs->info, &hopper_infos_layout, NULL,
						"how the models did: a row per configuration");
	hopper_comment_layout(&outputs->summary, &hopper_run_layout, &class_values,
						"the training run");
	hopper_comment_layout(&outputs->state, &hopper_states_layout, NULL,
						"what a warm start goes on from; not needed for predictions");
}

void
hopper_check_column(const hopper_name *table, const char *column, Oid type)
{
	Oid			relation = hopper_relation_oid(table, false);
	Oid			found;
	int32		typmod;
	Oid			collation;

	get_atttypetypmodcoll(relation, hopper_require_column(relation, column), &found, &typmod,
						  &collation);
	if (found != type || typmod != -1)
		hopper_raise(ERRCODE_DATATYPE_MISMATCH,
					 errmsg("column \"%s\" of \"%s\" must be of type %s, not %s", column,
							table->shown, format_type_be(type),
							format_type_with_typemod(found, typmod)),
					 errhint("Use the tables as the functions of schema hopper made them."));
}

/* Of a table that an earlier version may have made; `row` NULL: all columns have values. */
static void
check_columns(const hopper_name *table, const hopper_layout *layout, const hopper_output_row *row)
{
	Oid			relation = hopper_relation_oid(table, false);

	for (int i = 0; i < layout->n; i++)
	{
		const hopper_column *column = &layout->columns[i];
		const char *there;

		/* The class values are written as they are by the rehearsal. */
		if (column->name == NULL)
			continue;
		there = hopper_column_there(relation, column);
		if (there || !row || !row->values[i].isnull)
			hopper_check_column(table, there ? there : column->name,
								row ? row->values[i].type : column->type);
	}
}

void
hopper_outputs_check_info(const hopper_outputs *outputs)
{
	check_columns(&outputs->info, &hopper_infos_layout, NULL);
}

void
hopper_outputs_check_columns(const hopper_outputs *outputs, const hopper_packed *train)
{
	check_columns(&outputs->model, &hopper_models_layout, NULL);
	check_columns(&outputs->state, &hopper_states_layout, NULL);
	hopper_outputs_check_info(outputs);
	check_columns(&outputs->summary, &hopper_run_layout,
				  hopper_summary_row(&outputs->model, train, NULL, NULL));
}

void
hopper_outputs_copy_one(const hopper_outputs *outputs, int32 from, int32 to)
{
	const hopper_name *tables[] = {&outputs->model, &outputs->state, &outputs->info};

	for (int i = 0; i < lengthof(tables); i++)
	{
		char	   *columns = hopper_text(hopper_select_latest(
			"SELECT string_agg(', ' || quote_ident(attname::text), '') FROM pg_attribute"
			" WHERE attrelid = %u AND attnum > 0 AND NOT attisdropped AND attname <> 'mst_key'",
			hopper_relation_oid(tables[i], false)));

		hopper_exec("INSERT INTO %s (mst_key%s) SELECT %d%s FROM %s WHERE mst_key = %d",
					tables[i]->quoted, columns, to, columns, tables[i]->quoted, from);
	}
}

/* Columns of the kind that an old table has, perhaps by an earlier name: as `to` and as `from`. */
static void
list_columns(const hopper_table *old, StringInfo to, StringInfo from)
{
	const hopper_layout *layout = hopper_layout_of(old->kind);
	Oid			relation = hopper_relation_oid(&old->name, false);

	for (int i = 0; i < layout->n; i++)
	{
		const char *there = hopper_column_there(relation, &layout->columns[i]);

		if (there == NULL)
			continue;
		appendStringInfo(to, "%s%s", to->len ? ", " : "",
						 hopper_identifier(layout->columns[i].name));
		appendStringInfo(from, "%s%s", from->len ? ", " : "", hopper_identifier(there));
	}
}

void
hopper_outputs_continue(const hopper_outputs *outputs, const hopper_outputs *earlier,
						const hopper_config *configs, int n, bool keeps_others)
{
	hopper_table from[HOPPER_OUTPUT_TABLES];
	hopper_table to[HOPPER_OUTPUT_TABLES];
	char	   *keys = hopper_keys_literal(n, &configs->mst_key, sizeof(hopper_config));

	hopper_outputs_tables(earlier, from);
	hopper_outputs_tables(outputs, to);
	for (int i = 0; i < HOPPER_OUTPUT_TABLES; i++)
	{
		StringInfo	columns = makeStringInfo();
		StringInfo	values = makeStringInfo();

		if (from[i].kind == HOPPER_TABLE_RUN)
			continue;
		list_columns(&from[i], columns, values);
		hopper_exec("INSERT INTO %s (%s) SELECT %s FROM %s WHERE %s"
					" OR mst_key OPERATOR(pg_catalog.=) ANY (%s)",
					to[i].name.quoted, columns->data, values->data, from[i].name.quoted,
					keeps_others ? "true" : "false", keys);
	}
	hopper_exec("UPDATE %s SET status = 'training' WHERE mst_key OPERATOR(pg_catalog.=)"
				" ANY (%s)", outputs->info.quoted, keys);
}

char *
hopper_outputs_digest(const hopper_outputs *outputs)
{
	Oid			info = hopper_relation_oid(&outputs->info, true);

	if (!OidIsValid(info) || !hopper_is_table(info, HOPPER_TABLE_INFOS) || !hopper_is_owner(info))
		return NULL;
	return TextDatumGetCString(hopper_store_digest(hopper_text(hopper_select_latest(
		"SELECT string_agg(concat_ws(' ', mst_key, iterations, state_digest), ',' ORDER BY mst_key)"
		" FROM %s", outputs->info.quoted))));
}

void
hopper_outputs_write_summary(const hopper_outputs *outputs, const hopper_training *training,
							 const hopper_run_record *record)
{
	hopper_output_insert(&outputs->summary,
						 hopper_summary_row(&outputs->model, training->train, training, record));
}
