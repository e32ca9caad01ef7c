/* insert.c - see insert.h. For a machine the messages of an instance are tried in the order of their producers' ends;
 * the machine that wins gets them for good. */
#include "plan/ports/insert.h"

#include "base/memory.h"
#include "base/order/sort.h"
#include "base/status.h"
#include "plan/schedule/arrivals.h"

#define TRIES_MAX ((uint64_t)1 << 26) /* pairs of instances * machines: seconds */
#define ARRIVALS_MAX ((uint64_t)1 << 25)
#define TIME_MAX ((int64_t)1 << 59)

/* An input of the instance that is being placed. */
typedef struct input {
    uint32_t instance, executor; /* the producer, and where it ran */
    uint64_t bytes;
    int64_t finish_ns;
} input;

typedef struct inserter {
    clo_schedule *schedule;
    const clo_platform *platform;
    uint32_t machines;
    clo_timeline *ports; /* [2 * machines] out, then in: when each is busy */
    int64_t *arrival_ns; /* [instances * machines] when the output is there; < 0: not sent */
    input *inputs;
    uint32_t inputs_count;
    size_t inputs_capacity;
    int64_t *there_ns; /* [inputs] on the machine that is looked at, 0: for which it is near */
} inserter;

/* What there is to do. */
typedef struct survey {
    uint64_t pairs, most_inputs; /* of instances, of one of them */
    clo_u128 bytes;              /* of all pairs */
} survey;

static survey survey_of(const clo_graph *graph)
{
    survey all = {0};

    for (uint32_t t = 0; t < graph->tasks; t++) {
        uint64_t inputs = 0;
        for (uint32_t k = graph->in_first[t]; k < graph->in_first[t + 1]; k++) {
            uint64_t pairs = clo_graph_pairs(graph, clo_graph_source(graph, k), t);
            inputs += clo_graph_instances_of(graph, clo_graph_source(graph, k));
            all.pairs += pairs;
            all.bytes += (clo_u128)clo_graph_in_bytes(graph, k) * pairs;
        }
        all.most_inputs = inputs > all.most_inputs ? inputs : all.most_inputs;
    }
    return all;
}

/* All messages one behind the other, through the slowest port: times here are added without checks. */
static bool fits_in_time(const clo_platform *platform, clo_u128 bytes)
{
    uint64_t slowest_q32 = UINT64_MAX;

    for (uint32_t m = 0; m < platform->machines_count; m++)
        if (platform->port_q32[m] > 0 && platform->port_q32[m] < slowest_q32)
            slowest_q32 = platform->port_q32[m];
    return bytes >> 64 == 0 && (bytes << 32) / slowest_q32 < (clo_u128)TIME_MAX;
}

static clo_status open_inserter(inserter *s, clo_schedule *schedule)
{
    const clo_graph *graph = schedule->graph;
    survey all = survey_of(graph);

    *s = (inserter){
        .schedule = schedule, .platform = schedule->platform, .machines = schedule->platform->machines_count};
    uint64_t cells = (uint64_t)graph->instances * s->machines;
    if (all.pairs > TRIES_MAX / s->machines || cells > ARRIVALS_MAX || !fits_in_time(s->platform, all.bytes))
        return CLO_ERR_LIMIT;
    s->ports = clo_allocate((size_t)s->machines * 2, sizeof *s->ports);
    s->arrival_ns = clo_allocate(cells, sizeof *s->arrival_ns);
    s->inputs = clo_allocate(all.most_inputs, sizeof *s->inputs);
    s->there_ns = clo_allocate(all.most_inputs, sizeof *s->there_ns);
    if (s->ports == NULL || s->arrival_ns == NULL || s->inputs == NULL || s->there_ns == NULL)
        return clo_fail_memory("a plan over ports");
    for (uint64_t i = 0; i < cells; i++)
        s->arrival_ns[i] = -1;
    return CLO_OK;
}

static void close_inserter(inserter *s)
{
    for (uint32_t p = 0; s->ports != NULL && p < 2 * s->machines; p++)
        clo_timeline_free(&s->ports[p]);
    clo_free(s->ports);
    clo_free(s->arrival_ns);
    clo_free(s->inputs);
    clo_free(s->there_ns);
}

static int by_finish(const void *a, const void *b)
{
    const input *x = a, *y = b;

    if (x->finish_ns != y->finish_ns)
        return x->finish_ns < y->finish_ns ? -1 : 1;
    return x->instance < y->instance ? -1 : x->instance > y->instance;
}

static void find_inputs(inserter *s, uint32_t task)
{
    const clo_graph *graph = s->schedule->graph;

    s->inputs_count = 0;
    for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        uint32_t from = clo_graph_source(graph, k);
        for (uint32_t i = graph->first_instance[from]; i < graph->first_instance[from + 1]; i++) {
            const clo_execution *e = &s->schedule->executions[s->schedule->first_execution[i]];
            s->inputs[s->inputs_count++] = (input){i, e->executor, clo_graph_in_bytes(graph, k), e->finish_ns};
        }
    }
    if (s->inputs_count > 0)
        clo_sort(s->inputs, s->inputs_count, sizeof *s->inputs, by_finish);
}

static int64_t busy_ns(const clo_platform *platform, uint32_t machine, uint64_t bytes)
{
    uint64_t port_q32 = platform->port_q32[machine];
    clo_u128 ns = port_q32 > 0 ? (((clo_u128)bytes << 32) + port_q32 - 1) / port_q32 : 0;

    return ns < (clo_u128)CLO_LATENCY_NS_MAX ? (int64_t)ns : CLO_LATENCY_NS_MAX;
}

/* When a message can set out at the earliest, from from_ns on: both ports have room. */
static int64_t departure_ns(const inserter *s, uint32_t out, uint32_t in, int64_t from_ns, int64_t out_ns,
                            int64_t in_ns)
{
    for (;;) { /* ends: each round moves on, and behind all else both are free */
        int64_t at_ns = out_ns > 0 ? clo_timeline_earliest(&s->ports[out], from_ns, out_ns) : from_ns;
        from_ns = in_ns > 0 ? clo_timeline_earliest(&s->ports[s->machines + in], at_ns, in_ns) : at_ns;
        if (from_ns == at_ns)
            return from_ns;
    }
}

/* A message takes as long as the slower of its link and its ports. */
static int64_t moving_ns(const inserter *s, const input *in, uint32_t executor, int64_t ports_ns)
{
    int64_t alone_ns = clo_schedule_transfer_ns(s->schedule, in->bytes, in->executor, executor);
    int64_t latency_ns = clo_schedule_transfer_ns(s->schedule, 0, in->executor, executor);

    return alone_ns - latency_ns > ports_ns ? alone_ns : latency_ns + ports_ns;
}

/* Finds there_ns for a machine, of which `executor` is one; for good if `takes`. Returns 0, or -1: no memory. */
static int send_to(inserter *s, uint32_t machine, uint32_t executor, bool takes)
{
    int64_t last_ns = 0; /* messages enter one behind the other */

    for (uint32_t i = 0; i < s->inputs_count; i++) {
        const input *in = &s->inputs[i];
        uint32_t from = s->platform->executors[in->executor].machine;
        int64_t *sent_ns = &s->arrival_ns[(size_t)in->instance * s->machines + machine];
        s->there_ns[i] = *sent_ns > 0 ? *sent_ns : 0;
        if (from == machine || *sent_ns >= 0)
            continue;
        int64_t out_ns = busy_ns(s->platform, from, in->bytes), in_ns = busy_ns(s->platform, machine, in->bytes);
        int64_t from_ns = in->finish_ns > last_ns ? in->finish_ns : last_ns;
        int64_t at_ns = departure_ns(s, from, machine, from_ns, out_ns, in_ns);
        last_ns = at_ns + in_ns;
        s->there_ns[i] = at_ns + moving_ns(s, in, executor, out_ns > in_ns ? out_ns : in_ns);
        if (!takes)
            continue;
        *sent_ns = s->there_ns[i];
        if ((out_ns > 0 && clo_timeline_reserve(&s->ports[from], at_ns, at_ns + out_ns) != 0) ||
            (in_ns > 0 && clo_timeline_reserve(&s->ports[s->machines + machine], at_ns, at_ns + in_ns) != 0))
            return -1;
    }
    return 0;
}

/* When all inputs are on an executor of the machine that send_to looked at. */
static int64_t ready_ns(const inserter *s, uint32_t executor)
{
    int64_t latest_ns = 0;

    for (uint32_t i = 0; i < s->inputs_count; i++) {
        const input *in = &s->inputs[i];
        int64_t alone_ns = in->finish_ns + clo_schedule_transfer_ns(s->schedule, in->bytes, in->executor, executor);
        int64_t at_ns = s->there_ns[i] > alone_ns ? s->there_ns[i] : alone_ns;
        latest_ns = at_ns > latest_ns ? at_ns : latest_ns;
    }
    return latest_ns;
}

static clo_status place(inserter *s, uint32_t instance)
{
    clo_schedule *schedule = s->schedule;
    uint32_t task = schedule->graph->task_of[instance], best = CLO_NONE, looked_at = CLO_NONE;
    int64_t best_ns = INT64_MAX, start_ns = 0;

    find_inputs(s, task);
    for (uint32_t e = 0; e < schedule->executors; e++) {
        uint32_t machine = s->platform->executors[e].machine;
        int64_t time_ns = clo_cost_time(schedule->cost, task, e);
        if (time_ns == CLO_TIME_NEVER)
            continue;
        if (machine != looked_at)
            (void)send_to(s, machine, e, false);
        looked_at = machine;
        int64_t at_ns = clo_schedule_slot_ns(schedule, task, e, ready_ns(s, e), time_ns);
        if (at_ns + time_ns < best_ns) {
            best = e;
            best_ns = at_ns + time_ns;
            start_ns = at_ns;
        }
    }
    if (send_to(s, s->platform->executors[best].machine, best, true) != 0)
        return clo_fail_memory("a plan over ports");
    return clo_schedule_place(schedule, instance, best, start_ns);
}

clo_status clo_ports_insert(clo_schedule *schedule)
{
    inserter s;
    clo_status status = open_inserter(&s, schedule);

    if (status == CLO_OK)
        status = clo_schedule_order(schedule);
    for (uint32_t i = 0; status == CLO_OK && i < schedule->graph->instances; i++)
        status = place(&s, schedule->order[i]);
    close_inserter(&s);
    return status;
}
