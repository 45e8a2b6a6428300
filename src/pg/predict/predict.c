/*
 * predict.c
 *		predict() and predict_byom(): an unpacked table in, a table of predictions out.
 */
#include "pg/predict/run.h"

#include <math.h>

#include "pg/server/devices.h"
#include "pg/catalog/models.h"

PG_FUNCTION_INFO_V1(hopper_sql_predict);
PG_FUNCTION_INFO_V1(hopper_sql_predict_top);
PG_FUNCTION_INFO_V1(hopper_sql_predict_threshold);
PG_FUNCTION_INFO_V1(hopper_sql_predict_byom);
PG_FUNCTION_INFO_V1(hopper_sql_predict_byom_top);
PG_FUNCTION_INFO_V1(hopper_sql_predict_byom_threshold);

static text *
text_argument(FunctionCallInfo fcinfo, int at)
{
	return PG_ARGISNULL(at) ? NULL : PG_GETARG_TEXT_PP(at);
}

/* The output's name; where it replaces a table, it takes its place when it is filled. */
static void
prepare_output(FunctionCallInfo fcinfo, hopper_prediction *run, int at, int at_replace)
{
	run->final.kind = HOPPER_MADE_PREDICTIONS;
	run->final.name = hopper_parse_name(text_argument(fcinfo, at), "output_table");
	run->output_table = run->final.name;
	if (!hopper_make_room(&run->final, 1,
						  !PG_ARGISNULL(at_replace) && PG_GETARG_BOOL(at_replace)))
		return;
	hopper_require_other_table(&run->final.name, "output_table", &run->source, "source_table");
	run->output_table = hopper_working_name(&run->final.name);
}

static int64
predict_all(hopper_prediction *run)
{
	int64		n_rows = hopper_predict_source(run);

	if (strcmp(run->output_table.name, run->final.name.name) != 0)
	{
		hopper_made made = {run->output_table, HOPPER_MADE_PREDICTIONS};

		(void) hopper_exchange_results(&run->final, &made, 1);
	}
	return n_rows;
}

/*
 * (model_table, source_table, id_col, independent_varname, output_table, pred_type, use_gpus,
 * mst_key, replace, on_null)
 */
static Datum
predict_trained(FunctionCallInfo fcinfo, hopper_predict_what what)
{
	hopper_prediction *run;
	hopper_name table;
	hopper_trained trained;
	int64		n_rows;

	hopper_connect();
	run = palloc0(sizeof(hopper_prediction));
	run->what = what;
	table = hopper_parse_name(text_argument(fcinfo, 0), "model_table");
	run->source = hopper_parse_name(text_argument(fcinfo, 1), "source_table");
	prepare_output(fcinfo, run, 4, 8);
	hopper_check_use_gpus(!PG_ARGISNULL(6) && PG_GETARG_BOOL(6));
	run->threads = hopper_effective_threads();
	hopper_read_trained(&table, !PG_ARGISNULL(7), hopper_key_argument(fcinfo, 7), &trained);
	hopper_predict_from_trained(&trained, &run->model);
	hopper_predict_take_layer(&run->model, PG_NARGS() > 10 ? text_argument(fcinfo, 10) : NULL);
	if (run->model.is_value && run->model.layer == NULL && run->what.kind != PREDICT_ALL)
		ereport(NOTICE,
				(errmsg("pred_type has no effect: model \"%s\" predicts numbers", table.shown)));
	if (run->model.n_parts > 0 && run->what.kind != PREDICT_ALL &&
		run->what.kind != PREDICT_RESPONSE)
		ereport(NOTICE,
				(errmsg("pred_type has no effect: model \"%s\" has several outputs, each with its "
						"columns", table.shown)));
	hopper_predict_read_labels(run, &trained);
	run->rows.may_lack = hopper_predict_may_lack(fcinfo, 9);
	hopper_predict_open_source(run, text_argument(fcinfo, 2),
							   hopper_feature_list(text_argument(fcinfo, 3),
												   "independent_varname", trained.n_x_columns,
												   trained.x_columns, &trained.inputs,
												   table.shown));
	n_rows = predict_all(run);
	hopper_finish();
	PG_RETURN_INT64(n_rows);
}

/*
 * (model_arch_table, model_id, source_table, id_col, independent_varname, output_table, pred_type,
 * use_gpus, class_values, normalizing_const, replace, on_null)
 */
static Datum
predict_byom(FunctionCallInfo fcinfo, hopper_predict_what what)
{
	hopper_prediction *run;
	hopper_name table;
	hopper_model stored;
	hopper_model_info info;
	hopper_error error;
	hopper_predict_model *model;
	int64		n_outputs = 1;
	int64		n_rows;

	hopper_connect();
	run = palloc0(sizeof(hopper_prediction));
	model = &run->model;
	run->what = what;
	table = hopper_parse_name(text_argument(fcinfo, 0), "model_arch_table");
	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"model_id\" must not be null")));
	run->source = hopper_parse_name(text_argument(fcinfo, 2), "source_table");
	prepare_output(fcinfo, run, 5, 10);
	hopper_check_use_gpus(!PG_ARGISNULL(7) && PG_GETARG_BOOL(7));
	run->threads = hopper_effective_threads();
	model->normalizing_const = PG_ARGISNULL(9) ? 1.0 : PG_GETARG_FLOAT8(9);
	if (!(model->normalizing_const > 0 && isfinite(model->normalizing_const)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("normalizing_const must be positive, got %g", model->normalizing_const)));

	hopper_require_model_table(&table);
	hopper_read_model(&table, hopper_key_argument(fcinfo, 1), &stored);
	if (stored.weights == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("model %d of \"%s\" has no weights", stored.model_id, table.shown),
				 errhint("Store them with hopper.load_model(), or train the model.")));
	HOPPER_CHECK(hopper_core()->check_weights(stored.arch, stored.arch_size, stored.weights,
											  stored.n_weights, &error), error);
	HOPPER_CHECK(hopper_core()->inspect_model(stored.arch, stored.arch_size, &info, &error), error);
	if (info.n_outputs > 1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("model %d of \"%s\" has several outputs, which predict_byom() does not "
						"take apart", stored.model_id, table.shown),
				 errhint("Train it, if only for an iteration with a learning rate of 0, and use "
						 "hopper.predict().")));
	model->shown = stored.name ? stored.name : psprintf("%s %d", table.shown, stored.model_id);
	model->model_arch = stored.arch;
	model->model_arch_size = stored.arch_size;
	model->weights = stored.weights;
	model->n_weights = stored.n_weights;
	model->x_rank = info.input_rank;
	memcpy(model->x_shape, info.input_shape, sizeof(model->x_shape));
	model->class_name = "dependent_var";
	for (int i = 0; i < info.output_rank; i++)
		n_outputs *= info.output_shape[i];
	if (!PG_ARGISNULL(8))
		hopper_predict_given_classes(model, PG_GETARG_ARRAYTYPE_P(8));
	else if (info.output_rank > 0 && n_outputs == 1)
		/* One output is a value; a classifier's comes with its two class values. */
		model->is_value = true;
	run->rows.may_lack = hopper_predict_may_lack(fcinfo, 11);
	/* These models do not know their features' names. */
	hopper_predict_open_source(run, text_argument(fcinfo, 3),
							   hopper_column_list(text_argument(fcinfo, 4),
												  "independent_varname"));
	n_rows = predict_all(run);
	hopper_finish();
	PG_RETURN_INT64(n_rows);
}

Datum
hopper_sql_predict(PG_FUNCTION_ARGS)
{
	return predict_trained(fcinfo, hopper_predict_what_by_name(fcinfo, 5));
}

Datum
hopper_sql_predict_top(PG_FUNCTION_ARGS)
{
	return predict_trained(fcinfo, hopper_predict_what_by_count(fcinfo, 5));
}

Datum
hopper_sql_predict_threshold(PG_FUNCTION_ARGS)
{
	return predict_trained(fcinfo, hopper_predict_what_by_threshold(fcinfo, 5));
}

Datum
hopper_sql_predict_byom(PG_FUNCTION_ARGS)
{
	return predict_byom(fcinfo, hopper_predict_what_by_name(fcinfo, 6));
}

Datum
hopper_sql_predict_byom_top(PG_FUNCTION_ARGS)
{
	return predict_byom(fcinfo, hopper_predict_what_by_count(fcinfo, 6));
}

Datum
hopper_sql_predict_byom_threshold(PG_FUNCTION_ARGS)
{
	return predict_byom(fcinfo, hopper_predict_what_by_threshold(fcinfo, 6));
}
