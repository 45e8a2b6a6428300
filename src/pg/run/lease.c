/*
 * lease.c
 *		The lock that a run's driver holds.
 */
#include "pg/run/lease.h"

#include "storage/lock.h"

static LOCKTAG
tag_of(int64 run)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, HOPPER_LEASE_CLASS, (uint32) run, HOPPER_LEASE_KIND);
	return tag;
}

int
hopper_lease_holder(int64 run)
{
	int			pid = 0;

	if (hopper_select_latest("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted"
							 " AND database = %u AND classid = %u AND objid = %u"
							 " AND objsubid = %d", MyDatabaseId, HOPPER_LEASE_CLASS, (uint32) run,
							 HOPPER_LEASE_KIND) > 0)
		pid = (int) hopper_int_cell(NULL, 0, 1, 0, PG_INT32_MAX);
	SPI_freetuptable(SPI_tuptable);
	return pid;
}

void
hopper_lease_take(int64 run)
{
	LOCKTAG		tag = tag_of(run);

	if (LockAcquire(&tag, ExclusiveLock, true, true) != LOCKACQUIRE_NOT_AVAIL)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg("run " INT64_FORMAT " is driven by process %d", run,
					hopper_lease_holder(run)),
			 errhint("Watch it in hopper.progress, or end it with hopper.pause() or "
					 "hopper.cancel().")));
}

bool
hopper_lease_try(int64 run)
{
	LOCKTAG		tag = tag_of(run);

	return LockAcquire(&tag, ExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
}

void
hopper_lease_give_back(int64 run, bool session)
{
	LOCKTAG		tag = tag_of(run);

	(void) LockRelease(&tag, ExclusiveLock, session);
}
