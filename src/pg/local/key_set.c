/*
 * key_set.c
 *		Whether the rank keys of all rows differ: a hash table of their first eight bytes, which are
 *		as good as random. Two that share these are taken for equal; that costs time, no more.
 */
#include "pg/local/key_set.h"

#define FIRST_SLOTS 1024

struct hopper_key_set
{
	uint64	   *slots;			/* 0: free; NULL once two keys may be equal */
	uint64		n_slots;		/* a power of two */
	uint64		most_slots;
	uint64		n;
};

hopper_key_set *
hopper_key_set_begin(int memory)
{
	hopper_key_set *set = palloc(sizeof(hopper_key_set));

	set->n = 0;
	set->n_slots = FIRST_SLOTS;
	set->most_slots = (uint64) memory * 1024 / sizeof(uint64);
	set->slots = hopper_palloc0_huge(set->n_slots * sizeof(uint64));
	return set;
}

/* Where `first` is, or is to be. */
static uint64 *
find(const hopper_key_set *set, uint64 first)
{
	uint64		at = first & (set->n_slots - 1);

	while (set->slots[at] != 0 && set->slots[at] != first)
		at = (at + 1) & (set->n_slots - 1);
	return &set->slots[at];
}

static void
give_up(hopper_key_set *set)
{
	pfree(set->slots);
	set->slots = NULL;
}

/* Twice as many slots; both tables are there meanwhile. */
static void
grow(hopper_key_set *set)
{
	uint64	   *old = set->slots;
	uint64		n_old = set->n_slots;

	if (3 * n_old > set->most_slots)
	{
		give_up(set);
		return;
	}
	set->n_slots = 2 * n_old;
	set->slots = hopper_palloc0_huge(set->n_slots * sizeof(uint64));
	for (uint64 i = 0; i < n_old; i++)
		if (old[i] != 0)
			*find(set, old[i]) = old[i];
	pfree(old);
}

void
hopper_key_set_add(hopper_key_set *set, const char *key)
{
	uint64		first;
	uint64	   *slot;

	if (set->slots && set->n >= set->n_slots / 4 * 3)
		grow(set);
	if (set->slots == NULL)
		return;
	memcpy(&first, key, sizeof(first));
	slot = find(set, first);
	if (*slot == first)
	{
		give_up(set);
		return;
	}
	*slot = first;
	set->n++;
}

bool
hopper_key_set_end(hopper_key_set *set)
{
	bool		differ = set->slots != NULL;

	if (differ)
		pfree(set->slots);
	pfree(set);
	return differ;
}
