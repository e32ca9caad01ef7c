/* kept.c - see kept.h. Goes through the records once and counts, for whoever waits on a machine, the starts that pass
 * it.
 *
 * When a committed execution begins is not in the log. So `left` is the most that can be left of a capacity: what is
 * committed holds nothing in it. What does not fit into that certainly was not there. */
#include "trace/check/kept.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "trace/log_kinds.h"

#include <clotho/runtime.h>

typedef struct pass {
    clo_judge *judge;
    clo_judge_waiter *waiters; /* [machines] */
    uint32_t *passed;          /* [machines] starts since somebody waits, of what demands what is limited there */
    uint32_t *seen;            /* [machines] the same of whatever demands anything */
    int64_t *left;             /* [machines * CLO_RESOURCES_MAX]; < 0: not limited, or not to be believed */
    bool is_exact;             /* nobody passes without a START */
} pass;

void clo_judge_waiters_init(const clo_judge *judge, clo_judge_waiter *waiters)
{
    for (uint32_t m = 0; m < judge->machines; m++)
        waiters[m] = (clo_judge_waiter){.job = CLO_NONE, .stage = CLO_NONE};
}

void clo_judge_read_keep(const clo_judge *judge, const clo_log_record *record, clo_judge_waiter *waiters)
{
    uint32_t j = record->job != CLO_LOG_NO_JOB ? clo_judge_find_job(judge, record->job) : CLO_NONE;

    if (record->executor >= judge->machines)
        return;
    clo_judge_waiter *waiter = &waiters[record->executor];
    *waiter = (clo_judge_waiter){.job = CLO_NONE, .stage = CLO_NONE};
    if (j == CLO_NONE || record->stage >= clo_judge_shape_of(judge, j)->stages)
        return;
    *waiter = (clo_judge_waiter){.job = j,
                                 .stage = record->stage,
                                 .demand = clo_judge_demand(clo_judge_shape_of(judge, j), record->stage),
                                 .is_kept = record->value != 0};
}

static uint32_t machine_of(const clo_judge *judge, const clo_judge_execution *x)
{
    return clo_platform_executor(judge->platform, x->executor)->machine;
}

static const int64_t *demand_of(const clo_judge *judge, const clo_judge_execution *x)
{
    return clo_judge_demand_of(judge, x);
}

static void change_left(pass *p, const clo_judge_execution *x, int64_t sign)
{
    const int64_t *demand = demand_of(p->judge, x);
    uint32_t machine = machine_of(p->judge, x);

    if (p->judge->records[x->record].what == CLO_LOG_COMMIT)
        return;
    for (uint32_t r = 0; demand != NULL && r < CLO_RESOURCES_MAX; r++)
        if (clo_platform_capacity(p->judge->platform, machine, r) >= 0)
            p->left[(size_t)machine * CLO_RESOURCES_MAX + r] =
                clo_time_add(p->left[(size_t)machine * CLO_RESOURCES_MAX + r], sign * demand[r]);
}

/* True if the execution demands some of what the machine has limits for. */
static bool is_demanding(const pass *p, const clo_judge_execution *x)
{
    const int64_t *demand = demand_of(p->judge, x);

    for (uint32_t r = 0; demand != NULL && r < CLO_RESOURCES_MAX; r++)
        if (demand[r] > 0 && clo_platform_capacity(p->judge->platform, machine_of(p->judge, x), r) >= 0)
            return true;
    return false;
}

/* The resource of which the execution takes what is kept; CLO_NONE: none. */
static uint32_t taken_from(const pass *p, const clo_judge_execution *x, const int64_t *kept)
{
    const int64_t *demand = demand_of(p->judge, x);
    uint32_t machine = machine_of(p->judge, x);

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        int64_t left = p->left[(size_t)machine * CLO_RESOURCES_MAX + r];
        if (demand[r] > 0 && clo_platform_capacity(p->judge->platform, machine, r) >= 0 &&
            kept[r] > clo_time_sub(left, demand[r]))
            return r;
    }
    return CLO_NONE;
}

/* A START, before it takes anything. */
static void check_start(pass *p, const clo_judge_execution *x)
{
    clo_judge *judge = p->judge;
    uint32_t machine = machine_of(judge, x), most = clo_judge_overtakes_max(judge);
    clo_judge_waiter *waiter = &p->waiters[machine];
    char text[CLO_JUDGE_LABEL_BYTES];

    if (waiter->job == CLO_NONE || waiter->demand == NULL || (x->job == waiter->job && x->stage == waiter->stage))
        return;
    p->seen[machine] += demand_of(judge, x) != NULL;
    if (!is_demanding(p, x))
        return;
    if (p->passed[machine]++ == most && !waiter->is_kept)
        clo_judge_fault(judge, CLO_STREAM_STARVED, x->record,
                        "%s: more than %u starts pass stage %u of job %llu, and nothing is kept for it",
                        clo_judge_label(judge, x, text), most, waiter->stage, clo_judge_number(judge, waiter->job));
    bool is_above = judge->stream->jobs[x->job].band < judge->stream->jobs[waiter->job].band;
    uint32_t r = waiter->is_kept && !is_above ? taken_from(p, x, waiter->demand) : CLO_NONE;
    if (r != CLO_NONE)
        clo_judge_fault(judge, CLO_STREAM_STARVED, x->record,
                        "%s: it takes what is kept of resource %u for stage %u of job %llu",
                        clo_judge_label(judge, x, text), r, waiter->stage, clo_judge_number(judge, waiter->job));
}

static void read_keep(pass *p, uint32_t at)
{
    const clo_log_record *record = &p->judge->records[at];
    uint32_t most = clo_judge_overtakes_max(p->judge);

    clo_judge_read_keep(p->judge, record, p->waiters);
    if (record->executor >= p->judge->machines)
        return;
    if (record->value != 0 && record->value != (int64_t)most)
        clo_judge_fault(p->judge, CLO_STREAM_BAD_VALUE, at, "the value of KEEP is 0 or %u", most);
    if (record->value == 0)
        p->passed[record->executor] = p->seen[record->executor] = 0;
    else if (p->is_exact && p->seen[record->executor] < most)
        clo_judge_fault(p->judge, CLO_STREAM_BAD_VALUE, at,
                        "job %llu: capacity is kept for stage %u, which %u starts have passed, not %u",
                        (unsigned long long)record->job, record->stage, p->seen[record->executor], most);
}

static void read_records(pass *p)
{
    const clo_judge *judge = p->judge;

    for (uint32_t i = 0; i < judge->records_count; i++) {
        uint32_t index = judge->execution_of[i];
        if (judge->records[i].what == CLO_LOG_KEEP)
            read_keep(p, i);
        if (index == CLO_NONE)
            continue;
        const clo_judge_execution *x = &judge->executions[index];
        if (judge->records[i].what == CLO_LOG_START)
            check_start(p, x);
        change_left(p, x, i == x->record ? -1 : 1);
    }
}

/* True if the log has KEEP records; sets is_exact. */
static bool look(pass *p)
{
    const clo_judge *judge = p->judge;
    bool has_keeps = false;

    p->is_exact = judge->about->clock == CLO_CLOCK_VIRTUAL;
    for (uint32_t i = 0; i < judge->records_count; i++) {
        uint32_t what = judge->records[i].what, index = judge->execution_of[i];
        has_keeps |= what == CLO_LOG_KEEP;
        if (what == CLO_LOG_CAPACITY)
            p->is_exact = false;
        if (what == CLO_LOG_COMMIT && index != CLO_NONE && demand_of(judge, &judge->executions[index]) != NULL)
            p->is_exact = false;
    }
    return has_keeps;
}

clo_status clo_judge_kept(clo_judge *judge)
{
    pass p = {.judge = judge};

    if ((judge->stream->ignore >> CLO_STREAM_STARVED & 1) != 0 || !look(&p))
        return CLO_OK;
    p.waiters = clo_allocate(judge->machines, sizeof p.waiters[0]);
    p.passed = clo_allocate(judge->machines, sizeof p.passed[0]);
    p.seen = clo_allocate(judge->machines, sizeof p.seen[0]);
    p.left = clo_allocate(judge->machines, CLO_RESOURCES_MAX * sizeof p.left[0]);
    bool has_memory = p.waiters != NULL && p.passed != NULL && p.seen != NULL && p.left != NULL;
    if (has_memory) {
        clo_judge_waiters_init(judge, p.waiters);
        for (uint32_t m = 0; m < judge->machines; m++)
            for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
                p.left[(size_t)m * CLO_RESOURCES_MAX + r] = clo_platform_capacity(judge->platform, m, r);
        read_records(&p);
    }
    clo_free(p.waiters);
    clo_free(p.passed);
    clo_free(p.seen);
    clo_free(p.left);
    return has_memory ? CLO_OK : clo_fail_memory("the check of a log");
}
