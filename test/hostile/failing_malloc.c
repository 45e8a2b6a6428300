/*
 * failing_malloc.c
 *		malloc() that fails on purpose, preloaded into a server.
 *
 * The file that FAILING_MALLOC names holds numbers of 64 bits: a process, at which of its
 * allocations one fails, counted down, how many there were, whether their kinds are to be noted,
 * and these: of each allocation, who called whom in our libraries and last. Then a text: those at
 * which an exception would end the process.
 *
 * Allocations of libc, its dynamic linker and libgomp are left alone: they end the process where
 * a thread has no memory for its own variables, whoever wrote the library that has them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "uncaught.h"

void	   *__libc_malloc(size_t size);
void	   *__libc_calloc(size_t n, size_t size);
void	   *__libc_realloc(void *block, size_t size);

#define KINDS (1 << 17)
#define DEPTH 96
#define TEXT (1 << 16)

struct control
{
	int64_t		process;
	int64_t		countdown;
	int64_t		count;
	int64_t		notes;
	uint64_t	kinds[KINDS];
	char		uncaught[TEXT];
};

static struct control *control;

static int
is_spared(void *caller)
{
	struct dl_find_object found;
	const char *name;

	if (_dl_find_object(caller, &found) != 0)
		return 0;
	name = found.dlfo_link_map->l_name;
	return strstr(name, "/ld-linux") || strstr(name, "/libc.so") || strstr(name, "/libgomp");
}

__attribute__((constructor)) static void
begin(void)
{
	const char *path = getenv("FAILING_MALLOC");
	int			fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void	   *at;

	if (fd < 0)
		return;
	/* It allocates when it is first called. */
	(void) backtrace(&at, 1);
	at = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (at != MAP_FAILED)
		control = at;
}

static int
is_ours(void *caller)
{
	struct dl_find_object found;

	return _dl_find_object(caller, &found) == 0 && strstr(found.dlfo_link_map->l_name, "hopper") != NULL;
}

/* Two allocations of one kind have the same last callers, and the same in our libraries. */
static uint64_t
kind(void)
{
	void	   *callers[DEPTH];
	int			n = backtrace(callers, DEPTH);
	uint64_t	hash = 0xcbf29ce484222325;

	for (int i = 2; i < n; i++)
		if (i < 6 || is_ours(callers[i]))
			hash = (hash ^ (uintptr_t) callers[i]) * 0x100000001b3;
	return hash;
}

static int
fails(void *caller)
{
	int64_t		place;

	if (control == NULL || control->process == 0 || control->process != getpid() ||
		is_spared(caller))
		return 0;
	place = __atomic_fetch_add(&control->count, 1, __ATOMIC_RELAXED);
	if (control->notes)
	{
		int			ends = look_for_handler(control->uncaught, TEXT);

		if (place < KINDS)
			control->kinds[place] = ends ? 0 : kind();
	}
	if (__atomic_fetch_sub(&control->countdown, 1, __ATOMIC_RELAXED) != 1)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *
malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *
calloc(size_t n, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *block, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(block, size);
}
