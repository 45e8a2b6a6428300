/*
 * train.c
 *		fit() in the foreground, where all data are in one place.
 */
#include "pg/train/fit.h"

void
hopper_train(hopper_fit *fit)
{
	hopper_training *training = &fit->training;
	ErrorContextCallback context = {error_context_stack, hopper_training_context, training};
	hopper_progress progress;

	error_context_stack = &context;
	hopper_fit_start(fit, &progress);
	hopper_training_run(training, &progress, hopper_progress_line);
	error_context_stack = context.previous;
	hopper_training_take(training);
	hopper_refuse_all_failed(training);
	/* Until now states of the earlier run may have been read. */
	if (fit->warm_start)
		hopper_outputs_clear(&fit->staging, training);
}
