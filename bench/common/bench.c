/* bench.c - options, clock, medians, turns: shared by the benchmarks. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "common/bench.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RESAMPLES = 2000 };

static void help(const bench_about *about)
{
    printf("bench-%s: %s\n\nusage: bench-%s [options]\n", about->name, about->question, about->name);
    for (const bench_flag *f = about->flags; f != NULL && f->name != NULL; f++)
        printf("  --%-14s %s\n", f->name, f->help);
    printf("  --rounds N       repetitions (default %u, with --quick %u)\n"
           "  --seed N         order of the peers and random graphs (default 1)\n"
           "  --quick          smaller and fewer\n"
           "  --json           print one JSON object and nothing else\n"
           "  --help           this text\n",
           about->rounds, about->quick_rounds);
}

static int usage(const bench_about *about, const char *argument)
{
    fprintf(stderr, "bench-%s: '%s' is not an option, or lacks its number; see bench-%s --help\n", about->name,
            argument, about->name);
    return 2;
}

static bool read_number(const char *text, uint64_t high, uint64_t *out)
{
    char *end;

    errno = 0;
    if (text == NULL || *text < '0' || *text > '9')
        return false;
    *out = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0' && *out <= high;
}

/* Number of arguments that an option of the benchmark's own takes up, 0 if there is none of that name. */
static int read_own(const bench_flag *flags, const char *name, const char *next)
{
    if (strncmp(name, "--", 2) != 0)
        return 0;
    for (const bench_flag *f = flags; f != NULL && f->name != NULL; f++) {
        size_t length = strcspn(f->name, " "); /* "only NAME": what follows is for the help text */

        if (strncmp(name + 2, f->name, length) != 0 || name[2 + length] != '\0')
            continue;
        if (f->is_set != NULL) {
            *f->is_set = true;
            return 1;
        }
        if (next == NULL || (f->list != NULL && f->list->count == BENCH_LIST_MAX))
            return 0;
        if (f->list != NULL)
            f->list->items[f->list->count++] = next;
        else
            *f->value = next;
        return 2;
    }
    return 0;
}

int bench_options_read(bench_options *o, const bench_about *about, int argc, char **argv)
{
    uint64_t rounds = 0;

    *o = (bench_options){.seed = 1};
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        int own = read_own(about->flags, name, argv[i + 1]);

        if (strcmp(name, "--help") == 0) {
            help(about);
            return 0;
        }
        if (strcmp(name, "--json") == 0)
            o->json = true;
        else if (strcmp(name, "--quick") == 0)
            o->quick = true;
        else if (own > 0)
            i += own - 1;
        else if ((strcmp(name, "--seed") == 0 && read_number(argv[i + 1], UINT64_MAX, &o->seed)) ||
                 (strcmp(name, "--rounds") == 0 && read_number(argv[i + 1], 100000, &rounds) && rounds > 0))
            i++;
        else
            return usage(about, name);
    }
    o->rounds = rounds > 0 ? (uint32_t)rounds : o->quick ? about->quick_rounds : about->rounds;
    return -1;
}

int64_t bench_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t bench_cpu_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void bench_rest(void)
{
    nanosleep(&(struct timespec){0, 5000000}, NULL);
}

uint32_t bench_cpus(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

uint64_t bench_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint32_t bench_random_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)(((bench_random(state) >> 32) * bound) >> 32);
}

void bench_shuffle(uint32_t *items, uint32_t count, uint64_t *state)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t other = bench_random_below(state, i), kept = items[i - 1];

        items[i - 1] = items[other];
        items[other] = kept;
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

bench_stats bench_summarise(double *values, size_t count)
{
    if (count == 0)
        return (bench_stats){0};
    qsort(values, count, sizeof *values, by_value);
    return (bench_stats){.median = (values[(count - 1) / 2] + values[count / 2]) / 2,
                         .p10 = values[(count - 1) / 10],
                         .p90 = values[(count - 1) - (count - 1) / 10],
                         .lowest = values[0]};
}

void bench_sort(double *values, size_t count)
{
    if (count > 0)
        qsort(values, count, sizeof *values, by_value);
}

double bench_quantile(const double *sorted, size_t count, double q)
{
    size_t rank = (size_t)(q * (double)count);

    if (count == 0)
        return 0;
    return sorted[rank < count ? rank : count - 1];
}

/* Of measures that may be 0. */
static double quotient(double mine, double theirs)
{
    return theirs > 0 ? mine / theirs : mine > 0 ? 1e9 : 1;
}

bench_interval bench_ratio(const double *mine, const double *theirs, uint32_t count)
{
    double *ratios = calloc(RESAMPLES, sizeof *ratios), all_mine = 0, all_theirs = 0;
    uint64_t state = 1;

    for (uint32_t i = 0; i < count; i++) {
        all_mine += mine[i];
        all_theirs += theirs[i];
    }
    bench_interval out = {.ratio = quotient(all_mine, all_theirs)};
    out.low = out.high = out.ratio;
    for (uint32_t k = 0; k < RESAMPLES && ratios != NULL; k++) {
        double a = 0, b = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t drawn = bench_random_below(&state, count);
            a += mine[drawn];
            b += theirs[drawn];
        }
        ratios[k] = quotient(a, b);
    }
    if (ratios != NULL) {
        bench_sort(ratios, RESAMPLES);
        out.low = bench_quantile(ratios, RESAMPLES, 0.025);
        out.high = bench_quantile(ratios, RESAMPLES, 0.975);
    }
    free(ratios);
    return out;
}

enum { QUIET_ENOUGH = 3 };

bool bench_turn_begin(bench_turns *turns)
{
    bool has_enough = turns->kept >= QUIET_ENOUGH && turns->dropped >= 2 * turns->wanted;

    turns->before = load_now();
    return turns->kept < turns->wanted && !has_enough;
}

/* What disturbed may pass: 0.1 s at first, 1.6 s in the end. */
static void wait_for_quiet(uint32_t dropped)
{
    int64_t ns = 100000000LL << (dropped < 4 ? dropped : 4);

    nanosleep(&(struct timespec){ns / 1000000000, ns % 1000000000}, NULL);
}

bool bench_turn_end(bench_turns *turns)
{
    double foreign = load_foreign(turns->before);
    double ticks = (double)(load_now().all - turns->before.all);
    /* What is told in whole ticks, for the CPUs and for this process, may be wrong by one each. */
    bool is_loaded = foreign > BENCH_LOAD_MAX + (ticks > 0 ? 2 / ticks : 1);

    if (is_loaded && turns->wanted > 1 && turns->dropped < 2 * turns->wanted) {
        wait_for_quiet(turns->dropped++);
        return false;
    }
    turns->kept++;
    turns->kept_loaded += is_loaded;
    turns->load_sum += foreign;
    return true;
}

void bench_turns_add(bench_turns *a, const bench_turns *b)
{
    a->wanted += b->wanted;
    a->kept += b->kept;
    a->dropped += b->dropped;
    a->kept_loaded += b->kept_loaded;
    a->load_sum += b->load_sum;
}

double bench_turns_load(const bench_turns *turns)
{
    return turns->kept > 0 ? turns->load_sum / turns->kept : 0;
}

void bench_turns_print(const bench_turns *turns, bool is_json)
{
    if (is_json) {
        printf("\"foreign_load\": %.3f, \"turns\": %u, \"dropped\": %u, \"kept_loaded\": %u", bench_turns_load(turns),
               turns->kept, turns->dropped, turns->kept_loaded);
        return;
    }
    printf("Other programs used %.1f %% of the CPUs during the %u turns kept; %u turns with more than %.0f %% were "
           "dropped",
           100 * bench_turns_load(turns), turns->kept, turns->dropped, 100 * BENCH_LOAD_MAX);
    if (turns->kept_loaded > 0)
        printf(", %u had to be kept: repeat this on a quieter machine", turns->kept_loaded);
    printf(".\n");
}
