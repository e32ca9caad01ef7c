/* streams.c - see streams.h. */
#define _DEFAULT_SOURCE /* madvise */
#include "packing/streams.h"

#include "common/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A word is read and written; of one far from the others, its cache line. */
#define BYTES_A_WORD 16u
#define BYTES_A_LINE 128u
/* Buffers in huge pages where the system gives them: else the page tables are what limits scattered updates. */
#define PAGE_BYTES ((size_t)2 << 20)

#define TRIED_STEPS (UINT64_C(1) << 20)

static void update(uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        words[i] += 0x9e3779b97f4a7c15u;
}

/* The next `words` of the lane, from its begin again after its end. */
static void go_over(lane *at, size_t words, size_t of)
{
    while (words > 0) {
        size_t part = of - at->cursor < words ? of - at->cursor : words;
        update(at->words + at->cursor, part);
        at->cursor = at->cursor + part == of ? 0 : at->cursor + part;
        words -= part;
    }
}

/* As many words at random. */
static void scatter(lane *at, size_t words, size_t of)
{
    uint64_t random = at->random;

    for (size_t i = 0; i < words; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        at->words[(random & UINT32_MAX) * of >> 32] += i;
    }
    at->random = random;
}

static void stream(const lanes *l, lane *at, size_t words)
{
    if (l->is_scattered)
        scatter(at, words, l->words);
    else
        go_over(at, words, l->words);
}

static uint64_t compute(uint64_t steps, uint64_t value)
{
    for (uint64_t i = 0; i < steps; i++)
        value = (value ^ (value >> 29)) * 0xbf58476d1ce4e5b9u;
    return value;
}

static int stream_body(const clo_call *call)
{
    lanes *l = call->argument;
    lane *mine = &l->lane[call->executor];
    int64_t begin_ns = bench_cpu_now_ns();

    stream(l, mine, l->task_words);
    mine->time_ns += bench_cpu_now_ns() - begin_ns;
    mine->bytes += (uint64_t)l->task_words * (l->is_scattered ? BYTES_A_LINE : BYTES_A_WORD);
    return 0;
}

static int compute_body(const clo_call *call)
{
    lanes *l = call->argument;

    l->sink = compute(l->task_steps, call->executor + 1);
    return 0;
}

static clo_task task_of(lanes *l, task_kind kind)
{
    clo_task task = {.name = kind < COMPUTE ? "stream" : "compute", .argument = l, .work_ns = 2000000};

    task.body = kind < COMPUTE ? stream_body : compute_body;
    task.demand[0] = kind == STREAM_DEMANDED ? DEMAND : 0;
    task.executors_mask = kind == STREAM_FIRST ? 1 : kind == COMPUTE_SECOND ? 2 : 0;
    return task;
}

/* The first two CPUs of this machine, which share a bandwidth. */
static clo_platform *make_platform(void)
{
    clo_platform *plain = bench_platform(WORKERS), *made = NULL;
    int64_t capacities[CLO_RESOURCES_MAX] = {CAPACITY};
    const char *names[CLO_RESOURCES_MAX] = {"bandwidth"};
    clo_executor executors[WORKERS];

    if (plain == NULL)
        return NULL;
    for (int r = 1; r < CLO_RESOURCES_MAX; r++)
        capacities[r] = -1;
    for (uint32_t e = 0; e < WORKERS; e++)
        executors[e] = *clo_platform_executor(plain, e);
    const clo_platform_desc desc = {.size = sizeof desc,
                                    .name = "bench",
                                    .executors_count = WORKERS,
                                    .executors = executors,
                                    .kinds_count = 1,
                                    .capacities = capacities,
                                    .resource_names = names,
                                    .coherent = 1};
    if (clo_platform_create(&desc, &made) != CLO_OK)
        bench_fail("cannot make a platform");
    clo_platform_destroy(plain);
    return made;
}

static clo_status make_jobs(lanes *l, task_kind kind)
{
    const clo_task task = task_of(l, kind);
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_status status = clo_graph_create(task.name, &l->graphs[kind]);

    config.policy = clo_policy_find("tetris");
    if (status == CLO_OK)
        status = clo_graph_add_task(l->graphs[kind], &task, NULL);
    if (status == CLO_OK)
        status = clo_graph_seal(l->graphs[kind]);
    if (status == CLO_OK)
        status = clo_cost_create(l->graphs[kind], l->platform, &l->costs[kind]);
    for (uint32_t i = 0; i < l->tasks && status == CLO_OK; i++)
        status = clo_job_create(l->runtime, l->costs[kind], &config, &l->jobs[kind][i]);
    return status;
}

bool lanes_open(lanes *l, uint32_t tasks, int32_t fifo_priority)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;

    *l = (lanes){.tasks = tasks, .platform = make_platform()};
    if (l->platform == NULL)
        return false;
    config.jobs_max = TASK_KINDS * TASKS_MAX;
    config.fifo_priority = fifo_priority;
    if (clo_runtime_create(l->platform, &config, &l->runtime) != CLO_OK)
        return bench_fail("cannot start the workers");
    for (int kind = 0; kind < TASK_KINDS; kind++)
        if (make_jobs(l, (task_kind)kind) != CLO_OK)
            return bench_fail("cannot prepare the jobs");
    return true;
}

void lanes_close(lanes *l)
{
    clo_runtime_destroy(l->runtime); /* with its jobs */
    for (int kind = 0; kind < TASK_KINDS; kind++) {
        clo_cost_destroy(l->costs[kind]);
        clo_graph_destroy(l->graphs[kind]);
    }
    clo_platform_destroy(l->platform);
    for (int i = 0; i < WORKERS; i++)
        free(l->lane[i].words);
}

static void clear(lanes *l)
{
    for (int i = 0; i < WORKERS; i++) {
        l->lane[i].bytes = 0;
        l->lane[i].time_ns = 0;
    }
}

/* How much of each takes `task_ns`; this thread works on the first lane. */
static void fit_tasks(lanes *l, int64_t task_ns)
{
    int64_t begin_ns, stream_ns, compute_ns;

    begin_ns = bench_cpu_now_ns();
    stream(l, &l->lane[0], l->words);
    stream_ns = bench_cpu_now_ns() - begin_ns;
    begin_ns = bench_cpu_now_ns();
    l->sink = compute(TRIED_STEPS, l->words);
    compute_ns = bench_cpu_now_ns() - begin_ns;
    l->task_words = (size_t)((double)l->words * (double)task_ns / (double)(stream_ns > 0 ? stream_ns : 1)) + 1;
    l->task_steps = (uint64_t)((double)TRIED_STEPS * (double)task_ns / (double)(compute_ns > 0 ? compute_ns : 1)) + 1;
}

bool lanes_size(lanes *l, size_t bytes, bool is_scattered, int64_t task_ns)
{
    size_t room = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;

    l->is_scattered = is_scattered;
    l->words = bytes / sizeof(uint64_t);
    for (int i = 0; i < WORKERS; i++) {
        free(l->lane[i].words);
        l->lane[i].cursor = 0;
        l->lane[i].random = 0x9e3779b97f4a7c15u + (uint64_t)i;
        l->lane[i].words = aligned_alloc(PAGE_BYTES, room);
        if (l->lane[i].words == NULL) {
            fprintf(stderr, "bench-packing: no memory for two buffers of %zu bytes\n", bytes);
            return false;
        }
        (void)madvise(l->lane[i].words, room, MADV_HUGEPAGE);
        memset(l->lane[i].words, 1, l->words * sizeof(uint64_t));
    }
    fit_tasks(l, task_ns);
    return true;
}

bool lanes_play(lanes *l, const task_kind *kinds, uint32_t count, played *out)
{
    uint32_t used[TASK_KINDS] = {0};
    clo_status status = CLO_OK;
    uint64_t bytes = 0;
    int64_t time_ns = 0;

    clear(l);
    int64_t begin_ns = bench_now_ns();
    for (uint32_t i = 0; i < count && status == CLO_OK; i++)
        status = clo_job_submit(l->jobs[kinds[i]][used[kinds[i]]++]);
    for (int kind = 0; kind < TASK_KINDS && status == CLO_OK; kind++)
        for (uint32_t i = 0; i < used[kind] && status == CLO_OK; i++)
            status = clo_job_wait(l->jobs[kind][i], NULL);
    if (status != CLO_OK)
        return bench_fail("a run failed");
    out->wall_ns = (double)(bench_now_ns() - begin_ns);
    for (int i = 0; i < WORKERS; i++) {
        bytes += l->lane[i].bytes;
        time_ns += l->lane[i].time_ns;
    }
    out->stream_gbs = time_ns > 0 ? (double)bytes / (double)time_ns : 0;
    out->achieved_gbs = out->wall_ns > 0 ? (double)bytes / out->wall_ns : 0;
    return true;
}
