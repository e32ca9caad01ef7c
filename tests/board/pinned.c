/* pinned.c - one body for each executor of this machine, all at once, each on the CPU of its executor and on no other, by
 * a plan and by work stealing.
 *
 * usage: pinned [PRIORITY]    with a priority: as SCHED_FIFO
 *
 * Each body waits until all have begun, so no worker can run two of them. Prints a line for each run; exit status 1
 * where a body was elsewhere, where its thread could have been, or where it had another priority. */
#define _GNU_SOURCE
#include <clotho/clotho.h>

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WORK_NS 1000000

typedef struct seen {
    uint32_t executor;
    int cpu;      /* where the body ran */
    int allowed;  /* on how many its thread may run */
    int priority; /* of SCHED_FIFO; 0: not that */
} seen;

static struct {
    atomic_uint begun;
    uint32_t count;
    seen *seen;
} all;

static int meet(const clo_call *call)
{
    static const struct timespec pause = {.tv_nsec = 1000000};
    struct sched_param parameter = {0};
    cpu_set_t set;

    atomic_fetch_add(&all.begun, 1);
    while (atomic_load(&all.begun) < all.count) /* ends: each executor has a worker, which runs one of these */
        nanosleep(&pause, NULL);
    if (sched_getaffinity(0, sizeof set, &set) != 0 || sched_getparam(0, &parameter) != 0)
        return 1;
    all.seen[call->task] = (seen){call->executor, sched_getcpu(), CPU_COUNT(&set),
                                  sched_getscheduler(0) == SCHED_FIFO ? parameter.sched_priority : 0};
    return 0;
}

static clo_status build(uint32_t count, clo_graph **graph)
{
    const clo_task task = {.body = meet, .work_ns = WORK_NS};
    clo_status status = clo_graph_create("meeting", graph);

    for (uint32_t i = 0; i < count && status == CLO_OK; i++)
        status = clo_graph_add_task(*graph, &task, NULL);
    return status == CLO_OK ? clo_graph_seal(*graph) : status;
}

/* Task e on executor e, for as long as its cost says. */
static clo_status plan_of(const clo_cost *cost, uint32_t count, clo_plan **plan)
{
    clo_placement *placements = calloc(count, sizeof *placements);
    clo_status status = CLO_ERR_MEMORY;

    for (uint32_t e = 0; placements != NULL && e < count; e++)
        placements[e] = (clo_placement){.task = e, .executor = e, .finish_ns = clo_cost_execution_ns(cost, e, e)};
    if (placements != NULL)
        status = clo_plan_from_placements(cost, NULL, placements, count, plan);
    free(placements);
    return status;
}

static clo_status execute(clo_runtime *runtime, const clo_cost *cost, const clo_plan *plan)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_job *job = NULL;

    config.plan = plan;
    atomic_store(&all.begun, 0);
    clo_status status = clo_job_create(runtime, cost, &config, &job);
    if (status == CLO_OK)
        status = clo_job_submit(job);
    if (status == CLO_OK)
        status = clo_job_wait(job, &result);
    clo_job_destroy(job);
    return status;
}

/* Each executor once, on its own CPU. */
static int judge(const char *how, const clo_platform *platform, int priority)
{
    int wrong = 0;

    printf("%s:", how);
    for (uint32_t task = 0; task < all.count; task++) {
        const seen *s = &all.seen[task];
        int own = clo_platform_executor(platform, s->executor)->os_index;
        printf(" %u on cpu%d", s->executor, s->cpu);
        if (s->cpu != own || s->allowed != 1)
            wrong += printf(" (its own is cpu%d, and it may run on %d)", own, s->allowed) > 0;
        if (s->priority != priority)
            wrong += printf(" (with priority %d)", s->priority) > 0;
        for (uint32_t before = 0; before < task; before++)
            wrong += all.seen[before].executor == s->executor;
    }
    printf("\n");
    return wrong;
}

int main(int count, char **words)
{
    clo_platform *platform = NULL;
    clo_graph *graph = NULL;
    clo_cost *cost = NULL;
    clo_plan *plan = NULL;
    clo_runtime *runtime = NULL;
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    int wrong = 1;

    config.fifo_priority = count > 1 ? atoi(words[1]) : 0;
    config.help = -1; /* the waiting thread is pinned to nothing */
    if (clo_platform_native(&platform) == CLO_OK)
        all.count = clo_platform_executors(platform);
    all.seen = calloc(all.count + 1, sizeof *all.seen);
    if (all.count == 0 || all.seen == NULL || build(all.count, &graph) || clo_cost_create(graph, platform, &cost) ||
        plan_of(cost, all.count, &plan) || clo_runtime_create(platform, &config, &runtime)) {
        fprintf(stderr, "pinned: %s\n", clo_last_error());
    } else if (execute(runtime, cost, plan) == CLO_OK) {
        wrong = judge("plan", platform, config.fifo_priority);
        if (execute(runtime, cost, NULL) == CLO_OK)
            wrong += judge("steal", platform, config.fifo_priority);
        else
            wrong++, fprintf(stderr, "pinned: %s\n", clo_last_error());
    }
    clo_runtime_destroy(runtime);
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    clo_platform_destroy(platform);
    free(all.seen);
    return wrong == 0 ? 0 : 1;
}
