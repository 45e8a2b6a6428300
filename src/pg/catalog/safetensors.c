/*
 * safetensors.c
 *		to_safetensors() and from_safetensors(): weights as files of other tools.
 */
#include "pg/catalog/models.h"

void
hopper_arch_arguments(FunctionCallInfo fcinfo, int shape_at, hopper_arch *out)
{
	int32	   *sizes;

	out->arch = hopper_to_utf8(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	out->arch_size = strlen(out->arch);
	sizes = hopper_sizes_argument(fcinfo, shape_at, "input_shape", 1, HOPPER_MAX_RANK, &out->rank);
	for (int i = 0; i < out->rank; i++)
		out->shape[i] = sizes[i];
}

/*
 * The header of the model's file and the number of its weights. Given weights must be so many;
 * those in memory are checked.
 */
static const char *
header_of(const hopper_arch *from, const hopper_floats *weights, int64 *n_floats)
{
	hopper_rows *rows =
		HOPPER_CORE_ROWS(safetensors_header, from->arch, from->arch_size, from->rank, from->shape,
						 weights ? weights->values : NULL, weights ? weights->n : -1);

	*n_floats = strtoll(rows->cells[1], NULL, 10);
	return rows->cells[0];
}

bytea *
hopper_make_bytea(Size size)
{
	bytea	   *value;

	if (size > MaxAllocSize - VARHDRSZ)
		hopper_raise(ERRCODE_PROGRAM_LIMIT_EXCEEDED,
					 errmsg("the file is too large for a value of type bytea"),
					 errdetail("It has %zu bytes.", size));
	value = palloc(VARHDRSZ + size);
	SET_VARSIZE(value, VARHDRSZ + size);
	return value;
}

/* to_safetensors(model_arch, model_weights, input_shape) */
HOPPER_FUNCTION(hopper_sql_to_safetensors)
{
	hopper_arch from;
	int64		n_floats;
	hopper_floats weights;
	const char *header;
	uint64		length;
	hopper_share *share;
	Size		size;
	bytea	   *file;
	char	   *at;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	hopper_arch_arguments(fcinfo, 2, &from);
	hopper_floats_of(PG_GETARG_DATUM(1), true, &weights);
	header = header_of(&from, &weights, &n_floats);
	length = strlen(header);
	size = sizeof(length) + length + n_floats * sizeof(float);
	/* Then it is the query's, which holds it as any value. */
	share = hopper_share_new();
	hopper_take_memory(share, size);
	file = hopper_make_bytea(size);
	at = VARDATA(file);
	memcpy(at, &length, sizeof(length));
	memcpy(at + sizeof(length), header, length);
	hopper_floats_copy_checked(&weights, from.arch, from.arch_size, 0, n_floats,
							   at + sizeof(length) + length);
	hopper_share_release(share);
	hopper_floats_release(&weights);
	PG_RETURN_BYTEA_P(file);
}

/* from_safetensors(model_arch, file, input_shape) */
HOPPER_FUNCTION(hopper_sql_from_safetensors)
{
	hopper_arch to;
	bytea	   *file;
	int64		n_floats;
	hopper_share *share;
	bytea	   *weights;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	hopper_arch_arguments(fcinfo, 2, &to);
	(void) header_of(&to, NULL, &n_floats);
	share = hopper_share_new();
	hopper_take_memory(share, hopper_detoasted_size(PG_GETARG_DATUM(1)) +
					   n_floats * (int64) sizeof(float));
	file = PG_GETARG_BYTEA_PP(1);
	weights = hopper_make_bytea(n_floats * sizeof(float));
	HOPPER_CORE(read_safetensors, to.arch, to.arch_size, to.rank, to.shape, VARDATA_ANY(file),
				VARSIZE_ANY_EXHDR(file), (float *) VARDATA(weights), n_floats);
	PG_FREE_IF_COPY(file, 1);
	hopper_share_release(share);
	PG_RETURN_BYTEA_P(weights);
}
