/* raw.c - futex and cache line, with two pinned threads and nothing else. */
#define _GNU_SOURCE /* CPU_SET, pthread_setaffinity_np, syscall */
#include "latency/raw.h"
#include "common/bench.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ASLEEP, WAKE, STOP };

struct raw_sleeper {
    pthread_t thread;
    int cpu;
    int word;       /* ASLEEP, or what the thread shall do */
    int64_t run_ns; /* when it ran; 0: not yet             */
};

static bool pin_thread(pthread_t thread, int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    return pthread_setaffinity_np(thread, sizeof set, &set) == 0;
}

bool raw_pin(int cpu)
{
    return pin_thread(pthread_self(), cpu);
}

static void *sleep_and_run(void *argument)
{
    raw_sleeper *s = argument;

    for (;;) {
        while (__atomic_load_n(&s->word, __ATOMIC_ACQUIRE) == ASLEEP)
            syscall(SYS_futex, &s->word, FUTEX_WAIT_PRIVATE, ASLEEP, NULL, NULL, 0);
        int64_t now_ns = bench_now_ns();

        if (__atomic_exchange_n(&s->word, ASLEEP, __ATOMIC_ACQ_REL) == STOP)
            return NULL;
        __atomic_store_n(&s->run_ns, now_ns, __ATOMIC_RELEASE);
    }
}

static void signal_word(raw_sleeper *s, int word)
{
    __atomic_store_n(&s->word, word, __ATOMIC_RELEASE);
    syscall(SYS_futex, &s->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

raw_sleeper *raw_sleeper_open(int cpu)
{
    raw_sleeper *s = calloc(1, sizeof *s);

    if (s == NULL)
        return NULL;
    s->cpu = cpu;
    if (pthread_create(&s->thread, NULL, sleep_and_run, s) != 0) {
        free(s);
        return NULL;
    }
    if (pin_thread(s->thread, cpu))
        return s;
    raw_sleeper_close(s);
    return NULL;
}

int64_t raw_sleeper_wake(raw_sleeper *s)
{
    int64_t start_ns, run_ns;

    __atomic_store_n(&s->run_ns, 0, __ATOMIC_RELAXED);
    start_ns = bench_now_ns();
    signal_word(s, WAKE);
    /* Ends when the thread has run; it was just woken. */
    while ((run_ns = __atomic_load_n(&s->run_ns, __ATOMIC_ACQUIRE)) == 0)
        sched_yield();
    return run_ns - start_ns;
}

void raw_sleeper_close(raw_sleeper *s)
{
    if (s == NULL)
        return;
    signal_word(s, STOP);
    pthread_join(s->thread, NULL);
    free(s);
}

/* One line: whose turn it is, and when it was given. */
typedef struct line {
    _Alignas(64) uint32_t turn;
    int64_t given_ns;
} line;

typedef struct game {
    line line;
    double *samples_ns;
    uint32_t count;
} game;

/* Takes every second turn, from `first` on. */
static void play(game *g, uint32_t first)
{
    for (uint32_t i = first; i < g->count; i += 2) {
        while (__atomic_load_n(&g->line.turn, __ATOMIC_ACQUIRE) != i)
            ; /* the other side is running: it is pinned to a CPU of its own */
        int64_t now_ns = bench_now_ns();

        g->samples_ns[i] = (double)(now_ns - g->line.given_ns);
        g->line.given_ns = bench_now_ns();
        __atomic_store_n(&g->line.turn, i + 1, __ATOMIC_RELEASE);
    }
}

static void *play_second(void *argument)
{
    play(argument, 1);
    return NULL;
}

bool raw_hand_over(int cpu, double *samples_ns, uint32_t count)
{
    game g = {.count = count};
    pthread_t thread;

    g.samples_ns = samples_ns;
    g.line.turn = UINT32_MAX; /* nobody's, until the other thread sits on its CPU */
    if (pthread_create(&thread, NULL, play_second, &g) != 0)
        return false;
    bool is_pinned = pin_thread(thread, cpu);
    g.line.given_ns = bench_now_ns();
    __atomic_store_n(&g.line.turn, 0, __ATOMIC_RELEASE);
    play(&g, 0);
    pthread_join(thread, NULL);
    return is_pinned;
}
