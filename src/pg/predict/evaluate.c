/*
 * evaluate.c
 *		evaluate(): loss and metrics of a trained model on a packed table.
 */
#include "pg/predict/evaluate.h"
#include "pg/server/devices.h"
#include "pg/server/tables.h"

static const hopper_column evaluation_columns[] = {
	{"loss", FLOAT8OID, "loss on these data",.marks = true},
	{"metric", FLOAT8OID, "the first of metrics",.marks = true},
	{"metrics_type", TEXTARRAYOID, HOPPER_MEANS_METRICS_TYPE,.marks = true},
	{"loss_type", TEXTOID, HOPPER_MEANS_LOSS_TYPE,.marks = true},
	{"metrics", FLOAT8ARRAYOID, "values, in the order of metrics_type",.marks = true},
};

#define EVALUATION_COLUMNS lengthof(evaluation_columns)

const hopper_layout hopper_evaluation_layout = {
	.what = "a table of an evaluation",.columns = evaluation_columns,.n = EVALUATION_COLUMNS
};

/* Takes the table that an argument names, if there is one. */
static void
take_table(FunctionCallInfo fcinfo, int at, const char *argument, hopper_table_kind kind,
		   hopper_making *making, const char *what)
{
	if (PG_ARGISNULL(at))
		return;
	making->n = 1;
	making->tables[0] = (hopper_table) {hopper_name_argument(fcinfo, at, argument), kind};
	hopper_making_begin(making, !PG_ARGISNULL(6) && PG_GETARG_BOOL(6), what);
}

/*
 * evaluate(model_table, packed_table, output_table, use_gpus, mst_key, confusion_table,
 * replace)
 *
 * Loss and metrics are those that the model was compiled with. Without output_table the row is
 * only returned. confusion_table gets a row a class.
 */
HOPPER_SPI_FUNCTION(hopper_sql_evaluate)
{
	hopper_name table;
	hopper_name packed_table;
	hopper_making row_table = {0};	/* of the result, */
	hopper_making classes = {0};	/* and of what was predicted of each class */
	hopper_name *counts = NULL;
	hopper_trained model;
	hopper_packed data;
	hopper_event event;
	hopper_param row[EVALUATION_COLUMNS];

	table = hopper_name_argument(fcinfo, 0, "model_table");
	packed_table = hopper_name_argument(fcinfo, 1, "packed_table");
	hopper_require_other_tables(fcinfo, "output_table", (const char *const[]) {
		"confusion_table", "model_table", "packed_table", NULL});
	hopper_require_other_tables(fcinfo, "confusion_table", (const char *const[]) {
		"model_table", "packed_table", NULL});
	take_table(fcinfo, 2, "output_table", HOPPER_TABLE_EVALUATION, &row_table, "");
	take_table(fcinfo, 5, "confusion_table", HOPPER_TABLE_CONFUSION, &classes, "_confusion");
	hopper_check_use_gpus(!PG_ARGISNULL(3) && PG_GETARG_BOOL(3), "evaluation computes");
	hopper_read_trained(&table, !PG_ARGISNULL(4), hopper_key_argument(fcinfo, 4), &model);
	if (classes.n > 0)
		hopper_require_classes(&model, &table);
	model.config.confusion = classes.n;
	hopper_read_compatible(&packed_table, "test table", &model.data, table.shown, &data);
	/* What cannot be made is found out before the data are read. */
	if (row_table.n > 0)
		hopper_create_layout(&row_table.made[0].name, &hopper_evaluation_layout,
							 "an evaluation by model_hopper");
	if (classes.n > 0)
	{
		counts = &classes.made[0].name;
		hopper_create_layout(counts, &hopper_confusion_layout,
							 "predictions counted by class and predicted class");
	}
	hopper_backend.evaluate(&model, &data, &event, counts);
	if (event.n_metrics != model.n_metrics)
		hopper_refuse_damaged(&model.outputs.info,
							  psprintf("Configuration %d has %s; column \"metrics_type\" names %d.",
									   model.mst_key,
									   hopper_plural(event.n_metrics, "metric", "metrics"),
									   model.n_metrics));
	row[0] = HOPPER_FLOAT8(event.loss);
	row[1] = HOPPER_IF(event.n_metrics > 0, HOPPER_FLOAT8(event.metrics[0]));
	row[2] = hopper_texts_param(model.n_metrics, model.metrics_type);
	row[3] = hopper_text_param(model.loss_type);
	row[4] = HOPPER_IF(event.n_metrics > 0,
					   HOPPER_PARAM(FLOAT8ARRAYOID,
									hopper_floats_datum(event.n_metrics, event.metrics)));
	if (row_table.n > 0)
	{
		hopper_name made = row_table.made[0].name;

		/* in messages what the caller calls it */
		made.shown = row_table.tables[0].name.shown;
		hopper_insert_params(&made, EVALUATION_COLUMNS, row);
	}
	(void) hopper_making_end(&row_table);
	(void) hopper_making_end(&classes);
	return hopper_return_params(fcinfo, EVALUATION_COLUMNS, row);
}
