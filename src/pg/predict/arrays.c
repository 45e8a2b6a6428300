/*
 * arrays.c
 *		Predictions that are arrays: numbers, what a layer gives, or a class at each step or pixel.
 */
#include "pg/predict/predict.h"

/*
 * An array of n elements in the model's shape, with an axis of `width` behind it where that is
 * above 1; flat where the server's arrays have not as many dimensions, or the shape is another one.
 */
static Datum
shaped_array(const hopper_predict_model *model, int width, int n, Oid type, Datum *elements,
			 bool *nulls)
{
	int			sizes[HOPPER_MAX_RANK + 1];
	int			firsts[HOPPER_MAX_RANK + 1];
	int			rank = 0;
	int64		count = 1;
	int16		length;
	bool		by_value;
	char		alignment;

	for (int i = 0; i < model->rank && count > 0 && count <= n; i++)
	{
		sizes[rank++] = (int) model->shape[i];
		count *= model->shape[i] > 0 && model->shape[i] <= n ? model->shape[i] : 0;
	}
	if (width > 1)
	{
		sizes[rank++] = width;
		count *= width;
	}
	if (rank < 1 || rank > MAXDIM || count != n)
	{
		rank = 1;
		sizes[0] = n;
	}
	for (int i = 0; i < rank; i++)
		firsts[i] = 1;
	get_typlenbyvalalign(type, &length, &by_value, &alignment);
	return PointerGetDatum(construct_md_array(elements, nulls, rank, sizes, firsts, type, length,
											  by_value, alignment));
}

Datum
hopper_predict_value_array(const hopper_predict_model *model, int n_outputs, const float *outputs)
{
	Datum	   *numbers = palloc(n_outputs * sizeof(Datum));
	double	   *values;

	if (model->layer)
	{
		for (int i = 0; i < n_outputs; i++)
			numbers[i] = Float4GetDatum(outputs[i]);
		return shaped_array(model, 1, n_outputs, FLOAT4OID, numbers, NULL);
	}
	values = palloc(n_outputs * sizeof(double));
	hopper_predict_values(model, n_outputs, outputs, values);
	for (int i = 0; i < n_outputs; i++)
		numbers[i] = Float8GetDatum(values[i]);
	return shaped_array(model, 1, n_outputs, FLOAT8OID, numbers, NULL);
}

int
hopper_predict_n_places(const hopper_predict_model *model)
{
	return model->count / (int) model->link_width;
}

void
hopper_predict_rank_at(hopper_predict_classes *classes, const hopper_predict_model *model,
					   const float *outputs, int place, bool top_only)
{
	int			width = (int) model->link_width;

	hopper_predict_rank(classes, model, width, outputs + (Size) place * width, top_only);
}

static Datum
class_datum(Oid type, int class)
{
	return type == INT2OID ? Int16GetDatum((int16) class)
		: type == INT8OID ? Int64GetDatum(class) : Int32GetDatum(class);
}

void
hopper_predict_each(const hopper_predict_model *model, hopper_predict_classes *classes,
					const float *outputs, const Datum *names, const bool *name_nulls, bool all,
					Datum *predicted, Datum *probabilities)
{
	int			n = hopper_predict_n_places(model);
	int			width = all ? (int) model->link_width : 1;
	Datum	   *class_datums = palloc(n * sizeof(Datum));
	bool	   *nulls = palloc0(n * sizeof(bool));
	Datum	   *shares = palloc((Size) n * width * sizeof(Datum));

	for (int place = 0; place < n; place++)
	{
		int			class;

		hopper_predict_rank_at(classes, model, outputs, place, true);
		class = classes->order[0];
		class_datums[place] = names ? names[class] : class_datum(model->class_type, class);
		nulls[place] = names && name_nulls[class];
		for (int i = 0; i < width; i++)
			shares[place * width + i] =
				Float8GetDatum(classes->probabilities[!all ? class : width == 1 ? 1 : i]);
	}
	*predicted = shaped_array(model, 1, n, model->class_type, class_datums, nulls);
	*probabilities = shaped_array(model, width, n * width, FLOAT8OID, shares, NULL);
}
