/* program.c - from a plan to executions, fixed sources and order edges. The graph's adjacency serves unchanged where no
 * plan is given. */
#include "engine/program.h"

#include "base/carve.h"
#include "base/saturate.h"
#include "base/status.h"

#include <string.h>

/* Scratch of one compilation. */
typedef struct builder {
    const clo_cost *cost;
    const clo_graph *graph;
    const clo_placement *placements;
    uint32_t *sorted;         /* [executions] placement indices in order of time       */
    uint32_t *execution_of;   /* [executions] placement index -> execution                 */
    uint32_t *position;       /* [executions] execution -> place in `sorted`               */
    uint32_t *placement_of;   /* [executions] execution -> placement index                 */
    uint32_t *next_execution; /* [executions] next execution of the same instance      */
    uint32_t *topological;    /* [instances] instance -> place in graph->order      */
    uint32_t *previous;       /* [executions] execution before it on its executor          */
    uint32_t *last;           /* [executors] last execution so far                      */
    uint32_t *input_first, *input_source, *succ_first, *succ; /* the program's, to be filled */
    clo_arena *arena;
} builder;

static bool take_scratch(builder *b, uint32_t executions, uint32_t instances, uint32_t executors)
{
    uint32_t **const arrays[] = {&b->sorted,       &b->execution_of,   &b->position,
                                 &b->placement_of, &b->next_execution, &b->previous};

    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        *arrays[i] = clo_arena_take(b->arena, executions, sizeof(uint32_t));
        if (*arrays[i] == NULL)
            return false;
    }
    b->topological = clo_arena_take(b->arena, instances, sizeof(uint32_t));
    b->last = clo_arena_take(b->arena, executors, sizeof(uint32_t));
    return b->topological != NULL && b->last != NULL;
}

/* Numbers the executions: originals take their instance's number, replicas follow in order of the plan. */
static clo_status number_executions(builder *b, clo_program *program)
{
    const clo_graph *graph = b->graph;
    uint32_t replica = program->instances;

    memset(b->placement_of, 0xff, program->executions * sizeof(uint32_t));
    for (uint32_t i = 0; i < program->executions; i++) {
        const clo_placement *p = &b->placements[i];
        uint32_t instance = graph->first_instance[p->task] + p->instance;
        uint32_t execution = instance;
        if (p->is_replica) {
            if (replica == program->executions)
                return clo_fail(CLO_ERR_INVALID, "the plan has no original execution of some task");
            execution = replica++;
            program->replica_of[execution - program->instances] = instance;
        }
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
    for (uint32_t execution = program->instances; execution < program->executions; execution++) {
        uint32_t instance = program->replica_of[execution - program->instances];
        b->next_execution[execution] = b->next_execution[instance];
        b->next_execution[instance] = execution;
    }
    return CLO_OK;
}

/* Sort keys: time first; tasks of no length that start together keep the order of the graph. */
typedef struct sort_row {
    int64_t start_ns, finish_ns;
    uint32_t topological, placement;
} sort_row;

static bool comes_first(const sort_row *x, const sort_row *y)
{
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns;
    if (x->finish_ns != y->finish_ns)
        return x->finish_ns < y->finish_ns;
    if (x->topological != y->topological)
        return x->topological < y->topological;
    return x->placement < y->placement;
}

static void merge(const sort_row *from, sort_row *to, uint32_t first, uint32_t middle, uint32_t end)
{
    uint32_t a = first, b = middle;

    for (uint32_t i = first; i < end; i++)
        to[i] = a < middle && (b == end || !comes_first(&from[b], &from[a])) ? from[a++] : from[b++];
}

/* By merging, bottom up; qsort may allocate. Returns the array of the two that holds the result. */
static sort_row *sort_rows(sort_row *rows, sort_row *other, uint32_t count)
{
    for (uint64_t width = 1; width < count; width *= 2) {
        for (uint64_t first = 0; first < count; first += 2 * width) {
            uint64_t middle = first + width < count ? first + width : count;
            uint64_t end = middle + width < count ? middle + width : count;
            merge(rows, other, (uint32_t)first, (uint32_t)middle, (uint32_t)end);
        }
        sort_row *sorted = other;
        other = rows;
        rows = sorted;
    }
    return rows;
}

static clo_status order_executions(builder *b, clo_program *program)
{
    const clo_graph *graph = b->graph;
    sort_row *rows = clo_arena_take(b->arena, program->executions, sizeof *rows);
    sort_row *other = clo_arena_take(b->arena, program->executions, sizeof *rows);
    if (rows == NULL || other == NULL)
        return clo_fail_memory("the order of the plan");

    for (uint32_t i = 0; i < graph->instances; i++)
        b->topological[graph->order[i]] = i;
    for (uint32_t i = 0; i < program->executions; i++) {
        const clo_placement *p = &b->placements[i];
        uint32_t instance = graph->first_instance[p->task] + p->instance;
        rows[i] = (sort_row){p->start_ns, p->finish_ns, b->topological[instance], i};
    }
    rows = sort_rows(rows, other, program->executions);

    memset(b->last, 0xff, program->platform->executors_count * sizeof(uint32_t));
    for (uint32_t i = 0; i < program->executions; i++) {
        uint32_t execution = b->execution_of[rows[i].placement], executor = program->executor[execution];
        b->sorted[i] = execution;
        b->position[execution] = i;
        b->previous[execution] = b->last[executor];
        b->last[executor] = execution;
    }
    return CLO_OK;
}

/* The execution of `instance` whose data reach `execution` first (LACHESIS eq. 9); ties: same executor, then original. */
static uint32_t nearest_source(const builder *b, const clo_program *program, uint32_t instance, uint32_t execution,
                               uint64_t bytes)
{
    uint32_t best = CLO_NONE, here = program->executor[execution];
    int64_t best_ns = INT64_MAX;

    for (uint32_t source = instance; source != CLO_NONE; source = b->next_execution[source]) {
        const clo_placement *p = &b->placements[b->placement_of[source]];
        int64_t way_ns = clo_platform_transfer_ns(program->platform, bytes, p->executor, here);
        int64_t arrival_ns = clo_time_add(p->finish_ns, way_ns);
        bool is_nearer = best == CLO_NONE || arrival_ns < best_ns ||
                         (arrival_ns == best_ns && p->executor == here && program->executor[best] != here);
        if (b->position[source] < b->position[execution] && is_nearer) {
            best = source;
            best_ns = arrival_ns;
        }
    }
    return best != CLO_NONE ? best : instance; /* none stands before `execution`: check_order says so */
}

static void choose_sources(const builder *b, clo_program *program, uint32_t *input_first, uint32_t *input_source)
{
    const clo_graph *graph = b->graph;
    uint32_t k = 0;

    for (uint32_t execution = 0; execution < program->executions; execution++) {
        uint32_t instance = clo_program_instance(program, execution);
        input_first[execution] = k;
        for (uint32_t a = graph->pred_first[instance]; a < graph->pred_first[instance + 1]; a++)
            input_source[k++] = nearest_source(b, program, graph->pred[a], execution, clo_graph_arc_bytes(graph, a));
        if (k - input_first[execution] > program->inputs_max)
            program->inputs_max = k - input_first[execution];
    }
    input_first[program->executions] = k;
}

/* Edges between executors, then one from each execution to the next on its executor. */
static void link_executions(const builder *b, clo_program *program, uint32_t *succ_first, uint32_t *succ)
{
    for (uint32_t execution = 0; execution < program->executions; execution++) {
        for (uint32_t k = program->input_first[execution]; k < program->input_first[execution + 1]; k++)
            if (program->executor[program->input_source[k]] != program->executor[execution]) {
                succ_first[program->input_source[k] + 1]++;
                program->needs[execution]++;
            }
        if (b->previous[execution] != CLO_NONE) {
            succ_first[b->previous[execution] + 1]++;
            program->needs[execution]++;
        }
    }
    for (uint32_t execution = 0; execution < program->executions; execution++) {
        program->exits += succ_first[execution + 1] == 0;
        succ_first[execution + 1] += succ_first[execution];
    }
    /* Filled from the back, in reverse order of time: each row ends up sorted by planned start, and succ_first[e + 1]
     * at the beginning of row e. */
    uint32_t total = succ_first[program->executions];
    for (uint32_t i = program->executions; i-- > 0;) {
        uint32_t execution = b->sorted[i];
        if (b->previous[execution] != CLO_NONE)
            succ[--succ_first[b->previous[execution] + 1]] = execution;
        for (uint32_t k = program->input_first[execution]; k < program->input_first[execution + 1]; k++)
            if (program->executor[program->input_source[k]] != program->executor[execution])
                succ[--succ_first[program->input_source[k] + 1]] = execution;
    }
    for (uint32_t execution = 0; execution < program->executions; execution++)
        succ_first[execution] = succ_first[execution + 1];
    succ_first[program->executions] = total;
}

/* Every edge must lead forward in `sorted`; else the plan could never run to its end. */
static clo_status check_order(const builder *b, const clo_program *program)
{
    for (uint32_t execution = 0; execution < program->executions; execution++)
        for (uint32_t k = program->input_first[execution]; k < program->input_first[execution + 1]; k++)
            if (b->position[program->input_source[k]] >= b->position[execution]) {
                char scratch[2][16];
                uint32_t from = clo_program_task(program, program->input_source[k]);
                uint32_t to = clo_program_task(program, execution);
                return clo_fail(CLO_ERR_INVALID, "the plan starts task '%s' before its predecessor '%s'; swap them",
                                clo_graph_task_name(b->graph, to, scratch[0]),
                                clo_graph_task_name(b->graph, from, scratch[1]));
            }
    return CLO_OK;
}

/* Everything that is later used as an index. An executor that cannot run the task has no time for it either. */
static clo_status check_placement(const clo_cost *cost, const clo_placement *p)
{
    const clo_graph *graph = clo_cost_graph(cost);
    uint32_t executors = clo_platform_executors(clo_cost_platform(cost));
    char scratch[16];

    if (p->task >= graph->tasks || p->instance >= graph->rows[p->task].instances)
        return clo_fail(CLO_ERR_INVALID, "the plan places task %u instance %u, which the graph lacks", p->task,
                        p->instance);
    if (p->executor >= executors)
        return clo_fail(CLO_ERR_INVALID, "the plan places task %u on executor %u; the platform has %u executors",
                        p->task, p->executor, executors);
    if (clo_cost_execution_ns(cost, p->task, p->executor) == CLO_TIME_NEVER)
        return clo_fail(CLO_ERR_INVALID, "the plan places task '%s' on executor '%s', which cannot run it",
                        clo_graph_task_name(graph, p->task, scratch),
                        clo_platform_executor_name(clo_cost_platform(cost), p->executor));
    return CLO_OK;
}

static clo_status count_arcs(const clo_cost *cost, const clo_placement *placements, uint32_t executions, uint64_t *arcs)
{
    const clo_graph *graph = clo_cost_graph(cost);

    *arcs = 0;
    for (uint32_t i = 0; i < executions; i++) {
        const clo_placement *p = &placements[i];
        clo_status status = check_placement(cost, p);
        if (status != CLO_OK)
            return status;
        uint32_t instance = graph->first_instance[p->task] + p->instance;
        *arcs += graph->pred_first[instance + 1] - graph->pred_first[instance];
    }
    return *arcs + executions < UINT32_MAX ? CLO_OK
                                           : clo_fail(CLO_ERR_LIMIT, "the plan has more than 2^32 data movements");
}

/* The tables that stay; taken before any scratch. */
static clo_status take_tables(builder *b, clo_program *program)
{
    size_t executions = program->executions;
    clo_block block = {0};
    uint64_t arcs;
    clo_status status = count_arcs(b->cost, b->placements, program->executions, &arcs);
    if (status != CLO_OK)
        return status;

    clo_carve(&block, &program->needs, executions);
    clo_carve(&block, &program->executor, executions);
    clo_carve(&block, &program->replica_of, executions - program->instances);
    clo_carve(&block, &b->input_first, executions + 1);
    clo_carve(&block, &b->input_source, arcs);
    clo_carve(&block, &b->succ_first, executions + 1);
    clo_carve(&block, &b->succ, arcs + executions);
    if (!clo_block_take(&block, b->arena))
        return clo_fail_memory("the compiled plan");
    program->input_first = b->input_first;
    program->input_source = b->input_source;
    program->succ_first = b->succ_first;
    program->succ = b->succ;
    return CLO_OK;
}

static clo_status compile_plan(builder *b, clo_program *program)
{
    clo_status status = number_executions(b, program);
    if (status == CLO_OK)
        status = order_executions(b, program);
    if (status != CLO_OK)
        return status;
    choose_sources(b, program, b->input_first, b->input_source);
    status = check_order(b, program);
    if (status == CLO_OK)
        link_executions(b, program, b->succ_first, b->succ);
    return status;
}

static clo_status compile_replay(clo_program *program, const clo_placement *placements, size_t count, clo_arena *arena)
{
    builder b = {.cost = program->cost, .graph = program->graph, .placements = placements, .arena = arena};

    if (count < program->instances || count >= CLO_NONE)
        return clo_fail(CLO_ERR_INVALID, "the plan has %zu placements for %u instances", count, program->instances);
    program->is_replay = true;
    program->executions = (uint32_t)count;
    clo_status status = take_tables(&b, program);
    if (status != CLO_OK)
        return status;
    size_t mark = clo_arena_mark(arena);
    if (take_scratch(&b, program->executions, program->instances, program->platform->executors_count))
        status = compile_plan(&b, program);
    else
        status = clo_fail_memory("compiling the plan");
    clo_arena_back_to(arena, mark);
    return status;
}

static void adopt_graph(clo_program *program)
{
    const clo_graph *graph = program->graph;

    program->executions = graph->instances;
    program->succ_first = graph->succ_first;
    program->succ = graph->succ;
    program->input_first = graph->pred_first;
    program->input_source = graph->pred;
    for (uint32_t i = 0; i < graph->instances; i++) {
        uint32_t inputs = graph->pred_first[i + 1] - graph->pred_first[i];
        program->exits += graph->succ_first[i] == graph->succ_first[i + 1];
        if (inputs > program->inputs_max)
            program->inputs_max = inputs;
    }
    for (uint32_t t = 0; t < graph->tasks && !program->is_restricted; t++)
        for (uint32_t e = 0; e < program->platform->executors_count; e++)
            if (clo_cost_execution_ns(program->cost, t, e) == CLO_TIME_NEVER)
                program->is_restricted = true;
}

/* Kinds are matched by name. */
static void match_kinds(clo_program *program)
{
    const clo_graph *graph = program->graph;
    const clo_platform *platform = program->platform;

    for (uint32_t k = 0; k < CLO_GRAPH_KINDS_MAX; k++)
        program->kind_of[k] = CLO_NONE;
    for (uint32_t k = 0; k < graph->kinds; k++)
        for (uint32_t p = 0; p < platform->kinds_count; p++)
            if (strcmp(graph->kind_names[k], platform->kind_names[p]) == 0)
                program->kind_of[k] = p;
}

static clo_status list_roots(clo_program *program, clo_arena *arena)
{
    for (uint32_t execution = 0; execution < program->executions; execution++)
        program->roots_count += clo_program_needs(program, execution) == 0;
    program->roots = clo_arena_take(arena, program->roots_count, sizeof *program->roots);
    if (program->roots == NULL)
        return clo_fail_memory("the first tasks");
    for (uint32_t execution = 0, count = 0; execution < program->executions; execution++)
        if (clo_program_needs(program, execution) == 0)
            program->roots[count++] = execution;
    return CLO_OK;
}

clo_status clo_program_create(const clo_cost *cost, const clo_placement *placements, size_t count, clo_arena *arena,
                              clo_program **out)
{
    clo_program *program = clo_arena_take(arena, 1, sizeof *program);
    if (program == NULL)
        return clo_fail_memory("a program");

    program->cost = cost;
    program->graph = clo_cost_graph(cost);
    program->platform = clo_cost_platform(cost);
    program->instances = program->graph->instances;
    program->crosses_memories = program->platform->memories_count > 1;
    match_kinds(program);

    clo_status status = CLO_OK;
    if (placements != NULL)
        status = compile_replay(program, placements, count, arena);
    else
        adopt_graph(program);
    if (status == CLO_OK)
        status = list_roots(program, arena);
    if (status == CLO_OK)
        *out = program;
    return status;
}

void clo_program_demand(const clo_program *program, uint32_t task, int64_t *demand)
{
    const int64_t *own = clo_graph_demand(program->graph, task);

    memset(demand, 0, CLO_RESOURCES_MAX * sizeof *demand);
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (program->cost->resource_of[r] != CLO_NONE) {
            int64_t *held = &demand[program->cost->resource_of[r]];
            *held = clo_time_add(*held, own[r]);
        }
}

clo_task_fn clo_program_body(const clo_program *program, uint32_t task, uint32_t executor)
{
    const clo_graph_task_row *row = &program->graph->rows[task];
    if (!row->has_kind_body)
        return row->body;

    uint32_t kind = program->platform->executors[executor].kind;
    for (uint32_t k = 0; k < program->graph->kinds; k++) {
        if (program->kind_of[k] != kind)
            continue;
        const clo_graph_special *special = clo_graph_special_find(program->graph, task, k);
        if (special != NULL && special->body != NULL)
            return special->body;
    }
    return row->body;
}
