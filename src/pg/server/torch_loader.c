/*
 * torch_loader.c
 *		Opens libhopper_torch.so, within what the server has for one more libtorch.
 */
#include "pg/server/ceilings.h"
#include "pg/server/loader.h"

#include <stdlib.h>
#include <unistd.h>

static const hopper_torch_api *torch_api = NULL;

/*
 * Ends the process without libtorch's destructors, once the server's own exit callbacks have run:
 * they take a tenth of a second of a session that is to be gone at once, and have nothing to do
 * that the kernel does not.
 */
static void
skip_destructors(int status, void *arg)
{
	if (!proc_exit_inprogress)
		return;
	fflush(NULL);
	_exit(status);
}

static const hopper_torch_api *
open_torch(const char *wanted_by, bool lenient)
{
	const char *library = "libhopper_torch.so";
	hopper_torch_api_get_fn get;
	const hopper_torch_api *api;
	hopper_readings readings;

	hopper_take_library();
	*(void **) &get = hopper_open_library(library, "hopper_torch_api_get", wanted_by, lenient);
	if (get == NULL)
		return NULL;
	api = get(HOPPER_API_VERSION);
	hopper_require_library(library, api != NULL && api->version == HOPPER_API_VERSION &&
						   api->size == (int32_t) sizeof(hopper_torch_api));
	api->ask_for_cancel(hopper_statement_ends);
	/* Both read configurations: what one of them has read the other has, too. */
	if (hopper_core()->readings(&readings, NULL) == HOPPER_OK)
		api->share_readings(&readings);
	/* Registered after libtorch's, and so run before them. */
	on_exit(skip_destructors, NULL);
	return api;
}

const hopper_torch_api *
hopper_torch(const char *wanted_by)
{
	if (torch_api == NULL)
		torch_api = open_torch(wanted_by, false);
	return torch_api;
}

const hopper_torch_api *
hopper_torch_if_any(void)
{
	if (torch_api == NULL)
		torch_api = open_torch(NULL, true);
	return torch_api;
}
