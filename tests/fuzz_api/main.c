/* main.c - options, and epochs: threads make calls for a while, then everything is destroyed and nothing may be
 * left. */
#define _GNU_SOURCE
#include "fuzz_api.h"

#include <dirent.h>
#include <getopt.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

world w;
_Atomic uint64_t calls_made[CALLS_COUNT];

static const struct {
    const char *name;
    uint32_t weight;
    void (*make)(thread *t);
} calls[] = {
#define X(name, weight) {#name, weight, call_##name},
    CALLS(X)
#undef X
};
static const struct {
    const char *name, *text;
} features[] = {
#define X(name, text) {#name, text},
    FEATURES(X)
#undef X
};

static uint32_t weights[CALLS_COUNT];
static struct {
    double seconds, epoch_seconds;
    uint64_t seed;
    uint32_t threads;
    bool alarms;
} options = {.seconds = 10, .epoch_seconds = 2, .seed = 1, .threads = 4};
static _Atomic bool is_over;

size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

/* Read by the sanitizers' run-time libraries. */
#define EXPORTED __attribute__((visibility("default")))
EXPORTED const char *__tsan_default_options(void);
EXPORTED const char *__asan_default_options(void);
EXPORTED const char *__ubsan_default_options(void);

const char *__tsan_default_options(void)
{
    return "halt_on_error=1:second_deadlock_stack=1:history_size=5";
}

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:detect_leaks=1";
}

const char *__ubsan_default_options(void)
{
    return CLO_TSAN ? "" : "halt_on_error=1:print_stacktrace=1:abort_on_error=1";
}

static void help(void)
{
    printf("usage: fuzz_api [--seconds N] [--seed S] [--threads T] [--epoch SECONDS] [--without NAME,...] [--only "
           "NAME,...]\n"
           "                [--unstated] [--alarms] [--hang SECONDS] [--rules]\n\n"
           "Random sequences of public calls from T threads (%u). Epoch k of a run uses the seed S + k, so a failure "
           "in it\n"
           "is looked for again with --seed S+k. Exit status 1, the seed and the last calls where something is not as "
           "the\n"
           "headers say. FUZZ_API_STAY=1 in the environment: wait for a debugger then.\n"
           "  --unstated   pairs of calls of which the headers say nothing run together too (--rules lists the pairs)\n"
           "  --alarms     SIGALRM, without SA_RESTART, to the process each 2 ms and to single threads in between\n"
           "  --hang N     a call that lasts longer is a hang (60)\n\nNames of calls:",
           options.threads);
    for (uint32_t i = 0; i < CALLS_COUNT; i++)
        printf("%s%s", i % 8 == 0 ? "\n  " : " ", calls[i].name);
    printf("\nNames of features:\n");
    for (uint32_t i = 0; i < FEATURES_COUNT; i++)
        printf("  %-15s %s\n", features[i].name, features[i].text);
}

static void leave_out(char *names, bool is_only)
{
    for (uint32_t i = 0; is_only && i < CALLS_COUNT; i++)
        weights[i] = 0;
    for (char *rest, *name = strtok_r(names, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest)) {
        bool is_known = false;
        for (uint32_t i = 0; i < CALLS_COUNT; i++)
            if (strcmp(name, calls[i].name) == 0)
                weights[i] = is_only ? calls[i].weight : 0, is_known = true;
        for (uint32_t i = 0; i < FEATURES_COUNT && !is_only; i++)
            if (strcmp(name, features[i].name) == 0)
                left_out[i] = is_known = true;
        if (!is_known) {
            fprintf(stderr, "fuzz_api: '%s' is no name of a call or feature; see --help\n", name);
            exit(2);
        }
    }
}

static void read_options(int count, char **words)
{
    static const struct option known[] = {
        {"seconds", 1, NULL, 's'}, {"seed", 1, NULL, 'S'},  {"threads", 1, NULL, 't'},  {"epoch", 1, NULL, 'e'},
        {"without", 1, NULL, 'w'}, {"only", 1, NULL, 'o'},  {"unstated", 0, NULL, 'u'}, {"alarms", 0, NULL, 'a'},
        {"hang", 1, NULL, 'H'},    {"rules", 0, NULL, 'r'}, {"help", 0, NULL, 'h'},     {NULL, 0, NULL, 0}};

    for (uint32_t i = 0; i < CALLS_COUNT; i++)
        weights[i] = calls[i].weight;
    for (int option; (option = getopt_long(count, words, "h", known, NULL)) != -1;) {
        switch (option) {
        case 's':
            options.seconds = strtod(optarg, NULL);
            break;
        case 'S':
            options.seed = strtoull(optarg, NULL, 0);
            break;
        case 't':
            options.threads = (uint32_t)strtoul(optarg, NULL, 0);
            break;
        case 'e':
            options.epoch_seconds = strtod(optarg, NULL);
            break;
        case 'w':
            leave_out(optarg, false);
            break;
        case 'o':
            leave_out(optarg, true);
            break;
        case 'u':
            rules_allow_unstated = true;
            break;
        case 'a':
            options.alarms = true;
            break;
        case 'H':
            hang_seconds = (uint32_t)strtoul(optarg, NULL, 0);
            break;
        case 'r':
            rules_print();
            exit(0);
        case 'h':
            help();
            exit(0);
        default:
            exit(2);
        }
    }
    if (options.threads < 1 || options.threads > THREADS_MAX || options.seconds <= 0 || options.epoch_seconds <= 0) {
        fprintf(stderr, "fuzz_api: 1 to %d threads, and times above 0\n", THREADS_MAX);
        exit(2);
    }
}

static uint32_t draw_call(thread *t)
{
    uint32_t sum = 0, call = 0;

    for (uint32_t i = 0; i < CALLS_COUNT; i++)
        sum += weights[i];
    for (uint32_t at = below(t, sum); at >= weights[call]; call++)
        at -= weights[call];
    return call;
}

static void *control_main(void *argument)
{
    thread *t = argument;

    while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
        uint32_t call = draw_call(t);
        uint64_t before = log_count(t);
        calls[call].make(t);
        if (log_count(t) != before) /* else there was nothing to make it on */
            atomic_fetch_add_explicit(&calls_made[call], 1, memory_order_relaxed);
    }
    return NULL;
}

static void ignore_alarm(int number)
{
    (void)number;
}

static void start_alarms(void)
{
    struct sigaction action = {.sa_handler = ignore_alarm}; /* no SA_RESTART */
    struct itimerval timer = {{0, 2000}, {0, 2000}};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* A SIGALRM for a thread of this process, whichever: the library's own too. */
static void alarm_one(thread *t)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    long ids[64];
    uint32_t count = 0;

    while (tasks != NULL && (entry = readdir(tasks)) != NULL && count < 64)
        if (entry->d_name[0] != '.')
            ids[count++] = strtol(entry->d_name, NULL, 10);
    if (tasks != NULL)
        closedir(tasks);
    if (count > 0)
        (void)syscall(SYS_tgkill, getpid(), ids[below(t, count)], SIGALRM);
}

static uint32_t count_in(const char *folder)
{
    DIR *list = opendir(folder);
    uint32_t count = 0;

    while (list != NULL && readdir(list) != NULL)
        count++;
    if (list != NULL)
        closedir(list);
    return count;
}

/* Workers of a runtime whose close timed out go when their bodies have returned. */
static uint32_t count_threads_soon(uint32_t wanted)
{
    uint32_t count = count_in("/proc/self/task");

    for (int64_t end_ns = now_ns() + 20000000000; count > wanted && now_ns() < end_ns;
         count = count_in("/proc/self/task"))
        (void)usleep(1000);
    return count;
}

static size_t memory_in_use(void)
{
    return __sanitizer_get_current_allocated_bytes != NULL ? __sanitizer_get_current_allocated_bytes()
                                                           : mallinfo2().uordblks;
}

static void end_epoch(thread *t, uint32_t threads)
{
    log_begin(t, "end of the epoch: destroy what is left", 0);
    runtimes_end();
    pending_stop();
    device_stop();
    if (count_threads_soon(threads) > threads)
        broken("%u threads, %u before the epoch", count_in("/proc/self/task"), threads);
    for (uint32_t i = 0; i < TRACES; i++)
        clo_trace_destroy(atomic_load(&w.traces[i].trace));
    models_destroy();
    memset(&w.models, 0, sizeof w.models);
    memset(&w.runtimes, 0, sizeof w.runtimes);
    memset(&w.jobs, 0, sizeof w.jobs);
    memset(&w.traces, 0, sizeof w.traces);
    log_end(t, 0);
}

static void run_epoch(uint64_t seed, double seconds, uint32_t threads)
{
    thread main_thread = {THREADS_MAX, clo_rng_seed(seed)}, controls[THREADS_MAX];
    pthread_t ids[THREADS_MAX];

    device_start(&main_thread);
    models_create(&main_thread);
    pending_start();
    for (uint32_t j = 0; j < JOBS; j++)
        w.jobs[j].index = j, w.jobs[j].runtime = j % RUNTIMES;
    atomic_store(&is_over, false);
    for (uint32_t i = 0; i < options.threads; i++) {
        controls[i] = (thread){i, clo_rng_seed(clo_mix64(seed) + i)};
        if (pthread_create(&ids[i], NULL, control_main, &controls[i]) != 0)
            broken("no thread");
    }
    for (int64_t end_ns = now_ns() + (int64_t)(seconds * 1e9); now_ns() < end_ns; (void)usleep(1000))
        if (options.alarms)
            alarm_one(&main_thread);
    atomic_store(&is_over, true);
    for (uint32_t i = 0; i < options.threads; i++)
        pthread_join(ids[i], NULL);
    end_epoch(&main_thread, threads);
}

/* The first epochs fill what the C library and the sanitizers keep; later ones may not need more. */
static void check_left(uint64_t epoch, uint32_t descriptors)
{
    static size_t settled;
    size_t used = memory_in_use();

    if (count_in("/proc/self/fd") != descriptors && !CLO_TSAN) /* whose library opens pipes of its own */
        broken("%u file descriptors are open, %u before", count_in("/proc/self/fd"), descriptors);
    if (epoch < 5)
        settled = used > settled ? used : settled;
    else if (used > settled + (1 << 20))
        broken("%zu bytes in use after epoch %llu, %zu after the first five", used, (unsigned long long)epoch, settled);
}

int main(int count, char **words)
{
    read_options(count, words);
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("fuzz_api: seed %llu, %u threads, %g s\n", (unsigned long long)options.seed, options.threads,
           options.seconds);
    rules_check();
    if (options.alarms)
        start_alarms();
    platforms_open();
    int64_t end_ns = now_ns() + (int64_t)(options.seconds * 1e9);
    uint64_t epoch = 0;
    uint32_t descriptors = count_in("/proc/self/fd");
    for (; now_ns() < end_ns; epoch++) {
        double left = (double)(end_ns - now_ns()) * 1e-9;
        log_start(options.seed + epoch);
        run_epoch(options.seed + epoch, left < options.epoch_seconds ? left : options.epoch_seconds,
                  count_in("/proc/self/task"));
        log_stop();
        check_left(epoch, descriptors);
    }
    platforms_close();
    printf("fuzz_api: %llu epochs, nothing found; calls:", (unsigned long long)epoch);
    for (uint32_t i = 0; i < CALLS_COUNT; i++)
        printf(" %s %llu%s", calls[i].name, (unsigned long long)atomic_load(&calls_made[i]),
               i + 1 < CALLS_COUNT ? "," : "\n");
    return 0;
}
