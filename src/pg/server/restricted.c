/*
 * restricted.c
 *		Security-restricted operations: what runs as a role has no other rights than the role's.
 */
#include "pg/server/glue.h"

hopper_restricted
hopper_restrict(Oid role)
{
	hopper_restricted before;

	GetUserIdAndSecContext(&before.user, &before.context);
	SetUserIdAndSecContext(role, before.context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_RESTRICTED_OPERATION);
	before.level = NewGUCNestLevel();
	return before;
}

void
hopper_unrestrict(const hopper_restricted *before)
{
	AtEOXact_GUC(false, before->level);
	SetUserIdAndSecContext(before->user, before->context);
}
