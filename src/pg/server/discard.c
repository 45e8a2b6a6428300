/*
 * discard.c
 *		DISCARD ALL ends what the session keeps, as it ends what the server itself does: connection
 *		pools send it when a connection goes to its next user.
 */
#include "pg/server/glue.h"

#include <malloc.h>

#include "nodes/parsenodes.h"
#include "tcop/utility.h"

static ProcessUtility_hook_type previous_hook = NULL;
/* Of ready models and of the driver of a run. */
static void (*discard_fns[2]) (void);
static int	n_discard_fns = 0;

static void
process_utility(HOPPER_UTILITY_PARAMETERS)
{
	const Node *node = (const Node *) hopper_utility_node(statement);
	bool		discards = IsA(node, DiscardStmt) &&
		((const DiscardStmt *) node)->target == DISCARD_ALL;

	if (previous_hook)
		previous_hook(HOPPER_UTILITY_ARGUMENTS);
	else
		standard_ProcessUtility(HOPPER_UTILITY_ARGUMENTS);
	if (!discards)
		return;
	for (int i = 0; i < n_discard_fns; i++)
		discard_fns[i] ();
	/* The C library keeps what was freed; tensors are large and many. */
	malloc_trim(0);
}

void
hopper_on_discard(void (*fn) (void))
{
	for (int i = 0; i < n_discard_fns; i++)
		if (discard_fns[i] == fn)
			return;
	Assert(n_discard_fns < lengthof(discard_fns));
	discard_fns[n_discard_fns++] = fn;
	if (n_discard_fns > 1)
		return;
	previous_hook = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
}
