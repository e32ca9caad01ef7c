/* plan/search/sequence.c - see sequence.h. */
#include "plan/search/sequence.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

/* Where a free task goes. */
typedef struct spot {
    int64_t value_ns, start_ns, copy_start_ns;
    uint32_t executor, copy; /* copy: the task to execute once more before; CLO_NONE: none */
} spot;

clo_status clo_sequence_open(clo_sequence *s, clo_sketch *sketch)
{
    clo_block block = {0};

    *s = (clo_sequence){.sketch = sketch,
                        .graph = sketch->graph,
                        .tasks = sketch->graph->tasks,
                        .executors = sketch->executors,
                        .capacity = sketch->schedule->capacity};
    assert(s->tasks < UINT16_MAX && s->executors < CLO_SEQUENCE_FREE); /* clo_sketch_fits */
    clo_carve(&block, &s->now.elements, s->capacity);
    clo_carve(&block, &s->now.newest, s->tasks);
    clo_carve(&block, &s->trial.elements, s->capacity);
    clo_carve(&block, &s->trial.newest, s->tasks);
    clo_carve(&block, &s->wishes, s->capacity);
    clo_carve(&block, &s->free_later_ns, (size_t)s->tasks * s->executors);
    clo_carve(&block, &s->available_ns, s->executors);
    clo_carve(&block, &s->tail_ns, s->capacity);
    clo_carve(&block, &s->before, s->capacity);
    clo_carve(&block, &s->behind, s->capacity);
    clo_carve(&block, &s->last, s->executors);
    clo_carve(&block, &s->readers, s->capacity);
    clo_carve(&block, &s->reader, s->capacity);
    clo_carve(&block, &s->critical, s->capacity);
    s->block = clo_block_allocate(&block);
    return s->block == NULL ? clo_fail_memory("a search for a plan") : CLO_OK;
}

void clo_sequence_close(clo_sequence *s)
{
    clo_free(s->block);
    *s = (clo_sequence){0};
}

/* When data over an edge can be on one executor; *source: from which element. Of equal ones the oldest, which stands
 * ahead of its readers. */
static inline int64_t arrival_ns(const clo_sequence *s, const clo_sequence_part *p, uint32_t edge, uint32_t executor,
                                 uint32_t *source)
{
    const clo_element *x = p->elements;
    uint32_t c = p->newest[clo_graph_source(s->graph, edge)];
    int64_t earliest_ns = INT64_MAX;

    assert(c != CLO_NONE);
    for (; c != CLO_NONE; c = x[c].next) {
        int64_t there_ns = x[c].finish_ns + clo_sketch_row(s->sketch, edge, x[c].executor)[executor];
        if (there_ns <= earliest_ns) {
            earliest_ns = there_ns;
            *source = c;
        }
    }
    return earliest_ns;
}

/* When a task can start on an executor that is available at `start_ns`. */
static inline int64_t start_ns(const clo_sequence *s, const clo_sequence_part *p, uint32_t task, uint32_t executor,
                               int64_t start_ns)
{
    const clo_graph *graph = s->graph;

    for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
        uint32_t source;
        int64_t there_ns = arrival_ns(s, p, edge, executor, &source);
        start_ns = there_ns > start_ns ? there_ns : start_ns;
    }
    return start_ns;
}

static inline void append(clo_sequence *s, clo_sequence_part *p, uint32_t task, uint32_t executor, int64_t start_ns)
{
    int64_t finish_ns = start_ns + clo_sequence_time_ns(s, task, executor);

    assert(p->count < s->capacity);
    p->elements[p->count] = (clo_element){start_ns, finish_ns, p->newest[task], (uint16_t)task, (uint16_t)executor};
    p->newest[task] = p->count++;
    s->available_ns[executor] = finish_ns;
    p->makespan_ns = finish_ns > p->makespan_ns ? finish_ns : p->makespan_ns;
}

/* A free task on one executor, with a copy of the producer whose data come last or without. has_room: for a copy. */
static void try_executor(clo_sequence *s, const clo_sequence_part *p, uint32_t task, uint32_t e, bool has_room,
                         spot *best)
{
    const clo_graph *graph = s->graph;
    int64_t duration_ns = clo_sequence_time_ns(s, task, e), free_ns = s->available_ns[e], ready_ns = 0, second_ns = 0;
    int64_t later_ns = s->free_later_ns[(size_t)task * s->executors + e];
    uint32_t copy = CLO_NONE;

    if (duration_ns == CLO_TIME_NEVER)
        return;
    for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
        uint32_t producer = clo_graph_source(graph, edge), source;
        int64_t there_ns = arrival_ns(s, p, edge, e, &source);
        bool is_later = there_ns > ready_ns;
        int64_t lower_ns = is_later ? ready_ns : there_ns;
        second_ns = lower_ns > second_ns ? lower_ns : second_ns;
        ready_ns = is_later ? there_ns : ready_ns;
        copy = is_later ? producer : copy;
    }
    int64_t begin_ns = ready_ns > free_ns ? ready_ns : free_ns, value_ns = begin_ns + duration_ns + later_ns;
    if (value_ns < best->value_ns)
        *best = (spot){value_ns, begin_ns, 0, e, CLO_NONE};
    if (!has_room || ready_ns <= free_ns || second_ns >= ready_ns || !graph->rows[copy].duplicable)
        return;
    int64_t copy_ns = clo_sequence_time_ns(s, copy, e);
    if (copy_ns >= ready_ns - free_ns || clo_sequence_is_on(p->elements, p->newest[copy], e)) /* CLO_TIME_NEVER, too */
        return;
    int64_t copy_start_ns = start_ns(s, p, copy, e, free_ns);
    begin_ns = copy_start_ns + copy_ns > second_ns ? copy_start_ns + copy_ns : second_ns;
    value_ns = begin_ns + duration_ns + later_ns;
    if (begin_ns < ready_ns && value_ns < best->value_ns)
        *best = (spot){value_ns, begin_ns, copy_start_ns, e, copy};
}

/* room: for so many copies. */
static void append_free(clo_sequence *s, clo_sequence_part *p, uint32_t task, uint32_t room)
{
    spot best = {INT64_MAX, 0, 0, CLO_NONE, CLO_NONE};

    for (uint32_t e = 0; e < s->executors; e++)
        try_executor(s, p, task, e, room > 0 && s->sketch->schedule->may_duplicate, &best);
    assert(best.executor != CLO_NONE);
    if (best.copy != CLO_NONE)
        append(s, p, best.copy, best.executor, best.copy_start_ns);
    append(s, p, task, best.executor, best.start_ns);
}

/* budget: NULL: however long it takes. */
static bool build(clo_sequence *s, clo_sequence_part *p, int64_t limit_ns, const clo_budget *budget)
{
    p->count = 0;
    p->makespan_ns = 0;
    memset(p->newest, 0xff, s->tasks * sizeof *p->newest); /* CLO_NONE */
    memset(s->available_ns, 0, s->executors * sizeof *s->available_ns);
    for (uint32_t i = 0; i < s->wishes_count; i++) {
        uint32_t task = s->wishes[i].task, executor = s->wishes[i].executor;
        if (executor == CLO_SEQUENCE_FREE)
            append_free(s, p, task, s->capacity - p->count - (s->wishes_count - i));
        else if (clo_sequence_is_on(p->elements, p->newest[task], executor))
            continue; /* a free task before brought a copy there */
        else
            append(s, p, task, executor, start_ns(s, p, task, executor, s->available_ns[executor]));
        if (!clo_sketch_may_end(s->sketch, task, p->elements[p->count - 1].finish_ns, limit_ns))
            return false;
        if (i % CLO_STOP_EVERY == CLO_STOP_EVERY - 1 && budget != NULL && clo_budget_is_late(budget))
            return false;
    }
    return true;
}

bool clo_sequence_try(clo_sequence *s, int64_t limit_ns, const clo_budget *budget)
{
    return build(s, &s->trial, limit_ns, budget);
}

/* What takes no time stands ahead of what starts together with it, else that would push it back on its executor. What
 * ends together, too, stays in order, in which producers come first. Few stand elsewhere. */
static void sort_by_start(clo_sequence_part *p)
{
    clo_element *x = p->elements;

    for (uint32_t i = 1; i < p->count; i++) {
        clo_element mine = x[i];
        uint32_t at = i;
        for (; at > 0 && (x[at - 1].start_ns > mine.start_ns ||
                          (x[at - 1].start_ns == mine.start_ns && x[at - 1].finish_ns > mine.finish_ns));
             at--) /* ends: towards the beginning */
            x[at] = x[at - 1];
        x[at] = mine;
    }
}

static void link_all(clo_sequence *s)
{
    clo_element *x = s->now.elements;

    memset(s->now.newest, 0xff, s->tasks * sizeof *s->now.newest);
    memset(s->last, 0xff, s->executors * sizeof *s->last);
    for (uint32_t i = 0; i < s->now.count; i++) {
        uint32_t before = s->last[x[i].executor];
        x[i].next = s->now.newest[x[i].task];
        s->now.newest[x[i].task] = i;
        s->before[i] = before;
        s->behind[i] = CLO_NONE;
        if (before != CLO_NONE)
            s->behind[before] = i;
        s->last[x[i].executor] = i;
    }
}

int64_t clo_sequence_arrival_ns(const clo_sequence *s, uint32_t edge, uint32_t executor, uint32_t *source)
{
    return arrival_ns(s, &s->now, edge, executor, source);
}

/* What reads, and what follows, for the inputs of element i. */
static void look_at_inputs(clo_sequence *s, uint32_t i, int64_t way_ns)
{
    const clo_graph *graph = s->graph;
    const clo_element *mine = &s->now.elements[i];

    for (uint32_t edge = graph->in_first[mine->task]; edge < graph->in_first[mine->task + 1]; edge++) {
        uint32_t c = CLO_NONE;
        int64_t there_ns = clo_sequence_arrival_ns(s, edge, mine->executor, &c);
        int64_t tail_ns = there_ns - s->now.elements[c].finish_ns + way_ns;
        s->readers[c]++;
        s->reader[c] = i;
        s->tail_ns[c] = tail_ns > s->tail_ns[c] ? tail_ns : s->tail_ns[c];
    }
}

/* Returns how many copies nobody reads. */
static uint32_t look(clo_sequence *s)
{
    uint32_t unread = 0;

    memset(s->tail_ns, 0, s->now.count * sizeof *s->tail_ns);
    memset(s->readers, 0, s->now.count * sizeof *s->readers);
    s->critical_count = 0;
    for (uint32_t i = s->now.count; i-- > 0;) {
        const clo_element *mine = &s->now.elements[i];
        if (s->readers[i] == 0 && clo_sequence_has_copies(s, mine->task)) {
            s->tail_ns[i] = -1;
            unread++;
            continue;
        }
        int64_t way_ns = mine->finish_ns - mine->start_ns + s->tail_ns[i];
        uint32_t before = s->before[i];
        if (mine->finish_ns + s->tail_ns[i] >= s->now.makespan_ns)
            s->critical[s->critical_count++] = i;
        if (before != CLO_NONE && s->tail_ns[before] < way_ns)
            s->tail_ns[before] = way_ns;
        look_at_inputs(s, i, way_ns);
    }
    return unread;
}

static void wish_all(clo_sequence *s, bool but_unread)
{
    s->wishes_count = 0;
    for (uint32_t i = 0; i < s->now.count; i++)
        if (!but_unread || s->tail_ns[i] >= 0)
            s->wishes[s->wishes_count++] = (clo_wish){s->now.elements[i].task, s->now.elements[i].executor};
}

static void settle(clo_sequence *s)
{
    sort_by_start(&s->now);
    link_all(s);
    while (look(s) > 0) { /* ends: each round drops one at least */
        wish_all(s, true);
        (void)build(s, &s->now, INT64_MAX, NULL);
        sort_by_start(&s->now);
        link_all(s);
    }
    assert(s->critical_count > 0);
}

void clo_sequence_accept(clo_sequence *s)
{
    clo_sequence_part now = s->now;

    s->now = s->trial;
    s->trial = now;
    settle(s);
}

void clo_sequence_read(clo_sequence *s, const clo_snapshot *snapshot)
{
    assert(snapshot->count <= s->capacity);
    for (uint32_t i = 0; i < snapshot->count; i++) {
        const clo_execution *x = &snapshot->executions[i];
        s->now.elements[i] =
            (clo_element){x->start_ns, x->finish_ns, CLO_NONE, (uint16_t)x->instance, (uint16_t)x->executor};
    }
    s->now.count = snapshot->count;
    sort_by_start(&s->now);
    wish_all(s, false);
    (void)build(s, &s->now, INT64_MAX, NULL);
    settle(s);
}

void clo_sequence_keep(const clo_sequence *s, clo_snapshot *snapshot)
{
    if (s->now.makespan_ns >= snapshot->makespan_ns)
        return;
    for (uint32_t i = 0; i < s->now.count; i++) {
        const clo_element *x = &s->now.elements[i];
        snapshot->executions[i] = (clo_execution){x->start_ns, x->finish_ns, x->task, x->executor, CLO_NONE};
    }
    snapshot->count = s->now.count;
    snapshot->makespan_ns = s->now.makespan_ns;
}

/* Another execution of the task has its data with a reader as early as it starts. */
static bool has_other(const clo_sequence *s, uint32_t element, uint32_t edge, uint32_t y)
{
    const clo_element *x = s->now.elements, *reader = &x[y];

    for (uint32_t c = s->now.newest[x[element].task]; c != CLO_NONE; c = x[c].next)
        if (c != element && c < y &&
            x[c].finish_ns + clo_sketch_row(s->sketch, edge, x[c].executor)[reader->executor] <= reader->start_ns)
            return true;
    return false;
}

int64_t clo_sequence_later_ns(const clo_sequence *s, uint32_t element, uint32_t executor, uint32_t *first)
{
    const clo_graph *graph = s->graph;
    uint32_t task = s->now.elements[element].task;
    int64_t later_ns = 0;
    bool has_copies = clo_sequence_has_copies(s, task);

    for (uint32_t at = graph->out_first[task]; at < graph->out_first[task + 1]; at++) {
        uint32_t edge = graph->out_edge == NULL ? 0 : graph->out_edge[at]; /* NULL: all carry the same */
        const int64_t *row = clo_sketch_row(s->sketch, edge, executor);
        for (uint32_t y = s->now.newest[graph->out[at]]; y != CLO_NONE; y = s->now.elements[y].next) {
            const clo_element *reader = &s->now.elements[y];
            if (has_copies && has_other(s, element, edge, y))
                continue;
            int64_t way_ns = row[reader->executor] + reader->finish_ns - reader->start_ns + s->tail_ns[y];
            later_ns = way_ns > later_ns ? way_ns : later_ns;
            *first = y < *first ? y : *first;
        }
    }
    return later_ns;
}
