/* rest.c - see rest.h. */
#include "clotho/build_plan/rest.h"

#include <assert.h>
#include <clotho/planner.h>
#include <stdlib.h>
#include <string.h>

/* Of the planning before the build begins: most schedules, and the part of the build's least time, within limits. */
enum { PLANS_MOST = 5000, PLANNING_SHARE = 400 };
static const int64_t PLANNING_LEAST_NS = 2000000, PLANNING_MOST_NS = 1000000000;
/* Of one try: steps that are moved at most, and schedules. */
enum { MOVES = 2, SCHEDULES_OF_TRY = 3 };
/* Of the rest's time, that a list may be longer at first than the one that it comes from; fineness of what is drawn. */
enum { WORSE_SHARE = 50, DRAWS = 1024 };
/* Of one improvement: a look at a point of a profile takes about that. */
enum { LOOK_NS = 2, POINTS_MOST = 4 * REST_WINDOW + 2 };
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

/* What a step takes of the scarcest resource, for its time. */
static double weight_of(const build_rest *r, const rest_task *task)
{
    double most = 0;

    for (uint32_t i = 0; i < r->resources; i++)
        if (task->need[i] > 0 && r->capacity[i] > 0 && (double)task->need[i] / (double)r->capacity[i] > most)
            most = (double)task->need[i] / (double)r->capacity[i];
    return most * (double)task->time_ns;
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
        task->weight = weight_of(r, task);
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
    clo_bound bound = CLO_BOUND_INIT;
    size_t count;

    config.planner = &clo_planner_best;
    config.no_duplicates = 1;
    clo_status status = clo_cost_bound(cost, &bound);
    int64_t budget_ns = bound.best_ns / PLANNING_SHARE;
    config.schedules_max = PLANS_MOST;
    config.budget_ns = budget_ns < PLANNING_LEAST_NS ? PLANNING_LEAST_NS : budget_ns;
    config.budget_ns = config.budget_ns < PLANNING_MOST_NS ? config.budget_ns : PLANNING_MOST_NS;
    if (status == CLO_OK)
        status = clo_plan_create(cost, &config, &made);
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

/* All but the links. */
static void lay_out(build_rest *r, void *at)
{
    r->tasks = at;
    r->points = (rest_point *)(void *)(r->tasks + r->tasks_count);
    r->base = r->points + r->points_most;
    r->planned = (uint32_t *)(void *)(r->base + r->points_most);
    r->list = r->planned + r->tasks_count;
    r->running = r->list + r->tasks_count;
}

clo_status rest_open(build_rest *r, void *at, const clo_cost *cost)
{
    const clo_graph *graph = clo_cost_graph(cost);
    uint32_t tasks = clo_graph_tasks(graph);

    *r = (build_rest){.tasks_count = tasks, .points_most = points_of(cost)};
    lay_out(r, at);
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

void rest_expect(build_rest *r, uint32_t task, int64_t time_ns, uint32_t resource, int64_t need)
{
    rest_task *about = &r->tasks[task];

    about->time_ns = time_ns;
    about->need[resource] = need < r->capacity[resource] ? need : r->capacity[resource];
    about->weight = weight_of(r, about);
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

static uint32_t window(const build_rest *r)
{
    return r->waiting < REST_WINDOW ? r->waiting : REST_WINDOW;
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

static int64_t schedule(build_rest *r)
{
    int64_t makespan_ns = r->now_ns;

    r->lateness = 0;
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
        r->lateness += task->weight * (double)(task->start_ns - r->now_ns);
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

/* Ends a step as late as there is room for the whole of it, not behind `latest_ns`. */
static void place_late(build_rest *r, rest_task *task, int64_t latest_ns)
{
    uint32_t p = r->points_count - 1;

    task->start_ns = latest_ns - task->time_ns;
    if (task->time_ns == 0)
        return;
    while (p > 0 && r->points[p].at_ns >= latest_ns)
        p--;
    for (;; p--) {
        if (!has_room(r, &r->points[p], task))
            task->start_ns = r->points[p].at_ns - task->time_ns;
        if (p == 0 || r->points[p].at_ns <= task->start_ns)
            break;
    }
    if (task->start_ns < r->now_ns)
        task->start_ns = r->now_ns;
    take_room(r, 0, task->start_ns, task, task->start_ns + task->time_ns);
}

/* A step and what it is sorted by: its position where that is equal. */
typedef struct keyed_task {
    int64_t key_ns;
    uint32_t task, position;
} keyed_task;

static int compare_keyed(const void *a, const void *b)
{
    const keyed_task *x = a, *y = b;

    if (x->key_ns != y->key_ns)
        return x->key_ns < y->key_ns ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

static void sort_by_start(build_rest *r, keyed_task *order)
{
    uint32_t count = window(r);

    for (uint32_t i = 0; i < count; i++)
        order[i] = (keyed_task){r->tasks[r->list[i]].start_ns, r->list[i], i};
    qsort(order, count, sizeof *order, compare_keyed);
    for (uint32_t i = 0; i < count; i++) {
        r->list[i] = order[i].task;
        r->tasks[r->list[i]].position = i;
    }
}

/* Double justification (Valls, Ballestin, Quintanilla 2005): all steps of the last schedule move to the right, those
 * that end last first, and the list takes the order that comes of it. */
static void justify(build_rest *r, int64_t end_ns)
{
    uint32_t count = window(r);
    keyed_task order[REST_WINDOW];

    for (uint32_t i = 0; i < count; i++) {
        const rest_task *task = &r->tasks[r->list[i]];
        order[i] = (keyed_task){task->start_ns + task->time_ns, r->list[i], i};
    }
    qsort(order, count, sizeof *order, compare_keyed);
    memcpy(r->points, r->base, r->base_count * sizeof *r->points);
    r->points_count = r->base_count;
    for (uint32_t i = count; i-- > 0;) {
        rest_task *task = &r->tasks[order[i].task];
        int64_t latest_ns = end_ns;
        for (uint32_t c = 0; c < task->children_count; c++) {
            const rest_task *child = &r->tasks[r->links[task->children + c]];
            if (child->position < count && child->start_ns < latest_ns)
                latest_ns = child->start_ns;
        }
        place_late(r, task, latest_ns);
    }
    sort_by_start(r, order);
}

/* The list with a few steps moved, then justified. Returns its makespan. */
static int64_t try_other(build_rest *r)
{
    for (uint32_t moves = 1 + draw(r, MOVES); moves > 0; moves--) {
        uint32_t from = draw(r, window(r));
        move(r, from, other_place(r, from, window(r)));
    }
    justify(r, schedule(r));
    return schedule(r);
}

static void take_back(build_rest *r, const uint32_t *kept)
{
    memcpy(r->list, kept, window(r) * sizeof *kept);
    for (uint32_t i = 0; i < window(r); i++)
        r->tasks[kept[i]].position = i;
}

/* A list that was found, and what its schedule comes to. */
typedef struct found_list {
    uint32_t list[REST_WINDOW];
    int64_t end_ns;
    double lateness;
} found_list;

static void keep(const build_rest *r, found_list *found, int64_t end_ns)
{
    memcpy(found->list, r->list, window(r) * sizeof *found->list);
    found->end_ns = end_ns;
    found->lateness = r->lateness;
}

static bool is_better(const build_rest *r, int64_t end_ns, const found_list *than)
{
    return end_ns < than->end_ns || (end_ns == than->end_ns && r->lateness < than->lateness);
}

/* How much longer than the one that it comes from a list may be: less and less (threshold accepting; Dueck and Scheuer
 * 1990), and each time drawn anew. Without that the search ends in the first valley. */
static int64_t allowed_ns(build_rest *r, const found_list *best, uint64_t looks, uint64_t looks_most)
{
    int64_t most_ns = (best->end_ns - r->now_ns) / WORSE_SHARE;
    double left = 1 - (double)looks / (double)looks_most;

    return (int64_t)((double)most_ns * left * draw(r, DRAWS) / (double)DRAWS);
}

void rest_improve(build_rest *r, int64_t now_ns, int64_t most_ns)
{
    uint32_t count = window(r);
    uint64_t looks = 0, looks_most = (uint64_t)(most_ns / LOOK_NS);
    found_list best, current;

    keep(r, &best, rest_schedule(r, now_ns));
    current = best;
    while (count > 1 && looks < looks_most) {
        int64_t allowed = allowed_ns(r, &best, looks, looks_most), new_ns = try_other(r);
        looks += SCHEDULES_OF_TRY * (uint64_t)count * (r->points_count * r->resources + 1);
        if (new_ns > current.end_ns + allowed && !is_better(r, new_ns, &current)) {
            take_back(r, current.list);
            continue;
        }
        keep(r, &current, new_ns);
        if (is_better(r, new_ns, &best))
            best = current;
    }
    take_back(r, best.list);
    schedule(r);
}

void rest_copy(build_rest *copy, const build_rest *from)
{
    size_t tasks = from->tasks_count;
    void *memory = copy->memory;
    uint64_t random = copy->random; /* goes on, else each copy would draw the same */

    if (memory == NULL)
        memory =
            malloc(tasks * (sizeof(rest_task) + 3 * sizeof(uint32_t)) + 2 * from->points_most * sizeof(rest_point));
    *copy = *from;
    copy->memory = memory;
    copy->random = random != 0 ? random : from->random;
    if (memory == NULL) {
        copy->waiting = copy->running_count = 0;
        return;
    }
    lay_out(copy, memory);
    memcpy(copy->tasks, from->tasks, tasks * sizeof *copy->tasks);
    memcpy(copy->list, from->list, from->waiting * sizeof *copy->list);
    memcpy(copy->running, from->running, from->running_count * sizeof *copy->running);
}

void rest_free_copy(build_rest *copy)
{
    free(copy->memory);
    *copy = (build_rest){0};
}

void rest_adopt(build_rest *r, const build_rest *copy, int64_t now_ns)
{
    found_list own;
    uint32_t count = 0, first = window(copy);

    keep(r, &own, rest_schedule(r, now_ns));
    for (uint32_t i = 0; i < first; i++) /* behind these all stand as before */
        if (r->tasks[copy->list[i]].state == REST_WAITS)
            r->list[count++] = copy->list[i];
    for (uint32_t i = 0; i < count; i++)
        r->tasks[r->list[i]].position = i;
    if (!is_better(r, schedule(r), &own)) {
        take_back(r, own.list);
        schedule(r);
    }
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
