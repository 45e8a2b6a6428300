/*
 * wait.c
 *		The main thread's side of waiting for the core's threads.
 */
#include "pg/server/glue.h"

#include <sys/eventfd.h>
#include <unistd.h>

#define LONGEST_SLEEP 500		/* ms: what others see of the work is no older */
#define CLIENT_CHECK_INTERVAL 2000	/* ms */

typedef struct open_eventfd
{
	int			fd;
	hopper_guard *guard;
	struct open_eventfd *next;
} open_eventfd;

static open_eventfd *open_eventfds = NULL;

static void
close_open_eventfd(void *handle)
{
	open_eventfd *closing = handle;
	open_eventfd **link = &open_eventfds;

	while (*link != closing)
		link = &(*link)->next;
	*link = closing->next;
	close(closing->fd);
	pfree(closing);
}

int
hopper_eventfd_open(void)
{
	/*
	 * Opened before the handles whose threads write to it, it is closed after them: no worker can
	 * write to a descriptor that is closed, or is somebody else's by then.
	 */
	open_eventfd *opened = MemoryContextAlloc(TopMemoryContext, sizeof(open_eventfd));

	opened->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (opened->fd < 0)
	{
		int			saved_errno = errno;

		pfree(opened);
		errno = saved_errno;
		ereport(ERROR, errcode_for_file_access(),
				errmsg("could not create an event descriptor: %m"));
	}
	opened->next = open_eventfds;
	open_eventfds = opened;
	opened->guard = hopper_guard_add(opened, close_open_eventfd);
	return opened->fd;
}

void
hopper_eventfd_close(int fd)
{
	open_eventfd *opened;

	for (opened = open_eventfds; opened; opened = opened->next)
	{
		if (opened->fd == fd)
		{
			hopper_guard_release(opened->guard);
			return;
		}
	}
	elog(ERROR, "event descriptor %d is not open", fd);
}

static void
stop_watching(void *nothing)
{
	/* Unless the statement has set another one meanwhile. */
	if (hopper_client_check_interval() == CLIENT_CHECK_INTERVAL)
		hopper_set_client_check(0);
}

void
hopper_watch_client(void)
{
	if (MyProcPort == NULL || hopper_client_check_interval() > 0)
		return;
	(void) hopper_guard_add(NULL, stop_watching);
	hopper_set_client_check(CLIENT_CHECK_INTERVAL);
}

void
hopper_wait(int fd, long timeout_ms)
{
	int			events = WL_LATCH_SET | WL_SOCKET_READABLE | WL_TIMEOUT;
	int			rc;

	if (timeout_ms < 0 || timeout_ms > LONGEST_SLEEP)
		timeout_ms = LONGEST_SLEEP;
	rc = hopper_wait_latch_or_socket(events, fd, timeout_ms);
	if (rc & WL_LATCH_SET)
		hopper_reset_latch();
	if (rc & WL_SOCKET_READABLE)
	{
		uint64		count;

		/* Empties the counter; what was written in the meantime wakes the next wait. */
		if (read(fd, &count, sizeof(count)) < 0 && errno != EAGAIN && errno != EINTR)
			ereport(ERROR, errcode_for_file_access(),
					errmsg("could not read an event descriptor: %m"));
	}
	CHECK_FOR_INTERRUPTS();
}

void
hopper_sleep(long ms)
{
	if (hopper_wait_latch_or_socket(WL_LATCH_SET | WL_TIMEOUT, PGINVALID_SOCKET, ms) &
		WL_LATCH_SET)
		hopper_reset_latch();
	CHECK_FOR_INTERRUPTS();
}

double
hopper_seconds_between(TimestampTz from, TimestampTz to)
{
	long		seconds;
	int			microseconds;

	TimestampDifference(from, to, &seconds, &microseconds);
	return seconds + microseconds / 1e6;
}

double
hopper_seconds_since(TimestampTz then)
{
	return hopper_seconds_between(then, GetCurrentTimestamp());
}

double
hopper_seconds_to_timeout(void)
{
	static const TimeoutId timeouts[] = {HOPPER_TIMEOUTS};
	double		left = INFINITY;

	for (int i = 0; i < lengthof(timeouts); i++)
		if (hopper_timeout_is_set(timeouts[i]))
			left = Min(left, hopper_seconds_between(GetCurrentTimestamp(),
													get_timeout_finish_time(timeouts[i])));
	return left;
}
