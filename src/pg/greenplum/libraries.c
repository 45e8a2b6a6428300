/*
 * libraries.c
 *		Which build of the libraries a process has loaded.
 *
 * The linker gives each library an id, a digest of what is in it, that is loaded with it: what
 * runs is compared, not what lies on disk by now.
 */
#include "pg/greenplum/segments.h"

#include <elf.h>
#include <link.h>

#define SHOWN_BYTES 8			/* of an id of 20 */

typedef struct search
{
	const char *library;
	char		id[2 * SHOWN_BYTES + 1];
} search;

static void
read_notes(const char *at, size_t size, search *wanted)
{
	const char *end = at + size;

	while (end - at >= (ptrdiff_t) sizeof(ElfW(Nhdr)))
	{
		const ElfW(Nhdr) *note = (const ElfW(Nhdr) *) at;
		const char *name = at + sizeof(*note);
		const unsigned char *id = (const unsigned char *) name + ((note->n_namesz + 3) & ~3U);

		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof(ELF_NOTE_GNU) &&
			memcmp(name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0)
		{
			for (unsigned i = 0; i < Min(note->n_descsz, SHOWN_BYTES); i++)
				snprintf(wanted->id + 2 * i, 3, "%02x", id[i]);
			return;
		}
		at = (const char *) id + ((note->n_descsz + 3) & ~3U);
	}
}

static int
visit_library(struct dl_phdr_info *info, size_t size, void *data)
{
	search	   *wanted = data;
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	if (slash == NULL || strcmp(slash + 1, wanted->library) != 0)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			read_notes((const char *) info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
					   info->dlpi_phdr[i].p_memsz, wanted);
	return 1;
}

static char *
library_id(const char *library)
{
	search		wanted = {library, ""};

	dl_iterate_phdr(visit_library, &wanted);
	return psprintf("%s %s", library, wanted.id[0] ? wanted.id : "without an id");
}

char *
hopper_library_ids(void)
{
	(void) hopper_core();
	return psprintf("%s, %s", library_id("model_hopper.so"), library_id("libhopper_core.so"));
}

char *
hopper_engine_library_id(const hopper_group_api *engine)
{
	return library_id(engine == &hopper_core()->engine.group ? "libhopper_core.so"
					  : "libhopper_torch.so");
}
