/*
 * devices.c
 *		Checking what a call may compute on.
 */
#include "pg/server/devices.h"

/* ERROR where there is none. */
static int
count_gpus(void)
{
	hopper_rows *gpus = hopper_made(hopper_torch("use_gpus")->gpus(HOPPER_MADE));

	if (gpus->n_rows == 0)
		hopper_unmet(errmsg("no GPU is available"),
					 errhint("Call it with use_gpus => false; hopper.build_info() tells what "
							 "this installation can use."));
	return gpus->n_rows;
}

void
hopper_check_use_gpus(bool use_gpus, const char *what)
{
	int			n;

	if (!use_gpus)
		return;
	n = count_gpus();
	hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED, errmsg("%s on the CPU only", what),
				 errdetail("%s found, but GPUs are used for training.",
						   hopper_plural(n, "GPU was", "GPUs were")),
				 errhint("Call it with use_gpus => false."));
}

void
hopper_choose_gpus(bool use_gpus, const int32 *gpus, int n, bool fuse, hopper_run_options *options)
{
	if (!use_gpus)
	{
		if (gpus != NULL)
			hopper_wrong(errmsg("gpus are named but use_gpus is false"),
						 errhint("Add use_gpus => true, or leave gpus out."));
		return;
	}
	if (!HOPPER_DATA_ON_SEGMENTS)	/* which look for themselves */
		count_gpus();
	options->use_gpus = 1;
	options->fuse = fuse ? 1 : 0;
	if (gpus == NULL)
		return;
	options->n_gpus = n;
	options->gpus = gpus;
}

const char *
hopper_devices_text(const hopper_run_options *options)
{
	if (!options->use_gpus)
		return hopper_plural(options->threads, "thread", "threads");
	if (HOPPER_DATA_ON_SEGMENTS)
		return "the segments' GPUs";
	return hopper_plural(options->n_gpus > 0 ? options->n_gpus : count_gpus(), "GPU", "GPUs");
}

void
hopper_check_precision(const char *precision, bool on_gpus)
{
	int32_t		emulated = 0;
	double		gain = 1;

	if (strcmp(precision, "fp32") == 0)
		return;
	HOPPER_CHECK(hopper_engine(on_gpus ? "use_gpus" : NULL)->check_precision(
		hopper_to_utf8(precision), on_gpus, &emulated, &gain, hopper_fault));
	if (emulated || gain < 1)
		ereport(NOTICE, errmsg("dtype \"%s\" is slower than \"fp32\" here", precision),
				errdetail("%sA product took %.1f times as long as in fp32 when it was tried.",
						  emulated ? "This CPU has no bfloat16 instructions: they are emulated. "
						  : "", 1 / gain));
}

int
hopper_choose_threads(bool given, int32 threads)
{
	int			processors;
	int			allowed;

	if (!given)
		return hopper_effective_threads();
	if (threads < 1 || threads > HOPPER_MAX_THREADS)
		hopper_wrong(errmsg("threads must be between 1 and %d, got %d", HOPPER_MAX_THREADS,
							threads),
					 errhint("Leave it out to use hopper.threads."));
	allowed = hopper_allowed_threads(threads);
	processors = hopper_core()->available_processors();
	if (allowed < threads)
		ereport(NOTICE,
				errmsg("%s asked for, but %s", hopper_plural(threads, "thread was", "threads were"),
					   hopper_max_threads_words()));
	else if (threads > processors)
		ereport(NOTICE, errmsg("%s asked for, but the server has %s",
							   hopper_plural(threads, "thread was", "threads were"),
							   hopper_plural(processors, "processor", "processors")));
	return allowed;
}
