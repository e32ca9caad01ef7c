/* plan/pick/row.c - see row.h. */
#include "plan/pick/row.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"
#include "plan/pick/holes.h"

#include <assert.h>
#include <string.h>

enum {
    HOLES_MIN = 96,        /* ready tasks for which holes pay */
    CONSIDERED_BASE = 256, /* tasks with demands that heaps may consider in all, and for each placement */
    CONSIDERED_EACH = 8
};

/* The best task so far; `at` CLO_NONE: there is none. */
typedef struct choice {
    int64_t key;
    uint32_t place, at;
} choice;

/* True if a value found once is a bound for ever. */
static bool is_least_first(const clo_row *row)
{
    return row->order.rule == CLO_PICK_START || row->order.rule == CLO_PICK_LEAST;
}

static bool has_heaps(const clo_row *row)
{
    return row->idle.items != NULL;
}

/* A row for the inputs in schedule->ready_ns. */
static clo_status keep_inputs(clo_row *row, clo_row_entry *entry)
{
    if (row->inputs_free != CLO_NONE) {
        entry->inputs = row->inputs_free;
        row->inputs_free = (uint32_t)((int64_t *)row->inputs)[(size_t)entry->inputs * row->executors];
    } else {
        if (clo_grow(&row->inputs, &row->inputs_capacity, (size_t)row->inputs_count + 1,
                     row->executors * sizeof(int64_t)) != 0)
            return clo_fail_memory("a plan");
        entry->inputs = row->inputs_count++;
    }
    memcpy((int64_t *)row->inputs + (size_t)entry->inputs * row->executors, row->ready.schedule->ready_ns,
           row->executors * sizeof(int64_t));
    return CLO_OK;
}

/* In a heap, of equal keys the one with the lowest place comes first. */
static uint64_t id_of(const clo_row_entry *entry)
{
    return (uint64_t)entry->place << 32 | entry->task;
}

static void put(clo_row *row, uint32_t at, const clo_row_entry *entry, int64_t key, int64_t rest_ns)
{
    row->entries[at] = *entry;
    row->keys[at] = key;
    row->rests_ns[at] = rest_ns;
    row->position[entry->task] = at;
}

static clo_status add(clo_row *row, uint32_t instance)
{
    clo_schedule *schedule = row->ready.schedule;
    const clo_graph *graph = schedule->graph;
    const clo_row_order *order = &row->order;
    uint32_t task = graph->task_of[instance];
    clo_row_entry entry = {.two = {{.executor = CLO_NONE}, {.executor = CLO_NONE}},
                           .task = task,
                           .instance = instance,
                           .inputs = CLO_NONE,
                           .offset_ns = order->offset_ns != NULL ? order->offset_ns[task] : 0,
                           .place = order->place != NULL ? order->place[task] : task,
                           .has_demand = clo_schedule_has_demand(schedule, task),
                           .shortest_ns = clo_cost_fastest(schedule->cost, task)};
    int64_t rest_ns = clo_row_add_ns(row, entry.shortest_ns) + entry.offset_ns;
    clo_status status = CLO_OK;

    if (graph->in_first[task + 1] > graph->in_first[task]) {
        clo_schedule_find_ready(schedule, instance);
        status = keep_inputs(row, &entry);
    }
    put(row, row->count++, &entry, INT64_MIN, rest_ns);
    if (has_heaps(row))
        clo_heap_push(&row->idle, rest_ns, id_of(&entry));
    return status;
}

static void drop(clo_row *row, uint32_t at)
{
    const clo_row_entry *entry = &row->entries[at];
    uint32_t last = --row->count;

    if (entry->inputs != CLO_NONE) {
        ((int64_t *)row->inputs)[(size_t)entry->inputs * row->executors] = row->inputs_free;
        row->inputs_free = entry->inputs;
    }
    put(row, at, &row->entries[last], row->keys[last], row->rests_ns[last]);
}

static bool has_changed(const clo_row *row, uint32_t executor, uint64_t seen)
{
    return executor != CLO_NONE && row->changed[executor] > seen;
}

static void forget(clo_row_entry *entry)
{
    entry->two[0] = entry->two[1] = (clo_row_value){.ns = INT64_MAX, .executor = CLO_NONE};
    entry->others_ns = INT64_MAX;
}

/* Executors come in any order. */
static void take_value(clo_row_entry *entry, uint32_t executor, int64_t ns)
{
    clo_row_value value = {.ns = ns, .executor = executor}, *two = entry->two;

    if (ns < two[0].ns || (ns == two[0].ns && executor < two[0].executor)) {
        entry->others_ns = two[1].ns;
        two[1] = two[0];
        two[0] = value;
    } else if (ns < two[1].ns) {
        entry->others_ns = two[1].ns;
        two[1] = value;
    } else if (ns < entry->others_ns) {
        entry->others_ns = ns;
    }
}

/* No value on `executor` is before this one, as the last look has told. */
static int64_t known_ns(const clo_row_entry *entry, uint32_t executor)
{
    if (entry->two[0].executor == CLO_NONE)
        return 0;
    return executor != entry->two[0].executor && entry->two[1].executor != CLO_NONE ? entry->two[1].ns
                                                                                    : entry->two[0].ns;
}

/* from_ns and add_ns of a task with a demand: where it starts at the earliest, and from there to the value. A search of
 * a machine's capacities is what costs. So each machine is asked once for the earliest start of the least time. */
static void find_starts(const clo_row *row, clo_row_entry *entry)
{
    clo_schedule *schedule = row->ready.schedule;
    uint32_t task = entry->task;
    int64_t base_ns = INT64_MAX;

    for (uint32_t e = 0; e < row->executors; e++) {
        int64_t time_ns = clo_cost_time(schedule->cost, task, e), add_ns = clo_row_add_ns(row, time_ns);
        int64_t from_ns = clo_row_start_ns(row, entry, e), known_start_ns = known_ns(entry, e) - add_ns;
        from_ns = from_ns > entry->base_ns ? from_ns : entry->base_ns;
        from_ns = from_ns > known_start_ns ? from_ns : known_start_ns;
        row->from_ns[e] = time_ns == CLO_TIME_NEVER ? INT64_MAX : from_ns;
        row->add_ns[e] = time_ns == CLO_TIME_NEVER ? CLO_TIME_NEVER : add_ns;
    }
    clo_schedule_raise_starts(schedule, task, row->from_ns);
    for (uint32_t e = 0; e < row->executors; e++)
        base_ns = row->from_ns[e] < base_ns ? row->from_ns[e] : base_ns;
    entry->base_ns = base_ns;
}

/* Those executors are asked first that may be the best, and no more once none of the others can. */
static void look_with_demand(const clo_row *row, clo_row_entry *entry)
{
    const clo_schedule *schedule = row->ready.schedule;
    uint32_t task = entry->task;
    bool has_two = clo_row_has_two(row);

    find_starts(row, entry);
    forget(entry);
    for (;;) { /* ends: each round takes an executor away */
        int64_t least_ns, limit_ns = has_two ? entry->two[1].ns : entry->two[0].ns;
        uint32_t e = clo_ready_most_promising(row->executors, row->from_ns, row->add_ns, &least_ns);
        bool takes_tie = limit_ns == entry->two[0].ns && e < entry->two[0].executor;
        if (e == CLO_NONE || least_ns > limit_ns || (least_ns == limit_ns && !takes_tie))
            break;
        int64_t latest_ns = limit_ns == INT64_MAX ? INT64_MAX : limit_ns - row->add_ns[e] + 1;
        int64_t start_ns = clo_occupancy_earliest_ns(&schedule->occupancies[schedule->platform->executors[e].machine],
                                                     row->from_ns[e], clo_cost_time(schedule->cost, task, e), latest_ns,
                                                     clo_graph_demand(schedule->graph, task));
        if (start_ns < latest_ns)
            take_value(entry, e, start_ns + row->add_ns[e]);
        row->add_ns[e] = CLO_TIME_NEVER;
    }
    if (!has_two)
        entry->two[1].executor = CLO_NONE; /* not all were asked */
    entry->least_ns = entry->two[0].ns;
    if (row->count >= HOLES_MIN && !is_least_first(row))
        clo_holes_learn(row->holes, row, entry);
}

static int64_t value_ns(const clo_row *row, const clo_row_value *value)
{
    int64_t available_ns = row->ready.available_ns[value->executor];

    return (value->inputs_ns > available_ns ? value->inputs_ns : available_ns) + value->add_ns;
}

/* The value on an executor that can run the task, without a demand. */
static clo_row_value value_on(const clo_row *row, const clo_row_entry *entry, uint32_t executor)
{
    const int64_t *inputs = row->inputs;
    int64_t time_ns = clo_cost_time(row->ready.schedule->cost, entry->task, executor);
    clo_row_value value = {.add_ns = clo_row_add_ns(row, time_ns), .executor = executor};

    if (entry->inputs != CLO_NONE)
        value.inputs_ns = inputs[(size_t)entry->inputs * row->executors + executor];
    value.ns = value_ns(row, &value);
    return value;
}

static void look_without_demand(const clo_row *row, clo_row_entry *entry)
{
    const clo_cost *cost = row->ready.schedule->cost;

    forget(entry);
    for (uint32_t e = 0; e < row->executors; e++) {
        int64_t time_ns = clo_cost_time(cost, entry->task, e);
        if (time_ns != CLO_TIME_NEVER)
            take_value(entry, e, clo_row_start_ns(row, entry, e) + clo_row_add_ns(row, time_ns));
    }
    for (int k = 0; k < 2 && entry->two[k].executor != CLO_NONE; k++)
        entry->two[k] = value_on(row, entry, entry->two[k].executor);
}

static void look(const clo_row *row, clo_row_entry *entry)
{
    if (entry->has_demand)
        look_with_demand(row, entry);
    else
        look_without_demand(row, entry);
    assert(entry->two[0].executor != CLO_NONE); /* a cost exists only if every task has an executor */
    entry->seen = row->step;
}

/* Without a demand: brings both values up to date. True if a look would find the same. */
static bool renew(const clo_row *row, clo_row_entry *entry)
{
    clo_row_value *two = entry->two;

    for (int k = 0; k < 2 && two[k].executor != CLO_NONE; k++)
        two[k].ns = value_ns(row, &two[k]);
    if (two[1].ns < two[0].ns || (two[1].ns == two[0].ns && two[1].executor < two[0].executor)) {
        clo_row_value first = two[1];
        two[1] = two[0];
        two[0] = first;
    }
    return two[0].ns < entry->others_ns && (!clo_row_has_two(row) || two[1].ns <= entry->others_ns);
}

/* True if a task without a demand, which was looked at before, may end before limit_ns somewhere. That executor is one
 * of its two, then, so that the next question is mostly answered by these. */
static bool ends_before(const clo_row *row, clo_row_entry *entry, int64_t limit_ns)
{
    const clo_cost *cost = row->ready.schedule->cost;
    clo_row_value *two = entry->two;

    for (int k = 0; k < 2 && two[k].executor != CLO_NONE; k++)
        if (value_ns(row, &two[k]) < limit_ns)
            return true;
    if (entry->others_ns >= limit_ns)
        return false;
    for (uint32_t e = 0; e < row->executors; e++) {
        int64_t time_ns = clo_cost_time(cost, entry->task, e);
        if (time_ns == CLO_TIME_NEVER || clo_row_start_ns(row, entry, e) + time_ns >= limit_ns)
            continue;
        entry->others_ns = two[1].ns < entry->others_ns ? two[1].ns : entry->others_ns;
        two[1] = value_on(row, entry, e);
        return true;
    }
    return false;
}

/* True if what is known is what a look would find. */
static bool is_current(const clo_row *row, clo_row_entry *entry)
{
    if (entry->two[0].executor == CLO_NONE)
        return false;
    if (!entry->has_demand)
        return renew(row, entry);
    return !has_changed(row, entry->two[0].executor, entry->seen) &&
           !(clo_row_has_two(row) && has_changed(row, entry->two[1].executor, entry->seen));
}

/* True if what was found on an executor still has room there. Values only rise, so it is the earliest, then. */
static bool has_slot(const clo_row *row, const clo_row_entry *entry, uint32_t executor, int64_t ns)
{
    const clo_schedule *schedule = row->ready.schedule;
    uint32_t task = entry->task;
    int64_t time_ns = clo_cost_time(schedule->cost, task, executor), start_ns = ns - clo_row_add_ns(row, time_ns);

    return clo_row_start_ns(row, entry, executor) <= start_ns &&
           clo_occupancy_earliest_ns(&schedule->occupancies[schedule->platform->executors[executor].machine], start_ns,
                                     time_ns, start_ns + 1, clo_graph_demand(schedule->graph, task)) == start_ns;
}

static bool is_unchanged(const clo_row *row, const clo_row_entry *entry)
{
    return entry->two[0].executor != CLO_NONE && has_slot(row, entry, entry->two[0].executor, entry->two[0].ns) &&
           (entry->two[1].executor == CLO_NONE || has_slot(row, entry, entry->two[1].executor, entry->two[1].ns));
}

static int64_t key_of(const clo_row *row, const clo_row_entry *entry)
{
    switch (row->order.rule) {
    case CLO_PICK_START:
    case CLO_PICK_LEAST:
        return entry->two[0].ns + entry->offset_ns;
    case CLO_PICK_LARGEST:
        return -entry->two[0].ns;
    case CLO_PICK_SUFFERAGE:
        break;
    }
    return entry->two[1].executor == CLO_NONE ? 0 : entry->two[0].ns - entry->two[1].ns;
}

static bool loses(int64_t key, uint32_t place, const choice *best)
{
    return key > best->key || (key == best->key && place > best->place);
}

/* No key of what stands at a position is less, where the least value wins. */
static int64_t bound_at(const clo_row *row, uint32_t at)
{
    int64_t bound = row->idle_ns + row->rests_ns[at];

    return bound > row->keys[at] ? bound : row->keys[at];
}

/* Of an entry that is not current and has no demand: what is told by the two values and what bounds the others. True:
 * it loses. */
static bool loses_by_two(const clo_row *row, uint32_t at, const choice *best)
{
    const clo_row_entry *entry = &row->entries[at];
    int64_t least_ns = entry->two[0].ns < entry->others_ns ? entry->two[0].ns : entry->others_ns;

    if (entry->two[0].executor == CLO_NONE)
        return false;
    if (clo_row_has_two(row))
        return loses(least_ns - entry->two[1].ns, entry->place, best);
    if (!is_least_first(row))
        return false;
    row->keys[at] = least_ns + entry->offset_ns;
    return loses(row->keys[at], entry->place, best);
}

static void raise_key(const clo_row *row, uint32_t at, int64_t key)
{
    row->keys[at] = key > row->keys[at] ? key : row->keys[at];
}

/* The same with a demand, without a search of the capacities. */
static bool loses_by_holes(const clo_row *row, uint32_t at, const choice *best)
{
    clo_row_entry *entry = &row->entries[at];
    bool asks = row->count >= HOLES_MIN, is_known = entry->two[0].executor != CLO_NONE;

    if (asks && is_least_first(row)) {
        int64_t rest_ns = row->rests_ns[at], enough_ns = best->at != CLO_NONE ? best->key - rest_ns : INT64_MAX;
        raise_key(row, at, clo_holes_base_ns(row->holes, row, entry, enough_ns) + rest_ns);
        if (loses(row->keys[at], entry->place, best))
            return true;
        raise_key(row, at, clo_holes_least_ns(row, entry) + entry->offset_ns);
        if (loses(row->keys[at], entry->place, best))
            return true;
    } else if (is_known && clo_row_has_two(row) && entry->two[1].executor == CLO_NONE) {
        return loses(0, entry->place, best); /* it has one executor */
    } else if (asks && is_known && best->at != CLO_NONE &&
               clo_holes_have_place(row->holes, row, entry, -best->key - (entry->place < best->place))) {
        return true;
    }
    return false;
}

/* Takes what stands at a position if it is better. */
static void consider(const clo_row *row, uint32_t at, choice *best)
{
    clo_row_entry *entry = &row->entries[at];

    if (row->order.rule == CLO_PICK_LARGEST && !entry->has_demand && best->at != CLO_NONE &&
        entry->two[0].executor != CLO_NONE && ends_before(row, entry, -best->key))
        return;
    if (!is_current(row, entry)) {
        if (entry->has_demand ? loses_by_holes(row, at, best) : loses_by_two(row, at, best))
            return;
        if (!entry->has_demand || !is_unchanged(row, entry))
            look(row, entry);
        entry->seen = row->step;
    }
    row->keys[at] = key_of(row, entry);
    if (!loses(row->keys[at], entry->place, best))
        *best = (choice){row->keys[at], entry->place, at};
}

/* The position that is likely the best, by what is known. */
static uint32_t guess(const clo_row *row)
{
    choice best = {INT64_MAX, CLO_NONE, 0};

    for (uint32_t at = 0; at < row->count; at++) {
        int64_t key = is_least_first(row) ? bound_at(row, at) : row->keys[at];
        if (key < best.key || (key == best.key && row->entries[at].place < best.place))
            best = (choice){key, row->entries[at].place, at};
    }
    return best.at;
}

static uint32_t pick_from_row(clo_row *row)
{
    choice best = {INT64_MAX, CLO_NONE, CLO_NONE};
    bool is_least = is_least_first(row);

    consider(row, guess(row), &best);
    for (uint32_t at = 0; at < row->count; at++)
        if (at != best.at && !(is_least && bound_at(row, at) > best.key))
            consider(row, at, &best);
    assert(best.at != CLO_NONE);
    return best.at;
}

/* True if the best bound is that of the heap `idle`. */
static bool is_idle_first(const clo_row *row)
{
    const clo_heap *known = &row->ready.heap;

    if (row->idle.count == 0 || known->count == 0)
        return row->idle.count > 0;
    clo_heap_item item = row->idle.items[0];
    item.key += row->idle_ns;
    return clo_heap_before(item, known->items[0]);
}

/* For the least start, in place of a pass through the row: most tasks are not even compared. The tasks that are known
 * by rests_ns only lie in one heap, whose order does not change with time; those with a key that was above it lie in
 * another. The first of both is considered, until its bound is behind the best. */
static uint32_t pick_from_heaps(clo_row *row)
{
    choice best = {INT64_MAX, CLO_NONE, CLO_NONE};

    while (row->idle.count + row->ready.heap.count > 0) {
        bool is_idle = is_idle_first(row);
        clo_heap *heap = is_idle ? &row->idle : &row->ready.heap;
        clo_heap_item item = heap->items[0];
        uint32_t at = row->position[(uint32_t)item.id], loser = at;
        int64_t bound = row->idle_ns + row->rests_ns[at];
        if (loses(is_idle ? bound : item.key, row->entries[at].place, &best))
            break;
        (void)clo_heap_pop(heap);
        if (!is_idle && item.key < bound) {
            clo_heap_push(&row->idle, row->rests_ns[at], item.id);
            continue;
        }
        uint32_t before = best.at;
        row->considered++;
        consider(row, at, &best);
        if (best.at == at)
            loser = before;
        if (loser != CLO_NONE) /* its key is behind the best now, so it is considered once a pick */
            clo_heap_push(&row->ready.heap, row->keys[loser], id_of(&row->entries[loser]));
    }
    assert(best.at != CLO_NONE);
    return best.at;
}

/* What stands at a position was placed: it goes on with the next instance of its task, or leaves. */
static void note_placed(clo_row *row, uint32_t at)
{
    const clo_schedule *schedule = row->ready.schedule;
    const clo_executor *executors = schedule->platform->executors;
    clo_row_entry *entry = &row->entries[at];
    uint32_t first = entry->two[0].executor;

    row->step++;
    row->changed[first] = row->step;
    for (uint32_t e = 0; e < row->executors && entry->has_demand; e++)
        if (executors[e].machine == executors[first].machine)
            row->changed[e] = row->step;
    if (++entry->instance == schedule->graph->first_instance[entry->task + 1])
        drop(row, at);
    else if (has_heaps(row))
        clo_heap_push(&row->idle, row->rests_ns[at], id_of(entry));
}

static clo_status place_next(clo_row *row)
{
    row->idle_ns = clo_ready_first_idle_ns(&row->ready);
    if (row->holes != NULL && row->considered > CONSIDERED_BASE + CONSIDERED_EACH * row->step)
        row->idle.items = NULL; /* capacities hold many back: bounds rise all the time, and a pass costs less */
    if (row->holes != NULL && row->count >= HOLES_MIN)
        clo_holes_renew(row->holes, row);
    uint32_t at = has_heaps(row) ? pick_from_heaps(row) : pick_from_row(row);
    const clo_row_entry *entry = &row->entries[at];
    int64_t time_ns = clo_cost_time(row->ready.schedule->cost, entry->task, entry->two[0].executor);
    int64_t start_ns = entry->two[0].ns - clo_row_add_ns(row, time_ns);
    clo_slot slot = {start_ns, start_ns + time_ns, entry->two[0].executor};
    clo_status status = clo_ready_place(&row->ready, entry->instance, slot);

    note_placed(row, at);
    return status;
}

static clo_status add_released(clo_row *row)
{
    const clo_graph *graph = row->ready.schedule->graph;
    clo_status status = CLO_OK;
    uint32_t instance;

    while (status == CLO_OK && clo_ready_next(&row->ready, &instance))
        if (graph->first_instance[graph->task_of[instance]] == instance)
            status = add(row, instance);
    return status;
}

static clo_status open_row(clo_row *row, const clo_row_order *order, clo_schedule *schedule)
{
    uint32_t tasks = schedule->graph->tasks;
    clo_block block = {0};
    clo_status status = clo_ready_open(&row->ready, schedule);

    if (status != CLO_OK)
        return status;
    row->order = *order;
    row->executors = schedule->executors;
    row->step = 1;
    row->idle.capacity = tasks;
    row->inputs_free = CLO_NONE;
    clo_carve(&block, &row->changed, row->executors);
    clo_carve(&block, &row->entries, tasks);
    if (order->rule == CLO_PICK_START)
        clo_carve(&block, &row->idle.items, tasks);
    clo_carve(&block, &row->keys, tasks);
    clo_carve(&block, &row->position, tasks);
    clo_carve(&block, &row->rests_ns, tasks);
    clo_carve(&block, &row->from_ns, row->executors);
    clo_carve(&block, &row->add_ns, row->executors);
    if (schedule->occupancies != NULL)
        clo_carve(&block, &row->holes, 1);
    row->block = clo_block_allocate(&block);
    if (row->block == NULL)
        return clo_fail_memory("a plan");
    return row->holes != NULL ? clo_holes_open(row->holes, schedule) : CLO_OK;
}

clo_status clo_row_fill(clo_schedule *schedule, const clo_row_order *order)
{
    clo_row row = {0};
    clo_status status = open_row(&row, order, schedule);

    while (status == CLO_OK && schedule->count < schedule->graph->instances) { /* ends: some instance is always ready */
        if (row.count == 0 || !order->in_rounds)
            status = add_released(&row);
        if (status == CLO_OK)
            status = place_next(&row);
    }
    if (row.holes != NULL)
        clo_holes_close(row.holes);
    clo_free(row.inputs);
    clo_free(row.block);
    clo_ready_close(&row.ready);
    return status;
}
