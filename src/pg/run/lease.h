/*
 * lease.h
 *		One driver a run: who holds a run's lease drives it.
 *
 * The lease is an advisory lock of the session, in the database of the run. So it ends with its
 * process, however that ends, and whether a run is running is read from pg_locks and stored
 * nowhere.
 */
#ifndef HOPPER_RUN_LEASE_H
#define HOPPER_RUN_LEASE_H

#include "pg/server/glue.h"

/*
 * What pg_locks shows of a lease: locktype 'advisory', this classid, the run's number as objid and
 * this objsubid, which no SQL function for advisory locks has. sql/views.sql has the same numbers.
 */
#define HOPPER_LEASE_CLASS 1213156434
#define HOPPER_LEASE_KIND 5

/* Takes the lease for this session; ERROR 55006 with the holder's process where there is one. */
extern void hopper_lease_take(int64 run);
/* For this transaction, where nobody drives the run; false where another session does. */
extern bool hopper_lease_try(int64 run);
/* session: what hopper_lease_take() has taken. */
extern void hopper_lease_give_back(int64 run, bool session);
/* The process that drives the run, 0 where none does. SPI must be connected. */
extern int	hopper_lease_holder(int64 run);

#endif							/* HOPPER_RUN_LEASE_H */
