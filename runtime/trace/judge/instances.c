/* instances.c - every instance of a job that is done: one original; replicas beside it, each on an executor of its own.
 *
 * One array over the instances of the largest graph serves all jobs; a job clears what it touched. */
#include "trace/judge/jobs.h"

#include "base/memory.h"
#include "base/status.h"

typedef struct pass {
    clo_judge *judge;
    uint32_t *chain;    /* [instances] executions of the instance, newest first, through `next`; index + 1 */
    uint32_t *original; /* [instances] index + 1 of the first original */
} pass;

static uint32_t instance_of(const clo_judge_shape *shape, const clo_judge_execution *x)
{
    return shape->first_instance[x->stage] + x->instance;
}

static void add_execution(pass *p, const clo_judge_shape *shape, uint32_t index)
{
    clo_judge *judge = p->judge;
    clo_judge_execution *x = &judge->executions[index];
    uint32_t instance = instance_of(shape, x), links = 0;
    char text[CLO_JUDGE_LABEL_BYTES];

    if (x->is_preempted) /* see stretches.c */
        return;
    if (!clo_judge_is_replica(judge, x)) {
        uint32_t before = p->original[instance];
        if (before != 0)
            clo_judge_fault(judge, CLO_STREAM_SECOND_ORIGINAL, x->record, "%s: record %u started its original before",
                            clo_judge_label(judge, x, text), judge->executions[before - 1].record);
        else
            p->original[instance] = index + 1;
    }
    /* An executor that is there twice is found after as many links as there are executors, if at all. */
    for (uint32_t i = p->chain[instance]; i != 0 && links <= judge->executors;
         i = judge->executions[i - 1].next, links++)
        if (judge->executions[i - 1].executor == x->executor) {
            clo_judge_fault(judge, CLO_STREAM_TWICE_ON_EXECUTOR, x->record, "%s: record %u started it there before",
                            clo_judge_label(judge, x, text), judge->executions[i - 1].record);
            break;
        }
    x->next = p->chain[instance];
    p->chain[instance] = index + 1;
}

/* Names each instance that was never started as an original. */
static void find_missing(pass *p, uint32_t j, const clo_judge_shape *shape)
{
    char scratch[16];

    for (uint32_t stage = 0; stage < shape->stages; stage++)
        for (uint32_t i = shape->first_instance[stage]; i < shape->first_instance[stage + 1]; i++)
            if (p->original[i] == 0)
                clo_judge_fault(p->judge, CLO_STREAM_NO_ORIGINAL, p->judge->jobs[j].done_record,
                                "job %llu: it is done, and task '%.40s' instance %u was not started",
                                clo_judge_number(p->judge, j), clo_graph_task_name(shape->graph, stage, scratch),
                                i - shape->first_instance[stage]);
}

static void check_job(pass *p, uint32_t j)
{
    const clo_judge_job *job = &p->judge->jobs[j];
    const clo_judge_shape *shape = clo_judge_shape_of(p->judge, j);
    const uint32_t *mine = &p->judge->by_job[job->first];
    uint32_t originals = 0;

    for (uint32_t i = 0; i < job->count; i++)
        add_execution(p, shape, mine[i]);
    for (uint32_t i = 0; i < job->count; i++)
        originals += p->original[instance_of(shape, &p->judge->executions[mine[i]])] == mine[i] + 1;
    if (job->done_record != CLO_NONE && job->done_value == CLO_LOG_DONE_OK && originals < shape->instances)
        find_missing(p, j, shape);
    for (uint32_t i = 0; i < job->count; i++) {
        uint32_t instance = instance_of(shape, &p->judge->executions[mine[i]]);
        p->chain[instance] = 0;
        p->original[instance] = 0;
    }
}

clo_status clo_judge_instances(clo_judge *judge)
{
    pass p = {.judge = judge};
    uint32_t largest = 0;

    for (uint32_t s = 0; s < judge->shapes_count; s++)
        largest = judge->shapes[s].instances > largest ? judge->shapes[s].instances : largest;
    p.chain = clo_allocate(largest, sizeof p.chain[0]);
    p.original = clo_allocate(largest, sizeof p.original[0]);
    clo_status status = p.chain != NULL && p.original != NULL ? CLO_OK : clo_fail_memory("the check of a log");
    for (uint32_t j = 0; j < judge->jobs_count && status == CLO_OK; j++)
        check_job(&p, j);
    clo_free(p.chain);
    clo_free(p.original);
    return status;
}
