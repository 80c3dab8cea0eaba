/*
 * The least that the nearest of random codes of 256 bits takes if they are in pages of 8 kB, as in a tree of whole codes:
 * compares a code with all of them, without looking for pages, without locks, and without PostgreSQL. Usage: pages ROWS
 *
 * Prints the median milliseconds of processor time for a search that leaves it to the processor to load pages, and for
 * one that loads the next page while it compares the codes of a page.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum {
    PAGE = 8192,
    HEADER = 24,
    TRAILER = 8,
    WORDS = 4,
    ROW = 6,
    CODES = (PAGE - HEADER - TRAILER) / (8 * WORDS + ROW) * 95 / 100, /* the default fillfactor */
    SEARCHES = 9,
};

static uint64_t random_word(void)
{
    static uint64_t state = 1;
    uint64_t word = state += 0x9e3779b97f4a7c15;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
    word = (word ^ word >> 27) * 0x94d049bb133111eb;
    return word ^ word >> 31;
}

static double milliseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static unsigned nearest(const char *pages, size_t count, const uint64_t *center, bool prefetches)
{
    unsigned least = 64 * WORDS;
    for (size_t page = 0; page < count; page++) {
        const uint64_t *code = (const uint64_t *) (pages + page * PAGE + HEADER);
        const char *next = pages + (page + 1 < count ? page + 1 : page) * PAGE;
        for (int i = 0; i < CODES; i++, code += WORDS) {
            /* Two codes fill a line of the processor's cache. */
            if (prefetches && i % 2 == 0)
                __builtin_prefetch(next + i / 2 * 64);
            unsigned distance = 0;
            for (int word = 0; word < WORDS; word++)
                distance += (unsigned) __builtin_popcountll(code[word] ^ center[word]);
            if (distance < least)
                least = distance;
        }
    }
    return least;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    size_t rows = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
    size_t count = (rows + CODES - 1) / CODES;
    /* Shared memory, as PostgreSQL's buffers are. */
    char *pages = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    for (size_t page = 0; page < count; page++)
        for (int word = 0; word < CODES * WORDS; word++)
            ((uint64_t *) (pages + page * PAGE + HEADER))[word] = random_word();
    for (int prefetches = 0; prefetches <= 1; prefetches++) {
        double times[SEARCHES];
        unsigned sum = 0;
        for (int search = 0; search < SEARCHES; search++) {
            uint64_t center[WORDS];
            for (int word = 0; word < WORDS; word++)
                center[word] = random_word();
            double before = milliseconds();
            sum += nearest(pages, count, center, prefetches);
            times[search] = milliseconds() - before;
        }
        qsort(times, SEARCHES, sizeof *times, ascending);
        /* The sum is used, so that the compiler cannot leave out the searches. */
        printf("%.1f%c", times[SEARCHES / 2], sum == 0 ? '?' : prefetches ? '\n' : ' ');
    }
    return 0;
}
