/* program.c - from a plan to entries, fixed sources and order edges. The graph's adjacency serves unchanged where no
 * plan is given. */
#include "engine/program.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

/* Scratch of one compilation. */
typedef struct builder {
    const clo_cost *cost;
    const clo_graph *graph;
    const clo_placement *placements;
    uint32_t *sorted;       /* [entries] placement indices in order of time       */
    uint32_t *entry_of;     /* [entries] placement index -> entry                 */
    uint32_t *position;     /* [entries] entry -> place in `sorted`               */
    uint32_t *placement_of; /* [entries] entry -> placement index                 */
    uint32_t *next_copy;    /* [entries] next execution of the same instance      */
    uint32_t *topological;  /* [instances] instance -> place in graph->order      */
    uint32_t *previous;     /* [entries] entry before it on its executor          */
    uint32_t *last;         /* [executors] last entry so far                      */
    void *block;
} builder;

static bool lay_out_builder(builder *b, uint32_t entries, uint32_t instances, uint32_t executors)
{
    clo_layout layout = {0};
    size_t at[8];

    for (int i = 0; i < 6; i++)
        at[i] = clo_layout_add(&layout, entries, sizeof(uint32_t));
    at[6] = clo_layout_add(&layout, instances, sizeof(uint32_t));
    at[7] = clo_layout_add(&layout, executors, sizeof(uint32_t));
    char *block = layout.overflow ? NULL : clo_allocate_aligned(layout.bytes, 1);
    if (block == NULL)
        return false;
    b->block = block;
    b->sorted = (uint32_t *)(void *)(block + at[0]);
    b->entry_of = (uint32_t *)(void *)(block + at[1]);
    b->position = (uint32_t *)(void *)(block + at[2]);
    b->placement_of = (uint32_t *)(void *)(block + at[3]);
    b->next_copy = (uint32_t *)(void *)(block + at[4]);
    b->previous = (uint32_t *)(void *)(block + at[5]);
    b->topological = (uint32_t *)(void *)(block + at[6]);
    b->last = (uint32_t *)(void *)(block + at[7]);
    return true;
}

/* Numbers the entries: originals take their instance's number, replicas follow in order of the plan. */
static clo_status number_entries(builder *b, clo_program *program)
{
    const clo_graph *graph = b->graph;
    uint32_t replica = program->instances;

    memset(b->placement_of, 0xff, program->entries * sizeof(uint32_t));
    for (uint32_t i = 0; i < program->entries; i++) {
        const clo_placement *p = &b->placements[i];
        uint32_t instance = graph->first_instance[p->task] + p->instance;
        uint32_t entry = instance;
        if (p->is_replica) {
            if (replica == program->entries)
                return clo_fail(CLO_ERR_INVALID, "the plan has no original execution of some task");
            entry = replica++;
            program->replica_of[entry - program->instances] = instance;
        }
        if (b->placement_of[entry] != CLO_NONE)
            return clo_fail(CLO_ERR_INVALID, "the plan places task %u instance %u twice; mark one as a replica",
                            p->task, p->instance);
        b->placement_of[entry] = i;
        b->entry_of[i] = entry;
        program->executor[entry] = p->executor;
    }
    for (uint32_t entry = 0; entry < program->instances; entry++) /* chain the executions of each instance */
        b->next_copy[entry] = CLO_NONE;
    for (uint32_t entry = program->instances; entry < program->entries; entry++) {
        uint32_t instance = program->replica_of[entry - program->instances];
        b->next_copy[entry] = b->next_copy[instance];
        b->next_copy[instance] = entry;
    }
    return CLO_OK;
}

/* Sort keys: time first; tasks of no length that start together keep the order of the graph. */
typedef struct sort_row {
    int64_t start_ns, finish_ns;
    uint32_t topological, placement;
} sort_row;

static int compare_rows(const void *a, const void *b)
{
    const sort_row *x = a, *y = b;

    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->finish_ns != y->finish_ns)
        return x->finish_ns < y->finish_ns ? -1 : 1;
    if (x->topological != y->topological)
        return x->topological < y->topological ? -1 : 1;
    return x->placement < y->placement ? -1 : x->placement > y->placement;
}

static clo_status order_entries(builder *b, clo_program *program)
{
    const clo_graph *graph = b->graph;
    sort_row *rows = clo_allocate(program->entries, sizeof *rows);
    if (rows == NULL)
        return clo_fail_memory("the order of the plan");

    for (uint32_t i = 0; i < graph->instances; i++)
        b->topological[graph->order[i]] = i;
    for (uint32_t i = 0; i < program->entries; i++) {
        const clo_placement *p = &b->placements[i];
        uint32_t instance = graph->first_instance[p->task] + p->instance;
        rows[i] = (sort_row){p->start_ns, p->finish_ns, b->topological[instance], i};
    }
    qsort(rows, program->entries, sizeof *rows, compare_rows);

    memset(b->last, 0xff, program->platform->executors_count * sizeof(uint32_t));
    for (uint32_t i = 0; i < program->entries; i++) {
        uint32_t entry = b->entry_of[rows[i].placement], executor = program->executor[entry];
        b->sorted[i] = entry;
        b->position[entry] = i;
        b->previous[entry] = b->last[executor];
        b->last[executor] = entry;
    }
    clo_free(rows);
    return CLO_OK;
}

/* The execution of `instance` whose data reach `entry` first (LACHESIS eq. 9); ties: same executor, then original. */
static uint32_t nearest_source(const builder *b, const clo_program *program, uint32_t instance, uint32_t entry,
                               uint64_t bytes)
{
    uint32_t best = instance, here = program->executor[entry];
    int64_t best_ns = INT64_MAX;

    for (uint32_t source = instance; source != CLO_NONE; source = b->next_copy[source]) {
        const clo_placement *p = &b->placements[b->placement_of[source]];
        int64_t arrival_ns = p->finish_ns + clo_platform_transfer_ns(program->platform, bytes, p->executor, here);
        bool is_nearer =
            arrival_ns < best_ns || (arrival_ns == best_ns && p->executor == here && program->executor[best] != here);
        if (b->position[source] < b->position[entry] && is_nearer) {
            best = source;
            best_ns = arrival_ns;
        }
    }
    return best;
}

static void choose_sources(const builder *b, clo_program *program, uint32_t *input_first, uint32_t *input_source)
{
    const clo_graph *graph = b->graph;
    uint32_t k = 0;

    for (uint32_t entry = 0; entry < program->entries; entry++) {
        uint32_t instance = clo_program_instance(program, entry);
        input_first[entry] = k;
        for (uint32_t a = graph->pred_first[instance]; a < graph->pred_first[instance + 1]; a++)
            input_source[k++] = nearest_source(b, program, graph->pred[a], entry, graph->pred_bytes[a]);
        if (k - input_first[entry] > program->inputs_max)
            program->inputs_max = k - input_first[entry];
    }
    input_first[program->entries] = k;
}

/* Edges between executors, then one from each entry to the next on its executor. */
static void link_entries(const builder *b, clo_program *program, uint32_t *succ_first, uint32_t *succ)
{
    for (uint32_t entry = 0; entry < program->entries; entry++) {
        for (uint32_t k = program->input_first[entry]; k < program->input_first[entry + 1]; k++)
            if (program->executor[program->input_source[k]] != program->executor[entry]) {
                succ_first[program->input_source[k] + 1]++;
                program->needs[entry]++;
            }
        if (b->previous[entry] != CLO_NONE) {
            succ_first[b->previous[entry] + 1]++;
            program->needs[entry]++;
        }
    }
    for (uint32_t entry = 0; entry < program->entries; entry++) {
        program->exits += succ_first[entry + 1] == 0;
        succ_first[entry + 1] += succ_first[entry];
    }
    /* Filled from the back, in reverse order of time: each row ends up sorted by planned start, and succ_first[e + 1]
     * at the beginning of row e. */
    uint32_t total = succ_first[program->entries];
    for (uint32_t i = program->entries; i-- > 0;) {
        uint32_t entry = b->sorted[i];
        if (b->previous[entry] != CLO_NONE)
            succ[--succ_first[b->previous[entry] + 1]] = entry;
        for (uint32_t k = program->input_first[entry]; k < program->input_first[entry + 1]; k++)
            if (program->executor[program->input_source[k]] != program->executor[entry])
                succ[--succ_first[program->input_source[k] + 1]] = entry;
    }
    for (uint32_t entry = 0; entry < program->entries; entry++)
        succ_first[entry] = succ_first[entry + 1];
    succ_first[program->entries] = total;
}

/* Every edge must lead forward in `sorted`; else the plan could never run to its end. */
static clo_status check_order(const builder *b, const clo_program *program)
{
    for (uint32_t entry = 0; entry < program->entries; entry++)
        for (uint32_t k = program->input_first[entry]; k < program->input_first[entry + 1]; k++)
            if (b->position[program->input_source[k]] >= b->position[entry]) {
                char scratch[2][16];
                uint32_t from = clo_program_task(program, program->input_source[k]);
                uint32_t to = clo_program_task(program, entry);
                return clo_fail(CLO_ERR_INVALID, "the plan starts task '%s' before its predecessor '%s'; swap them",
                                clo_graph_task_name(b->graph, to, scratch[0]),
                                clo_graph_task_name(b->graph, from, scratch[1]));
            }
    return CLO_OK;
}

static clo_status count_arcs(const clo_graph *graph, const clo_placement *placements, uint32_t entries, uint64_t *arcs)
{
    *arcs = 0;
    for (uint32_t i = 0; i < entries; i++) {
        const clo_placement *p = &placements[i];
        if (p->task >= graph->tasks || p->instance >= graph->rows[p->task].instances)
            return clo_fail(CLO_ERR_INVALID, "the plan places task %u instance %u, which the graph lacks", p->task,
                            p->instance);
        uint32_t instance = graph->first_instance[p->task] + p->instance;
        *arcs += graph->pred_first[instance + 1] - graph->pred_first[instance];
    }
    return *arcs + entries < UINT32_MAX ? CLO_OK
                                        : clo_fail(CLO_ERR_LIMIT, "the plan has more than 2^32 data movements");
}

static clo_status compile_plan(builder *b, clo_program *program)
{
    uint32_t entries = program->entries;
    uint64_t arcs;
    clo_status status = count_arcs(b->graph, b->placements, entries, &arcs);
    if (status != CLO_OK)
        return status;

    clo_layout layout = {0};
    size_t at_needs = clo_layout_add(&layout, entries, sizeof(uint32_t));
    size_t at_executor = clo_layout_add(&layout, entries, sizeof(uint32_t));
    size_t at_replicas = clo_layout_add(&layout, entries - program->instances, sizeof(uint32_t));
    size_t at_input_first = clo_layout_add(&layout, (size_t)entries + 1, sizeof(uint32_t));
    size_t at_input = clo_layout_add(&layout, arcs, sizeof(uint32_t));
    size_t at_succ_first = clo_layout_add(&layout, (size_t)entries + 1, sizeof(uint32_t));
    size_t at_succ = clo_layout_add(&layout, arcs + entries, sizeof(uint32_t));
    char *block = layout.overflow ? NULL : clo_allocate_aligned(layout.bytes, 1);
    if (block == NULL)
        return clo_fail_memory("the compiled plan");
    program->block = block;
    program->needs = (uint32_t *)(void *)(block + at_needs);
    program->executor = (uint32_t *)(void *)(block + at_executor);
    program->replica_of = (uint32_t *)(void *)(block + at_replicas);
    program->input_first = (uint32_t *)(void *)(block + at_input_first);
    program->input_source = (uint32_t *)(void *)(block + at_input);
    program->succ_first = (uint32_t *)(void *)(block + at_succ_first);
    program->succ = (uint32_t *)(void *)(block + at_succ);

    status = number_entries(b, program);
    if (status == CLO_OK)
        status = order_entries(b, program);
    if (status != CLO_OK)
        return status;
    choose_sources(b, program, (uint32_t *)(void *)(block + at_input_first), (uint32_t *)(void *)(block + at_input));
    status = check_order(b, program);
    if (status == CLO_OK)
        link_entries(b, program, (uint32_t *)(void *)(block + at_succ_first), (uint32_t *)(void *)(block + at_succ));
    return status;
}

static clo_status compile_replay(clo_program *program, const clo_placement *placements, size_t count)
{
    builder b = {.cost = program->cost, .graph = program->graph, .placements = placements};

    if (count < program->instances || count >= CLO_NONE)
        return clo_fail(CLO_ERR_INVALID, "the plan has %zu placements for %u instances", count, program->instances);
    program->is_replay = true;
    program->entries = (uint32_t)count;
    if (!lay_out_builder(&b, program->entries, program->instances, program->platform->executors_count))
        return clo_fail_memory("compiling the plan");
    clo_status status = compile_plan(&b, program);
    clo_free(b.block);
    return status;
}

static void adopt_graph(clo_program *program)
{
    const clo_graph *graph = program->graph;

    program->entries = graph->instances;
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

static clo_status list_roots(clo_program *program)
{
    for (uint32_t entry = 0; entry < program->entries; entry++)
        program->roots_count += clo_program_needs(program, entry) == 0;
    program->roots = clo_allocate(program->roots_count, sizeof *program->roots);
    if (program->roots == NULL)
        return clo_fail_memory("the first tasks");
    for (uint32_t entry = 0, count = 0; entry < program->entries; entry++)
        if (clo_program_needs(program, entry) == 0)
            program->roots[count++] = entry;
    return CLO_OK;
}

clo_status clo_program_create(const clo_cost *cost, const clo_placement *placements, size_t count, clo_program **out)
{
    clo_program *program = clo_allocate(1, sizeof *program);
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
        status = compile_replay(program, placements, count);
    else
        adopt_graph(program);
    if (status == CLO_OK)
        status = list_roots(program);
    if (status != CLO_OK)
        return clo_program_destroy(program), status;
    *out = program;
    return CLO_OK;
}

void clo_program_destroy(clo_program *program)
{
    if (program == NULL)
        return;
    clo_free(program->roots);
    clo_free(program->block);
    clo_free(program);
}

void clo_program_demand(const clo_program *program, uint32_t task, int64_t *demand)
{
    const int64_t *own = clo_graph_demand(program->graph, task);

    memset(demand, 0, CLO_RESOURCES_MAX * sizeof *demand);
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (program->cost->resource_of[r] != CLO_NONE)
            demand[program->cost->resource_of[r]] += own[r];
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
