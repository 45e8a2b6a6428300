/*
 * lease.c
 *		The lock that a run's driver holds.
 */
#include "pg/run/lease.h"

#include "storage/lock.h"

#define MS_BETWEEN_TRIES 50
#define MOST_TRIES_TO_CLOSE 600
#define MOST_TRIES_TO_TAKE 40

/* The server ends a transaction's locks by method: the lease is to go before the wishes' lock. */
static LOCKTAG
tag_of(int64 run, uint16 kind)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, HOPPER_LEASE_CLASS, (uint32) run, kind);
	if (kind == HOPPER_WISHES_KIND)
		tag.locktag_lockmethodid = DEFAULT_LOCKMETHOD;
	return tag;
}

int
hopper_lease_holder(int64 run)
{
	uint64		n = hopper_select_latest("SELECT pid FROM pg_locks"
										 " WHERE locktype = 'advisory' AND granted"
										 " AND database = %u AND classid = %u AND objid = %u"
										 " AND objsubid = %d", MyDatabaseId, HOPPER_LEASE_CLASS,
										 (uint32) run, HOPPER_LEASE_KIND);

	return n == 0 ? 0 : (int) hopper_number(NULL, n);
}

/* As LIKE has it, where this role may see it. */
static bool
is_in_state(int pid, const char *pattern)
{
	return hopper_any(hopper_select_latest("SELECT 1 FROM pg_stat_activity WHERE pid = %d"
										   " AND state LIKE %s", pid, hopper_literal(pattern)));
}

/* 0, or who has it. */
static int
try_to_take(int64 run, bool session)
{
	LOCKTAG		tag = tag_of(run, HOPPER_LEASE_KIND);

	for (int tries = 0;;)
	{
		int			pid;

		CHECK_FOR_INTERRUPTS();
		if (LockAcquire(&tag, ExclusiveLock, session, true) != LOCKACQUIRE_NOT_AVAIL)
			return 0;
		/* It may have been given back since then. */
		pid = hopper_lease_holder(run);
		if (pid == 0)
			continue;
		/* Otherwise its client may have left, and it ends soon: steps are often a session each. */
		if (tries++ == MOST_TRIES_TO_TAKE || is_in_state(pid, "active"))
			return pid;
		hopper_sleep(MS_BETWEEN_TRIES);
	}
}

void
hopper_lease_take(int64 run)
{
	int			pid = try_to_take(run, true);

	if (pid != 0)
		hopper_lease_refuse(run, pid);
}

void
hopper_lease_refuse(int64 run, int pid)
{
	bool		idle = is_in_state(pid, "idle%");

	hopper_raise(ERRCODE_OBJECT_IN_USE,
				 errmsg("run " INT64_FORMAT " is driven by process %d", run, pid),
				 idle ? errdetail("That session is idle, and keeps the run for its next "
								  "hopper.step().") : 0,
				 idle ? errhint("Call hopper.step() there, or end that session: SELECT "
								"pg_terminate_backend(%d). Where sessions are pooled, "
								"hopper.submit() trains in the background.", pid)
				 : errhint("Watch it in hopper.progress, or end it with hopper.pause() or "
						   "hopper.cancel()."));
	pg_unreachable();
}

void
hopper_lease_tell_idle(int64 run, const char *then)
{
	int			pid = hopper_lease_holder(run);

	if (pid != 0 && pid != MyProcPid && is_in_state(pid, "idle%"))
		ereport(NOTICE, errmsg("run " INT64_FORMAT " is driven by process %d, which is idle", run,
							   pid),
				errdetail("It is told with the next hopper.step() of that session."),
				errhint("Where none comes, end that session: SELECT pg_terminate_backend(%d)%s.",
						pid, then));
}

bool
hopper_lease_is_held(int64 run)
{
	LOCKTAG		tag = tag_of(run, HOPPER_LEASE_KIND);
	LockAcquireResult result = LockAcquire(&tag, ExclusiveLock, true, true);

	if (result != LOCKACQUIRE_NOT_AVAIL)
		(void) LockRelease(&tag, ExclusiveLock, true);
	return result != LOCKACQUIRE_NOT_AVAIL && result != LOCKACQUIRE_OK;
}

int
hopper_lease_try(int64 run)
{
	hopper_release_advisory_first();
	return try_to_take(run, false);
}

void
hopper_lease_give_back(int64 run, bool session)
{
	LOCKTAG		tag = tag_of(run, HOPPER_LEASE_KIND);

	(void) LockRelease(&tag, ExclusiveLock, session);
}

void
hopper_wishes_hold(int64 run)
{
	LOCKTAG		tag = tag_of(run, HOPPER_WISHES_KIND);

	if (LockAcquire(&tag, ShareLock, false, true) != LOCKACQUIRE_NOT_AVAIL)
		return;
	/* What a run closes with may take minutes. */
	ereport(NOTICE, errmsg("waiting for the end of run " INT64_FORMAT ", which is at its last step",
						   run));
	(void) LockAcquire(&tag, ShareLock, false, false);
}

void
hopper_wishes_close(int64 run)
{
	LOCKTAG		tag = tag_of(run, HOPPER_WISHES_KIND);

	for (int i = 0; i < MOST_TRIES_TO_CLOSE; i++)
	{
		if (LockAcquire(&tag, ExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL)
			return;
		hopper_sleep(MS_BETWEEN_TRIES);
	}
}
