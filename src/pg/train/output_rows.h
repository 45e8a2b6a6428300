/*
 * output_rows.h
 *		Rows of the tables that training leaves behind: the list of a table's columns
 *		(server/tables.h) makes it, and a row has a value for each of them.
 */
#ifndef HOPPER_OUTPUT_ROWS_H
#define HOPPER_OUTPUT_ROWS_H

#include "pg/train/outputs.h"

#define HOPPER_OUTPUT_COLUMNS 64

/* of both tables */
#define HOPPER_MEANS_METRICS_ITERS \
	"iterations at which metrics were taken, counted over warm starts"

typedef struct hopper_output_row
{
	const hopper_layout *layout;
	int			n;				/* columns with a value */
	const char *names[HOPPER_OUTPUT_COLUMNS];
	hopper_param values[HOPPER_OUTPUT_COLUMNS];
} hopper_output_row;

/* A row without values, which may be palloc'ed. */
extern void hopper_begin_row(hopper_output_row *row, const hopper_layout *layout);
extern hopper_output_row *hopper_new_row(const hopper_layout *layout);
/* The value of the next column, which has this name and says of what type it is. */
extern void hopper_fill(hopper_output_row *row, const char *name, hopper_param value);
/* Of a column whose name and type the data give. */
extern void hopper_fill_given(hopper_output_row *row, const char *name, hopper_param value);

/* A row of _info (train/info_row.c). */
extern hopper_output_row *hopper_info_row(const hopper_config *config,
										  const hopper_model_result *result,
										  const hopper_history *history);
/*
 * The row of _summary (train/summary_row.c); `training` and `record` are NULL where only the
 * columns are wanted.
 */
extern hopper_output_row *hopper_summary_row(const hopper_name *model, const hopper_packed *train,
											 const hopper_training *training,
											 const hopper_run_record *record);
/* That column of it which has a name of the data's. */
extern const char *hopper_class_values_column(const hopper_packed *train);
/* What a summary says of how its run trained. */
extern void hopper_read_summary(const hopper_outputs *outputs, hopper_run_record *record,
								hopper_run_options *options);

/* ERROR 55000 where a table does not "take" or "give up" rows. */
extern void hopper_outputs_refuse_table(const hopper_name *table,
										const char *what) pg_attribute_noreturn();
/*
 * Rows into a table, by one plan: begins as {table}. What an earlier version's table has no column
 * for is left out where it is NULL. SPI must stay connected until the end.
 */
typedef struct hopper_output_writer
{
	const hopper_name *table;
	SPIPlanPtr	plan;			/* NULL: none yet */
	int			n_rows;			/* that the plan takes at once */
	int			n;				/* their values */
	bool		left_out[HOPPER_OUTPUT_COLUMNS];
} hopper_output_writer;
extern void hopper_output_write(hopper_output_writer *writer, const hopper_output_row *row);
extern void hopper_output_write_rows(hopper_output_writer *writer,
									 const hopper_output_row *const *rows, int n_rows);
extern void hopper_output_end(hopper_output_writer *writer);
/* One row. */
extern void hopper_output_insert(const hopper_name *table, const hopper_output_row *row);

#endif							/* HOPPER_OUTPUT_ROWS_H */
