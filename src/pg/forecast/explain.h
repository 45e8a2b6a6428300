/*
 * explain.h
 *		One call of explain_fit(), as its files share it.
 */
#ifndef HOPPER_EXPLAIN_H
#define HOPPER_EXPLAIN_H

#include "pg/server/glue.h"

#include "pg/catalog/configs.h"
#include "pg/codec/packed.h"

typedef struct hopper_forecast_request
{
	hopper_name source;
	hopper_name output;
	bool		has_validation;
	hopper_name validation;
	hopper_run_options options;
	hopper_config *configs;
	int			n_configs;
	bool		threads_given;	/* options.threads was said; else it is hopper.threads */
	hopper_packed train;
	hopper_packed valid;

	/* of a finished run: what the journal measured, and of each configuration its info table */
	hopper_explain_run measured;	/* n_workers 0: nothing */
	double	   *trained;		/* worker seconds; or NULL */
	double	   *evaluated;
} hopper_forecast_request;

/* --- what is explained (forecast/request.c) --- */

/* The run that the arguments describe. */
extern void hopper_forecast_planned_run(FunctionCallInfo fcinfo, hopper_forecast_request *request);
/* The last run of request->output as its tables tell it, and what was measured of it. */
extern void hopper_forecast_finished_run(hopper_forecast_request *request);

/* --- the forecast (forecast/explain.c) --- */

/* Reads source and validation table into request->train and ->valid. */
extern void hopper_forecast_read_data(hopper_forecast_request *request);
/*
 * Times steps of the configurations on these data; one result for each. What a run would refuse to
 * begin with is its error.
 */
extern hopper_explain_model *hopper_forecast_models(hopper_forecast_request *request,
													hopper_explain_run *run);

#endif							/* HOPPER_EXPLAIN_H */
