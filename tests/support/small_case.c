#include "small_case.h"

#include "base/numbers/rng.h"
#include "sample.h"
#include "support.h"

#include <string.h>

enum { EXECUTORS_MAX = 300, MACHINES_MAX = 4, MEMORIES_MAX = 4, RESOURCES = 2, TASKS_MAX = 14 };

static uint32_t draw(clo_rng *rng, uint32_t count)
{
    return count > 1 ? clo_rng_below(rng, count) : 0;
}

/* Of four kinds: short, 0 or long, all of one order, powers. A problem keeps to one. */
static int64_t draw_work(clo_rng *rng, uint32_t kind)
{
    switch (kind) {
    case 0:
        return draw(rng, 3);
    case 1:
        return draw(rng, 2) != 0 ? 0 : 1000000;
    case 2:
        return 1000 + draw(rng, 1000);
    default:
        return draw(rng, 4) == 0 ? 0 : (int64_t)1 << draw(rng, 20);
    }
}

static uint64_t draw_bytes(clo_rng *rng, uint32_t kind)
{
    switch (kind) {
    case 0:
        return 0;
    case 1:
        return draw(rng, 5);
    default:
        return draw(rng, 3) == 0 ? 0 : draw(rng, 200000);
    }
}

static uint32_t draw_speed(clo_rng *rng, uint32_t kind)
{
    switch (kind) {
    case 0:
        return CLO_SPEED_ONE;
    case 1:
        return 1 + draw(rng, CLO_SPEED_ONE);
    default:
        return CLO_SPEED_ONE * (1 + draw(rng, 8));
    }
}

static void fill_links(clo_rng *rng, const clo_executor *executors, uint32_t count, int64_t *latency_ns,
                       double *bandwidth)
{
    enum { ALL = MACHINES_MAX * MEMORIES_MAX };
    int64_t latencies[ALL * ALL];
    double bandwidths[ALL * ALL];
    uint32_t latency = draw(rng, 3), width = draw(rng, 3);

    for (uint32_t i = 0; i < ALL * ALL; i++) {
        latencies[i] = latency == 0 ? 0 : latency == 1 ? draw(rng, 4) : draw(rng, 5) > 0 ? 0 : 1000000000;
        bandwidths[i] = width == 0 ? 0 : width == 1 ? 1 : 0.001 + draw(rng, 1000) / 10.0;
    }
    for (uint32_t i = 0; i < count * count; i++) {
        uint32_t pair = executors[i / count].memory * ALL + executors[i % count].memory;
        latency_ns[i] = latencies[pair];
        bandwidth[i] = bandwidths[pair];
    }
}

static clo_platform *draw_platform(clo_rng *rng, unsigned features, uint32_t resources)
{
    uint32_t most = features & SMALL_WIDE ? (draw(rng, 8) == 0 ? EXECUTORS_MAX : 8) : 6, count = 1 + draw(rng, most);
    uint32_t machines = 1 + draw(rng, MACHINES_MAX), memories = 1 + draw(rng, MEMORIES_MAX), speed = draw(rng, 3);
    clo_executor *executors = calloc(count, sizeof *executors);
    int64_t *latency_ns = calloc((size_t)count * count, sizeof *latency_ns);
    double *bandwidth = calloc((size_t)count * count, sizeof *bandwidth), ports[MACHINES_MAX];
    int64_t capacities[MACHINES_MAX * CLO_RESOURCES_MAX];
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *platform = NULL;

    assert_true(executors != NULL && latency_ns != NULL && bandwidth != NULL);
    desc.kinds_count = 1 + draw(rng, 3);
    for (uint32_t e = 0; e < count; e++) {
        uint32_t machine = draw(rng, machines);
        executors[e] = (clo_executor){.kind = draw(rng, desc.kinds_count), .machine = machine, .os_index = -1};
        executors[e].memory = machine * MEMORIES_MAX + draw(rng, memories);
        for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++)
            executors[e].speed_q16[c] = draw_speed(rng, speed);
    }
    fill_links(rng, executors, count, latency_ns, bandwidth);
    for (uint32_t i = 0; i < MACHINES_MAX * CLO_RESOURCES_MAX; i++)
        capacities[i] = i % CLO_RESOURCES_MAX < resources ? 1 + (int64_t)draw(rng, 4) : -1;
    for (uint32_t m = 0; m < MACHINES_MAX; m++)
        ports[m] = draw(rng, 3) > 0 ? 1.5 : 0;
    desc.executors_count = count;
    desc.executors = executors;
    desc.machines_count = machines;
    desc.capacities = capacities;
    desc.latency_ns = latency_ns;
    desc.bandwidth_bytes_per_ns = bandwidth;
    desc.port_bytes_per_ns = features & SMALL_PORTS ? ports : NULL;
    desc.mean_includes_self = draw(rng, 2);
    ok(clo_platform_create(&desc, &platform));
    free(executors);
    free(latency_ns);
    free(bandwidth);
    return platform;
}

static void add_edges(clo_graph *graph, clo_rng *rng, uint32_t tasks)
{
    uint32_t shape = draw(rng, 6), bytes = draw(rng, 3);

    for (uint32_t t = 1; t < tasks; t++)
        for (uint32_t from = 0; from < t; from++) {
            bool is_there = shape == 0   ? from + 1 == t                  /* a chain */
                            : shape == 1 ? from == 0                      /* a fork */
                            : shape == 2 ? t + 1 == tasks                 /* a join */
                            : shape == 3 ? from + 3 >= t                  /* a band */
                            : shape == 4 ? draw(rng, 4) == 0              /* any */
                                         : from == draw(rng, t) || t < 2; /* few */
            if (is_there)
                ok(clo_graph_add_edge(graph, from, t, draw_bytes(rng, bytes)));
        }
}

static clo_graph *draw_graph(clo_rng *rng, const clo_platform *platform, uint32_t resources)
{
    uint32_t tasks = 1 + draw(rng, TASKS_MAX), work = draw(rng, 4), executors = clo_platform_executors(platform);
    clo_graph *graph = NULL;

    ok(clo_graph_create("small", &graph));
    for (uint32_t t = 0; t < tasks; t++) {
        clo_task task = {.work_ns = draw_work(rng, work),
                         .duplicable = draw(rng, 4) > 0,
                         .instances = draw(rng, 6) == 0 ? 1 + draw(rng, 5) : 1,
                         .output_bytes = draw(rng, 3) > 0 ? 0 : draw(rng, 1000),
                         .task_class = (uint16_t)draw(rng, 5)};
        for (uint32_t allowed = draw(rng, 4) == 0 ? 3 : 0; allowed > 0; allowed--)
            task.executors_mask |= 1ull << draw(rng, executors < 64 ? executors : 64);
        if (task.instances > 2 && draw(rng, 3) == 0)
            task.grain = 1 + draw(rng, 3);
        for (uint32_t r = 0; r < resources && draw(rng, 2) > 0; r++)
            task.demand[r] = draw(rng, 3);
        ok(clo_graph_add_task(graph, &task, NULL));
    }
    add_edges(graph, rng, tasks);
    ok(clo_graph_seal(graph));
    return graph;
}

small_case small_case_new(uint64_t seed, unsigned features)
{
    clo_rng rng = sample_rng(seed ^ 0x5ca5e);
    uint32_t resources = draw(&rng, 2) * (1 + draw(&rng, RESOURCES));
    small_case c = {.no_duplicates = draw(&rng, 3) == 0};

    c.platform = draw_platform(&rng, features, resources);
    c.graph = draw_graph(&rng, c.platform, resources);
    clo_status status = clo_cost_create(c.graph, c.platform, &c.cost);
    assert_true(status == CLO_OK || status == CLO_ERR_PLATFORM);
    return c;
}

void small_case_drop(small_case *c)
{
    clo_cost_destroy(c->cost);
    clo_graph_destroy(c->graph);
    clo_platform_destroy(c->platform);
}
