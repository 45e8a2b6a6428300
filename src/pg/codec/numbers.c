/*
 * numbers.c
 *		Values of the server's numeric types as floating point.
 *
 * The server makes a float of a numeric by way of its decimal text. Most columns hold numbers of
 * few digits, which are a whole number times a power of ten, both of them exact as doubles: then
 * one multiplication or division rounds correctly, as reading the text does (Clinger, "How to read
 * floating point numbers accurately", 1990), at a tenth of the time.
 */
#include "pg/codec/rows.h"

#include "pg/codec/schema.h"

/*
 * How a numeric is stored, which no header of the server says, but which no release may change for
 * the tables that are there: a header of 16 or 32 bits, then digits of four decimals, the first
 * of them worth 10000 ^ weight (src/backend/utils/adt/numeric.c).
 */
#define IS_SHORT(header) (((header) & 0xC000) == 0x8000)
#define IS_SPECIAL(header) (((header) & 0xC000) == 0xC000)
#define SHORT_NEGATIVE 0x2000
#define SHORT_WEIGHT_SIGN 0x0040
#define SHORT_WEIGHT 0x003F
#define LONG_SIGN 0xC000
#define LONG_NEGATIVE 0x4000

#define BASE 10000
#define BASE_DECIMALS 4
#define MOST_EXACT ((int64) 1 << 53)

/* Powers of ten that are exact as doubles. */
static const double powers[] = {
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
	1e17, 1e18, 1e19, 1e20, 1e21, 1e22
};

/* False where it has too many digits, or is not finite. */
static bool
few_digits(const struct varlena *value, double *result)
{
	const char *bytes = VARDATA_ANY(value);
	int			size = (int) VARSIZE_ANY_EXHDR(value);
	uint16		header;
	int16		weight;
	bool		negative;
	int64		whole = 0;
	int			n;
	int			power;

	memcpy(&header, bytes, sizeof(header));
	if (IS_SPECIAL(header))
		return false;
	bytes += sizeof(header);
	size -= sizeof(header);
	if (IS_SHORT(header))
	{
		weight = (int16) (((header & SHORT_WEIGHT_SIGN) ? ~SHORT_WEIGHT : 0) |
						  (header & SHORT_WEIGHT));
		negative = (header & SHORT_NEGATIVE) != 0;
	}
	else
	{
		memcpy(&weight, bytes, sizeof(weight));
		bytes += sizeof(weight);
		size -= sizeof(weight);
		negative = (header & LONG_SIGN) == LONG_NEGATIVE;
	}
	n = size / (int) sizeof(int16);
	power = BASE_DECIMALS * (weight - n + 1);
	if (n > 4 || abs(power) >= (int) lengthof(powers))
		return false;
	for (int i = 0; i < n; i++)
	{
		int16		digit;

		memcpy(&digit, bytes + i * sizeof(digit), sizeof(digit));
		whole = whole * BASE + digit;
	}
	if (whole > MOST_EXACT)
		return false;
	*result = power < 0 ? (double) whole / powers[-power] : (double) whole * powers[power];
	if (negative)
		*result = -*result;
	return true;
}

static double
numeric_as_double(Datum value)
{
	struct varlena *given = PG_DETOAST_DATUM_PACKED(value);
	double		result;

	if (few_digits(given, &result))
		return result;
	/* too large becomes infinity, which is refused with the row's name */
	return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, PointerGetDatum(given)));
}

double
hopper_number_as_double(Oid type, Datum value)
{
	switch (type)
	{
		case BOOLOID:
			return DatumGetBool(value) ? 1.0 : 0.0;
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
			return DatumGetInt32(value);
		case INT8OID:
			return (double) DatumGetInt64(value);
		case FLOAT4OID:
			return DatumGetFloat4(value);
		case FLOAT8OID:
			return DatumGetFloat8(value);
		case NUMERICOID:
			return numeric_as_double(value);
		default:
			elog(ERROR, "type %u is not numeric", type);
			return 0;
	}
}
