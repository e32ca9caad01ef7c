/* replay.c - from a plan to executions, fixed sources and order edges. */
#include "engine/program/replay.h"

#include "base/carve.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "cost/source.h"
#include "engine/program/barrier.h"
#include "engine/program/capacity_order.h"
#include "engine/program/hedges.h"
#include "engine/program/sort_rows.h"

#include <string.h>

/* Scratch of one compilation. */
typedef struct builder {
    const clo_cost *cost;
    const clo_graph *graph;
    const clo_placement *placements;
    const int64_t *hedge_after_ns;
    uint32_t *sorted;            /* [first_hedge] placement indices, then executions: program->order */
    uint32_t *execution_of;      /* [first_hedge] placement index -> execution                 */
    uint32_t *position;          /* [first_hedge] execution -> place in `sorted`               */
    uint32_t *placement_of;      /* [first_hedge] execution -> placement index                 */
    uint32_t *next_execution;    /* [first_hedge] next execution of the same instance      */
    uint32_t *topological;       /* [instances] instance -> place in the graph's order */
    uint32_t *place;             /* [first_hedge] executor, or of a deep slot one of its `depth` places */
    uint32_t *turn;              /* [executors] executions so far; NULL: places are executors  */
    uint32_t *previous;          /* [first_hedge] execution before it in its place             */
    uint32_t *last;              /* [places] last execution so far                         */
    uint32_t *last_position;     /* [barriers] the last of the positions of its producer's instances */
    uint32_t *succ_first, *succ; /* the program's, to be filled */
    clo_arena *arena;
} builder;

static bool has_deep_slot(const clo_platform *platform)
{
    uint32_t e = 0;

    while (e < platform->executors_count && clo_slot_depth(&platform->executors[e]) <= 1)
        e++;
    return e < platform->executors_count;
}

/* Places are executors, but for deep slots. */
static bool take_places(builder *b, const clo_program *program)
{
    uint32_t executors = program->platform->executors_count;

    b->place = program->executor;
    if (!program->is_deep || !has_deep_slot(program->platform)) {
        b->last = clo_arena_take(b->arena, executors, sizeof(uint32_t));
        return b->last != NULL;
    }
    b->place = clo_arena_take(b->arena, program->first_hedge, sizeof(uint32_t));
    b->turn = clo_arena_take(b->arena, executors, sizeof(uint32_t));
    b->last = clo_arena_take(b->arena, (size_t)executors * CLO_SLOT_DEPTH_MAX, sizeof(uint32_t));
    return b->place != NULL && b->turn != NULL && b->last != NULL;
}

static bool take_scratch(builder *b, const clo_program *program)
{
    uint32_t executions = program->first_hedge;
    uint32_t **const arrays[] = {&b->execution_of, &b->position, &b->placement_of, &b->next_execution, &b->previous};

    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        *arrays[i] = clo_arena_take(b->arena, executions, sizeof(uint32_t));
        if (*arrays[i] == NULL)
            return false;
    }
    b->topological = clo_arena_take(b->arena, program->instances, sizeof(uint32_t));
    b->last_position = clo_arena_take(b->arena, program->barriers, sizeof(uint32_t));
    return b->topological != NULL && take_places(b, program) && b->last_position != NULL;
}

static clo_status number_executions(builder *b, clo_program *program)
{
    const clo_graph *graph = b->graph;
    uint32_t replicas = 0;

    memset(b->placement_of, 0xff, program->first_hedge * sizeof(uint32_t));
    for (uint32_t i = 0; i < program->first_hedge; i++) {
        const clo_placement *p = &b->placements[i];
        if (p->is_replica && program->instances + replicas == program->first_hedge)
            return clo_fail(CLO_ERR_INVALID, "the plan has no original execution of some task");
        uint32_t execution = clo_replay_execution(program, p, &replicas);
        if (p->is_replica)
            program->replica_of[execution - program->instances] = graph->first_instance[p->task] + p->instance;
        if (b->placement_of[execution] != CLO_NONE)
            return clo_fail(CLO_ERR_INVALID, "the plan places task %u instance %u twice; mark one as a replica",
                            p->task, p->instance);
        b->placement_of[execution] = i;
        b->execution_of[i] = execution;
        program->executor[execution] = p->executor;
    }
    for (uint32_t execution = 0; execution < program->instances;
         execution++) /* chain the executions of each instance */
        b->next_execution[execution] = CLO_NONE;
    for (uint32_t execution = program->instances; execution < program->first_hedge; execution++) {
        uint32_t instance = program->replica_of[execution - program->instances];
        b->next_execution[execution] = b->next_execution[instance];
        b->next_execution[instance] = execution;
    }
    return CLO_OK;
}

static void number_instances(builder *b)
{
    const clo_graph *graph = b->graph;
    uint32_t next = 0;

    for (uint32_t i = 0; i < graph->tasks; i++) {
        uint32_t t = graph->task_order[i];
        for (uint32_t instance = graph->first_instance[t]; instance < graph->first_instance[t + 1]; instance++)
            b->topological[instance] = next++;
    }
}

/* True if placements a and a + 1 start and end together: what stands first depends on more than time. */
static bool is_tie(const builder *b, uint32_t a)
{
    return b->placements[a].start_ns == b->placements[a + 1].start_ns &&
           b->placements[a].finish_ns == b->placements[a + 1].finish_ns;
}

/* Plans come in order of time. How many placements have to be sorted at most at once: those of one time; all, should
 * they be in another order. */
static uint32_t longest_tie(const builder *b, uint32_t count)
{
    uint32_t longest = 0, length = 1;

    for (uint32_t i = 0; i + 1 < count; i++) {
        const clo_placement *p = &b->placements[i], *q = p + 1;
        if (q->start_ns < p->start_ns || (q->start_ns == p->start_ns && q->finish_ns < p->finish_ns))
            return count;
        length = is_tie(b, i) ? length + 1 : 1;
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* Writes placements [first, first + count) in order, as indices, into b->sorted from `first` on. */
static void sort_range(builder *b, clo_sort_row *rows, clo_sort_row *other, uint32_t first, uint32_t count)
{
    const clo_graph *graph = b->graph;

    for (uint32_t i = 0; i < count; i++) {
        const clo_placement *p = &b->placements[first + i];
        uint32_t instance = graph->first_instance[p->task] + p->instance;
        rows[i] = (clo_sort_row){p->start_ns, p->finish_ns, b->topological[instance], first + i};
    }
    rows = clo_sort_rows(rows, other, count);
    for (uint32_t i = 0; i < count; i++)
        b->sorted[first + i] = rows[i].placement;
}

/* b->sorted: the indices of the placements. */
static clo_status sort_by_time(builder *b, uint32_t count)
{
    uint32_t most = longest_tie(b, count);
    clo_sort_row *rows = clo_arena_take(b->arena, most, sizeof *rows);
    clo_sort_row *other = clo_arena_take(b->arena, most, sizeof *rows);

    if (rows == NULL || other == NULL)
        return clo_fail_memory("the order of the plan");
    if (most == count) /* in another order, or all at once */
        return sort_range(b, rows, other, 0, count), CLO_OK;
    for (uint32_t i = 0, end; i < count; i = end) {
        end = i + 1;
        while (end < count && is_tie(b, end - 1))
            end++;
        if (end == i + 1)
            b->sorted[i] = i;
        else
            sort_range(b, rows, other, i, end - i);
    }
    return CLO_OK;
}

/* The next execution on `executor` goes there. */
static uint32_t next_place(const builder *b, const clo_platform *platform, uint32_t executor)
{
    int32_t depth = clo_slot_depth(&platform->executors[executor]);

    return depth < 1 || b->turn == NULL
               ? executor
               : executor + platform->executors_count * (b->turn[executor]++ % (uint32_t)depth);
}

static clo_status order_executions(builder *b, clo_program *program)
{
    number_instances(b);
    clo_status status = sort_by_time(b, program->first_hedge);
    if (status != CLO_OK)
        return status;
    size_t places = (size_t)program->platform->executors_count * (b->turn != NULL ? CLO_SLOT_DEPTH_MAX : 1);
    memset(b->last, 0xff, places * sizeof(uint32_t));
    for (uint32_t i = 0; i < program->first_hedge; i++) {
        uint32_t execution = b->execution_of[b->sorted[i]];
        uint32_t place = next_place(b, program->platform, program->executor[execution]);
        b->sorted[i] = execution;
        b->position[execution] = i;
        b->place[execution] = place;
        b->previous[execution] = b->last[place];
        b->last[place] = execution;
    }
    return CLO_OK;
}

/* The execution of `instance` that `execution` reads, by the rule of cost/source.h. */
static uint32_t nearest_source(const builder *b, const clo_program *program, uint32_t instance, uint32_t execution,
                               uint64_t bytes)
{
    uint32_t best = CLO_NONE, here = program->executor[execution];
    clo_source nearest = {0};

    for (uint32_t source = instance; source != CLO_NONE; source = b->next_execution[source]) {
        const clo_placement *p = &b->placements[b->placement_of[source]];
        int64_t transfer_ns = clo_platform_transfer_ns(program->platform, bytes, p->executor, here);
        clo_source mine = {clo_time_add(p->finish_ns, transfer_ns), p->executor};
        if (b->position[source] >= b->position[execution])
            continue;
        if (best == CLO_NONE || clo_source_is_nearer(program->platform, mine, nearest, here)) {
            best = source;
            nearest = mine;
        }
    }
    return best != CLO_NONE ? best : instance; /* none stands before `execution`: check_order says so */
}

static void choose_sources(const builder *b, clo_program *program)
{
    const clo_graph *graph = b->graph;
    uint32_t count = 0;

    for (uint32_t execution = 0; execution < program->first_hedge && program->has_replica != NULL; execution++) {
        uint32_t task = clo_program_task(program, execution);
        program->chosen_first[execution] = count;
        for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
            uint32_t producer = clo_graph_source(graph, k);
            if (!clo_program_has_replica(program, producer))
                continue;
            for (uint32_t i = graph->first_instance[producer]; i < graph->first_instance[producer + 1]; i++)
                program->chosen[count++] = nearest_source(b, program, i, execution, clo_graph_in_bytes(graph, k));
        }
    }
    if (program->has_replica != NULL)
        program->chosen_first[program->first_hedge] = count;
}

static void find_last_positions(const builder *b, const clo_program *program)
{
    const clo_graph *graph = b->graph;

    for (uint32_t barrier = 0; barrier < program->barriers; barrier++) {
        uint32_t task = program->barrier_task[barrier];
        for (uint32_t i = graph->first_instance[task]; i < graph->first_instance[task + 1]; i++)
            if (b->position[i] > b->last_position[barrier])
                b->last_position[barrier] = b->position[i];
    }
}

/* True if some source of the edge stands at `position` or later. */
static bool comes_too_late(const builder *b, const clo_inputs *inputs, uint32_t position)
{
    uint32_t barrier = clo_program_barrier(inputs->program, inputs->task);

    if (barrier != CLO_NONE)
        return b->last_position[barrier] >= position;
    for (uint32_t i = 0; i < inputs->count; i++)
        if (b->position[clo_inputs_source(inputs, i)] >= position)
            return true;
    return false;
}

/* Every task is executed once, as in most plans: tasks are executions, and no row of a barrier has to be looked for. */
static bool is_single(const clo_program *program)
{
    return program->first_hedge == program->instances && program->instances == program->graph->tasks &&
           program->barriers == 0;
}

static clo_status fail_order(const builder *b, uint32_t task, uint32_t before)
{
    char scratch[2][16];

    return clo_fail(CLO_ERR_INVALID, "the plan starts task '%s' before its predecessor '%s'; swap them",
                    clo_graph_task_name(b->graph, task, scratch[0]), clo_graph_task_name(b->graph, before, scratch[1]));
}

static clo_status check_single_order(const builder *b)
{
    const clo_graph *graph = b->graph;
    const uint32_t *position = b->position;

    for (uint32_t t = 0; t < graph->tasks; t++)
        for (uint32_t k = graph->in_first[t]; k < graph->in_first[t + 1]; k++)
            if (position[clo_graph_source(graph, k)] >= position[t])
                return fail_order(b, t, clo_graph_source(graph, k));
    return CLO_OK;
}

/* Every edge must lead forward in `sorted`; else the plan could never run to its end. */
static clo_status check_order(const builder *b, const clo_program *program)
{
    if (is_single(program))
        return check_single_order(b);
    for (uint32_t execution = 0; execution < program->first_hedge; execution++) {
        clo_inputs inputs = clo_inputs_of(program, execution);
        while (clo_inputs_next(&inputs))
            if (comes_too_late(b, &inputs, b->position[execution]))
                return fail_order(b, clo_program_task(program, execution), inputs.task);
    }
    return CLO_OK;
}

/* Counts an entry of a row, or writes it before those that are there. */
static void enter(const builder *b, uint32_t row, uint32_t successor, bool fills)
{
    if (fills)
        b->succ[--b->succ_first[row + 1]] = successor;
    else
        b->succ_first[row + 1]++;
}

/* Enters `execution` in the rows of the one before it in its place, of barriers, and of sources in other places. */
static void link_execution(const builder *b, clo_program *program, uint32_t execution, bool fills)
{
    clo_inputs inputs = clo_inputs_of(program, execution);
    uint32_t previous = b->previous[execution], needs = previous != CLO_NONE;

    if (previous != CLO_NONE)
        enter(b, previous, execution, fills);
    while (clo_inputs_next(&inputs)) {
        uint32_t barrier = clo_program_barrier(program, inputs.task);
        if (barrier != CLO_NONE) {
            enter(b, program->executions + barrier, execution, fills);
            needs++;
            continue;
        }
        for (uint32_t i = 0; i < inputs.count; i++) {
            uint32_t source = clo_inputs_source(&inputs, i);
            if (b->place[source] == b->place[execution])
                continue;
            enter(b, source, execution, fills);
            needs++;
        }
    }
    program->needs[execution] = needs;
}

/* link_execution of all where tasks are executions, counted. Without branches: which edges cross from one place to
 * another is anybody's guess. */
static void count_single(const builder *b, clo_program *program)
{
    const uint32_t *place = b->place, *in_first = b->graph->in_first;
    const clo_ids in = b->graph->in;
    uint32_t *next = b->succ_first + 1;

    for (uint32_t t = 0; t < b->graph->tasks; t++) {
        uint32_t here = place[t], needs = 0;
        for (uint32_t k = in_first[t]; k < in_first[t + 1]; k++) {
            uint32_t source = clo_ids_at(in, k), crosses = place[source] != here;
            next[source] += crosses;
            needs += crosses;
        }
        if (b->previous[t] != CLO_NONE) {
            next[b->previous[t]]++;
            needs++;
        }
        program->needs[t] = needs;
    }
}

/* The same, filled, from the back. Where an edge does not cross, what lies there is written again: rows have room for
 * one entry more than all of them together ever need. */
static void fill_single(const builder *b)
{
    const uint32_t *place = b->place, *in_first = b->graph->in_first;
    const clo_ids in = b->graph->in;
    uint32_t *next = b->succ_first + 1, *succ = b->succ;

    for (uint32_t i = b->graph->tasks; i-- > 0;) {
        uint32_t t = b->sorted[i], here = place[t];
        if (b->previous[t] != CLO_NONE)
            succ[--next[b->previous[t]]] = t;
        for (uint32_t k = in_first[t]; k < in_first[t + 1]; k++) {
            uint32_t source = clo_ids_at(in, k), crosses = place[source] != here, at = next[source] -= crosses;
            succ[at] = crosses ? t : succ[at];
        }
    }
}

/* All instances of a stage lead to its barrier. */
static void link_barriers(const builder *b, clo_program *program, bool fills)
{
    const clo_graph *graph = b->graph;

    for (uint32_t barrier = 0; barrier < program->barriers; barrier++) {
        uint32_t task = program->barrier_task[barrier];
        for (uint32_t i = graph->first_instance[task]; i < graph->first_instance[task + 1]; i++)
            enter(b, i, program->executions + barrier, fills);
        program->needs[program->executions + barrier] = graph->rows[task].instances;
    }
}

/* Rows are counted, then filled from the back, in reverse order of time: each row ends up sorted by planned start, a
 * barrier last, and succ_first[r + 1] at the beginning of row r. */
static void link_executions(const builder *b, clo_program *program)
{
    uint32_t rows = program->executions + program->barriers, *succ_first = b->succ_first;

    bool single = is_single(program);

    if (single)
        count_single(b, program);
    link_barriers(b, program, false);
    for (uint32_t execution = 0; execution < program->first_hedge && !single; execution++)
        link_execution(b, program, execution, false);
    for (uint32_t row = 0; row < rows; row++) {
        bool is_hedge = row >= program->first_hedge && row < program->executions;
        program->exits += succ_first[row + 1] == 0 && !is_hedge;
        succ_first[row + 1] += succ_first[row];
    }
    uint32_t total = succ_first[rows];
    if (single)
        fill_single(b);
    link_barriers(b, program, true);
    for (uint32_t i = program->first_hedge; i-- > 0 && !single;)
        link_execution(b, program, b->sorted[i], true);
    for (uint32_t row = 0; row < rows; row++)
        succ_first[row] = succ_first[row + 1];
    succ_first[rows] = total;
}

/* Everything that is later used as an index. An executor that cannot run the task has no time for it either. */
static clo_status check_placement(const clo_cost *cost, const clo_placement *p)
{
    const clo_graph *graph = cost->graph;
    uint32_t executors = cost->platform->executors_count;
    char scratch[16];

    if (p->task >= graph->tasks || p->instance >= graph->rows[p->task].instances)
        return clo_fail(CLO_ERR_INVALID, "the plan places task %u instance %u, which the graph lacks", p->task,
                        p->instance);
    if (p->executor >= executors)
        return clo_fail(CLO_ERR_INVALID, "the plan places task %u on executor %u; the platform has %u executors",
                        p->task, p->executor, executors);
    if (clo_cost_time(cost, p->task, p->executor) == CLO_TIME_NEVER)
        return clo_fail(CLO_ERR_INVALID, "the plan places task '%s' on executor '%s', which cannot run it",
                        clo_graph_task_name(graph, p->task, scratch),
                        clo_platform_executor_name(clo_cost_platform(cost), p->executor));
    return CLO_OK;
}

static clo_status check_placements(const builder *b, uint32_t executions)
{
    clo_status status = CLO_OK;

    for (uint32_t i = 0; i < executions && status == CLO_OK; i++)
        status = check_placement(b->cost, &b->placements[i]);
    return status;
}

static clo_status find_replicas(const builder *b, clo_program *program)
{
    if (program->first_hedge == program->instances)
        return CLO_OK;
    program->has_replica = clo_arena_take(b->arena, b->graph->tasks, sizeof *program->has_replica);
    if (program->has_replica == NULL)
        return clo_fail_memory("the compiled plan");
    for (uint32_t i = 0; i < program->first_hedge; i++)
        program->has_replica[b->placements[i].task] |= b->placements[i].is_replica != 0;
    return CLO_OK;
}

/* Entries of all rows at most, and sources that have to be chosen. */
static clo_status count_entries(const builder *b, const clo_program *program, uint64_t *entries, uint64_t *chosen)
{
    const clo_graph *graph = b->graph;

    *entries = program->executions;
    *chosen = 0;
    for (uint32_t barrier = 0; barrier < program->barriers; barrier++)
        *entries += graph->rows[program->barrier_task[barrier]].instances;
    for (uint32_t i = 0; i < program->first_hedge; i++) {
        uint32_t task = b->placements[i].task;
        for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
            uint32_t producer = clo_graph_source(graph, k), sources = graph->rows[producer].instances;
            *entries += clo_program_barrier(program, producer) != CLO_NONE ? 1 : sources;
            *chosen += clo_program_has_replica(program, producer) ? sources : 0;
        }
        if (*entries >= UINT32_MAX)
            return clo_fail(CLO_ERR_LIMIT, "the plan has more than 2^32 data movements");
    }
    return CLO_OK;
}

static clo_status reserve_hedges(const builder *b, clo_program *program)
{
    uint64_t hedges = 0;

    for (uint32_t i = 0; i < program->executions && b->hedge_after_ns != NULL; i++)
        hedges += clo_hedges_want(program, b->hedge_after_ns, b->placements[i].task);
    return clo_hedges_reserve(program, hedges, b->arena);
}

/* The tables that stay; taken before any scratch. */
static clo_status take_tables(builder *b, clo_program *program)
{
    clo_block block = {0};
    uint64_t entries, chosen;
    clo_status status = check_placements(b, program->executions);
    if (status == CLO_OK)
        status = reserve_hedges(b, program);
    if (status == CLO_OK)
        status = find_replicas(b, program);
    if (status == CLO_OK)
        status = clo_barriers_choose(program, b->arena);
    if (status == CLO_OK)
        status = count_entries(b, program, &entries, &chosen);
    if (status != CLO_OK)
        return status;

    size_t executions = program->executions, counters = executions + program->barriers;
    clo_carve(&block, &program->needs, counters);
    clo_carve(&block, &program->executor, executions);
    clo_carve(&block, &b->sorted, program->first_hedge);
    if (program->replica_of == NULL)
        clo_carve(&block, &program->replica_of, executions - program->instances);
    clo_carve(&block, &b->succ_first, counters + 1);
    clo_carve(&block, &b->succ, entries);
    if (program->has_replica != NULL) {
        clo_carve(&block, &program->chosen_first, executions + 1);
        clo_carve(&block, &program->chosen, chosen);
    }
    if (!clo_block_take(&block, b->arena))
        return clo_fail_memory("the compiled plan");
    program->order = b->sorted;
    program->succ_first = b->succ_first;
    program->succ = b->succ;
    return clo_capacity_order_create(program, b->placements, b->arena);
}

/* They read what their firsts read. Where they run is decided when one is wanted. */
static void adopt_hedges(const builder *b, clo_program *program)
{
    clo_hedges_pair(program, b->hedge_after_ns);
    for (uint32_t hedge = program->first_hedge; hedge < program->executions; hedge++) {
        uint32_t first = program->twin[hedge];
        program->executor[hedge] = program->executor[first];
        program->needs[hedge] = 1; /* never hit: they are no roots */
        if (program->chosen_first != NULL)
            program->chosen_first[hedge] = program->chosen_first[first];
    }
}

static clo_status compile_plan(builder *b, clo_program *program)
{
    clo_status status = number_executions(b, program);
    if (status == CLO_OK)
        status = order_executions(b, program);
    if (status != CLO_OK)
        return status;
    choose_sources(b, program);
    find_last_positions(b, program);
    status = check_order(b, program);
    if (status != CLO_OK)
        return status;
    link_executions(b, program);
    adopt_hedges(b, program);
    return clo_capacity_order_link(program, b->arena);
}

clo_status clo_program_replay(clo_program *program, const clo_placement *placements, size_t count,
                              const int64_t *hedge_after_ns, clo_arena *arena)
{
    builder b = {.cost = program->cost,
                 .graph = program->graph,
                 .placements = placements,
                 .hedge_after_ns = hedge_after_ns,
                 .arena = arena};

    if (count < program->instances || count >= CLO_NONE)
        return clo_fail(CLO_ERR_INVALID, "the plan has %zu placements for %u instances", count, program->instances);
    program->is_replay = true;
    program->executions = (uint32_t)count;
    clo_status status = take_tables(&b, program);
    if (status != CLO_OK)
        return status;
    size_t mark = clo_arena_mark(arena);
    status = take_scratch(&b, program) ? compile_plan(&b, program) : clo_fail_memory("compiling the plan");
    clo_arena_back_to(arena, mark);
    return status;
}
