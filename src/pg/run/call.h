/*
 * call.h
 *		The statement of a run, and the settings that it depends on.
 */
#ifndef HOPPER_RUN_CALL_H
#define HOPPER_RUN_CALL_H

#include "pg/server/glue.h"

/* ERROR 22023 where a statement is not one SELECT. */
extern void hopper_require_one_select(const char *statement);
/* Settings of schema hopper that the session has changed, "name=value" each in a line. */
extern char *hopper_settings_text(void);
/* Until the level of settings ends. */
extern void hopper_apply_settings(const char *search_path, const char *settings);

#endif							/* HOPPER_RUN_CALL_H */
