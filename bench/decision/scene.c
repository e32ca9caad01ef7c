/* decision/scene.c - see scene.h. */
#include "decision/scene.h"

#include "common/bench.h"
#include "common/platform.h"

#include "base/arena.h"
#include "engine/scheduler/scheduler.h"

#include <stdlib.h>

enum {
    PARKED = SCENE_WORKERS, /* the executor that never gets free */
    EXECUTORS,
    DEPTH = 4, /* stages in a row */
    INSTANCES = 32,
    SPARE_ENTRIES = 64, /* in queues, for policies that commit */
    WORK_NS = 1000000,
    CLOCK_READS = 1001
};

#define PARKED_NS INT64_C(1000000000000000)

struct scene {
    scene_config config;
    clo_platform *platform;
    clo_graph *graphs[2]; /* of a job with candidates; of one that waits, and of the one that parks the executor */
    clo_cost *costs[2];
    clo_arena arena;
    clo_scheduler *scheduler;
    clo_policy_use use;
    void *state;
    clo_scheduler_job **jobs; /* [jobs_count] */
    uint32_t jobs_count;
    int64_t now_ns, start_ns[EXECUTORS], end_ns[EXECUTORS]; /* CLO_TIME_NEVER: idle, or parked */
    clo_order orders[EXECUTORS];
};

/* Sends everything to the executor that never gets free. */
static bool park_decide(void *state, const clo_view *view, clo_choice *choice)
{
    clo_ready_stage ready = clo_view_first_ready(view);

    (void)state;
    choice->job = ready.job;
    choice->stage = ready.stage;
    choice->executor = PARKED;
    return ready.job != CLO_NONE;
}

static const clo_policy park = {.size = sizeof(clo_policy), .name = "park", .commits = 1, .decide = park_decide};

static uint32_t jobs_with_candidates(const scene_config *config)
{
    return config->candidates < config->jobs ? config->candidates : config->jobs;
}

/* `lanes` chains side by side. */
static bool add_lanes(clo_graph *graph, uint32_t lanes, uint64_t seed)
{
    clo_status status = CLO_OK;
    uint32_t last = 0, task;

    for (uint32_t i = 0; i < lanes * DEPTH && status == CLO_OK; i++, last = task) {
        clo_task row = {.work_ns = WORK_NS + bench_random_below(&seed, WORK_NS), .instances = INSTANCES};
        status = clo_graph_add_task(graph, &row, &task);
        if (status == CLO_OK && i % DEPTH > 0)
            status = clo_graph_add_edge(graph, last, task, 0);
    }
    return status == CLO_OK;
}

static bool make_costs(scene *s)
{
    uint32_t holders = jobs_with_candidates(&s->config), lanes = (s->config.candidates + holders - 1) / holders;
    const clo_task parked = {.work_ns = PARKED_NS};

    if (clo_platform_open("uniform:17", &s->platform) != CLO_OK)
        return false;
    for (int g = 0; g < 2; g++) {
        if (clo_graph_create(g == 0 ? "candidates" : "parked", &s->graphs[g]) != CLO_OK)
            return false;
        bool is_filled = g == 0 ? add_lanes(s->graphs[g], lanes, s->config.seed)
                                : clo_graph_add_task(s->graphs[g], &parked, NULL) == CLO_OK;
        if (!is_filled || clo_graph_seal(s->graphs[g]) != CLO_OK ||
            clo_cost_create(s->graphs[g], s->platform, &s->costs[g]) != CLO_OK)
            return false;
    }
    return true;
}

/* What an order says begins now. */
static void begin(scene *s, const clo_order *order)
{
    uint32_t e = order->executor;

    s->start_ns[e] = s->now_ns;
    s->end_ns[e] = e == PARKED ? CLO_TIME_NEVER : s->now_ns + clo_cost_time(order->job->live.cost, order->stage, e);
}

static uint32_t take_orders(scene *s)
{
    uint32_t count = 0;

    while (count < EXECUTORS && clo_scheduler_next(s->scheduler, &s->orders[count]))
        count++;
    return count;
}

static bool arrive(scene *s, clo_scheduler_job *job)
{
    if (clo_scheduler_arrive(s->scheduler, job, s->now_ns) != CLO_OK)
        return false;
    clo_scheduler_go_on_to_end(s->scheduler); /* all stages are candidates */
    for (uint32_t i = 0, count = take_orders(s); i < count; i++)
        begin(s, &s->orders[i]);
    return true;
}

static clo_scheduler_job *make_job(scene *s, const clo_cost *cost, const clo_policy_use *use)
{
    const clo_scheduler_job_config config = {.deadline_ns = CLO_TIME_NEVER, .weight = 1, .limit = CLO_NONE};
    clo_scheduler_job *job = NULL;

    if (clo_scheduler_job_create(cost, &config, use, &s->arena, &job) != CLO_OK)
        return NULL;
    s->jobs[s->jobs_count++] = job;
    return job;
}

/* The jobs that wait: one occupies the parked executor, the others stand in its queue. */
static bool park_jobs(scene *s)
{
    const clo_policy_use use = {.policy = &park};
    uint32_t parked = s->config.jobs - jobs_with_candidates(&s->config) + 1;

    for (uint32_t j = 0; j < parked; j++) {
        clo_scheduler_job *job = make_job(s, s->costs[1], &use);
        if (job == NULL || clo_scheduler_job_prepare(job, &s->use, 1, &s->arena) != CLO_OK || !arrive(s, job))
            return false;
    }
    return true;
}

static bool make_scheduler(scene *s)
{
    const clo_policy *policy = s->config.policy;
    const clo_scheduler_config config = {.platform = s->platform,
                                         .policy = &park,
                                         .jobs_max = s->config.jobs + 1,
                                         .queue_max = s->config.jobs + SPARE_ENTRIES};
    const clo_limits limits = {.jobs = config.jobs_max, .platform = s->platform, .executors = EXECUTORS};

    s->use = (clo_policy_use){.policy = policy, .argument = s->config.argument};
    s->use.bytes = policy->state_bytes != NULL ? policy->state_bytes(&limits, s->config.argument) : 0;
    s->use.state = clo_arena_take(&s->arena, s->use.bytes, 1);
    s->state = s->use.state;
    s->jobs = clo_arena_take(&s->arena, config.jobs_max, sizeof *s->jobs);
    return s->use.state != NULL && s->jobs != NULL && clo_scheduler_create(&config, &s->arena, &s->scheduler) == CLO_OK;
}

static bool add_candidates(scene *s)
{
    const clo_policy_use mine = s->use;

    if (clo_scheduler_swap(s->scheduler, &s->use, 1, 0) != CLO_OK)
        return false;
    clo_scheduler_go_on_to_end(s->scheduler); /* else the rule would decide */
    for (uint32_t j = 0; j < jobs_with_candidates(&s->config); j++) {
        clo_scheduler_job *job = make_job(s, s->costs[0], &mine);
        if (job == NULL)
            return false;
        job->version = 1; /* made for the policy that came with the swap */
        if (!arrive(s, job))
            return false;
    }
    return true;
}

scene *scene_open(const scene_config *config)
{
    scene *s = calloc(1, sizeof *s);

    if (s == NULL)
        return NULL;
    s->config = *config;
    for (uint32_t e = 0; e < EXECUTORS; e++)
        s->end_ns[e] = CLO_TIME_NEVER;
    clo_arena_open(&s->arena, NULL, 0);
    if (make_costs(s) && make_scheduler(s) && park_jobs(s) && add_candidates(s))
        return s;
    bench_fail("cannot make a scheduler");
    scene_close(s);
    return NULL;
}

void *scene_state(scene *s)
{
    return s->state;
}

void scene_close(scene *s)
{
    if (s == NULL)
        return;
    clo_arena_close(&s->arena);
    for (int g = 0; g < 2; g++) {
        clo_cost_destroy(s->costs[g]);
        clo_graph_destroy(s->graphs[g]);
    }
    clo_platform_destroy(s->platform);
    free(s);
}

/* Whose body ends next; CLO_NONE: nobody's. */
static uint32_t next_end(const scene *s)
{
    uint32_t first = 0;

    for (uint32_t e = 1; e < EXECUTORS; e++)
        first = s->end_ns[e] < s->end_ns[first] ? e : first;
    return s->end_ns[first] != CLO_TIME_NEVER ? first : CLO_NONE;
}

static bool return_ended(scene *s)
{
    clo_scheduler_job *job;

    while ((job = clo_scheduler_ended(s->scheduler)) != NULL) {
        clo_scheduler_job_arm(job);
        if (!arrive(s, job))
            return false;
    }
    return true;
}

bool scene_measure(scene *s, double *values, uint32_t count, void (*evict)(void))
{
    double clock_ns = scene_clock_ns();

    for (uint32_t done = 0; done < count;) {
        uint32_t executor = next_end(s);
        if (executor == CLO_NONE)
            return false;
        s->now_ns = s->end_ns[executor];
        s->end_ns[executor] = CLO_TIME_NEVER;
        if (evict != NULL)
            evict();

        int64_t before_ns = bench_now_ns();
        clo_scheduler_finish(s->scheduler, executor, s->start_ns[executor], s->now_ns);
        uint32_t started = take_orders(s);
        double turn_ns = (double)(bench_now_ns() - before_ns) - clock_ns;

        for (uint32_t i = 0; i < started; i++)
            begin(s, &s->orders[i]);
        if (started > 0)
            values[done++] = turn_ns > 0 ? turn_ns / started : 0;
        if (!return_ended(s))
            return false;
    }
    return true;
}

double scene_clock_ns(void)
{
    static double found_ns;
    double values[CLOCK_READS];

    if (found_ns > 0)
        return found_ns;
    for (uint32_t i = 0; i < CLOCK_READS; i++) {
        int64_t before_ns = bench_now_ns();
        values[i] = (double)(bench_now_ns() - before_ns);
    }
    return found_ns = bench_summarise(values, CLOCK_READS).median;
}
