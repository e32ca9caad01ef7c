/* plan/pick/fit_pick.c - see fit_pick.h. */
#include "plan/pick/fit_pick.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/order/sort.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

enum { STEPS = 16 }; /* of a profile, read at once */

typedef struct order_key {
    int64_t least_ns;
    uint32_t place, task;
} order_key;

/* The best task so far; `place` CLO_NONE: there is none. */
typedef struct choice {
    int64_t key;
    uint32_t place, task;
    clo_slot slot;
} choice;

/* A step of a machine's profile, in which a start is looked for. */
typedef struct step {
    int64_t begin_ns, end_ns; /* of the starts that are looked for */
    uint32_t machine;
    const clo_profile_step *steps; /* [count] it and those behind it, as far as they are known */
    uint32_t count;
} step;

static int by_least(const void *left, const void *right)
{
    const order_key *a = left, *b = right;

    if (a->least_ns != b->least_ns)
        return a->least_ns < b->least_ns ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

static clo_status find_order(clo_fit_pick *pick)
{
    const clo_cost *cost = pick->ready->schedule->cost;
    uint32_t tasks = cost->graph->tasks;
    order_key *keys = clo_allocate(tasks, sizeof *keys);

    if (keys == NULL)
        return clo_fail_memory("a plan");
    for (uint32_t t = 0; t < tasks; t++)
        keys[t] = (order_key){pick->by_start ? 0 : clo_cost_fastest(cost, t) + pick->offset_ns[t], pick->place[t], t};
    clo_sort(keys, tasks, sizeof *keys, by_least);
    for (uint32_t p = 0; p < tasks; p++) {
        pick->task_at[p] = keys[p].task;
        pick->position[keys[p].task] = p;
        pick->least_ns[p] = keys[p].least_ns;
    }
    clo_free(keys);
    return CLO_OK;
}

void clo_fit_pick_close(clo_fit_pick *pick)
{
    for (uint32_t m = 0; pick->block != NULL && m < pick->ready->schedule->platform->machines_count; m++)
        clo_free(pick->spans[m].list);
    clo_free(pick->spare.list);
    clo_fits_close(&pick->fits);
    clo_free(pick->block);
    *pick = (clo_fit_pick){0};
}

/* Adds a span behind the others; into the last one if the same holds in both. */
static clo_status append_span(clo_fit_spans *spans, clo_fit_span span)
{
    clo_fit_span *list = spans->list;

    if (spans->count > 0 && list[spans->count - 1].first == span.first) {
        list[spans->count - 1].end_ns = span.end_ns;
        return CLO_OK;
    }
    if (clo_grow(&spans->list, &spans->capacity, spans->count + 1, sizeof span) != 0)
        return clo_fail_memory("a plan");
    list = spans->list;
    list[spans->count++] = span;
    return CLO_OK;
}

/* tails_ns and times_ns. */
static void find_tails(clo_fit_pick *pick)
{
    const clo_cost *cost = pick->ready->schedule->cost;
    uint32_t tasks = cost->graph->tasks;
    int64_t shortest_ns = INT64_MAX;

    for (uint32_t p = tasks; p-- > 0;) {
        int64_t time_ns = clo_cost_fastest(cost, pick->task_at[p]);
        shortest_ns = time_ns < shortest_ns ? time_ns : shortest_ns;
        pick->times_ns[p] = shortest_ns;
    }
    for (uint32_t c = 0; c < cost->columns && !pick->by_start; c++) {
        int64_t *tail_ns = pick->tails_ns + (size_t)c * tasks, least_ns = INT64_MAX;
        for (uint32_t p = tasks; p-- > 0;) {
            int64_t time_ns = cost->time_ns[(size_t)pick->task_at[p] * cost->columns + c];
            int64_t key_ns = time_ns == CLO_TIME_NEVER ? INT64_MAX : time_ns + pick->offset_ns[pick->task_at[p]];
            least_ns = key_ns < least_ns ? key_ns : least_ns;
            tail_ns[p] = least_ns;
        }
    }
}

clo_status clo_fit_pick_open(clo_fit_pick *pick, clo_ready *ready, const int64_t *offset_ns, const uint32_t *place)
{
    const clo_schedule *schedule = ready->schedule;
    uint32_t tasks = schedule->graph->tasks;
    clo_block block = {0};

    *pick = (clo_fit_pick){.ready = ready, .by_start = offset_ns == NULL, .offset_ns = offset_ns, .place = place};
    clo_carve(&block, &pick->task_at, tasks);
    clo_carve(&block, &pick->position, tasks);
    clo_carve(&block, &pick->least_ns, tasks);
    clo_carve(&block, &pick->tails_ns, offset_ns == NULL ? 0 : (size_t)schedule->cost->columns * tasks);
    clo_carve(&block, &pick->times_ns, tasks);
    clo_carve(&block, &pick->begins_ns, schedule->cost->columns);
    clo_carve(&block, &pick->able, schedule->executors);
    clo_carve(&block, &pick->known_ns, tasks);
    clo_carve(&block, &pick->least_known, tasks / 64 + 1);
    clo_carve(&block, &pick->spans, schedule->platform->machines_count);
    pick->block = clo_block_allocate(&block);
    if (pick->block == NULL)
        return clo_fail_memory("a plan");
    for (uint32_t word = 0; word <= tasks / 64; word++)
        pick->least_known[word] = INT64_MAX;
    clo_status status = find_order(pick);
    if (status == CLO_OK)
        find_tails(pick);
    for (uint32_t m = 0; m < schedule->platform->machines_count && status == CLO_OK; m++)
        status = append_span(&pick->spans[m], (clo_fit_span){0, INT64_MAX, 0});
    return status == CLO_OK ? clo_fits_open(&pick->fits, schedule->cost, pick->task_at) : status;
}

static bool loses(int64_t key, uint32_t place, const choice *best)
{
    return key > best->key || (key == best->key && place > best->place);
}

/* No key of the task is less, wherever it begins. */
static int64_t known_key(const clo_fit_pick *pick, uint32_t task)
{
    return pick->known_ns[task] + (pick->by_start ? 0 : pick->offset_ns[task]);
}

void clo_fit_pick_add(clo_fit_pick *pick, uint32_t task)
{
    clo_schedule *schedule = pick->ready->schedule;
    uint32_t position = pick->position[task];
    int64_t from_ns = INT64_MAX, known_ns = INT64_MAX;

    clo_schedule_find_ready(schedule, schedule->graph->first_instance[task]);
    for (uint32_t e = 0; e < schedule->executors; e++) {
        int64_t time_ns = clo_cost_time(schedule->cost, task, e), ready_ns = schedule->ready_ns[e];
        if (time_ns == CLO_TIME_NEVER)
            continue;
        from_ns = ready_ns < from_ns ? ready_ns : from_ns;
        if (ready_ns + (pick->by_start ? 0 : time_ns) < known_ns)
            known_ns = ready_ns + (pick->by_start ? 0 : time_ns);
    }
    pick->known_ns[task] = known_ns;
    clo_fits_add(&pick->fits, position);
    int64_t *least = &pick->least_known[position / 64], key = known_key(pick, task);
    *least = key < *least ? key : *least;
    for (uint32_t m = 0; m < schedule->platform->machines_count; m++) {
        clo_fit_span *list = pick->spans[m].list;
        for (size_t i = pick->spans[m].count; i-- > 0 && list[i].end_ns > from_ns;)
            list[i].first = position < list[i].first ? position : list[i].first;
    }
}

/* What is known of a task has changed from `before`, a key: the least of its word. */
static void note_known(clo_fit_pick *pick, uint32_t position, int64_t before)
{
    uint32_t word = position / 64;
    int64_t *least = &pick->least_known[word];

    if (before != *least)
        return;
    *least = INT64_MAX;
    for (uint64_t bits = pick->fits.present[word]; bits != 0; bits &= bits - 1) {
        int64_t key = known_key(pick, pick->task_at[word * 64 + (uint32_t)__builtin_ctzll(bits)]);
        *least = key < *least ? key : *least;
    }
}

/* The first position from `from` on, before `end`, that fits and is not known to lose. */
static uint32_t next_hope(const clo_fit_pick *pick, const clo_fits_question *question, uint32_t from, uint32_t end,
                          const choice *best)
{
    while (from < end) { /* ends: goes on */
        uint32_t word = from / 64;
        if (pick->least_known[word] > best->key) {
            from = (word + 1) * 64;
            continue;
        }
        uint32_t word_end = (word + 1) * 64 < end ? (word + 1) * 64 : end;
        uint32_t p = clo_fits_next(&pick->fits, question, from, word_end);
        if (p < word_end && !loses(known_key(pick, pick->task_at[p]), pick->place[pick->task_at[p]], best))
            return p;
        from = p < word_end ? p + 1 : word_end;
    }
    return end;
}

/* The least key of a task that begins in a step, or INT64_MAX: it does not. */
static int64_t least_key(const clo_fit_pick *pick, uint32_t task, const step *at)
{
    const clo_schedule *schedule = pick->ready->schedule;
    int64_t known_ns = pick->known_ns[task], least_ns = INT64_MAX;

    for (uint32_t i = 0; i < pick->able_count; i++) {
        uint32_t e = pick->able[i];
        int64_t time_ns = clo_cost_time(schedule->cost, task, e), start_ns = pick->ready->available_ns[e];
        if (time_ns == CLO_TIME_NEVER)
            continue;
        int64_t known_start_ns = pick->by_start ? known_ns : known_ns - time_ns;
        start_ns = start_ns > at->begin_ns ? start_ns : at->begin_ns;
        start_ns = start_ns > known_start_ns ? start_ns : known_start_ns;
        int64_t key = pick->by_start ? start_ns : start_ns + time_ns + pick->offset_ns[task];
        if (start_ns < at->end_ns && key < least_ns)
            least_ns = key;
    }
    return least_ns;
}

/* Looks at a task, and takes it if it is better. */
static void look(clo_fit_pick *pick, uint32_t task, choice *best)
{
    const clo_schedule *schedule = pick->ready->schedule;
    uint32_t instance = schedule->graph->first_instance[task + 1] - pick->ready->left[task];
    clo_slot slot = pick->by_start ? clo_ready_first_start(pick->ready, instance, pick->known_ns[task])
                                   : clo_ready_first_finish(pick->ready, instance, pick->known_ns[task]);
    int64_t key = pick->by_start ? slot.start_ns : slot.finish_ns + pick->offset_ns[task];

    int64_t before = known_key(pick, task);
    assert(slot.executor != CLO_NONE);
    pick->known_ns[task] = pick->by_start ? slot.start_ns : slot.finish_ns;
    note_known(pick, pick->position[task], before);
    if (!loses(key, pick->place[task], best))
        *best = (choice){key, pick->place[task], task, slot};
}

/* False: what is known of the steps behind it leaves no room for the task for as long as it takes at least. */
static bool has_room(const clo_fit_pick *pick, uint32_t position, const step *at)
{
    const clo_schedule *schedule = pick->ready->schedule;
    const clo_profile *profile = &schedule->profiles[at->machine];
    uint32_t task = pick->task_at[position];
    const int64_t *demand = clo_graph_demand(schedule->graph, task);
    int64_t end_ns = at->begin_ns + clo_cost_fastest(schedule->cost, task), lack = 0;

    for (uint32_t i = 1; i < at->count && at->steps[i].time_ns < end_ns && lack >= 0; i++)
        for (uint32_t k = 0; k < profile->counted_count; k++)
            lack |= at->steps[i].free[k] - demand[profile->counted[k]];
    return lack >= 0;
}

/* Looks at what stands at a position, if it may begin in a step and win. True if it may begin there, as far as is
 * known. */
static bool consider(clo_fit_pick *pick, uint32_t position, const step *at, choice *best)
{
    uint32_t task = pick->task_at[position];
    int64_t least_ns = least_key(pick, task, at);

    clo_profile_count_look(&pick->ready->schedule->profiles[at->machine]);
    if (least_ns == INT64_MAX || !has_room(pick, position, at))
        return false;
    if (loses(least_ns, pick->place[task], best))
        return true;
    look(pick, task, best);
    return least_key(pick, task, at) != INT64_MAX;
}

/* begins_ns, and the executors that are able to begin something in the step. */
static void find_begins(clo_fit_pick *pick, const step *at)
{
    const clo_schedule *schedule = pick->ready->schedule;

    pick->able_count = 0;
    for (uint32_t c = 0; c < schedule->cost->columns; c++)
        pick->begins_ns[c] = INT64_MAX;
    for (uint32_t e = 0; e < schedule->executors; e++) {
        int64_t begin_ns = pick->ready->available_ns[e], *least_ns = &pick->begins_ns[schedule->cost->column_of[e]];
        if (schedule->platform->executors[e].machine != at->machine || begin_ns >= at->end_ns)
            continue;
        pick->able[pick->able_count++] = e;
        begin_ns = begin_ns > at->begin_ns ? begin_ns : at->begin_ns;
        *least_ns = begin_ns < *least_ns ? begin_ns : *least_ns;
    }
}

/* False: nothing from a position on wins if it begins in the step of begins_ns. */
static bool some_may_win(const clo_fit_pick *pick, uint32_t position, const step *at, const choice *best)
{
    const clo_cost *cost = pick->ready->schedule->cost;
    const int64_t *tail_ns = pick->tails_ns + position;

    if (pick->by_start)
        return at->begin_ns <= best->key;
    for (uint32_t c = 0; c < cost->columns; c++, tail_ns += cost->graph->tasks)
        if (pick->begins_ns[c] != INT64_MAX && *tail_ns != INT64_MAX && pick->begins_ns[c] + *tail_ns <= best->key)
            return true;
    return false;
}

/* The first position, from `from` on, from which on nothing may win in a step. */
static uint32_t may_win(const clo_fit_pick *pick, uint32_t from, const step *at, const choice *best)
{
    uint32_t low = from, high = pick->fits.count;

    if (best->task == CLO_NONE)
        return high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (some_may_win(pick, middle, at, best))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What is free for those from a position on: during the step, and in those behind it that begin while even the
 * shortest task still runs. */
static void find_room(const clo_fit_pick *pick, uint32_t from, const step *at, int64_t *room)
{
    const clo_profile *profile = &pick->ready->schedule->profiles[at->machine];
    const clo_fits *fits = &pick->fits;
    int64_t end_ns = at->begin_ns + pick->times_ns[from];

    for (uint32_t r = 0; r < fits->resources; r++) {
        room[r] = INT64_MAX;
        for (uint32_t k = 0; k < profile->counted_count; k++)
            for (uint32_t i = 0; i < at->count && profile->counted[k] == fits->of[r]; i++) {
                if (i > 0 && at->steps[i].time_ns >= end_ns)
                    break;
                room[r] = at->steps[i].free[k] < room[r] ? at->steps[i].free[k] : room[r];
            }
    }
}

/* Looks at the tasks that fit into a step, from a position on. Returns the first whose task may begin there. */
static uint32_t search_step(clo_fit_pick *pick, const step *at, uint32_t from, choice *best)
{
    const clo_fits *fits = &pick->fits;
    uint32_t first = CLO_NONE;
    clo_fits_question question;

    find_begins(pick, at);
    uint32_t end = may_win(pick, from, at, best);
    if (from >= end)
        return from;
    clo_profile_count_look(&pick->ready->schedule->profiles[at->machine]);
    find_room(pick, from, at, question.room);
    clo_fits_ask(fits, &question);
    for (uint32_t p = clo_fits_next(fits, &question, from, end); p < end;) {
        uint32_t taken = best->task;
        if (consider(pick, p, at, best) && first == CLO_NONE)
            first = p;
        if (best->task != taken && best->key == at->begin_ns + pick->least_ns[p])
            end = p + 1; /* those behind it are no better */
        else if (best->task != taken)
            end = may_win(pick, p + 1, at, best);
        p = first != CLO_NONE ? next_hope(pick, &question, p + 1, end, best)
                              : clo_fits_next(fits, &question, p + 1, end);
    }
    return first != CLO_NONE ? first : end;
}

/* Goes through the steps of a span. */
static clo_status search_span(clo_fit_pick *pick, uint32_t machine, clo_fit_span span, int64_t idle_ns, choice *best)
{
    const clo_profile *profile = &pick->ready->schedule->profiles[machine];
    clo_profile_step steps[STEPS];
    step at = {.begin_ns = span.begin_ns > idle_ns ? span.begin_ns : idle_ns, .machine = machine};
    clo_status status = CLO_OK;

    while (status == CLO_OK && span.begin_ns < span.end_ns) { /* ends: behind the last step */
        uint32_t count = clo_profile_read(profile, at.begin_ns, steps, STEPS);
        for (uint32_t i = 0; i + (count == STEPS) < count && status == CLO_OK && span.begin_ns < span.end_ns; i++) {
            at.end_ns = i + 1 < count && steps[i + 1].time_ns < span.end_ns ? steps[i + 1].time_ns : span.end_ns;
            at.steps = steps + i;
            at.count = count - i;
            uint32_t first = search_step(pick, &at, span.first, best);
            status = append_span(&pick->spare, (clo_fit_span){span.begin_ns, at.end_ns, first});
            span.begin_ns = at.begin_ns = at.end_ns;
        }
    }
    return status;
}

/* When the first executor of a machine has nothing more to do. */
static int64_t machine_idle_ns(const clo_fit_pick *pick, uint32_t machine)
{
    const clo_schedule *schedule = pick->ready->schedule;
    int64_t idle_ns = INT64_MAX;

    for (uint32_t e = 0; e < schedule->executors; e++)
        if (schedule->platform->executors[e].machine == machine && pick->ready->available_ns[e] < idle_ns)
            idle_ns = pick->ready->available_ns[e];
    return idle_ns;
}

/* False: nothing wins that begins in a span. */
static bool may_win_in(clo_fit_pick *pick, uint32_t machine, clo_fit_span span, int64_t idle_ns, const choice *best)
{
    step whole = {
        .begin_ns = span.begin_ns > idle_ns ? span.begin_ns : idle_ns, .end_ns = span.end_ns, .machine = machine};

    if (span.first == pick->fits.count || whole.begin_ns + pick->least_ns[span.first] > best->key)
        return false;
    find_begins(pick, &whole);
    return some_may_win(pick, span.first, &whole, best);
}

static clo_status search_machine(clo_fit_pick *pick, uint32_t machine, choice *best)
{
    const clo_fit_span *list = pick->spans[machine].list;
    uint32_t none = pick->fits.count;
    int64_t idle_ns = machine_idle_ns(pick, machine);
    clo_status status = CLO_OK;

    pick->spare.count = 0;
    for (size_t i = 0; i < pick->spans[machine].count && status == CLO_OK; i++) {
        clo_fit_span span = list[i];
        span.first = span.end_ns <= idle_ns ? none : clo_fits_first(&pick->fits, span.first);
        if (may_win_in(pick, machine, span, idle_ns, best))
            status = search_span(pick, machine, span, idle_ns, best);
        else
            status = append_span(&pick->spare, span);
    }
    clo_fit_spans made = pick->spare;
    pick->spare = pick->spans[machine];
    pick->spans[machine] = made;
    return status;
}

clo_status clo_fit_pick_place(clo_fit_pick *pick)
{
    choice best = {.key = INT64_MAX, .place = CLO_NONE, .task = CLO_NONE};
    const clo_graph *graph = pick->ready->schedule->graph;
    clo_status status = CLO_OK;

    for (uint32_t m = 0; m < pick->ready->schedule->platform->machines_count && status == CLO_OK; m++)
        status = search_machine(pick, m, &best);
    if (status != CLO_OK)
        return status;
    assert(best.task != CLO_NONE);
    uint32_t instance = graph->first_instance[best.task + 1] - pick->ready->left[best.task];
    status = clo_ready_place(pick->ready, instance, best.slot);
    if (status == CLO_OK && pick->ready->left[best.task] == 0) {
        clo_fits_remove(&pick->fits, pick->position[best.task]);
        note_known(pick, pick->position[best.task], known_key(pick, best.task));
    }
    return status;
}
