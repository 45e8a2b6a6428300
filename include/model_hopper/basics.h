/*
 * basics.h
 *		What every part of the boundary needs: its version, errors and result sets.
 */
#ifndef MODEL_HOPPER_BASICS_H
#define MODEL_HOPPER_BASICS_H

#include <stdint.h>

#define HOPPER_API_VERSION 15

/* What went wrong; the glue maps each code to the SQLSTATE beside it. */
typedef enum hopper_code
{
	HOPPER_OK = 0,
	HOPPER_INVALID_PARAMETER = 1,	/* 22023 */
	HOPPER_INVALID_TEXT = 2,		/* 22P02 */
	HOPPER_DATA_EXCEPTION = 3,		/* 22000 */
	HOPPER_NOT_SUPPORTED = 4,		/* 0A000 */
	HOPPER_LIMIT_EXCEEDED = 5,		/* 54000 */
	HOPPER_OUT_OF_MEMORY = 6,		/* 53200 */
	HOPPER_NOT_READY = 7,			/* 55000 */
	HOPPER_CORRUPT = 8,				/* XX001 */
	HOPPER_DEVICE = 9,				/* 58000 */
	HOPPER_INTERNAL = 10			/* XX000 */
} hopper_code;

typedef struct hopper_error
{
	int32_t		code;			/* hopper_code */
	char		message[1024];
	char		detail[8192];
	char		hint[1024];
} hopper_error;

/*
 * A result set as text cells, row-major; NULL is SQL's NULL. The glue turns cells into values with
 * the input functions of the result's column types.
 */
typedef struct hopper_rows
{
	int32_t		n_rows;
	int32_t		n_columns;
	const char *const *cells;
} hopper_rows;

#endif							/* MODEL_HOPPER_BASICS_H */
