/*
 * evaluate.c
 *		evaluate(): loss and metrics of a trained model on a packed table.
 */
#include "pg/server/glue.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "utils/array.h"

#include "pg/server/ceilings.h"
#include "pg/predict/confusion.h"
#include "pg/server/devices.h"
#include "pg/server/made.h"
#include "pg/codec/placement.h"
#include "pg/predict/evaluate.h"
#include "pg/server/words.h"

PG_FUNCTION_INFO_V1(hopper_sql_evaluate);

/*
 * evaluate(model_table, packed_table, output_table, use_gpus, mst_key, confusion_table,
 * replace)
 *
 * Loss and metrics are those that the model was compiled with. Without output_table the row is
 * only returned. confusion_table gets a row a class.
 */
Datum
hopper_sql_evaluate(PG_FUNCTION_ARGS)
{
	MemoryContext caller = CurrentMemoryContext;
	hopper_name table;
	hopper_name packed_table;
	hopper_made outputs[2] = {0};
	hopper_made made[2];		/* the same, or what takes their place once it is filled */
	bool		replaces[2] = {false};
	hopper_name output;
	hopper_name confusion;
	bool		replace = !PG_ARGISNULL(6) && PG_GETARG_BOOL(6);
	bool		has_output = !PG_ARGISNULL(2);
	bool		has_confusion = !PG_ARGISNULL(5);
	hopper_trained model;
	hopper_packed data;
	hopper_event event;
	TupleDesc	descriptor;
	Datum		values[5] = {0};
	bool		nulls[5] = {false};
	Oid			types[] = {FLOAT8OID, FLOAT8OID, TEXTARRAYOID, TEXTOID, FLOAT8ARRAYOID};
	Datum		cells[HOPPER_MAX_METRICS];
	HeapTuple	tuple;

	if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "the result of evaluate() is not a row");
	descriptor = BlessTupleDesc(descriptor);
	hopper_connect();
	table = hopper_name_argument(fcinfo, 0, "model_table");
	packed_table = hopper_name_argument(fcinfo, 1, "packed_table");
	if (has_output)
	{
		output = hopper_parse_name(PG_GETARG_TEXT_PP(2), "output_table");
		outputs[0] = (hopper_made) {output, HOPPER_MADE_EVALUATION};
		replaces[0] = hopper_make_room(&outputs[0], 1, replace);
	}
	if (has_confusion)
	{
		confusion = hopper_parse_name(PG_GETARG_TEXT_PP(5), "confusion_table");
		outputs[1] = (hopper_made) {confusion, HOPPER_MADE_CONFUSION};
		replaces[1] = hopper_make_room(&outputs[1], 1, replace);
		if (has_output)
			hopper_require_other_table(&output, "output_table", &confusion, "confusion_table");
	}
	hopper_check_use_gpus(!PG_ARGISNULL(3) && PG_GETARG_BOOL(3));
	hopper_read_trained(&table, !PG_ARGISNULL(4), hopper_key_argument(fcinfo, 4), &model);
	if (has_confusion)
		hopper_require_classes(&model, &table);
	model.config.confusion = has_confusion;
	hopper_read_packed(&packed_table, true, &data);
	hopper_require_partitions(&data);
	hopper_check_compatible(&data, "test table", &model.desc, model.n_x_columns,
							model.x_columns, table.shown);
	/* What cannot be made is found out before the data are read. */
	memcpy(made, outputs, sizeof(made));
	for (int i = 0; i < lengthof(made); i++)
		if (replaces[i])
			hopper_name_elsewhere(&outputs[i], 1, i == 0 ? HOPPER_NEW : HOPPER_NEW "_confusion",
								  &made[i]);
	if (has_output)
		hopper_exec("CREATE TABLE %s (loss pg_catalog.float8, metric pg_catalog.float8,"
					" metrics_type pg_catalog.text[], loss_type pg_catalog.text,"
					" metrics pg_catalog.float8[])"
					HOPPER_DISTRIBUTED_RANDOMLY,
					made[0].name.quoted);
	if (has_output)
		hopper_comment_table(&made[0].name, "an evaluation by model_hopper");
	if (has_confusion)
		hopper_create_confusion(&made[1].name);
	hopper_evaluate_data(&model, &data, &event, has_confusion ? &made[1].name : NULL);
	if (event.n_metrics != model.n_metrics)
		hopper_refuse_damaged(&model.outputs.info,
							  psprintf("Configuration %d has %s; column \"metrics_type\" names %d.",
									   model.mst_key,
									   hopper_plural(event.n_metrics, "metric", "metrics"),
									   model.n_metrics));

	values[0] = Float8GetDatum(event.loss);
	values[1] = event.n_metrics > 0 ? Float8GetDatum(event.metrics[0]) : (Datum) 0;
	nulls[1] = event.n_metrics == 0;
	for (int i = 0; i < model.n_metrics; i++)
		cells[i] = CStringGetTextDatum(model.metrics_type[i]);
	values[2] = PointerGetDatum(construct_array(cells, model.n_metrics, TEXTOID, -1, false, 'i'));
	nulls[2] = model.n_metrics == 0;
	values[3] = model.loss_type ? CStringGetTextDatum(model.loss_type) : (Datum) 0;
	nulls[3] = model.loss_type == NULL;
	for (int i = 0; i < event.n_metrics; i++)
		cells[i] = Float8GetDatum(event.metrics[i]);
	values[4] = PointerGetDatum(construct_array(cells, event.n_metrics, FLOAT8OID, sizeof(float8),
												FLOAT8PASSBYVAL, 'd'));
	nulls[4] = event.n_metrics == 0;

	if (has_output)
	{
		char		spi_nulls[5];

		for (int i = 0; i < 5; i++)
			spi_nulls[i] = nulls[i] ? 'n' : ' ';
		if (SPI_execute_with_args(psprintf("INSERT INTO %s VALUES ($1, $2, $3, $4, $5)",
										   made[0].name.quoted), 5, types, values, spi_nulls, false,
								  0) != SPI_OK_INSERT)
			elog(ERROR, "inserting into \"%s\" failed", output.shown);
	}
	for (int i = 0; i < lengthof(made); i++)
		if (replaces[i])
			(void) hopper_exchange_results(&outputs[i], &made[i], 1);
	MemoryContextSwitchTo(caller);
	tuple = heap_form_tuple(descriptor, values, nulls);
	hopper_finish();
	return HeapTupleGetDatum(tuple);
}
