/*
 * known_models.c
 *		Architectures that were read, found by their number or by their text. Searches have
 *		thousands of them, so that none is compared with all others.
 */
#include "pg/catalog/models.h"

#include "utils/hsearch.h"

#define ROWS_AT_ONCE 64

/* --- by number --- */

typedef struct known_model
{
	int32		model_id;		/* the key */
	bool		exists;
	hopper_model model;
} known_model;

static uint32
hash_id(const void *key, Size size)
{
	return (uint32) *(const int32 *) key * 2654435761u;
}

HTAB *
hopper_table_by_id(Size entry)
{
	HASHCTL		control = {0};

	control.keysize = sizeof(int32);
	control.entrysize = entry;
	control.hash = hash_id;
	control.hcxt = CurrentMemoryContext;
	return hash_create("hopper models", 64, &control, HASH_ELEM | HASH_FUNCTION | HASH_CONTEXT);
}

hopper_model *
hopper_known_model(HTAB **known, const hopper_name *models, int32 model_id)
{
	known_model *found;

	if (*known == NULL)
		*known = hopper_table_by_id(sizeof(known_model));
	found = hash_search(*known, &model_id, HASH_FIND, NULL);
	if (found == NULL)
	{
		hopper_model model = {0};
		bool		exists = hopper_find_model(models, model_id, &model);

		found = hash_search(*known, &model_id, HASH_ENTER, NULL);
		found->exists = exists;
		found->model = model;
	}
	return found->exists ? &found->model : NULL;
}

/* --- by text --- */

typedef struct known_text
{
	uint8		digest[16];		/* the key */
	int32		model_id;		/* the lowest */
} known_text;

static uint32
hash_digest(const void *key, Size size)
{
	uint32		hash;

	memcpy(&hash, key, sizeof(hash));
	return hash;
}

static void
digest_of(const char *arch, uint8 *digest)
{
	hopper_core()->row_key(0, arch, strlen(arch), "", 0, digest);
}

HTAB *
hopper_new_architectures(void)
{
	HASHCTL		control = {0};

	control.keysize = sizeof(((known_text *) NULL)->digest);
	control.entrysize = sizeof(known_text);
	control.hash = hash_digest;
	control.hcxt = CurrentMemoryContext;
	return hash_create("hopper architectures", 256, &control,
					   HASH_ELEM | HASH_FUNCTION | HASH_CONTEXT);
}

int32 *
hopper_enter_architecture(HTAB *known, const char *arch, bool *found)
{
	uint8		digest[16];

	digest_of(arch, digest);
	return &((known_text *) hash_search(known, digest, HASH_ENTER, found))->model_id;
}

HTAB *
hopper_read_architectures(const hopper_name *models)
{
	HTAB	   *read = hopper_new_architectures();
	Portal		portal;

	portal = hopper_backend.open_cursor(
		psprintf("SELECT model_id::pg_catalog.int4, model_arch::pg_catalog.text FROM %s"
				 " WHERE model_weights IS NULL AND model_arch IS NOT NULL", models->quoted), true);
	for (;;)
	{
		SPI_cursor_fetch(portal, true, ROWS_AT_ONCE);
		hopper_after_spi();
		if (SPI_processed == 0)
			break;
		for (uint64 row = 0; row < SPI_processed; row++)
		{
			char	   *arch = hopper_cell(row, 2);
			int32		model_id = hopper_key_cell(models, row, 1);
			bool		found;
			int32	   *lowest = hopper_enter_architecture(read, arch, &found);

			CHECK_FOR_INTERRUPTS();
			*lowest = found ? Min(*lowest, model_id) : model_id;
			pfree(arch);
		}
		SPI_freetuptable(SPI_tuptable);
	}
	SPI_cursor_close(portal);
	hopper_after_spi();
	return read;
}

bool
hopper_find_architecture(HTAB *read, const hopper_name *models, const char *arch, int32 *model_id)
{
	char	   *text = hopper_complete_architecture(arch);
	uint8		digest[16];
	const known_text *found;
	bool		same;

	digest_of(text, digest);
	found = hash_search(read, digest, HASH_FIND, NULL);
	/* Others may have changed the row since it was read. */
	same = found != NULL &&
		hopper_select_latest("SELECT 1 FROM %s WHERE model_id OPERATOR(pg_catalog.=) %d"
							 " AND model_arch::pg_catalog.text OPERATOR(pg_catalog.=) %s"
							 " AND model_weights IS NULL", models->quoted, found->model_id,
							 hopper_literal(text)) > 0;
	if (same)
		*model_id = found->model_id;
	pfree(text);
	return same;
}
