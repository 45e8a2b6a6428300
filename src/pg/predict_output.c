/*
 * predict_output.c
 *		The table of predictions: MADlib's columns, and the label in its own type.
 *
 *	classes		<id>, class_name text, class_value text, prob float8, rank int, predicted_<label>
 *	values		<id>, predicted_<label> float8 (several outputs: float8[])
 *
 * 'response' has no rank. The label's column does not have the label's name because these tables
 * are made to be joined with the ones that hold the true labels.
 */
#include "pg/predict.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/array.h"

#include "pg/bulk_insert.h"

struct predict_output
{
	const predict_model *model;
	predict_what what;
	int			n_outputs;
	bool		has_rank;
	bool		has_label;
	predict_classes classes;
	Datum		class_name;
	Datum	   *class_values;
	bool	   *class_nulls;
	const Datum *label_values;
	const bool *label_nulls;
	hopper_bulk_insert *insert;
	MemoryContext scratch;
};

predict_output *
hopper_predict_output_open(const hopper_name *table, const predict_model *model,
						   const predict_what *what, int n_outputs, const char *id_column,
						   const char *id_type, const char *label_type,
						   const Datum *label_values, const bool *label_nulls)
{
	predict_output *output = palloc0(sizeof(predict_output));
	char	   *label = psprintf("predicted_%s", model->class_name);
	StringInfoData columns;

	output->model = model;
	output->what = *what;
	output->n_outputs = n_outputs;
	output->has_rank = what->kind != PREDICT_RESPONSE;
	output->has_label = label_type != NULL;
	output->label_values = label_values;
	output->label_nulls = label_nulls;

	initStringInfo(&columns);
	appendStringInfo(&columns, "%s %s", quote_identifier(id_column), id_type);
	if (model->is_value)
		appendStringInfo(&columns, ", %s double precision%s", quote_identifier(label),
						 model->is_array ? "[]" : "");
	else
	{
		appendStringInfo(&columns, ", class_name text, class_value text, prob double precision%s",
						 output->has_rank ? ", rank integer" : "");
		if (output->has_label)
			appendStringInfo(&columns, ", %s %s", quote_identifier(label), label_type);
		hopper_predict_classes_init(&output->classes, model);
		output->class_name = CStringGetTextDatum(model->class_name);
		output->class_values = palloc0(model->n_classes * sizeof(Datum));
		output->class_nulls = palloc0(model->n_classes * sizeof(bool));
		for (int i = 0; i < model->n_classes; i++)
		{
			const char *name = i < model->n_class_values ? model->class_values[i] : NULL;

			/* Without names a class is its index. */
			if (model->n_class_values == 0)
				name = psprintf("%d", i);
			output->class_nulls[i] = name == NULL;
			output->class_values[i] = name ? CStringGetTextDatum(name) : (Datum) 0;
		}
	}
	hopper_exec("CREATE TABLE %s (%s)" HOPPER_DISTRIBUTED_RANDOMLY, table->quoted, columns.data);
	output->insert = hopper_bulk_insert_open(hopper_relation_oid(table, false));
	output->scratch = AllocSetContextCreate(CurrentMemoryContext, "hopper prediction",
											ALLOCSET_DEFAULT_SIZES);
	return output;
}

static void
add_values(predict_output *output, Datum id, bool id_null, const float *outputs)
{
	Datum		values[2];
	bool		nulls[2] = {id_null, false};

	values[0] = id;
	if (output->model->is_array)
	{
		MemoryContext caller = MemoryContextSwitchTo(output->scratch);
		Datum	   *numbers = palloc(output->n_outputs * sizeof(Datum));

		for (int i = 0; i < output->n_outputs; i++)
			numbers[i] = Float8GetDatum(outputs[i]);
		values[1] = PointerGetDatum(construct_array(numbers, output->n_outputs, FLOAT8OID,
													sizeof(float8), FLOAT8PASSBYVAL, 'd'));
		MemoryContextSwitchTo(caller);
		hopper_bulk_insert_row(output->insert, values, nulls);
		MemoryContextReset(output->scratch);
		return;
	}
	values[1] = Float8GetDatum(outputs[0]);
	hopper_bulk_insert_row(output->insert, values, nulls);
}

void
hopper_predict_output_add(predict_output *output, Datum id, bool id_null, const float *outputs)
{
	const predict_model *model = output->model;
	const predict_what *what = &output->what;
	int			n = model->n_classes;

	if (model->is_value)
	{
		add_values(output, id, id_null, outputs);
		return;
	}
	hopper_predict_rank(&output->classes, model, output->n_outputs, outputs,
						what->kind == PREDICT_RESPONSE);
	if (what->kind == PREDICT_RESPONSE)
		n = 1;
	else if (what->kind == PREDICT_TOP)
		n = Min(n, what->k);
	for (int rank = 0; rank < n; rank++)
	{
		int			class = output->classes.order[rank];
		double		probability = output->classes.probabilities[class];
		Datum		values[6];
		bool		nulls[6] = {false};
		int			at = 0;

		if (what->kind == PREDICT_THRESHOLD && !(probability > what->threshold))
			break;
		nulls[at] = id_null;
		values[at++] = id;
		values[at++] = output->class_name;
		nulls[at] = output->class_nulls[class];
		values[at++] = output->class_values[class];
		values[at++] = Float8GetDatum(probability);
		if (output->has_rank)
			values[at++] = Int32GetDatum(rank + 1);
		if (output->has_label)
		{
			nulls[at] = output->label_nulls[class];
			values[at++] = output->label_values[class];
		}
		hopper_bulk_insert_row(output->insert, values, nulls);
	}
}

void
hopper_predict_output_close(predict_output *output)
{
	hopper_bulk_insert_close(output->insert);
	MemoryContextDelete(output->scratch);
	pfree(output);
}
