/*
 * system.c
 *		version(), the lists of what there is, build_info() and gpu_configuration().
 */
#include "pg/server/glue.h"

#include <unistd.h>

/* version(): the extension's version in this database and the libraries', also where they differ */
HOPPER_ANY_VERSION_FUNCTION(hopper_sql_version)
{
	const char *library = hopper_core()->library_version;
	MemoryContext caller = CurrentMemoryContext;
	char	   *installed = "none";
	char	   *version;

	hopper_connect_only();
	if (hopper_select("SELECT extversion FROM pg_catalog.pg_extension"
					  " WHERE extname OPERATOR(pg_catalog.=) 'model_hopper'") > 0)
		installed = hopper_cell(0, 1);
	version = MemoryContextStrdup(caller, psprintf("model_hopper %s (library %s)", installed,
												   library));
	SPI_finish();
	PG_RETURN_TEXT_P(cstring_to_text(version));
}

/* Lists what its SQL name says: layers() and so on. */
HOPPER_FUNCTION(hopper_sql_list)
{
	const char *name = get_func_name(fcinfo->flinfo->fn_oid);

	return hopper_return_rows(fcinfo, hopper_made(hopper_core()->list(name, HOPPER_MADE)));
}

/* Of its own, as the SQL of version 0.1.0 names it. */
HOPPER_FUNCTION(hopper_sql_layers)
{
	return hopper_sql_list(fcinfo);
}

HOPPER_FUNCTION(hopper_sql_build_info)
{
	return hopper_return_rows(fcinfo, hopper_made(hopper_torch()->build_info(HOPPER_MADE)));
}

/* gpu_configuration(): hostname and gpu_descr as MADlib has them, index, memory, capability */
HOPPER_FUNCTION(hopper_sql_gpu_configuration)
{
	enum
	{
		GPU_INDEX, GPU_NAME, GPU_MEMORY, GPU_CAPABILITY, N_GPU_COLUMNS
	};
	hopper_rows *gpus;
	hopper_rows rows;
	char		hostname[256];
	const char **cells;
	int			gpu;

	gpus = hopper_made(hopper_torch()->gpus(HOPPER_MADE));
	if (gpus->n_columns != N_GPU_COLUMNS)
		elog(ERROR, "the core describes GPUs in an unknown form");
	if (gethostname(hostname, sizeof(hostname)) != 0)
		strlcpy(hostname, "localhost", sizeof(hostname));
	hostname[sizeof(hostname) - 1] = '\0';
	rows.n_rows = gpus->n_rows;
	rows.n_columns = N_GPU_COLUMNS + 1;
	cells = palloc(sizeof(char *) * (rows.n_rows * rows.n_columns + 1));
	for (gpu = 0; gpu < rows.n_rows; gpu++)
	{
		const char *const *from = gpus->cells + (size_t) gpu * N_GPU_COLUMNS;
		const char **to = cells + (size_t) gpu * rows.n_columns;

		to[0] = hostname;
		to[1] = from[GPU_NAME];
		to[2] = from[GPU_INDEX];
		to[3] = from[GPU_MEMORY];
		to[4] = from[GPU_CAPABILITY];
	}
	rows.cells = cells;
	return hopper_return_rows(fcinfo, &rows);
}
