/*
 * part.c
 *		How this process joins a run, leaves it, and what its messages call it.
 */
#include "pg/greenplum/segment/part.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "cdb/cdbvars.h"

#include "pg/greenplum/wire.h"

hopper_segment_part hopper_current;

bool
hopper_is_current(int64 run)
{
	return hopper_current.group != NULL && hopper_current.id == run &&
		hopper_current.role == GetUserId();
}

void
hopper_segment_part_leave(void)
{
	const hopper_group_api *api = hopper_current.api;
	hopper_group *group = hopper_current.group;
	int			event_fd = hopper_current.event_fd;

	if (hopper_current.id == 0)
		return;
	memset(&hopper_current, 0, sizeof(hopper_current));
	if (group)
		api->free(group);
	close(event_fd);
}

static void
transaction_ends(XactEvent event, void *arg)
{
	hopper_segment_part_leave();
}

static void
subtransaction_ends(SubXactEvent event, SubTransactionId mine, SubTransactionId parent, void *arg)
{
	if (hopper_current.id == 0 || hopper_current.subxact != mine)
		return;
	if (event == SUBXACT_EVENT_ABORT_SUB)
		hopper_segment_part_leave();
	else if (event == SUBXACT_EVENT_COMMIT_SUB)
		hopper_current.subxact = parent;
}

static void
process_ends(int code, Datum arg)
{
	hopper_segment_part_leave();
}

/* From now on the end of a transaction or of this process ends what it has of a run. */
static void
follow_transactions(void)
{
	static bool registered = false;

	if (registered)
		return;
	RegisterXactCallback(transaction_ends, NULL);
	RegisterSubXactCallback(subtransaction_ends, NULL);
	before_shmem_exit(process_ends, (Datum) 0);
	registered = true;
}

void
hopper_segment_part_enter(const hopper_segment_stint *stints, int n)
{
	for (int i = 0; i < n; i++)
		HOPPER_CHECK(hopper_current.api->enter(hopper_current.group, &stints[i].config,
											   stints[i].iterations, stints[i].done,
											   hopper_fault));
}

void
hopper_segment_part_context(void *arg)
{
	if (hopper_current.id == 0)
		errcontext("reading packed data on segment %d", GpIdentity.segindex);
	else if (hopper_current.mst_key > 0)
		errcontext("training of \"%s\" on segment %d, configuration %d", hopper_current.shown,
				   GpIdentity.segindex, hopper_current.mst_key);
	else
		errcontext("training of \"%s\" on segment %d", hopper_current.shown, GpIdentity.segindex);
}

/* Which GPU this process gets is the group's to say, from its number on this host. */
static void
choose_gpu(hopper_segment_run *run)
{
	char		host[256] = "";

	if (!run->options.use_gpus)
		return;
	if (GpIdentity.segindex >= 0 && GpIdentity.segindex < run->n_segments)
		run->options.device_number = run->segment_numbers[GpIdentity.segindex];
	if (hopper_made(hopper_torch("use_gpus")->gpus(HOPPER_MADE))->n_rows > 0)
		return;
	if (gethostname(host, sizeof(host) - 1) != 0)
		strlcpy(host, "unknown", sizeof(host));
	hopper_unmet(errmsg("no GPU is available on segment %d, host \"%s\"", GpIdentity.segindex,
						host),
				 errdetail("With use_gpus, each segment with packed data trains on a GPU of its "
						   "host."),
				 errhint("Call it with use_gpus := false, or pack the data with "
						 "distribution_rules := 'gpu_segments'; hopper.gpu_configuration() "
						 "lists the GPUs of all hosts."));
}

void
hopper_segment_part_join(int64 id, const bytea *description, int32 key)
{
	const hopper_group_api *api;
	hopper_segment_run run;
	hopper_group *group;

	/* Which the following statements come to, too. */
	if (!Gp_is_writer)
		elog(ERROR, "data came to a process that only reads");
	hopper_segment_part_leave();
	follow_transactions();
	hopper_read_description(description, &hopper_run_description, &run);
	if (run.id != id)
		hopper_refuse_description();
	for (int32 p = 0; run.everywhere && p < run.train.n_partitions; p++)
		run.train_keys[p] = key;
	for (int32 p = 0; run.everywhere && run.has_valid && p < run.valid.n_partitions; p++)
		run.valid_keys[p] = key;
	choose_gpu(&run);
	api = &hopper_engine(run.wants_libtorch)->group;
	run.options.threads = hopper_segment_threads(run.options.threads, run.segments_on_host);
	run.options.memory_limit = hopper_segment_memory(run.options.memory_limit,
													 run.segments_on_host);
	hopper_current.event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (hopper_current.event_fd < 0)
		ereport(ERROR, errcode_for_file_access(),
				errmsg("could not create an event descriptor: %m"));
	hopper_current.id = run.id;
	hopper_current.role = GetUserId();
	hopper_current.subxact = GetCurrentSubTransactionId();
	hopper_current.drop_cache = run.drop_cache;
	strlcpy(hopper_current.shown, run.shown, sizeof(hopper_current.shown));
	run.options.event_fd = hopper_current.event_fd;
	HOPPER_CHECK(api->create(&run.options, &run.train, run.has_valid ? &run.valid : NULL,
							 run.train_keys, run.valid_keys, key, &group, hopper_fault));
	hopper_current.api = api;
	hopper_current.group = group;
	if (run.stays_open)
		HOPPER_CHECK(api->stay_open(group, hopper_fault));
	hopper_segment_part_enter(run.stints, run.n_stints);
	memcpy(hopper_current.tables, run.tables, sizeof(hopper_current.tables));
	HOPPER_CHECK(api->plan_data(group, &hopper_current.plan, hopper_fault));
}
