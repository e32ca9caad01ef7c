/* plan/search/exact_bound.c - the tables of the exact planner, and how short a plan can become that has begun.
 *
 * Two bounds, both for plans without replicas:
 *   ways: the earliest end of every instance on every executor, with the transfers that its place and those of its
 *         producers cost, plus the shortest path from there to the end of all;
 *   work: what is not placed and has a way of at least b behind it must fit between now and the end - b, into what is
 *         left of the executors; an executor's time counts with its price (cost/bound/area.c), in proportion to its
 *         speed. */
#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"
#include "plan/search/exact_model.h"

#include <assert.h>
#include <string.h>

enum { PRICE_BITS = 10, WAYS_MAX = 1 << 22 };

uint64_t clo_exact_arcs(const clo_graph *graph)
{
    uint64_t arcs = 0;

    for (uint32_t t = 0; t < graph->tasks; t++)
        for (uint32_t edge = graph->in_first[t]; edge < graph->in_first[t + 1] && arcs < CLO_NONE; edge++) {
            uint64_t pairs = clo_graph_pairs(graph, clo_graph_source(graph, edge), t);
            arcs = pairs < CLO_NONE - arcs ? arcs + pairs : CLO_NONE;
        }
    return arcs;
}

bool clo_exact_fits(const clo_schedule *schedule)
{
    uint64_t pairs = (uint64_t)schedule->executors * schedule->executors;

    return schedule->graph->instances <= CLO_EXACT_MAX && schedule->executors <= CLO_EXACT_MAX &&
           schedule->occupancies == NULL && clo_exact_arcs(schedule->graph) * pairs <= WAYS_MAX;
}

static bool equal_edges(const clo_graph *graph, uint32_t a, uint32_t b)
{
    uint32_t ins = graph->in_first[a + 1] - graph->in_first[a], outs = graph->out_first[a + 1] - graph->out_first[a];

    if (ins != graph->in_first[b + 1] - graph->in_first[b] || outs != graph->out_first[b + 1] - graph->out_first[b])
        return false;
    for (uint32_t i = 0; i < ins; i++) {
        uint32_t x = graph->in_first[a] + i, y = graph->in_first[b] + i;
        if (clo_graph_source(graph, x) != clo_graph_source(graph, y) ||
            clo_graph_in_bytes(graph, x) != clo_graph_in_bytes(graph, y))
            return false;
    }
    for (uint32_t i = 0; i < outs; i++) {
        uint32_t x = graph->out_first[a] + i, y = graph->out_first[b] + i;
        if (graph->out[x] != graph->out[y] || clo_graph_out_bytes(graph, x) != clo_graph_out_bytes(graph, y))
            return false;
    }
    return true;
}

/* Nothing can tell the two instances apart. */
static bool are_twins(const clo_schedule *schedule, uint32_t a, uint32_t b)
{
    uint32_t s = schedule->graph->task_of[a], t = schedule->graph->task_of[b];

    for (uint32_t e = 0; e < schedule->executors && s != t; e++)
        if (clo_cost_time(schedule->cost, s, e) != clo_cost_time(schedule->cost, t, e))
            return false;
    return equal_edges(schedule->graph, s, t);
}

static bool equal_link(const clo_platform *platform, uint32_t a, uint32_t b, uint32_t c)
{
    return clo_platform_links_equal(platform, a, c, b, c) && clo_platform_links_equal(platform, c, a, c, b);
}

/* Nothing changes when the two executors change places. */
static bool are_alike(const clo_schedule *schedule, uint32_t a, uint32_t b)
{
    if (!clo_platform_links_equal(schedule->platform, a, b, b, a))
        return false;
    for (uint32_t t = 0; t < schedule->graph->tasks; t++)
        if (clo_cost_time(schedule->cost, t, a) != clo_cost_time(schedule->cost, t, b))
            return false;
    for (uint32_t c = 0; c < schedule->executors; c++)
        if (c != a && c != b && !equal_link(schedule->platform, a, b, c))
            return false;
    return true;
}

static void find_classes(clo_exact_model *m, const clo_schedule *schedule)
{
    for (uint32_t e = 0; e < m->executors; e++) {
        uint32_t first = 0;
        while (first < e && (m->class_of[first] != first || !are_alike(schedule, first, e)))
            first++;
        m->class_of[e] = first;
    }
}

/* Orders the instances by level, then by their first twin. */
static void find_positions(clo_exact_model *m, const clo_schedule *schedule)
{
    const clo_graph *graph = schedule->graph;
    uint64_t level[CLO_EXACT_MAX] = {0}, keys[CLO_EXACT_MAX] = {0};

    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t v = graph->order[i], t = graph->task_of[v];
        for (uint32_t edge = graph->in_first[t]; edge < graph->in_first[t + 1]; edge++)
            if (level[graph->first_instance[clo_graph_source(graph, edge)]] >= level[v])
                level[v] = level[graph->first_instance[clo_graph_source(graph, edge)]] + 1;
    }
    for (uint32_t v = 0; v < m->count; v++) {
        uint32_t twin = 0, at = v;
        while (!are_twins(schedule, twin, v)) /* ends: at v */
            twin++;
        uint64_t key = level[v] << 32 | twin << 16 | v;
        for (; at > 0 && keys[at - 1] > key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
    for (uint32_t at = 0; at < m->count; at++) {
        m->instance[at] = keys[at] & 0xffff;
        if (at == 0 || keys[at] >> 16 != keys[at - 1] >> 16)
            continue;
        m->needs[at] = 1ull << (at - 1);
        m->twins |= 1ull << at;
    }
}

static void fill_ways(clo_exact_model *m, const clo_schedule *schedule, uint32_t arc, uint64_t bytes)
{
    uint32_t executors = m->executors;
    int64_t *transfer_ns = &m->transfer_ns[(size_t)arc * executors * executors];

    for (uint32_t pair = 0; pair < executors * executors; pair++)
        transfer_ns[pair] = clo_platform_transfer_ns(schedule->platform, bytes, pair % executors, pair / executors);
}

static void fill_arcs(clo_exact_model *m, const clo_schedule *schedule)
{
    const clo_graph *graph = schedule->graph;
    uint32_t position[CLO_EXACT_MAX], executors = m->executors, next = 0;

    for (uint32_t at = 0; at < m->count; at++) {
        uint32_t t = graph->task_of[m->instance[at]];
        position[m->instance[at]] = at; /* producers have theirs: the order is topological */
        m->first[at] = next;
        for (uint32_t edge = graph->in_first[t]; edge < graph->in_first[t + 1]; edge++) {
            uint32_t source = clo_graph_source(graph, edge);
            for (uint32_t v = graph->first_instance[source]; v < graph->first_instance[source + 1]; v++, next++) {
                m->from[next] = position[v];
                m->needs[at] |= 1ull << m->from[next];
                m->feeds[m->from[next]] |= 1ull << at;
                fill_ways(m, schedule, next, clo_graph_in_bytes(graph, edge));
            }
        }
        for (uint32_t e = 0; e < executors; e++) {
            int64_t time = clo_cost_time(schedule->cost, t, e);
            m->time_ns[at * executors + e] = time == CLO_TIME_NEVER ? CLO_EXACT_NEVER : time;
        }
    }
    m->first[m->count] = next;
}

/* The shortest path through `arc` and its consumer, from a producer on executor e. */
static int64_t way_through(const clo_exact_model *m, uint32_t arc, uint32_t consumer, uint32_t e)
{
    int64_t best = CLO_EXACT_NEVER;

    for (uint32_t to = 0; to < m->executors; to++) {
        size_t cell = (size_t)consumer * m->executors + to;
        if (m->time_ns[cell] == CLO_EXACT_NEVER)
            continue;
        int64_t way = clo_exact_transfer_ns(m, arc, e, to) + m->time_ns[cell] + m->behind_ns[cell];
        best = way < best ? way : best;
    }
    return best;
}

static void fill_behind(clo_exact_model *m)
{
    for (uint32_t at = m->count; at-- > 0;) {
        int64_t least = CLO_EXACT_NEVER;
        for (uint32_t e = 0; e < m->executors; e++)
            if (m->time_ns[at * m->executors + e] != CLO_EXACT_NEVER && m->behind_ns[at * m->executors + e] < least)
                least = m->behind_ns[at * m->executors + e];
        m->least_behind_ns[at] = least;
        for (uint32_t arc = m->first[at]; arc < m->first[at + 1]; arc++)
            for (uint32_t e = 0; e < m->executors; e++) {
                int64_t way = way_through(m, arc, at, e), *behind = &m->behind_ns[m->from[arc] * m->executors + e];
                *behind = way > *behind ? way : *behind;
            }
    }
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t at = i;
        for (; at > 0 && m->least_behind_ns[m->by_behind[at - 1]] < m->least_behind_ns[i]; at--)
            m->by_behind[at] = m->by_behind[at - 1];
        m->by_behind[at] = i;
    }
}

/* Prices in proportion to speed; all alike where some task cannot run everywhere. */
static void fill_prices(clo_exact_model *m)
{
    clo_u128 load[CLO_EXACT_MAX] = {0}, least = ~(clo_u128)0;
    bool everywhere = true;

    for (uint32_t e = 0; e < m->executors; e++) {
        for (uint32_t at = 0; at < m->count; at++) {
            everywhere &= m->time_ns[at * m->executors + e] != CLO_EXACT_NEVER;
            load[e] += (uint64_t)m->time_ns[at * m->executors + e];
        }
        least = load[e] < least ? load[e] : least;
    }
    for (uint32_t e = 0; e < m->executors; e++) {
        uint64_t price = !everywhere || load[e] == 0 ? 1 : (uint64_t)((least << PRICE_BITS) / load[e]);
        m->price[e] = price > 0 ? price : 1;
    }
}

/* Every plan to come is shorter than longest_ns. Shifted so that sums over all executors and all instances fit. */
static void fill_weights(clo_exact_model *m, int64_t longest_ns)
{
    while (longest_ns >> m->shift >> (62 - PRICE_BITS - 6) != 0)
        m->shift++;
    for (uint32_t at = 0; at < m->count; at++) {
        uint64_t weight = UINT64_MAX;
        for (uint32_t e = 0; e < m->executors; e++) {
            clo_u128 price = (clo_u128)(uint64_t)m->time_ns[at * m->executors + e] * m->price[e];
            if (m->time_ns[at * m->executors + e] <= longest_ns && price >> m->shift < weight)
                weight = (uint64_t)(price >> m->shift);
        }
        assert(weight != UINT64_MAX); /* the plan of longest_ns runs it somewhere */
        m->weight[at] = weight;
    }
}

clo_status clo_exact_model_open(clo_exact_model *m, const clo_schedule *schedule, int64_t longest_ns)
{
    size_t n = schedule->graph->instances, p = schedule->executors, arcs = clo_exact_arcs(schedule->graph);
    clo_block block = {0};

    assert(clo_exact_fits(schedule));
    *m = (clo_exact_model){.count = (uint32_t)n, .executors = (uint32_t)p, .arcs = (uint32_t)arcs};
    clo_carve(&block, &m->needs, n);
    clo_carve(&block, &m->feeds, n);
    clo_carve(&block, &m->weight, n);
    clo_carve(&block, &m->price, p);
    clo_carve(&block, &m->least_behind_ns, n);
    clo_carve(&block, &m->time_ns, n * p);
    clo_carve(&block, &m->behind_ns, n * p);
    clo_carve(&block, &m->transfer_ns, arcs * p * p);
    clo_carve(&block, &m->instance, n);
    clo_carve(&block, &m->by_behind, n);
    clo_carve(&block, &m->first, n + 1);
    clo_carve(&block, &m->from, arcs);
    clo_carve(&block, &m->class_of, p);
    m->block = clo_block_allocate(&block);
    if (m->block == NULL)
        return clo_fail_memory("an exact plan");
    find_classes(m, schedule);
    find_positions(m, schedule);
    fill_arcs(m, schedule);
    fill_behind(m);
    fill_prices(m);
    fill_weights(m, longest_ns);
    return CLO_OK;
}

void clo_exact_model_close(clo_exact_model *model)
{
    clo_free(model->block);
    memset(model, 0, sizeof *model);
}

/* Raises `ready` to when the data of `arc` can be on each executor. */
static void raise_to_arrivals(const clo_exact_state *s, uint32_t arc, int64_t *restrict ready)
{
    const clo_exact_model *m = s->model;
    uint32_t from = m->from[arc], executors = m->executors;
    const int64_t *way = &m->transfer_ns[(size_t)arc * executors * executors];
    const int64_t *end = &s->end_ns[(size_t)from * executors];

    if ((s->placed >> from & 1) != 0) {
        for (uint32_t e = 0; e < executors; e++) {
            int64_t at = s->finish_ns[from] + way[e * executors + s->executor[from]];
            ready[e] = at > ready[e] ? at : ready[e];
        }
        return;
    }
    for (uint32_t e = 0; e < executors; e++) {
        int64_t least = INT64_MAX;
        for (uint32_t f = 0; f < executors; f++)
            least = end[f] + way[e * executors + f] < least ? end[f] + way[e * executors + f] : least;
        ready[e] = least > ready[e] ? least : ready[e];
    }
}

/* The shortest path from the beginning through an instance that is not placed; fills its row of end_ns. */
static int64_t shortest_through(const clo_exact_state *s, uint32_t at, int64_t now_ns)
{
    const clo_exact_model *m = s->model;
    const int64_t *time = &m->time_ns[(size_t)at * m->executors], *behind = &m->behind_ns[(size_t)at * m->executors];
    int64_t *end = &s->end_ns[(size_t)at * m->executors], best = INT64_MAX;

    for (uint32_t e = 0; e < m->executors; e++)
        end[e] = s->available_ns[e] > now_ns ? s->available_ns[e] : now_ns;
    for (uint32_t arc = m->first[at]; arc < m->first[at + 1]; arc++)
        raise_to_arrivals(s, arc, end);
    for (uint32_t e = 0; e < m->executors; e++) {
        end[e] = time[e] == CLO_EXACT_NEVER ? CLO_EXACT_NEVER : end[e] + time[e];
        best = end[e] + behind[e] < best ? end[e] + behind[e] : best;
    }
    return best;
}

/* What is left of the executors, the soonest free first: (when, price). */
typedef struct span {
    uint64_t from, price;
} span;

static void sort_spans(const clo_exact_state *s, int64_t now_ns, span *spans)
{
    const clo_exact_model *m = s->model;

    for (uint32_t e = 0; e < m->executors; e++) {
        uint64_t from = (uint64_t)(s->available_ns[e] > now_ns ? s->available_ns[e] : now_ns) >> m->shift;
        uint32_t at = e;
        for (; at > 0 && spans[at - 1].from > from; at--)
            spans[at] = spans[at - 1];
        spans[at] = (span){from, m->price[e]};
    }
}

/* The least whole X, or below it where times are shifted: the time of all spans up to X is worth `work`. */
static uint64_t fill_up(const clo_exact_model *m, const span *spans, uint64_t work)
{
    uint64_t prices = 0, offset = 0;

    for (uint32_t i = 0; i < m->executors; i++) {
        prices += spans[i].price;
        offset += spans[i].price * spans[i].from;
        if (i + 1 == m->executors || spans[i + 1].from * prices >= work + offset)
            break;
    }
    assert(prices > 0);
    return (work + offset + (m->shift == 0 ? prices - 1 : 0)) / prices;
}

static int64_t work_bound(const clo_exact_state *s, int64_t now_ns)
{
    const clo_exact_model *m = s->model;
    span spans[CLO_EXACT_MAX];
    uint64_t work = 0;
    int64_t best = 0;

    sort_spans(s, now_ns, spans);
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t at = m->by_behind[i];
        if ((s->placed >> at & 1) != 0)
            continue;
        work += m->weight[at];
        int64_t end = (int64_t)(fill_up(m, spans, work) << m->shift) + m->least_behind_ns[at];
        best = end > best ? end : best;
    }
    return best;
}

int64_t clo_exact_bound_ns(clo_exact_state *s, int64_t limit_ns)
{
    int64_t bound = s->reach_ns[s->depth], now_ns = clo_exact_now_ns(s);

    for (uint32_t at = 0; at < s->model->count && bound < limit_ns; at++) {
        if ((s->placed >> at & 1) != 0)
            continue;
        int64_t way = shortest_through(s, at, now_ns);
        bound = way > bound ? way : bound;
    }
    if (bound >= limit_ns || s->depth == s->model->count)
        return bound;
    int64_t work = work_bound(s, now_ns);
    return work > bound ? work : bound;
}
