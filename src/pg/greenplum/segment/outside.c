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
	hopper_guard *guard;		/* NULL: nobody is outside; else the statement's */
	MemoryContext context;
	Oid			role;
	outside_file in;
	outside_file out;
	bool		sorted;			/* in: by model and part */
	int			n_waiting;		/* parts of it that have not been taken */
	int			n_untrained;	/* parts of out */
	int			n_emitted;		/* of it */
} outside;

static void
statement_ends(void *context)
{
	MemoryContextDelete((MemoryContext) context);
	memset(&outside, 0, sizeof(outside));
}

void
hopper_outside_forget(void)
{
	if (outside.guard)
		hopper_guard_release(outside.guard);
}

void
hopper_outside_end(void)
{
	if (outside.guard == NULL || outside.role != GetUserId())
		return;
	if (outside.in.file)
		BufFileClose(outside.in.file);
	if (outside.out.file)
		BufFileClose(outside.out.file);
	hopper_outside_forget();
}

/* Appends a part; what else is said of it is the caller's to fill in. Enters outside.context. */
static hopper_outside_part *
append(outside_file *to, int32 mst_key, int32 number, int32 n_parts, MemoryContext *caller)
{
	hopper_outside_part *part;

	if (outside.guard == NULL)
	{
		MemoryContext context = AllocSetContextCreate(TopMemoryContext, "hopper models outside",
													  ALLOCSET_DEFAULT_SIZES);

		outside.guard = hopper_guard_add(context, statement_ends);
		outside.context = context;
		outside.role = GetUserId();
	}
	*caller = MemoryContextSwitchTo(outside.context);
	hopper_grow(to->parts, to->n + 1, to->allocated);
	part = &to->parts[to->n++];
	*part = (hopper_outside_part) {.mst_key = mst_key,.part = number,.n_parts = n_parts};
	return part;
}

static void
write_bytes(outside_file *to, hopper_outside_part *part, const void *bytes, Size size)
{
	if (to->file == NULL)
	{
		PrepareTempTablespaces();
		to->file = hopper_buffile_create("model_hopper_hops");
	}
	part->size = size;
	BufFileTell(to->file, &part->file, &part->at);
	hopper_write_file(to->file, bytes, size);
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
	hopper_outside_part *kept = append(&outside.in, mst_key, part, n_parts, &caller);

	write_bytes(&outside.in, kept, VARDATA_ANY(body), VARSIZE_ANY_EXHDR(body));
	outside.n_waiting++;
	MemoryContextSwitchTo(caller);
}

void
hopper_outside_return(int32 mst_key, int32 part, int32 n_parts, bytea *body)
{
	MemoryContext caller;
	hopper_outside_part *kept = append(&outside.out, mst_key, part, n_parts, &caller);

	kept->untrained = DatumGetByteaPCopy(PointerGetDatum(body));
	outside.n_untrained++;
	MemoryContextSwitchTo(caller);
}

bool
hopper_outside_has_untrained(void)
{
	return outside.n_untrained > 0;
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
bring(const hopper_group_api *api, hopper_group *group, int32 mst_key)
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

		HOPPER_CHECK(api->add_part(group, mst_key, part->part, part->n_parts,
								   (const uint8_t *) VARDATA(bytes), part->size, &later,
								   hopper_fault));
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
	MemoryContext caller;
	hopper_outside_part *kept = append(&outside.out, part->mst_key, part->part, part->n_parts,
									   &caller);

	write_bytes(&outside.out, kept, part->bytes, part->size);
	kept->next_key = part->next_key;
	kept->done = part->done != 0;
	if (part->part == 0)
		kept->report = DatumGetByteaP(hopper_report_datum(part));
	if (part->result)
		kept->result = DatumGetByteaP(hopper_result_datum(part->result));
	MemoryContextSwitchTo(caller);
}

bool
hopper_outside_exchange(const hopper_group_api *api, hopper_group *group)
{
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
	bring(api, group, mst_key);
	return true;
}

hopper_outside_part *
hopper_outside_next(void)
{
	if (outside.n_emitted == outside.out.n || outside.role != GetUserId())
		return NULL;
	return &outside.out.parts[outside.n_emitted++];
}

bytea *
hopper_outside_bytes(const hopper_outside_part *part)
{
	return part->untrained ? part->untrained : read_bytes(&outside.out, part);
}
