/*
 * copy.c
 *		Copies of what may have gigabytes, in memory and in temporary files. As base/pieces.h in the
 *		core: in pieces, between which a cancel is heard. And arrays that grow.
 */
#include "pg/server/glue.h"

#include "storage/buffile.h"

#define PIECE_BYTES (8 * 1024 * 1024)

void
hopper_copy(void *to, const void *from, Size size)
{
	for (Size at = 0; at < size; at += PIECE_BYTES)
	{
		memcpy((char *) to + at, (const char *) from + at, Min(size - at, PIECE_BYTES));
		CHECK_FOR_INTERRUPTS();
	}
}

void
hopper_write_file(BufFile *file, const void *bytes, Size size)
{
	for (Size at = 0; at < size; at += PIECE_BYTES)
	{
		hopper_buffile_write(file, (char *) bytes + at, Min(size - at, PIECE_BYTES));
		CHECK_FOR_INTERRUPTS();
	}
}

void
hopper_seek_file(BufFile *file, int segment, off_t at)
{
	if (BufFileSeek(file, segment, at, SEEK_SET) != 0)
		ereport(ERROR, errcode_for_file_access(),
				errmsg("could not go to a place in a temporary file: %m"));
}

void
hopper_read_file(BufFile *file, void *bytes, Size size)
{
	for (Size at = 0; at < size; at += PIECE_BYTES)
	{
		Size		n = Min(size - at, PIECE_BYTES);

		if (BufFileRead(file, (char *) bytes + at, n) != n)
			ereport(ERROR, errcode_for_file_access(),
					errmsg("could not read a temporary file: %m"));
		CHECK_FOR_INTERRUPTS();
	}
}

void *
hopper_grown(void *array, int n, int *allocated, Size size)
{
	Size		before = *allocated * size;

	if (n <= *allocated)
		return array;
	*allocated = Max(Max(64, n), 2 * *allocated);
	array = array ? repalloc_huge(array, *allocated * size)
		: MemoryContextAllocHuge(CurrentMemoryContext, *allocated * size);
	memset((char *) array + before, 0, *allocated * size - before);
	return array;
}
