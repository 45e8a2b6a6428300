/*
 * trained.c
 *		Reading what training left: one model with all that evaluation and prediction need.
 */
#include "pg/train/outputs.h"

#include "pg/catalog/models.h"
#include "pg/codec/rows.h"
#include "pg/codec/schema.h"
#include "pg/train/ranking.h"

/* NULL where labels are no classes. */
#define NUM_CLASSES_COLUMN 7

/*
 * A copy of tables in MADlib's shape, made by hand, does not tell what the examples were. The
 * packed table does that the summary names.
 */
static void
take_summary_of_packed(hopper_trained *out)
{
	const hopper_name *summary = &out->outputs.summary;
	Oid			oid = hopper_relation_oid(summary, true);
	hopper_name packed;
	char	   *text;

	if (!OidIsValid(oid) || get_attnum(oid, "independent_shape") != InvalidAttrNumber ||
		get_attnum(oid, "source_table") == InvalidAttrNumber)
		return;
	if (hopper_select("SELECT source_table::text FROM %s", summary->quoted) != 1)
		return;
	text = hopper_cell(0, 1);
	if (text == NULL)
		return;
	packed = hopper_name_in(summary, &out->outputs.model, text, "source_table");
	out->outputs.summary = hopper_name_with_suffix(&packed, "summary");
	hopper_require_harmless(&out->outputs.summary, &packed, false);
}

/* What the summary says of the training data. */
static void
read_summary(hopper_trained *out)
{
	const hopper_name *table = &out->outputs.model;
	const hopper_name *summary = &out->outputs.summary;
	Oid			oid = hopper_relation_oid(summary, true);
	char	   *y_column;
	char	   *inputs;
	char	   *outputs;
	char	   *padding;
	int			n;

	if (!OidIsValid(oid) || get_attnum(oid, "independent_shape") == InvalidAttrNumber)
		hopper_outputs_refuse(table,
							  psprintf("It has no companion \"%s\" that describes the run.",
									   summary->shown));
	if (hopper_select("SELECT dependent_varname[1], label_kind, independent_type,"
					  " independent_shape, label_type, label_shape, num_classes[1],"
					  " normalizing_const::float8,"
					  " source_table, independent_varname, independent_vartype,"
					  " dependent_vartype[1], %s::text, %s::text, %s::text, %s::text FROM %s",
					  hopper_column_selected(oid, HOPPER_TABLE_RUN, "inputs"),
					  hopper_column_selected(oid, HOPPER_TABLE_RUN, "outputs"),
					  hopper_column_selected(oid, HOPPER_TABLE_RUN, "padding"),
					  hopper_column_selected(oid, HOPPER_TABLE_RUN, "schema"),
					  summary->quoted) != 1)
		hopper_outputs_refuse(table, psprintf("Its companion \"%s\" must have one row.",
											  summary->shown));
	for (int column = 1; column <= 12; column++)
		if (hopper_cell(0, column) == NULL && column != NUM_CLASSES_COLUMN)
			hopper_outputs_refuse(table, psprintf("In its companion \"%s\" %s is NULL.",
												  summary->shown,
												  SPI_fname(SPI_tuptable->tupdesc, column)));
	y_column = hopper_cell(0, 1);
	out->desc.y_column = y_column;
	out->desc.y_kind = hopper_kind_cell(summary, 0, 2);
	out->desc.x_type = hopper_type_cell(summary, 3);
	out->desc.x_rank = hopper_shape_cell(summary, 0, 4, out->desc.x_shape);
	out->desc.y_type = hopper_type_cell(summary, 5);
	out->desc.y_rank = hopper_shape_cell(summary, 0, 6, out->desc.y_shape);
	if (out->desc.y_kind == HOPPER_LABEL_CLASS)
		out->desc.num_classes = (int32) hopper_int_cell(summary, 0, NUM_CLASSES_COLUMN, 1,
														PACK_MAX_CLASSES);
	out->desc.normalizing_const = hopper_constant_cell(summary, 8);
	out->training_table = hopper_cell(0, 9);
	out->desc.table_name = out->training_table;
	out->x_columns = hopper_name_cells(0, 10, &out->n_x_columns);
	out->x_sql_types = hopper_name_cells(0, 11, &n);
	if (out->n_x_columns < 1)
		hopper_refuse_cell(summary, 0, 10);
	if (n != out->n_x_columns)
		hopper_refuse_cell(summary, 0, 11);
	out->y_sql_type = hopper_cell(0, 12);
	inputs = hopper_cell(0, 13);
	outputs = hopper_cell(0, 14);
	padding = hopper_cell(0, 15);
	out->schema_text = hopper_cell(0, 16);
	if (outputs)
		out->desc.y_column = PACK_LABELS;
	out->desc.x_column = hopper_packed_features(out->n_x_columns, out->x_columns,
												out->desc.y_column);
	SPI_freetuptable(SPI_tuptable);
	hopper_read_inputs(summary, inputs, out->n_x_columns, &out->desc, &out->inputs);
	out->padding = hopper_read_padding(summary, padding, &out->inputs);
	hopper_read_outputs(summary, outputs, &out->desc, &out->y_types, &out->weight_column);
	out->desc.label_unit = hopper_schema_label_unit(out->schema_text);

	if (out->desc.y_kind != HOPPER_LABEL_CLASS)
		return;
	out->class_values_column = hopper_class_values_name(y_column);
	hopper_require_column(oid, out->class_values_column);
	hopper_select("SELECT %s::pg_catalog.text[] FROM %s",
				  hopper_identifier(out->class_values_column), summary->quoted);
	out->desc.class_values = (const char *const *)
		hopper_text_cells(0, 1, &out->desc.n_class_values);
	SPI_freetuptable(SPI_tuptable);
	/* Only the first class can be that of NULL; NULLs at the end are classes without rows. */
	while (out->desc.n_class_values > 1 &&
		   out->desc.class_values[out->desc.n_class_values - 1] == NULL)
		out->desc.n_class_values--;
}

void
hopper_read_trained_data(const hopper_name *table, hopper_trained *out)
{
	Oid			model_oid;
	Oid			info_oid;

	memset(out, 0, sizeof(hopper_trained));
	out->outputs = hopper_outputs_named(table);
	hopper_outputs_open(&out->outputs);
	model_oid = hopper_relation_oid(table, false);
	hopper_require_select(model_oid);
	info_oid = hopper_relation_oid(&out->outputs.info, true);
	if (get_attnum(model_oid, "model_weights") == InvalidAttrNumber || !OidIsValid(info_oid))
		hopper_outputs_refuse(table,
							  psprintf("It has no companion \"%s\" with the models' metrics.",
									   out->outputs.info.shown));
	take_summary_of_packed(out);
	read_summary(out);
}

/* The key, or the best model's. */
static int32
choose_key(const hopper_outputs *outputs, bool has_key, int32 mst_key)
{
	char	   *keys;
	int64		n;
	hopper_best best;

	hopper_select("SELECT count(*), coalesce(min(mst_key), 0),"
				  " string_agg(mst_key::text, ', ' ORDER BY mst_key) FILTER (WHERE place <= 20),"
				  " bool_or(mst_key = %d) "
				  "FROM (SELECT mst_key, row_number() OVER (ORDER BY mst_key) AS place FROM %s) m",
				  has_key ? mst_key : 0, outputs->model.quoted);
	n = hopper_int_cell(&outputs->model, 0, 1, 0, PG_INT64_MAX);
	if (n == 0)
		hopper_raise(ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("\"%s\" holds no model", outputs->model.shown));
	keys = hopper_cell(0, 3);
	if (!has_key && n == 1)
		return hopper_key_cell(&outputs->model, 0, 2);
	if (has_key)
	{
		char	   *found = hopper_cell(0, 4);
		char	   *failure = NULL;

		if (found && found[0] == 't')
			return mst_key;
		if (hopper_select("SELECT error FROM %s WHERE mst_key = %d AND status = 'failed'",
						  outputs->info.quoted, mst_key) > 0)
			failure = hopper_cell(0, 1);
		hopper_raise(ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("\"%s\" holds no model with mst_key %d", outputs->model.shown, mst_key),
					 errdetail("%sIt holds %s: %s%s.",
							   failure ? psprintf("This configuration failed: %s. ", failure) : "",
							   n == 1 ? "mst_key" : "the keys", keys, n > 20 ? " and others" : ""));
	}
	best = hopper_outputs_best(outputs, NULL);
	if (best.metric == NULL)
		hopper_raise(ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("\"%s\" holds " INT64_FORMAT " models: mst_key must be given",
							outputs->model.shown, n),
					 errhint("None of them is the best: they have no metric in common."));
	if (hopper_ranked_by_search(&outputs->info))
		ereport(NOTICE, errmsg("uses configuration %d, the best of its search, with %s %.4f",
							   best.mst_key, best.metric, best.value));
	else
		ereport(NOTICE, errmsg("uses configuration %d, the best by %s", best.mst_key, best.metric));
	return best.mst_key;
}

void
hopper_read_trained(const hopper_name *table, bool has_key, int32 mst_key, hopper_trained *out)
{
	bool		isnull;
	Datum		weights;
	char	   *text;

	hopper_read_trained_data(table, out);
	out->mst_key = choose_key(&out->outputs, has_key, mst_key);

	hopper_select("SELECT m.model_arch::text, m.model_weights, i.compile_params, i.fit_params,"
				  " i.loss_type, i.metrics_type, i.model_id FROM %s m JOIN %s i USING (mst_key)"
				  " WHERE m.mst_key = %d", table->quoted, out->outputs.info.quoted, out->mst_key);
	if (SPI_processed != 1)
		hopper_outputs_refuse(table, psprintf("\"%s\" has no row with mst_key %d.",
											  out->outputs.info.shown, out->mst_key));
	text = hopper_cell(0, 1);
	weights = hopper_value(0, 2, BYTEAOID, &isnull);
	if (text == NULL || isnull)
		hopper_outputs_refuse(table,
							  psprintf("Its row with mst_key %d lacks model_arch or "
									   "model_weights.", out->mst_key));
	out->config.mst_key = out->mst_key;
	out->config.model_arch = hopper_to_utf8(text);
	out->config.model_arch_size = strlen(out->config.model_arch);
	hopper_floats_of(weights, false, &out->weights);
	out->config.n_weights = out->weights.n;
	text = hopper_cell(0, 3);
	out->config.compile_params = text ? hopper_to_utf8(text) : NULL;
	text = hopper_cell(0, 4);
	out->config.fit_params = text ? hopper_to_utf8(text) : NULL;
	out->loss_type = hopper_cell(0, 5);
	out->metrics_type = hopper_name_cells(0, 6, &out->n_metrics);
	text = hopper_cell(0, 7);
	out->config.model_id = text ? hopper_key_cell(&out->outputs.info, 0, 7) : 0;
	SPI_freetuptable(SPI_tuptable);
}

static bool
same_shape(int rank, const int64_t *shape, int other_rank, const int64_t *other)
{
	if (rank != other_rank)
		return false;
	for (int i = 0; i < rank; i++)
		if (shape[i] != other[i])
			return false;
	return true;
}

/* "class 3 is "cat" in "a" but "dog" in "b"", or NULL where the classes are the same. */
static char *
different_class(const hopper_data_desc *a, const char *a_name, const hopper_data_desc *b,
				const char *b_name)
{
	if (a->num_classes != b->num_classes)
		return psprintf("\"%s\" has %d classes, \"%s\" has %d.", a_name, a->num_classes, b_name,
						b->num_classes);
	for (int i = 0; i < Max(a->n_class_values, b->n_class_values); i++)
	{
		const char *a_value = i < a->n_class_values ? a->class_values[i] : "";
		const char *b_value = i < b->n_class_values ? b->class_values[i] : "";

		if (i < a->n_class_values && i < b->n_class_values &&
			(a_value == NULL || b_value == NULL ? a_value == b_value
			 : strcmp(a_value, b_value) == 0))
			continue;
		return psprintf("Class %d is %s in \"%s\" but %s in \"%s\".", i + 1,
						i >= a->n_class_values ? "unnamed" :
						a_value ? psprintf("\"%s\"", a_value) : "NULL", a_name,
						i >= b->n_class_values ? "unnamed" :
						b_value ? psprintf("\"%s\"", b_value) : "NULL", b_name);
	}
	return NULL;
}

void
hopper_check_compatible(const hopper_packed *table, const char *table_is,
						const hopper_data_desc *desc, int n_x_columns, char *const *x_columns,
						const char *schema, const char *trained)
{
	const hopper_data_desc *its = &table->desc;
	const char *name = table->table.shown;
	char	   *why = NULL;

	if (its->n_inputs > 0 || desc->n_inputs > 0)
		why = hopper_different_inputs(its, name, desc, trained);
	if (why == NULL && (its->n_outputs > 0 || desc->n_outputs > 0))
		why = hopper_different_outputs(its, name, desc, trained);
	if (why == NULL && its->weighted != desc->weighted)
		why = psprintf("Its rows have %sweights, those of \"%s\" have %s.",
					   its->weighted ? "" : "no ", trained, its->weighted ? "none" : "some");
	if (why == NULL)
		why = hopper_different_schemas(table->schema_text, name, schema, trained);
	if (why)
		;
	else if (!same_shape(its->x_rank, its->x_shape, desc->x_rank, desc->x_shape))
		why = psprintf("Its examples have shape %s, those of \"%s\" %s.",
					   hopper_shape_words(its->x_rank, its->x_shape), trained,
					   hopper_shape_words(desc->x_rank, desc->x_shape));
	else if (!hopper_same_features(table->n_x_columns, table->x_columns, n_x_columns, x_columns))
		why = psprintf("Its features are %s, those of \"%s\" %s.",
					   hopper_columns_words(table->n_x_columns, table->x_columns), trained,
					   hopper_columns_words(n_x_columns, x_columns));
	else if (its->y_kind != desc->y_kind)
		why = psprintf("Its labels are of another kind than those of \"%s\".", trained);
	else if (its->y_kind == HOPPER_LABEL_CLASS)
		why = different_class(its, name, desc, trained);
	else if (!same_shape(its->y_rank, its->y_shape, desc->y_rank, desc->y_shape))
		why = psprintf("Its labels have shape %s, those of \"%s\" %s.",
					   hopper_shape_words(its->y_rank, its->y_shape), trained,
					   hopper_shape_words(desc->y_rank, desc->y_shape));
	/* the constant is a real in every table */
	if (why == NULL && (float4) its->normalizing_const != (float4) desc->normalizing_const)
		why = psprintf("Its normalizing constant is %g, that of \"%s\" is %g.",
					   its->normalizing_const, trained, desc->normalizing_const);
	if (why)
		hopper_raise(ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("%s \"%s\" does not fit \"%s\"", table_is, name, trained),
					 errdetail("%s", why),
					 strcmp(table_is, "training table") == 0
					 ? errhint("Train on it into other output tables.")
					 : errhint("Pack it with hopper.validation_preprocessor(), which takes "
							   "features, classes and constant from the training table."));
}
