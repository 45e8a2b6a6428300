/*
 * copies.c
 *		A hash table of the rows that have come, by their rank keys, which are as good as random. 96
 *		bits stand for a key: of a billion rows two different ones share them by a chance of 1e-11.
 */
#include "pg/local/copies.h"

#define FIRST_SLOTS 1024

typedef struct slot
{
	uint64		key;
	uint32		more_key;		/* with the stratum in it */
	uint32		n;				/* rows so far; 0: the slot is free */
} slot;

struct hopper_copies
{
	slot	   *slots;
	uint64		n_slots;		/* a power of two */
	uint64		most_slots;
	uint64		n;				/* in use */
	bool		is_complete;
};

/* Of a power of two, so many that three quarters of it fit beside half as many, which become it. */
static uint64
most_slots(int memory)
{
	uint64		fit = (uint64) memory * 1024 / sizeof(slot);
	uint64		n = FIRST_SLOTS;

	while (3 * n <= fit)
		n *= 2;
	return n;
}

int64
hopper_copies_most(int memory)
{
	return (int64) (most_slots(memory) / 4 * 3);
}

hopper_copies *
hopper_copies_begin(int memory)
{
	hopper_copies *copies = palloc(sizeof(hopper_copies));

	copies->n = 0;
	copies->is_complete = true;
	copies->n_slots = FIRST_SLOTS;
	copies->most_slots = most_slots(memory);
	copies->slots = hopper_palloc0_huge(copies->n_slots * sizeof(slot));
	return copies;
}

/* Where such a row is, or is to be. */
static slot *
find(const hopper_copies *copies, uint64 key, uint32 more_key)
{
	uint64		at = key & (copies->n_slots - 1);

	while (copies->slots[at].n > 0 &&
		   (copies->slots[at].key != key || copies->slots[at].more_key != more_key))
		at = (at + 1) & (copies->n_slots - 1);
	return &copies->slots[at];
}

/* Twice as many slots; both tables are there meanwhile. */
static void
grow(hopper_copies *copies)
{
	slot	   *old = copies->slots;
	uint64		n_old = copies->n_slots;

	copies->n_slots = 2 * n_old;
	copies->slots = hopper_palloc0_huge(copies->n_slots * sizeof(slot));
	for (uint64 i = 0; i < n_old; i++)
		if (old[i].n > 0)
			*find(copies, old[i].key, old[i].more_key) = old[i];
	pfree(old);
}

int64
hopper_copies_number(hopper_copies *copies, const char *key, int32 stratum)
{
	uint64		first;
	uint32		second;
	slot	   *row;

	memcpy(&first, key, sizeof(first));
	memcpy(&second, key + sizeof(first), sizeof(second));
	second ^= (uint32) stratum;
	row = find(copies, first, second);
	if (row->n == 0)
	{
		if (copies->n >= copies->n_slots / 4 * 3)
		{
			if (copies->n_slots == copies->most_slots)
			{
				copies->is_complete = false;
				return 0;
			}
			grow(copies);
			row = find(copies, first, second);
		}
		row->key = first;
		row->more_key = second;
		copies->n++;
	}
	if (row->n == PG_UINT32_MAX)
		elog(ERROR, "more than %u rows are equal", PG_UINT32_MAX);
	return row->n++;
}

bool
hopper_copies_end(hopper_copies *copies)
{
	bool		is_complete = copies->is_complete;

	pfree(copies->slots);
	pfree(copies);
	return is_complete;
}
