/* build_rest.c - see build_rest.h. */
#include "build_rest.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Most schedules of `best` before the build begins, and how many of them times tasks: some 70 ms. */
enum { PLANS_LEAST = 64, PLANS_MOST = 4000, PLANNED_TASKS = 300000 };
/* Of one improvement: how often a point of a profile is looked at, some 3 ms. */
enum { LOOKS_MOST = 1500000, POINTS_MOST = 4 * REST_WINDOW + 2 };
/* What is late ends after this part of the time that it has run, at least after SOON_NS. */
enum { LATE_SHARE = 16 };
static const int64_t SOON_NS = 2000000;

static uint32_t points_of(const clo_cost *cost)
{
    uint32_t tasks = clo_graph_tasks(clo_cost_graph(cost));
    uint32_t running = clo_platform_executors(clo_cost_platform(cost));

    return POINTS_MOST + 2 * (running < tasks ? running : tasks);
}

size_t rest_bytes(const clo_cost *cost)
{
    const clo_graph *graph = clo_cost_graph(cost);
    size_t tasks = clo_graph_tasks(graph), edges = clo_graph_edges(graph);

    return tasks * (sizeof(rest_task) + 3 * sizeof(uint32_t)) + 2 * edges * sizeof(uint32_t) +
           2 * points_of(cost) * sizeof(rest_point);
}

/* Slots are the first resource; an unlimited one needs no room in a profile. */
static void take_capacities(build_rest *r, const clo_cost *cost)
{
    r->resources = 1;
    r->capacity[0] = clo_platform_executors(clo_cost_platform(cost));
    for (uint32_t i = 0; i < CLO_RESOURCES_MAX; i++) {
        int64_t capacity = clo_platform_capacity(clo_cost_platform(cost), 0, i);
        bool is_limited = capacity >= 0 && capacity < INT64_MAX;
        r->capacity[i + 1] = is_limited ? capacity : INT64_MAX;
        r->resources = is_limited ? i + 2 : r->resources;
    }
}

static clo_status take_tasks(build_rest *r, const clo_cost *cost)
{
    clo_task about = CLO_TASK_INIT;

    for (uint32_t t = 0; t < r->tasks_count; t++) {
        rest_task *task = &r->tasks[t];
        clo_status status = clo_graph_task(clo_cost_graph(cost), t, &about);
        if (status != CLO_OK)
            return status;
        *task = (rest_task){.time_ns = clo_cost_mean_execution_ns(cost, t), .need = {1}};
        for (uint32_t i = 0; i < CLO_RESOURCES_MAX; i++)
            task->need[i + 1] = about.demand[i];
    }
    return CLO_OK;
}

static clo_status take_links(build_rest *r, const clo_graph *graph)
{
    uint32_t edges = clo_graph_edges(graph), at = 0;
    clo_edge edge;

    for (int round = 0; round < 2; round++) { /* counts, then fills */
        for (uint32_t e = 0; e < edges; e++) {
            clo_status status = clo_graph_edge(graph, e, &edge);
            if (status != CLO_OK)
                return status;
            rest_task *from = &r->tasks[edge.from], *to = &r->tasks[edge.to];
            if (round == 1) {
                r->links[from->children + from->children_count] = edge.to;
                r->links[to->parents + to->parents_count] = edge.from;
            }
            from->children_count++;
            to->parents_count++;
        }
        for (uint32_t t = 0; round == 0 && t < r->tasks_count; t++) {
            rest_task *task = &r->tasks[t];
            task->parents = at;
            task->children = at + task->parents_count;
            at = task->children + task->children_count;
            task->parents_count = task->children_count = 0;
        }
    }
    return CLO_OK;
}

/* What the sorting compares: planned start, and for equal ones the level, so that parents of no time come first. */
typedef struct planned_task {
    int64_t start_ns;
    uint32_t level, task;
} planned_task;

static int compare(const void *a, const void *b)
{
    const planned_task *x = a, *y = b;

    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

static clo_status plan(build_rest *r, const clo_cost *cost, planned_task *sorted, uint32_t *levels)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *made = NULL;
    uint64_t schedules = PLANNED_TASKS / (r->tasks_count + 1);
    size_t count;

    config.planner = "best";
    config.no_duplicates = 1;
    config.schedules_max = schedules < PLANS_LEAST ? PLANS_LEAST : schedules < PLANS_MOST ? schedules : PLANS_MOST;
    clo_status status = clo_plan_create(cost, &config, &made);
    if (status != CLO_OK)
        return status;
    clo_graph_levels(clo_cost_graph(cost), levels);
    const clo_placement *placements = clo_plan_placements(made, &count);
    assert(count == r->tasks_count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (planned_task){placements[i].start_ns, levels[placements[i].task], placements[i].task};
    clo_plan_destroy(made);
    qsort(sorted, count, sizeof *sorted, compare);
    for (size_t i = 0; i < count; i++)
        r->planned[i] = sorted[i].task;
    return CLO_OK;
}

clo_status rest_open(build_rest *r, void *at, const clo_cost *cost)
{
    const clo_graph *graph = clo_cost_graph(cost);
    uint32_t tasks = clo_graph_tasks(graph);

    *r = (build_rest){.tasks_count = tasks, .tasks = at};
    r->points = (rest_point *)(void *)(r->tasks + tasks);
    r->base = r->points + points_of(cost);
    r->planned = (uint32_t *)(void *)(r->base + points_of(cost));
    r->list = r->planned + tasks;
    r->running = r->list + tasks;
    r->links = r->running + tasks;
    take_capacities(r, cost);
    clo_status status = take_tasks(r, cost);
    if (status == CLO_OK)
        status = take_links(r, graph);
    planned_task *sorted = malloc(tasks * sizeof *sorted);
    uint32_t *levels = malloc(tasks * sizeof *levels);
    if (status == CLO_OK)
        status = sorted != NULL && levels != NULL ? plan(r, cost, sorted, levels) : CLO_ERR_MEMORY;
    free(sorted);
    free(levels);
    return status;
}

void rest_begin(build_rest *r)
{
    memcpy(r->list, r->planned, r->tasks_count * sizeof *r->list);
    r->waiting = r->tasks_count;
    r->running_count = 0;
    r->random = 0x9e3779b97f4a7c15U;
    for (uint32_t i = 0; i < r->waiting; i++) {
        r->tasks[r->list[i]].state = REST_WAITS;
        r->tasks[r->list[i]].position = i;
    }
}

void rest_started(build_rest *r, uint32_t task, int64_t now_ns)
{
    uint32_t at = r->tasks[task].position;

    assert(r->tasks[task].state == REST_WAITS && r->list[at] == task);
    r->waiting--;
    for (; at < r->waiting; at++) {
        r->list[at] = r->list[at + 1];
        r->tasks[r->list[at]].position = at;
    }
    r->tasks[task].state = REST_RUNS;
    r->tasks[task].began_ns = now_ns;
    r->running[r->running_count++] = task;
}

void rest_ended(build_rest *r, uint32_t task)
{
    for (uint32_t i = 0; i < r->running_count; i++)
        if (r->running[i] == task) {
            r->running[i] = r->running[--r->running_count];
            break;
        }
    r->tasks[task].state = REST_IS_DONE;
}

/* When a step that runs is expected to end. */
static int64_t end_of(const build_rest *r, const rest_task *task)
{
    int64_t ran_ns = r->now_ns - task->began_ns, soon_ns = ran_ns / LATE_SHARE;

    if (ran_ns < task->time_ns)
        return task->began_ns + task->time_ns;
    return r->now_ns + (soon_ns > SOON_NS ? soon_ns : SOON_NS);
}

/* The point that begins at a time, made where there is none, at or behind `first`, which begins not later. */
static uint32_t point_at(build_rest *r, uint32_t first, int64_t at_ns)
{
    uint32_t p = first;

    while (p + 1 < r->points_count && r->points[p + 1].at_ns <= at_ns)
        p++;
    if (r->points[p].at_ns == at_ns)
        return p;
    memmove(&r->points[p + 2], &r->points[p + 1], (r->points_count - p - 1) * sizeof *r->points);
    r->points_count++;
    r->points[p + 1] = r->points[p];
    r->points[p + 1].at_ns = at_ns;
    return p + 1;
}

static void take_room(build_rest *r, uint32_t first, int64_t start_ns, const rest_task *task, int64_t end_ns)
{
    if (end_ns <= start_ns)
        return;
    first = point_at(r, first, start_ns);
    uint32_t last = point_at(r, first, end_ns);
    for (uint32_t p = first; p < last; p++)
        for (uint32_t i = 0; i < r->resources; i++)
            if (r->capacity[i] != INT64_MAX)
                r->points[p].left[i] -= task->need[i];
}

static bool has_room(const build_rest *r, const rest_point *point, const rest_task *task)
{
    for (uint32_t i = 0; i < r->resources; i++)
        if (task->need[i] > 0 && point->left[i] < task->need[i])
            return false;
    return true;
}

/* Begins a step as early as there is room for the whole of it. */
static void place(build_rest *r, rest_task *task, int64_t earliest_ns)
{
    uint32_t first = 0;

    while (first + 1 < r->points_count && r->points[first + 1].at_ns <= earliest_ns)
        first++;
    task->start_ns = earliest_ns;
    if (task->time_ns == 0)
        return;
    for (uint32_t p = first; p < r->points_count && r->points[p].at_ns < task->start_ns + task->time_ns; p++)
        if (p + 1 < r->points_count && !has_room(r, &r->points[p], task)) {
            first = p + 1; /* behind the last point all is free: there it ends */
            task->start_ns = r->points[first].at_ns;
        }
    take_room(r, first, task->start_ns, task, task->start_ns + task->time_ns);
}

/* The profile of what runs. */
static void set_base(build_rest *r, int64_t now_ns)
{
    r->now_ns = now_ns;
    r->points_count = 1;
    r->points[0].at_ns = now_ns;
    memcpy(r->points[0].left, r->capacity, sizeof r->capacity);
    for (uint32_t i = 0; i < r->running_count; i++) {
        const rest_task *task = &r->tasks[r->running[i]];
        take_room(r, 0, now_ns, task, end_of(r, task));
    }
    memcpy(r->base, r->points, r->points_count * sizeof *r->points);
    r->base_count = r->points_count;
}

static uint32_t window(const build_rest *r)
{
    return r->waiting < REST_WINDOW ? r->waiting : REST_WINDOW;
}

static int64_t schedule(build_rest *r)
{
    int64_t makespan_ns = r->now_ns;

    memcpy(r->points, r->base, r->base_count * sizeof *r->points);
    r->points_count = r->base_count;
    for (uint32_t i = 0; i < window(r); i++) {
        rest_task *task = &r->tasks[r->list[i]];
        int64_t earliest_ns = r->now_ns;
        for (uint32_t p = 0; p < task->parents_count; p++) {
            const rest_task *parent = &r->tasks[r->links[task->parents + p]];
            int64_t end_ns = parent->state == REST_WAITS  ? parent->start_ns + parent->time_ns
                             : parent->state == REST_RUNS ? end_of(r, parent)
                                                          : r->now_ns;
            earliest_ns = end_ns > earliest_ns ? end_ns : earliest_ns;
        }
        place(r, task, earliest_ns);
        if (task->start_ns + task->time_ns > makespan_ns)
            makespan_ns = task->start_ns + task->time_ns;
    }
    return makespan_ns;
}

int64_t rest_schedule(build_rest *r, int64_t now_ns)
{
    set_base(r, now_ns);
    return schedule(r);
}

static uint32_t draw(build_rest *r, uint32_t below)
{
    r->random ^= r->random << 13;
    r->random ^= r->random >> 7;
    r->random ^= r->random << 17;
    return (uint32_t)((r->random >> 33) % below);
}

static void move(build_rest *r, uint32_t from, uint32_t to)
{
    uint32_t task = r->list[from];
    int step = from < to ? 1 : -1;

    for (uint32_t at = from; at != to; at += (uint32_t)step) {
        r->list[at] = r->list[at + (uint32_t)step];
        r->tasks[r->list[at]].position = at;
    }
    r->list[to] = task;
    r->tasks[task].position = to;
}

/* A place between what the step waits for and what waits for it. */
static uint32_t other_place(build_rest *r, uint32_t from, uint32_t count)
{
    const rest_task *task = &r->tasks[r->list[from]];
    uint32_t least = 0, most = count - 1;

    for (uint32_t p = 0; p < task->parents_count; p++) {
        const rest_task *parent = &r->tasks[r->links[task->parents + p]];
        if (parent->state == REST_WAITS && parent->position + 1 > least)
            least = parent->position + 1;
    }
    for (uint32_t c = 0; c < task->children_count; c++) {
        const rest_task *child = &r->tasks[r->links[task->children + c]];
        if (child->position <= most)
            most = child->position - 1;
    }
    return least + draw(r, most - least + 1);
}

void rest_improve(build_rest *r, int64_t now_ns)
{
    uint32_t count = window(r);
    int64_t best_ns = rest_schedule(r, now_ns);
    uint64_t looks = 0;

    while (count > 1 && looks < LOOKS_MOST) {
        uint32_t from = draw(r, count), to = other_place(r, from, count);
        looks += count;
        if (from == to)
            continue;
        move(r, from, to);
        int64_t new_ns = schedule(r);
        looks += (uint64_t)count * r->points_count * r->resources;
        if (new_ns > best_ns)
            move(r, to, from);
        else
            best_ns = new_ns;
    }
    schedule(r);
}

uint32_t rest_next(const build_rest *r, uint32_t *at)
{
    while (*at < window(r)) {
        uint32_t task = r->list[(*at)++];
        if (r->tasks[task].start_ns <= r->now_ns)
            return task;
    }
    return CLO_NONE;
}
