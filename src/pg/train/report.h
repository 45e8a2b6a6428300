/*
 * report.h
 *		What runs are shown by: functions of SQL, which are told what is meant.
 */
#ifndef HOPPER_REPORT_H
#define HOPPER_REPORT_H

#include "pg/server/glue.h"

/* A literal with the name and schema of a relation; ERROR 42P01 where there is none. */
extern const char *hopper_whole_name(const hopper_name *name);

#endif							/* HOPPER_REPORT_H */
