/* residual_network.c - see residual_network.h. */
#include "policy/network/residual_network.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "cost/cost.h"
#include "learn/infer/residual_features.h"
#include "policy/select/ranked.h"

#include <string.h>

/* READY_MOST: ready stages whose work is added up. */
enum { ANSWERS_LOG2 = 10, ANSWERS = 1 << ANSWERS_LOG2, ROW = 16, READY_MOST = 8, FLAG = 256 };
_Static_assert((int)CLO_RESIDUAL_FEATURES < (int)ROW, "the last number of a row says that it is one");

typedef struct kept {
    /* The last number: 1; 0: none is kept here. */
    int16_t row[ROW];
    clo_residual_answer answer;
} kept;

/* What a live job has added to the sums. */
typedef struct given {
    int64_t remaining_ns;
    uint32_t startable, running;
    /* that began last; CLO_NONE: none */
    uint32_t stage;
} given;

struct clo_residual {
    clo_answers *network;
    int64_t remaining_ns, startable, running;
    given *given; /* [jobs] */
    kept answers[ANSWERS];
};

const clo_answers_kind clo_residual_answers = {.policy = "residual",
                                               .rule = "parametric",
                                               .command = "decima",
                                               .argument = "batch, stream, FILE",
                                               .feature_set = CLO_FEATURES_RESIDUAL,
                                               .features = CLO_RESIDUAL_FEATURES,
                                               .limit_features = CLO_RESIDUAL_LIMIT_FEATURES};

size_t clo_residual_bytes(const clo_model *model, uint32_t jobs)
{
    return CLO_CACHE_LINE_BYTES + clo_answers_up(sizeof(clo_residual)) + clo_answers_up(jobs * sizeof(given)) +
           clo_answers_bytes(model, 1);
}

clo_residual *clo_residual_open(const clo_residual_argument *argument, uint32_t jobs, void *memory)
{
    unsigned char *at = memory;

    at += clo_answers_up((uintptr_t)at) - (uintptr_t)at;
    clo_residual *r = (void *)at;
    r->given = (void *)(at + clo_answers_up(sizeof *r));
    r->network = clo_answers_open(&clo_residual_answers, argument, 1,
                                  at + clo_answers_up(sizeof *r) + clo_answers_up(jobs * sizeof(given)));
    return r;
}

void clo_residual_event(clo_residual *r, const clo_view *view, const clo_event *event)
{
    if (event->job == CLO_NONE)
        return;
    const clo_live_job *job = clo_view_job(view, event->job);
    given *mine = &r->given[event->job];
    r->remaining_ns -= mine->remaining_ns;
    r->startable -= mine->startable;
    r->running -= mine->running;
    if (event->kind == CLO_EVENT_ARRIVE)
        mine->stage = CLO_NONE;
    if (event->kind == CLO_EVENT_START)
        mine->stage = event->stage;
    mine->remaining_ns = event->kind == CLO_EVENT_END ? 0 : job->remaining_ns / 1024;
    mine->startable = event->kind == CLO_EVENT_END ? 0 : job->startable;
    mine->running = event->kind == CLO_EVENT_END ? 0 : job->running;
    r->remaining_ns += mine->remaining_ns;
    r->startable += mine->startable;
    r->running += mine->running;
}

/* 16 log2(x) for x > 0, rounded down, of the first seven bits of x. */
static int32_t log2_16ths(uint64_t x)
{
    static const uint8_t part[64] = {0,  0,  0,  1,  1,  1,  2,  2,  2,  3,  3,  3,  3,  4,  4,  4,
                                     5,  5,  5,  6,  6,  6,  6,  7,  7,  7,  7,  8,  8,  8,  8,  9,
                                     9,  9,  9,  10, 10, 10, 10, 10, 11, 11, 11, 11, 12, 12, 12, 12,
                                     12, 13, 13, 13, 13, 13, 14, 14, 14, 14, 14, 15, 15, 15, 15, 15};
    int32_t whole = 63 - __builtin_clzll(x);

    return 16 * whole + part[(whole >= 6 ? x >> (whole - 6) : x << (6 - whole)) & 63];
}

/* log2 of (ns / unit), no less than that of 2^-least, in 16ths. */
static int32_t log_of(int64_t ns, int64_t unit_ns, int least)
{
    return log2_16ths((uint64_t)clo_time_add(ns, (unit_ns >> least) + 1)) - log2_16ths((uint64_t)unit_ns);
}

static int32_t log_of_count(uint64_t count)
{
    return log2_16ths(count + 1);
}

/* Mean times of the instances that are ready, added up. */
static int64_t ready_work_ns(const clo_view *view, uint32_t slot)
{
    const clo_live_job *job = clo_view_job(view, slot);
    uint32_t stage = job->first_ready;
    int64_t sum = 0;

    for (uint32_t i = 0; i < READY_MOST && stage != CLO_NONE; i++) {
        const clo_live_stage *row = clo_view_stage(view, slot, stage);
        sum = clo_time_add(sum, clo_time_mul(clo_cost_mean_execution_ns(job->cost, stage), row->unstarted));
        stage = row->next_ready;
    }
    return sum;
}

static void fill(const clo_residual *r, const clo_view *view, const clo_residual_job *j, clo_residual_kind kind,
                 int32_t *raw)
{
    const clo_live_job *job = clo_view_job(view, j->slot);
    const clo_ranked *ranked = job->state;
    bool is_ready = job->first_ready != CLO_NONE && ranked->heap.count > 0;
    int64_t ready_ns = ready_work_ns(view, j->slot), unit = j->unit_ns;
    int64_t mean_ns = clo_time_mul(r->remaining_ns / (j->jobs > 0 ? j->jobs : 1), 1024);
    uint32_t spare = job->bound > job->running ? job->bound - job->running : 0;
    uint32_t stage = is_ready ? (uint32_t)ranked->heap.items[0].id : r->given[j->slot].stage;
    int64_t time_ns = stage != CLO_NONE ? clo_cost_mean_execution_ns(job->cost, stage) : 0;
    int64_t idle = (int64_t)j->executors - r->running;

    raw[CLO_RESIDUAL_WORK] = log_of(job->remaining_ns, unit, 6);
    raw[CLO_RESIDUAL_PATH] = log_of(is_ready ? -ranked->heap.items[0].key : 0, unit, 8);
    raw[CLO_RESIDUAL_EXECUTORS] = log_of_count(j->used);
    raw[CLO_RESIDUAL_STARTABLE] = log_of_count(job->startable);
    raw[CLO_RESIDUAL_UNFINISHED] = log_of_count(job->unfinished);
    raw[CLO_RESIDUAL_TIME] = log_of(time_ns, unit, 10);
    raw[CLO_RESIDUAL_DRAIN] = log_of(ready_ns / ((int64_t)j->used + 1), unit, 8);
    raw[CLO_RESIDUAL_SPARE] = log_of_count(spare);
    raw[CLO_RESIDUAL_JOBS] = log_of_count(j->jobs);
    raw[CLO_RESIDUAL_RELATIVE] = log_of(job->remaining_ns, unit, 6) - log_of(mean_ns, unit, 6);
    raw[CLO_RESIDUAL_LOAD] = log_of_count((uint64_t)r->startable) - log_of_count(j->executors);
    raw[CLO_RESIDUAL_READY] = log_of(ready_ns, unit, 8) - log_of(job->remaining_ns, unit, 8);
    raw[CLO_RESIDUAL_IDLE] = log_of_count(idle > 0 ? (uint64_t)idle : 0);
    raw[CLO_RESIDUAL_STAYS] = kind == CLO_RESIDUAL_OWN ? FLAG : 0;
    raw[CLO_RESIDUAL_WAITS] = kind == CLO_RESIDUAL_WAIT ? FLAG : 0;
}

static clo_residual_answer run(clo_residual *r, const int16_t *row, clo_residual_kind kind)
{
    clo_residual_answer answer = {0, 0};

    clo_answers_values(r->network, row, 1, &answer.value);
    if (kind == CLO_RESIDUAL_JOB)
        answer.limit = clo_answers_limit(r->network, row);
    return answer;
}

static uint32_t place(const int16_t *row)
{
    uint64_t words[ROW / 4], hash = 0;

    memcpy(words, row, sizeof words);
    for (int i = 0; i < ROW / 4; i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return (uint32_t)(hash >> (64 - ANSWERS_LOG2));
}

clo_residual_answer clo_residual_ask(clo_residual *r, const clo_view *view, const clo_residual_job *job,
                                     clo_residual_kind kind)
{
    int32_t raw[CLO_RESIDUAL_FEATURES];
    int16_t row[ROW] = {0};

    fill(r, view, job, kind, raw);
    (void)clo_answers_row(r->network, raw, row);
    row[ROW - 1] = 1;
    kept *here = &r->answers[place(row)];
    if (memcmp(here->row, row, sizeof row) != 0) {
        memcpy(here->row, row, sizeof row);
        here->answer = run(r, row, kind);
    }
    clo_answers_tell(r->network, row, here->answer.value, here->answer.limit);
    return here->answer;
}
