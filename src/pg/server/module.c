/*
 * module.c
 *		What the server sees when it loads the glue: the magic block and the settings.
 *
 * Works preloaded as well as loaded on demand. Nothing here opens the core libraries: a process
 * that forks must never have run libtorch.
 */
#include "pg/server/ceilings.h"

#include <limits.h>

HOPPER_MODULE_MAGIC;

int			hopper_threads = 0;
hopper_megabytes hopper_memory_limit = 0;
int			hopper_notice_interval = 10;
int			hopper_max_configs = 10000;
hopper_megabytes hopper_keep_memory = 256;
int			hopper_keep_time = 300;
int			hopper_checkpoint_interval = 30;
bool		hopper_mix_numerics = false;
int			hopper_debug_drop_cache = 0;
hopper_megabytes hopper_broadcast_limit = 0;

extern void _PG_init(void);

void
_PG_init(void)
{
	if (HOPPER_DATA_ON_SEGMENTS)
	{
		DefineCustomIntVariable("hopper.debug_drop_cache",
								"Sets after how many hops a segment forgets its data, for tests.",
								"The results do not depend on it. 0 means never.",
								&hopper_debug_drop_cache, 0, 0, INT_MAX,
								PGC_SUSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
		hopper_define_size("hopper.broadcast_limit",
						   "Sets the size of packed data that every segment may get a copy of.",
						   "Models train where they are then and do not move. The results do not "
						   "depend on it. 0 means that data stay where they lie.",
						   &hopper_broadcast_limit, 64, PGC_USERSET);
	}
	DefineCustomIntVariable("hopper.max_configs",
							"Sets the largest number of configurations that one call may generate "
							"or train.",
							"Larger grids and selection tables are refused with an error.",
							&hopper_max_configs, 10000, 1, INT_MAX,
							PGC_SUSET, 0, NULL, NULL, NULL);
	hopper_ceilings_init();
	DefineCustomIntVariable("hopper.checkpoint_interval",
							"Sets the time between two checkpoints of a run.",
							"It becomes longer where they would take more than 3 % of the time.",
							&hopper_checkpoint_interval, 30, 0, 86400,
							PGC_USERSET, GUC_UNIT_S, NULL, NULL, NULL);
	hopper_define_size("hopper.keep_memory",
					   "Sets the memory of the models that a session keeps for predict_row().",
					   "Larger models are read anew for each call. 0 means to keep none.",
					   &hopper_keep_memory, 256, PGC_SUSET);
	DefineCustomIntVariable("hopper.keep_time",
							"Sets how long a session keeps a model for predict_row() without "
							"using it.",
							"0 means until the session ends.",
							&hopper_keep_time, 300, 0, INT_MAX / 1000,
							PGC_SUSET, GUC_UNIT_S, NULL, NULL, NULL);
	hopper_define_size("hopper.memory_limit",
					   "Sets the memory that one call may use for data and models.",
					   "Packed data above it are read in turns; a model that does not fit "
					   "fails alone. "
					   "0 means what hopper.max_memory leaves.",
					   &hopper_memory_limit, 0, PGC_USERSET);
	DefineCustomBoolVariable("hopper.mix_numerics",
							 "Lets warm starts go on from states of another numerics class.",
							 "Such a model has bits that no run has by itself, which a WARNING and "
							 "the summary say. Off means to refuse them.",
							 &hopper_mix_numerics, false,
							 PGC_USERSET, 0, NULL, NULL, NULL);
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
							"that the server may use, but at most hopper.max_threads.",
							&hopper_threads, 0, 0, HOPPER_MAX_THREADS,
							PGC_USERSET, 0, NULL, NULL, NULL);
	MarkGUCPrefixReserved("hopper");
	hopper_backend.register_supervisor();
}
