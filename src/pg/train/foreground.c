/*
 * foreground.c
 *		fit() in the foreground: the loop, in the caller's statement.
 */
#include "pg/train/fit.h"

static void
start(hopper_fit *fit, hopper_progress *progress)
{
	hopper_training *training = &fit->training;
	ErrorContextCallback context = {error_context_stack, hopper_training_context, training};

	error_context_stack = &context;
	hopper_fit_start(fit, progress);
	/* Segments have taken the states of the earlier run, and write into the outputs themselves. */
	if (fit->warm_start && HOPPER_DATA_ON_SEGMENTS)
		hopper_outputs_clear(training);
	error_context_stack = context.previous;
}

/* One that has failed does not wait for the others to end. */
static void
refuse_failed(hopper_training *training)
{
	if (training->n_failed < training->n_configs)
		return;
	hopper_training_take(training);
	hopper_refuse_all_failed(training);
}

static void
run(hopper_training *training, hopper_progress *progress)
{
	ErrorContextCallback context = {error_context_stack, hopper_training_context, training};

	error_context_stack = &context;
	while (!hopper_backend.training->step(training, hopper_progress_timeout(progress)))
	{
		hopper_progress_line(progress, training);
		for (hopper_training *one = training; training->beside && one; one = one->beside)
			refuse_failed(one);
	}
	error_context_stack = context.previous;
}

void
hopper_train(hopper_fit *const *fits, int n)
{
	hopper_progress progress;
	const char *wants_libtorch = NULL;

	/* Runs that take turns are of one library. */
	for (int i = 0; i < n && wants_libtorch == NULL; i++)
		wants_libtorch = fits[i]->training.wants_libtorch;
	for (int i = 0; i < n; i++)
	{
		hopper_training *training = &fits[i]->training;

		training->wants_libtorch = wants_libtorch;
		training->options.memory_limit /= n;
		training->leader = i > 0 ? &fits[0]->training : NULL;
		start(fits[i], &progress);
		if (i > 0)
			fits[i - 1]->training.beside = training;
	}
	run(&fits[0]->training, &progress);
	for (int i = 0; i < n; i++)
	{
		hopper_training_take(&fits[i]->training);
		hopper_refuse_all_failed(&fits[i]->training);
		/* Elsewhere they may have been read until now. */
		if (fits[i]->warm_start && !HOPPER_DATA_ON_SEGMENTS)
			hopper_outputs_clear(&fits[i]->training);
	}
}
