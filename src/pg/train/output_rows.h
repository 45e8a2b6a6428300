/*
 * output_rows.h
 *		Rows of the tables that training leaves behind: one list of columns makes a table and fills
 *		it.
 */
#ifndef HOPPER_OUTPUT_ROWS_H
#define HOPPER_OUTPUT_ROWS_H

#include "pg/train/outputs.h"

#define HOPPER_OUTPUT_COLUMNS 64

typedef struct hopper_output_row
{
	int			n;
	const char *names[HOPPER_OUTPUT_COLUMNS];
	Oid			types[HOPPER_OUTPUT_COLUMNS];
	const char *expressions[HOPPER_OUTPUT_COLUMNS];	/* what the column is made of, or NULL */
	Datum		values[HOPPER_OUTPUT_COLUMNS];
	bool		nulls[HOPPER_OUTPUT_COLUMNS];
} hopper_output_row;

/* Adds a column; a row begins as zeros. */
extern void hopper_put(hopper_output_row *row, const char *name, Oid type, Datum value,
					   bool isnull);
extern void hopper_put_int(hopper_output_row *row, const char *name, int32 value);

/* A row of _info; `training` is NULL where only the columns are wanted. */
extern hopper_output_row *hopper_info_row(const hopper_training *training, int at);
/* The row of _summary; `training` and `record` are NULL where only the columns are wanted. */
extern hopper_output_row *hopper_summary_row(const hopper_name *model, const hopper_packed *train,
											 const hopper_training *training,
											 const hopper_run_record *record);
/* That column of it which has a name of the data's. */
extern const char *hopper_class_values_column(const hopper_packed *train);

/* Makes the table, empty. `distribution` is added to the statement. */
extern void hopper_output_create(const hopper_name *table, const hopper_output_row *row,
								 const char *distribution);
/* What an earlier version's table has no column for is left out where it is NULL. */
extern void hopper_output_insert(const hopper_name *table, const hopper_output_row *row);

#endif							/* HOPPER_OUTPUT_ROWS_H */
