/* bound.c - no schedule of the finished jobs has a smaller mean completion time than the larger of
 *   - the mean of their critical paths, each task at its fastest;
 *   - shortest remaining time first, preemptive, on one machine that does the work of all executors at once, or that
 *     has all the capacity of one resource. That rule is optimal on one machine (Schrage 1968), and every schedule is
 *     one of the pooled machine: a job of w executor seconds needs w / executors there.
 * Replicas, transfers and placement only make real schedules longer. */
#include "trace/judge/figures.h"

#include "trace/judge/arms.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/order/heap.h"
#include "base/status.h"

#include <stdlib.h>

#define FAR_NS (INT64_MAX / 2)

enum { POOLS = 1 + CLO_RESOURCES_MAX }; /* the executors, and each resource */

typedef struct shape_bound {
    double path_ns;
    double pooled_ns[POOLS]; /* time of one job alone on the pooled machine */
} shape_bound;

typedef struct release {
    int64_t arrival_ns;
    uint32_t job;
} release;

typedef struct pass {
    clo_judge *judge;
    shape_bound *shapes; /* and, behind them, of each job whose graph has branches */
    uint32_t *bound_of;  /* [jobs] index into shapes */
    release *releases;   /* of the finished jobs, by arrival */
    size_t releases_count;
    clo_heap heap;                 /* remaining time of the jobs that have arrived */
    double capacity[POOLS];        /* of all machines together; 0: some machine has no limit */
    int64_t *fastest_ns, *path_ns; /* [stages] scratch */
    uint32_t *left, *queue;        /* [stages] scratch */
} pass;

static void find_capacities(pass *p)
{
    const clo_judge *judge = p->judge;

    p->capacity[0] = judge->executors;
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        bool is_limited = true;
        for (uint32_t m = 0; m < judge->machines; m++) {
            int64_t capacity = clo_platform_capacity(judge->platform, m, r);
            is_limited = is_limited && capacity >= 0;
            p->capacity[1 + r] += (double)capacity;
        }
        if (!is_limited)
            p->capacity[1 + r] = 0;
    }
}

/* The longest path: each stage is reached when all of its producers were (Kahn 1962). */
static int64_t longest_path(pass *p, const clo_judge_shape *shape)
{
    uint32_t head = 0, tail = 0;
    int64_t longest = 0;

    for (uint32_t t = 0; t < shape->stages; t++)
        p->left[t] = 0;
    for (uint32_t e = 0; e < shape->edges; e++)
        p->left[shape->edge_rows[e].to]++;
    for (uint32_t t = 0; t < shape->stages; t++) {
        p->path_ns[t] = 0;
        if (p->left[t] == 0)
            p->queue[tail++] = t;
    }
    while (head < tail) { /* each stage enters once */
        uint32_t t = p->queue[head++];
        int64_t end_ns = p->path_ns[t] + p->fastest_ns[t]; /* clo_cost_create refused what overflows */
        longest = end_ns > longest ? end_ns : longest;
        for (uint32_t e = shape->edges_first[t]; e < shape->edges_first[t + 1]; e++) {
            uint32_t to = shape->edge_rows[e].to;
            p->path_ns[to] = end_ns > p->path_ns[to] ? end_ns : p->path_ns[to];
            if (--p->left[to] == 0)
                p->queue[tail++] = to;
        }
    }
    return longest;
}

/* job CLO_NONE: of all jobs of the shape, where every stage runs. */
static void bound_shape(pass *p, const clo_judge_shape *shape, uint32_t job, shape_bound *bound)
{

    for (uint32_t t = 0; t < shape->stages; t++) {
        const int64_t *demand = clo_judge_demand(shape, t);
        p->fastest_ns[t] = CLO_TIME_NEVER;
        for (uint32_t e = 0; e < p->judge->executors; e++) {
            int64_t time_ns = clo_cost_execution_ns(shape->cost, t, e);
            p->fastest_ns[t] = time_ns < p->fastest_ns[t] ? time_ns : p->fastest_ns[t];
        }
        if (job != CLO_NONE && clo_judge_is_skipped(p->judge, job, t))
            p->fastest_ns[t] = 0;
        double work = (double)p->fastest_ns[t] * (shape->first_instance[t + 1] - shape->first_instance[t]);
        bound->pooled_ns[0] += work / p->capacity[0];
        for (uint32_t r = 0; demand != NULL && r < CLO_RESOURCES_MAX; r++)
            if (p->capacity[1 + r] > 0)
                bound->pooled_ns[1 + r] += work * (double)demand[r] / p->capacity[1 + r];
    }
    bound->path_ns = (double)longest_path(p, shape);
}

static int by_arrival(const void *left, const void *right)
{
    const release *a = left, *b = right;

    if (a->arrival_ns != b->arrival_ns)
        return a->arrival_ns < b->arrival_ns ? -1 : 1;
    return a->job < b->job ? -1 : a->job > b->job;
}

/* Runs the pooled machine from `now` to `until`; returns the sum of the completion times of what ends. */
static double run_pooled(pass *p, int64_t now_ns, int64_t until_ns)
{
    double sum = 0;

    while (p->heap.count > 0 && now_ns < until_ns) { /* each round ends a job, or the time */
        clo_heap_item top = clo_heap_pop(&p->heap);
        if (top.key <= until_ns - now_ns) {
            now_ns += top.key;
            sum += (double)now_ns;
        } else {
            clo_heap_push(&p->heap, top.key - (until_ns - now_ns), top.id);
            now_ns = until_ns;
        }
    }
    return sum;
}

/* Time from the first arrival to that of release i, so that times stay small. */
static int64_t release_ns(const pass *p, size_t i)
{
    int64_t since_ns = clo_time_sub(p->releases[i].arrival_ns, p->releases[0].arrival_ns);

    return since_ns < FAR_NS / 2 ? since_ns : FAR_NS / 2;
}

/* Sum of the times from arrival to completion. */
static double pooled_sum(pass *p, uint32_t pool)
{
    double sum = 0;

    for (size_t i = 0; i < p->releases_count; i++) {
        int64_t now_ns = release_ns(p, i);
        int64_t until_ns = i + 1 < p->releases_count ? release_ns(p, i + 1) : FAR_NS;
        double size = p->shapes[p->bound_of[p->releases[i].job]].pooled_ns[pool];
        clo_heap_push(&p->heap, size < 1e15 ? (int64_t)size : (int64_t)1e15, i);
        sum += run_pooled(p, now_ns, until_ns) - (double)now_ns;
    }
    return sum;
}

static clo_status take_memory(pass *p)
{
    const clo_judge *judge = p->judge;
    size_t stages = 0, own = 0;

    for (uint32_t s = 0; s < judge->shapes_count; s++)
        stages = judge->shapes[s].stages > stages ? judge->shapes[s].stages : stages;
    for (uint32_t j = 0; j < judge->jobs_count; j++)
        own += clo_judge_shape_of(judge, j)->arms != NULL;
    p->shapes = clo_allocate(judge->shapes_count + own, sizeof p->shapes[0]);
    p->bound_of = clo_allocate(judge->jobs_count, sizeof p->bound_of[0]);
    p->releases = clo_allocate(judge->jobs_count, sizeof p->releases[0]);
    p->heap.items = clo_allocate(judge->jobs_count, sizeof p->heap.items[0]);
    p->heap.capacity = judge->jobs_count;
    p->fastest_ns = clo_allocate(stages, sizeof p->fastest_ns[0]);
    p->path_ns = clo_allocate(stages, sizeof p->path_ns[0]);
    p->left = clo_allocate(stages, sizeof p->left[0]);
    p->queue = clo_allocate(stages, sizeof p->queue[0]);
    bool has_all = p->shapes != NULL && p->bound_of != NULL && p->releases != NULL && p->heap.items != NULL &&
                   p->fastest_ns != NULL && p->path_ns != NULL && p->left != NULL && p->queue != NULL;
    return has_all ? CLO_OK : clo_fail_memory("the check of a log");
}

static void find_bound(pass *p)
{
    clo_judge *judge = p->judge;
    double paths = 0, largest;

    find_capacities(p);
    for (uint32_t s = 0; s < judge->shapes_count; s++)
        bound_shape(p, &judge->shapes[s], CLO_NONE, &p->shapes[s]);
    for (uint32_t j = 0, at = judge->shapes_count; j < judge->jobs_count; j++) {
        p->bound_of[j] = clo_judge_shape_of(judge, j)->arms != NULL ? at++ : judge->jobs[j].shape;
        if (p->bound_of[j] >= judge->shapes_count)
            bound_shape(p, clo_judge_shape_of(judge, j), j, &p->shapes[p->bound_of[j]]);
    }
    for (uint32_t j = 0; j < judge->jobs_count; j++)
        if (clo_judge_is_finished(&judge->jobs[j])) {
            paths += p->shapes[p->bound_of[j]].path_ns;
            p->releases[p->releases_count++] = (release){judge->jobs[j].arrived_ns, j};
        }
    if (p->releases_count == 0)
        return;
    qsort(p->releases, p->releases_count, sizeof p->releases[0], by_arrival);
    largest = paths;
    for (uint32_t pool = 0; pool < POOLS; pool++) {
        double sum = p->capacity[pool] > 0 ? pooled_sum(p, pool) : 0;
        largest = sum > largest ? sum : largest;
        p->heap.count = 0;
    }
    judge->report.mean_completion_bound_ns = largest / (double)p->releases_count;
}

clo_status clo_judge_bound(clo_judge *judge)
{
    pass p = {.judge = judge};
    clo_status status = take_memory(&p);

    if (status == CLO_OK)
        find_bound(&p);
    clo_free(p.shapes);
    clo_free(p.bound_of);
    clo_free(p.releases);
    clo_free(p.heap.items);
    clo_free(p.fastest_ns);
    clo_free(p.path_ns);
    clo_free(p.left);
    clo_free(p.queue);
    return status;
}
