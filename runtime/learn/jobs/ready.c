/* ready.c - see ready.h. */
#include "learn/jobs/ready.h"

#include "base/memory.h"
#include "learn/infer/draw.h"

#include <assert.h>
#include <string.h>

static const clo_dense *join_of(const clo_head *head)
{
    return &head->model->dense[head->model->ops[head->chain[0]].argument];
}

typedef struct places {
    size_t candidates, keys, mask, stage_lanes, job_lanes, direct, tensors[2], scores, noise, noisy, jobs, changed,
        given, job_rows, system_rows, bytes;
} places;

/* Bytes of the largest tensor of the chain. */
static size_t tensor_bytes(const clo_head *head, uint32_t blocks)
{
    size_t most = 0;

    for (uint32_t i = 0; i < head->chain_count; i++) {
        const clo_format_value *value = &head->model->values[head->model->ops[head->chain[i]].out];
        size_t bytes = clo_lanes_bytes((clo_number)value->number, value->width, blocks);
        most = bytes > most ? bytes : most;
    }
    return most;
}

static places place_all(const clo_head *head, uint32_t capacity, uint32_t jobs)
{
    size_t room = clo_up(capacity, CLO_LANES);
    uint32_t blocks = (uint32_t)(room / CLO_LANES);
    size_t lanes = clo_lanes_bytes(CLO_S32, clo_head_joined(head), blocks), tensor = tensor_bytes(head, blocks);
    clo_layout layout = {0};
    places at = {0};

    at.stage_lanes = clo_layout_add(&layout, lanes, 1);
    at.job_lanes = clo_layout_add(&layout, lanes, 1);
    at.direct = clo_layout_add(&layout, head->direct != CLO_MODEL_NONE ? room : 0, sizeof(int32_t));
    at.tensors[0] = clo_layout_add(&layout, tensor, 1);
    at.tensors[1] = clo_layout_add(&layout, tensor, 1);
    at.candidates = clo_layout_add(&layout, room, sizeof(clo_scored_candidate));
    at.keys = clo_layout_add(&layout, room, sizeof(uint64_t));
    at.mask = clo_layout_add(&layout, room, 1);
    at.scores = clo_layout_add(&layout, room, sizeof(int32_t));
    at.noise = clo_layout_add(&layout, room, sizeof(int32_t));
    at.noisy = clo_layout_add(&layout, room, sizeof(int32_t));
    at.jobs = clo_layout_add(&layout, jobs, sizeof(clo_scored_job));
    at.changed = clo_layout_add(&layout, jobs, sizeof(uint32_t));
    at.given = clo_layout_add(&layout, head->sums[1].numbers + CLO_LANES, sizeof(int32_t));
    at.job_rows = clo_layout_add(&layout, 1, head->job_bytes + CLO_CACHE_LINE_BYTES);
    at.system_rows = clo_layout_add(&layout, 1, head->system_bytes + CLO_CACHE_LINE_BYTES);
    at.bytes = layout.overflow ? 0 : layout.bytes;
    return at;
}

size_t clo_scored_bytes(const clo_head *head, uint32_t capacity, uint32_t jobs)
{
    return place_all(head, capacity, jobs).bytes;
}

void clo_scored_open(clo_scored *ready, const clo_head *head, uint32_t capacity, uint32_t jobs, void *memory)
{
    const places at = place_all(head, capacity, jobs);
    unsigned char *bytes = memory;

    assert(capacity > 0 && jobs > 0);
    memset(memory, 0, at.bytes);
    *ready = (clo_scored){.head = head,
                          .capacity = capacity,
                          .jobs_max = jobs,
                          .candidates = (void *)(bytes + at.candidates),
                          .keys = (void *)(bytes + at.keys),
                          .mask = bytes + at.mask,
                          .stage_lanes = (void *)(bytes + at.stage_lanes),
                          .job_lanes = (void *)(bytes + at.job_lanes),
                          .direct = (void *)(bytes + at.direct),
                          .tensors = {bytes + at.tensors[0], bytes + at.tensors[1]},
                          .scores = (void *)(bytes + at.scores),
                          .noise = (void *)(bytes + at.noise),
                          .noisy = (void *)(bytes + at.noisy),
                          .jobs = (void *)(bytes + at.jobs),
                          .changed = (void *)(bytes + at.changed),
                          .given = (void *)(bytes + at.given),
                          .job_rows = bytes + at.job_rows,
                          .system_rows = bytes + at.system_rows};
}

static void note_change(clo_scored *ready, uint32_t slot)
{
    if (ready->jobs[slot].is_changed)
        return;
    ready->jobs[slot].is_changed = true;
    ready->changed[ready->changed_count++] = slot;
}

void clo_scored_arrive(clo_scored *ready, uint32_t slot, const clo_scored_job *row)
{
    const clo_head *head = ready->head;
    clo_scored_job *live = &ready->jobs[slot];
    bool was_changed = live->is_changed;

    assert(slot < ready->jobs_max);
    assert(row->band < CLO_SCORED_BANDS);
    assert(live->job == NULL && row->job != NULL);
    *live = *row;
    live->first = CLO_SCORED_NONE;
    live->candidates = 0;
    live->is_given = false;
    live->is_changed = was_changed; /* it may stand in the list from the job that had the slot before */
    memcpy(live->job->left, live->job->all, head->sums[0].numbers * sizeof *live->job->left);
    memset(live->job->given, 0, head->sums[1].numbers * sizeof *live->job->given);
    for (uint32_t s = 0; s < live->job->stages; s++)
        live->job->place[s] = CLO_SCORED_NONE;
    ready->clamped += live->job->clamped;
    ready->jobs_count++;
    ready->closed_count += !live->is_open;
    note_change(ready, slot);
}

static void subtract_given(clo_scored *ready, const clo_scored_job *live)
{
    for (uint32_t i = 0; live->is_given && i < ready->head->sums[1].numbers; i++)
        ready->given[i] = (int32_t)((uint32_t)ready->given[i] - (uint32_t)live->job->given[i]);
}

void clo_scored_leave(clo_scored *ready, uint32_t slot)
{
    clo_scored_job *live = &ready->jobs[slot];

    if (live->job == NULL)
        return;
    clo_scored_remove_all(ready, slot);
    subtract_given(ready, live);
    live->job = NULL;
    ready->jobs_count--;
    ready->closed_count -= !live->is_open;
}

void clo_scored_changed(clo_scored *ready, uint32_t slot, const clo_job_figures *figures, bool is_open)
{
    clo_scored_job *live = &ready->jobs[slot];

    ready->closed_count += (uint32_t)!is_open - (uint32_t)!live->is_open;
    live->figures = *figures;
    live->is_open = is_open;
    note_change(ready, slot);
}

void clo_scored_done(clo_scored *ready, uint32_t slot, uint32_t stage)
{
    const clo_head *head = ready->head;
    clo_scored_job *live = &ready->jobs[slot];

    if (live->job->place[stage] == CLO_SCORED_DONE)
        return;
    clo_scored_remove(ready, slot, stage);
    live->job->place[stage] = CLO_SCORED_DONE;
    for (uint32_t k = 0; k < head->sums[0].count; k++) {
        const clo_head_sum *sum = &head->sums[0].list[k];
        clo_head_add(head, sum->value, clo_head_record(head, live->job, sum->value, stage), -1,
                     live->job->left + sum->at);
    }
    note_change(ready, slot);
}

static void put_lane(clo_scored *ready, int32_t *lanes, uint32_t place, const int32_t *row)
{
    clo_lanes_put_s32(lanes, join_of(ready->head)->outputs, place, row);
}

bool clo_scored_add(clo_scored *ready, uint32_t slot, uint32_t stage)
{
    const clo_head *head = ready->head;
    clo_scored_job *live = &ready->jobs[slot];
    uint32_t place = ready->count;

    assert(live->job->place[stage] != CLO_SCORED_DONE);
    if (clo_scored_has(ready, slot, stage))
        return true;
    if (place == ready->capacity)
        return false;
    ready->count++;
    ready->candidates[place] = (clo_scored_candidate){slot, stage, live->first, CLO_SCORED_NONE};
    if (live->first != CLO_SCORED_NONE)
        ready->candidates[live->first].previous = place;
    live->first = place;
    live->candidates++;
    ready->count_of_band[live->band]++;
    live->job->place[stage] = place;
    ready->keys[place] = (uint64_t)live->id << 32 | stage;
    if (head->stage_part != CLO_MODEL_NONE)
        put_lane(ready, ready->stage_lanes, place, clo_head_record(head, live->job, head->stage_part, stage));
    if (head->job_part != CLO_MODEL_NONE)
        put_lane(ready, ready->job_lanes, place, live->job->part);
    if (head->direct != CLO_MODEL_NONE)
        ready->direct[place] = *(const int32_t *)clo_head_record(head, live->job, head->direct, stage);
    return true;
}

/* Takes a candidate out of the list of its job. */
static void unlink_candidate(clo_scored *ready, uint32_t place)
{
    const clo_scored_candidate *at = &ready->candidates[place];

    if (at->previous != CLO_SCORED_NONE)
        ready->candidates[at->previous].next = at->next;
    else
        ready->jobs[at->slot].first = at->next;
    if (at->next != CLO_SCORED_NONE)
        ready->candidates[at->next].previous = at->previous;
    ready->jobs[at->slot].candidates--;
    ready->count_of_band[ready->jobs[at->slot].band]--;
}

/* The last candidate moves to `to`. */
static void move_last(clo_scored *ready, uint32_t to)
{
    const clo_head *head = ready->head;
    uint32_t from = ready->count, rows = clo_head_joined(head);
    const clo_scored_candidate *at = &ready->candidates[from];

    ready->candidates[to] = *at;
    ready->keys[to] = ready->keys[from];
    ready->jobs[at->slot].job->place[at->stage] = to;
    if (at->previous != CLO_SCORED_NONE)
        ready->candidates[at->previous].next = to;
    else
        ready->jobs[at->slot].first = to;
    if (at->next != CLO_SCORED_NONE)
        ready->candidates[at->next].previous = to;
    if (head->stage_part != CLO_MODEL_NONE)
        clo_lanes_move_s32(ready->stage_lanes, rows, from, to);
    if (head->job_part != CLO_MODEL_NONE)
        clo_lanes_move_s32(ready->job_lanes, rows, from, to);
    if (head->direct != CLO_MODEL_NONE)
        ready->direct[to] = ready->direct[from];
}

void clo_scored_remove(clo_scored *ready, uint32_t slot, uint32_t stage)
{
    uint32_t *place = &ready->jobs[slot].job->place[stage], at = *place;

    if (at >= CLO_SCORED_DONE)
        return;
    unlink_candidate(ready, at);
    *place = CLO_SCORED_NONE;
    if (at != --ready->count)
        move_last(ready, at);
}

void clo_scored_remove_all(clo_scored *ready, uint32_t slot)
{
    const clo_scored_job *live = &ready->jobs[slot];

    while (live->first != CLO_SCORED_NONE) /* each turn takes one */
        clo_scored_remove(ready, slot, ready->candidates[live->first].stage);
}

uint64_t clo_scored_steps(const clo_scored *ready)
{
    const uint64_t *each = ready->head->multiplications;

    return (each[0] * ready->changed_count + each[1] + each[2] * ready->count + 63) / 64 + ready->changed_count;
}

/* Rows of jobs (domain CLO_MODEL_JOB) or of the system. */
static void run_rows(clo_scored *ready, uint32_t domain, const int32_t *sums, const int32_t *raw, unsigned char *rows)
{
    const clo_head *head = ready->head;
    const clo_model *model = head->model;
    uint32_t next_sum = 0;

    for (uint32_t v = 0; v < model->counts[CLO_PART_VALUES]; v++)
        if (model->values[v].is_input && model->values[v].domain == domain)
            ready->clamped += clo_head_input(head, v, raw, rows + head->offset[v]);
    for (uint32_t i = 0; i < head->ops_count[domain]; i++) {
        const clo_format_op *op = &model->ops[head->ops[domain][i]];
        const void *in[CLO_MODEL_OP_INPUTS] = {NULL};
        if (op->op == CLO_MODEL_SUM) { /* the sums stand in the order of their operations */
            clo_head_clamp(head, op, sums + head->sums[domain - 1].list[next_sum++].at, rows + head->offset[op->out]);
            continue;
        }
        for (uint32_t k = 0; k < CLO_MODEL_OP_INPUTS && op->in[k] != CLO_MODEL_NONE; k++)
            in[k] = rows + head->offset[op->in[k]];
        clo_head_apply(head, op, in, rows + head->offset[op->out]);
    }
}

/* What the job gives to the sums over jobs. */
static void give(clo_scored *ready, clo_scored_job *live)
{
    const clo_head *head = ready->head;

    subtract_given(ready, live);
    memset(live->job->given, 0, head->sums[1].numbers * sizeof *live->job->given);
    for (uint32_t k = 0; k < head->sums[1].count; k++) {
        const clo_head_sum *sum = &head->sums[1].list[k];
        const void *row = ready->job_rows + head->offset[sum->value];
        clo_head_add(head, sum->value, row, 1, live->job->given + sum->at);
        clo_head_add(head, sum->value, row, 1, ready->given + sum->at);
    }
    live->is_given = true;
}

static void recompute(clo_scored *ready, clo_scored_job *live)
{
    const clo_head *head = ready->head;
    int32_t raw[CLO_FEATURES_JOB];

    ready->clamped += clo_features_job(&live->figures, raw);
    run_rows(ready, CLO_MODEL_JOB, live->job->left, raw, ready->job_rows);
    give(ready, live);
    ready->recomputed++;
    if (head->job_part == CLO_MODEL_NONE)
        return;
    memcpy(live->job->part, ready->job_rows + head->offset[head->job_part],
           clo_up(join_of(head)->outputs, CLO_LANES) * sizeof *live->job->part);
    for (uint32_t at = live->first; at != CLO_SCORED_NONE; at = ready->candidates[at].next)
        put_lane(ready, ready->job_lanes, at, live->job->part);
}

static void run_chain(clo_scored *ready)
{
    const clo_head *head = ready->head;
    const clo_model *model = head->model;
    const clo_dense *join = join_of(head);
    uint32_t blocks = (ready->count + CLO_LANES - 1) / CLO_LANES, at = 0;
    const clo_partials partials = {
        join->outputs, ready->stage_lanes, head->job_part != CLO_MODEL_NONE ? ready->job_lanes : NULL,
        head->system_part != CLO_MODEL_NONE ? (const void *)(ready->system_rows + head->offset[head->system_part])
                                            : NULL};

    head->kernels.split_lanes(&join->rule, &partials, blocks, ready->tensors[0]);
    for (uint32_t i = 1; i < head->chain_count; i++, at = 1 - at) {
        const clo_format_op *op = &model->ops[head->chain[i]];
        const clo_format_value *in = &model->values[op->in[0]];
        void *x = ready->tensors[at], *y = ready->tensors[1 - at];
        uint32_t numbers = clo_up(in->width, 4) * CLO_LANES * blocks;
        if (op->op == CLO_MODEL_LOOKUP)
            head->kernels.lookup_s8((const void *)(model->data + model->tables[op->argument].offset), x, numbers, y);
        else if (op->op == CLO_MODEL_TANH)
            head->kernels.tanh_s16((const void *)(model->data + model->tables[op->argument].offset), x, numbers, y);
        else if (in->number == CLO_S8)
            head->kernels.dense_lanes_s8(&model->dense[op->argument], x, blocks, y);
        else
            head->kernels.dense_lanes_s16(&model->dense[op->argument], x, blocks, y);
    }
    if (head->last_join == CLO_MODEL_NONE) {
        memcpy(ready->scores, ready->tensors[at], (size_t)blocks * CLO_LANES * sizeof *ready->scores);
        return;
    }
    const clo_partials sums = {1, ready->tensors[at], ready->direct, NULL};
    head->kernels.split_lanes(&model->dense[model->ops[head->last_join].argument].rule, &sums, blocks, ready->scores);
}

void clo_scored_refresh(clo_scored *ready)
{
    for (uint32_t i = 0; i < ready->changed_count; i++) {
        clo_scored_job *live = &ready->jobs[ready->changed[i]];
        live->is_changed = false;
        if (live->job != NULL)
            recompute(ready, live);
    }
    ready->changed_count = 0;
}

void clo_scored_score(clo_scored *ready, const clo_system_figures *system)
{
    int32_t raw[CLO_FEATURES_SYSTEM];

    clo_scored_refresh(ready);
    if (ready->count == 0)
        return;
    ready->clamped += clo_features_system(system, raw);
    run_rows(ready, CLO_MODEL_GLOBAL, ready->given, raw, ready->system_rows);
    if (ready->head->chain_count > 0)
        run_chain(ready);
    else
        memcpy(ready->scores, ready->direct, ready->count * sizeof *ready->scores);
}

/* NULL: all candidates may be taken. */
static const uint8_t *fill_mask(clo_scored *ready, uint32_t band)
{
    if (ready->closed_count == 0 && ready->count_of_band[band] == ready->count)
        return NULL;
    for (uint32_t i = 0; i < ready->count; i++) {
        const clo_scored_job *live = &ready->jobs[ready->candidates[i].slot];
        ready->mask[i] = live->band == band && live->is_open;
    }
    return ready->mask;
}

uint32_t clo_scored_best(clo_scored *ready, uint32_t band)
{
    const clo_kernels *kernels = &ready->head->kernels;
    const int32_t *scores = ready->scores;

    if (ready->count == 0)
        return CLO_SCORED_NONE;
    if (ready->drawn_scale > 0) {
        kernels->gumbel(clo_draw_seed(ready->seed, ++ready->decisions), ready->keys, ready->count, ready->noise);
        kernels->perturb(ready->scores, ready->drawn_scale, ready->noise, ready->count, ready->noisy);
        scores = ready->noisy;
    }
    const clo_candidates candidates = {scores, fill_mask(ready, band), ready->keys, ready->count};
    return kernels->argmax_s32(&candidates);
}
