/* edges.c - Hua et al., "Learning to Schedule DAG Tasks", tables 1 to 6: TPC-H queries on one resource of capacity 1,
 * of which a stage holds U(0, rmax); the paper does not state its law, so its figures are only for orientation.
 *
 * The instances are those of bench-quality. Every way that searches has the same wall time; each plan passes the
 * independent checker. The gain over a rule is the mean over all instances of 1 - makespan / that of the rule. */
#include "common/model_edit.h"
#include "common/tpch.h"
#include "learned/learned.h"
#include "plan/edges/steps.h"

#include <clotho/planner.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETTINGS = LEARNED_SETTINGS, SIZES = LEARNED_SIZES, GOAL = 5 /* settings that must reach the paper */ };

/* Ways to a plan. */
enum { GREEDY, BEAM, RANDOM, ON_SJF, RANDOM_SJF, ON_TETRIS, RANDOM_TETRIS, AFTER, AFTER_RANDOM, BEST, WAYS };

static const char *const names[WAYS] = {"edges-greedy", "edges",         "edges-random", "edges-sjf",   "random-sjf",
                                        "edges-tetris", "random-tetris", "edges-best",   "random-best", "best"};

typedef struct setting {
    const char *name;
    bool is_uniform;
    double demand_max;
    /* The paper's mean gains over CP and SJF, in percent. */
    double over_cp, over_sjf;
} setting;

const uint32_t learned_sizes[LEARNED_SIZES] = {5, 10, 20, 50, 100};

static const setting settings[SETTINGS] = {
    {"real, r to 1", false, 1, 4.43, 6.78},           {"real, r to 2/3", false, 2.0 / 3, 3.12, 4.41},
    {"real, r to 1/3", false, 1.0 / 3, 1.79, 4.18},   {"uniform, r to 1", true, 1, 12.37, 5.88},
    {"uniform, r to 2/3", true, 2.0 / 3, 4.13, 3.46}, {"uniform, r to 1/3", true, 1.0 / 3, 2.15, 2.82},
};

/* Means over the instances of a setting. */
typedef struct sums {
    uint32_t count;
    double over_cp[WAYS], over_sjf[WAYS], over_own[WAYS], ms[WAYS], bound;
} sums;

typedef struct scene {
    const learned *l;
    const tpch *t;
    const clo_model *model;
    int64_t budget_ns;
} scene;

/* The makespan of a rule without edges; 0 after a line that says why. */
static int64_t of_rule(const clo_cost *cost, clo_edges_rule rule)
{
    clo_edges *edges = NULL;

    if (clo_edges_create(cost, rule, &edges) != CLO_OK) {
        bench_fail("a list schedule");
        return 0;
    }
    int64_t makespan_ns = clo_edges_makespan_ns(edges);
    clo_edges_destroy(edges);
    return makespan_ns;
}

static clo_edges_rule rule_of(int way)
{
    if (way == ON_SJF || way == RANDOM_SJF)
        return CLO_EDGES_SJF;
    return way == ON_TETRIS || way == RANDOM_TETRIS ? CLO_EDGES_TETRIS : CLO_EDGES_CP;
}

static clo_status plan(const scene *s, const clo_cost *cost, int way, clo_plan **out)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_edges_config edges = CLO_EDGES_CONFIG_INIT;

    config.planner = clo_planner_find(names[way]);
    config.budget_ns = edges.budget_ns = s->budget_ns;
    if (way == BEST)
        return clo_plan_create(cost, &config, out);
    edges.rule = rule_of(way);
    edges.model = s->model;
    edges.greedy = way == GREEDY;
    edges.then_best = way == AFTER || way == AFTER_RANDOM;
    edges.guide = s->l->has_zero_residual ? CLO_EDGES_BY_PRIOR : CLO_EDGES_BY_MODEL;
    if (way == RANDOM || way == RANDOM_SJF || way == RANDOM_TETRIS || way == AFTER_RANDOM)
        edges.guide = CLO_EDGES_BY_CHANCE;
    return clo_edges_plan(cost, &edges, out);
}

static bool add_way(const scene *s, const clo_cost *cost, int way, const int64_t of_rules[3], sums *all)
{
    clo_plan *made = NULL;
    clo_plan_metrics metrics = CLO_PLAN_METRICS_INIT;
    int64_t begin_ns = bench_now_ns();
    clo_status status = plan(s, cost, way, &made);

    all->ms[way] += (double)(bench_now_ns() - begin_ns) / 1e6;
    if (status == CLO_OK)
        status = clo_plan_check(made, cost, CLO_CHECK_FULL);
    if (status == CLO_OK)
        status = clo_plan_measure(made, cost, &metrics);
    clo_plan_destroy(made);
    if (status != CLO_OK)
        return bench_fail(names[way]);
    double makespan = (double)metrics.makespan_ns;
    all->over_cp[way] += 1 - makespan / (double)of_rules[CLO_EDGES_CP];
    all->over_sjf[way] += 1 - makespan / (double)of_rules[CLO_EDGES_SJF];
    all->over_own[way] += 1 - makespan / (double)of_rules[rule_of(way)];
    return true;
}

static bool add_cost(const scene *s, const clo_cost *cost, sums *all)
{
    int64_t of_rules[3];
    clo_bound bound = CLO_BOUND_INIT;
    bool is_good = clo_cost_bound(cost, &bound) == CLO_OK;

    for (int rule = 0; rule < 3 && is_good; rule++)
        is_good = (of_rules[rule] = of_rule(cost, (clo_edges_rule)rule)) > 0;
    for (int way = 0; way < WAYS && is_good; way++)
        is_good = add_way(s, cost, way, of_rules, all);
    if (!is_good)
        return false;
    all->bound += 1 - (double)bound.best_ns / (double)of_rules[CLO_EDGES_CP];
    all->count++;
    return true;
}

bool learned_case_open(const learned *l, const tpch *t, uint32_t which, uint32_t jobs, uint32_t w, learned_case *out)
{
    const setting *of = &settings[which];
    uint64_t state = l->options.seed * 1000003 + jobs * 1009 + w, seed = bench_random(&state);
    const tpch_mix mix = {
        .jobs = jobs, .has_uniform_times = of->is_uniform, .resources = 1, .demand_max = of->demand_max};

    *out = (learned_case){.graph = tpch_graph(t, &mix, seed)};
    out->machine = out->graph != NULL ? tpch_machine(out->graph, 1) : NULL;
    return out->machine != NULL &&
           (clo_cost_create(out->graph, out->machine, &out->cost) == CLO_OK || bench_fail("cost"));
}

void learned_case_close(learned_case *c)
{
    clo_cost_destroy(c->cost);
    clo_platform_destroy(c->machine);
    clo_graph_destroy(c->graph);
}

static bool add_instance(const scene *s, uint32_t which, uint32_t jobs, uint32_t w, sums *all)
{
    learned_case c;
    bool is_good = learned_case_open(s->l, s->t, which, jobs, w, &c) && add_cost(s, c.cost, all);

    learned_case_close(&c);
    return is_good;
}

static double percent(const sums *all, double sum)
{
    return 100 * sum / all->count;
}

/* Settings whose names begin as --table says; where one has this very name, that one alone. */
static bool is_wanted(const learned *l, int i)
{
    bool is_name = false;

    if (l->table == NULL)
        return true;
    for (int k = 0; k < SETTINGS; k++)
        is_name = is_name || strcmp(settings[k].name, l->table) == 0;
    return is_name ? strcmp(settings[i].name, l->table) == 0
                   : strncmp(settings[i].name, l->table, strlen(l->table)) == 0;
}

static bool reaches(const sums *all, const setting *of)
{
    return percent(all, all->over_cp[BEAM]) >= of->over_cp && percent(all, all->over_sjf[BEAM]) >= of->over_sjf;
}

/* Some ways as columns: their gains over one of the rules. */
typedef struct column {
    int way;
    const char *title;
} column;

static void print_columns(const sums *all, const column *columns, uint32_t count, bool is_over_sjf)
{
    printf("%-18s %8s", "setting", "paper");
    for (uint32_t i = 0; i < count; i++)
        printf(" %8s", columns[i].title);
    printf("\n");
    for (int i = 0; i < SETTINGS; i++) {
        if (all[i].count == 0)
            continue;
        printf("%-18s %8.2f", settings[i].name, is_over_sjf ? settings[i].over_sjf : settings[i].over_cp);
        for (uint32_t c = 0; c < count; c++)
            printf(" %8.2f", percent(&all[i], (is_over_sjf ? all[i].over_sjf : all[i].over_cp)[columns[c].way]));
        printf("\n");
    }
}

static void print_table(const scene *s, const sums *all)
{
    static const column over_cp[] = {
        {GREEDY, "greedy"},        {BEAM, "edges"},  {RANDOM, "random"},       {ON_TETRIS, "on ldf"},
        {RANDOM_TETRIS, "random"}, {AFTER, "+best"}, {AFTER_RANDOM, "random"}, {BEST, "best"}};
    static const column over_sjf[] = {{BEAM, "edges"}, {ON_SJF, "on sjf"}, {RANDOM_SJF, "random"}, {BEST, "best"}};
    uint32_t reached = 0, played = 0, graphs = 0;

    for (int i = 0; i < SETTINGS; i++)
        graphs = all[i].count > 0 ? all[i].count : graphs;
    printf("Hua et al., tables 1 to 6: mean over %u graphs a setting; %g ms a plan where it is anytime\n\n"
           "%% below critical-path; random: the column before it with edges by chance; ldf: largest demand first\n",
           graphs, (double)s->budget_ns / 1e6);
    print_columns(all, over_cp, sizeof over_cp / sizeof over_cp[0], false);
    printf("\n%% below shortest task first\n");
    print_columns(all, over_sjf, sizeof over_sjf / sizeof over_sjf[0], true);
    printf("\n%-18s %8s %8s %8s\n", "setting", "bound", "greedy ms", "reached");
    for (int i = 0; i < SETTINGS; i++) {
        if (all[i].count == 0)
            continue;
        printf("%-18s %8.2f %8.2f %8s\n", settings[i].name, percent(&all[i], all[i].bound),
               all[i].ms[GREEDY] / all[i].count, reaches(&all[i], &settings[i]) ? "yes" : "no");
        reached += reaches(&all[i], &settings[i]);
        played++;
    }
    printf("\nedges reaches the paper's gains over CP and SJF in %u of %u settings; must: %d of %d\n", reached, played,
           GOAL, SETTINGS);
}

static void print_json(const sums *all)
{
    uint32_t reached = 0, played = 0;

    printf("{\"part\": \"edges\", \"settings\": [");
    for (int i = 0; i < SETTINGS; i++) {
        if (all[i].count == 0)
            continue;
        printf("%s{\"setting\": \"%s\", \"graphs\": %u, \"paper_over_cp\": %.2f, \"paper_over_sjf\": %.2f, "
               "\"bound\": %.3f",
               played++ > 0 ? ", " : "", settings[i].name, all[i].count, settings[i].over_cp, settings[i].over_sjf,
               percent(&all[i], all[i].bound));
        for (int way = 0; way < WAYS; way++)
            printf(", \"%s\": {\"over_cp\": %.4f, \"over_sjf\": %.4f, \"over_own\": %.4f, \"ms\": %.3f}", names[way],
                   percent(&all[i], all[i].over_cp[way]), percent(&all[i], all[i].over_sjf[way]),
                   percent(&all[i], all[i].over_own[way]), all[i].ms[way] / all[i].count);
        printf(", \"reached\": %s}", reaches(&all[i], &settings[i]) ? "true" : "false");
        reached += reaches(&all[i], &settings[i]);
    }
    printf("], \"goals\": [");
    if (played == SETTINGS) /* a part of them says nothing about it */
        printf("{\"goal\": \"edges reaches the paper's gains over CP and SJF\", \"value\": %u, \"must\": %d, "
               "\"holds\": %s}",
               reached, GOAL, reached >= GOAL ? "true" : "false");
    printf("]}");
}

bool learned_edges(const learned *l)
{
    const char *why = NULL;
    sums all[SETTINGS] = {{0}};
    void *memory = NULL;
    tpch *t = tpch_open(l->data, &why);

    if (t == NULL) {
        fprintf(stderr, "bench: edges: skipped, %s\n", why);
        if (l->options.json)
            printf("{\"part\": \"edges\", \"skipped\": true}");
        return true;
    }
    uint32_t wanted = 0;
    for (int i = 0; i < SETTINGS; i++)
        wanted += is_wanted(l, i);
    if (wanted == 0)
        fprintf(stderr, "bench: edges: no setting's name begins with '%s'\n", l->table);
    clo_model *model =
        model_builtin("edges", l->has_shuffled_weights ? MODEL_SHUFFLED : MODEL_AS_IS, l->options.seed, &memory);
    const scene s = {l, t, model, l->options.quick ? 5000000 : 100000000};
    bool is_good = model != NULL;
    for (int i = 0; i < SETTINGS && is_good; i++)
        for (uint32_t n = 0; is_wanted(l, i) && n < (l->options.quick ? 1 : SIZES) && is_good; n++)
            for (uint32_t w = 0; w < l->options.rounds && is_good; w++)
                is_good = add_instance(&s, (uint32_t)i, learned_sizes[n], w, &all[i]);
    if (is_good && l->options.json)
        print_json(all);
    else if (is_good && wanted > 0)
        print_table(&s, all);
    clo_model_destroy(model);
    free(memory);
    tpch_close(t);
    return is_good;
}
