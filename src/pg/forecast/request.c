/*
 * request.c
 *		What explain_fit() is asked about: a run that its arguments describe, or a finished one.
 */
#include "pg/forecast/explain.h"

#include "pg/server/devices.h"
#include "pg/server/own_tables.h"
#include "pg/catalog/models.h"
#include "pg/train/options.h"
#include "pg/train/output_rows.h"
#include "pg/train/outputs.h"

void
hopper_forecast_planned_run(FunctionCallInfo fcinfo, hopper_forecast_request *request)
{
	hopper_run_options *options = &request->options;
	int			threads = hopper_argument(fcinfo, "threads");
	char	   *dtype = hopper_string_named(fcinfo, "dtype");
	hopper_name selection;
	hopper_name models;

	request->source = hopper_name_named(fcinfo, "packed_table");
	selection = hopper_name_named(fcinfo, "model_selection_table");
	hopper_default_options(options);
	request->has_validation =
		hopper_is_given(fcinfo, hopper_argument(fcinfo, "validation_table"));
	if (request->has_validation)
		request->validation = hopper_name_named(fcinfo, "validation_table");
	options->threads =
		hopper_choose_threads(hopper_is_given(fcinfo, threads),
							  hopper_integer_argument(fcinfo, threads, "threads", 0));
	request->threads_given = hopper_is_given(fcinfo, threads);
	hopper_take_course(fcinfo, options);
	if (dtype)
		options->precision = dtype;
	hopper_check_precision(options->precision, false);
	request->configs = hopper_load_configs(&selection, &models, &request->n_configs);
}

/* What the journal measured; returns the threads of a model. */
static int
read_journal(Oid output, hopper_explain_run *run)
{
	hopper_own_scope scope = hopper_own_begin(JOURNAL_RUNS);
	int			threads_per_model = 1;

	if (hopper_select("SELECT r.workers, r.threads_per_model, r.seconds,"
					  " r.seconds_reading + coalesce(sum(v.seconds_read), 0),"
					  " r.seconds_hop, coalesce(sum(v.seconds_train), 0),"
					  " coalesce(sum(v.seconds_evaluate), 0), r.idle_share"
					  " FROM %s r LEFT JOIN %s v"
					  " ON v.run = r.run WHERE r.output = %u GROUP BY r.run, r.workers,"
					  " r.threads_per_model, r.seconds, r.seconds_reading, r.seconds_hop,"
					  " r.idle_share ORDER BY r.run DESC LIMIT 1",
					  hopper_own_name(JOURNAL_RUNS), hopper_own_name(JOURNAL_VISITS),
					  output) == 1)
	{
		run->n_workers = hopper_key_cell(NULL, 0, 1);
		threads_per_model = hopper_key_cell(NULL, 0, 2);
		run->seconds = hopper_float_value(0, 3);
		run->seconds_read = hopper_float_value(0, 4);
		run->seconds_hop = hopper_float_value(0, 5);
		run->seconds_train = hopper_float_value(0, 6);
		run->seconds_evaluate = hopper_float_value(0, 7);
		run->idle_share = hopper_float_value(0, 8);
		run->seconds_wait = run->idle_share * run->seconds * run->n_workers;
	}
	hopper_own_end(&scope);
	return threads_per_model;
}

void
hopper_forecast_finished_run(hopper_forecast_request *request)
{
	hopper_run_options *options = &request->options;
	hopper_outputs outputs = hopper_outputs_named(&request->output);
	hopper_run_record record = {0};
	hopper_name models;
	hopper_config *config;
	uint64		n;
	hopper_trained trained;

	/* The journal knows the threads of a model. */
	options->threads_per_model = read_journal(hopper_relation_oid(&request->output, false),
											  &request->measured);
	hopper_read_trained_data(&request->output, &trained);
	hopper_require_select(hopper_relation_oid(&outputs.info, false));
	hopper_read_summary(&outputs, &record, options);
	request->source = hopper_name_in(&outputs.summary, &request->output, record.source_table,
									 "source_table");
	request->has_validation = record.validation_table != NULL;
	if (request->has_validation)
		request->validation = hopper_name_in(&outputs.summary, &request->output,
											 record.validation_table, "validation_table");
	models = hopper_name_in(&outputs.summary, &request->output, record.model_arch_table,
							"model_arch_table");
	/* What GPUs alone have is timed as what stands for it here. */
	options->precision = strcmp(options->precision, "bf16") == 0 ? "bf16" : "fp32";

	n = hopper_select("SELECT mst_key::pg_catalog.int4, model_id::pg_catalog.int4,"
					  " compile_params::pg_catalog.text, fit_params::pg_catalog.text,"
					  " seconds_training, seconds_evaluating FROM %s ORDER BY mst_key",
					  outputs.info.quoted);
	request->configs = config = palloc0(Max(n, 1) * sizeof(hopper_config));
	request->trained = palloc(Max(n, 1) * sizeof(double));
	request->evaluated = palloc(Max(n, 1) * sizeof(double));
	request->n_configs = (int) n;
	for (uint64 row = 0; row < n; row++, config++)
	{
		config->mst_key = hopper_key_cell(&outputs.info, row, 1);
		config->model_id = hopper_key_cell(&outputs.info, row, 2);
		config->compile_params = hopper_to_utf8(hopper_text_cell(&outputs.info, row, 3));
		config->fit_params = hopper_to_utf8(hopper_cell(row, 4));
		request->trained[row] = hopper_float_value(row, 5);
		request->evaluated[row] = hopper_float_value(row, 6);
	}
	hopper_require_model_table(&models);
	for (int i = 0; i < request->n_configs; i++)
	{
		hopper_model model;

		hopper_read_model(&models, request->configs[i].model_id, &model);
		request->configs[i].model_arch = model.arch;
		request->configs[i].model_arch_size = model.arch_size;
	}
}
