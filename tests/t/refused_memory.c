/*
 * Refuses memory to the extension, and to nobody else, and cancels statements: for tests/t/027_refused_memory.pl.
 *
 * The server preloads this library (LD_PRELOAD), so that its malloc is the one that everybody calls. A call whose return
 * address lies in simhash_pg.so comes from the extension. Its requests of at least a given size are refused from one of
 * them on, as the system does when it has no memory left. What is tested is the library as users have it.
 *
 * glibc's own names are called for all that is not refused: no other library has to be found first, which would itself
 * need memory.
 */
#define _GNU_SOURCE
#include "postgres.h"
#include "fmgr.h"
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

PG_MODULE_MAGIC;

extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *place, size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

/* Where the extension's code lies in this process. */
static uintptr_t code_begin, code_end;
/* Requests that are smaller are not looked at. Nothing is while this is zero. */
static size_t least_size;
/* Requests that were looked at, and the number of the first to be refused; none is if this is zero. */
static int64 requests, first_refused;
/* When refuse() was called, in nanoseconds, and the timer that cancels the statement some time later. */
static int64 begin;
static timer_t timer;

static int
find_code(struct dl_phdr_info *library, size_t size, void *unused)
{
	if (library->dlpi_name == NULL || strstr(library->dlpi_name, "/simhash_pg.so") == NULL)
		return 0;
	for (int i = 0; i < library->dlpi_phnum; i++)
	{
		const ElfW(Phdr) *part = &library->dlpi_phdr[i];
		uintptr_t	begin = library->dlpi_addr + part->p_vaddr;

		if (part->p_type == PT_LOAD && (part->p_flags & PF_X) != 0)
		{
			code_begin = begin;
			code_end = begin + part->p_memsz;
		}
	}
	return 1;
}

/* Whether this request is refused. */
static bool
is_refused(void *caller, size_t size)
{
	if (least_size == 0 || size < least_size || (uintptr_t) caller < code_begin || (uintptr_t) caller >= code_end)
		return false;
	requests++;
	if (first_refused == 0 || requests < first_refused)
		return false;
	errno = ENOMEM;
	return true;
}

#define REFUSED(size) is_refused(__builtin_return_address(0), size)

void *
malloc(size_t size)
{
	return REFUSED(size) ? NULL : __libc_malloc(size);
}

void *
realloc(void *place, size_t size)
{
	return REFUSED(size) ? NULL : __libc_realloc(place, size);
}

void *
calloc(size_t count, size_t size)
{
	return REFUSED(count * size) ? NULL : __libc_calloc(count, size);
}

int
posix_memalign(void **place, size_t alignment, size_t size)
{
	if (REFUSED(size))
		return ENOMEM;
	*place = __libc_memalign(alignment, size);
	return *place == NULL ? ENOMEM : 0;
}

static int64
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64CONST(1000000000) + time.tv_nsec;
}

/* Sends this process a SIGINT, as pg_cancel_backend does, after this time; never if it is zero. */
static void
cancel_after(int64 nanoseconds)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGINT};
	struct itimerspec time = {.it_value = {nanoseconds / 1000000000, nanoseconds % 1000000000}};

	if (timer == 0 && timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
		elog(ERROR, "cannot create a timer");
	timer_settime(timer, 0, &time, NULL);
}

/*
 * refuse(number, size, nanoseconds): from now on requests of at least this size count, and all from the one with this
 * number on are refused. After this time the statement is cancelled.
 */
PG_FUNCTION_INFO_V1(refuse);
Datum
refuse(PG_FUNCTION_ARGS)
{
	dl_iterate_phdr(find_code, NULL);
	requests = 0;
	first_refused = PG_GETARG_INT64(0);
	least_size = PG_GETARG_INT64(1);
	begin = now();
	cancel_after(PG_GETARG_INT64(2));
	PG_RETURN_BOOL(code_begin != 0);
}

/* requests_seen(): how many requests came since then. None is refused any more, and nothing cancelled. */
PG_FUNCTION_INFO_V1(requests_seen);
Datum
requests_seen(PG_FUNCTION_ARGS)
{
	cancel_after(0);
	least_size = 0;
	PG_RETURN_INT64(requests);
}

/* time_taken(): how long that was, in nanoseconds. */
PG_FUNCTION_INFO_V1(time_taken);
Datum
time_taken(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(now() - begin);
}

/* leave_memory(bytes): this process gets no more than these beyond what it has, whoever asks. */
PG_FUNCTION_INFO_V1(leave_memory);
Datum
leave_memory(PG_FUNCTION_ARGS)
{
	unsigned long pages = 0;
	struct rlimit limit;
	FILE	   *sizes = fopen("/proc/self/statm", "r");

	if (sizes == NULL || fscanf(sizes, "%lu", &pages) != 1)
		PG_RETURN_BOOL(false);
	fclose(sizes);
	limit.rlim_cur = limit.rlim_max = pages * sysconf(_SC_PAGESIZE) + PG_GETARG_INT64(0);
	PG_RETURN_BOOL(setrlimit(RLIMIT_AS, &limit) == 0);
}
