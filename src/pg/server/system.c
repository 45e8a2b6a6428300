/*
 * system.c
 *		version(), the lists of what there is, build_info() and gpu_configuration().
 */
#include "pg/server/glue.h"

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

	return hopper_return_rows(fcinfo, HOPPER_CORE_ROWS(list, name));
}

/* Of its own, as the SQL of version 0.1.0 names it. */
HOPPER_FUNCTION(hopper_sql_layers)
{
	return hopper_sql_list(fcinfo);
}

/* build_info(): of the core, then of libtorch, where it is installed */
HOPPER_FUNCTION(hopper_sql_build_info)
{
	const hopper_torch_api *torch = hopper_torch_if_any();
	hopper_rows all = *hopper_made(hopper_core()->build_info(HOPPER_MADE));
	hopper_rows more = {0};
	const char **cells;

	if (torch)
		more = *hopper_made(torch->build_info(HOPPER_MADE));
	cells = palloc((all.n_rows + more.n_rows) * all.n_columns * sizeof(char *));
	memcpy(cells, all.cells, all.n_rows * all.n_columns * sizeof(char *));
	if (torch)
		memcpy(cells + all.n_rows * all.n_columns, more.cells,
			   more.n_rows * all.n_columns * sizeof(char *));
	all.cells = cells;
	all.n_rows += more.n_rows;
	return hopper_return_rows(fcinfo, &all);
}

HOPPER_FUNCTION(hopper_sql_gpu_configuration)
{
	const hopper_torch_api *torch = hopper_torch_if_any();
	hopper_rows none = {.n_columns = 5};	/* as torch->gpus() */

	/* Without libtorch nothing is trained on GPUs. */
	return hopper_return_rows(fcinfo, torch ? hopper_made(torch->gpus(HOPPER_MADE)) : &none);
}
