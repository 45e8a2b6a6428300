/*
 * call.h
 *		Calls of functions as text that says all of them, whatever the session's settings become.
 */
#ifndef HOPPER_RUN_CALL_H
#define HOPPER_RUN_CALL_H

#include "pg/server/glue.h"

/* "SELECT ...fit(packed_table := 'p'::text, ...)": the call of fcinfo with its values. */
extern char *hopper_call_text(FunctionCallInfo fcinfo);
/* ERROR 22023 where a statement is not one SELECT. */
extern void hopper_require_one_select(const char *statement);
/* Settings of schema hopper that the session has changed, "name=value" each in a line. */
extern char *hopper_settings_text(void);
/* Until the level of settings ends. */
extern void hopper_apply_settings(const char *search_path, const char *settings);

#endif							/* HOPPER_RUN_CALL_H */
