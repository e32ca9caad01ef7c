/* report/page/causes.c - see causes.h. One pass forward finds where each input came from; one backward, in order of
 * falling starts, hands the latest possible end from consumers to producers (the critical path method, Kelley and
 * Walker 1959, with the order on each executor as further edges). */
#include "report/page/causes.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "graph/graph.h"

#include <stdlib.h>

#define PAIRS_MAX UINT64_C(40000000)

typedef struct finder {
    const clo_graph *graph;
    const clo_platform *platform;
    const clo_bars *bars;
    size_t *first;      /* [instances + 2] into of */
    uint32_t *of;       /* [bars] bars by instance */
    uint32_t *order;    /* [bars] by start */
    int64_t *latest_ns; /* [bars] latest end */
    clo_cause *causes;
} finder;

static bool is_too_much(const clo_graph *graph, const clo_bars *bars)
{
    uint64_t pairs = 0;

    for (size_t i = 0; i < bars->count; i++) {
        uint32_t task = bars->all[i].task;
        for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++)
            pairs += clo_graph_instances_of(graph, clo_graph_source(graph, edge));
        if (pairs > PAIRS_MAX)
            return true;
    }
    return bars->has_groups || bars->count >= CLO_NONE;
}

static void index_bars(finder *f)
{
    for (size_t i = 0; i < f->bars->count; i++)
        f->first[f->graph->first_instance[f->bars->all[i].task] + f->bars->all[i].instance + 2]++;
    for (uint32_t v = 1; v <= f->graph->instances; v++)
        f->first[v + 1] += f->first[v];
    for (size_t i = 0; i < f->bars->count; i++)
        f->of[f->first[f->graph->first_instance[f->bars->all[i].task] + f->bars->all[i].instance + 1]++] = (uint32_t)i;
}

/* The bar that instance v's data come from for a bar on `executor`; CLO_NONE: it did not run. */
static uint32_t provider(const finder *f, uint32_t v, uint64_t bytes, uint32_t executor, int64_t *transfer_ns)
{
    uint32_t best = CLO_NONE;
    int64_t earliest = INT64_MAX;

    for (size_t k = f->first[v]; k < f->first[v + 1]; k++) {
        const clo_bar *bar = &f->bars->all[f->of[k]];
        int64_t way = clo_platform_transfer_ns(f->platform, bytes, bar->executor, executor);
        int64_t arrival = clo_time_add(bar->finish_ns, way);
        if ((bar->flags & CLO_BAR_LOST) != 0 || arrival >= earliest)
            continue;
        earliest = arrival;
        best = f->of[k];
        *transfer_ns = way;
    }
    return best;
}

static void look_at_inputs(const finder *f, uint32_t i, bool is_backward)
{
    const clo_bar *bar = &f->bars->all[i];
    clo_cause *cause = &f->causes[i];

    for (uint32_t edge = f->graph->in_first[bar->task]; edge < f->graph->in_first[bar->task + 1]; edge++) {
        uint32_t source = clo_graph_source(f->graph, edge);
        uint64_t bytes = clo_graph_in_bytes(f->graph, edge);
        for (uint32_t v = f->graph->first_instance[source]; v < f->graph->first_instance[source + 1]; v++) {
            int64_t way = 0;
            uint32_t by = provider(f, v, bytes, bar->executor, &way);
            if (by == CLO_NONE)
                continue;
            int64_t finish_ns = f->bars->all[by].finish_ns, room = bar->start_ns - finish_ns;
            way = way < room ? way : room > 0 ? room : 0;
            int64_t latest = f->latest_ns[i] - (bar->finish_ns - bar->start_ns) - way;
            if (is_backward && latest < f->latest_ns[by])
                f->latest_ns[by] = latest;
            if (is_backward || (cause->by != CLO_NONE && finish_ns + way <= cause->ready_ns))
                continue;
            cause->by = by;
            cause->ready_ns = finish_ns + way;
            cause->transfer_ns = way;
        }
    }
}

/* The bar before on the executor, if it ended after all inputs were there. */
static void look_before(const finder *f, uint32_t i)
{
    const clo_bar *bars = f->bars->all;
    bool is_first = i == f->bars->first[bars[i].executor];

    if (!is_first && (f->causes[i].by == CLO_NONE || bars[i - 1].finish_ns >= f->causes[i].ready_ns) &&
        bars[i - 1].finish_ns <= bars[i].start_ns)
        f->causes[i].by = i - 1;
}

typedef struct started {
    int64_t start_ns, finish_ns;
    uint32_t bar;
} started;

static int by_start(const void *left, const void *right)
{
    const started *a = left, *b = right;

    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->finish_ns != b->finish_ns)
        return a->finish_ns < b->finish_ns ? -1 : 1;
    return a->bar < b->bar ? -1 : a->bar > b->bar;
}

static bool sort_by_start(finder *f)
{
    started *rows = clo_allocate(f->bars->count, sizeof *rows);

    if (rows == NULL)
        return false;
    for (size_t i = 0; i < f->bars->count; i++)
        rows[i] = (started){f->bars->all[i].start_ns, f->bars->all[i].finish_ns, (uint32_t)i};
    qsort(rows, f->bars->count, sizeof *rows, by_start);
    for (size_t i = 0; i < f->bars->count; i++)
        f->order[i] = rows[i].bar;
    clo_free(rows);
    return true;
}

static void find(finder *f)
{
    const clo_bar *bars = f->bars->all;
    size_t count = f->bars->count;
    int64_t end_ns = 0;

    for (size_t i = 0; i < count; i++) {
        end_ns = bars[i].finish_ns > end_ns ? bars[i].finish_ns : end_ns;
        f->causes[i].by = CLO_NONE;
    }
    for (size_t i = 0; i < count; i++)
        f->latest_ns[i] = end_ns;
    for (uint32_t i = 0; i < count; i++) {
        look_at_inputs(f, i, false);
        look_before(f, i);
    }
    for (size_t k = count; k-- > 0;) {
        uint32_t i = f->order[k];
        int64_t latest_start = f->latest_ns[i] - (bars[i].finish_ns - bars[i].start_ns);
        if (i > f->bars->first[bars[i].executor] && latest_start < f->latest_ns[i - 1])
            f->latest_ns[i - 1] = latest_start;
        look_at_inputs(f, i, true);
        f->causes[i].slack_ns = f->latest_ns[i] > bars[i].finish_ns ? f->latest_ns[i] - bars[i].finish_ns : 0;
    }
}

clo_status clo_causes_find(const clo_cost *cost, const clo_bars *bars, clo_cause **out)
{
    finder f = {.graph = clo_cost_graph(cost), .platform = clo_cost_platform(cost), .bars = bars};

    *out = NULL;
    if (is_too_much(f.graph, bars))
        return CLO_OK;
    f.first = clo_allocate((size_t)f.graph->instances + 2, sizeof f.first[0]);
    f.of = clo_allocate(bars->count, sizeof f.of[0]);
    f.order = clo_allocate(bars->count, sizeof f.order[0]);
    f.latest_ns = clo_allocate(bars->count, sizeof f.latest_ns[0]);
    f.causes = clo_allocate(bars->count, sizeof f.causes[0]);
    bool has_room = f.first != NULL && f.of != NULL && f.order != NULL && f.latest_ns != NULL && f.causes != NULL &&
                    sort_by_start(&f);
    if (has_room) {
        index_bars(&f);
        find(&f);
        *out = f.causes;
    } else {
        clo_free(f.causes);
    }
    clo_free(f.first);
    clo_free(f.of);
    clo_free(f.order);
    clo_free(f.latest_ns);
    return has_room ? CLO_OK : clo_fail_memory("a report");
}
