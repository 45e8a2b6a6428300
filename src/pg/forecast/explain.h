/*
 * explain.h
 *		One call of explain_fit(), as its files share it.
 */
#ifndef HOPPER_EXPLAIN_H
#define HOPPER_EXPLAIN_H

#include "pg/server/glue.h"

#include "pg/catalog/configs.h"
#include "pg/codec/packed.h"

#define EXPLAIN_COLUMNS 5

typedef struct hopper_forecast_request
{
	hopper_name source;
	hopper_name output;
	bool		has_validation;
	hopper_name validation;
	hopper_run_options options;
	hopper_config *configs;
	int			n_configs;
	bool		measure;
	bool		threads_given;	/* options.threads was said; else it is hopper.threads */
	int			workers;		/* of the finished run; 0: none is known */
	hopper_packed train;
	hopper_packed valid;

	/* the lines */
	int			n_lines;
	int			allocated;
	char	  **cells;
} hopper_forecast_request;

/* What the journal says of a finished run, and its info table of its models. */
typedef struct hopper_measured_run
{
	bool		known;
	int			workers;
	double		seconds;
	double		read;
	double		wait;
	double		hop;
	double		train;
	double		evaluate;
	double		idle_share;
} hopper_measured_run;

/* --- what is explained (forecast/request.c) --- */

/* The run that the arguments describe. */
extern void hopper_forecast_planned_run(FunctionCallInfo fcinfo, hopper_forecast_request *request);
/* The last run of request->output: as its tables tell it, and what the journal measured. */
extern void hopper_forecast_finished_run(hopper_forecast_request *request,
										 hopper_measured_run *measured);

/* --- the forecast (forecast/explain.c) --- */

/* Reads source and validation table into request->train and ->valid. */
extern void hopper_forecast_read_data(hopper_forecast_request *request);
/*
 * Times steps of the configurations on these data; one result for each. What a run would refuse to
 * begin with is its error.
 */
extern hopper_explain_model *hopper_forecast_models(hopper_forecast_request *request,
													hopper_explain_run *run);

/* --- the result (forecast/lines.c) --- */

extern void hopper_forecast_lines_of_run(hopper_forecast_request *request,
										 const hopper_explain_run *run,
								 const hopper_explain_model *models,
										 const hopper_measured_run *measured);
/* A few lines for each configuration. */
extern void hopper_forecast_lines_of_models(hopper_forecast_request *request,
											const hopper_explain_model *models);

#endif							/* HOPPER_EXPLAIN_H */
