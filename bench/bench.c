/* bench.c - shared by the benchmarks. */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void help(const bench_about *about)
{
    printf("bench-%s: %s\n\nusage: bench-%s [options]\n", about->name, about->question, about->name);
    if (about->flag != NULL)
        printf("  --%-10s %s\n", about->flag, about->flag_help);
    printf("  --rounds N   repetitions (default %u, with --quick %u)\n"
           "  --seed N     order of the peers and random graphs (default 1)\n"
           "  --quick      smaller and fewer\n"
           "  --json       print one JSON object and nothing else\n"
           "  --help       this text\n",
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

int bench_options_read(bench_options *o, const bench_about *about, int argc, char **argv)
{
    uint64_t rounds = 0;

    *o = (bench_options){.seed = 1};
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];

        if (strcmp(name, "--help") == 0) {
            help(about);
            return 0;
        }
        if (strcmp(name, "--json") == 0)
            o->json = true;
        else if (strcmp(name, "--quick") == 0)
            o->quick = true;
        else if (about->flag != NULL && strncmp(name, "--", 2) == 0 && strcmp(name + 2, about->flag) == 0)
            o->flag = true;
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

void bench_rest(void)
{
    nanosleep(&(struct timespec){0, 5000000}, NULL);
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

bool bench_fail(const char *what)
{
    fprintf(stderr, "bench: %s: %s\n", what, clo_last_error());
    return false;
}

clo_platform *bench_platform(uint32_t workers)
{
    clo_platform *native = NULL, *part = NULL;
    clo_executor *executors = calloc(workers, sizeof *executors);

    if (executors == NULL || clo_platform_open("native", &native) != CLO_OK) {
        bench_fail("cannot open the native platform");
    } else if (workers > clo_platform_executors(native)) {
        fprintf(stderr, "bench: %u workers asked for, this process may use %u CPUs\n", workers,
                clo_platform_executors(native));
    } else {
        for (uint32_t e = 0; e < workers; e++) {
            executors[e] = *clo_platform_executor(native, e);
            /* One machine, one kind, one memory, one speed: what is measured here is dispatch. */
            executors[e].kind = executors[e].machine = executors[e].memory = 0;
            for (int c = 0; c < CLO_CLASSES_BUILTIN; c++)
                executors[e].speed_q16[c] = CLO_SPEED_ONE;
        }
        clo_platform_desc desc = {.size = sizeof desc,
                                  .name = "bench",
                                  .executors_count = workers,
                                  .executors = executors,
                                  .kinds_count = 1,
                                  .coherent = 1};
        if (clo_platform_create(&desc, &part) != CLO_OK)
            bench_fail("cannot make a platform");
    }
    clo_platform_destroy(native);
    free(executors);
    return part;
}
