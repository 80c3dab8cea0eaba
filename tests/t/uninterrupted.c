/*
 * Measures the longest time in which a session cannot be cancelled, and its largest memory: for tests/t/035_cancel.pl.
 *
 * A timer of the process's CPU time interrupts it every few milliseconds. Its handler sets InterruptPending, which the
 * next CHECK_FOR_INTERRUPTS clears again, since nothing is really pending. If it is still set at the next tick, then
 * nobody has looked at it meanwhile: a cancel would have waited as long.
 */
#include "postgres.h"
#include "fmgr.h"
#include "miscadmin.h"
#include <signal.h>
#include <sys/time.h>
#include <time.h>

PG_MODULE_MAGIC;

#define TICK_US 5000

/* CPU time in milliseconds: when the flag was set, and the longest time until it was found cleared. */
static volatile double begin, longest;
static int64 memory;

static double
cpu_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static void
tick(int signal)
{
	double		now = cpu_time();

	if (!InterruptPending)
		begin = now;
	else if (now - begin > longest)
		longest = now - begin;
	InterruptPending = true;
}

static void
set_timer(long interval)
{
	struct itimerval timer = {{0, interval}, {0, interval}};

	setitimer(ITIMER_PROF, &timer, NULL);
}

/* A line of /proc/self/status, in kB. */
static int64
status(const char *format)
{
	char		line[128];
	long		kb = 0;
	FILE	   *file = fopen("/proc/self/status", "r");

	while (file != NULL && fgets(line, sizeof(line), file) != NULL && sscanf(line, format, &kb) != 1)
		;
	if (file != NULL)
		fclose(file);
	return kb;
}

/* watch(): from now on, time and memory are measured. */
PG_FUNCTION_INFO_V1(watch);
Datum
watch(PG_FUNCTION_ARGS)
{
	struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
	FILE	   *file = fopen("/proc/self/clear_refs", "w");

	/* Makes the largest memory the current one. */
	if (file == NULL || fputs("5", file) < 0 || fclose(file) != 0)
		elog(ERROR, "cannot reset the largest memory");
	memory = status("VmRSS: %ld");
	begin = cpu_time();
	longest = 0;
	InterruptPending = true;
	sigaction(SIGPROF, &action, NULL);
	set_timer(TICK_US);
	PG_RETURN_VOID();
}

/* uninterrupted(): the longest time since then, in milliseconds. */
PG_FUNCTION_INFO_V1(uninterrupted);
Datum
uninterrupted(PG_FUNCTION_ARGS)
{
	set_timer(0);
	PG_RETURN_FLOAT8(longest);
}

/* memory_taken(): by how many MB the memory has grown since then at most. */
PG_FUNCTION_INFO_V1(memory_taken);
Datum
memory_taken(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32((status("VmHWM: %ld") - memory) / 1024);
}
