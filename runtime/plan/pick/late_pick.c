/* plan/pick/late_pick.c - see late_pick.h. */
#include "plan/pick/late_pick.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/order/sort.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

/* Words are taken by blocks, a cache line each. */
enum { DIMENSIONS_MAX = CLO_RESOURCES_MAX + 2, WORDS = 8, BLOCK = WORDS * 64 };

/* The best task so far. */
typedef struct choice {
    int64_t end_ns;
    uint32_t position;
    clo_slot slot;
} choice;

/* What a hole has room for, if it is in all of these sets. */
typedef struct question {
    const uint64_t *sets[DIMENSIONS_MAX];
    uint32_t count; /* 0: nothing */
} question;

static uint32_t words_for(uint32_t count)
{
    return (count / BLOCK + 1) * WORDS;
}

static const clo_profile *profile_of(const clo_late_pick *pick, uint32_t executor)
{
    const clo_schedule *schedule = pick->ready->schedule;

    return &schedule->profiles[schedule->platform->executors[executor].machine];
}

void clo_late_pick_close(clo_late_pick *pick)
{
    clo_free(pick->block);
    *pick = (clo_late_pick){0};
}

clo_status clo_late_pick_open(clo_late_pick *pick, clo_ready *ready)
{
    const clo_schedule *schedule = ready->schedule;
    uint32_t tasks = schedule->graph->tasks;
    size_t dimensions = (size_t)schedule->cost->columns + CLO_RESOURCES_MAX + 1;
    clo_block block = {0};

    *pick = (clo_late_pick){.ready = ready, .leaves = 1, .set_words = words_for(tasks)};
    while (pick->leaves < tasks)
        pick->leaves *= 2;
    clo_carve(&block, &pick->task_at, tasks);
    clo_carve(&block, &pick->present, pick->set_words);
    clo_carve(&block, &pick->known_ns, tasks);
    clo_carve(&block, &pick->latest, 2 * (size_t)pick->leaves);
    clo_carve(&block, &pick->inputs_ns, tasks);
    clo_carve(&block, &pick->times_ns, tasks);
    clo_carve(&block, &pick->by_time, schedule->cost->columns);
    clo_carve(&block, &pick->amounts, dimensions * CLO_LATE_AMOUNTS);
    clo_carve(&block, &pick->sets, dimensions * CLO_LATE_AMOUNTS * pick->set_words);
    pick->block = clo_block_allocate(&block);
    return pick->block != NULL ? CLO_OK : clo_fail_memory("a plan");
}

/* The levels of one value of all positions, in times_ns; `dimension` tells where they lie. */
static clo_levels make_levels(const clo_late_pick *pick, size_t dimension)
{
    clo_levels levels = {.words = words_for(pick->count),
                         .amounts_count = CLO_LATE_AMOUNTS,
                         .amounts = pick->amounts + dimension * CLO_LATE_AMOUNTS,
                         .sets = pick->sets + dimension * CLO_LATE_AMOUNTS * pick->set_words};

    clo_levels_fill(&levels, pick->times_ns, 1, pick->count);
    return levels;
}

/* The levels of the times on a column. Tasks with a placement set are asked for one by one. */
static const clo_levels *times_on(clo_late_pick *pick, uint32_t column)
{
    const clo_cost *cost = pick->ready->schedule->cost;

    if (pick->by_time[column].words == 0) {
        for (uint32_t p = 0; p < pick->count; p++)
            pick->times_ns[p] = clo_graph_placement(cost->graph, pick->task_at[p]) != CLO_NONE
                                    ? CLO_TIME_NEVER
                                    : cost->time_ns[(size_t)pick->task_at[p] * cost->columns + column];
        pick->by_time[column] = make_levels(pick, CLO_RESOURCES_MAX + 1 + (size_t)column);
    }
    return &pick->by_time[column];
}

/* The positions before the one with the latest end, of two. */
static uint32_t later_of(const clo_late_pick *pick, uint32_t a, uint32_t b)
{
    return pick->known_ns[b] > pick->known_ns[a] ? b : a;
}

static uint32_t latest_below(const clo_late_pick *pick, uint32_t node)
{
    uint32_t position = node - pick->leaves;

    if (node < pick->leaves)
        return pick->latest[node];
    return position < pick->count ? position : 0;
}

static void find_latest(clo_late_pick *pick, uint32_t node)
{
    pick->latest[node] = later_of(pick, latest_below(pick, 2 * node), latest_below(pick, 2 * node + 1));
}

static void know(clo_late_pick *pick, uint32_t position, int64_t end_ns)
{
    pick->known_ns[position] = end_ns;
    for (uint32_t node = (position + pick->leaves) / 2; node > 0; node /= 2)
        find_latest(pick, node);
}

/* Everything that follows from the positions. */
static void make_positions(clo_late_pick *pick)
{
    const clo_graph *graph = pick->ready->schedule->graph;

    pick->left = pick->count;
    memset(pick->present, 0, words_for(pick->count) * sizeof *pick->present);
    memset(pick->present, 0xff, pick->count / 64 * sizeof *pick->present);
    pick->present[pick->count / 64] = (UINT64_C(1) << pick->count % 64) - 1;
    for (pick->leaves = 1; pick->leaves < pick->count;)
        pick->leaves *= 2;
    for (uint32_t node = pick->leaves; node-- > 1;)
        find_latest(pick, node);
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        for (uint32_t p = 0; p < pick->count; p++)
            pick->times_ns[p] = clo_graph_demand(graph, pick->task_at[p])[r];
        pick->by_demand[r] = make_levels(pick, r);
    }
    memcpy(pick->times_ns, pick->inputs_ns, pick->count * sizeof *pick->times_ns);
    pick->by_inputs = make_levels(pick, CLO_RESOURCES_MAX);
    for (uint32_t c = 0; c < pick->ready->schedule->cost->columns; c++)
        pick->by_time[c].words = 0;
}

static int by_task(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

void clo_late_pick_fill(clo_late_pick *pick)
{
    clo_schedule *schedule = pick->ready->schedule;
    const clo_graph *graph = schedule->graph;
    uint32_t instance;

    assert(pick->left == 0);
    pick->count = 0;
    while (clo_ready_next(pick->ready, &instance))
        if (graph->first_instance[graph->task_of[instance]] == instance)
            pick->task_at[pick->count++] = graph->task_of[instance];
    clo_sort(pick->task_at, pick->count, sizeof *pick->task_at, by_task);
    for (uint32_t p = 0; p < pick->count; p++) {
        clo_schedule_find_ready(schedule, graph->first_instance[pick->task_at[p]]);
        pick->inputs_ns[p] = pick->known_ns[p] = 0;
        for (uint32_t e = 0; e < schedule->executors; e++)
            if (clo_cost_time(schedule->cost, pick->task_at[p], e) != CLO_TIME_NEVER &&
                schedule->ready_ns[e] > pick->inputs_ns[p])
                pick->inputs_ns[p] = schedule->ready_ns[e];
    }
    make_positions(pick);
}

/* Leaves out the positions without a task. */
static void close_gaps(clo_late_pick *pick)
{
    uint32_t count = 0;

    for (uint32_t p = 0; p < pick->count; p++) {
        if ((pick->present[p / 64] >> p % 64 & 1) == 0)
            continue;
        pick->task_at[count] = pick->task_at[p];
        pick->inputs_ns[count] = pick->inputs_ns[p];
        pick->known_ns[count++] = pick->known_ns[p];
    }
    pick->count = count;
    make_positions(pick);
}

/* What is free in a hole now. */
static void find_room(const clo_late_pick *pick, clo_hole *hole)
{
    clo_profile_least_free(profile_of(pick, hole->executor), hole->begin_ns, hole->end_ns, NULL, hole->room);
}

static bool more_hits(const clo_hole *a, const clo_hole *b)
{
    return a->hits > b->hits;
}

/* Holes that left out nothing go; the others are brought up to date, those that left out most first. */
static void renew_holes(clo_late_pick *pick)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < pick->holes_count; i++) {
        clo_hole hole = pick->holes[i];
        int64_t available_ns = pick->ready->available_ns[hole.executor];
        uint32_t at = count;
        if (hole.begin_ns < available_ns)
            hole.begin_ns = available_ns;
        if (hole.hits == 0 || hole.begin_ns >= hole.end_ns)
            continue;
        find_room(pick, &hole);
        for (; at > 0 && more_hits(&hole, &pick->holes[at - 1]); at--)
            pick->holes[at] = pick->holes[at - 1];
        pick->holes[at] = hole;
        count++;
    }
    pick->holes_count = count;
    for (uint32_t i = 0; i < count; i++)
        pick->holes[i].hits = 0;
}

/* The last time at which a position still loses. */
static int64_t deadline_of(uint32_t position, const choice *best)
{
    return best->end_ns - (position <= best->position);
}

/* True if the task may end in the hole, no later than limit_ns. */
static bool has_place(const clo_late_pick *pick, const clo_hole *hole, uint32_t position, int64_t limit_ns)
{
    const clo_schedule *schedule = pick->ready->schedule;
    const clo_profile *profile = profile_of(pick, hole->executor);
    uint32_t task = pick->task_at[position];
    const int64_t *demand = clo_graph_demand(schedule->graph, task);
    int64_t time_ns = clo_cost_time(schedule->cost, task, hole->executor), lack = 0;

    limit_ns = hole->end_ns < limit_ns ? hole->end_ns : limit_ns;
    if (time_ns == CLO_TIME_NEVER || hole->begin_ns + time_ns > limit_ns || pick->inputs_ns[position] > hole->begin_ns)
        return false;
    for (uint32_t k = 0; k < profile->counted_count; k++)
        lack |= hole->room[k] - demand[profile->counted[k]];
    return lack >= 0;
}

/* What ends in a hole no later than limit_ns. */
static question ask(clo_late_pick *pick, const clo_hole *hole, int64_t limit_ns)
{
    const clo_profile *profile = profile_of(pick, hole->executor);
    const clo_levels *times = times_on(pick, pick->ready->schedule->cost->column_of[hole->executor]);
    question q = {.count = 2};

    limit_ns = hole->end_ns < limit_ns ? hole->end_ns : limit_ns;
    q.sets[0] = clo_levels_within(times, limit_ns - hole->begin_ns);
    q.sets[1] = clo_levels_within(&pick->by_inputs, hole->begin_ns);
    bool is_empty = q.sets[0] == NULL || q.sets[1] == NULL;
    for (uint32_t k = 0; k < profile->counted_count; k++) {
        q.sets[q.count] = clo_levels_within(&pick->by_demand[profile->counted[k]], hole->room[k]);
        is_empty |= q.sets[q.count++] == NULL;
    }
    q.count = is_empty ? 0 : q.count;
    return q;
}

/* Asks again where that tells more than it did for another limit. */
static void ask_beyond(clo_late_pick *pick, int64_t asked_ns, int64_t limit_ns, question *questions)
{
    for (uint32_t i = 0; i < pick->holes_count; i++)
        if (pick->holes[i].end_ns > asked_ns)
            questions[i] = ask(pick, &pick->holes[i], limit_ns);
}

/* One hole more, from where a task begins to where it would no longer fit; in the place of the one that left out least,
 * where there are many. Returns which one it is. */
static uint32_t add_hole(clo_late_pick *pick, uint32_t task, clo_slot slot, int64_t end_ns)
{
    const int64_t *demand = clo_graph_demand(pick->ready->schedule->graph, task);
    clo_hole hole = {.begin_ns = slot.start_ns, .executor = slot.executor, .hits = 1};
    uint32_t at = 0;

    hole.end_ns = clo_profile_least_free(profile_of(pick, slot.executor), slot.start_ns, end_ns, demand, hole.room);
    for (uint32_t i = 1; i < pick->holes_count; i++)
        at = pick->holes[i].hits < pick->holes[at].hits ? i : at;
    if (pick->holes_count < CLO_HOLES)
        at = pick->holes_count++;
    pick->holes[at] = hole;
    return at;
}

/* Looks at a task, and takes it if it is better. Returns the hole that it was found in; CLO_NONE: in none. */
static uint32_t look(clo_late_pick *pick, uint32_t position, choice *best)
{
    const clo_graph *graph = pick->ready->schedule->graph;
    uint32_t task = pick->task_at[position], instance = graph->first_instance[task + 1] - pick->ready->left[task];
    clo_slot slot = clo_ready_first_finish(pick->ready, instance, pick->known_ns[position]);

    assert(slot.executor != CLO_NONE);
    know(pick, position, slot.finish_ns);
    if (best->position == CLO_NONE || slot.finish_ns > deadline_of(position, best))
        *best = (choice){slot.finish_ns, position, slot};
    return slot.start_ns < slot.finish_ns ? add_hole(pick, task, slot, best->end_ns) : CLO_NONE;
}

/* True if some hole has a place for the task; or it is the best one. */
static bool is_placed(clo_late_pick *pick, uint32_t position, const choice *best)
{
    int64_t limit_ns = deadline_of(position, best);

    clo_profile_count_look(&pick->ready->schedule->profiles[0]);
    for (uint32_t i = 0; i < pick->holes_count; i++)
        if (has_place(pick, &pick->holes[i], position, limit_ns)) {
            pick->holes[i].hits++;
            return true;
        }
    return position == best->position;
}

/* Those of a block that no hole is known to have a place for; true: there are some. */
static bool leave_out(clo_late_pick *pick, const question *questions, uint32_t block, uint64_t *bits)
{
    uint64_t rest = 1;

    memcpy(bits, pick->present + (size_t)block * WORDS, WORDS * sizeof *bits);
    for (uint32_t i = 0; i < pick->holes_count && rest != 0; i++) {
        uint64_t within[WORDS], any = 0;
        memcpy(within, bits, sizeof within);
        for (uint32_t k = 0; k < questions[i].count; k++) {
            const uint64_t *set = questions[i].sets[k] + (size_t)block * WORDS;
            for (uint32_t w = 0; w < WORDS; w++)
                within[w] &= set[w];
        }
        rest = 0;
        for (uint32_t w = 0; w < WORDS; w++) {
            within[w] = questions[i].count > 0 ? within[w] : 0;
            any |= within[w];
            bits[w] &= ~within[w];
            rest |= bits[w];
        }
        pick->holes[i].hits += any != 0;
    }
    return rest != 0;
}

/* The first position of a block from `from` on that is left; CLO_NONE: there is none. */
static uint32_t next_left(const uint64_t *bits, uint32_t block, uint32_t from)
{
    uint32_t begin = from - block * BLOCK;
    uint64_t mask = ~UINT64_C(0) << begin % 64;

    for (uint32_t w = begin / 64; w < WORDS; w++, mask = ~UINT64_C(0))
        if ((bits[w] & mask) != 0)
            return block * BLOCK + w * 64 + (uint32_t)__builtin_ctzll(bits[w] & mask);
    return CLO_NONE;
}

/* The end by which all of a block lose. */
static int64_t limit_of(uint32_t block, const choice *best)
{
    return best->end_ns - (block <= best->position / BLOCK);
}

/* Through the tasks of a block that no hole is known to have a place for. asked_ns: the limit of the questions. */
static void search_block(clo_late_pick *pick, uint32_t block, question *questions, int64_t *asked_ns, choice *best)
{
    uint64_t bits[WORDS];
    uint32_t position = leave_out(pick, questions, block, bits) ? next_left(bits, block, block * BLOCK) : CLO_NONE;

    for (; position != CLO_NONE; position = next_left(bits, block, position + 1)) { /* ends: they rise */
        if (is_placed(pick, position, best))
            continue;
        uint32_t hole = look(pick, position, best);
        if (hole != CLO_NONE)
            questions[hole] = ask(pick, &pick->holes[hole], limit_of(block, best));
        if (limit_of(block, best) != *asked_ns)
            ask_beyond(pick, *asked_ns, limit_of(block, best), questions);
        *asked_ns = limit_of(block, best);
        leave_out(pick, questions, block, bits);
    }
}

static void search(clo_late_pick *pick, choice *best)
{
    question questions[CLO_HOLES] = {{{0}, 0}};
    int64_t asked_ns = 0;

    for (uint32_t block = 0; block <= pick->count / BLOCK; block++) {
        if (limit_of(block, best) != asked_ns)
            ask_beyond(pick, asked_ns, limit_of(block, best), questions);
        asked_ns = limit_of(block, best);
        search_block(pick, block, questions, &asked_ns, best);
    }
}

clo_status clo_late_pick_place(clo_late_pick *pick)
{
    const clo_graph *graph = pick->ready->schedule->graph;
    choice best = {0, CLO_NONE, {0}};

    assert(pick->left > 0);
    renew_holes(pick);
    look(pick, pick->count > 1 ? pick->latest[1] : 0, &best);
    search(pick, &best);
    uint32_t task = pick->task_at[best.position], instance = graph->first_instance[task + 1] - pick->ready->left[task];
    clo_status status = clo_ready_place(pick->ready, instance, best.slot);
    if (status != CLO_OK || pick->ready->left[task] > 0)
        return status;
    know(pick, best.position, -1);
    pick->present[best.position / 64] &= ~(UINT64_C(1) << best.position % 64);
    pick->left--;
    if (pick->left > 0 && pick->left <= pick->count / 2)
        close_gaps(pick);
    return CLO_OK;
}
