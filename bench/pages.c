/*
 * The least that a search takes whose codes are in pages of 8 kB: compares codes in memory, without looking for pages,
 * without locks, and without PostgreSQL.
 *
 * pages codes ROWS                  the nearest of random codes of 256 bits, as in a tree of whole codes
 * pages fingerprints ROWS RADIUS    the random codes of 64 bits within the radius, as in four trees, of which it compares
 *                                   the leaves whose bands can be near enough
 *
 * Prints the milliseconds of processor time that a search takes on average if it leaves it to the processor to load
 * pages, and if it loads the next page while it compares the codes of a page.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
    PAGE = 8192,
    HEADER = 24,
    TRAILER = 8,
    ROW = 6,
    WORDS = 4,
    BANDS = 4,
    BAND_VALUES = 1 << 16,
    LINE = 64,
    SEARCHES_OF_CODES = 9,
};

/* The codes of a page, with the default fillfactor. */
#define CODES_IN_PAGE(words) ((PAGE - HEADER - TRAILER) / (8 * (words) + ROW) * 95 / 100)

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

/* Pages with random codes, in shared memory, as PostgreSQL's buffers are. */
static char *make_pages(size_t count, int words_in_page)
{
    char *pages = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    for (size_t page = 0; page < count; page++)
        for (int word = 0; word < words_in_page; word++)
            ((uint64_t *) (pages + page * PAGE + HEADER))[word] = random_word();
    return pages;
}

/* The least distance of the codes of a page from the center. Loads another page meanwhile, unless that is NULL. */
static unsigned nearest_in_page(const char *page, const uint64_t *center, const char *next)
{
    const uint64_t *code = (const uint64_t *) (page + HEADER);
    unsigned least = 64 * WORDS;
    for (int i = 0; i < CODES_IN_PAGE(WORDS); i++, code += WORDS) {
        if (next && i * WORDS * 8 % LINE == 0)
            __builtin_prefetch(next + i * WORDS * 8);
        unsigned distance = 0;
        for (int word = 0; word < WORDS; word++)
            distance += (unsigned) __builtin_popcountll(code[word] ^ center[word]);
        if (distance < least)
            least = distance;
    }
    return least;
}

/* Whether a word of the page is within the radius of the center. Loads another page meanwhile, unless that is NULL. */
static bool has_near(const char *page, uint64_t center, int radius, const char *next)
{
    const uint64_t *word = (const uint64_t *) (page + HEADER);
    const int lines = CODES_IN_PAGE(1) * 8 / LINE;
    bool any = false;
    for (int line = 0; line < lines; line++, word += LINE / 8) {
        if (next)
            __builtin_prefetch(next + line * LINE);
        bool near = false;
        for (int i = 0; i < LINE / 8; i++)
            near |= __builtin_popcountll(word[i] ^ center) <= radius;
        any |= near;
    }
    return any;
}

/* The leaves of all trees in which a search of random codes looks, in the order in which it looks. */
static size_t leaves_of(uint64_t center, int radius, size_t leaves_in_tree, uint32_t *leaves)
{
    size_t count = 0;
    for (int band = 0; band < BANDS; band++) {
        int in_band = band <= radius % BANDS ? radius / BANDS : radius / BANDS - 1;
        size_t of_band = count;
        uint32_t query = center >> band * 16 & (BAND_VALUES - 1);
        for (uint64_t value = 0; value < BAND_VALUES; value++) {
            if (__builtin_popcount(value ^ query) > in_band)
                continue;
            /* Another value or the beginning of this one can be in the leaf of the value before. */
            for (size_t leaf = value * leaves_in_tree / BAND_VALUES; leaf <= (value + 1) * leaves_in_tree / BAND_VALUES; leaf++) {
                uint32_t number = band * leaves_in_tree + (leaf < leaves_in_tree ? leaf : leaves_in_tree - 1);
                if (count == of_band || leaves[count - 1] != number)
                    leaves[count++] = number;
            }
        }
    }
    return count;
}

static void search_codes(size_t rows)
{
    size_t count = (rows + CODES_IN_PAGE(WORDS) - 1) / CODES_IN_PAGE(WORDS);
    const char *pages = make_pages(count, CODES_IN_PAGE(WORDS) * WORDS);
    unsigned sum = 0;
    for (int prefetches = 0; prefetches <= 1; prefetches++) {
        double before = milliseconds();
        for (int search = 0; search < SEARCHES_OF_CODES; search++) {
            uint64_t center[WORDS];
            for (int word = 0; word < WORDS; word++)
                center[word] = random_word();
            for (size_t page = 0; page < count; page++) {
                const char *next = pages + (page + 1 < count ? page + 1 : page) * PAGE;
                sum += nearest_in_page(pages + page * PAGE, center, prefetches ? next : NULL);
            }
        }
        printf("%.1f ", (milliseconds() - before) / SEARCHES_OF_CODES);
    }
    /* The sum is used, so that the compiler cannot leave out the searches. */
    printf("%s\n", sum == 0 ? "?" : "");
}

static void search_fingerprints(size_t rows, int radius)
{
    size_t leaves_in_tree = (rows + CODES_IN_PAGE(1) - 1) / CODES_IN_PAGE(1);
    const char *pages = make_pages(BANDS * leaves_in_tree, CODES_IN_PAGE(1));
    uint32_t *leaves = malloc(BANDS * leaves_in_tree * sizeof *leaves);
    int searches = radius <= 6 ? 1000 : 100;
    double found = 0;
    unsigned sum = 0;
    for (int prefetches = 0; prefetches <= 1; prefetches++) {
        double total = 0;
        for (int search = 0; search < searches; search++) {
            uint64_t center = random_word();
            size_t count = leaves_of(center, radius, leaves_in_tree, leaves);
            found += (double) count / (2 * searches);
            double before = milliseconds();
            for (size_t i = 0; i < count; i++) {
                const char *next = pages + (size_t) leaves[i + 1 < count ? i + 1 : i] * PAGE;
                sum += has_near(pages + (size_t) leaves[i] * PAGE, center, radius, prefetches ? next : NULL);
            }
            total += milliseconds() - before;
        }
        printf("%.4f ", total / searches);
    }
    printf("%.0f%s\n", found, sum == UINT32_MAX ? "?" : "");
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "codes") == 0)
        search_codes(strtoull(argv[2], NULL, 10));
    else if (argc == 4 && strcmp(argv[1], "fingerprints") == 0)
        search_fingerprints(strtoull(argv[2], NULL, 10), atoi(argv[3]));
    else {
        fprintf(stderr, "usage: pages codes ROWS, or pages fingerprints ROWS RADIUS\n");
        return 2;
    }
    return 0;
}
