/* bands.c - jobs of a higher band go first. Goes through the records once more, with what the scheduler could know at each: which
 * instances are ready, what each machine has left. Ready instances are counted by band and class, so that a START of a
 * lower band looks at those counts and not at jobs.
 *
 * Where the log cannot say, nothing is a fault: replicas make nobody ready, what is committed holds its demands at once
 * and counts against its job's limit, jobs that fail are never said to wait, and neither are stages that have not
 * entered. */
#include "trace/check/check.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "trace/check/kept.h"
#include "trace/judge/classes.h"
#include "trace/log_kinds.h"

#include <stdlib.h>

/* A stage of a job. */
typedef struct row {
    uint32_t left;       /* edges from producers that have not finished; 1 for a root that has not entered */
    uint32_t unstarted;  /* instances */
    uint32_t unfinished; /* instances */
    uint32_t count;      /* index into counts */
    bool is_root;        /* it has no producers */
} row;

/* Ready instances of one band and class. */
typedef struct ready_count {
    uint32_t band, class;
    uint32_t next; /* of the same hash; index + 1 */
    uint32_t at;   /* its place in `active`; CLO_NONE: it has none */
    uint64_t instances;
} ready_count;

typedef struct job_state {
    size_t rows; /* first of its rows */
    uint32_t running, limit;
    uint32_t outside; /* the first stage that has not entered; its number of stages: there is none */
    bool has_arrived, is_closed;
    bool is_shown; /* its ready instances are counted */
} job_state;

typedef struct pass {
    clo_judge *judge;
    uint32_t lowest; /* the lowest band: nobody looks for its instances */
    clo_judge_classes classes;
    job_state *jobs;
    row *rows;
    ready_count *counts;
    size_t counts_capacity;
    uint32_t counts_count;
    uint32_t *table;  /* [classes] lists of counts; index + 1 */
    uint32_t *active; /* [counts_count] counts that are not 0 */
    uint32_t active_count;
    int64_t *left;             /* [machines * CLO_RESOURCES_MAX] capacity; < 0 and unlimited: not looked at */
    clo_judge_waiter *waiters; /* [machines] */
    bool has_foreign;          /* other jobs hold capacity too: what is left is not known */
} pass;

static uint32_t band_of(const pass *p, uint32_t j)
{
    return p->judge->stream->jobs[j].band;
}

static void count_up(pass *p, uint32_t c, uint32_t instances)
{
    ready_count *count = &p->counts[c];

    if (instances == 0)
        return;
    count->instances += instances;
    if (count->at == CLO_NONE) {
        count->at = p->active_count;
        p->active[p->active_count++] = c;
    }
}

static void count_down(pass *p, uint32_t c, uint32_t instances)
{
    ready_count *count = &p->counts[c];

    if (instances == 0)
        return;
    count->instances -= instances;
    if (count->instances == 0) {
        uint32_t last = p->active[--p->active_count];
        p->active[count->at] = last;
        p->counts[last].at = count->at;
        count->at = CLO_NONE;
    }
}

/* Shows or hides the job's ready instances, as its state wants it. */
static void refresh(pass *p, uint32_t j)
{
    job_state *job = &p->jobs[j];
    const clo_judge_shape *shape = clo_judge_shape_of(p->judge, j);
    bool is_full = job->limit > 0 && job->running >= job->limit;
    bool is_shown = job->has_arrived && !job->is_closed && !is_full && band_of(p, j) < p->lowest;

    if (is_shown == job->is_shown)
        return;
    job->is_shown = is_shown;
    for (uint32_t t = 0; t < shape->stages; t++) {
        const row *r = &p->rows[job->rows + t];
        if (r->left > 0)
            continue;
        if (is_shown)
            count_up(p, r->count, r->unstarted);
        else
            count_down(p, r->count, r->unstarted);
    }
}

/* Takes (sign -1) or gives back (1) what an execution holds. */
static void change_left(pass *p, const clo_judge_execution *x, int64_t sign)
{
    const int64_t *demand = clo_judge_demand_of(p->judge, x);
    uint32_t machine = clo_platform_executor(p->judge->platform, x->executor)->machine;

    for (uint32_t r = 0; demand != NULL && r < CLO_RESOURCES_MAX; r++)
        if (clo_platform_capacity(p->judge->platform, machine, r) >= 0)
            p->left[(size_t)machine * CLO_RESOURCES_MAX + r] =
                clo_time_add(p->left[(size_t)machine * CLO_RESOURCES_MAX + r], sign * demand[r]);
}

/* What is kept from those ready instances on the machine; NULL: nothing. */
static const int64_t *kept_from(const pass *p, const ready_count *count, uint32_t c, uint32_t machine)
{
    const clo_judge_waiter *waiter = &p->waiters[machine];

    if (waiter->job == CLO_NONE || !waiter->is_kept || count->band < band_of(p, waiter->job))
        return NULL;
    const job_state *job = &p->jobs[waiter->job];
    const row *r = &p->rows[job->rows + waiter->stage];
    bool is_one_of_them = job->is_shown && r->left == 0 && r->unstarted > 0 && r->count == c;
    return is_one_of_them ? NULL : waiter->demand;
}

/* True if one of the ready instances `c` could run on the executor. */
static bool fits(const pass *p, uint32_t c, uint32_t executor)
{
    const ready_count *count = &p->counts[c];
    const int64_t *demand = p->classes.demand + (size_t)count->class * CLO_RESOURCES_MAX;
    uint32_t machine = clo_platform_executor(p->judge->platform, executor)->machine;
    const int64_t *kept = kept_from(p, count, c, machine);

    if (!clo_judge_class_allows(&p->classes, count->class, executor))
        return false;
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        bool is_limited = demand[r] > 0 && clo_platform_capacity(p->judge->platform, machine, r) >= 0;
        int64_t left = p->left[(size_t)machine * CLO_RESOURCES_MAX + r];
        if (is_limited && (p->has_foreign || demand[r] > clo_time_sub(left, kept != NULL ? kept[r] : 0)))
            return false;
    }
    return true;
}

/* Names one of the instances that were counted. */
static void tell(pass *p, const clo_judge_execution *x, uint32_t c)
{
    clo_judge *judge = p->judge;
    char text[CLO_JUDGE_LABEL_BYTES], scratch[16];

    for (uint32_t j = 0; j < judge->jobs_count; j++) {
        const clo_judge_shape *shape = clo_judge_shape_of(judge, j);
        for (uint32_t t = 0; p->jobs[j].is_shown && t < shape->stages; t++) {
            const row *r = &p->rows[p->jobs[j].rows + t];
            if (r->count == c && r->left == 0 && r->unstarted > 0) {
                clo_judge_fault(judge, CLO_STREAM_BAND, x->record,
                                "%s, band %u: job %llu of band %u waited with task '%.40s', which fits there",
                                clo_judge_label(judge, x, text), band_of(p, x->job), clo_judge_number(judge, j),
                                band_of(p, j), clo_graph_task_name(shape->graph, t, scratch));
                return;
            }
        }
    }
}

static void check_start(pass *p, const clo_judge_execution *x)
{
    uint32_t band = band_of(p, x->job);
    bool has_room = p->judge->report.faults_told < p->judge->stream->faults_max;

    for (uint32_t i = 0; i < p->active_count; i++) {
        const ready_count *count = &p->counts[p->active[i]];
        if (count->band >= band || !fits(p, p->active[i], x->executor))
            continue;
        if (has_room || p->judge->report.faults == 0)
            tell(p, x, p->active[i]);
        else
            clo_judge_fault(p->judge, CLO_STREAM_BAND, x->record, "a higher band waited");
        return;
    }
}

static void apply_start(pass *p, const clo_judge_execution *x)
{
    job_state *job = &p->jobs[x->job];
    row *r = &p->rows[job->rows + x->stage];

    if (!clo_judge_is_replica(p->judge, x) && r->unstarted > 0) {
        r->unstarted--;
        if (job->is_shown && r->left == 0)
            count_down(p, r->count, 1);
    }
    change_left(p, x, -1);
    job->running++;
    refresh(p, x->job);
}

static void apply_finish(pass *p, const clo_judge_execution *x)
{
    job_state *job = &p->jobs[x->job];
    const clo_judge_shape *shape = clo_judge_shape_of(p->judge, x->job);
    row *r = &p->rows[job->rows + x->stage];

    change_left(p, x, 1);
    job->running--;
    refresh(p, x->job);
    if (clo_judge_is_replica(p->judge, x) || r->unfinished == 0 || --r->unfinished > 0)
        return;
    for (uint32_t e = shape->edges_first[x->stage]; e < shape->edges_first[x->stage + 1]; e++) {
        row *to = &p->rows[job->rows + shape->edge_rows[e].to];
        if (--to->left == 0 && job->is_shown)
            count_up(p, to->count, to->unstarted);
    }
}

/* It is ready again. */
static void apply_preempt(pass *p, const clo_judge_execution *x)
{
    job_state *job = &p->jobs[x->job];
    row *r = &p->rows[job->rows + x->stage];

    change_left(p, x, 1);
    job->running--;
    refresh(p, x->job);
    if (clo_judge_is_replica(p->judge, x))
        return;
    r->unstarted++;
    if (job->is_shown && r->left == 0)
        count_up(p, r->count, 1);
}

/* The next piece of the job: `is_shown` says whether anybody counts it. */
static void apply_enter(pass *p, uint32_t j)
{
    job_state *job = &p->jobs[j];
    const clo_judge_shape *shape = clo_judge_shape_of(p->judge, j);

    for (uint32_t entered = 0; job->outside < shape->stages; job->outside++) {
        row *r = &p->rows[job->rows + job->outside];
        if (!r->is_root)
            continue;
        if (entered++ == CLO_LOG_PIECE)
            return;
        r->left = 0;
        if (job->is_shown)
            count_up(p, r->count, r->unstarted);
    }
}

static void apply_job(pass *p, const clo_log_record *record)
{
    uint32_t j = clo_judge_find_job(p->judge, record->job);

    if (j == CLO_NONE)
        return;
    job_state *job = &p->jobs[j];
    if (record->what == CLO_LOG_ENTER || (record->what == CLO_LOG_ARRIVE && !job->has_arrived))
        apply_enter(p, j);
    job->has_arrived |= record->what == CLO_LOG_ARRIVE;
    job->is_closed |= record->what == CLO_LOG_CANCEL || record->what == CLO_LOG_DONE;
    if (record->what == CLO_LOG_LIMIT && record->value >= 0 && record->value < (int64_t)CLO_NONE)
        job->limit = (uint32_t)record->value;
    refresh(p, j);
}

static void read_records(pass *p)
{
    const clo_judge *judge = p->judge;

    for (uint32_t i = 0; i < judge->records_count; i++) {
        const clo_log_record *record = &judge->records[i];
        const clo_judge_execution *x =
            judge->execution_of[i] != CLO_NONE ? &judge->executions[judge->execution_of[i]] : NULL;
        if (record->what == CLO_LOG_KEEP) {
            clo_judge_read_keep(judge, record, p->waiters);
        } else if (x != NULL && record->what == CLO_LOG_FINISH) {
            apply_finish(p, x);
        } else if (x != NULL && record->what == CLO_LOG_PREEMPT) {
            apply_preempt(p, x);
        } else if (x != NULL) {
            if (record->what == CLO_LOG_START)
                check_start(p, x);
            apply_start(p, x);
        } else if (record->job != CLO_LOG_NO_JOB && record->what != CLO_LOG_REFUSED) {
            apply_job(p, record);
        }
    }
}

/* The count of (band, class), made where it is new. */
static clo_status find_count(pass *p, uint32_t band, uint32_t class, uint32_t *out)
{
    void *counts = p->counts;

    for (uint32_t c = p->table[class]; c != 0; c = p->counts[c - 1].next) /* one for each band */
        if (p->counts[c - 1].band == band) {
            *out = c - 1;
            return CLO_OK;
        }
    if (clo_grow(&counts, &p->counts_capacity, (size_t)p->counts_count + 1, sizeof p->counts[0]) != 0)
        return clo_fail_memory("the check of a log");
    p->counts = counts;
    p->counts[p->counts_count] = (ready_count){.band = band, .class = class, .next = p->table[class], .at = CLO_NONE};
    *out = p->counts_count++;
    p->table[class] = p->counts_count;
    return CLO_OK;
}

static clo_status fill_rows(pass *p, uint32_t j)
{
    const clo_judge_shape *shape = clo_judge_shape_of(p->judge, j);
    row *rows = &p->rows[p->jobs[j].rows];
    clo_status status = CLO_OK;

    for (uint32_t e = 0; e < shape->edges; e++)
        rows[shape->edge_rows[e].to].left++;
    for (uint32_t t = 0; t < shape->stages && status == CLO_OK; t++) {
        rows[t].unstarted = shape->first_instance[t + 1] - shape->first_instance[t];
        rows[t].unfinished = rows[t].unstarted;
        rows[t].is_root = rows[t].left == 0;
        rows[t].left += rows[t].is_root;
        if (band_of(p, j) < p->lowest)
            status = find_count(p, band_of(p, j), p->classes.of_stage[p->judge->jobs[j].shape][t], &rows[t].count);
    }
    return status;
}

static clo_status take_memory(pass *p)
{
    clo_judge *judge = p->judge;
    size_t rows = 0;
    clo_status status = CLO_OK;

    for (uint32_t j = 0; j < judge->jobs_count; j++)
        rows += clo_judge_shape_of(judge, j)->stages;
    p->jobs = clo_allocate(judge->jobs_count, sizeof p->jobs[0]);
    p->rows = clo_allocate(rows, sizeof p->rows[0]);
    p->table = clo_allocate(p->classes.count, sizeof p->table[0]);
    p->left = clo_allocate(judge->machines, CLO_RESOURCES_MAX * sizeof p->left[0]);
    p->waiters = clo_allocate(judge->machines, sizeof p->waiters[0]);
    if (p->jobs == NULL || p->rows == NULL || p->table == NULL || p->left == NULL || p->waiters == NULL)
        return clo_fail_memory("the check of a log");
    clo_judge_waiters_init(judge, p->waiters);
    rows = 0;
    for (uint32_t j = 0; j < judge->jobs_count && status == CLO_OK; j++) {
        p->jobs[j] = (job_state){.rows = rows,
                                 .limit = judge->stream->jobs[j].limit,
                                 .is_closed = judge->jobs[j].done_value == CLO_LOG_DONE_FAILED};
        rows += clo_judge_shape_of(judge, j)->stages;
        status = fill_rows(p, j);
    }
    if (status != CLO_OK)
        return status;
    p->active = clo_allocate(p->counts_count, sizeof p->active[0]);
    for (uint32_t m = 0; m < judge->machines; m++)
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
            p->left[(size_t)m * CLO_RESOURCES_MAX + r] = clo_platform_capacity(judge->platform, m, r);
    return p->active != NULL ? CLO_OK : clo_fail_memory("the check of a log");
}

static clo_status find_classes(pass *p)
{
    clo_judge *judge = p->judge;
    uint8_t *is_wanted = clo_allocate(judge->shapes_count, sizeof *is_wanted);

    if (is_wanted == NULL)
        return clo_fail_memory("the check of a log");
    for (uint32_t j = 0; j < judge->jobs_count; j++)
        is_wanted[judge->jobs[j].shape] |= band_of(p, j) < p->lowest;
    clo_status status = clo_judge_find_classes(judge, is_wanted, &p->classes);
    clo_free(is_wanted);
    return status;
}

clo_status clo_judge_bands(clo_judge *judge)
{
    pass p = {.judge = judge};
    uint32_t highest = UINT32_MAX;

    for (uint32_t j = 0; j < judge->jobs_count; j++) {
        uint32_t band = judge->stream->jobs[j].band;
        highest = band < highest ? band : highest;
        p.lowest = band > p.lowest ? band : p.lowest;
    }
    if (highest >= p.lowest || (judge->stream->ignore >> CLO_STREAM_BAND & 1) != 0)
        return CLO_OK;
    for (uint32_t i = 0; i < judge->records_count; i++)
        p.has_foreign |= judge->records[i].what == CLO_LOG_CAPACITY;
    clo_status status = find_classes(&p);
    if (status == CLO_OK)
        status = take_memory(&p);
    if (status == CLO_OK)
        read_records(&p);
    clo_judge_free_classes(judge, &p.classes);
    clo_free(p.jobs);
    clo_free(p.rows);
    clo_free(p.counts);
    clo_free(p.table);
    clo_free(p.active);
    clo_free(p.left);
    clo_free(p.waiters);
    return status;
}
