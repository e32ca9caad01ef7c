/* networks.c - what does each built-in network contribute? Its scene once with it, once for each control: its weights in
 * another order, its messages cut, or the rule below it alone. The same streams and graphs meet all of them, and no clock
 * decides, so the ratios are the same on every machine. */
#include "common/model_edit.h"
#include "learned/learned.h"
#include "online/online.h"
#include "plan/edges/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTROLS_MAX = 2 };

/* A network contributes if a control is worse by at least this, and by more than its interval. */
#define WORSE 1.01

/* A policy with a network, in one scene. */
typedef struct network {
    const char *model, *scene, *policy;
    struct {
        const char *what, *policy;
    } controls[CONTROLS_MAX];
    uint32_t seeds_a_round, jobs_max;
} network;

static const char shuffled[] = "weights shuffled", cut[] = "messages cut", alone[] = "the rule alone";

static const network networks[] = {
    {"decima", "decima-batch", "decima", {{shuffled, "decima:shuffle-weights"}, {cut, "decima:no-messages"}}, 3, 0},
    {"decima-own",
     "decima-batch",
     "decima:own",
     {{shuffled, "decima:own,shuffle-weights"}, {cut, "decima:own,no-messages"}},
     3,
     0},
    {"decima-own",
     "decima-stream",
     "decima:own",
     {{shuffled, "decima:own,shuffle-weights"}, {cut, "decima:own,no-messages"}},
     1,
     200},
    {"decima-batch",
     "decima-batch",
     "residual:batch",
     {{shuffled, "residual:batch,shuffle-weights"}, {alone, "residual:batch,zero-residual"}},
     3,
     0},
    {"decima-stream",
     "decima-stream",
     "residual:stream",
     {{shuffled, "residual:stream,shuffle-weights"}, {alone, "residual:stream,zero-residual"}},
     1,
     1000},
    {"easy-residual",
     "graphene-tpch",
     "easy-residual",
     {{shuffled, "easy-residual:shuffle-weights"}, {alone, "easy-residual:zero-residual"}},
     3,
     0},
};

enum { NETWORKS = sizeof networks / sizeof networks[0] };

/* One line of the table. */
typedef struct line {
    const char *model, *scene, *policy, *control;
    bench_interval ratio; /* of the control to the network as it is */
} line;

typedef struct lines {
    line list[CONTROLS_MAX * (NETWORKS + 2)];
    uint32_t count;
} lines;

static bool contributes(const line *l)
{
    return l->ratio.ratio >= WORSE && l->ratio.low > 1 && l->ratio.high > l->ratio.low; /* one seed has no interval */
}

static const scene *scene_of(const char *name)
{
    for (uint32_t i = 0; online_scenes[i] != NULL; i++)
        if (strcmp(online_scenes[i]->name, name) == 0)
            return online_scenes[i];
    return NULL;
}

static bool add_network(const learned *l, const online *data, const network *n, lines *out)
{
    played p = {0};
    online o = *data;

    o.baseline = n->policy;
    o.jobs_max = n->jobs_max;
    o.seeds = n->seeds_a_round * l->options.rounds;
    for (int c = 0; c < CONTROLS_MAX; c++)
        o.policies.items[o.policies.count++] = n->controls[c].policy;
    bool is_good = online_play(&o, scene_of(n->scene), &p);
    for (uint32_t c = 0; c < CONTROLS_MAX && is_good; c++)
        out->list[out->count++] =
            (line){n->model, n->scene, n->policy, n->controls[c].what, online_ratio(&p, c + 1, 0, MEASURE_JCT)};
    played_close(&p);
    return is_good;
}

/* Ways to choose edges. No clock ends them: greedily 32 edges are tried, else 1000 schedules are made. */
enum { AS_IS, SHUFFLED, PRIOR, WAYS, BEAM_EVERY = 5 /* a beam takes longer, so it gets a fifth of the rounds */ };

typedef struct edges_case {
    const learned *l;
    const tpch *t;
    clo_model *models[2]; /* as it is, shuffled */
    bool is_greedy;
    uint32_t sizes, rounds, count; /* count: of all settings */
    double *makespans;             /* [WAYS][count], each over that with the network as it is */
} edges_case;

static int64_t makespan_ns(const edges_case *e, const clo_cost *cost, int way)
{
    clo_edges_config config = CLO_EDGES_CONFIG_INIT;
    clo_plan_metrics metrics = CLO_PLAN_METRICS_INIT;
    clo_plan *plan = NULL;

    config.model = e->models[way == SHUFFLED];
    config.greedy = e->is_greedy;
    config.guide = way == PRIOR ? CLO_EDGES_BY_PRIOR : CLO_EDGES_BY_MODEL;
    bool is_good = clo_edges_plan(cost, &config, &plan) == CLO_OK &&
                   clo_plan_check(plan, cost, CLO_CHECK_FULL) == CLO_OK &&
                   clo_plan_measure(plan, cost, &metrics) == CLO_OK;
    clo_plan_destroy(plan);
    return is_good ? metrics.makespan_ns : 0;
}

static bool fill_makespans(const edges_case *e)
{
    bool is_good = true;

    for (uint32_t at = 0; at < e->count && is_good; at++) {
        uint32_t setting = at / e->rounds / e->sizes, size = at / e->rounds % e->sizes;
        double as_is = 1;
        learned_case c;
        is_good = learned_case_open(e->l, e->t, setting, learned_sizes[size], at % e->rounds, &c);
        for (int way = 0; way < WAYS && is_good; way++) {
            int64_t ns = makespan_ns(e, c.cost, way);
            as_is = way == AS_IS ? (double)ns : as_is;
            e->makespans[(size_t)way * e->count + at] = (double)ns / as_is;
            is_good = ns > 0 || bench_fail("edges");
        }
        learned_case_close(&c);
    }
    return is_good;
}

static bool add_edges(const learned *l, const tpch *t, bool is_greedy, lines *out)
{
    void *memory[2] = {NULL, NULL};
    edges_case e = {.l = l,
                    .t = t,
                    .models = {model_builtin("edges", MODEL_AS_IS, l->options.seed, &memory[0]),
                               model_builtin("edges", MODEL_SHUFFLED, l->options.seed, &memory[1])},
                    .is_greedy = is_greedy,
                    .sizes = l->options.quick ? 1 : LEARNED_SIZES,
                    .rounds = is_greedy ? l->options.rounds : (l->options.rounds + BEAM_EVERY - 1) / BEAM_EVERY};

    e.count = LEARNED_SETTINGS * e.sizes * e.rounds;
    e.makespans = calloc((size_t)WAYS * e.count, sizeof *e.makespans);
    if (e.makespans == NULL)
        bench_fail("no memory for makespans");
    bool is_good = e.makespans != NULL && e.models[0] != NULL && e.models[1] != NULL && fill_makespans(&e);
    for (int way = SHUFFLED; way < WAYS && is_good; way++)
        out->list[out->count++] =
            (line){"edges", "Hua et al.", is_greedy ? "edges-greedy" : "edges", way == SHUFFLED ? shuffled : alone,
                   bench_ratio(e.makespans + (size_t)way * e.count, e.makespans, e.count)};
    for (int m = 0; m < 2; m++) {
        clo_model_destroy(e.models[m]);
        free(memory[m]);
    }
    free(e.makespans);
    return is_good;
}

static void print_table(const lines *all)
{
    printf("What each built-in network contributes: completion times (edges: makespans) of a control / those of the\n"
           "network as it is, 95 %% intervals, paired. It contributes where that is %.2f or more, with an interval "
           "above 1\n\n"
           "%-14s %-14s %-16s %-17s %-22s %s\n",
           WORSE, "network", "in", "runs in", "control", "ratio", "contributes");
    for (uint32_t i = 0; i < all->count; i++) {
        const line *l = &all->list[i];
        printf("%-14s %-14s %-16s %-17s %.3f [%.3f, %.3f]   %s\n", l->model, l->scene, l->policy, l->control,
               l->ratio.ratio, l->ratio.low, l->ratio.high, contributes(l) ? "yes" : "no");
    }
}

static void print_json(const lines *all)
{
    printf("{\"part\": \"networks\", \"rows\": [");
    for (uint32_t i = 0; i < all->count; i++) {
        const line *l = &all->list[i];
        printf("%s{\"network\": \"%s\", \"scene\": \"%s\", \"policy\": \"%s\", \"control\": \"%s\", \"ratio\": %.4f, "
               "\"low\": %.4f, \"high\": %.4f, \"contributes\": %s}",
               i > 0 ? ", " : "", l->model, l->scene, l->policy, l->control, l->ratio.ratio, l->ratio.low,
               l->ratio.high, contributes(l) ? "true" : "false");
    }
    printf("]}");
}

bool learned_networks(const learned *l)
{
    online data = {.options = l->options, .data = l->data};
    lines all = {.count = 0};
    bool is_good = online_data_open(&data);

    if (is_good && data.skipped != NULL) {
        fprintf(stderr, "bench: networks: skipped, %s\n", data.skipped);
        if (l->options.json)
            printf("{\"part\": \"networks\", \"skipped\": true}");
        online_data_close(&data);
        return true;
    }
    for (int i = 0; i < NETWORKS && is_good; i++)
        if (l->table == NULL || strncmp(networks[i].model, l->table, strlen(l->table)) == 0)
            is_good = add_network(l, &data, &networks[i], &all);
    if (is_good && (l->table == NULL || strncmp("edges", l->table, strlen(l->table)) == 0))
        is_good = add_edges(l, data.tpch, false, &all) && add_edges(l, data.tpch, true, &all);
    online_data_close(&data);
    if (is_good && all.count == 0)
        fprintf(stderr, "bench: networks: no network's name begins with '%s'\n", l->table);
    if (is_good && l->options.json)
        print_json(&all);
    else if (is_good && all.count > 0)
        print_table(&all);
    return is_good;
}
