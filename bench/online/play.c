/* play.c - plays a scene: all contenders with all seeds, on all CPUs, each seed on one thread. */
#include "online/online.h"

#include "online/job_order.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends of executions that a search of the best order looks at; a minute. */
#define ORDER_STEPS_MAX UINT64_C(400000000)

typedef struct play {
    const online *o;
    played *out;
    _Atomic uint32_t next;
    atomic_bool has_failed;
} play;

/* Fills the curve and the 95th percentile. */
static bool fill_curve(outcome *out, const clo_stream_outcome *jobs, uint32_t count)
{
    double *times = calloc(count > 0 ? count : 1, sizeof *times);
    uint32_t ended = 0;

    if (times == NULL)
        return bench_fail("no memory for completion times");
    for (uint32_t i = 0; i < count; i++)
        if (jobs[i].finish_ns != CLO_TIME_NEVER)
            times[ended++] = (double)(jobs[i].finish_ns - jobs[i].arrival_ns) * 1e-9;
    bench_sort(times, ended);
    for (uint32_t k = 0; k < CURVE_POINTS && ended > 0; k++)
        out->curve[k] = (float)times[(size_t)k * (ended - 1) / (CURVE_POINTS - 1)];
    out->jobs = ended;
    free(times);
    return ended == count || bench_fail("a job of a stream did not end");
}

/* A cost for each graph. */
typedef struct costs {
    const clo_graph **graphs;
    clo_cost **list;
    uint32_t count;
} costs;

static const clo_cost *cost_of(costs *c, const clo_graph *graph, const clo_platform *platform)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->graphs[i] == graph)
            return c->list[i];
    if (clo_cost_create(graph, platform, &c->list[c->count]) != CLO_OK)
        return NULL;
    c->graphs[c->count] = graph;
    return c->list[c->count++];
}

/* Judges the log, and takes the bound from the judge. */
static bool judge(const occasion *at, const clo_log *log, outcome *out)
{
    uint32_t jobs = clo_workload_jobs(at->workload);
    costs c = {calloc(jobs, sizeof *c.graphs), calloc(jobs, sizeof(clo_cost *)), 0};
    clo_stream_job *rows = calloc(jobs, sizeof *rows);
    clo_stream_case stream = CLO_STREAM_CASE_INIT;
    clo_stream_report report = CLO_STREAM_REPORT_INIT;
    bool is_good = c.graphs != NULL && c.list != NULL && rows != NULL;

    for (uint32_t i = 0; i < jobs && is_good; i++) {
        const clo_workload_job *job = clo_workload_get(at->workload, i);
        rows[i] = (clo_stream_job){.job = i,
                                   .cost = cost_of(&c, job->graph, at->platform),
                                   .arrival_ns = job->arrival_ns,
                                   .deadline_ns = job->deadline_ns,
                                   .weight = job->weight,
                                   .limit = job->limit,
                                   .band = job->band};
        is_good = rows[i].cost != NULL;
    }
    stream.platform = at->platform;
    stream.jobs = rows;
    stream.jobs_count = jobs;
    if (is_good)
        is_good = clo_stream_check(&stream, log, &report) == CLO_OK;
    if (!is_good)
        bench_fail("the stream checker");
    out->bound_s = report.mean_completion_bound_ns * 1e-9;
    for (uint32_t i = 0; i < c.count; i++)
        clo_cost_destroy(c.list[i]);
    free(c.graphs);
    free(c.list);
    free(rows);
    return is_good;
}

static bool simulate(const occasion *at, const contender *c, clo_environment *environment, clo_log *log, outcome *out)
{
    uint32_t jobs = clo_workload_jobs(at->workload);
    clo_stream_outcome *rows = calloc(jobs > 0 ? jobs : 1, sizeof *rows);
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_stream_result result = CLO_STREAM_RESULT_INIT;

    if (rows == NULL)
        return bench_fail("no memory for a stream");
    config.policy = c->policy;
    config.argument = c->argument;
    config.outcomes = rows;
    config.log = log;
    config.environment = environment;
    (void)owed_take();
    int64_t begin_ns = bench_now_ns();
    bool is_good = clo_stream_simulate(at->workload, at->platform, &config, &result) == CLO_OK || bench_fail(c->label);
    out->wall_ns = bench_now_ns() - begin_ns;
    out->owed = owed_take();
    if (out->owed.has_risen)
        is_good = bench_fail("a deficit of graphene is above its bound");
    out->by[MEASURE_JCT] = result.jct_mean_ns * 1e-9;
    out->by[MEASURE_WEIGHTED] = result.jct_weighted_ns * 1e-9;
    out->by[MEASURE_MAKESPAN] = (double)result.makespan_ns * 1e-9;
    out->by[MEASURE_TARDINESS] = result.tardiness_mean_ns * 1e-9;
    out->by[MEASURE_P95] = (double)result.jct_p95_ns * 1e-9;
    out->by[MEASURE_LATE] = jobs > 0 ? 100.0 * (double)result.jobs_late / jobs : 0;
    out->utilization = result.utilization;
    out->completions = result.completions;
    out->refused = result.refused;
    out->fallbacks = result.fallbacks;
    is_good = is_good && fill_curve(out, rows, jobs);
    free(rows);
    return is_good;
}

/* Searches the best order, and plays it: the result must be what the search says. */
static bool simulate_best(const occasion *at, const contender *c, clo_environment *environment, clo_log *log,
                          outcome *out)
{
    job_order order;
    contender best = *c;

    if (!job_order_search(at->workload, at->platform, ORDER_STEPS_MAX, &order))
        return false;
    best.argument = &order;
    out->order_s = order.least_s;
    if (!simulate(at, &best, environment, log, out))
        return false;
    return fabs(out->by[MEASURE_JCT] - order.mean_s) < 1e-6 ||
           bench_fail("the search of the best order and the simulator differ");
}

static bool open_log(const occasion *at, clo_log **log)
{
    clo_log_header header = CLO_LOG_HEADER_INIT;

    header.clock = CLO_CLOCK_VIRTUAL;
    header.environment = at->environment;
    return clo_log_create(&header, 0, log) == CLO_OK || bench_fail("a log");
}

/* The mean completion time of the jobs if each had the platform to itself. */
static bool play_alone(const occasion *at, uint64_t seed, const contender *c, outcome *out)
{
    uint32_t jobs = clo_workload_jobs(at->workload);
    bool is_good = true;

    for (uint32_t j = 0; j < jobs && is_good; j++) {
        clo_environment environment = CLO_ENVIRONMENT_INIT;
        clo_workload_job job = *clo_workload_get(at->workload, j);
        occasion only = *at;
        outcome alone = {0};

        job.size = sizeof job;
        job.arrival_ns = 0;
        is_good = clo_workload_create("alone", &only.workload) == CLO_OK &&
                  clo_workload_add(only.workload, &job) == CLO_OK &&
                  (at->environment == NULL || online_environment_open(at, seed, &environment)) &&
                  simulate(&only, c, at->environment != NULL ? &environment : NULL, NULL, &alone);
        out->alone_s += alone.by[MEASURE_JCT] / jobs;
        clo_environment_close(&environment);
        clo_workload_destroy(only.workload);
    }
    return is_good || bench_fail("a job alone");
}

/* With a log where it is judged or measured: the baseline's always is, all of them with groups. */
static bool play_one(const occasion *at, uint64_t seed, const contender *c, bool is_baseline, outcome *out)
{
    bool has_log = is_baseline || at->groups > 0;
    clo_environment environment = CLO_ENVIRONMENT_INIT;
    clo_log *log = NULL;

    if (has_log && !open_log(at, &log))
        return false;
    bool is_good = at->environment == NULL || online_environment_open(at, seed, &environment);
    is_good = is_good && (c->policy == &job_order_policy ? simulate_best : simulate)(
                             at, c, at->environment != NULL ? &environment : NULL, log, out);
    if (is_good && log != NULL)
        is_good = judge(at, log, out);
    if (at->environment != NULL)
        out->bound_s = 0;
    if (is_good && at->truth == NULL && (at->own != NULL || at->groups > 0) && is_baseline)
        is_good = online_bound(at, out);
    if (is_good && at->scene->shows_alone && is_baseline)
        is_good = play_alone(at, seed, c, out);
    for (int w = 0; is_good && at->groups > 0 && w < JAIN_COUNT; w++) {
        out->jain[w] = online_jain(log, at->workload, at->groups, online_jain_s[w]);
        is_good = out->jain[w] >= 0 || bench_fail("no memory for the windows of fairness");
    }
    clo_environment_close(&environment);
    clo_log_destroy(log);
    return is_good;
}

static bool play_seed(const play *p, uint32_t index)
{
    const scene *s = p->out->scene;
    occasion at = {.scene = s, .environment = p->out->environment};
    bool is_good = s->make(p->o, p->out->first_seed + index, &at);

    for (uint32_t c = 0; c < p->out->count && is_good; c++)
        is_good = play_one(&at, p->out->first_seed + index, &p->out->contenders[c], c == 0,
                           &p->out->outcomes[(size_t)c * p->out->seeds + index]);
    clo_workload_destroy(at.workload);
    clo_workload_destroy(at.truth);
    clo_workload_destroy(at.base);
    clo_platform_destroy(at.own);
    return is_good;
}

static void *play_seeds(void *argument)
{
    play *p = argument;

    for (;;) { /* ends: next grows */
        uint32_t index = atomic_fetch_add(&p->next, 1);
        if (index >= p->out->seeds || atomic_load(&p->has_failed))
            return NULL;
        if (!play_seed(p, index))
            atomic_store(&p->has_failed, true);
    }
}

/* Scenes of Decima's environment may be played in another one. */
static const char *environment_of(const online *o, const scene *s)
{
    return o->environment != NULL && s->environment != NULL && strcmp(s->environment, "decima") == 0 ? o->environment
                                                                                                     : s->environment;
}

static bool find_contenders(const online *o, const scene *s, played *out)
{
    if (o->baseline != NULL && !contender_open(&out->contenders[out->count++], o->baseline, true))
        return false;
    for (uint32_t i = o->baseline != NULL; s->contenders[i] != NULL && out->count < CONTENDERS_MAX; i++)
        if ((o->policies.count == 0 || i == 0) && contender_open(&out->contenders[out->count], s->contenders[i], false))
            out->count++;
    for (uint32_t i = 0; i < o->policies.count && out->count < CONTENDERS_MAX; i++) {
        if (out->count > 0 && strcmp(out->contenders[0].label, o->policies.items[i]) == 0)
            continue;
        if (!contender_open(&out->contenders[out->count], o->policies.items[i], true))
            return false;
        out->count++;
    }
    return out->count > 0 || bench_fail("no policy of this scene is registered");
}

bool online_play(const online *o, const scene *s, played *out)
{
    uint32_t threads = bench_cpus();
    pthread_t list[64];
    play p = {.o = o, .out = out};

    *out = (played){.scene = s,
                    .load_percent = o->load_percent,
                    .environment = environment_of(o, s),
                    .by = s->by,
                    .seeds = o->options.quick ? s->quick_seeds : s->seeds};
    if (o->by != NULL && !online_measure_find(o->by, &out->by))
        return false;
    if (o->seeds > 0 && (!o->options.quick || o->seeds < out->seeds))
        out->seeds = o->seeds;
    out->first_seed = o->from > 0 ? o->from : s->seed > 0 ? s->seed : ONLINE_SEED;
    if (!find_contenders(o, s, out))
        return false;
    size_t cells = (size_t)out->count * out->seeds;
    out->outcomes = cells > 0 ? calloc(cells, sizeof *out->outcomes) : NULL;
    if (out->outcomes == NULL)
        return bench_fail("no memory for the outcomes");
    threads = threads > 64 ? 64 : threads;
    uint32_t started = 0;
    while (started + 1 < threads && pthread_create(&list[started], NULL, play_seeds, &p) == 0)
        started++;
    play_seeds(&p);
    while (started > 0)
        pthread_join(list[--started], NULL);
    return !atomic_load(&p.has_failed);
}

void played_close(played *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        contender_close(&p->contenders[i]);
    free(p->outcomes);
    p->outcomes = NULL;
}
