/*
 * ceilings.c
 *		What an administrator grants: settings, and what all sessions together have taken.
 *
 * The counters change by atomic operations of the compiler: a thread of the core may give back what
 * a session keeps, and a session that crashes takes the counters with it, because the server makes
 * shared memory anew.
 */
#include "pg/server/ceilings.h"

#include "storage/shmem.h"

typedef struct server_totals
{
	int64		memory;			/* bytes */
	int64		threads;
	int64		libraries;		/* sessions that have loaded libtorch */
	bool		runs_found;		/* hopper_note_runs_found() */
} server_totals;

/* What libtorch takes of each session for itself; measured: 59 MB and the server's own. */
#define LIBRARY_BYTES ((int64) 64 * 1024 * 1024)

int			hopper_max_threads = 0;
hopper_megabytes hopper_max_memory = 0;

static server_totals *totals = NULL;	/* NULL: not preloaded */
static bool has_library = false;	/* this session has loaded libtorch */

/* --- shared memory --- */

static shmem_startup_hook_type previous_startup_hook = NULL;

static void
make_totals(void)
{
	static bool again = false;
	bool		found;

	if (previous_startup_hook)
		previous_startup_hook();
	totals = ShmemInitStruct("model_hopper", sizeof(server_totals), &found);
	if (!found)
		memset(totals, 0, sizeof(server_totals));
	/* After the crash of a process the postmaster makes it once more, and starts workers itself. */
	if (!IsUnderPostmaster)
		totals->runs_found = again;
	again = true;
}

void
hopper_note_runs_found(void)
{
	totals->runs_found = true;
}

bool
hopper_looks_for_runs(void)
{
	return totals && !totals->runs_found;
}

static void
request_memory(void)
{
	RequestAddinShmemSpace(MAXALIGN(sizeof(server_totals)));
}

HOPPER_SHMEM_REQUEST_HOOK(request_memory)

void
hopper_ceilings_init(void)
{
	hopper_define_size("hopper.max_memory",
					   "Sets the memory that training, evaluation and prediction may use.",
					   "All of the server together where the library is in "
					   "shared_preload_libraries, else each call. "
					   "0 means three quarters of the memory that the server may use beside "
					   "shared_buffers and libtorch in the sessions that have loaded it.",
					   &hopper_max_memory, 0, PGC_SUSET);
	DefineCustomIntVariable("hopper.max_threads",
							"Sets the number of threads that may train, evaluate and predict.",
							"All of the server together where the library is in "
							"shared_preload_libraries, else each call. "
							"0 means one for each processor that the server may use.",
							&hopper_max_threads, 0, 0, HOPPER_MAX_THREADS,
							PGC_SUSET, 0, NULL, NULL, NULL);
	if (!process_shared_preload_libraries_in_progress)
		return;
	hopper_request_shmem();
	previous_startup_hook = shmem_startup_hook;
	shmem_startup_hook = make_totals;
}

/* --- taking and giving back --- */

/* Takes as much of `wanted` as `ceiling` leaves, all or (below `least`) nothing; returns it. */
static int64
take(int64 *total, int64 ceiling, int64 wanted, int64 least)
{
	int64		before = __atomic_load_n(total, __ATOMIC_RELAXED);

	for (;;)
	{
		int64		taken = Min(wanted, ceiling - before);

		if (taken < least)
			return -1;
		if (__atomic_compare_exchange_n(total, &before, before + taken, false, __ATOMIC_RELAXED,
										__ATOMIC_RELAXED))
			return taken;
	}
}

struct hopper_share
{
	int64		memory;
	int64		threads;
	hopper_guard *guard;
};

static void
give_back(void *handle)
{
	hopper_share *share = handle;

	if (totals)
	{
		__atomic_fetch_sub(&totals->memory, share->memory, __ATOMIC_RELAXED);
		__atomic_fetch_sub(&totals->threads, share->threads, __ATOMIC_RELAXED);
	}
	free(share);
}

hopper_share *
hopper_share_new(void)
{
	hopper_share *share = calloc(1, sizeof(hopper_share));

	if (share == NULL)
		hopper_raise(ERRCODE_OUT_OF_MEMORY, errmsg("out of memory"));
	share->guard = hopper_guard_add(share, give_back);
	return share;
}

void
hopper_share_release(hopper_share *share)
{
	hopper_guard_release(share->guard);
}

/* --- threads --- */

static int
thread_ceiling(void)
{
	return hopper_max_threads > 0 ? hopper_max_threads
		: Min(hopper_core()->available_processors(), HOPPER_MAX_THREADS);
}

int
hopper_allowed_threads(int asked)
{
	return Min(asked, thread_ceiling());
}

char *
hopper_max_threads_words(void)
{
	return hopper_max_threads > 0 ? psprintf("hopper.max_threads is %d", hopper_max_threads)
		: psprintf("hopper.max_threads is 0, which means %s here",
				   hopper_plural(thread_ceiling(), "processor", "processors"));
}

int
hopper_take_threads(hopper_share *share, int asked, int least)
{
	int64		taken;

	asked = hopper_allowed_threads(asked);
	taken = asked;
	if (totals)
	{
		taken = take(&totals->threads, thread_ceiling(), asked, 1);
		/* The session's own thread waits meanwhile: the first one is always there. */
		if (taken < 1)
			taken = take(&totals->threads, INT64_MAX, 1, 1);
		share->threads += taken;
	}
	if (taken < least)
		hopper_raise(ERRCODE_INSUFFICIENT_RESOURCES,
					 errmsg("%s needed, but hopper.max_threads leaves " INT64_FORMAT,
							hopper_plural(least, "thread is", "threads are"), taken),
					 errdetail("It is %d, and other calls use some of them.", thread_ceiling()),
					 errhint("Wait for the other calls to end, or lower threads_per_model."));
	if (taken < asked)
		ereport(NOTICE, errmsg("%s instead of %d: others use the rest of hopper.max_threads",
							   hopper_plural(taken, "thread", "threads"), asked));
	return (int) taken;
}

/* --- memory --- */

/* The default ceiling where so many sessions have libtorch. */
static int64
default_ceiling(int64 libraries)
{
	int64		available = hopper_core()->available_memory();

	if (available <= 0)
		hopper_raise(ERRCODE_OUT_OF_MEMORY, errmsg("out of memory"));
	available -= (int64) NBuffers * BLCKSZ + libraries * LIBRARY_BYTES;
	return Max(available, 0) / 4 * 3;
}

static int64
memory_ceiling(void)
{
	int64		libraries = totals ? __atomic_load_n(&totals->libraries, __ATOMIC_RELAXED) : 0;

	if (hopper_max_memory > 0)
		return HOPPER_BYTES(hopper_max_memory);
	/* A session without it is about to load it: what it may use does not shrink then. */
	return default_ceiling(libraries + (totals && has_library ? 0 : 1));
}

static void
give_library_back(int code, Datum argument)
{
	__atomic_fetch_sub(&totals->libraries, 1, __ATOMIC_RELAXED);
}

void
hopper_take_library(void)
{
	int64		libraries;

	if (totals == NULL || has_library)
		return;
	libraries = __atomic_add_fetch(&totals->libraries, 1, __ATOMIC_RELAXED);
	if (hopper_max_memory == 0 &&
		default_ceiling(libraries) <= __atomic_load_n(&totals->memory, __ATOMIC_RELAXED))
	{
		__atomic_fetch_sub(&totals->libraries, 1, __ATOMIC_RELAXED);
		hopper_raise(ERRCODE_OUT_OF_MEMORY,
					 errmsg("there is no memory for one more session that trains or predicts"),
					 errdetail("libtorch takes %s of each; %s loaded it.",
							   hopper_bytes_words(LIBRARY_BYTES),
							   hopper_plural(libraries - 1, "session has", "sessions have")),
					 errhint("Wait for other sessions to end, or ask an administrator to set "
							 "hopper.max_memory."));
	}
	has_library = true;
	before_shmem_exit(give_library_back, (Datum) 0);
}

/* What hopper.max_memory leaves, in bytes. */
static int64
free_memory(void)
{
	int64		ceiling = memory_ceiling();

	if (totals)
		ceiling -= __atomic_load_n(&totals->memory, __ATOMIC_RELAXED);
	return Max(ceiling, 0);
}

void
hopper_refuse_memory(int64 bytes)
{
	hopper_raise(ERRCODE_OUT_OF_MEMORY,
				 errmsg("%s of memory are needed, but hopper.max_memory leaves %s",
						hopper_bytes_words(bytes), hopper_bytes_words(free_memory())),
				 errdetail("It is %s%s.", hopper_bytes_words(memory_ceiling()),
						   totals ? ", for all sessions of the server together" : ""),
				 errhint("Wait for other calls to end, or ask an administrator to raise "
						 "hopper.max_memory."));
	pg_unreachable();
}

void
hopper_take_memory(hopper_share *share, int64 bytes)
{
	int64	   *counter;

	bytes = Max(bytes, 0);
	if (!hopper_try_memory(bytes, &counter))
		hopper_refuse_memory(bytes);
	if (counter)
		share->memory += bytes;
}

int
hopper_segment_threads(int asked, int segments_on_host)
{
	int			share = Max(hopper_core()->available_processors() / Max(segments_on_host, 1), 1);

	if (asked <= 0)
		asked = share;
	return Min(asked, hopper_max_threads > 0 ? hopper_max_threads : share);
}

int64
hopper_segment_memory(int64 asked, int segments_on_host)
{
	int64		ceiling = memory_ceiling();

	if (hopper_max_memory == 0)
		ceiling /= Max(segments_on_host, 1);
	/* in the segment's own configuration file, or its host's */
	if (asked <= 0)
		asked = HOPPER_BYTES(hopper_memory_limit) / Max(segments_on_host, 1);
	return asked > 0 ? Min(asked, ceiling) : ceiling;
}

bool
hopper_try_memory(int64 bytes, int64 **counter)
{
	int64		ceiling = memory_ceiling();

	*counter = NULL;
	if (totals == NULL)
		return bytes <= ceiling;
	if (take(&totals->memory, ceiling, bytes, bytes) != bytes)
		return false;
	*counter = &totals->memory;
	return true;
}

int
hopper_effective_threads(void)
{
	int			asked = hopper_threads > 0 ? hopper_threads : hopper_core()->available_processors();
	int			allowed = hopper_allowed_threads(asked);

	if (hopper_threads > 0 && allowed < asked)
		ereport(NOTICE, errmsg("hopper.threads is %d, but %s", asked, hopper_max_threads_words()));
	return allowed;
}

int64
hopper_effective_memory_limit(void)
{
	int64		asked = HOPPER_BYTES(hopper_memory_limit);
	int64		allowed = free_memory();

	if (asked == 0)
		return Max(allowed, 1);
	if (allowed < asked)
		ereport(NOTICE, errmsg("hopper.memory_limit is %s, but hopper.max_memory leaves %s",
							   hopper_bytes_words(asked), hopper_bytes_words(allowed)));
	return Max(Min(asked, allowed), 1);
}

bool
hopper_limits_temporary(void)
{
	return temp_file_limit >= 0;
}

void
hopper_require_temporary(int64 bytes, const char *what, const char *hint)
{
	/* kilobytes; -1: no limit */
	if (temp_file_limit < 0 || bytes / 1024 <= temp_file_limit)
		return;
	hopper_raise(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
				 errmsg("%s needs more temporary files than temp_file_limit allows", what),
				 errdetail("It takes about %s; temp_file_limit is %s.", hopper_bytes_words(bytes),
						   hopper_bytes_words((int64) temp_file_limit * 1024)),
				 errhint("%s", hint));
}
