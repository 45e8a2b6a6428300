/*
 * trained.c
 *		Reading what training left: one model with all that evaluation and prediction need.
 */
#include "pg/train/outputs.h"

#include "pg/codec/schema.h"
#include "pg/train/ranking.h"

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

	if (!OidIsValid(oid) || get_attnum(oid, "independent_shape") == InvalidAttrNumber)
		hopper_outputs_refuse(table,
							  psprintf("It has no companion \"%s\" that describes the run.",
									   summary->shown));
	if (hopper_select("SELECT * FROM %s", summary->quoted) != 1)
		hopper_outputs_refuse(table, psprintf("Its companion \"%s\" must have one row.",
											  summary->shown));
	hopper_read_examples(summary, &out->data);
	out->data.desc.table_name = out->data.source_table;
	hopper_read_parts(summary, &out->data);
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
		hopper_wrong(errmsg("\"%s\" holds no model", outputs->model.shown));
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
		hopper_wrong(errmsg("\"%s\" holds no model with mst_key %d", outputs->model.shown, mst_key),
					 errdetail("%sIt holds %s: %s%s.",
							   failure ? psprintf("This configuration failed: %s. ", failure) : "",
							   n == 1 ? "mst_key" : "the keys", keys, n > 20 ? " and others" : ""));
	}
	best = hopper_outputs_best(outputs, NULL);
	if (best.metric == NULL)
		hopper_wrong(errmsg("\"%s\" holds " INT64_FORMAT " models: mst_key must be given",
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
	out->config.compile_params = hopper_to_utf8(hopper_cell(0, 3));
	out->config.fit_params = hopper_to_utf8(hopper_cell(0, 4));
	out->loss_type = hopper_cell(0, 5);
	out->metrics_type = hopper_name_cells(0, 6, &out->n_metrics);
	text = hopper_cell(0, 7);
	out->config.model_id = text ? hopper_key_cell(&out->outputs.info, 0, 7) : 0;
	SPI_freetuptable(SPI_tuptable);
}

void
hopper_check_compatible(const hopper_packed *table, const char *table_is,
						const hopper_packed *trained, const char *name)
{
	hopper_compared_data packed = {table->table.shown, &table->desc, table->n_x_columns,
	(const char *const *) table->x_columns};
	hopper_compared_data by = {name, &trained->desc, trained->n_x_columns,
	(const char *const *) trained->x_columns};
	const char *of_schemas = hopper_different_schemas(table->schema_text, packed.name,
													  trained->schema_text, name);
	hopper_rows *why = HOPPER_CORE_ROWS(data_difference, &packed, &by, of_schemas);

	if (why->n_rows > 0)
		hopper_wrong(errmsg("%s \"%s\" does not fit \"%s\"", table_is, packed.name, name),
					 errdetail("%s", why->cells[0]),
					 strcmp(table_is, "training table") == 0
					 ? errhint("Train on it into other output tables.")
					 : errhint("Pack it with hopper.validation_preprocessor(), which takes "
							   "features, classes and constant from the training table."));
}

void
hopper_read_compatible(const hopper_name *table, const char *table_is,
					   const hopper_packed *trained, const char *name, hopper_packed *out)
{
	hopper_read_packed(table, true, out);
	hopper_backend.require_partitions(out);
	hopper_check_compatible(out, table_is, trained, name);
}
