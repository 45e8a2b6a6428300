/*
 * outside.c
 *		See outside.h. What waits is written while models arrive and read while others train; what
 *		has gone out is written then, and read when the statement takes it. So each has a file of
 *		its own, which is written first and read afterwards.
 */
#include "pg/greenplum/segment/outside.h"

#include "commands/tablespace.h"
#include "storage/buffile.h"

#include "pg/greenplum/reports.h"

typedef struct outside_file
{
	BufFile    *file;			/* NULL: nothing lies there */
	int			n;
	int			allocated;
	hopper_outside_part *parts;
} outside_file;

static struct
{
	MemoryContext context;		/* NULL: nobody is outside; below the transaction's */
	outside_file in;
	outside_file out;
	bool		sorted;			/* in: by model and part */
	int			n_waiting;		/* parts of it that have not been taken */
	int			n_emitted;		/* parts of out */
} outside;

void
hopper_outside_forget(void)
{
	if (outside.context)
		MemoryContextDelete(outside.context);
	memset(&outside, 0, sizeof(outside));
}

void
hopper_outside_end(void)
{
	if (outside.in.file)
		BufFileClose(outside.in.file);
	if (outside.out.file)
		BufFileClose(outside.out.file);
	hopper_outside_forget();
}

/* Appends bytes; what is said of them is the caller's to fill in. In outside.context. */
static hopper_outside_part *
append(outside_file *to, const void *bytes, Size size)
{
	hopper_outside_part *part;

	if (to->file == NULL)
	{
		PrepareTempTablespaces();
		to->file = hopper_buffile_create("model_hopper_hops");
	}
	hopper_grow(to->parts, to->n + 1, to->allocated);
	part = &to->parts[to->n];
	memset(part, 0, sizeof(*part));
	BufFileTell(to->file, &part->file, &part->at);
	part->size = size;
	hopper_write_file(to->file, bytes, size);
	to->n++;
	return part;
}

static bytea *
read_bytes(const outside_file *from, const hopper_outside_part *part)
{
	bytea	   *bytes = palloc(VARHDRSZ + part->size);

	SET_VARSIZE(bytes, VARHDRSZ + part->size);
	hopper_seek_file(from->file, part->file, part->at);
	hopper_read_file(from->file, VARDATA(bytes), part->size);
	return bytes;
}

void
hopper_outside_keep(int32 mst_key, int32 part, int32 n_parts, const bytea *body)
{
	MemoryContext caller;
	hopper_outside_part *kept;

	if (outside.context == NULL)
		outside.context = AllocSetContextCreate(TopTransactionContext, "hopper models outside",
												ALLOCSET_DEFAULT_SIZES);
	caller = MemoryContextSwitchTo(outside.context);
	kept = append(&outside.in, VARDATA_ANY(body), VARSIZE_ANY_EXHDR(body));
	kept->mst_key = mst_key;
	kept->part = part;
	kept->n_parts = n_parts;
	outside.n_waiting++;
	MemoryContextSwitchTo(caller);
}

static int
compare_parts(const void *a, const void *b)
{
	const hopper_outside_part *first = a;
	const hopper_outside_part *second = b;

	if (first->mst_key != second->mst_key)
		return first->mst_key < second->mst_key ? -1 : 1;
	return first->part < second->part ? -1 : first->part > second->part;
}

/* The place of the first part of a model. */
static int
first_of(const outside_file *in, int32 mst_key)
{
	int			first = 0;
	int			last = in->n;

	while (first < last)
	{
		int			middle = first + (last - first) / 2;

		if (in->parts[middle].mst_key < mst_key)
			first = middle + 1;
		else
			last = middle;
	}
	return first;
}

static void
bring(hopper_group *group, int32 mst_key)
{
	outside_file *in = &outside.in;

	if (!outside.sorted)
		qsort(in->parts, in->n, sizeof(hopper_outside_part), compare_parts);
	outside.sorted = true;
	for (int at = first_of(in, mst_key); at < in->n && in->parts[at].mst_key == mst_key; at++)
	{
		hopper_outside_part *part = &in->parts[at];
		bytea	   *bytes = read_bytes(in, part);
		int32		later = 0;

		HOPPER_TORCH(group.add_part, group, mst_key, part->part, part->n_parts,
					 (const uint8_t *) VARDATA(bytes), part->size, &later);
		if (later || part->taken)
			elog(ERROR, "configuration %d was asked for and is not wanted", mst_key);
		part->taken = true;
		outside.n_waiting--;
		pfree(bytes);
		CHECK_FOR_INTERRUPTS();
	}
}

static void
put_out(const hopper_group_part *part)
{
	MemoryContext caller = MemoryContextSwitchTo(outside.context);
	hopper_outside_part *kept = append(&outside.out, part->bytes, part->size);

	kept->mst_key = part->mst_key;
	kept->next_key = part->next_key;
	kept->part = part->part;
	kept->n_parts = part->n_parts;
	kept->done = part->done != 0;
	if (part->part == 0)
		kept->report = DatumGetByteaP(hopper_report_datum(part));
	if (part->result)
		kept->result = DatumGetByteaP(hopper_result_datum(part->result));
	MemoryContextSwitchTo(caller);
}

bool
hopper_outside_exchange(hopper_group *group)
{
	const hopper_group_api *api = &hopper_torch()->group;
	hopper_group_part part;
	bool		any = false;
	int32		mst_key;
	int			code;

	if (outside.n_waiting == 0)
		return false;
	while ((code = api->next_part(group, &part, hopper_fault)) == 1)
	{
		put_out(&part);
		any = true;
		CHECK_FOR_INTERRUPTS();
	}
	if (code < 0)
		hopper_throw(hopper_fault);
	if (api->next_arrival(group, &mst_key) != 1)
		return any;
	bring(group, mst_key);
	return true;
}

hopper_outside_part *
hopper_outside_next(void)
{
	if (outside.n_emitted == outside.out.n)
		return NULL;
	return &outside.out.parts[outside.n_emitted++];
}

bytea *
hopper_outside_bytes(const hopper_outside_part *part)
{
	return read_bytes(&outside.out, part);
}
