/* signals.c - names the task in whose body a fatal signal arose, then lets the signal take its course.
 *
 * Signal handlers are the process's, so this is the one place with state of its own: the runtimes that asked, and the
 * handlers that were there before. The handler calls nothing but what POSIX lists as safe in one, and syscall().
 *
 * The host must not feel it. Our handler is installed with the flags and the mask of the earlier one and calls it with
 * the same siginfo and context. Without an earlier handler the signal is sent to this thread again, with the same
 * siginfo, under the earlier action. A handler that the host installs after ours stays when the last runtime ends. It
 * may have kept ours as the one to call next, so the next runtime must put another function on top: one and the same
 * would call itself. Hence the layers. */
#define _GNU_SOURCE
#include "run/system/signals.h"

#include "base/status.h"
#include "base/text.h"
#include "run/state/job.h"
#include "run/state/runtime.h"
#include "run/state/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RUNTIMES_MAX 16
#define LAYERS 4 /* one is used up each time that the host's later handler stays */

static const int watched[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
#define WATCHED (sizeof watched / sizeof watched[0])
static const char *const names[WATCHED] = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT"};

static clo_runtime *_Atomic runtimes[RUNTIMES_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users;

/* Our handler for one signal in one layer. Written under the lock while the handler is not installed. */
typedef struct layer {
    struct sigaction before;
    bool is_used;          /* installed, or perhaps kept by a handler of the host */
    _Atomic bool is_spent; /* the earlier handler had SA_RESETHAND and was called */
} layer;

static layer layers[LAYERS][WATCHED];
static _Atomic int active[WATCHED]; /* the layer that names tasks, LAYERS: none */

typedef struct line {
    char text[256];
    size_t used;
} line;

static void add(line *l, const char *text)
{
    while (*text != '\0' && l->used + CLO_VISIBLE_BYTES <= sizeof l->text)
        l->used += clo_visible(&text, l->text + l->used);
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
    uint32_t task = (uint32_t)current;
    const char *name = clo_graph_name_of(graph, task);
    add(&l, "clotho: ");
    add(&l, signal_name);
    add(&l, " in task '");
    if (name != NULL)
        add(&l, name);
    else
        add(&l, "t"), add_number(&l, task);
    add(&l, "' on worker ");
    add_number(&l, worker);
    l.text[l.used < sizeof l.text ? l.used++ : l.used - 1] = '\n';
    ssize_t written = write(STDERR_FILENO, l.text, l.used);
    (void)written;
}

/* By this thread: its own, or one that has borrowed it (help.c). */
static bool is_driven_here(const clo_worker *worker)
{
    if (atomic_load_explicit(&worker->help.is_helped, memory_order_relaxed) != 0 &&
        pthread_equal(pthread_self(), worker->help.thread))
        return true;
    return pthread_equal(pthread_self(), worker->system.thread);
}

static void name_tasks(size_t which)
{
    for (int r = 0; r < RUNTIMES_MAX; r++) {
        const clo_runtime *runtime = atomic_load_explicit(&runtimes[r], memory_order_acquire);
        for (uint32_t w = 0; runtime != NULL && w < runtime->workers_count; w++)
            if (is_driven_here(&runtime->workers[w]))
                name_task(runtime, w, names[which]);
    }
}

/* The default, or nothing for an ignored signal, as if we had not been there. A fault cannot be ignored: the system
 * then takes the default too. */
static void take_default(int number, const siginfo_t *info, bool is_ignored)
{
    static const struct sigaction by_default = {.sa_handler = SIG_DFL};

    if (is_ignored && info->si_code <= 0) /* sent by a process */
        return;
    sigaction(number, &by_default, NULL);
    /* delivered when the handler returns */
    syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), number, info);
}

static void handle(int depth, int number, siginfo_t *info, void *context)
{
    int kept = errno;
    size_t which = 0;

    while (which + 1 < WATCHED && watched[which] != number)
        which++;
    layer *mine = &layers[depth][which];
    if (atomic_load_explicit(&active[which], memory_order_relaxed) == depth)
        name_tasks(which);
    errno = kept;

    const struct sigaction *before = &mine->before;
    bool is_function =
        (before->sa_flags & SA_SIGINFO) != 0 || (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN);
    if (is_function && (before->sa_flags & (int)SA_RESETHAND) != 0)
        is_function = !atomic_exchange_explicit(&mine->is_spent, true, memory_order_relaxed);
    if (!is_function)
        take_default(number, info, before->sa_handler == SIG_IGN);
    else if (before->sa_flags & SA_SIGINFO)
        before->sa_sigaction(number, info, context);
    else
        before->sa_handler(number);
}

static void handle_0(int number, siginfo_t *info, void *context)
{
    handle(0, number, info, context);
}

static void handle_1(int number, siginfo_t *info, void *context)
{
    handle(1, number, info, context);
}

static void handle_2(int number, siginfo_t *info, void *context)
{
    handle(2, number, info, context);
}

static void handle_3(int number, siginfo_t *info, void *context)
{
    handle(3, number, info, context);
}

static void (*const handlers[LAYERS])(int, siginfo_t *, void *) = {handle_0, handle_1, handle_2, handle_3};

/* The layer whose handler `action` is; LAYERS: it is the host's. */
static int layer_of(const struct sigaction *action)
{
    int depth = 0;

    if ((action->sa_flags & SA_SIGINFO) == 0)
        return LAYERS;
    while (depth < LAYERS && action->sa_sigaction != handlers[depth])
        depth++;
    return depth;
}

/* Puts our handler on top of what is there. With all layers used up nothing is named: the host's handlers come
 * first. */
static void install(size_t which)
{
    struct sigaction now, mine = {.sa_flags = SA_ONSTACK};
    int depth = 0;

    sigaction(watched[which], NULL, &now);
    if (layer_of(&now) < LAYERS) { /* the host has put an old one of ours back */
        atomic_store_explicit(&active[which], layer_of(&now), memory_order_relaxed);
        return;
    }
    while (depth < LAYERS && layers[depth][which].is_used)
        depth++;
    atomic_store_explicit(&active[which], depth, memory_order_relaxed);
    if (depth == LAYERS)
        return;
    layer *free_layer = &layers[depth][which];
    free_layer->before = now;
    free_layer->is_used = true;
    atomic_store_explicit(&free_layer->is_spent, false, memory_order_relaxed);
    if ((now.sa_flags & SA_SIGINFO) != 0 || (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN)) {
        mine.sa_flags = now.sa_flags & ~(int)SA_RESETHAND;
        mine.sa_mask = now.sa_mask;
    }
    mine.sa_flags |= SA_SIGINFO;
    mine.sa_sigaction = handlers[depth];
    sigaction(watched[which], &mine, NULL);
}

/* Gives the signal back; a handler that the host has installed since then stays. */
static void uninstall(size_t which)
{
    struct sigaction now;
    int depth = atomic_exchange_explicit(&active[which], LAYERS, memory_order_relaxed);

    sigaction(watched[which], NULL, &now);
    if (depth == LAYERS || layer_of(&now) != depth)
        return;
    layer *mine = &layers[depth][which];
    if (atomic_load_explicit(&mine->is_spent, memory_order_relaxed))
        mine->before = (struct sigaction){.sa_handler = SIG_DFL};
    sigaction(watched[which], &mine->before, NULL);
    mine->is_used = false;
}

clo_status clo_signals_begin(clo_runtime *runtime)
{
    int slot = 0;

    pthread_mutex_lock(&lock);
    while (slot < RUNTIMES_MAX && atomic_load_explicit(&runtimes[slot], memory_order_relaxed) != NULL)
        slot++;
    if (slot < RUNTIMES_MAX) {
        atomic_store_explicit(&runtimes[slot], runtime, memory_order_release);
        for (size_t s = 0; s < WATCHED && users == 0; s++)
            install(s);
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
            uninstall(s);
    }
    pthread_mutex_unlock(&lock);
}
