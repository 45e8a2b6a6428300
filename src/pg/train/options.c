/*
 * options.c
 *		How a run trains where its caller says nothing.
 */
#include "pg/train/options.h"

#include "pg/server/devices.h"

void
hopper_default_options(hopper_run_options *options)
{
	memset(options, 0, sizeof(*options));
	options->num_iterations = 1;
	options->metrics_compute_frequency = 1;
	options->precision = "fp32";
	options->training_metrics = HOPPER_METRICS_FINAL;
	options->threads_per_model = 1;
	options->mix_numerics = hopper_mix_numerics ? 1 : 0;
}

void
hopper_take_resources(hopper_run_options *options, bool threads_given, int32 threads)
{
	options->threads = hopper_choose_threads(threads_given, threads);
	options->memory_limit = hopper_effective_memory_limit();
}

static int32
positive(FunctionCallInfo fcinfo, const char *argument, int32 otherwise)
{
	return hopper_positive_argument(fcinfo, hopper_argument(fcinfo, argument), argument,
									otherwise);
}

void
hopper_take_course(FunctionCallInfo fcinfo, hopper_run_options *options)
{
	char	   *training_metrics = hopper_string_named(fcinfo, "training_metrics");

	options->num_iterations = positive(fcinfo, "num_iterations", 0);
	options->metrics_compute_frequency = positive(fcinfo, "metrics_compute_frequency",
												  options->metrics_compute_frequency);
	options->validation_freq = positive(fcinfo, "validation_freq",
										options->metrics_compute_frequency);
	if (training_metrics)
		options->training_metrics = hopper_training_metrics_named(training_metrics);
	options->threads_per_model = positive(fcinfo, "threads_per_model",
										  options->threads_per_model);
	HOPPER_CORE(check_threads_per_model, options->threads, options->threads_per_model);
}

static const struct
{
	int			metrics;
	const char *name;
}			metrics_names[] = {
	{HOPPER_METRICS_RUNNING, "running"},
	{HOPPER_METRICS_FINAL, "final"},
	{HOPPER_METRICS_EVERY, "every"},
};

int
hopper_training_metrics_named(const char *name)
{
	for (int i = 0; i < lengthof(metrics_names); i++)
		if (strcmp(name, metrics_names[i].name) == 0)
			return metrics_names[i].metrics;
	hopper_wrong(errmsg("training_metrics \"%s\" is not known", name),
				 errhint("Use 'running' (taken while the weights move), 'final' (and evaluated "
						 "after the last iteration) or 'every' (evaluated at each metrics "
						 "iteration)."));
	return 0;
}

const char *
hopper_training_metrics_name(int metrics)
{
	for (int i = 0; i < lengthof(metrics_names); i++)
		if (metrics_names[i].metrics == metrics)
			return metrics_names[i].name;
	elog(ERROR, "unknown training metrics %d", metrics);
	return NULL;
}
