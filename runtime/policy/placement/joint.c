/* joint.c - see joint.h. */
#include "policy/placement/joint.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/numbers/rng.h"
#include "base/numbers/saturate.h"
#include "cost/cost.h"

/* Of a key, below the band. */
#define KEY_MAX ((int64_t)1 << 58)

typedef struct places {
    size_t rows, jobs, ready, later, aside, free_ns, bytes;
} places;

static places place(uint32_t executors, uint32_t stages_max)
{
    clo_layout layout = {0};
    places at = {0};

    at.rows = clo_layout_add(&layout, stages_max, sizeof(clo_joint_row));
    at.jobs = clo_layout_add(&layout, stages_max, sizeof(clo_joint_job));
    at.ready = clo_layout_add(&layout, stages_max, sizeof(clo_heap_item));
    at.later = clo_layout_add(&layout, stages_max, sizeof(clo_heap_item));
    at.aside = clo_layout_add(&layout, stages_max, sizeof(clo_heap_item));
    at.free_ns = clo_layout_add(&layout, executors, sizeof(int64_t));
    at.bytes = layout.bytes;
    return at;
}

size_t clo_joint_bytes(uint32_t executors, uint32_t stages_max)
{
    return place(executors, stages_max).bytes;
}

void clo_joint_open(clo_joint *joint, void *memory, uint32_t executors, uint32_t stages_max)
{
    const places at = place(executors, stages_max);
    char *block = memory;

    *joint = (clo_joint){.executors = executors, .stages_max = stages_max};
    joint->rows = (void *)(block + at.rows);
    joint->jobs = (void *)(block + at.jobs);
    joint->ready = (clo_heap){.items = (void *)(block + at.ready), .capacity = stages_max};
    joint->later = (clo_heap){.items = (void *)(block + at.later), .capacity = stages_max};
    joint->aside = (void *)(block + at.aside);
    joint->free_ns = (void *)(block + at.free_ns);
}

/* The rows of a job. False: there is no room, or the bound is reached. */
static bool add_job(clo_joint *joint, uint32_t slot, const clo_joint_own *own)
{
    uint32_t tasks = clo_view_job(joint->view, slot)->cost->graph->tasks, first = joint->rows_count;

    if (tasks > joint->stages_max || !clo_view_steps(joint->view, tasks))
        return false;
    for (uint32_t i = 0; i < tasks; i++) {
        uint32_t stage = own->order[i];
        if (clo_view_stage(joint->view, slot, stage)->unfinished == 0)
            continue;
        if (joint->rows_count == joint->stages_max)
            return false;
        own->row[stage] = joint->rows_count;
        joint->rows[joint->rows_count++] = (clo_joint_row){.job = slot, .stage = stage, .owner = joint->jobs_count};
    }
    if (joint->rows_count > first)
        joint->jobs[joint->jobs_count++] = (clo_joint_job){.slot = slot};
    return true;
}

static bool gather(clo_joint *joint, const clo_joint_request *request)
{
    joint->rows_count = joint->jobs_count = 0;
    for (uint32_t slot = clo_view_first_job(joint->view); slot != CLO_NONE;
         slot = clo_view_job(joint->view, slot)->next) {
        const clo_joint_own *own = request->own(joint->view, slot);
        if (own != NULL && !add_job(joint, slot, own))
            return false;
    }
    return joint->jobs_count > 1;
}

/* What of the job's own plan is left, from its first stage that is not finished. */
static int64_t span_of(const clo_joint *joint, const clo_joint_request *request, uint32_t row)
{
    const clo_joint_row *first = &joint->rows[row];
    const clo_joint_own *own = request->own(joint->view, first->job);
    const clo_cost *cost = clo_view_job(joint->view, first->job)->cost;
    int64_t end_ns = 0;

    for (uint32_t r = row; r < joint->rows_count && joint->rows[r].owner == first->owner; r++) {
        uint32_t stage = joint->rows[r].stage;
        int64_t stage_end_ns = clo_time_add(own->start_ns[stage], cost->mean_ns[stage]);
        end_ns = stage_end_ns > end_ns ? stage_end_ns : end_ns;
    }
    return clo_time_sub(end_ns, own->start_ns[first->stage]);
}

/* The key of a job in the k-th schedule; the first one orders stages, not jobs. */
static int64_t job_key(const clo_joint *joint, const clo_joint_request *request, uint32_t row, uint32_t k)
{
    const clo_live_job *job = clo_view_job(joint->view, joint->rows[row].job);
    int64_t key;

    if (k == 3)
        return job->arrival_ns;
    key = k % 2 == 1 ? job->remaining_ns : span_of(joint, request, row);
    key = key / (job->weight > 0 ? job->weight : 1);
    if (k > 3) /* the shortest rest first, more or less */
        key = clo_time_mul(key / 1024, 512 + (int64_t)(clo_mix64(job->id << 20 | k) % 1024));
    return key;
}

static void give_keys(clo_joint *joint, const clo_joint_request *request, uint32_t k)
{
    int64_t key = 0;

    for (uint32_t r = 0; r < joint->rows_count; r++) {
        clo_joint_row *row = &joint->rows[r];
        const clo_live_job *job = clo_view_job(joint->view, row->job);
        if (k == 0)
            key = clo_time_add(job->arrival_ns, request->own(joint->view, row->job)->start_ns[row->stage]);
        else if (r == 0 || row->owner != row[-1].owner)
            key = job_key(joint, request, r, k);
        row->key = (key < 0 ? 0 : key < KEY_MAX ? key : KEY_MAX - 1) + (int64_t)job->band * KEY_MAX;
    }
}

/* Nothing of the row is left to be placed: its successors wait for it no more. */
static void complete(clo_joint *joint, const clo_joint_request *request, const clo_joint_row *row)
{
    const clo_graph *graph = clo_view_job(joint->view, row->job)->cost->graph;
    const clo_joint_own *own = request->own(joint->view, row->job);
    clo_joint_job *job = &joint->jobs[row->owner];

    job->finish_ns = row->finish_ns > job->finish_ns ? row->finish_ns : job->finish_ns;
    for (uint32_t k = graph->out_first[row->stage]; k < graph->out_first[row->stage + 1]; k++) {
        clo_joint_row *child = &joint->rows[own->row[graph->out[k]]];
        child->ready_ns = row->finish_ns > child->ready_ns ? row->finish_ns : child->ready_ns;
        if (--child->waits == 0)
            clo_heap_push(&joint->later, child->ready_ns, own->row[graph->out[k]]);
    }
}

/* Everything as it is now. Returns how many pieces there are to place. */
static uint64_t begin(clo_joint *joint)
{
    int64_t now_ns = clo_view_now_ns(joint->view);
    uint32_t most = joint->executors > 0 ? joint->executors : 1; /* pieces of a stage: twice as many at most */
    uint64_t pieces = 0;

    joint->ready.count = joint->later.count = 0;
    for (uint32_t e = 0; e < joint->executors; e++)
        joint->free_ns[e] = clo_view_available_ns(joint->view, e);
    for (uint32_t j = 0; j < joint->jobs_count; j++)
        joint->jobs[j].finish_ns = now_ns;
    for (uint32_t r = 0; r < joint->rows_count; r++) {
        clo_joint_row *row = &joint->rows[r];
        const clo_live_stage *stage = clo_view_stage(joint->view, row->job, row->stage);
        row->waits = stage->parents_left;
        row->left = stage->unstarted;
        row->piece = 1 + (row->left > 0 ? (row->left - 1) / most / 2 : 0);
        row->ready_ns = row->start_ns = row->finish_ns = now_ns;
        pieces += (row->left + row->piece - 1) / row->piece;
        if (row->waits == 0)
            clo_heap_push(&joint->later, now_ns, r);
    }
    return pieces;
}

/* Rows whose inputs are there at `at_ns` may be placed. Those that run already end a mean time later. */
static void let_in(clo_joint *joint, const clo_joint_request *request, int64_t at_ns)
{
    while (joint->later.count > 0 && joint->later.items[0].key <= at_ns) { /* each row once */
        clo_heap_item item = clo_heap_pop(&joint->later);
        clo_joint_row *row = &joint->rows[item.id];
        const clo_cost *cost = clo_view_job(joint->view, row->job)->cost;
        if (clo_view_stage(joint->view, row->job, row->stage)->running > 0 || row->left == 0)
            row->finish_ns = clo_time_add(row->ready_ns, cost->mean_ns[row->stage]);
        if (row->left > 0)
            clo_heap_push(&joint->ready, row->key, item.id);
        else
            complete(joint, request, row);
    }
}

/* The executor that is free first; the lowest of them. */
static uint32_t first_free(const clo_joint *joint)
{
    uint32_t first = 0;

    for (uint32_t e = 1; e < joint->executors; e++)
        if (joint->free_ns[e] < joint->free_ns[first])
            first = e;
    return first;
}

/* Nothing that is ready can run on the executor: it looks again when another one is done, or something becomes
 * ready. */
static void let_wait(clo_joint *joint, uint32_t executor)
{
    int64_t *free_ns = joint->free_ns, at_ns = free_ns[executor], next_ns = CLO_TIME_NEVER;

    for (uint32_t e = 0; e < joint->executors && joint->ready.count > 0; e++)
        if (free_ns[e] > at_ns && free_ns[e] < next_ns)
            next_ns = free_ns[e];
    if (next_ns == CLO_TIME_NEVER && joint->ready.count > 0)
        next_ns = clo_time_add(at_ns, 1); /* behind those that are free now too */
    if (joint->later.count > 0 && joint->later.items[0].key < next_ns)
        next_ns = joint->later.items[0].key;
    free_ns[executor] = next_ns;
}

/* The executor takes a piece of the first ready row that it can run. False: there is none. `steps`: the rows that were
 * looked at. */
static bool place_on(clo_joint *joint, const clo_joint_request *request, uint32_t executor, uint32_t *steps)
{
    uint32_t passed = 0;
    bool is_placed = false;

    for (*steps = 0; joint->ready.count > 0 && !is_placed; ++*steps) { /* takes one off each time */
        clo_heap_item item = clo_heap_pop(&joint->ready);
        clo_joint_row *row = &joint->rows[item.id];
        const clo_live_stage *live = clo_view_stage(joint->view, row->job, row->stage);
        int64_t time_ns = clo_cost_time(clo_view_job(joint->view, row->job)->cost, row->stage, executor);
        if (time_ns == CLO_TIME_NEVER) {
            joint->aside[passed++] = item;
            continue;
        }
        uint32_t piece = row->piece < row->left ? row->piece : row->left;
        if (row->left == live->unstarted)
            row->start_ns = joint->free_ns[executor];
        joint->free_ns[executor] = clo_time_add(joint->free_ns[executor], clo_time_mul(piece, time_ns));
        if (joint->free_ns[executor] > row->finish_ns)
            row->finish_ns = joint->free_ns[executor];
        row->left -= piece;
        is_placed = true;
        if (row->left > 0)
            joint->aside[passed++] = item;
        else
            complete(joint, request, row);
    }
    while (passed > 0) {
        passed--;
        clo_heap_push(&joint->ready, joint->aside[passed].key, joint->aside[passed].id);
    }
    return is_placed;
}

/* One schedule, with the keys that the rows have. False: the bound is reached, or something can run nowhere. */
static bool schedule(clo_joint *joint, const clo_joint_request *request)
{
    uint64_t pieces = begin(joint), looks = 0, looks_max = 4 * (pieces + joint->rows_count + joint->executors);

    while (pieces > 0 && looks++ < looks_max * joint->executors) {
        uint32_t e = first_free(joint), steps;
        let_in(joint, request, joint->free_ns[e]);
        if (place_on(joint, request, e, &steps))
            pieces--;
        else
            let_wait(joint, e);
        if (!clo_view_steps(joint->view, (uint64_t)joint->executors + steps))
            return false;
    }
    let_in(joint, request, CLO_TIME_NEVER); /* what only runs */
    return pieces == 0;
}

/* The smaller, the better. */
static int64_t worth_of(const clo_joint *joint, clo_joint_goal goal)
{
    int64_t worth = 0;

    for (uint32_t j = 0; j < joint->jobs_count; j++) {
        const clo_live_job *job = clo_view_job(joint->view, joint->jobs[j].slot);
        int64_t lasts_ns = clo_time_sub(joint->jobs[j].finish_ns, clo_view_now_ns(joint->view));
        if (goal == CLO_JOINT_COMPLETION)
            worth = clo_time_add(worth, clo_time_mul(job->weight, lasts_ns));
        else
            worth = lasts_ns > worth ? lasts_ns : worth;
    }
    return worth;
}

bool clo_joint_plan(clo_joint *joint, const clo_view *view, const clo_joint_request *request)
{
    int64_t best = INT64_MAX;
    bool is_planned = false;

    joint->view = view;
    if (!gather(joint, request) || !clo_view_steps(view, joint->rows_count)) /* for whoever takes the starts */
        return false;
    for (uint32_t k = 0; k < request->schedules; k++) {
        if (!clo_view_steps(view, joint->rows_count))
            break;
        give_keys(joint, request, k);
        if (!schedule(joint, request))
            break;
        int64_t worth = worth_of(joint, request->goal);
        if (is_planned && worth >= best)
            continue;
        best = worth;
        is_planned = true;
        for (uint32_t r = 0; r < joint->rows_count; r++)
            joint->rows[r].best_ns = joint->rows[r].start_ns;
    }
    return is_planned;
}
