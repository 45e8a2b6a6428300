/*
 * complaints.h
 *		What is wrong with a call, gathered so that one error can tell all of it.
 */
#ifndef HOPPER_COMPLAINTS_H
#define HOPPER_COMPLAINTS_H

#include "pg/server/glue.h"

typedef struct hopper_complaints
{
	List	   *items;			/* begins as NIL */
} hopper_complaints;

/* `detail` and `hint` may be NULL; texts are kept as they are. */
extern void hopper_complain(hopper_complaints *complaints, int sqlstate, const char *message,
							const char *detail, const char *hint);
/*
 * ERROR where there are any: a single one as it is, several as a list under '<whole> has 3
 * problems'.
 */
extern void hopper_throw_complaints(const hopper_complaints *complaints, const char *whole);
/*
 * Does the work; false where it ended with an error that the caller can mend (SQLSTATE classes 22
 * and 42), which is a complaint then. Other errors come out.
 */
extern bool hopper_complain_unless(hopper_complaints *complaints, hopper_work_fn work,
								   void *state);
/* In UTF-8, for the core, which says them with what it finds itself: *n of them. */
extern const hopper_error *hopper_complaints_for_core(const hopper_complaints *complaints, int *n);
/* One complaint about all names (char *) that are no columns of the relation. */
extern void hopper_complain_of_columns(hopper_complaints *complaints, Oid relation, List *columns);

#endif							/* HOPPER_COMPLAINTS_H */
