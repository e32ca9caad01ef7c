/* test_synch_exact.c - tiny workloads, planned by trying everything: no bound is above the best plan, no plan below it.
 * Prints how far the bounds and the plans are from it.
 *
 * The best plan without preemption: tasks are placed one after the other, in every order and on every machine that can
 * run them, each as early as it fits. For an objective that only grows with completion times one of these is best. */
#include "synch_case.h"

#include "cost/cost.h"

#include <stdio.h>
#include <string.h>

enum { SEEDS = SANITIZED ? 60 : 400 };

typedef struct tiny_task {
    uint32_t job, same; /* same: index of the task before it that nothing can tell apart from it; CLO_NONE */
    int64_t demand, time[2], start, finish;
    uint32_t machine; /* CLO_NONE: not placed */
} tiny_task;

typedef struct tiny {
    const synch_case *c;
    uint32_t count, machines, jobs;
    int64_t executors, capacity;
    tiny_task task[SYNCH_TINY_MAX];
    int64_t weight[3], arrival[3], best;
} tiny;

static void read_case(tiny *t, const synch_case *c)
{
    *t = (tiny){.c = c, .machines = clo_platform_machines(c->platform), .jobs = clo_workload_jobs(c->workload)};
    t->executors = clo_platform_executors(c->platform) / t->machines;
    t->capacity = clo_platform_capacity(c->platform, 0, 0);
    t->best = INT64_MAX;
    for (uint32_t j = 0; j < t->jobs; j++) {
        const clo_workload_job *job = clo_workload_get(c->workload, j);
        clo_cost *cost;
        ok(clo_cost_create(job->graph, c->platform, &cost));
        t->weight[j] = job->weight;
        t->arrival[j] = job->arrival_ns;
        for (uint32_t k = 0; k < clo_graph_tasks(job->graph); k++) {
            clo_task task = CLO_TASK_INIT;
            ok(clo_graph_task(job->graph, k, &task));
            for (uint32_t i = 0; i < task.instances; i++) {
                tiny_task *row = &t->task[t->count];
                *row = (tiny_task){.job = j, .same = i > 0 ? t->count - 1 : CLO_NONE, .demand = task.demand[0]};
                for (uint32_t m = 0; m < t->machines; m++)
                    row->time[m] = clo_cost_time(cost, k, m * (uint32_t)t->executors);
                row->machine = CLO_NONE;
                t->count++;
            }
        }
        clo_cost_destroy(cost);
    }
}

/* Whether one task more has room on the machine from `start` for its time. What runs changes only at starts. */
static bool fits(const tiny *t, const tiny_task *row, uint32_t machine, int64_t start)
{
    int64_t finish = start + row->time[machine];

    for (uint32_t at = 0; at <= t->count; at++) {
        int64_t now = at == t->count ? start : t->task[at].start, tasks = 0, held = 0;
        if (at < t->count && (t->task[at].machine != machine || now <= start || now >= finish))
            continue;
        for (uint32_t i = 0; i < t->count; i++)
            if (t->task[i].machine == machine && t->task[i].start <= now && t->task[i].finish > now) {
                tasks++;
                held += t->task[i].demand;
            }
        if (tasks + 1 > t->executors || held + row->demand > t->capacity)
            return false;
    }
    return true;
}

static int64_t earliest(const tiny *t, const tiny_task *row, uint32_t machine)
{
    int64_t best = INT64_MAX, arrival = t->arrival[row->job];

    if (row->time[machine] == 0 || fits(t, row, machine, arrival))
        return arrival;
    for (uint32_t i = 0; i < t->count; i++)
        if (t->task[i].machine == machine && t->task[i].finish > arrival && t->task[i].finish < best &&
            fits(t, row, machine, t->task[i].finish))
            best = t->task[i].finish;
    return best;
}

static int64_t sum_of(const tiny *t)
{
    int64_t sum = 0, done[3] = {0};

    for (uint32_t i = 0; i < t->count; i++)
        if (t->task[i].machine != CLO_NONE && t->task[i].finish > done[t->task[i].job])
            done[t->task[i].job] = t->task[i].finish;
    for (uint32_t j = 0; j < t->jobs; j++)
        sum += t->weight[j] * done[j];
    return sum;
}

/* A choice: which task comes next, and where. */
typedef struct choice {
    uint32_t task, machine;
} choice;

/* The next choice after `from`; false: there is none. */
static bool next_choice(const tiny *t, choice *from)
{
    for (from->machine++; from->task < t->count; from->task++, from->machine = 0)
        for (; from->machine < t->machines; from->machine++) {
            const tiny_task *row = &t->task[from->task];
            if (row->machine == CLO_NONE && row->time[from->machine] != CLO_TIME_NEVER &&
                (row->same == CLO_NONE || t->task[row->same].machine != CLO_NONE))
                return true;
        }
    return false;
}

static void search(tiny *t)
{
    choice path[SYNCH_TINY_MAX] = {{0, CLO_NONE}};

    for (uint32_t depth = 0;;) { /* each round takes a choice, or takes one back */
        if (next_choice(t, &path[depth])) {
            tiny_task *row = &t->task[path[depth].task];
            row->start = earliest(t, row, path[depth].machine);
            row->finish = row->start + row->time[path[depth].machine];
            row->machine = path[depth].machine;
            int64_t sum = sum_of(t);
            if (sum < t->best && depth + 1 < t->count) {
                path[++depth] = (choice){0, CLO_NONE};
                continue;
            }
            t->best = sum < t->best ? sum : t->best;
            row->machine = CLO_NONE;
        } else if (depth > 0) {
            t->task[path[--depth].task].machine = CLO_NONE;
        } else {
            return;
        }
    }
}

typedef struct quotients {
    double sum, most;
    uint32_t count;
} quotients;

static void add(quotients *q, int64_t above, int64_t below)
{
    double value = below > 0 ? (double)above / (double)below : 1;

    q->sum += value;
    q->most = value > q->most ? value : q->most;
    q->count++;
}

static void print(const char *what, const quotients *q)
{
    print_message("%-32s mean %.3f, at most %.3f, of %u\n", what, q->count > 0 ? q->sum / q->count : 0, q->most,
                  q->count);
}

static int64_t plan(const synch_case *c, const char *planner, uint32_t lp, clo_synch_figures *figures)
{
    const clo_synch_config config = {.size = sizeof config, .planner = planner, .lp = lp};
    clo_synch *made = NULL;

    ok(clo_synch_create(c->workload, c->platform, &config, &made));
    synch_case_judge(c, made);
    ok(clo_synch_measure(made, figures));
    clo_synch_destroy(made);
    return figures->weighted_completion;
}

static void test_no_bound_is_above_the_best_plan_and_no_plan_below_it(void **state)
{
    quotients of_free = {0}, of_lp = {0}, of_lp_1 = {0}, of_plan_free = {0}, of_plan_lp = {0};

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        synch_case c;
        clo_synch_figures f = CLO_SYNCH_FIGURES_INIT;
        tiny t;
        assert_in_range(synch_case_tiny(&c, 50000 + seed), 1, SYNCH_TINY_MAX);
        read_case(&t, &c);
        search(&t);
        int64_t sum = plan(&c, "synchpack-2", CLO_SYNCH_LP_NEVER, &f);
        if (sum < t.best || f.free_bound > t.best)
            fail_msg("seed %llu: best %lld, plan %lld, bound %lld", (unsigned long long)seed, (long long)t.best,
                     (long long)sum, (long long)f.free_bound);
        add(&of_plan_free, sum, t.best);
        add(&of_free, t.best, f.free_bound);
        for (int lp = 0; lp < 2 && clo_synch_has_lp(); lp++) {
            sum = plan(&c, lp == 0 ? "synchpack-2" : "synchpack-1", CLO_SYNCH_LP_ALWAYS, &f);
            if (f.lp_bound > t.best || (lp == 0 && sum < t.best))
                fail_msg("seed %llu: best %lld, plan %lld, LP%d's bound %lld", (unsigned long long)seed,
                         (long long)t.best, (long long)sum, 2 - lp, (long long)f.lp_bound);
            add(lp == 0 ? &of_lp : &of_lp_1, t.best, f.lp_bound);
            if (lp == 0)
                add(&of_plan_lp, sum, t.best);
        }
        synch_case_close(&c);
    }
    print("best / bound without LP", &of_free);
    print("best / bound of LP2", &of_lp);
    print("best / bound of LP1", &of_lp_1);
    print("synchpack-2 without LP / best", &of_plan_free);
    print("synchpack-2 with LP alone / best", &of_plan_lp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_bound_is_above_the_best_plan_and_no_plan_below_it)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
