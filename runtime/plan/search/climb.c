/* plan/search/climb.c - search for a short plan where executors differ or data take time to move: moves on the longest
 * path, by what they promise.
 *
 * A plan is a sequence of executions (sequence.h). For each of them it is known what comes before its start and what
 * follows its end, so the longest path through one execution can be told for another place without building anything:
 * the neighbourhood of tabu search for flexible job shops (Mastrolilli and Gambardella 2000). A move takes an execution
 * of the longest path to another executor or to another place among those of its executor, where that estimate is
 * least, with a copy of the producer whose data come last where that helps (DEFT). Copies that it alone has read go
 * with it. Deviations: estimates count times as they are before the move; data that travel and copies are counted;
 * moves are drawn, and no tabu list is kept.
 *
 * A move is built if its estimate is at most the current makespan and an exponential of mean heat: the rule of
 * Metropolis, drawn before. Nearly all that are built are kept. Where few places are good, a part of the plan is freed
 * and built again (ruin and recreate): a stretch of the sequence, or tasks about one of the longest path; each goes
 * where its finish and a share of what follows is least. The heat rises with every schedule that brings nothing shorter,
 * from 0, then a new round begins: by turns from the best and from a whole plan built again.
 *
 * The constants were set on instances like SAGA's, drawn anew. Integers only: every machine finds the same plan for a
 * seed. */
#include "plan/search/search.h"
#include "plan/search/sequence.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/numbers/noise.h"
#include "base/status.h"

#include <string.h>

enum {
    ROUND = 4,       /* schedules for each task without anything shorter, then another round */
    HEAT_Q16 = 2000, /* the heat then: 0.03 of the makespan */
    PICKS = 16,      /* drawn for a move */
    RUINS = 2,       /* of so many times that no move was found, one is a ruin */
    PART_Q8 = 256,   /* of what follows, at most */
    LEAVING_MAX = 8
};

typedef struct climb {
    clo_sequence sequence;
    clo_budget *budget;
    clo_snapshot *best;
    clo_rng rng;
    uint8_t *is_free; /* [tasks] */
    uint32_t *freed;  /* [tasks] */
    void *block;
} climb;

/* An element goes to an executor, ahead of what stands at `at`, behind a copy (CLO_NONE: without). Others leave. */
typedef struct move {
    int64_t estimate_ns;
    uint32_t element, executor, at, copy;
    uint32_t leaving[LEAVING_MAX], leaving_count;
} move;

/* What a place for an element needs. */
typedef struct need {
    uint32_t element, executor;
    uint32_t low, high; /* it stands behind its sources and ahead of its readers */
    int64_t ready_ns, duration_ns, later_ns;
    uint32_t copy; /* CLO_NONE: none, and copy_ns is 0 */
    int64_t copy_ready_ns, copy_ns;
} need;

/* The best place for an element among those of its executor, if its estimate is below that of *best. */
static void find_place(const clo_sequence *s, const need *n, move *best)
{
    const clo_element *x = s->now.elements;
    bool is_own = n->copy == CLO_NONE && n->executor == x[n->element].executor;
    int64_t first_ns = n->copy == CLO_NONE ? n->ready_ns : n->copy_ready_ns;
    uint32_t behind = CLO_NONE, before = s->last[n->executor];

    for (;;) { /* ends: towards the head */
        before = before == n->element ? s->before[before] : before;
        int64_t free_ns = before == CLO_NONE || x[before].finish_ns < first_ns ? first_ns : x[before].finish_ns;
        int64_t begin_ns = free_ns + n->copy_ns < n->ready_ns ? n->ready_ns : free_ns + n->copy_ns;
        int64_t end_ns = begin_ns + n->duration_ns, estimate_ns = end_ns + n->later_ns;
        if (estimate_ns < best->estimate_ns) {
            uint32_t low = before != CLO_NONE && before >= n->low ? before + 1 : n->low;
            uint32_t high = behind < n->high ? behind : n->high; /* CLO_NONE is above all */
            int64_t way_ns =
                behind == CLO_NONE ? 0 : end_ns + x[behind].finish_ns - x[behind].start_ns + s->tail_ns[behind];
            estimate_ns = way_ns > estimate_ns ? way_ns : estimate_ns;
            bool is_there = is_own && before == s->before[n->element];
            if (estimate_ns < best->estimate_ns && low <= high && !is_there) {
                best->estimate_ns = estimate_ns;
                best->at = high;
                best->copy = n->copy;
            }
        }
        if (before == CLO_NONE || x[before].finish_ns <= first_ns)
            return;
        behind = before;
        before = s->before[before];
    }
}

static inline void raise(uint32_t *low, uint32_t source)
{
    *low = source >= *low ? source + 1 : *low;
}

/* The execution of a producer on the old executor goes, too, where nobody else reads it and the new place reads another. */
static void let_leave(const clo_sequence *s, uint32_t producer, uint32_t source, move *m)
{
    const clo_element *x = s->now.elements;

    if (m->executor == x[m->element].executor || m->leaving_count == LEAVING_MAX ||
        !clo_sequence_has_copies(s, producer))
        return;
    for (uint32_t c = s->now.newest[producer]; c != CLO_NONE; c = x[c].next)
        if (c != source && x[c].executor == x[m->element].executor && s->readers[c] == 1 &&
            s->reader[c] == m->element) {
            m->leaving[m->leaving_count++] = c;
            return; /* it is there once */
        }
}

/* The inputs of an element on an executor. *with_copy: those but the latest one, which the copy brings. */
static void find_inputs(const clo_sequence *s, move *m, need *plain, need *with_copy)
{
    const clo_graph *graph = s->graph;
    uint32_t task = s->now.elements[m->element].task;

    for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
        uint32_t source = CLO_NONE, producer = clo_graph_source(graph, edge);
        int64_t there_ns = clo_sequence_arrival_ns(s, edge, m->executor, &source);
        if (there_ns > plain->ready_ns) {
            with_copy->ready_ns = plain->ready_ns;
            with_copy->low = plain->low;
            with_copy->copy = producer;
            plain->ready_ns = there_ns;
        } else {
            with_copy->ready_ns = there_ns > with_copy->ready_ns ? there_ns : with_copy->ready_ns;
            raise(&with_copy->low, source);
        }
        raise(&plain->low, source);
        let_leave(s, producer, source, m);
    }
}

/* The copy itself. False: it is no help. */
static bool find_copy(const clo_sequence *s, int64_t ready_ns, need *n)
{
    const clo_graph *graph = s->graph;

    if (!s->sketch->schedule->may_duplicate || n->copy == CLO_NONE || s->now.count >= s->capacity ||
        n->ready_ns >= ready_ns || !graph->rows[n->copy].duplicable)
        return false;
    n->copy_ns = clo_sequence_time_ns(s, n->copy, n->executor);
    if (n->copy_ns >= ready_ns || clo_sequence_is_on(s->now.elements, s->now.newest[n->copy], n->executor))
        return false; /* CLO_TIME_NEVER, too */
    for (uint32_t edge = graph->in_first[n->copy]; edge < graph->in_first[n->copy + 1]; edge++) {
        uint32_t source = CLO_NONE;
        int64_t there_ns = clo_sequence_arrival_ns(s, edge, n->executor, &source);
        n->copy_ready_ns = there_ns > n->copy_ready_ns ? there_ns : n->copy_ready_ns;
        raise(&n->low, source);
    }
    return n->copy_ready_ns + n->copy_ns < ready_ns;
}

/* Draws an element of the longest path and an executor. False: no place there is within the limit. */
static bool pick(climb *c, int64_t limit_ns, move *m)
{
    clo_sequence *s = &c->sequence;
    uint32_t element = s->critical[clo_rng_below(&c->rng, s->critical_count)];
    uint32_t executor = clo_rng_below(&c->rng, s->executors), task = s->now.elements[element].task;

    m->estimate_ns = limit_ns + 1;
    m->element = element;
    m->executor = executor;
    m->leaving_count = 0;
    m->at = 0;
    m->copy = CLO_NONE;
    need plain = {.element = element, .executor = executor, .high = s->now.count, .copy = CLO_NONE};
    plain.duration_ns = clo_sequence_time_ns(s, task, executor);
    if (plain.duration_ns == CLO_TIME_NEVER || (executor != s->now.elements[element].executor &&
                                                clo_sequence_is_on(s->now.elements, s->now.newest[task], executor)))
        return false;
    plain.later_ns = clo_sequence_later_ns(s, element, executor, &plain.high);
    need with_copy = plain;
    find_inputs(s, m, &plain, &with_copy);
    find_place(s, &plain, m);
    if (find_copy(s, plain.ready_ns, &with_copy))
        find_place(s, &with_copy, m);
    return m->estimate_ns <= limit_ns;
}

static bool leaves(const move *m, uint32_t element)
{
    bool is_leaving = element == m->element;

    for (uint32_t i = 0; i < m->leaving_count; i++)
        is_leaving |= m->leaving[i] == element;
    return is_leaving;
}

static void wish_move(clo_sequence *s, const move *m)
{
    const clo_element *x = s->now.elements;
    clo_wish *wishes = s->wishes;
    uint32_t count = 0;

    for (uint32_t i = 0; i <= s->now.count; i++) {
        if (i == m->at && m->copy != CLO_NONE)
            wishes[count++] = (clo_wish){(uint16_t)m->copy, (uint16_t)m->executor};
        if (i == m->at)
            wishes[count++] = (clo_wish){x[m->element].task, (uint16_t)m->executor};
        if (i < s->now.count && !leaves(m, i))
            wishes[count++] = (clo_wish){x[i].task, x[i].executor};
    }
    s->wishes_count = count;
}

static void free_task(climb *c, uint32_t task, uint32_t *count)
{
    if (c->is_free[task])
        return;
    c->is_free[task] = 1;
    c->freed[(*count)++] = task;
}

static void free_stretch(climb *c, uint32_t length)
{
    const clo_sequence_part *now = &c->sequence.now;
    uint32_t at = clo_rng_below(&c->rng, now->count), count = 0;

    for (uint32_t i = at; i < now->count && i - at < length; i++)
        free_task(c, now->elements[i].task, &count);
}

/* A task of the longest path and those about it in the graph, nearest first. */
static void free_related(climb *c, uint32_t length)
{
    const clo_sequence *s = &c->sequence;
    const clo_graph *graph = s->graph;
    uint32_t count = 0;

    free_task(c, s->now.elements[s->critical[clo_rng_below(&c->rng, s->critical_count)]].task, &count);
    for (uint32_t i = 0; i < count && count < length; i++) {
        uint32_t task = c->freed[i];
        for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1] && count < length; edge++)
            free_task(c, clo_graph_source(graph, edge), &count);
        for (uint32_t at = graph->out_first[task]; at < graph->out_first[task + 1] && count < length; at++)
            free_task(c, graph->out[at], &count);
    }
}

/* Each free task once, where its first execution stands. False: time is up. */
static bool wish_freed(climb *c)
{
    clo_sequence *s = &c->sequence;
    int64_t part_q8 = clo_rng_below(&c->rng, PART_Q8 + 1);

    s->wishes_count = 0;
    for (uint32_t i = 0; i < s->now.count; i++) {
        uint32_t task = s->now.elements[i].task, executor = s->now.elements[i].executor;
        bool is_first = s->now.elements[i].next == CLO_NONE;
        if (c->is_free[task] && !is_first)
            continue;
        for (uint32_t e = 0; e < s->executors && c->is_free[task]; e++) {
            uint32_t reader = 0;
            int64_t later_ns = clo_sequence_later_ns(s, i, e, &reader);
            s->free_later_ns[(size_t)task * s->executors + e] = later_ns / PART_Q8 * part_q8;
        }
        executor = c->is_free[task] ? CLO_SEQUENCE_FREE : executor;
        s->wishes[s->wishes_count++] = (clo_wish){(uint16_t)task, (uint16_t)executor};
        if (i % CLO_STOP_EVERY == CLO_STOP_EVERY - 1 && clo_budget_is_late(c->budget))
            return false;
    }
    return true;
}

/* Up to a fifth of the plan. */
static bool wish_ruin(climb *c)
{
    uint32_t length = 2 + clo_rng_below(&c->rng, c->sequence.now.count / 5 + 1);

    memset(c->is_free, 0, c->sequence.tasks);
    if (clo_rng_below(&c->rng, 2) == 0)
        free_related(c, length);
    else
        free_stretch(c, length);
    return wish_freed(c);
}

static void keep(climb *c)
{
    clo_sequence_keep(&c->sequence, c->best);
    if (c->best->makespan_ns < c->budget->best_ns)
        c->budget->best_ns = c->best->makespan_ns;
}

static void step(climb *c, int64_t heat_ns)
{
    clo_sequence *s = &c->sequence;
    uint64_t drawn_q16 = (uint32_t)clo_exponential_q16(&c->rng);
    int64_t limit_ns = s->now.makespan_ns + (int64_t)((clo_u128)(uint64_t)heat_ns * drawn_q16 >> 16);
    bool is_found = false;
    move m;

    c->budget->schedules++;
    for (uint32_t i = 0; i < PICKS && !is_found; i++)
        is_found = pick(c, limit_ns, &m);
    if (is_found)
        wish_move(s, &m);
    else if (clo_rng_below(&c->rng, RUINS) != 0 || !wish_ruin(c))
        return;
    if (!clo_sequence_try(s, limit_ns, c->budget))
        return;
    clo_sequence_accept(s);
    keep(c);
}

/* Until nothing shorter was found for long. */
static void climb_round(climb *c)
{
    uint64_t length = (uint64_t)c->sequence.tasks * ROUND, since = c->budget->schedules;
    int64_t known_ns = c->sequence.now.makespan_ns;
    int64_t hottest_ns = known_ns / 65536 * HEAT_Q16 + known_ns % 65536 * HEAT_Q16 / 65536;

    while (c->budget->schedules - since < length && !clo_budget_is_spent(c->budget)) {
        uint64_t gone = c->budget->schedules - since;
        step(c, (int64_t)((clo_u128)(uint64_t)hottest_ns * gone / length));
        if (c->sequence.now.makespan_ns < known_ns) {
            known_ns = c->sequence.now.makespan_ns;
            since = c->budget->schedules;
        }
    }
}

static void build_again(climb *c)
{
    memset(c->is_free, 1, c->sequence.tasks);
    c->budget->schedules++;
    if (wish_freed(c) && clo_sequence_try(&c->sequence, INT64_MAX, c->budget)) {
        clo_sequence_accept(&c->sequence);
        keep(c);
    }
}

clo_status clo_climb(clo_sketch *sketch, clo_budget *budget, clo_snapshot *best)
{
    climb c = {.budget = budget, .best = best, .rng = clo_rng_seed(budget->config->seed)};
    clo_block block = {0};
    clo_status status = clo_sequence_open(&c.sequence, sketch);

    clo_carve(&block, &c.is_free, sketch->graph->tasks);
    clo_carve(&block, &c.freed, sketch->graph->tasks);
    c.block = clo_block_allocate(&block);
    if (status == CLO_OK && c.block == NULL)
        status = clo_fail_memory("a search for a plan");
    for (uint32_t round = 0; status == CLO_OK && !clo_budget_is_spent(budget); round++) {
        clo_sequence_read(&c.sequence, best);
        if (round % 2 != 0)
            build_again(&c);
        climb_round(&c);
    }
    clo_sequence_close(&c.sequence);
    clo_free(c.block);
    return status;
}
