/*
 * subtransaction.c
 *		Work that can be taken back.
 */
#include "pg/server/glue.h"

#include "utils/resowner.h"

/* An error comes back when everything that the work did has been undone. */
static ErrorData *
run(hopper_work_fn work, void *state, bool keep)
{
	MemoryContext caller = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	bool		connected = hopper_has_spi();
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(caller);
	PG_TRY();
	{
		work(state);
		if (keep)
			ReleaseCurrentSubTransaction();
		else
			RollbackAndReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(caller);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	hopper_restore_spi(connected);
	MemoryContextSwitchTo(caller);
	CurrentResourceOwner = owner;
	return error;
}

ErrorData *
hopper_attempt(hopper_work_fn work, void *state)
{
	return run(work, state, true);
}

ErrorData *
hopper_look(hopper_work_fn work, void *state)
{
	return run(work, state, false);
}

void
hopper_rehearse(hopper_work_fn work, void *state)
{
	ErrorData  *error = run(work, state, false);

	/*
	 * Only now: who catches it, PL/pgSQL say, takes the innermost subtransaction for its own and
	 * would abort ours in its place.
	 */
	if (error)
		ReThrowError(error);
}
