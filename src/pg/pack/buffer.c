/*
 * buffer.c
 *		One buffer of a packed table: rows in rank order become its columns.
 */
#include "pg/pack/pack.h"

void
hopper_pack_buffer_init(hopper_pack_buffer *buffer, const hopper_pack_row_shape *row,
						int32 most_rows)
{
	buffer->row = row;
	buffer->n = 0;
	buffer->x = MemoryContextAllocHuge(CurrentMemoryContext,
									   VARHDRSZ + most_rows * row->x_size);
	buffer->y = MemoryContextAllocHuge(CurrentMemoryContext,
									   VARHDRSZ + most_rows * row->y_size);
}

void
hopper_pack_buffer_add(hopper_pack_buffer *buffer, const char *x, const char *y)
{
	const hopper_pack_row_shape *row = buffer->row;

	memcpy(VARDATA(buffer->x) + buffer->n * row->x_size, x, row->x_size);
	memcpy(VARDATA(buffer->y) + buffer->n * row->y_size, y, row->y_size);
	buffer->n++;
}

/* {n, dimensions of a row} */
static Datum
shape_datum(int32 n, int rank, const int64 *shape)
{
	Datum		numbers[HOPPER_MAX_RANK + 1];

	numbers[0] = Int32GetDatum(n);
	for (int i = 0; i < rank; i++)
		numbers[i + 1] = Int32GetDatum((int32) shape[i]);
	return hopper_array(INT4OID, rank + 1, numbers, NULL);
}

void
hopper_pack_buffer_columns(hopper_pack_buffer *buffer, int32 partition_id, int32 buffer_id,
						   Datum *columns)
{
	const hopper_pack_row_shape *row = buffer->row;
	size_t		x_size = buffer->n * row->x_size;
	size_t		y_size = buffer->n * row->y_size;
	bytea	   *checksum = palloc(VARHDRSZ + HOPPER_CHECKSUM_SIZE);

	SET_VARSIZE(buffer->x, VARHDRSZ + x_size);
	SET_VARSIZE(buffer->y, VARHDRSZ + y_size);
	SET_VARSIZE(checksum, VARHDRSZ + HOPPER_CHECKSUM_SIZE);
	hopper_core()->buffer_checksum(partition_id, buffer_id, buffer->n, VARDATA(buffer->x), x_size,
								   VARDATA(buffer->y), y_size, (uint8_t *) VARDATA(checksum));
	columns[0] = Int32GetDatum(partition_id);
	columns[1] = Int32GetDatum(buffer_id);
	columns[2] = Int32GetDatum(buffer->n);
	columns[3] = PointerGetDatum(buffer->x);
	columns[4] = PointerGetDatum(buffer->y);
	columns[5] = shape_datum(buffer->n, row->x_rank, row->x_shape);
	columns[6] = shape_datum(buffer->n, row->y_rank, row->y_shape);
	columns[7] = PointerGetDatum(checksum);
}
