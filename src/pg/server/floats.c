/*
 * floats.c
 *		The float32 values of a bytea, in pieces.
 */
#include "pg/server/floats.h"

#define PIECE_FLOATS (1024 * 1024)

/* Number of float32 values in a bytea, without reading it; ERROR 22023 if ragged. */
static int64
float_count(Datum value)
{
	int64		size = (int64) toast_raw_datum_size(value) - VARHDRSZ;

	if (size % sizeof(float) != 0)
		hopper_wrong(errmsg("model weights of %s are not a whole number of float32 values",
							hopper_plural(size, "byte", "bytes")),
					 errhint("Concatenate the float32 arrays of model.get_weights()."));
	return size / sizeof(float);
}

/* Out of line and as it is: the server reads any part of it by itself. */
static bool
has_parts(Datum value)
{
	return VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(value)) &&
		toast_datum_size(value) + VARHDRSZ == toast_raw_datum_size(value);
}

/* Small values are not worth counting, as any row. */
static void
count(hopper_floats *floats, int64 bytes)
{
	if (bytes <= (int64) (PIECE_FLOATS * sizeof(float)))
		return;
	floats->share = hopper_share_new();
	hopper_take_memory(floats->share, bytes);
}

int64
hopper_detoasted_size(Datum value)
{
	const struct varlena *given = (const struct varlena *) DatumGetPointer(value);

	if (!VARATT_IS_EXTENDED(given))
		return 0;
	return (int64) toast_raw_datum_size(value) +
		((VARATT_IS_COMPRESSED(given) || VARATT_IS_EXTERNAL(given)) && !has_parts(value) ?
		 (int64) toast_datum_size(value) : 0);
}

void
hopper_floats_of(Datum value, bool stays, hopper_floats *floats)
{
	struct varlena *given = (struct varlena *) DatumGetPointer(value);

	memset(floats, 0, sizeof(*floats));
	floats->n = float_count(value);
	if (has_parts(value))
	{
		floats->stored = palloc(VARSIZE_EXTERNAL(given));
		memcpy(floats->stored, given, VARSIZE_EXTERNAL(given));
		return;
	}
	/* A value with a four-byte header is aligned as floats are. */
	if (!stays || VARATT_IS_EXTENDED(given))
	{
		count(floats, VARATT_IS_EXTENDED(given) ? hopper_detoasted_size(value) :
			  (int64) VARSIZE(given));
		given = PG_DETOAST_DATUM_COPY(value);
	}
	floats->values = (const float *) VARDATA(given);
}

void
hopper_floats_release(hopper_floats *floats)
{
	if (floats->share)
	{
		pfree((char *) floats->values - VARHDRSZ);
		hopper_share_release(floats->share);
	}
	memset(floats, 0, sizeof(*floats));
}

const float *
hopper_floats_whole(hopper_floats *floats)
{
	char	   *whole;

	if (floats->values || floats->stored == NULL)
		return floats->values;
	count(floats, floats->n * (int64) sizeof(float));
	/* as hopper_floats_release() looks for it */
	whole = MemoryContextAllocHuge(CurrentMemoryContext, VARHDRSZ + floats->n * sizeof(float));
	hopper_floats_copy(floats, 0, floats->n, whole + VARHDRSZ);
	floats->values = (const float *) (whole + VARHDRSZ);
	return floats->values;
}

static void
pass(const hopper_floats *floats, int64 first, int64 last, hopper_floats_taker take, void *state)
{
	for (int64 at = first; at < last; at += PIECE_FLOATS)
	{
		int64		n = Min(last - at, PIECE_FLOATS);
		struct varlena *piece = NULL;
		const float *values = floats->values + at;

		CHECK_FOR_INTERRUPTS();
		if (floats->values == NULL)
		{
			piece = PG_DETOAST_DATUM_SLICE(PointerGetDatum(floats->stored),
										   (int32) (at * sizeof(float)),
										   (int32) (n * sizeof(float)));
			if (VARSIZE(piece) != VARHDRSZ + n * sizeof(float))
				hopper_raise(ERRCODE_DATA_CORRUPTED,
							 errmsg("stored weights end before their length"));
			values = (const float *) VARDATA(piece);
		}
		HOPPER_CHECK(take(state, at, values, n, hopper_fault));
		if (piece)
			pfree(piece);
	}
}

void
hopper_floats_pass(const hopper_floats *floats, hopper_floats_taker take, void *state)
{
	pass(floats, 0, floats->n, take, state);
}

typedef struct taking
{
	const char *arch;			/* NULL: not to be checked */
	size_t		arch_size;
	char	   *to;				/* where the first one goes; NULL: nowhere */
	int64		from;			/* its number */
} taking;

static int
take_piece(void *state, int64 first, const float *values, int64 n, hopper_error *error)
{
	const taking *take = state;

	if (take->to)
		memcpy(take->to + (first - take->from) * sizeof(float), values, n * sizeof(float));
	return take->arch == NULL ? 0 :
		hopper_core()->check_weights_part(take->arch, take->arch_size, first, values, n, error);
}

void
hopper_floats_copy(const hopper_floats *floats, int64 first, int64 n, void *to)
{
	taking		take = {.to = to,.from = first};

	pass(floats, first, first + n, take_piece, &take);
}

void
hopper_floats_copy_checked(const hopper_floats *floats, const char *arch, size_t arch_size,
						   int64 first, int64 n, void *to)
{
	taking		take = {floats->values ? NULL : arch, arch_size, to, first};

	pass(floats, first, first + n, take_piece, &take);
}

void
hopper_floats_check(const hopper_floats *floats, const char *arch, size_t arch_size)
{
	taking		check = {.arch = arch,.arch_size = arch_size};

	HOPPER_CORE(check_weights, arch, arch_size, floats->values, floats->n);
	if (floats->values == NULL)
		hopper_floats_pass(floats, take_piece, &check);
}
