/*
 * failing_malloc.c
 *		malloc() that fails on purpose, preloaded into a server.
 *
 * The file that FAILING_MALLOC names holds three numbers of 64 bits: a process, at which of its
 * allocations one fails, counted down, and how many there were.
 *
 * Those of the C library, its dynamic linker and libgomp are left alone: they end the process where
 * a thread has no memory for its own variables, whoever wrote the library that has them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void	   *__libc_malloc(size_t size);
void	   *__libc_calloc(size_t n, size_t size);
void	   *__libc_realloc(void *block, size_t size);

struct control
{
	int64_t		process;
	int64_t		countdown;
	int64_t		count;
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
	at = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (at != MAP_FAILED)
		control = at;
}

static int
fails(void *caller)
{
	if (control == NULL || control->process == 0 || control->process != getpid() ||
		is_spared(caller))
		return 0;
	__atomic_fetch_add(&control->count, 1, __ATOMIC_RELAXED);
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
