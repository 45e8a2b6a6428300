/*
 * foreground.c
 *		fit() in the foreground: the loop, in the caller's statement.
 */
#include "pg/train/fit.h"

void
hopper_training_run(hopper_training *training, hopper_progress *progress,
					void (*go_on) (hopper_progress *progress, const hopper_training *training))
{
	while (!hopper_backend.training->step(training, hopper_progress_timeout(progress)))
		go_on(progress, training);
}

void
hopper_train(hopper_fit *fit)
{
	hopper_training *training = &fit->training;
	ErrorContextCallback context = {error_context_stack, hopper_training_context, training};
	hopper_progress progress;

	error_context_stack = &context;
	hopper_fit_start(fit, &progress);
	/* Segments have taken the states of the earlier run, and write into the outputs themselves. */
	if (fit->warm_start && HOPPER_DATA_ON_SEGMENTS)
		hopper_outputs_clear(&fit->staging, training);
	hopper_training_run(training, &progress, hopper_progress_line);
	error_context_stack = context.previous;
	hopper_training_take(training);
	hopper_refuse_all_failed(training);
	/* Elsewhere they may have been read until now. */
	if (fit->warm_start && !HOPPER_DATA_ON_SEGMENTS)
		hopper_outputs_clear(&fit->staging, training);
}
