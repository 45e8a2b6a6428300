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
/* Of the lock between wishes and the end of a run. */
#define HOPPER_WISHES_KIND 6

/*
 * Takes the lease for this session; ERROR 55006 with the holder's process where there is one. SPI
 * must be connected.
 */
extern void hopper_lease_take(int64 run);
/* ERROR 55006: this other process has it. */
extern void hopper_lease_refuse(int64 run, int pid) pg_attribute_noreturn();
/*
 * For this transaction, where nobody drives the run: 0, or the process of another session that
 * does. SPI must be connected unless this session has it.
 */
extern int	hopper_lease_try(int64 run);
/* session: what hopper_lease_take() has taken. */
extern void hopper_lease_give_back(int64 run, bool session);
/* The process that drives the run, 0 where none does. SPI must be connected. */
extern int	hopper_lease_holder(int64 run);

/*
 * Wishes and the end of a run know of each other: whoever wishes something holds this until the
 * transaction ends, and reads then whether the run has ended; waits for a transaction that ends it.
 */
extern void hopper_wishes_hold(int64 run);
/*
 * Before the last look for wishes, until the transaction ends. Waits for transactions that hold
 * them, but not for ever: who sits in one keeps no run from its end.
 */
extern void hopper_wishes_close(int64 run);

#endif							/* HOPPER_RUN_LEASE_H */
