/* peer_starpu.c - StarPU: prebuilt tasks with declared dependences, submitted again for every run.
 *
 * Its workers poll for as long as it is up, so each sample starts and stops it (not timed). It keeps measurements of
 * the machine in files, here in a temporary directory of its own that goes with the sample. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "common/temporary.h"
#include "peers/peer_tables.h"

#ifdef CLO_BENCH_STARPU
#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct starpu starpu;

/* What a body gets: StarPU hands over one pointer. */
typedef struct call {
    starpu *owner;
    uint32_t task;
} call;

struct starpu {
    bench_graph *graph;
    struct starpu_codelet codelet;
    struct starpu_task *tasks; /* [graph->tasks]; NULL before build */
    call *calls;
    char temporary[TEMPORARY_MAX]; /* empty: the user has set one */
};

static void run_body(void *buffers[], void *argument)
{
    const call *c = argument;

    (void)buffers;
    c->owner->graph->body(c->owner->graph, c->task);
}

static void remove_temporary(const starpu *s)
{
    if (s->temporary[0] == '\0')
        return;
    unsetenv("STARPU_HOME");
    temporary_remove(s->temporary);
}

static bool make_temporary(starpu *s)
{
    return getenv("STARPU_HOME") != NULL ||
           (temporary_make(s->temporary) && setenv("STARPU_HOME", s->temporary, 1) == 0);
}

static bool start(uint32_t workers, const char *policy)
{
    struct starpu_conf conf;

    setenv("STARPU_SILENT", "1", 1);
    if (starpu_conf_init(&conf) != 0)
        return false;
    conf.ncpus = (int)workers;
    conf.ncuda = 0;
    conf.nopencl = 0;
    conf.sched_policy_name = policy;
    return starpu_init(&conf) == 0;
}

static void *open_with(bench_graph *graph, uint32_t workers, const char *policy)
{
    starpu *s = calloc(1, sizeof *s);

    if (s == NULL)
        return NULL;
    s->graph = graph;
    if (make_temporary(s) && start(workers, policy)) {
        starpu_codelet_init(&s->codelet);
        s->codelet.where = STARPU_CPU;
        s->codelet.cpu_funcs[0] = run_body;
        return s;
    }
    fprintf(stderr, "bench: StarPU does not start\n");
    remove_temporary(s);
    free(s);
    return NULL;
}

static void *open_eager(bench_graph *graph, uint32_t workers)
{
    return open_with(graph, workers, "eager");
}

static void *open_stealing(bench_graph *graph, uint32_t workers)
{
    return open_with(graph, workers, "lws");
}

/* Into `before`, room for as many as any task has. */
static void declare(starpu *s, uint32_t task, struct starpu_task **before)
{
    const bench_graph *g = s->graph;
    uint32_t first = g->pred_first[task], count = g->pred_first[task + 1] - first;

    for (uint32_t i = 0; i < count; i++)
        before[i] = &s->tasks[g->pred[first + i]];
    if (count > 0)
        starpu_task_declare_deps_array(&s->tasks[task], count, before);
}

static bool build(void *state)
{
    starpu *s = state;
    uint32_t tasks = s->graph->tasks;
    struct starpu_task **before = calloc(s->graph->edges + (size_t)1, sizeof *before);

    s->calls = calloc(tasks, sizeof *s->calls);
    s->tasks = before != NULL && s->calls != NULL ? calloc(tasks, sizeof *s->tasks) : NULL;
    for (uint32_t t = 0; t < tasks && s->tasks != NULL; t++) {
        s->calls[t] = (call){s, t};
        starpu_task_init(&s->tasks[t]);
        s->tasks[t].cl = &s->codelet;
        s->tasks[t].cl_arg = &s->calls[t];
        s->tasks[t].destroy = 0;
    }
    for (uint32_t t = 0; t < tasks && s->tasks != NULL; t++)
        declare(s, t, before);
    free(before);
    return s->tasks != NULL;
}

static bool run(void *state)
{
    starpu *s = state;

    for (uint32_t t = 0; t < s->graph->tasks; t++)
        if (starpu_task_submit(&s->tasks[t]) != 0)
            return false;
    return starpu_task_wait_for_all() == 0;
}

static void drop(void *state)
{
    starpu *s = state;

    for (uint32_t t = 0; t < s->graph->tasks && s->tasks != NULL; t++)
        starpu_task_clean(&s->tasks[t]);
    free(s->tasks);
    free(s->calls);
    s->tasks = NULL;
    s->calls = NULL;
}

static void close_all(void *state)
{
    starpu *s = state;

    drop(s);
    starpu_shutdown();
    remove_temporary(s);
    free(s);
}

const peer peers_starpu[] = {{"StarPU eager", 0, true, open_eager, build, NULL, run, close_all, drop},
                             {"StarPU lws", 0, true, open_stealing, build, NULL, run, close_all, drop},
                             {0}};
#else
const peer peers_starpu[] = {{0}};
#endif
