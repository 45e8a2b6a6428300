/*
 * predict.c
 *		predict(): an unpacked table in, a table of predictions out.
 */
#include "pg/predict/run.h"

#include "pg/server/devices.h"

int64
hopper_predict_all(hopper_prediction *run)
{
	int64		n_rows = hopper_backend.predict(run);

	hopper_predict_finish_output(run, n_rows);
	return n_rows;
}

/* Whether no output tells classes apart. */
static bool
predicts_numbers(const hopper_predict_model *model)
{
	for (int i = 0; i < model->n_parts; i++)
		if (hopper_predict_is_class(&model->parts[i]) || model->parts[i].is_each)
			return false;
	return model->n_parts > 0 || model->is_value;
}

void
hopper_predict_tell_unused(const hopper_prediction *run, hopper_predict_kind by_itself)
{
	bool		in_columns = run->model.n_parts > 0 && !run->what.by_output;

	if (run->model.layer || run->what.kind == by_itself)
		return;
	if (!in_columns && predicts_numbers(&run->model))
		ereport(NOTICE,
				errmsg("pred_type has no effect: model \"%s\" predicts numbers", run->model.shown));
	if (in_columns && run->what.kind != PREDICT_RESPONSE)
		ereport(NOTICE, errmsg("pred_type has no effect: model \"%s\" has several outputs, each "
							   "with its columns", run->model.shown));
	if (run->model.is_each && !run->what.by_output &&
		(run->what.kind == PREDICT_TOP || run->what.kind == PREDICT_THRESHOLD ||
		 run->what.kind == PREDICT_COLUMNS))
		ereport(NOTICE, errmsg("pred_type has no effect: model \"%s\" predicts a class at each of "
							   "%d places", run->model.shown, hopper_predict_n_places(&run->model)),
				errhint("pred_type 'prob' gives the probabilities of all classes; "
						"hopper.predict_rows() gives rows of the most probable ones."));
}

/*
 * (model_table, source_table, id_col, independent_varname, output_table, pred_type, use_gpus,
 * mst_key, replace, on_null)
 */
HOPPER_SPI_FUNCTION(hopper_sql_predict)
{
	hopper_prediction *run;
	hopper_name table;
	hopper_trained trained;

	run = palloc0(sizeof(hopper_prediction));
	run->what = hopper_predict_what_argument(fcinfo, 5);
	table = hopper_name_argument(fcinfo, 0, "model_table");
	run->source = hopper_name_argument(fcinfo, 1, "source_table");
	hopper_require_other_tables(fcinfo, "output_table", (const char *const[]) {
		"model_table", "source_table", NULL});
	hopper_predict_prepare_output(fcinfo, run, 4, 8);
	hopper_check_use_gpus(!PG_ARGISNULL(6) && PG_GETARG_BOOL(6), "prediction computes");
	run->work.threads = hopper_effective_threads();
	hopper_read_trained(&table, !PG_ARGISNULL(7), hopper_key_argument(fcinfo, 7), &trained);
	hopper_predict_from_trained(&trained, &run->model);
	hopper_predict_take_layer(&run->model, hopper_text_argument(fcinfo, 10));
	hopper_predict_tell_unused(run, PREDICT_ALL);
	hopper_predict_read_labels(run, &trained);
	run->rows.may_lack = hopper_predict_may_lack(fcinfo, 9);
	hopper_predict_open_source(run, hopper_text_argument(fcinfo, 2),
							   hopper_feature_list(hopper_text_argument(fcinfo, 3),
												   "independent_varname", trained.data.n_x_columns,
												   trained.data.x_columns, &trained.data.inputs,
												   table.shown));
	PG_RETURN_INT64(hopper_predict_all(run));
}
