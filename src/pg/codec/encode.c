/*
 * encode.c
 *		Numbers of a row as packed bytes: numeric arrays, bytea, scalar columns. Packed bytes are
 *		little-endian and in C order.
 */
#include "pg/codec/rows.h"

#include "pg/codec/refusals.h"
#include "pg/codec/schema.h"
#include "pg/server/decompress.h"

#ifdef WORDS_BIGENDIAN
#error "packed tables are little-endian; this machine is not"
#endif

/* NULL where the row lacks it and may. */
static ArrayType *
get_array(const hopper_pack_values *values, const hopper_pack_source *source, const Datum *datums,
		  const bool *nulls)
{
	ArrayType  *array;

	if (nulls[0] && !hopper_pack_refuse_null(source, &values->columns[0]))
		return NULL;
	array = (ArrayType *) hopper_decompress(datums[0]);
	if (array == NULL)
		array = DatumGetArrayTypeP(datums[0]);
	if (ARR_NDIM(array) == 0 && !values->padding.given)
		hopper_wrong(errmsg("column \"%s\" of \"%s\" holds an empty array", values->columns[0].name,
							source->name.shown),
					 errdetail("%s.", hopper_pack_row_name(source)),
					 errhint("%s%s", hopper_pack_padding_hint(values, source, 0, NULL),
							 hopper_pack_rows_hint(source)));
	return array;
}

static int
get_shape(ArrayType *array, int64 *shape)
{
	int			i;

	for (i = 0; i < ARR_NDIM(array); i++)
		shape[i] = ARR_DIMS(array)[i];
	return ARR_NDIM(array);
}

/* Equal but for dimensions of one. */
static bool
same_squeezed(int rank, const int64 *shape, int other_rank, const int64 *other)
{
	int			i = 0;
	int			j = 0;

	for (;;)
	{
		while (i < rank && shape[i] == 1)
			i++;
		while (j < other_rank && other[j] == 1)
			j++;
		if (i == rank || j == other_rank)
			return i == rank && j == other_rank;
		if (shape[i++] != other[j++])
			return false;
	}
}

static void
check_shape(const hopper_pack_values *values, const hopper_pack_source *source, ArrayType *array)
{
	int64		shape[MAXDIM];
	int			rank = get_shape(array, shape);

	if (rank == values->rank && memcmp(shape, values->shape, sizeof(int64) * rank) == 0)
		return;
	if (values->shape_given &&
		((rank == 1 && shape[0] == values->count) ||
		 same_squeezed(rank, shape, values->rank, values->shape)))
		return;
	hopper_pack_refuse_shape(values, source, rank, shape);
}

void
hopper_pack_values_learn(hopper_pack_values *values, const hopper_pack_source *source,
						 const Datum *datums,
				  const bool *nulls)
{
	int64		shape[MAXDIM];
	int			rank;

	if (values->shape_known)
		return;
	if (values->layout == PACK_INPUTS)
	{
		for (int i = 0, at = 0; i < values->n_parts; at += values->parts[i++].n_columns)
			hopper_pack_values_learn(&values->parts[i], source, datums + at, nulls + at);
		hopper_pack_values_know_inputs(values);
		return;
	}
	Assert(values->layout == PACK_ARRAY && !source->may_lack);
	rank = get_shape(get_array(values, source, datums, nulls), shape);
	hopper_pack_values_learn_shape(values, rank, shape, hopper_pack_row_name(source));
}

static const char *
name_non_finite(double value)
{
	return isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

/* Training computes with reals: it would only see that its loss is not finite. */
static bool
check_range(const hopper_pack_values *values, const hopper_pack_source *source,
			const hopper_pack_column *column,
			double number, int64 index, int64 count)
{
	return isfinite((float) (number / values->divisor)) ||
		hopper_pack_refuse_number(source, column, "a value out of range for real", index, count);
}

/* Writes one number as values->type, of `size` bytes, at least as wide as its own or float32. */
static bool
put_number(const hopper_pack_values *values, const hopper_pack_source *source,
		   const hopper_pack_column *column,
		   Oid from, Datum value, int64 index, int64 count, size_t size, char *out)
{
	int32		type = values->type;

	if (type == HOPPER_FLOAT32 || type == HOPPER_FLOAT64)
	{
		double		number = hopper_number_as_double(from, value);
		float		narrow;

		if (!isfinite(number))
			return hopper_pack_refuse_number(source, column, name_non_finite(number), index, count);
		if (values->deviation > 0)
			number = (number - values->mean) / values->deviation;
		narrow = (float) number;
		if (!check_range(values, source, column, number, index, count))
			return false;
		if ((double) narrow != number && values->deviation == 0 &&
			(from == INT4OID || from == INT8OID))
			hopper_pack_tell_rounding(source, column, number);
		if (type == HOPPER_FLOAT64)
			memcpy(out, &number, sizeof(number));
		else if (isfinite(narrow))
			memcpy(out, &narrow, sizeof(narrow));
		else
			return hopper_pack_refuse_number(source, column, "a value out of range for real", index,
									  count);
	}
	else
	{
		int64		number;

		switch (from)
		{
			case BOOLOID:
				number = DatumGetBool(value) ? 1 : 0;
				break;
			case INT2OID:
				number = DatumGetInt16(value);
				break;
			case INT4OID:
				number = DatumGetInt32(value);
				break;
			default:
				number = DatumGetInt64(value);
				break;
		}
		/* little-endian: the low bytes come first */
		memcpy(out, &number, size);
	}
	return true;
}

/*
 * Numbers as they are packed: whether all can be computed with. They are `n` of the row's `count`,
 * from the one numbered `first` on.
 */
static bool
check_numbers(const hopper_pack_values *values, const hopper_pack_source *source, const char *out,
			  int64 first, int64 n, int64 count)
{
	const hopper_pack_column *column = &values->columns[0];
	int64		bad = hopper_core()->find_non_finite(values->type, out, n);
	float		narrow;
	double		number;

	if (bad >= 0)
	{
		if (values->type == HOPPER_FLOAT32)
		{
			memcpy(&narrow, out + bad * sizeof(narrow), sizeof(narrow));
			number = narrow;
		}
		else
			memcpy(&number, out + bad * sizeof(number), sizeof(number));
		return hopper_pack_refuse_number(source, column, name_non_finite(number), first + bad,
										 count);
	}
	for (bad = 0; values->type == HOPPER_FLOAT64 && bad < n; bad++)
	{
		memcpy(&number, out + bad * sizeof(number), sizeof(number));
		if (!check_range(values, source, column, number, first + bad, count))
			return false;
	}
	for (bad = 0;
		 values->type == HOPPER_FLOAT32 && values->divisor < 1 && bad < n;
		 bad++)
	{
		memcpy(&narrow, out + bad * sizeof(narrow), sizeof(narrow));
		if (!check_range(values, source, column, narrow, first + bad, count))
			return false;
	}
	return true;
}

/* Bytes, one for each number, in the type of the others. */
static void
widen_bytes(const hopper_pack_values *values, const unsigned char *restrict bytes,
			char *restrict out)
{
	int64		n = values->count;

#define WIDEN(number_type) \
	for (int64 i = 0; i < n; i++) \
	{ \
		number_type number = bytes[i]; \
		memcpy(out + i * sizeof(number), &number, sizeof(number)); \
	}

	switch (values->type)
	{
		case HOPPER_INT16:
			WIDEN(int16);
			break;
		case HOPPER_INT32:
			WIDEN(int32);
			break;
		case HOPPER_INT64:
			WIDEN(int64);
			break;
		case HOPPER_FLOAT32:
			WIDEN(float);
			break;
		default:
			WIDEN(double);
			break;
	}
#undef WIDEN
}

static bool
encode_bytes(const hopper_pack_values *values, const hopper_pack_source *source, Datum datum,
			 char *out)
{
	struct varlena *bytes = hopper_decompress(datum);

	if (bytes == NULL)
		bytes = PG_DETOAST_DATUM_PACKED(datum);
	if (VARSIZE_ANY_EXHDR(bytes) == values->size)
		memcpy(out, VARDATA_ANY(bytes), values->size);
	else if (values->or_bytes && VARSIZE_ANY_EXHDR(bytes) == values->count)
	{
		widen_bytes(values, (unsigned char *) VARDATA_ANY(bytes), out);
		return true;
	}
	else
		hopper_pack_refuse_length(values, source, VARSIZE_ANY_EXHDR(bytes));
	return values->type < HOPPER_FLOAT32 ||
		check_numbers(values, source, out, 0, values->count, values->count);
}

/* Numbers of the array, `count` of them from the one numbered `first` on. */
static bool
encode_numbers(const hopper_pack_values *values, const hopper_pack_source *source,
			   ArrayType *array, int64 first, int64 count, char *out)
{
	const hopper_pack_column *column = &values->columns[0];
	Oid			element = values->elements[0];
	size_t		size = hopper_core()->type_size(values->type);

	if (hopper_pack_number_type(element) == values->type && element != NUMERICOID &&
		!(ARR_HASNULL(array) && array_contains_nulls(array)))
	{
		/* fixed-length elements lie side by side */
		memcpy(out, ARR_DATA_PTR(array) + first * size, count * size);
		return check_numbers(values, source, out, first, count,
							 ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)));
	}
	else
	{
		Datum	   *elements;
		bool	   *nulls;
		int			n = hopper_elements(array, &elements, &nulls);

		for (int64 i = first; i < first + count; i++)
		{
			if (nulls[i])
				return hopper_pack_refuse_null_element(source, column, i, n);
			if (!put_number(values, source, column, element, elements[i], i, n, size,
							out + (i - first) * size))
				return false;
		}
	}
	return true;
}

static bool
encode_array(const hopper_pack_values *values, const hopper_pack_source *source, ArrayType *array,
			 char *out)
{
	int64		shape[MAXDIM];
	int64		first;
	int64		at;
	int64		n;

	if (array == NULL)
		return false;
	if (!values->padding.given)
	{
		check_shape(values, source, array);
		return encode_numbers(values, source, array, 0, values->count, out);
	}
	n = hopper_pad_sequence(values, source, get_shape(array, shape), shape, &first, &at, out);
	return n == 0 || encode_numbers(values, source, array, first, n,
									out + at * hopper_core()->type_size(values->type));
}

/* Integers and finite reals of columns that have the packed type; false: there are others. */
static bool
copy_scalars(const hopper_pack_values *values, const Datum *restrict datums, const bool *nulls,
			 char *restrict out)
{
	int			n = values->n_columns;
	uint32		largest = 0;

	if (values->common_type != values->type || memchr(nulls, true, n * sizeof(bool)))
		return false;
#define COPY(number_type, get) \
	for (int i = 0; i < n; i++) \
	{ \
		number_type number = get(datums[i]); \
		memcpy(out + i * sizeof(number), &number, sizeof(number)); \
	}

	switch (values->type)
	{
		case HOPPER_INT16:
			COPY(int16, DatumGetInt16);
			return true;
		case HOPPER_INT32:
			COPY(int32, DatumGetInt32);
			return true;
		case HOPPER_INT64:
			COPY(int64, DatumGetInt64);
			return true;
		case HOPPER_FLOAT32:
			if (values->deviation > 0 || values->divisor < 1)
				return false;
			for (int i = 0; i < n; i++)
			{
				uint32		number = DatumGetUInt32(datums[i]);

				largest = Max(largest, number & 0x7fffffff);
				memcpy(out + i * sizeof(number), &number, sizeof(number));
			}
			/* infinity's bits; those of NaN are above */
			return largest < 0x7f800000;
		default:
			return false;
	}
#undef COPY
}

bool
hopper_pack_values_as_they_lie(const hopper_pack_values *values)
{
	return values->layout == PACK_SCALARS && values->common_type == values->type &&
		values->type != HOPPER_FLOAT64 && values->deviation == 0 && values->divisor >= 1;
}

bool
hopper_pack_values_copy(const hopper_pack_values *values, const char *restrict numbers,
						char *restrict out)
{
	int			n_floats = values->type == HOPPER_FLOAT32 ? values->n_columns : 0;
	uint32		carry = 0;

	memcpy(out, numbers, values->size);
	/* The exponent of infinity and NaN, and no other, has a carry into the sign. */
	for (int i = 0; i < n_floats; i++)
	{
		uint32		number;

		memcpy(&number, numbers + i * sizeof(number), sizeof(number));
		carry |= (number & 0x7f800000) + 0x00800000;
	}
	return carry < 0x80000000;
}

/* A row's columns, one number each. */
static bool
encode_scalars(const hopper_pack_values *values, const hopper_pack_source *source,
			   const Datum *datums, const bool *nulls, char *out)
{
	size_t		size = hopper_core()->type_size(values->type);

	if (copy_scalars(values, datums, nulls, out))
		return true;
	for (int i = 0; i < values->n_columns; i++, out += size)
	{
		if (nulls[i])
			return hopper_pack_refuse_null(source, &values->columns[i]);
		if (!put_number(values, source, &values->columns[i], values->elements[i], datums[i], 0, 1,
						size, out))
			return false;
	}
	return true;
}

bool
hopper_pack_values_encode(const hopper_pack_values *values, const hopper_pack_source *source,
						  const Datum *datums,
				   const bool *nulls, char *out)
{
	switch (values->layout)
	{
		case PACK_ARRAY:
			return encode_array(values, source, get_array(values, source, datums, nulls), out);
		case PACK_BYTES:
			if (nulls[0])
				return hopper_pack_refuse_null(source, &values->columns[0]);
			return encode_bytes(values, source, datums[0], out);
		case PACK_SCALARS:
			return encode_scalars(values, source, datums, nulls, out);
		case PACK_COLUMNS:
			return hopper_schema_encode(values, source, datums, nulls, out);
		case PACK_INPUTS:
			for (int i = 0; i < values->n_parts; i++)
			{
				const hopper_pack_values *part = &values->parts[i];

				if (!hopper_pack_values_encode(part, source, datums, nulls, out))
					return false;
				datums += part->n_columns;
				nulls += part->n_columns;
				out += part->size;
			}
			break;
	}
	return true;
}
