/* timeline.c - see timeline.h. */
#include "sim/time/timeline.h"

#include "base/numbers/saturate.h"

/* Event ids: execution for its end, START_BIT | execution for its start. */
#define START_BIT (1ull << 32)

void clo_timeline_carve(clo_timeline *t, const clo_program *program, clo_engine *engine, clo_block *block)
{
    t->program = program;
    t->engine = engine;
    t->heap.capacity = 2 * (size_t)program->executions;
    clo_carve(block, &t->heap.items, t->heap.capacity);
    clo_carve(block, &t->start_ns, program->executions);
    clo_line_carve(&t->line, program, block);
}

/* It may start when its inputs have arrived. Data set out when their source finishes. */
static void assign(clo_timeline *t, uint32_t execution)
{
    (void)clo_control_flow_settle(&t->engine->control_flow, clo_program_task(t->program, execution));
    if (t->decide != NULL) {
        t->decide(t->driver, execution);
        return;
    }
    int64_t arrival_ns = clo_engine_arrival_ns(t->engine, execution, t->program->executor[execution], t->now_ns);

    if (t->ready_ns != NULL && t->ready_ns[execution] > arrival_ns)
        arrival_ns = t->ready_ns[execution];
    t->start_ns[execution] = t->now_ns;
    if (t->ports == NULL || !clo_sim_ports_wait(t->ports, execution, arrival_ns))
        clo_heap_push(&t->heap, arrival_ns, START_BIT | execution);
}

void clo_timeline_begin(clo_timeline *t)
{
    t->heap.count = 0;
    t->now_ns = 0;
    t->finished = 0;
    clo_line_begin(&t->line);
    for (uint32_t i = 0; i < t->program->roots_count; i++)
        assign(t, t->program->roots[i]);
}

void clo_timeline_let_ask(clo_timeline *t, uint32_t execution)
{
    uint32_t cursor = 0, next;

    while ((next = clo_engine_let_ask(t->engine, execution, &cursor)) != CLO_NONE)
        assign(t, next);
}

void clo_timeline_release(clo_timeline *t, uint32_t execution)
{
    clo_release release = clo_engine_release(t->engine, execution);
    uint32_t released;

    while ((released = clo_engine_released(t->engine, &release)) != CLO_NONE)
        assign(t, released);
}

static bool skips(const clo_timeline *t, uint32_t execution)
{
    return clo_control_flow_skips(&t->engine->control_flow, clo_program_task(t->program, execution));
}

static void start(clo_timeline *t, uint32_t execution)
{
    uint32_t task = clo_program_task(t->program, execution);
    int64_t since_ns = t->start_ns[execution], length_ns = 0;

    if (!skips(t, execution))
        length_ns = clo_cost_execution_ns(t->program->cost, task, t->program->executor[execution]);
    t->start_ns[execution] = t->now_ns;
    t->engine->finish_ns[execution] = clo_time_add(t->now_ns, length_ns);
    clo_heap_push(&t->heap, t->engine->finish_ns[execution], execution);
    clo_timeline_let_ask(t, execution);
    t->start(t->driver, execution, since_ns);
}

/* Who waited for messages that are there now may start. True: somebody does. */
static bool take_messages(clo_timeline *t)
{
    int64_t begin_ns;
    bool is_any = false;

    for (uint32_t execution; (execution = clo_sim_ports_take(t->ports, &begin_ns)) != CLO_NONE; is_any = true)
        clo_heap_push(&t->heap, begin_ns > t->now_ns ? begin_ns : t->now_ns, START_BIT | execution);
    return is_any;
}

/* Messages move until the next event, or the first of them is through. True: that comes first. At one moment messages
 * come last, and time goes on when nothing else happens in it: as in the walk through the plan (plan/ports/ports.c). */
static bool move_messages(clo_timeline *t)
{
    if (t->heap.count > 0 && t->heap.items[0].key <= t->now_ns)
        return false;
    if (take_messages(t))
        return true;
    int64_t next_ns = clo_sim_ports_next_ns(t->ports);
    bool is_first = next_ns != INT64_MAX && (t->heap.count == 0 || next_ns < t->heap.items[0].key);
    if (!is_first && t->heap.count == 0)
        return false;
    clo_sim_ports_go(t->ports, is_first ? next_ns : t->heap.items[0].key);
    if (is_first)
        t->now_ns = next_ns;
    return is_first;
}

uint32_t clo_timeline_next(clo_timeline *t)
{
    for (;;) { /* each execution starts once, each message comes once */
        if (t->ports != NULL && move_messages(t))
            continue;
        if (t->heap.count == 0)
            return CLO_NONE;
        uint32_t execution = (uint32_t)t->heap.items[0].id;
        if ((t->heap.items[0].id & START_BIT) == 0)
            return execution;
        t->now_ns = clo_heap_pop(&t->heap).key;
        if (skips(t, execution) || clo_line_take(&t->line, execution, t->program->executor[execution]))
            start(t, execution);
    }
}

void clo_timeline_end(clo_timeline *t)
{
    clo_heap_item event = clo_heap_pop(&t->heap);
    uint32_t execution = (uint32_t)event.id, executor = t->program->executor[execution], cursor = 0, next;

    t->now_ns = event.key;
    t->finished++;
    if (t->ports != NULL)
        clo_sim_ports_send(t->ports, execution);
    clo_timeline_release(t, execution);
    if (skips(t, execution) || !clo_line_give(&t->line, execution, executor))
        return;
    while ((next = clo_line_next(&t->line, executor, &cursor)) != CLO_NONE)
        start(t, next);
}
