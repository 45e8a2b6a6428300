/*
 * lease.c
 *		The lock that a run's driver holds.
 */
#include "pg/run/lease.h"

#include "storage/lock.h"

#define MS_BETWEEN_TRIES 50
#define MOST_TRIES_TO_CLOSE 600

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

/* 0, or who has it. */
static int
try_to_take(int64 run, bool session)
{
	LOCKTAG		tag = tag_of(run, HOPPER_LEASE_KIND);

	while (LockAcquire(&tag, ExclusiveLock, session, true) == LOCKACQUIRE_NOT_AVAIL)
	{
		int			pid = hopper_lease_holder(run);

		/* It may have been given back since then. */
		if (pid != 0)
			return pid;
		CHECK_FOR_INTERRUPTS();
	}
	return 0;
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
	hopper_raise(ERRCODE_OBJECT_IN_USE,
				 errmsg("run " INT64_FORMAT " is driven by process %d", run, pid),
				 errhint("Watch it in hopper.progress, or end it with hopper.pause() or "
						 "hopper.cancel(). A transaction that has called hopper.step() drives it "
						 "until it ends."));
	pg_unreachable();
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
