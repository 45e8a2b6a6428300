/*
 * Linked into the shared objects, so that what is built on a system of today loads where glibc is
 * 2.28, as libtorch does: their calls of these functions go to the versions that were there from
 * the start. The newer ones differ in who sets errno and in which library they are. What was not
 * there at all stands here.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#if defined(__linux__) && defined(__x86_64__) && defined(__GLIBC__)

/* glibc 2.32. Never true: reference counts stay atomic. */
char		__libc_single_threaded = 0;

#define FIRST_VERSION(name) __asm__(".symver first_" #name ", " #name "@GLIBC_2.2.5")

extern double first_pow(double, double);
extern double first_log(double);
extern double first_exp(double);
extern double first_log2(double);
extern int	first_pthread_sigmask(int, const sigset_t *, sigset_t *);
extern int	first_dladdr(const void *, Dl_info *);
extern void *first_dlopen(const char *, int);
extern int	first_dlclose(void *);
extern void *first_dlsym(void *, const char *);
extern char *first_dlerror(void);

FIRST_VERSION(pow);
FIRST_VERSION(log);
FIRST_VERSION(exp);
FIRST_VERSION(log2);
FIRST_VERSION(pthread_sigmask);
FIRST_VERSION(dladdr);
FIRST_VERSION(dlopen);
FIRST_VERSION(dlclose);
FIRST_VERSION(dlsym);
FIRST_VERSION(dlerror);

extern double pow(double x, double y);
extern double log(double x);
extern double exp(double x);
extern double log2(double x);

double
pow(double x, double y)
{
	return first_pow(x, y);
}

double
log(double x)
{
	return first_log(x);
}

double
exp(double x)
{
	return first_exp(x);
}

double
log2(double x)
{
	return first_log2(x);
}

int
pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return first_pthread_sigmask(how, set, old);
}

int
dladdr(const void *address, Dl_info *info)
{
	return first_dladdr(address, info);
}

void *
dlopen(const char *file, int mode)
{
	return first_dlopen(file, mode);
}

int
dlclose(void *handle)
{
	return first_dlclose(handle);
}

void *
dlsym(void *handle, const char *name)
{
	return first_dlsym(handle, name);
}

char *
dlerror(void)
{
	return first_dlerror();
}

/*
 * glibc 2.30, for a wait until a time of the steady clock. The time that is left is waited for by
 * the clock of the wall: who sets that one makes the wait longer, or wakes it too early, as a
 * condition variable may; its caller looks at the steady clock again.
 */
int
pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
					   const struct timespec *until)
{
	const long	second = 1000000000;
	struct timespec now;
	struct timespec wall;

	if (clock == CLOCK_REALTIME)
		return pthread_cond_timedwait(cond, mutex, until);
	if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &wall) != 0)
		return EINVAL;
	wall.tv_sec += until->tv_sec - now.tv_sec;
	wall.tv_nsec += until->tv_nsec - now.tv_nsec;
	if (wall.tv_nsec >= second)
	{
		wall.tv_sec++;
		wall.tv_nsec -= second;
	}
	if (wall.tv_nsec < 0)
	{
		wall.tv_sec--;
		wall.tv_nsec += second;
	}
	return pthread_cond_timedwait(cond, mutex, &wall);
}

#endif
