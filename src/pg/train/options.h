/*
 * options.h
 *		How a run trains where its caller says nothing, and arguments that fit(), explain_fit() and
 *		searches have alike.
 */
#ifndef HOPPER_OPTIONS_H
#define HOPPER_OPTIONS_H

#include "model_hopper/run.h"

#include "pg/server/glue.h"

/* One iteration with the defaults of fit() in SQL; not the threads and the memory. */
extern void hopper_default_options(hopper_run_options *options);
/* Its threads and memory; a NOTICE where ceilings leave less than is asked for. */
extern void hopper_take_resources(hopper_run_options *options, bool threads_given, int32 threads);

/*
 * What fit() and explain_fit() are told alike, by the arguments' names: how long, what is measured
 * when, and threads_per_model, which options->threads must have room for.
 */
extern void hopper_take_course(FunctionCallInfo fcinfo, hopper_run_options *options);

/* training_metrics and its name */
extern int	hopper_training_metrics_named(const char *name);
extern const char *hopper_training_metrics_name(int metrics);

#endif							/* HOPPER_OPTIONS_H */
