/* inputs.c - an execution begins when every instance of every predecessor has finished, and its output has come from
 * the nearest execution of that instance (LACHESIS eq. 9).
 *
 * A stage of n instances is looked at once as a producer. Of instances with one execution only the latest finish on
 * each executor counts; the others (replicas) are kept one by one. An edge then costs the executions of its consumer,
 * and once for each executor that consumes the producer's sources: never n * m. */
#include "trace/judge/arms.h"
#include "trace/judge/jobs.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"

/* The last of the instances that ran once, on one executor. */
typedef struct source {
    int64_t finish_ns;
    uint32_t executor;
    uint32_t execution; /* index */
} source;

typedef struct pass {
    clo_judge *judge;
    uint32_t job;
    const clo_judge_shape *shape;
    uint32_t *stage_first; /* [stages + 1] into by_stage            */
    uint32_t *by_stage;    /* [executions of a job] indices          */
    uint32_t *chain;       /* [instances of a stage] finished executions, through `next`; index + 1 */

    /* The producer at hand. */
    source *sources; /* [executors] */
    uint32_t sources_count;
    uint32_t *source_of; /* [executors] index + 1; 0: none */
    uint32_t *several;   /* [instances of a stage] those with more than one execution */
    uint32_t several_count;
    uint32_t unfinished; /* an instance that never finishes; CLO_NONE: all do */
    int64_t finish_ns;   /* when every instance has finished once              */
    uint32_t last;       /* the execution that was the last to                 */

    /* The edge at hand: when its input has come to an executor. */
    int64_t *come_ns;     /* [executors] */
    uint32_t *come_from;  /* [executors] index of an execution */
    uint64_t *come_stamp; /* [executors] of the edge that it was computed for */
    uint64_t stamp;
} pass;

/* Counting sort of the job's executions by stage. */
static void group_by_stage(pass *p)
{
    const clo_judge_job *job = &p->judge->jobs[p->job];
    const uint32_t *mine = &p->judge->by_job[job->first];

    for (uint32_t t = 0; t <= p->shape->stages; t++)
        p->stage_first[t] = 0;
    for (uint32_t i = 0; i < job->count; i++)
        p->stage_first[p->judge->executions[mine[i]].stage]++;
    for (uint32_t t = 0, sum = 0; t <= p->shape->stages; t++) {
        sum += p->stage_first[t];
        p->stage_first[t] = sum; /* the end of t's row, which moves down to its beginning */
    }
    for (uint32_t i = job->count; i-- > 0;)
        p->by_stage[--p->stage_first[p->judge->executions[mine[i]].stage]] = mine[i];
}

static void add_source(pass *p, uint32_t index)
{
    const clo_judge_execution *x = &p->judge->executions[index];
    uint32_t *known = &p->source_of[x->executor];

    if (*known == 0) {
        p->sources[p->sources_count++] = (source){x->finish_ns, x->executor, index};
        *known = p->sources_count;
    } else if (x->finish_ns > p->sources[*known - 1].finish_ns) {
        p->sources[*known - 1].finish_ns = x->finish_ns;
        p->sources[*known - 1].execution = index;
    }
}

/* One instance of the producer: its first finish, and where its output is. */
static void add_instance(pass *p, uint32_t instance)
{
    uint32_t head = p->chain[instance], first = head;

    if (head == 0) {
        p->unfinished = p->unfinished == CLO_NONE ? instance : p->unfinished;
        return;
    }
    p->chain[instance] = 0;
    if (p->judge->executions[head - 1].next == 0) {
        add_source(p, head - 1);
    } else {
        p->several[p->several_count++] = head;
        for (uint32_t i = head; i != 0; i = p->judge->executions[i - 1].next)
            if (p->judge->executions[i - 1].finish_ns < p->judge->executions[first - 1].finish_ns)
                first = i;
    }
    if (p->last == CLO_NONE || p->judge->executions[first - 1].finish_ns > p->finish_ns) {
        p->finish_ns = p->judge->executions[first - 1].finish_ns;
        p->last = first - 1;
    }
}

static void read_producer(pass *p, uint32_t stage)
{
    uint32_t instances = p->shape->first_instance[stage + 1] - p->shape->first_instance[stage];

    for (uint32_t i = 0; i < p->sources_count; i++)
        p->source_of[p->sources[i].executor] = 0;
    p->sources_count = 0;
    p->several_count = 0;
    p->unfinished = CLO_NONE;
    p->last = CLO_NONE;
    p->finish_ns = INT64_MIN;
    for (uint32_t i = p->stage_first[stage]; i < p->stage_first[stage + 1]; i++) {
        clo_judge_execution *x = &p->judge->executions[p->by_stage[i]];
        if (x->finish_record == CLO_NONE || x->is_preempted)
            continue;
        x->next = p->chain[x->instance];
        p->chain[x->instance] = p->by_stage[i] + 1;
    }
    for (uint32_t i = 0; i < instances; i++)
        add_instance(p, i);
}

static int64_t arrival_ns(const pass *p, const clo_judge_execution *from, uint64_t bytes, uint32_t executor)
{
    return clo_time_add(from->finish_ns, clo_platform_transfer_ns(p->judge->platform, bytes, from->executor, executor));
}

/* When the output of every instance has come to `executor`, and which execution is the last to send. */
static void compute_come(pass *p, uint64_t bytes, uint32_t executor)
{
    int64_t latest_ns = INT64_MIN;

    p->come_from[executor] = CLO_NONE;
    for (uint32_t s = 0; s < p->sources_count; s++) {
        uint32_t index = p->sources[s].execution;
        int64_t come_ns = arrival_ns(p, &p->judge->executions[index], bytes, executor);
        if (p->come_from[executor] == CLO_NONE || come_ns > latest_ns) {
            latest_ns = come_ns;
            p->come_from[executor] = index;
        }
    }
    for (uint32_t k = 0; k < p->several_count; k++) {
        uint32_t nearest = CLO_NONE;
        int64_t first_ns = INT64_MAX;
        for (uint32_t i = p->several[k]; i != 0; i = p->judge->executions[i - 1].next) {
            int64_t come_ns = arrival_ns(p, &p->judge->executions[i - 1], bytes, executor);
            if (nearest == CLO_NONE || come_ns < first_ns) {
                first_ns = come_ns;
                nearest = i - 1;
            }
        }
        if (p->come_from[executor] == CLO_NONE || first_ns > latest_ns) {
            latest_ns = first_ns;
            p->come_from[executor] = nearest;
        }
    }
    p->come_ns[executor] = latest_ns;
    p->come_stamp[executor] = p->stamp;
}

static void check_consumer(pass *p, const clo_judge_edge *edge, const clo_judge_execution *x)
{
    clo_judge *judge = p->judge;
    char mine[CLO_JUDGE_LABEL_BYTES], theirs[CLO_JUDGE_LABEL_BYTES], scratch[16];

    if (p->unfinished != CLO_NONE) {
        clo_judge_fault(judge, CLO_STREAM_PRECEDENCE, x->record,
                        "%s: its predecessor '%.40s' instance %u never finishes", clo_judge_label_times(judge, x, mine),
                        clo_graph_task_name(p->shape->graph, edge->from, scratch), p->unfinished);
        return;
    }
    if (x->start_ns < p->finish_ns) {
        clo_judge_fault(judge, CLO_STREAM_PRECEDENCE, x->record, "%s: its predecessor, %s, is later",
                        clo_judge_label_times(judge, x, mine),
                        clo_judge_label_times(judge, &judge->executions[p->last], theirs));
        return;
    }
    if (!judge->has_transfers || x->is_skipped || clo_judge_is_dead(judge, x->job, edge))
        return;
    if (p->come_stamp[x->executor] != p->stamp)
        compute_come(p, edge->pair_bytes, x->executor);
    if (x->start_ns < p->come_ns[x->executor])
        clo_judge_fault(judge, CLO_STREAM_TRANSFER, x->record, "%s: its input from %s comes at %lld ns",
                        clo_judge_label_times(judge, x, mine),
                        clo_judge_label(judge, &judge->executions[p->come_from[x->executor]], theirs),
                        (long long)p->come_ns[x->executor]);
}

static void check_job(pass *p)
{
    group_by_stage(p);
    for (uint32_t stage = 0; stage < p->shape->stages; stage++) {
        uint32_t first = p->shape->edges_first[stage], end = p->shape->edges_first[stage + 1];
        if (first == end)
            continue;
        read_producer(p, stage);
        for (uint32_t e = first; e < end; e++) {
            const clo_judge_edge *edge = &p->shape->edge_rows[e];
            p->stamp++;
            for (uint32_t i = p->stage_first[edge->to]; i < p->stage_first[edge->to + 1]; i++) {
                const clo_judge_execution *x = &p->judge->executions[p->by_stage[i]];
                if (x->finish_record != CLO_NONE)
                    check_consumer(p, edge, x);
            }
        }
    }
}

static clo_status take_memory(pass *p)
{
    const clo_judge *judge = p->judge;
    size_t executors = judge->executors, stages = 0, instances = 0, executions = 0;

    for (uint32_t s = 0; s < judge->shapes_count; s++) {
        const clo_judge_shape *shape = &judge->shapes[s];
        stages = shape->stages > stages ? shape->stages : stages;
        for (uint32_t t = 0; t < shape->stages; t++) {
            uint32_t mine = shape->first_instance[t + 1] - shape->first_instance[t];
            instances = mine > instances ? mine : instances;
        }
    }
    for (uint32_t j = 0; j < judge->jobs_count; j++)
        executions = judge->jobs[j].count > executions ? judge->jobs[j].count : executions;
    p->stage_first = clo_allocate(stages + 1, sizeof p->stage_first[0]);
    p->by_stage = clo_allocate(executions, sizeof p->by_stage[0]);
    p->chain = clo_allocate(instances, sizeof p->chain[0]);
    p->several = clo_allocate(instances, sizeof p->several[0]);
    p->sources = clo_allocate(executors, sizeof p->sources[0]);
    p->source_of = clo_allocate(executors, sizeof p->source_of[0]);
    p->come_ns = clo_allocate(executors, sizeof p->come_ns[0]);
    p->come_from = clo_allocate(executors, sizeof p->come_from[0]);
    p->come_stamp = clo_allocate(executors, sizeof p->come_stamp[0]);
    bool has_all = p->stage_first != NULL && p->by_stage != NULL && p->chain != NULL && p->several != NULL &&
                   p->sources != NULL && p->source_of != NULL && p->come_ns != NULL && p->come_from != NULL &&
                   p->come_stamp != NULL;
    return has_all ? CLO_OK : clo_fail_memory("the check of a log");
}

clo_status clo_judge_inputs(clo_judge *judge)
{
    pass p = {.judge = judge};
    clo_status status = take_memory(&p);

    for (uint32_t j = 0; j < judge->jobs_count && status == CLO_OK; j++) {
        p.job = j;
        p.shape = clo_judge_shape_of(judge, j);
        if (judge->jobs[j].count > 0)
            check_job(&p);
    }
    clo_free(p.stage_first);
    clo_free(p.by_stage);
    clo_free(p.chain);
    clo_free(p.several);
    clo_free(p.sources);
    clo_free(p.source_of);
    clo_free(p.come_ns);
    clo_free(p.come_from);
    clo_free(p.come_stamp);
    return status;
}
