/* signals.c - names the task in whose body a fatal signal arose, then lets the signal take its course.
 *
 * Signal handlers are the process's, so this is the one place with state of its own: the runtimes that asked, and the
 * handlers that were there before. The handler calls nothing but what POSIX lists as safe in one. */
#define _GNU_SOURCE
#include "base/status.h"
#include "run/run.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define RUNTIMES_MAX 16

static const int watched[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
#define WATCHED (sizeof watched / sizeof watched[0])
static const char *const names[WATCHED] = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT"};

static clo_runtime *_Atomic runtimes[RUNTIMES_MAX];
static struct sigaction before[WATCHED];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users;

typedef struct line {
    char text[256];
    size_t used;
} line;

static void add(line *l, const char *text)
{
    while (*text != '\0' && l->used < sizeof l->text)
        l->text[l->used++] = *text++;
}

static void add_number(line *l, uint32_t number)
{
    char digits[12];
    size_t at = sizeof digits - 1;

    digits[at] = '\0';
    do
        digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    add(l, &digits[at]);
}

static void name_task(const clo_runtime *runtime, uint32_t worker, const char *signal_name)
{
    uint64_t current = atomic_load_explicit(&runtime->workers[worker].current, memory_order_relaxed);
    const clo_job *job = current == CLO_ITEM_NONE ? NULL : runtime->jobs[current >> 32];
    line l = {.used = 0};

    if (job == NULL)
        return;
    const clo_graph *graph = clo_cost_graph(job->cost);
    uint32_t task = (uint32_t)current, name = graph->rows[task].name;
    add(&l, "clotho: ");
    add(&l, signal_name);
    add(&l, " in task '");
    if (name != CLO_NONE)
        add(&l, graph->names + name);
    else
        add(&l, "t"), add_number(&l, task);
    add(&l, "' on worker ");
    add_number(&l, worker);
    add(&l, "\n");
    ssize_t written = write(STDERR_FILENO, l.text, l.used);
    (void)written;
}

static void handle(int number)
{
    int kept = errno;
    size_t which = 0;

    while (which + 1 < WATCHED && watched[which] != number)
        which++;
    for (int r = 0; r < RUNTIMES_MAX; r++) {
        const clo_runtime *runtime = atomic_load_explicit(&runtimes[r], memory_order_acquire);
        for (uint32_t w = 0; runtime != NULL && w < runtime->workers_count; w++)
            if (pthread_equal(pthread_self(), runtime->workers[w].thread))
                name_task(runtime, w, names[which]);
    }
    /* The usual course: the earlier handler, or the default; delivered once this one returns. */
    sigaction(number, &before[which], NULL);
    errno = kept;
    raise(number);
}

clo_status clo_signals_begin(clo_runtime *runtime)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    int slot = 0;

    pthread_mutex_lock(&lock);
    while (slot < RUNTIMES_MAX && atomic_load_explicit(&runtimes[slot], memory_order_relaxed) != NULL)
        slot++;
    if (slot < RUNTIMES_MAX) {
        atomic_store_explicit(&runtimes[slot], runtime, memory_order_release);
        for (size_t s = 0; s < WATCHED && users == 0; s++)
            sigaction(watched[s], &action, &before[s]);
        users++;
    }
    pthread_mutex_unlock(&lock);
    return slot < RUNTIMES_MAX ? CLO_OK
                               : clo_fail(CLO_ERR_LIMIT, "name_signals is set in %d runtimes already", RUNTIMES_MAX);
}

void clo_signals_end(const clo_runtime *runtime)
{
    pthread_mutex_lock(&lock);
    for (int r = 0; r < RUNTIMES_MAX; r++) {
        if (atomic_load_explicit(&runtimes[r], memory_order_relaxed) != runtime)
            continue;
        atomic_store_explicit(&runtimes[r], NULL, memory_order_release);
        users--;
        for (size_t s = 0; s < WATCHED && users == 0; s++)
            sigaction(watched[s], &before[s], NULL);
    }
    pthread_mutex_unlock(&lock);
}
