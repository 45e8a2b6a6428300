/*
 * core_loader.c
 *		Opens libhopper_core.so, and any library that lies beside the glue.
 *
 * PostgreSQL opens modules with RTLD_GLOBAL; the core libraries and libtorch with its many
 * dependencies must not offer their symbols to the rest of the backend, hence RTLD_LOCAL.
 */
#include "pg/server/loader.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static const hopper_core_api *core_api = NULL;

/* The path of `library` in the folder that the glue was loaded from. */
static char *
library_path(const char *library)
{
	Dl_info		info;
	const char *slash;

	if (dladdr((void *) hopper_core, &info) != 0 && info.dli_fname != NULL)
	{
		slash = strrchr(info.dli_fname, '/');
		if (slash)
			return psprintf("%.*s/%s", (int) (slash - info.dli_fname), info.dli_fname, library);
	}
	return psprintf("%s/%s", pkglib_path, library);
}

/*
 * The library's symbol. Threads that a library's initializers start inherit the signal mask: with
 * everything blocked, PostgreSQL's signal handlers can only ever run on the main thread.
 */
void *
hopper_open_library(const char *library, const char *symbol, const char *wanted_by, bool lenient)
{
	char	   *path = library_path(library);
	char	   *reason = NULL;
	bool		is_there = access(path, R_OK) == 0;
	void	   *handle;
	void	   *function = NULL;
	sigset_t	all;
	sigset_t	before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	/* RTLD_NOW would look up all that libtorch calls of itself: an eighth of the time. */
	handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	if (handle)
		function = dlsym(handle, symbol);
	if (function == NULL)
		reason = dlerror();
	pthread_sigmask(SIG_SETMASK, &before, NULL);

	if (function == NULL)
	{
		reason = reason ? pstrdup(reason) : "The symbol is not defined.";
		if (handle)
			dlclose(handle);
		/* The reason begins with the name of what is not there, else with the library's path. */
		if (lenient && (!is_there || reason[0] != '/'))
			return NULL;
		hopper_raise(is_there ? ERRCODE_SYSTEM_ERROR : ERRCODE_UNDEFINED_FILE,
					 errmsg("could not load library \"%s\"", library),
					 wanted_by ? errdetail_internal("%s wants it. %s", wanted_by, reason)
					 : errdetail_internal("%s", reason),
					 errhint("%s", !is_there && wanted_by
							 ? "Install the package model-hopper-libtorch, or all libraries of the "
							 "build beside model_hopper.so."
							 : !is_there
							 ? "Install it beside model_hopper.so, for example with: "
							 "cmake --install BUILD"
							 : strcmp(library, "libhopper_torch.so") == 0 &&
							 strstr(reason, "undefined symbol")
							 ? "The server has found another libtorch than that of the build, for "
							 "example by LD_LIBRARY_PATH."
							 : strcmp(library, "libhopper_torch.so") == 0
							 ? "Install the package model-hopper-libtorch. libtorch must be where "
							 "it was when model_hopper was built, or in a folder named in "
							 "LD_LIBRARY_PATH of the server."
							 : "Install all libraries of model_hopper from one build."));
	}
	return function;
}

void
hopper_require_library(const char *library, bool same_version)
{
	if (!same_version)
		hopper_unmet(errmsg("library \"%s\" is of another version than model_hopper.so", library),
					 errhint("Install all libraries of model_hopper from one build, and "
							 "reconnect."));
}

int
hopper_statement_ends(void)
{
	return QueryCancelPending || ProcDiePending;
}

const hopper_core_api *
hopper_core(void)
{
	if (core_api == NULL)
	{
		const char *library = "libhopper_core.so";
		hopper_core_api_get_fn get;
		const hopper_core_api *api;

		/* ISO C has no cast from an object pointer to a function pointer. */
		*(void **) &get = hopper_open_library(library, "hopper_core_api_get", NULL, false);
		api = get(HOPPER_API_VERSION);
		hopper_require_library(library, api != NULL && api->version == HOPPER_API_VERSION &&
							   api->size == (int32_t) sizeof(hopper_core_api) &&
							   strcmp(api->library_version, HOPPER_VERSION) == 0);
		api->ask_for_cancel(hopper_statement_ends);
		core_api = api;
	}
	return core_api;
}
