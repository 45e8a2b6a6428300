/*
 * guard.c
 *		Handles of the core die with the memory context that was current when they were made.
 *
 * An error frees memory contexts, a terminated session does not before its exit callbacks run:
 * threads would live on into the server's shutdown of the process. So every handle is also in a
 * list that before_shmem_exit walks, the newest first.
 */
#include "pg/glue.h"

#include "utils/resowner.h"

struct hopper_guard
{
	struct hopper_guard *previous;
	struct hopper_guard *next;
	void	   *handle;
	void		(*free_fn) (void *);	/* NULL once the handle is freed */
#ifdef HOPPER_HAVE_RESET_CALLBACK
	MemoryContextCallback callback;
#else
	ResourceOwner owner;
#endif
};

static hopper_guard *newest_guard = NULL;
static bool exit_callback_registered = false;

static void
guard_fire(hopper_guard *guard)
{
	void		(*free_fn) (void *) = guard->free_fn;

	if (free_fn == NULL)
		return;
	/* Unlinked first: whatever happens in free_fn, it is called once. */
	guard->free_fn = NULL;
	if (guard->previous)
		guard->previous->next = guard->next;
	if (guard->next)
		guard->next->previous = guard->previous;
	if (newest_guard == guard)
		newest_guard = guard->previous;
	free_fn(guard->handle);
}

static void
guard_fire_all(int code, Datum arg)
{
	while (newest_guard)
		guard_fire(newest_guard);
}

#ifdef HOPPER_HAVE_RESET_CALLBACK

static void
guard_context_gone(void *arg)
{
	guard_fire((hopper_guard *) arg);
}

static hopper_guard *
guard_allocate(void)
{
	hopper_guard *guard = palloc0(sizeof(hopper_guard));

	guard->callback.func = guard_context_gone;
	guard->callback.arg = guard;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &guard->callback);
	return guard;
}

static void
guard_deallocate(hopper_guard *guard)
{
	/* The context owns it, and still refers to its callback. */
}

#else

static void
guard_owner_gone(ResourceReleasePhase phase, bool is_commit, bool is_top_level, void *arg)
{
	hopper_guard *guard = newest_guard;

	if (phase != RESOURCE_RELEASE_BEFORE_LOCKS)
		return;
	while (guard)
	{
		hopper_guard *previous = guard->previous;

		if (guard->owner == CurrentResourceOwner)
		{
			guard_fire(guard);
			pfree(guard);
		}
		guard = previous;
	}
}

static hopper_guard *
guard_allocate(void)
{
	static bool registered = false;
	hopper_guard *guard = MemoryContextAllocZero(TopMemoryContext, sizeof(hopper_guard));

	if (!registered)
	{
		RegisterResourceReleaseCallback(guard_owner_gone, NULL);
		registered = true;
	}
	guard->owner = CurrentResourceOwner;
	return guard;
}

static void
guard_deallocate(hopper_guard *guard)
{
	pfree(guard);
}

#endif

void
hopper_guard_prepare(void)
{
	/*
	 * Registered after the server's own callbacks and therefore run before them: the threads are
	 * joined while the process is still a whole backend.
	 */
	if (!exit_callback_registered)
	{
		before_shmem_exit(guard_fire_all, (Datum) 0);
		exit_callback_registered = true;
	}
}

hopper_guard *
hopper_guard_add(void *handle, void (*free_fn) (void *))
{
	hopper_guard *guard;

	hopper_guard_prepare();
	guard = guard_allocate();
	guard->handle = handle;
	guard->free_fn = free_fn;
	guard->previous = newest_guard;
	if (newest_guard)
		newest_guard->next = guard;
	newest_guard = guard;
	return guard;
}

void
hopper_guard_release(hopper_guard *guard)
{
	guard_fire(guard);
	guard_deallocate(guard);
}
