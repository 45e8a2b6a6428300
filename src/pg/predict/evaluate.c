/*
 * evaluate.c
 *		evaluate(): loss and metrics of a trained model on a packed table.
 */
#include "pg/server/ceilings.h"
#include "pg/predict/confusion.h"
#include "pg/server/devices.h"
#include "pg/server/tables.h"
#include "pg/predict/evaluate.h"

static const hopper_column columns[] = {
	{"loss", FLOAT8OID, "loss on these data",.marks = true},
	{"metric", FLOAT8OID, "the first of metrics",.marks = true},
	{"metrics_type", TEXTARRAYOID, HOPPER_MEANS_METRICS_TYPE,.marks = true},
	{"loss_type", TEXTOID, HOPPER_MEANS_LOSS_TYPE,.marks = true},
	{"metrics", FLOAT8ARRAYOID, "values, in the order of metrics_type",.marks = true},
};

#define EVALUATION_COLUMNS lengthof(columns)

const hopper_layout hopper_evaluation_layout = {
	.what = "a table of an evaluation",.columns = columns,.n = EVALUATION_COLUMNS
};

/* What a call is to make: the row, and what was predicted of each class. */
typedef enum
{
	OF_ALL,
	OF_CLASSES,
	N_TABLES
} evaluation_table;

typedef struct evaluation_tables
{
	bool		has[N_TABLES];
	bool		replaces[N_TABLES];
	hopper_table final[N_TABLES];
	hopper_table staging[N_TABLES]; /* the same, or what takes their place once it is filled */
} evaluation_tables;

static void
take_table(FunctionCallInfo fcinfo, int at, const char *argument, hopper_table_kind kind,
		   bool replace, evaluation_tables *tables, evaluation_table which)
{
	hopper_table *final = &tables->final[which];

	tables->has[which] = !PG_ARGISNULL(at);
	if (!tables->has[which])
		return;
	*final = (hopper_table) {hopper_parse_name(PG_GETARG_TEXT_PP(at), argument), kind};
	tables->replaces[which] = hopper_make_room(final, 1, replace);
}

static void
create_tables(evaluation_tables *tables)
{
	memcpy(tables->staging, tables->final, sizeof(tables->staging));
	for (int i = 0; i < N_TABLES; i++)
		if (tables->replaces[i])
			hopper_name_new(&tables->final[i], 1, i == OF_ALL ? "" : "_confusion",
							&tables->staging[i]);
	if (tables->has[OF_ALL])
		hopper_create_layout(&tables->staging[OF_ALL].name, &hopper_evaluation_layout,
							 "an evaluation by model_hopper");
	if (tables->has[OF_CLASSES])
		hopper_create_layout(&tables->staging[OF_CLASSES].name, &hopper_confusion_layout,
							 "predictions counted by class and predicted class");
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
	evaluation_tables tables;
	bool		replace = !PG_ARGISNULL(6) && PG_GETARG_BOOL(6);
	hopper_trained model;
	hopper_packed data;
	hopper_event event;
	hopper_param row[EVALUATION_COLUMNS];

	memset(&tables, 0, sizeof(tables));
	table = hopper_name_argument(fcinfo, 0, "model_table");
	packed_table = hopper_name_argument(fcinfo, 1, "packed_table");
	hopper_require_other_tables(fcinfo, "output_table", (const char *const[]) {
		"confusion_table", "model_table", "packed_table", NULL});
	hopper_require_other_tables(fcinfo, "confusion_table", (const char *const[]) {
		"model_table", "packed_table", NULL});
	take_table(fcinfo, 2, "output_table", HOPPER_TABLE_EVALUATION, replace, &tables, OF_ALL);
	take_table(fcinfo, 5, "confusion_table", HOPPER_TABLE_CONFUSION, replace, &tables, OF_CLASSES);
	hopper_check_use_gpus(!PG_ARGISNULL(3) && PG_GETARG_BOOL(3), "evaluation computes");
	hopper_read_trained(&table, !PG_ARGISNULL(4), hopper_key_argument(fcinfo, 4), &model);
	if (tables.has[OF_CLASSES])
		hopper_require_classes(&model, &table);
	model.config.confusion = tables.has[OF_CLASSES];
	hopper_read_compatible(&packed_table, "test table", &model.data, table.shown, &data);
	/* What cannot be made is found out before the data are read. */
	create_tables(&tables);
	hopper_backend.evaluate(&model, &data, &event,
							tables.has[OF_CLASSES] ? &tables.staging[OF_CLASSES].name : NULL);
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
	if (tables.has[OF_ALL])
	{
		hopper_name table = tables.staging[OF_ALL].name;

		/* in messages what the caller calls it */
		table.shown = tables.final[OF_ALL].name.shown;
		hopper_insert_params(&table, EVALUATION_COLUMNS, row);
	}
	for (int i = 0; i < N_TABLES; i++)
		if (tables.replaces[i])
			(void) hopper_exchange_results(&tables.final[i], &tables.staging[i], 1);
	return hopper_return_params(fcinfo, EVALUATION_COLUMNS, row);
}
