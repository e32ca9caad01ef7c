#include "synch_case.h"
#include "sample.h"

#include "base/numbers/rng.h"

#include <stdio.h>
#include <string.h>

const char *const synch_planners[] = {"synchpack-1",     "synchpack-2",   "synchpack-3", "psrs",
                                      "tetris-weighted", "jsq-maxweight", NULL};

enum { MACHINES_MAX = 8 };

void synch_case_open(synch_case *c, uint32_t machines, uint32_t executors, int64_t memory)
{
    clo_executor list[64];
    int64_t capacities[MACHINES_MAX * CLO_RESOURCES_MAX];
    const char *names[CLO_RESOURCES_MAX] = {"memory"};

    assert_true(machines <= MACHINES_MAX && machines * executors <= 64);
    for (uint32_t e = 0; e < machines * executors; e++)
        list[e] = (clo_executor){.kind = e / executors,
                                 .machine = e / executors,
                                 .os_index = -1,
                                 .speed_q16 = {CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE}};
    for (uint32_t i = 0; i < machines * CLO_RESOURCES_MAX; i++)
        capacities[i] = i % CLO_RESOURCES_MAX == 0 ? memory : -1;
    const clo_platform_desc desc = {.size = sizeof desc,
                                    .executors_count = machines * executors,
                                    .executors = list,
                                    .kinds_count = machines,
                                    .machines_count = machines,
                                    .capacities = capacities,
                                    .resource_names = names};
    assert_int_equal(clo_platform_create(&desc, &c->platform), CLO_OK);
    assert_int_equal(clo_workload_create("case", &c->workload), CLO_OK);
}

void synch_case_close(synch_case *c)
{
    clo_workload_destroy(c->workload);
    clo_platform_destroy(c->platform);
}

static void add_task(const synch_case *c, clo_graph *graph, uint32_t instances, int64_t demand, const int64_t *time)
{
    clo_task task = {.work_ns = 1, .instances = instances};
    uint32_t id, kind;

    task.demand[0] = demand;
    assert_int_equal(clo_graph_add_task(graph, &task, &id), CLO_OK);
    for (uint32_t m = 0; m < clo_platform_machines(c->platform); m++) {
        char name[16];
        snprintf(name, sizeof name, "k%u", m);
        assert_int_equal(clo_graph_kind(graph, name, &kind), CLO_OK);
        assert_int_equal(clo_graph_set_time(graph, id, kind, time[m] < 0 ? CLO_TIME_NEVER : time[m]), CLO_OK);
    }
}

static clo_graph *open_graph(void)
{
    clo_graph *graph;

    assert_int_equal(clo_graph_create("job", &graph), CLO_OK);
    assert_int_equal(clo_graph_set_resource(graph, 0, "memory"), CLO_OK);
    return graph;
}

static void add_job(synch_case *c, clo_graph *graph, int64_t arrival_ns, uint32_t weight)
{
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;

    assert_int_equal(clo_graph_seal(graph), CLO_OK);
    assert_int_equal(clo_workload_adopt(c->workload, graph), CLO_OK);
    job.graph = graph;
    job.arrival_ns = arrival_ns;
    job.weight = weight;
    assert_int_equal(clo_workload_add(c->workload, &job), CLO_OK);
}

void synch_case_add(synch_case *c, uint32_t instances, int64_t demand, const int64_t *time, int64_t arrival_ns,
                    uint32_t weight)
{
    clo_graph *graph = open_graph();

    add_task(c, graph, instances, demand, time);
    add_job(c, graph, arrival_ns, weight);
}

static void draw_times(clo_rng *rng, uint32_t machines, bool is_bound, int64_t *time)
{
    uint32_t home = clo_rng_below(rng, machines);
    int64_t base = clo_rng_below(rng, 20) == 0 ? 0 : 1 + clo_rng_below(rng, 400);

    for (uint32_t m = 0; m < machines; m++) {
        bool is_there = !is_bound && clo_rng_below(rng, 2) == 0;
        int64_t there = clo_rng_below(rng, 12) == 0 ? 0 : base * (1 + clo_rng_below(rng, 3));
        time[m] = m == home ? base : is_there ? there : -1;
    }
}

void synch_case_random(synch_case *c, uint64_t seed, bool is_bound, int64_t arrival_max)
{
    clo_rng rng = sample_rng(seed);
    uint32_t machines = 1 + clo_rng_below(&rng, 4), jobs = 1 + clo_rng_below(&rng, 7);
    int64_t time[MACHINES_MAX];

    synch_case_open(c, machines, 1 + clo_rng_below(&rng, 4), 12);
    for (uint32_t j = 0; j < jobs; j++) {
        clo_graph *graph = open_graph();
        uint32_t tasks = 1 + clo_rng_below(&rng, 4);
        for (uint32_t t = 0; t < tasks; t++) {
            draw_times(&rng, machines, is_bound, time);
            add_task(c, graph, 1 + clo_rng_below(&rng, 6), clo_rng_below(&rng, 13), time);
        }
        add_job(c, graph, arrival_max > 0 ? clo_rng_below(&rng, (uint32_t)arrival_max) : 0, 1 + clo_rng_below(&rng, 9));
    }
}

uint32_t synch_case_tiny(synch_case *c, uint64_t seed)
{
    clo_rng rng = sample_rng(seed);
    uint32_t machines = 1 + clo_rng_below(&rng, 2), jobs = 1 + clo_rng_below(&rng, 3), count = 0;
    bool is_late = clo_rng_below(&rng, 3) == 0;
    int64_t time[MACHINES_MAX];

    synch_case_open(c, machines, 1 + clo_rng_below(&rng, 3), 12);
    for (uint32_t j = 0; j < jobs; j++) {
        clo_graph *graph = open_graph();
        uint32_t tasks = 1 + clo_rng_below(&rng, 2);
        for (uint32_t t = 0; t < tasks; t++) {
            uint32_t others = 2 * (jobs - j - 1) + tasks - t - 1, room = SYNCH_TINY_MAX - count - others;
            uint32_t instances = 1 + clo_rng_below(&rng, room < 3 ? room : 3);
            draw_times(&rng, machines, false, time);
            add_task(c, graph, instances, clo_rng_below(&rng, 13), time);
            count += instances;
        }
        add_job(c, graph, is_late ? clo_rng_below(&rng, 300) : 0, 1 + clo_rng_below(&rng, 9));
    }
    return count;
}

static void judge_log(const synch_case *c, const clo_synch *plan)
{
    uint32_t jobs = clo_workload_jobs(c->workload);
    clo_stream_job *rows = calloc(jobs, sizeof *rows);
    clo_cost **costs = calloc(jobs, sizeof(clo_cost *));
    clo_log *log;

    assert_int_equal(clo_synch_log(plan, &log), CLO_OK);
    for (uint32_t j = 0; j < jobs; j++) {
        const clo_workload_job *job = clo_workload_get(c->workload, j);
        assert_int_equal(clo_cost_create(job->graph, c->platform, &costs[j]), CLO_OK);
        rows[j] = (clo_stream_job){.job = j, .cost = costs[j], .arrival_ns = job->arrival_ns, .weight = job->weight};
    }
    const clo_stream_case stream = {.size = sizeof stream, .platform = c->platform, .jobs = rows, .jobs_count = jobs};
    clo_stream_report report = CLO_STREAM_REPORT_INIT;
    if (clo_stream_check(&stream, log, &report) != CLO_OK)
        fail_msg("%s", clo_last_error());
    assert_int_equal(report.finished, jobs);
    for (uint32_t j = 0; j < jobs; j++)
        clo_cost_destroy(costs[j]);
    clo_log_destroy(log);
    free(costs);
    free(rows);
}

static int64_t demand_of(const synch_case *c, const clo_synch_piece *piece, int64_t *time)
{
    const clo_graph *graph = clo_workload_get(c->workload, piece->job)->graph;
    clo_task task;
    uint32_t kind;
    char name[16];
    clo_graph *same = (clo_graph *)(uintptr_t)graph; /* a kind that is there is only looked up */

    snprintf(name, sizeof name, "k%u", piece->machine);
    for (kind = 0; strcmp(clo_graph_kind_name(same, kind), name) != 0;)
        kind++;
    assert_int_equal(clo_graph_task(graph, piece->task, &task), CLO_OK);
    assert_true(clo_graph_time(graph, piece->task, kind, time));
    assert_true(*time != CLO_TIME_NEVER);
    return task.demand[0];
}

static bool is_same_task(const clo_synch_piece *a, const clo_synch_piece *b)
{
    return a->job == b->job && a->task == b->task && a->instance == b->instance;
}

/* At the start of piece `i`: its executor runs nothing else, nor does its task; the machine's memory is enough. */
static void judge_start(const synch_case *c, const clo_synch_piece *piece, size_t count, size_t i)
{
    int64_t held = 0, time;

    assert_int_equal(clo_platform_executor(c->platform, piece[i].executor)->machine, piece[i].machine);
    assert_true(piece[i].start_ns >= clo_workload_get(c->workload, piece[i].job)->arrival_ns);
    if (piece[i].finish_ns == piece[i].start_ns)
        return; /* of no time: it disturbs nobody */
    for (size_t k = 0; k < count; k++) {
        if (k != i && (piece[k].start_ns > piece[i].start_ns || piece[k].finish_ns <= piece[i].start_ns))
            continue;
        assert_true(k == i || piece[k].executor != piece[i].executor);
        assert_true(k == i || !is_same_task(&piece[k], &piece[i]));
        if (piece[k].machine == piece[i].machine && piece[k].finish_ns > piece[k].start_ns)
            held += demand_of(c, &piece[k], &time);
    }
    assert_true(held <= clo_platform_capacity(c->platform, piece[i].machine, 0));
}

/* The work of the pieces of one task on all machines is a whole one: by time that it takes, in 2^-40 of a task. */
static void judge_work(const synch_case *c, const clo_synch_piece *piece, size_t count, size_t i)
{
    int64_t spent[MACHINES_MAX] = {0}, times[MACHINES_MAX] = {0}, sum = 0;

    for (size_t k = 0; k < count; k++)
        if (is_same_task(&piece[k], &piece[i])) {
            (void)demand_of(c, &piece[k], &times[piece[k].machine]);
            spent[piece[k].machine] += piece[k].finish_ns - piece[k].start_ns;
            sum += times[piece[k].machine] == 0 ? INT64_C(1) << 40 : 0;
        }
    for (uint32_t m = 0; m < MACHINES_MAX; m++)
        for (uint32_t k = m + 1; k < MACHINES_MAX && times[m] > 0; k++)
            if (times[k] == times[m]) {
                spent[m] += spent[k];
                times[k] = 0;
            }
    for (uint32_t m = 0; m < MACHINES_MAX; m++)
        if (times[m] > 0)
            sum += (spent[m] << 40) / times[m]; /* spent is below 2^20 */
    assert_true(sum >= INT64_C(1) << 40);
}

static void judge_pieces(const synch_case *c, const clo_synch *plan)
{
    size_t count;
    const clo_synch_piece *piece = clo_synch_pieces(plan, &count);

    for (size_t i = 0; i < count; i++) {
        judge_start(c, piece, count, i);
        judge_work(c, piece, count, i);
    }
}

/* Every task has a piece. */
static void judge_tasks(const synch_case *c, const clo_synch *plan)
{
    size_t count;
    const clo_synch_piece *piece = clo_synch_pieces(plan, &count);
    uint32_t tasks = 0, first = 0;

    for (uint32_t j = 0; j < clo_workload_jobs(c->workload); j++)
        tasks += clo_graph_instances(clo_workload_get(c->workload, j)->graph);
    for (size_t i = 0; i < count; i++) {
        size_t before = 0;
        while (before < i && !is_same_task(&piece[before], &piece[i]))
            before++;
        first += before == i;
    }
    assert_int_equal(first, tasks);
}

static int64_t completion_ns(const clo_synch *plan, uint32_t job)
{
    size_t count;
    const clo_synch_piece *piece = clo_synch_pieces(plan, &count);
    int64_t last_ns = 0;

    for (size_t i = 0; i < count; i++)
        if (piece[i].job == job && piece[i].finish_ns > last_ns)
            last_ns = piece[i].finish_ns;
    return last_ns;
}

void synch_case_judge(const synch_case *c, const clo_synch *plan)
{
    clo_synch_figures figures = CLO_SYNCH_FIGURES_INIT;
    int64_t sum = 0;

    assert_int_equal(clo_synch_measure(plan, &figures), CLO_OK);
    for (uint32_t j = 0; j < clo_workload_jobs(c->workload); j++)
        sum += clo_workload_get(c->workload, j)->weight * completion_ns(plan, j);
    assert_int_equal(sum, figures.weighted_completion);
    if (figures.weighted_completion < figures.free_bound || figures.weighted_completion < figures.lp_bound)
        fail_msg("%lld, bounds %lld and %lld", (long long)figures.weighted_completion, (long long)figures.free_bound,
                 (long long)figures.lp_bound);
    judge_tasks(c, plan);
    if (figures.is_preemptive)
        judge_pieces(c, plan);
    judge_log(c, plan);
}
