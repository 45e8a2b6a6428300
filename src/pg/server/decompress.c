/*
 * decompress.c
 *		The server's pglz format, read by copies of a fixed width.
 *
 * A byte of flags, lowest bit first, is followed by eight items: a byte that stands for itself,
 * or (flag 1) two bytes of length and offset of a copy from what was written before. The low half
 * of the first is the length less 3, where 15 says that a third byte is to be added; its high half
 * is the upper part of the offset, whose lower part is the second byte.
 */
#include "pg/server/decompress.h"

/* Bytes of one copy; so many may be written behind the end. */
#define WIDTH 16

/* Copies that overlap repeat what lies between source and target. */
static inline unsigned char *
repeat_bytes(unsigned char *to, int32 offset, int32 length)
{
	while (length > offset)
	{
		memcpy(to, to - offset, offset);
		to += offset;
		length -= offset;
		offset += offset;
	}
	memcpy(to, to - offset, length);
	return to + length;
}

static inline unsigned char *
copy_bytes(unsigned char *to, int32 offset, int32 length)
{
	const unsigned char *from = to - offset;

	if (offset < WIDTH)
		return repeat_bytes(to, offset, length);
	memcpy(to, from, WIDTH);
	for (int32 done = WIDTH; done < length; done += WIDTH)
		memcpy(to + done, from + done, WIDTH);
	return to + length;
}

/* False where the source is not what makes `size` bytes. `out` has room for WIDTH bytes more. */
static bool
expand(const unsigned char *source, int32 length, unsigned char *out, int32 size)
{
	const unsigned char *source_end = source + length;
	unsigned char *to = out;
	unsigned char *end = out + size;

	while (source < source_end && to < end)
	{
		unsigned int flags = *source++;

		for (int item = 0; item < 8 && source < source_end && to < end; item++, flags >>= 1)
		{
			int32		count;
			int32		offset;

			if ((flags & 1) == 0)
			{
				*to++ = *source++;
				continue;
			}
			if (source_end - source < 2)
				return false;
			count = (source[0] & 0x0f) + 3;
			offset = ((source[0] & 0xf0) << 4) | source[1];
			source += 2;
			if (count == 18)
			{
				if (source == source_end)
					return false;
				count += *source++;
			}
			if (offset == 0 || offset > to - out)
				return false;
			to = copy_bytes(to, offset, Min(count, (int32) (end - to)));
		}
	}
	return source == source_end && to == end;
}

struct varlena *
hopper_decompress(Datum value)
{
	const char *source;
	int32		length;
	int32		size;
	struct varlena *result;

	if (!hopper_inline_pglz((struct varlena *) DatumGetPointer(value), &source, &length, &size))
		return NULL;
	result = palloc((Size) VARHDRSZ + size + WIDTH);
	SET_VARSIZE(result, VARHDRSZ + size);
	if (!expand((const unsigned char *) source, length, (unsigned char *) VARDATA(result), size))
		hopper_raise(ERRCODE_DATA_CORRUPTED, errmsg_internal("compressed pglz data is corrupt"));
	return result;
}
