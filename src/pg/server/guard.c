/*
 * guard.c
 *		Handles of the core die with the resource owner that was current when they were made.
 *
 * A statement's owner is released when the statement ends, and that of a failed (sub)transaction
 * while it aborts: inside BEGIN and in PL/pgSQL's EXCEPTION blocks too, before the client or the
 * handler goes on. Memory contexts would not do: those of a failed statement live on until the
 * client's ROLLBACK, and threads with them.
 *
 * A terminated session releases its owners only after the process has begun to fall apart. So
 * every handle is also in a list that before_shmem_exit walks, the newest first.
 */
#include "pg/server/glue.h"

#include "utils/resowner.h"

struct hopper_guard
{
	struct hopper_guard *previous;
	struct hopper_guard *next;
	void	   *handle;
	void		(*free_fn) (void *);
	ResourceOwner owner;		/* NULL: the session */
	hopper_guard_scope *scope;	/* or NULL */
};

static hopper_guard *newest_guard = NULL;
static hopper_guard_scope *current_scope = NULL;
static bool callbacks_registered = false;

void
hopper_guard_release(hopper_guard *guard)
{
	void	   *handle = guard->handle;
	void		(*free_fn) (void *) = guard->free_fn;

	/* Unlinked first: whatever happens in free_fn, it is called once. */
	if (guard->previous)
		guard->previous->next = guard->next;
	if (guard->next)
		guard->next->previous = guard->previous;
	if (newest_guard == guard)
		newest_guard = guard->previous;
	free(guard);
	free_fn(handle);
}

static void
owner_gone(ResourceReleasePhase phase, bool is_commit, bool is_top_level, void *arg)
{
	hopper_guard *guard = newest_guard;

	if (phase != RESOURCE_RELEASE_BEFORE_LOCKS)
		return;
	while (guard)
	{
		hopper_guard *previous = guard->previous;

		if (guard->owner == CurrentResourceOwner)
			hopper_guard_release(guard);
		guard = previous;
	}
}

static void
session_gone(int code, Datum arg)
{
	while (newest_guard)
		hopper_guard_release(newest_guard);
}

static void
register_callbacks(void)
{
	/*
	 * Registered after the server's own callbacks and therefore run before them: the threads are
	 * joined while the process is still a whole backend.
	 */
	if (!callbacks_registered)
	{
		before_shmem_exit(session_gone, (Datum) 0);
		RegisterResourceReleaseCallback(owner_gone, NULL);
		callbacks_registered = true;
	}
}

static hopper_guard *
add(void *handle, void (*free_fn) (void *), ResourceOwner owner)
{
	hopper_guard *guard;

	register_callbacks();
	/* Not palloc(), whose error would leave the handle to nobody. */
	guard = malloc(sizeof(hopper_guard));
	if (guard == NULL)
	{
		free_fn(handle);
		hopper_raise(ERRCODE_OUT_OF_MEMORY, errmsg("out of memory"));
	}
	guard->handle = handle;
	guard->free_fn = free_fn;
	guard->owner = current_scope ? NULL : owner;
	guard->scope = current_scope;
	guard->previous = newest_guard;
	guard->next = NULL;
	if (newest_guard)
		newest_guard->next = guard;
	newest_guard = guard;
	return guard;
}

hopper_guard *
hopper_guard_add(void *handle, void (*free_fn) (void *))
{
	return add(handle, free_fn, CurrentResourceOwner);
}

void
hopper_guard_enter(hopper_guard_scope *scope)
{
	current_scope = scope;
}

void
hopper_guard_leave(void)
{
	current_scope = NULL;
}

void
hopper_guard_release_scope(hopper_guard_scope *scope)
{
	hopper_guard *guard = newest_guard;

	if (current_scope == scope)
		current_scope = NULL;
	while (guard)
	{
		if (guard->scope == scope)
		{
			hopper_guard_release(guard);
			guard = newest_guard;	/* it may have released others */
		}
		else
			guard = guard->previous;
	}
}

hopper_guard *
hopper_guard_add_for_session(void *handle, void (*free_fn) (void *))
{
	return add(handle, free_fn, NULL);
}

static void
delete_context(void *context)
{
	MemoryContextDelete((MemoryContext) context);
}

hopper_guard *
hopper_guarded_context(MemoryContext *context)
{
	*context = AllocSetContextCreate(TopMemoryContext, "hopper run", ALLOCSET_DEFAULT_SIZES);
	return hopper_guard_add(*context, delete_context);
}
