/* bench_planners.c - what does planning cost? Each planner over tasks x executors, and how its time grows with the
 * tasks.
 *
 * Layered random graphs with transfers (CCR 1), duplicable tasks, on platforms of executors with different speeds,
 * each with a memory of its own. Every plan is checked once, outside the measured time. The sizes of a planner are
 * measured in rising order; where the next one would take longer than the limit (extrapolated with the growth seen
 * so far, at least proportional) the rest is left out and told. HEFT and DEFT look at every (edge, executor) pair
 * once, so "ns a pair" should stay level.
 *
 * --demands: all tasks demand four resources of one machine that holds four times what a task may demand at most, and
 * sizes double, so that the growth can be read off. --family takes another family of graphs.
 *
 * One row more without --demands: HEFT on a graph with and without demands on four resources, on one machine that holds
 * four times what a task may demand at most. What the capacities cost is their ratio. */
#include "common/random.h"

#include <clotho/planner.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 7, WIDTHS = 3, PLANNERS_MAX = 96, QUICK_SIZES = 3, DOUBLED_SIZES = 6 };

static const uint32_t sizes[SIZES] = {100, 300, 1000, 3000, 10000, 30000, 100000};
static const uint32_t doubled_sizes[DOUBLED_SIZES] = {2000, 4000, 8000, 16000, 32000, 64000};
static const uint32_t quick_sizes[QUICK_SIZES] = {100, 500, 2000};
static const uint32_t widths[WIDTHS] = {4, 16, 50};

/* The "must" of DESIGN section 7. */
enum { GOAL_TASKS = 10000, GOAL_EXECUTORS = 50, GOAL_MUST_MS = 50, GOAL_AIM_MS = 15 };

enum { DEMANDS_TASKS = 20000, DEMANDS_QUICK_TASKS = 2000, DEMANDS_EXECUTORS = 16, DEMANDS = 4, DEMANDS_WHOLES = 4 };

typedef struct cell {
    bench_stats ms;
    double predicted_ms; /* of one that was left out */
    int64_t makespan_ns;
    uint64_t duplicates;
    bool is_measured, is_left_out;
} cell;

/* One problem: a graph on a platform. */
typedef struct problem {
    uint32_t tasks, edges, executors;
    clo_platform *platform;
    clo_graph *graph;
    clo_cost *cost;
} problem;

typedef struct table {
    bench_options options;
    bool has_demands;
    const char *family;
    double limit_ms;
    const uint32_t *sizes;
    uint32_t sizes_count, planners_count;
    const char *planners[PLANNERS_MAX];
    problem problems[WIDTHS][SIZES];
    cell cells[WIDTHS][PLANNERS_MAX][SIZES];
    uint32_t demands_tasks;
    cell without_demands, with_demands; /* not measured where HEFT was not asked for */
} table;

static bool open_problem(const table *t, problem *p, uint32_t tasks, uint32_t executors, uint32_t demands)
{
    uint64_t seed = t->options.seed;
    const clo_generate_config generate = {.size = sizeof generate,
                                          .seed = seed,
                                          .tasks = tasks,
                                          .ccr = 1.0,
                                          .work_spread = 0.5,
                                          .duplicable = 1,
                                          .demands = demands};
    uint32_t speeds[64];

    for (uint32_t e = 0; e < executors; e++)
        speeds[e] = CLO_SPEED_ONE / 2 + bench_random_below(&seed, CLO_SPEED_ONE);
    p->platform = random_platform(executors, speeds, 1000, 1.0, demands > 0 ? DEMANDS_WHOLES * CLO_GENERATE_WHOLE : 0);
    if (p->platform == NULL)
        return false;
    if (clo_graph_generate(t->family, &generate, &p->graph) != CLO_OK ||
        clo_cost_create(p->graph, p->platform, &p->cost) != CLO_OK)
        return bench_fail("cannot make a graph");
    p->tasks = clo_graph_tasks(p->graph);
    p->edges = clo_graph_edges(p->graph);
    p->executors = executors;
    return true;
}

static void close_problem(problem *p)
{
    clo_cost_destroy(p->cost);
    clo_graph_destroy(p->graph);
    clo_platform_destroy(p->platform);
}

static bool check(const clo_plan *plan, const problem *p, cell *c)
{
    clo_plan_metrics metrics = CLO_PLAN_METRICS_INIT;

    if (clo_plan_check(plan, p->cost, CLO_CHECK_FULL) != CLO_OK || clo_plan_measure(plan, p->cost, &metrics) != CLO_OK)
        return bench_fail(clo_plan_planner(plan));
    c->makespan_ns = metrics.makespan_ns;
    c->duplicates = metrics.duplicates;
    return true;
}

/* The median of `rounds` plans, or of fewer where they take long. */
static bool measure(const table *t, const char *planner, const problem *p, cell *c)
{
    const clo_plan_config config = {
        .size = sizeof config, .planner = clo_planner_find(planner), .seed = t->options.seed};
    double *ms = calloc(t->options.rounds, sizeof *ms), sum_ms = 0;
    uint32_t done = 0;
    bool is_good = ms != NULL;

    while (is_good && done < t->options.rounds && sum_ms < t->limit_ms) {
        clo_plan *plan = NULL;
        int64_t start_ns = bench_now_ns();

        is_good = clo_plan_create(p->cost, &config, &plan) == CLO_OK || bench_fail(planner);
        ms[done] = (double)(bench_now_ns() - start_ns) / 1e6;
        sum_ms += ms[done++];
        if (is_good && done == 1)
            is_good = check(plan, p, c);
        clo_plan_destroy(plan);
    }
    if (is_good)
        c->ms = bench_summarise(ms, done);
    c->is_measured = is_good;
    free(ms);
    return is_good;
}

/* Exponent of growth of time with tasks over the first `count` sizes: least squares on logarithms. */
static double exponent(const cell *cells, const problem *problems, uint32_t count)
{
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (!cells[i].is_measured || cells[i].ms.median <= 0)
            continue;
        double x = log(problems[i].tasks), y = log(cells[i].ms.median);

        n++, sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    return n >= 2 ? (n * sxy - sx * sy) / (n * sxx - sx * sx) : 0;
}

/* What size `at` will take, from the one before and the growth between the last two; at least proportional. */
static double predict_ms(const cell *cells, const problem *problems, uint32_t at)
{
    double growth = at >= 2 ? exponent(cells + at - 2, problems + at - 2, 2) : 1;

    return cells[at - 1].ms.median * pow((double)problems[at].tasks / problems[at - 1].tasks, growth > 1 ? growth : 1);
}

static bool measure_planner(table *t, uint32_t width, uint32_t planner)
{
    cell *cells = t->cells[width][planner];
    const problem *problems = t->problems[width];

    for (uint32_t i = 0; i < t->sizes_count; i++) {
        double predicted = i > 0 ? predict_ms(cells, problems, i) : 0;

        if (predicted > t->limit_ms) {
            cells[i] = (cell){.predicted_ms = predicted, .is_left_out = true};
            return true;
        }
        if (!measure(t, t->planners[planner], &problems[i], &cells[i]))
            return false;
    }
    return true;
}

static double ns_per_pair(const cell *c, const problem *p)
{
    return c->ms.median * 1e6 / ((double)(p->edges + p->tasks) * p->executors);
}

/* HEFT with and without demands. */
static bool measure_demands(table *t)
{
    bool is_good = true;

    t->demands_tasks = t->options.quick ? DEMANDS_QUICK_TASKS : DEMANDS_TASKS;
    for (int has = 0; has < 2 && is_good; has++) {
        problem p = {0};
        is_good = open_problem(t, &p, t->demands_tasks, DEMANDS_EXECUTORS, has ? DEMANDS : 0) &&
                  measure(t, "heft", &p, has ? &t->with_demands : &t->without_demands);
        close_problem(&p);
    }
    return is_good;
}

static double demands_ratio(const table *t)
{
    return t->with_demands.ms.median / t->without_demands.ms.median;
}

static void print_row(const table *t, uint32_t width, uint32_t planner)
{
    const cell *cells = t->cells[width][planner];

    printf("%-15s", t->planners[planner]);
    for (uint32_t i = 0; i < t->sizes_count; i++)
        if (cells[i].is_measured)
            printf(" %9.0f", cells[i].ms.median * 1e6 / t->problems[width][i].tasks);
        else
            printf(" %9s", cells[i].is_left_out ? "left out" : "");
    printf(" %8.2f\n", exponent(cells, t->problems[width], t->sizes_count));
}

/* ns a (edge or task, executor) pair, of the planners that look at each once. */
static void print_pairs(const table *t, uint32_t width)
{
    for (uint32_t p = 0; p < t->planners_count; p++) {
        if (strcmp(t->planners[p], "heft") != 0 && strcmp(t->planners[p], "deft") != 0)
            continue;
        printf("%-4s ns a pair  ", t->planners[p]);
        for (uint32_t i = 0; i < t->sizes_count; i++)
            if (t->cells[width][p][i].is_measured)
                printf(" %9.1f", ns_per_pair(&t->cells[width][p][i], &t->problems[width][i]));
        printf("\n");
    }
}

static void print_left_out(const table *t, uint32_t width)
{
    for (uint32_t p = 0; p < t->planners_count; p++)
        for (uint32_t i = 0; i < t->sizes_count; i++)
            if (t->cells[width][p][i].is_left_out)
                printf("left out: %s from %u tasks on, which would take about %.1f s\n", t->planners[p], t->sizes[i],
                       t->cells[width][p][i].predicted_ms / 1e3);
}

/* The time of `planner` on a size and a number of executors; 0 if it was not measured. */
static double find_ms(const table *t, const char *planner, uint32_t tasks, uint32_t executors)
{
    for (uint32_t w = 0; w < WIDTHS; w++)
        for (uint32_t p = 0; p < t->planners_count; p++)
            for (uint32_t i = 0; i < t->sizes_count; i++)
                if (widths[w] == executors && t->sizes[i] == tasks && strcmp(t->planners[p], planner) == 0 &&
                    t->cells[w][p][i].is_measured)
                    return t->cells[w][p][i].ms.median;
    return 0;
}

static void print_text(const table *t)
{
    for (uint32_t w = 0; w < WIDTHS; w++) {
        printf("%u executors, %s%s: ns a task, medians of at most %u plans\n%-15s", widths[w], t->family,
               t->has_demands ? ", demands" : "", t->options.rounds, "tasks");
        for (uint32_t i = 0; i < t->sizes_count; i++)
            printf(" %9u", t->sizes[i]);
        printf(" exponent\n");
        for (uint32_t p = 0; p < t->planners_count; p++)
            print_row(t, w, p);
        print_pairs(t, w);
        print_left_out(t, w);
        printf("\n");
    }
    if (t->with_demands.is_measured)
        printf("HEFT, %u tasks, %d executors, %d resources: %.1f ms, %.2f times the %.1f ms without demands\n",
               t->demands_tasks, DEMANDS_EXECUTORS, DEMANDS, t->with_demands.ms.median, demands_ratio(t),
               t->without_demands.ms.median);
    double ms = t->has_demands ? 0 : find_ms(t, "heft", GOAL_TASKS, GOAL_EXECUTORS);
    if (ms > 0)
        printf("HEFT, %d tasks x %d executors: %.1f ms; must %d: %s; aim %d\n", GOAL_TASKS, GOAL_EXECUTORS, ms,
               GOAL_MUST_MS, ms <= (double)GOAL_MUST_MS ? "holds" : "does not hold", GOAL_AIM_MS);
}

static void print_cell_json(const table *t, uint32_t w, uint32_t p, uint32_t i)
{
    const cell *c = &t->cells[w][p][i];
    const problem *of = &t->problems[w][i];

    printf("{\"planner\": \"%s\", \"tasks\": %u, \"edges\": %u, \"executors\": %u, ", t->planners[p], of->tasks,
           of->edges, of->executors);
    if (c->is_left_out)
        printf("\"left_out\": true, \"predicted_ms\": %.0f}", c->predicted_ms);
    else
        printf("\"plan_ms\": %.4f, \"plan_ms_p10\": %.4f, \"plan_ms_p90\": %.4f, \"ns_per_task\": %.1f, "
               "\"ns_per_pair\": %.2f, \"makespan_ns\": %lld, \"duplicates\": %llu}",
               c->ms.median, c->ms.p10, c->ms.p90, c->ms.median * 1e6 / of->tasks, ns_per_pair(c, of),
               (long long)c->makespan_ns, (unsigned long long)c->duplicates);
}

static void print_json(const table *t)
{
    const char *comma = "";

    printf("{\"bench\": \"planners\", \"rounds\": %u, \"seed\": %llu, \"family\": \"%s\", \"has_demands\": %s, "
           "\"rows\": [",
           t->options.rounds, (unsigned long long)t->options.seed, t->family, t->has_demands ? "true" : "false");
    for (uint32_t w = 0; w < WIDTHS; w++)
        for (uint32_t p = 0; p < t->planners_count; p++)
            for (uint32_t i = 0; i < t->sizes_count; i++) {
                if (!t->cells[w][p][i].is_measured && !t->cells[w][p][i].is_left_out)
                    continue;
                printf("%s", comma);
                print_cell_json(t, w, p, i);
                comma = ", ";
            }
    printf("], \"growth\": [");
    for (uint32_t w = 0; w < WIDTHS; w++)
        for (uint32_t p = 0; p < t->planners_count; p++)
            printf("%s{\"planner\": \"%s\", \"executors\": %u, \"exponent\": %.3f}", w + p > 0 ? ", " : "",
                   t->planners[p], widths[w], exponent(t->cells[w][p], t->problems[w], t->sizes_count));
    double ms = t->has_demands ? 0 : find_ms(t, "heft", GOAL_TASKS, GOAL_EXECUTORS);
    printf("]");
    if (t->with_demands.is_measured)
        printf(", \"demands\": {\"planner\": \"heft\", \"tasks\": %u, \"executors\": %d, \"resources\": %d, "
               "\"plan_ms\": %.2f, \"without_ms\": %.2f, \"ratio\": %.3f}",
               t->demands_tasks, DEMANDS_EXECUTORS, DEMANDS, t->with_demands.ms.median, t->without_demands.ms.median,
               demands_ratio(t));
    printf(", \"goals\": [");
    if (ms > 0)
        printf("{\"goal\": \"HEFT on %d tasks, %d executors, ms\", \"value\": %.2f, \"must\": %d, \"aim\": %d, "
               "\"holds\": %s}",
               GOAL_TASKS, GOAL_EXECUTORS, ms, GOAL_MUST_MS, GOAL_AIM_MS,
               ms <= (double)GOAL_MUST_MS ? "true" : "false");
    printf("]}\n");
}

/* The planners asked for, or all. */
static void choose_planners(table *t, const bench_list *asked)
{
    clo_entry entry = CLO_ENTRY_INIT;

    for (uint32_t i = 0; i < asked->count && t->planners_count < PLANNERS_MAX; i++)
        t->planners[t->planners_count++] = asked->items[i];
    for (uint32_t i = 0;
         asked->count == 0 && t->planners_count < PLANNERS_MAX && clo_registry_entry("planners", i, &entry); i++)
        t->planners[t->planners_count++] = entry.name;
}

static bool measure_all(table *t)
{
    bool is_good = true;

    for (uint32_t w = 0; w < WIDTHS; w++) {
        for (uint32_t i = 0; i < t->sizes_count && is_good; i++)
            is_good = open_problem(t, &t->problems[w][i], t->sizes[i], widths[w], t->has_demands ? DEMANDS : 0);
        for (uint32_t p = 0; p < t->planners_count && is_good; p++)
            is_good = measure_planner(t, w, p);
        for (uint32_t i = 0; i < t->sizes_count; i++)
            close_problem(&t->problems[w][i]);
    }
    for (uint32_t p = 0; p < t->planners_count && is_good && !t->has_demands; p++)
        if (strcmp(t->planners[p], "heft") == 0)
            is_good = measure_demands(t);
    return is_good;
}

static void choose_sizes(table *t)
{
    t->limit_ms = t->options.quick ? 100 : 2000;
    t->sizes = t->options.quick ? quick_sizes : t->has_demands ? doubled_sizes : sizes;
    t->sizes_count = t->options.quick ? QUICK_SIZES : t->has_demands ? DOUBLED_SIZES : SIZES;
}

int main(int argc, char **argv)
{
    bench_list asked = {0};
    bool has_demands = false;
    const char *family = "layered";
    const bench_flag flags[] = {
        {.name = "demands", .help = "tasks demand four resources, and sizes double", .is_set = &has_demands},
        {.name = "family NAME", .help = "of graphs (default layered; independent, ...)", .value = &family},
        {.name = "planner NAME", .help = "may be given several times; else all that are registered", .list = &asked},
        {0}};
    const bench_about about = {.name = "planners",
                               .question = "what does planning cost, and how does it grow?",
                               .flags = flags,
                               .rounds = 7,
                               .quick_rounds = 3};
    table *t = calloc(1, sizeof *t);
    int exit_status;

    if (t == NULL)
        return 1;
    exit_status = bench_options_read(&t->options, &about, argc, argv);
    if (exit_status < 0) {
        t->has_demands = has_demands;
        t->family = family;
        choose_sizes(t);
        choose_planners(t, &asked);
        exit_status = measure_all(t) ? 0 : 1;
        if (exit_status == 0 && t->options.json)
            print_json(t);
        else if (exit_status == 0)
            print_text(t);
    }
    free(t);
    return exit_status;
}
