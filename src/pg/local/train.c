/*
 * train.c
 *		Training where all data are in one place.
 */
#include "pg/train/outputs.h"

void
hopper_train(hopper_training *training, const hopper_outputs *outputs, bool replace)
{
	hopper_training_run(training);
	/* Until now states of the earlier run may have been read. */
	if (replace)
		hopper_outputs_clear(outputs, training);
}
