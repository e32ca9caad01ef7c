/* messages.c - see messages.h. An input comes from the execution that cost/source.h names; a machine gets an output
 * from the source that arrives first at one of its consumers. remote/split/split.c sends by the same rule. */
#include "plan/ports/messages.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/order/sort.h"
#include "base/status.h"
#include "cost/source.h"

#define PAIRS_MAX ((uint64_t)1 << 25) /* of instances; each takes 16 to 56 bytes */

static uint32_t machine_of(const clo_messages *m, uint32_t placement)
{
    return m->platform->executors[m->placements[placement].executor].machine;
}

static uint32_t memory_of(const clo_messages *m, uint32_t placement)
{
    return m->platform->executors[m->placements[placement].executor].memory;
}

static uint32_t instance_of(const clo_messages *m, uint32_t placement)
{
    return m->graph->first_instance[m->placements[placement].task] + m->placements[placement].instance;
}

/* Those of an instance in the order of cost/source.h: the original, then its replicas from the last on. */
static clo_status index_executions(clo_messages *m)
{
    m->executions = clo_allocate(m->count, sizeof *m->executions);
    m->first_execution = clo_allocate((size_t)m->graph->instances + 1, sizeof *m->first_execution);
    if (m->executions == NULL || m->first_execution == NULL)
        return clo_fail_memory("the messages of a plan");
    uint32_t *first = m->first_execution;
    for (uint32_t p = 0; p < m->count; p++)
        first[instance_of(m, p)]++;
    for (uint32_t i = 0, sum = 0; i <= m->graph->instances; i++) {
        uint32_t count = i < m->graph->instances ? first[i] : 0;
        first[i] = sum += count; /* the end; filled from there downwards */
    }
    for (uint32_t p = 0; p < m->count; p++)
        if (m->placements[p].is_replica)
            m->executions[--first[instance_of(m, p)]] = p;
    for (uint32_t p = 0; p < m->count; p++)
        if (!m->placements[p].is_replica)
            m->executions[--first[instance_of(m, p)]] = p;
    return CLO_OK;
}

static int64_t way_of(const clo_messages *m, uint32_t source, uint32_t to, uint64_t bytes)
{
    return clo_platform_transfer_ns(m->platform, bytes, m->placements[source].executor, m->placements[to].executor);
}

static uint32_t source_of(const clo_messages *m, uint32_t instance, uint32_t to, uint64_t bytes)
{
    uint32_t first = m->first_execution[instance], end = m->first_execution[instance + 1], best = CLO_NONE;
    uint32_t here = m->placements[to].executor;
    clo_source nearest = {0};

    for (uint32_t at = first; at < end && end - first > 1; at++) {
        const clo_placement *source = &m->placements[m->executions[at]];
        clo_source mine = {clo_time_add(source->finish_ns, way_of(m, m->executions[at], to, bytes)), source->executor};
        if (!clo_source_stands_before(source, &m->placements[to]))
            continue;
        if (best == CLO_NONE || clo_source_is_nearer(m->platform, mine, nearest, here)) {
            best = m->executions[at];
            nearest = mine;
        }
    }
    return best != CLO_NONE ? best : m->executions[first];
}

static clo_status add_input(clo_messages *m, uint32_t instance, uint32_t to, uint64_t bytes, int64_t rank_u)
{
    uint32_t from = source_of(m, instance, to, bytes);
    int64_t way_ns = way_of(m, from, to, bytes);

    if (machine_of(m, from) == machine_of(m, to) || memory_of(m, from) == memory_of(m, to)) {
        if (clo_grow((void **)&m->near, &m->near_capacity, m->near_count + 1, sizeof *m->near) != 0)
            return clo_fail_memory("the inputs of a plan");
        m->near[m->near_count++] = (clo_near){from, to, way_ns};
        return CLO_OK;
    }
    if (clo_grow((void **)&m->far, &m->far_capacity, m->far_count + 1, sizeof *m->far) != 0)
        return clo_fail_memory("the messages of a plan");
    m->far[m->far_count++] = (clo_far){.instance = instance,
                                       .machine = machine_of(m, to),
                                       .from = from,
                                       .to = to,
                                       .arrival_ns = clo_time_add(m->placements[from].finish_ns, way_ns),
                                       .alone_ns = way_ns,
                                       .bytes = bytes,
                                       .rank_u = rank_u};
    return CLO_OK;
}

static clo_status find_inputs(clo_messages *m, const int64_t *rank_u)
{
    const clo_graph *graph = m->graph;
    uint64_t pairs = 0;
    clo_status status = CLO_OK;

    for (uint32_t p = 0; p < m->count; p++) {
        uint32_t task = m->placements[p].task;
        for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
            uint32_t from = clo_graph_source(graph, k);
            if ((pairs += clo_graph_instances_of(graph, from)) > PAIRS_MAX)
                return clo_fail(CLO_ERR_LIMIT,
                                "the graph has more than 2^25 pairs of instances; leave the ports of machines out");
            for (uint32_t i = graph->first_instance[from]; i < graph->first_instance[from + 1]; i++)
                if ((status = add_input(m, i, p, clo_graph_in_bytes(graph, k), rank_u[task])) != CLO_OK)
                    return status;
        }
    }
    return status;
}

static int by_message(const void *a, const void *b)
{
    const clo_far *x = a, *y = b;

    if (x->instance != y->instance)
        return x->instance < y->instance ? -1 : 1;
    if (x->machine != y->machine)
        return x->machine < y->machine ? -1 : 1;
    if (x->arrival_ns != y->arrival_ns)
        return x->arrival_ns < y->arrival_ns ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

static int by_near_source(const void *a, const void *b)
{
    const clo_near *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/* What the link moves in a ns, of a message of so many bytes; UINT64_MAX: no limit. */
static uint64_t rate_of(const clo_platform *platform, uint64_t bytes, uint32_t from, uint32_t to)
{
    uint64_t slope =
        platform->ns_per_byte_q32[clo_platform_cell(platform, clo_platform_piece(platform, bytes), from, to)];

    if (slope <= 1)
        return UINT64_MAX;
    return (uint64_t)(((clo_u128)1 << 64) / slope);
}

/* All consumers on one machine; the first of them decides where it comes from, and the slowest link to one of them what
 * it takes, whatever their order. */
static void add_message(clo_messages *m, uint32_t first, uint32_t end)
{
    const clo_far *head = &m->far[first];
    clo_message *message = &m->list[m->messages_count++];

    *message = (clo_message){.from = head->from,
                             .from_machine = machine_of(m, head->from),
                             .to_machine = head->machine,
                             .first = first,
                             .end = end,
                             .rate_q32 = UINT64_MAX};
    for (uint32_t i = first; i < end; i++) {
        message->bytes = m->far[i].bytes > message->bytes ? m->far[i].bytes : message->bytes;
        message->rank_u = m->far[i].rank_u > message->rank_u ? m->far[i].rank_u : message->rank_u;
    }
    uint32_t from = m->placements[head->from].executor;
    for (uint32_t i = first; i < end; i++) {
        int64_t alone_ns = way_of(m, head->from, m->far[i].to, m->far[i].bytes);
        uint64_t rate_q32 = rate_of(m->platform, message->bytes, from, m->placements[m->far[i].to].executor);
        if (alone_ns < message->alone_ns || (alone_ns == message->alone_ns && rate_q32 > message->rate_q32))
            continue;
        message->alone_ns = alone_ns;
        message->rate_q32 = rate_q32;
    }
    clo_u128 moving_ns = ((clo_u128)message->bytes << 32) / message->rate_q32;
    message->latency_ns = moving_ns < (clo_u128)message->alone_ns ? message->alone_ns - (int64_t)moving_ns : 0;
}

/* `sent` and first_message. */
static void index_messages(clo_messages *m)
{
    uint32_t *first = m->first_message;

    for (uint32_t i = 0; i < m->messages_count; i++)
        first[m->list[i].from]++;
    for (uint32_t p = 0, sum = 0; p <= m->count; p++)
        first[p] = sum += p < m->count ? first[p] : 0; /* the end; filled from there downwards */
    for (uint32_t i = m->messages_count; i-- > 0;)
        m->sent[--first[m->list[i].from]] = i;
}

static clo_status find_messages(clo_messages *m)
{
    m->list = clo_allocate(m->far_count, sizeof *m->list);
    m->sent = clo_allocate(m->far_count, sizeof *m->sent);
    m->first_message = clo_allocate((size_t)m->count + 1, sizeof *m->first_message);
    m->first_near = clo_allocate((size_t)m->count + 1, sizeof *m->first_near);
    if (m->list == NULL || m->sent == NULL || m->first_message == NULL || m->first_near == NULL)
        return clo_fail_memory("the messages of a plan");
    if (m->far_count > 0)
        clo_sort(m->far, m->far_count, sizeof *m->far, by_message);
    for (uint32_t i = 0, end; i < m->far_count; i = end) {
        end = i + 1;
        while (end < m->far_count && m->far[end].instance == m->far[i].instance &&
               m->far[end].machine == m->far[i].machine)
            end++;
        add_message(m, i, end);
    }
    if (m->near_count > 0)
        clo_sort(m->near, m->near_count, sizeof *m->near, by_near_source);
    for (size_t i = 0; i < m->near_count; i++)
        m->first_near[m->near[i].from + 1]++;
    for (uint32_t p = 0; p < m->count; p++)
        m->first_near[p + 1] += m->first_near[p];
    index_messages(m);
    return CLO_OK;
}

clo_status clo_messages_open(clo_messages *m, const clo_cost *cost, const clo_placement *placements, size_t count)
{
    *m = (clo_messages){.graph = clo_cost_graph(cost),
                        .platform = clo_cost_platform(cost),
                        .placements = placements,
                        .count = (uint32_t)count};
    int64_t *rank_u = clo_allocate(m->graph->tasks, sizeof *rank_u);
    clo_status status = rank_u != NULL ? index_executions(m) : clo_fail_memory("the messages of a plan");

    if (status == CLO_OK) {
        clo_cost_rank_u(cost, rank_u);
        status = find_inputs(m, rank_u);
    }
    if (status == CLO_OK)
        status = find_messages(m);
    clo_free(rank_u);
    return status;
}

void clo_messages_close(clo_messages *m)
{
    clo_free(m->executions);
    clo_free(m->first_execution);
    clo_free(m->near);
    clo_free(m->first_near);
    clo_free(m->far);
    clo_free(m->list);
    clo_free(m->sent);
    clo_free(m->first_message);
    *m = (clo_messages){0};
}
