/* random.c - one hidden plan for each seed (executors, kinds, machines) that the graph and the platform both follow, so
 * that the graph can promise to run there without having seen it. */
#include "random.h"

#include "base/numbers/rng.h"
#include "sample.h"
#include "support.h"

#include <clotho/body.h>
#include <clotho/generate.h>
#include <clotho/handle.h>
#include <stdio.h>
#include <string.h>

#define EXECUTORS_MAX 12
#define RESOURCES 3
#define DEMAND_MAX 6

/* What a seed says about its platform. */
struct site {
    uint32_t executors, kinds, machines;
    uint32_t kind_of[EXECUTORS_MAX];
};

static struct site make_site(uint64_t seed)
{
    clo_rng rng = sample_rng(seed ^ 0x517e);
    struct site site = {.executors = 1 + clo_rng_below(&rng, EXECUTORS_MAX)};

    site.kinds = 1 + clo_rng_below(&rng, 3);
    site.machines = site.executors > 1 && clo_rng_below(&rng, 3) == 0 ? 2 : 1;
    for (uint32_t e = 0; e < site.executors; e++)
        site.kind_of[e] = clo_rng_below(&rng, site.kinds);
    return site;
}

static void fill_executors(clo_rng *rng, const struct site *site, clo_executor *executors)
{
    uint32_t speeds[3][CLO_CLASSES_BUILTIN];
    uint32_t memories = 1 + clo_rng_below(rng, site->executors);
    bool speed_by_kind = clo_rng_below(rng, 2) == 0;

    for (uint32_t k = 0; k < 3; k++)
        for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++)
            speeds[k][c] = CLO_SPEED_ONE / 4 + clo_rng_below(rng, CLO_SPEED_ONE * 7 / 4);
    for (uint32_t e = 0; e < site->executors; e++) {
        executors[e] = (clo_executor){.kind = site->kind_of[e], .os_index = -1};
        executors[e].machine = site->machines == 2 ? e % 2 : 0;
        executors[e].memory = clo_rng_below(rng, memories);
        for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++)
            executors[e].speed_q16[c] = speed_by_kind ? speeds[site->kind_of[e]][c]
                                                      : CLO_SPEED_ONE / 4 + clo_rng_below(rng, CLO_SPEED_ONE * 7 / 4);
    }
    for (uint32_t e = 0; e < memories && e < site->executors; e++)
        executors[e].memory = e; /* each memory is somebody's */
}

/* Links in up to four pieces, on every third platform. */
#define CUTS_MAX 3
struct pieces {
    uint32_t count;
    uint64_t cut_bytes[CUTS_MAX];
    double beyond[CUTS_MAX * EXECUTORS_MAX * EXECUTORS_MAX];
};

static void fill_pieces(uint64_t seed, uint32_t executors, struct pieces *p)
{
    clo_rng rng = sample_rng(seed ^ 0x71ece5);
    uint64_t bytes = 0;

    p->count = seed % 3 == 2 ? 1 + clo_rng_below(&rng, CUTS_MAX) : 0;
    for (uint32_t k = 0; k < p->count; k++)
        p->cut_bytes[k] = bytes += 1 + clo_rng_below(&rng, 2000);
    for (uint32_t i = 0; i < p->count * executors * executors; i++)
        p->beyond[i] = clo_rng_below(&rng, 5) == 0 ? 0 : 0.25 + 4 * clo_rng_unit(&rng);
}

clo_platform *random_platform(uint64_t seed, unsigned features)
{
    struct pieces pieces;
    struct site site = make_site(seed);
    clo_rng rng = sample_rng(seed ^ 0x91a7f0);
    clo_executor executors[EXECUTORS_MAX];
    int64_t latency_ns[EXECUTORS_MAX * EXECUTORS_MAX], capacities[2 * CLO_RESOURCES_MAX];
    double bandwidth[EXECUTORS_MAX * EXECUTORS_MAX];
    clo_platform *platform = NULL;
    char name[32];

    fill_executors(&rng, &site, executors);
    fill_pieces(seed, site.executors, &pieces);
    for (uint32_t i = 0; i < site.executors * site.executors; i++) {
        latency_ns[i] = clo_rng_below(&rng, 4) == 0 ? 0 : clo_rng_below(&rng, 3000);
        bandwidth[i] = clo_rng_below(&rng, 5) == 0 ? 0 : 0.25 + 4 * clo_rng_unit(&rng);
    }
    for (uint32_t i = 0; i < 2 * CLO_RESOURCES_MAX; i++)
        capacities[i] = i % CLO_RESOURCES_MAX < RESOURCES && clo_rng_below(&rng, 5) > 0
                            ? (int64_t)DEMAND_MAX + clo_rng_below(&rng, 10)
                            : -1;
    snprintf(name, sizeof name, "random-%llu", (unsigned long long)seed);
    ok(clo_platform_create(
        &(clo_platform_desc){
            .size = sizeof(clo_platform_desc),
            .name = name,
            .executors_count = site.executors,
            .executors = executors,
            .kinds_count = site.kinds,
            .machines_count = site.machines,
            .capacities = features & RANDOM_DEMANDS ? capacities : NULL,
            .latency_ns = latency_ns,
            .bandwidth_bytes_per_ns = bandwidth,
            .coherent = clo_rng_below(&rng, 2),
            .cuts_count = pieces.count,
            .cut_bytes = pieces.cut_bytes,
            .bandwidth_beyond = pieces.beyond,
        },
        &platform));
    return platform;
}

/* Of any task: where it is a branch, chooses by what has arrived, or leaves it to be drawn. argument: so many arms. */
static int branch_body(const clo_call *call)
{
    uint64_t arms = (uint64_t)(uintptr_t)call->argument, sum = call->task;

    if (call->arm == NULL)
        return clo_body_spin(call);
    for (uint32_t i = 0; i < call->inputs_count; i++)
        sum = sum * 31 + call->inputs_bytes[i];
    if (sum % 5 != 0)
        *call->arm = (uint32_t)(sum / 5 % arms);
    return clo_body_spin(call);
}

static int kind_body(const clo_call *call)
{
    return clo_body_spin(call); /* the same effect under another address */
}

/* Lets the task run on executors from 64 on too, which the platform does not have: the same plans, by another set. */
static void widen(clo_graph *graph, uint32_t task)
{
    uint32_t executors[EXECUTORS_MAX + 2], count = clo_graph_executors(graph, task, executors, EXECUTORS_MAX);

    executors[count++] = 64 + task * 31 % (4096 - 64);
    executors[count++] = 64 + task % 7;
    ok(clo_graph_set_executors(graph, task, executors, count));
}

/* One task; home: an executor that must be able to run it. */
static void add_task(clo_graph *graph, clo_rng *rng, const struct site *site, unsigned features, uint32_t home)
{
    char name[32];
    clo_task task = {.body = clo_body_spin, .work_ns = clo_rng_below(rng, 20000)};
    uint32_t id = clo_graph_tasks(graph), choice = clo_rng_below(rng, 8);
    bool has_kinds = features & RANDOM_KINDS && clo_rng_below(rng, 2) == 0;
    bool kind_bodies_only = has_kinds && clo_rng_below(rng, 4) == 0;

    snprintf(name, sizeof name, "task %u", id);
    if (!(features & RANDOM_UNNAMED) && clo_rng_below(rng, 4) > 0)
        task.name = name;
    task.task_class = (uint16_t)clo_rng_below(rng, CLO_CLASSES_BUILTIN + 2);
    if (features & RANDOM_INSTANCES && choice < 2)
        task.instances = 2 + clo_rng_below(rng, 4);
    if (features & RANDOM_STAGES && choice < 6)
        task.instances = 2 + clo_rng_below(rng, 23);
    if (features & RANDOM_UNTIMED && has_kinds && choice >= 6)
        task.work_ns = 0;
    if (features & RANDOM_OUTPUTS)
        task.output_bytes = clo_rng_below(rng, 4) == 0 ? 0 : 1 + clo_rng_below(rng, 512);
    if (features & RANDOM_DUPLICABLE)
        task.duplicable = clo_rng_below(rng, 3) > 0;
    if (features & RANDOM_MASKS && clo_rng_below(rng, 3) == 0)
        task.executors_mask = (clo_rng_next(rng) & ((1ull << site->executors) - 1)) | 1ull << home;
    for (uint32_t r = 0; r < RESOURCES && features & RANDOM_DEMANDS && choice % 2 == 0; r++)
        task.demand[r] = clo_rng_below(rng, DEMAND_MAX + 1);
    if (kind_bodies_only)
        task.body = NULL;
    if (features & RANDOM_BRANCHES && task.body != NULL && clo_rng_below(rng, 4) > 0) {
        task.body = branch_body;
        task.argument = (void *)(uintptr_t)4;
    }
    if (features & RANDOM_GRAIN && task.instances > 1) {
        task.instances *= 1 + clo_rng_below(rng, 6);
        task.grain = clo_rng_below(rng, task.instances + 2);
    }
    ok(clo_graph_add_task(graph, &task, NULL));
    if (id % 3 == 1) /* without a draw: all else stays as it was */
        ok(clo_graph_set_codelet(
            graph, id,
            &(clo_codelet){id % 2 == 0 ? "even" : "odd \"one\"", id % 4, id % 5 == 0 ? UINT64_MAX - id : id % 5 - 1}));
    if (task.executors_mask != 0 && id % 4 == 0)
        widen(graph, id);
    for (uint32_t k = 0; k < site->kinds && has_kinds; k++) {
        bool never = clo_rng_below(rng, 3) == 0 && k != site->kind_of[home];
        bool must = task.work_ns == 0 && k == site->kind_of[home];
        if (clo_rng_below(rng, 4) > 0 || must)
            ok(clo_graph_set_time(graph, id, k, never ? CLO_TIME_NEVER : clo_rng_below(rng, 20000)));
        if (clo_rng_below(rng, 4) == 0 || (kind_bodies_only && k == site->kind_of[home]))
            ok(clo_graph_set_body(graph, id, k, kind_body));
    }
}

/* Most tasks use some handles, in every way that they may. */
static void add_handles(clo_graph *graph, clo_rng *rng)
{
    uint32_t count = 1 + clo_rng_below(rng, 6);
    bool is_written[6] = {false};
    char name[16];
    clo_task task;

    for (uint32_t h = 0; h < count; h++) {
        snprintf(name, sizeof name, "handle %u", h);
        clo_handle handle = {.name = clo_rng_below(rng, 4) > 0 ? name : NULL, .bytes = 1 + clo_rng_below(rng, 800)};
        if (clo_rng_below(rng, 2) == 0)
            handle.bytes = 24 * 720; /* many numbers of parts */
        ok(clo_graph_add_handle(graph, &handle, NULL));
    }
    for (uint32_t t = 0; t < clo_graph_tasks(graph); t++) {
        ok(clo_graph_task(graph, t, &task));
        for (uint32_t h = 0; h < count; h++) {
            clo_handle handle;
            uint32_t choice = clo_rng_below(rng, 9), mode = choice % 3 + 1;
            ok(clo_graph_handle(graph, h, &handle));
            bool has_parts = handle.bytes % task.instances == 0 && (task.instances > 1 || choice == 0);
            if (choice > 5 || (task.instances > 1 && mode != CLO_ACCESS_READ && !has_parts))
                continue;
            if (!is_written[h])
                mode = CLO_ACCESS_WRITE;
            if (mode != CLO_ACCESS_READ && task.instances > 1 && !has_parts)
                continue;
            is_written[h] |= mode != CLO_ACCESS_READ;
            if (has_parts && (mode != CLO_ACCESS_READ || choice > 2))
                mode |= CLO_ACCESS_PARTS;
            ok(clo_graph_add_access(graph, t, h, mode));
        }
    }
}

static void make_branch(clo_graph *graph, clo_rng *rng, uint32_t task, uint32_t arms)
{
    uint32_t chances[4] = {0};

    for (uint32_t i = 0; i < 4; i++)
        chances[clo_rng_below(rng, arms)] += CLO_CHANCES_ONE / 4;
    ok(clo_graph_set_branch(graph, task, arms, clo_rng_below(rng, 2) ? chances : NULL));
}

/* A task of the DAG becomes a branch, a merge, or stays what it is; returns how many arms it has. */
static uint32_t make_mode(clo_graph *graph, clo_rng *rng, uint32_t task)
{
    clo_task row;
    uint32_t arms = 4;

    ok(clo_graph_task(graph, task, &row));
    if (clo_rng_below(rng, 3) == 0)
        ok(clo_graph_set_merge(graph, task));
    if (row.instances > 1 || row.duplicable || clo_rng_below(rng, 2) == 0)
        return 0;
    make_branch(graph, rng, task, arms);
    return arms;
}

/* A loop of up to four iterations of up to four tasks behind a task of the DAG. */
static void add_loop(clo_graph *graph, clo_rng *rng, uint32_t tasks)
{
    uint32_t inner = 1 + clo_rng_below(rng, 4), first, exit;
    clo_task task = {.body = clo_body_spin, .output_bytes = 1 + clo_rng_below(rng, 64)};
    clo_graph *body;

    ok(clo_graph_create("body", &body));
    for (uint32_t t = 0; t < inner; t++) {
        task.work_ns = clo_rng_below(rng, 20000);
        task.instances = t + 1 < inner ? 1 + clo_rng_below(rng, 3) : 1;
        ok(clo_graph_add_task(body, &task, NULL));
        if (t > 0)
            ok(clo_graph_add_edge(body, clo_rng_below(rng, t), t, 10));
    }
    ok(clo_graph_seal(body));
    const clo_edge carried = {clo_rng_below(rng, inner), 0, 100};
    clo_loop loop = CLO_LOOP_INIT;
    loop.body = body;
    loop.condition = inner - 1;
    loop.bound = 1 + clo_rng_below(rng, 4);
    loop.again = clo_rng_below(rng, 2) * CLO_CHANCES_ONE * 3 / 4;
    loop.carried = &carried;
    loop.carried_count = clo_rng_below(rng, 2);
    loop.exit_bytes = 50;
    ok(clo_graph_add_loop(graph, &loop, &first, &exit));
    ok(clo_graph_add_edge(graph, clo_rng_below(rng, tasks), first, 1000));
    clo_graph_destroy(body);
}

/* A random DAG. Edges follow a hidden order of the ids, so topological order and id order differ. */
static clo_graph *random_dag(clo_rng *rng, const struct site *site, unsigned features)
{
    uint32_t hidden[120], arms[120] = {0},
                          tasks_max = features & RANDOM_SMALL    ? 12
                                      : features & RANDOM_STAGES ? 14
                                                                 : 120;
    uint32_t tasks = 1 + clo_rng_below(rng, tasks_max);
    uint32_t density = 1 + clo_rng_below(rng, 5), kind;
    clo_graph *graph = NULL;
    char name[16];

    ok(clo_graph_create("random", &graph));
    for (uint32_t k = 0; k < site->kinds; k++) {
        snprintf(name, sizeof name, "k%u", k);
        ok(clo_graph_kind(graph, name, &kind));
    }
    for (uint32_t t = 0; t < tasks; t++) {
        add_task(graph, rng, site, features, clo_rng_below(rng, site->executors));
        uint32_t at = clo_rng_below(rng, t + 1); /* inside-out shuffle */
        hidden[t] = hidden[at];
        hidden[at] = t;
        if (features & RANDOM_BRANCHES)
            arms[t] = make_mode(graph, rng, t);
    }
    for (uint32_t a = 0; a < tasks; a++)
        for (uint32_t b = a + 1; b < tasks; b++)
            if (clo_rng_below(rng, tasks + 4) < density) {
                uint64_t bytes = clo_rng_below(rng, 3) == 0 ? 0 : clo_rng_below(rng, 20000);
                bool by_id = features & RANDOM_HANDLES;
                uint32_t from = by_id ? a : hidden[a], to = by_id ? b : hidden[b];
                bytes = features & RANDOM_NO_BYTES ? 0 : bytes;
                if (arms[from] > 0 && clo_rng_below(rng, 4) > 0)
                    ok(clo_graph_add_arm(graph, from, to, bytes, clo_rng_below(rng, arms[from])));
                else
                    ok(clo_graph_add_edge(graph, from, to, bytes));
            }
    if (features & RANDOM_BRANCHES && clo_rng_below(rng, 2) == 0)
        add_loop(graph, rng, tasks);
    if (features & RANDOM_HANDLES)
        add_handles(graph, rng);
    ok(clo_graph_seal(graph));
    return graph;
}

static clo_graph *random_family(clo_rng *rng, unsigned features)
{
    static const double ratios[] = {0, 0.1, 0.5, 1, 5, 10};
    uint32_t families = 0;
    clo_graph *graph = NULL;

    while (strcmp(name_at("families", families), "switches") !=
           0) /* the last one: branches come with RANDOM_BRANCHES */
        families++;
    clo_generate_config config = CLO_GENERATE_CONFIG_INIT;
    config.seed = clo_rng_next(rng);
    config.tasks = 1 + clo_rng_below(rng, features & RANDOM_SMALL ? 6 : 110);
    config.width = features & RANDOM_SMALL ? 2 : clo_rng_below(rng, 7);
    config.work_mean_ns = 1 + clo_rng_below(rng, 10000);
    config.ccr = features & RANDOM_NO_BYTES ? 0 : ratios[clo_rng_below(rng, 6)];
    config.work_spread = clo_rng_unit(rng);
    config.beta = clo_rng_unit(rng);
    config.kinds = features & RANDOM_KINDS ? clo_rng_below(rng, 4) : 0;
    config.duplicable = (features & RANDOM_DUPLICABLE) != 0;
    config.outputs = (features & RANDOM_OUTPUTS) != 0;
    const char *family = name_at("families", clo_rng_below(rng, families));
    if (features & RANDOM_SMALL && strcmp(family, "montage") == 0)
        family = "layered"; /* montage has at least 11 tasks and grows in large steps */
    ok(clo_graph_generate(family, &config, &graph));
    return graph;
}

clo_graph *random_graph(uint64_t seed, unsigned features)
{
    struct site site = make_site(seed);
    clo_rng rng = sample_rng(seed ^ 0x6e4f);

    return seed % 3 == 2 && !(features & RANDOM_STAGES) ? random_family(&rng, features)
                                                        : random_dag(&rng, &site, features);
}
