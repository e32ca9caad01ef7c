/* residual_network.c - see residual_network.h. */
#include "policy/network/residual_network.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "cost/cost.h"
#include "learn/infer/features.h"
#include "learn/infer/infer.h"
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
    clo_residual_watch_fn watch;
    void *watch_context;
    /* NULL: the model answers. */
    clo_residual_answer_fn answer;
    void *answer_context;
    clo_infer *infer;
    int32_t score_shift, limit_shift;
    int16_t least[2 * CLO_RESIDUAL_FEATURES], most[2 * CLO_RESIDUAL_FEATURES];
    int64_t remaining_ns, startable, running;
    given *given; /* [jobs] */
    kept answers[ANSWERS];
};

static const clo_infer_sizes sizes = {.stages = 1, .jobs = 1, .limits = 1, .edges = 1};

clo_status clo_residual_check(const clo_model *model)
{
    if (model == NULL)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "policy 'residual' needs a model, and none is built in for these numbers; name one: "
                        "residual:FILE");
    const clo_format_header *header = model->header;
    if (header->feature_set != CLO_FEATURES_RESIDUAL || header->score == CLO_MODEL_NONE ||
        header->limit == CLO_MODEL_NONE)
        return clo_fail(
            CLO_ERR_ARGUMENT,
            "policy 'residual': the model '%.32s' has not list %d of features, or lacks scores of stages or "
            "limits; make one with clotho train decima",
            header->name, CLO_FEATURES_RESIDUAL);
    for (uint32_t f = 0; f < CLO_RESIDUAL_FEATURES + CLO_RESIDUAL_LIMIT_FEATURES; f++)
        if (model->features[f].mult != 1 || model->features[f].shift != 0)
            return clo_fail(CLO_ERR_ARGUMENT, "policy 'residual': the model '%.32s' scales feature %u; it must not",
                            header->name, f);
    for (uint32_t v = 0; v < model->counts[CLO_PART_VALUES]; v++)
        if ((v == header->score || v == header->limit) &&
            (model->values[v].exponent < 0 || model->values[v].exponent > 30))
            return clo_fail(CLO_ERR_ARGUMENT, "policy 'residual': the model '%.32s' has scores of exponent %d; 0 to 30",
                            header->name, model->values[v].exponent);
    return CLO_OK;
}

static size_t up(size_t bytes)
{
    return (bytes + CLO_CACHE_LINE_BYTES - 1) / CLO_CACHE_LINE_BYTES * CLO_CACHE_LINE_BYTES;
}

size_t clo_residual_bytes(const clo_model *model, uint32_t jobs)
{
    return CLO_CACHE_LINE_BYTES + up(sizeof(clo_residual)) + up(jobs * sizeof(given)) + clo_infer_bytes(model, &sizes);
}

clo_residual *clo_residual_open(const clo_residual_argument *argument, uint32_t jobs, void *memory)
{
    const clo_model *model = argument->model;
    unsigned char *at = memory;
    uint32_t features = CLO_RESIDUAL_FEATURES + CLO_RESIDUAL_LIMIT_FEATURES;
    clo_kernels kernels;

    at += up((uintptr_t)at) - (uintptr_t)at;
    clo_residual *r = (void *)at;
    clo_kernels_select(&kernels, clo_cpu_isa());
    r->watch = argument->watch;
    r->watch_context = argument->watch_context;
    r->answer = argument->answer;
    r->answer_context = argument->answer_context;
    r->given = (void *)(at + up(sizeof *r));
    r->infer = clo_infer_init(model, &kernels, &sizes, at + up(sizeof *r) + up(jobs * sizeof(given)));
    r->score_shift = 16 - model->values[model->header->score].exponent;
    r->limit_shift = 16 - model->values[model->header->limit].exponent;
    for (uint32_t f = 0; f < features; f++) {
        r->least[f] = model->features[f].lo;
        r->most[f] = model->features[f].hi;
    }
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

static int16_t within(const clo_residual *r, uint32_t feature, int32_t raw)
{
    int16_t least = r->least[feature], most = r->most[feature];

    return (int16_t)(raw < least ? least : raw > most ? most : raw);
}

static int32_t octaves(int32_t score, int32_t shift)
{
    int64_t q16 = shift >= 0 ? (int64_t)score * (INT64_C(1) << shift) : score / (INT64_C(1) << -shift);

    return (int32_t)(q16 > CLO_RESIDUAL_MOST ? CLO_RESIDUAL_MOST : q16 < -CLO_RESIDUAL_MOST ? -CLO_RESIDUAL_MOST : q16);
}

static clo_residual_answer run_other(const clo_residual *r, const int16_t *row, clo_residual_kind kind)
{
    int32_t value = 0, limit = 0;

    r->answer(r->answer_context, row, &value, &limit);
    return (clo_residual_answer){octaves(value, 0), kind == CLO_RESIDUAL_JOB ? octaves(limit, 0) : 0};
}

static clo_residual_answer run(clo_residual *r, const int16_t *row, clo_residual_kind kind)
{
    static const uint32_t zero = 0, begins[2] = {0, 0};
    const clo_model_case input = {
        .stages = 1, .jobs = 1, .job_of_stage = &zero, .child_begin = begins, .children = &zero, .inputs = row};
    int16_t limit_row[CLO_RESIDUAL_LIMIT_FEATURES];
    int32_t value, limit = 0;

    clo_infer_encode(r->infer, &input);
    clo_infer_score(r->infer, &zero, 1, &value);
    for (uint32_t f = 0; f < CLO_RESIDUAL_LIMIT_FEATURES; f++)
        limit_row[f] = within(r, CLO_RESIDUAL_FEATURES + f, row[f]);
    if (kind == CLO_RESIDUAL_JOB)
        clo_infer_limits(r->infer, 0, limit_row, 1, &limit);
    return (clo_residual_answer){octaves(value, r->score_shift), octaves(limit, r->limit_shift)};
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
    for (uint32_t f = 0; f < CLO_RESIDUAL_FEATURES; f++)
        row[f] = within(r, f, raw[f]);
    row[ROW - 1] = 1;
    kept *here = &r->answers[place(row)];
    if (memcmp(here->row, row, sizeof row) != 0) {
        memcpy(here->row, row, sizeof row);
        here->answer = r->answer != NULL ? run_other(r, row, kind) : run(r, row, kind);
    }
    if (r->watch != NULL)
        r->watch(r->watch_context, row, here->answer.value, here->answer.limit);
    return here->answer;
}
