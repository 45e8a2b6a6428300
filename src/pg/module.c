/*
 * module.c
 *		What the server sees when it loads the glue: the magic block and the settings.
 *
 * Works preloaded as well as loaded on demand. Nothing here opens the core libraries: a process
 * that forks must never have run libtorch.
 */
#include "pg/glue.h"

#include <limits.h>
#include <sched.h>
#include <unistd.h>

HOPPER_MODULE_MAGIC;

int			hopper_threads = 0;
int			hopper_memory_limit = 0;
int			hopper_notice_interval = 10;
int			hopper_max_configs = 10000;
int			hopper_debug_drop_cache = 0;

extern void _PG_init(void);

void
_PG_init(void)
{
	if (HOPPER_HAS_SEGMENTS)
		DefineCustomIntVariable("hopper.debug_drop_cache",
								"Sets after how many hops a segment forgets its data, for tests.",
								"The results do not depend on it. 0 means never.",
								&hopper_debug_drop_cache, 0, 0, INT_MAX,
								PGC_USERSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomIntVariable("hopper.max_configs",
							"Sets the largest number of configurations that one call may generate.",
							"A grid with more combinations is refused with an error.",
							&hopper_max_configs, 10000, 1, INT_MAX,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("hopper.memory_limit",
							"Sets the memory that one training run may use for data and models.",
							"Packed data above it are refused; a model that does not fit beside "
							"the data fails alone. "
							"0 means three quarters of the machine's memory.",
							&hopper_memory_limit, 0, 0, INT_MAX,
							PGC_USERSET, GUC_UNIT_MB, NULL, NULL, NULL);
	DefineCustomIntVariable("hopper.notice_interval",
							"Sets the shortest time between two progress notices of a training "
							"run.",
							"0 turns progress notices off.",
							&hopper_notice_interval, 10, 0, 86400,
							PGC_USERSET, GUC_UNIT_S, NULL, NULL, NULL);
	DefineCustomIntVariable("hopper.threads",
							"Sets the number of threads that train, evaluate or predict at the "
							"same time.",
							"The results do not depend on it. 0 means one for each processor "
							"core that the server may use.",
							&hopper_threads, 0, 0, 1024,
							PGC_USERSET, 0, NULL, NULL, NULL);
	MarkGUCPrefixReserved("hopper");
}

int
hopper_effective_threads(void)
{
	cpu_set_t	allowed;

	if (hopper_threads > 0)
		return hopper_threads;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
		return Max(CPU_COUNT(&allowed), 1);
	return (int) Max(sysconf(_SC_NPROCESSORS_ONLN), 1);
}

int64
hopper_effective_memory_limit(void)
{
	if (hopper_memory_limit > 0)
		return (int64) hopper_memory_limit * 1024 * 1024;
	return (int64) sysconf(_SC_PHYS_PAGES) / 4 * 3 * sysconf(_SC_PAGESIZE);
}
