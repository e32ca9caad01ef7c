/* log.c - what each thread does now and did last, the watch over hangs, and what is printed when something breaks. */
#define _GNU_SOURCE
#include "fuzz_api.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LAST = 12, TICKS_A_SECOND = 10, TICK_NS = 1000000000 / TICKS_A_SECOND };

typedef struct log_entry {
    const char *_Atomic what;
    _Atomic uint32_t slot;
    _Atomic int status;
    _Atomic bool has_ended;
} log_entry;

typedef struct log_line {
    _Atomic uint64_t number; /* entries begun */
    _Atomic uint64_t tick;   /* when the last one began or ended */
    log_entry last[LAST];
} log_line;

static log_line lines[THREADS_MAX + 1]; /* one more for what main does */
static _Atomic uint64_t ticks;
static _Atomic bool is_stopping;
static uint64_t the_seed;
static pthread_t watch;
uint32_t hang_seconds = 60;

void log_begin(const thread *t, const char *what, uint32_t slot)
{
    log_line *line = &lines[t->index];
    log_entry *entry = &line->last[atomic_load_explicit(&line->number, memory_order_relaxed) % LAST];

    atomic_store_explicit(&entry->what, what, memory_order_relaxed);
    atomic_store_explicit(&entry->slot, slot, memory_order_relaxed);
    atomic_store_explicit(&entry->has_ended, false, memory_order_relaxed);
    atomic_store_explicit(&line->tick, atomic_load_explicit(&ticks, memory_order_relaxed), memory_order_relaxed);
    atomic_fetch_add_explicit(&line->number, 1, memory_order_relaxed);
}

void log_end(const thread *t, int status)
{
    log_line *line = &lines[t->index];
    uint64_t number = atomic_load_explicit(&line->number, memory_order_relaxed);
    log_entry *entry = &line->last[(number - 1) % LAST];

    atomic_store_explicit(&entry->status, status, memory_order_relaxed);
    atomic_store_explicit(&entry->has_ended, true, memory_order_relaxed);
}

/* No stdio: another thread may be stopped by a sanitizer's report while it holds a stream. */
static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    int bytes = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (bytes > 0 && write(STDERR_FILENO, text, (size_t)bytes < sizeof text ? (size_t)bytes : sizeof text - 1) < 0)
        return;
}

uint64_t log_count(const thread *t)
{
    return atomic_load_explicit(&lines[t->index].number, memory_order_relaxed);
}

static void print_thread(uint32_t i)
{
    uint64_t number = atomic_load_explicit(&lines[i].number, memory_order_relaxed);

    if (number == 0)
        return;
    say("%s %u, %llu calls:\n", i == THREADS_MAX ? "main" : "thread", i, (unsigned long long)number);
    for (uint64_t k = number > LAST ? number - LAST : 0; k < number; k++) {
        const log_entry *entry = &lines[i].last[k % LAST];
        const char *what = atomic_load_explicit(&entry->what, memory_order_relaxed);
        uint32_t slot = atomic_load_explicit(&entry->slot, memory_order_relaxed);
        if (atomic_load_explicit(&entry->has_ended, memory_order_relaxed))
            say("  %s %u -> %d\n", what, slot, atomic_load_explicit(&entry->status, memory_order_relaxed));
        else
            say("  %s %u ...\n", what, slot);
    }
}

/* Only the first failure is told. */
static bool is_first(void)
{
    static _Atomic bool is_told;

    return !atomic_exchange(&is_told, true);
}

static void print_all(void)
{
    say("fuzz_api: seed %llu; the last calls of each thread:\n", (unsigned long long)the_seed);
    for (uint32_t i = 0; i <= THREADS_MAX; i++)
        print_thread(i);
}

/* Called by the sanitizers' run-time library before it ends the process. */
static void print_at_death(void)
{
    if (is_first())
        print_all();
}

_Noreturn void broken(const char *format, ...)
{
    char text[512];
    va_list arguments;

    while (!is_first())
        pause(); /* the first one ends the process */
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    say("fuzz_api: BROKEN: %s\n", text);
    print_all();
    while (getenv("FUZZ_API_STAY") != NULL)
        pause(); /* for a debugger */
    _exit(1);
}

clo_status expect_one(clo_status status, const char *names, const clo_status *list, size_t count, const char *where)
{
    size_t i = 0;

    while (i < count && list[i] != status)
        i++;
    if (i == count)
        broken("%s: status %d (%s), not among %s", where, (int)status, clo_last_error(), names);
    if (status != CLO_OK && clo_last_error()[0] == '\0')
        broken("%s: status %d without a line of text", where, (int)status);
    return status;
}

/* The call that a thread is in; NULL: in none. `age`: ticks since it began. */
static const char *call_of(uint32_t i, uint64_t now, uint64_t *age)
{
    uint64_t number = atomic_load_explicit(&lines[i].number, memory_order_relaxed);
    const log_entry *entry = &lines[i].last[(number - 1) % LAST];

    if (number == 0 || atomic_load_explicit(&entry->has_ended, memory_order_relaxed))
        return NULL;
    *age = now - atomic_load_explicit(&lines[i].tick, memory_order_relaxed);
    return atomic_load_explicit(&entry->what, memory_order_relaxed);
}

/* The oldest call of all threads. */
static uint32_t oldest_call(uint64_t now, const char **what, uint64_t *ticks_old)
{
    uint32_t found = 0;

    *what = NULL;
    *ticks_old = 0;
    for (uint32_t i = 0; i <= THREADS_MAX; i++) {
        uint64_t age;
        const char *call = call_of(i, now, &age);
        if (call == NULL || age <= *ticks_old)
            continue;
        *what = call;
        *ticks_old = age;
        found = i;
    }
    return found;
}

/* Ticks in which a thread of ours only waited for a CPU; asked for while a call is old, as it opens files. */
static uint64_t hungry_ticks(bool is_old)
{
    static uint64_t left_ns;
    static bool was_old;

    left_ns = is_old && was_old ? left_ns + hunger_ns() : 0;
    if (is_old && !was_old)
        (void)hunger_ns();
    was_old = is_old;
    uint64_t count = left_ns / TICK_NS;
    left_ns %= TICK_NS;
    return count;
}

/* Counts ticks instead of reading a clock, so that time for which the process is stopped does not count, nor does that
 * for which other programs keep a thread of ours from running. */
static void *watch_main(void *unused)
{
    const struct timespec tick = {0, TICK_NS};
    uint64_t hungry = 0; /* since a call is old */

    while (!atomic_load_explicit(&is_stopping, memory_order_relaxed)) {
        (void)nanosleep(&tick, NULL);
        uint64_t now = 1 + atomic_fetch_add_explicit(&ticks, 1, memory_order_relaxed), age;
        const char *what;
        uint32_t index = oldest_call(now, &what, &age);
        bool is_old = age > (uint64_t)hang_seconds * TICKS_A_SECOND / 4;
        hungry = is_old ? hungry + hungry_ticks(true) : hungry_ticks(false);
        if (is_old && age > (uint64_t)hang_seconds * TICKS_A_SECOND + hungry)
            broken("thread %u has been in '%s' for %u s", index, what, hang_seconds);
    }
    return unused;
}

static void die(int number)
{
    broken("signal %d", number);
}

void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

void log_start(uint64_t seed)
{
    sigset_t all, before;

    the_seed = seed;
    if (CLO_TSAN) {
        printf("seed %llu\n",
               (unsigned long long)seed); /* its library would wait for itself if we were called at the end */
    } else {
        if (__sanitizer_set_death_callback != NULL)
            __sanitizer_set_death_callback(print_at_death);
        for (size_t i = __sanitizer_set_death_callback != NULL ? 3 : 0; i < 4; i++)
            (void)signal((const int[]){SIGSEGV, SIGBUS, SIGFPE, SIGABRT}[i], die);
    }
    sigfillset(&all); /* storms of signals are not for this thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    atomic_store(&is_stopping, false);
    if (pthread_create(&watch, NULL, watch_main, NULL) != 0)
        broken("no thread for the watch over hangs");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void log_stop(void)
{
    atomic_store(&is_stopping, true);
    pthread_join(watch, NULL);
}
