/* graph.c - the open graph grows here: rows, names, demands and edges in arrays that double, so adding is amortised
 * O(1).
 *
 * Invariant: a call that fails changes nothing that can be read. So each call first makes room for all it needs and
 * only then counts. What only some graphs have (names, outputs, demands, placement sets, grains, bodies and times per
 * kind) lives in columns beside the rows: a row is half a cache line. */
#include "graph/graph.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"

#include <stdio.h>
#include <string.h>

#define NAME_BYTES_MAX 65535u

_Static_assert(sizeof(clo_graph_task_row) <= CLO_CACHE_LINE_BYTES / 2, "two rows fit a cache line");

static const int64_t no_demand[CLO_RESOURCES_MAX];

clo_status clo_graph_create(const char *name, clo_graph **out)
{
    if (out == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_graph_create: out is NULL; pass the address of a pointer");
    clo_graph *graph = clo_allocate(1, sizeof *graph);
    if (graph == NULL)
        return clo_fail_memory("a graph");
    graph->name = clo_duplicate(name != NULL ? name : "graph");
    if (graph->name == NULL) {
        clo_free(graph);
        return clo_fail_memory("a graph");
    }
    *out = graph;
    return CLO_OK;
}

void clo_graph_destroy(clo_graph *graph)
{
    if (graph == NULL)
        return;
    for (uint32_t k = 0; k < graph->kinds; k++)
        clo_free(graph->kind_names[k]);
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        clo_free(graph->resource_names[r]);
    if (!graph->sealed)
        clo_free(graph->specials);
    clo_free(graph->sealed_block);
    clo_placement_free(&graph->sets);
    clo_graph_waves_free(graph->waves);
    clo_graph_data_free(graph->data);
    clo_graph_control_flow_free(graph->control_flow);
    clo_free(graph->edge_bytes);
    clo_free(graph->ends);
    clo_free(graph->demands);
    clo_free(graph->codelets);
    clo_free(graph->names);
    clo_columns_free(&graph->columns);
    clo_free(graph->rows);
    clo_free(graph->name);
    clo_free(graph);
}

static clo_status check_open(const clo_graph *graph, const char *what)
{
    if (graph->sealed)
        return clo_fail(CLO_ERR_STATE, "graph \"%.60s\" is sealed; %s before clo_graph_seal", graph->name, what);
    return CLO_OK;
}

static bool has_demand(const clo_task *task)
{
    int64_t any = 0;

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        any |= task->demand[r];
    return any != 0;
}

/* What tasks that are not there yet add to the graph. */
typedef struct growth {
    size_t tasks, name_bytes, demands;
    uint64_t instances;
    unsigned columns; /* that they need, by bit */
} growth;

/* Bytes of the name with its 0, in the graph's names; 0: unnamed. */
static size_t name_bytes_of(const clo_task *task)
{
    return task->name != NULL ? strlen(task->name) + 1 : 0;
}

/* Items of all ranges but the last. */
static inline uint32_t grain_of(const clo_task *task)
{
    uint32_t items = task->instances > 0 ? task->instances : 1;

    return task->grain == 0 ? 1 : task->grain < items ? task->grain : items;
}

static inline uint32_t ranges_of(const clo_task *task)
{
    uint32_t items = task->instances > 0 ? task->instances : 1, grain = grain_of(task);

    return grain == 1 ? items : items / grain + (items % grain != 0);
}

/* What a task has beside its row, but a demand. */
static inline unsigned columns_of(const clo_task *task, size_t name_bytes)
{
    return (unsigned)(name_bytes > 0) << CLO_COLUMN_NAME |
           (unsigned)(task->executors_mask != 0) << CLO_COLUMN_PLACEMENT |
           (unsigned)(task->output_bytes > 0) << CLO_COLUMN_OUTPUT | (unsigned)(grain_of(task) > 1) << CLO_COLUMN_GRAIN;
}

/* Checks the task that comes after `more`, and adds it to that. */
static inline clo_status check_task(const clo_graph *graph, const clo_task *task, size_t name_bytes, growth *more)
{
    uint64_t id = graph->tasks + more->tasks, instances = ranges_of(task), grain = grain_of(task);

    if (task->work_ns < 0)
        return clo_fail(CLO_ERR_ARGUMENT, "task %llu: work_ns is %lld; give a number >= 0", (unsigned long long)id,
                        (long long)task->work_ns);
    if (task->may_pend > 1)
        return clo_fail(CLO_ERR_ARGUMENT, "task %llu: may_pend is %u; give 0 or 1, and initialise with CLO_TASK_INIT",
                        (unsigned long long)id, task->may_pend);
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (task->demand[r] < 0)
            return clo_fail(CLO_ERR_ARGUMENT, "task %llu: demand[%u] is %lld; give a number >= 0",
                            (unsigned long long)id, r, (long long)task->demand[r]);
    if (name_bytes > NAME_BYTES_MAX + 1 || graph->names_bytes + more->name_bytes + name_bytes >= CLO_NONE)
        return clo_fail(CLO_ERR_LIMIT, "task %llu: its name is too long; use at most %u bytes a task, 4 GiB in all",
                        (unsigned long long)id, NAME_BYTES_MAX);
    if (grain > 1 && (task->work_ns > INT64_MAX / (int64_t)grain || task->output_bytes > INT64_MAX / grain))
        return clo_fail(CLO_ERR_LIMIT, "task %llu: %llu times %lld ns or %llu bytes exceed 2^63; lower grain",
                        (unsigned long long)id, (unsigned long long)grain, (long long)task->work_ns,
                        (unsigned long long)task->output_bytes);
    if (graph->instances_open + more->instances + instances > CLO_NONE - 1)
        return clo_fail(CLO_ERR_LIMIT, "task %llu: more than %u instances in the graph; use fewer",
                        (unsigned long long)id, CLO_NONE - 1);
    more->tasks++;
    more->name_bytes += name_bytes;
    more->demands += has_demand(task);
    more->columns |= columns_of(task, name_bytes);
    more->instances += instances;
    return CLO_OK;
}

void clo_graph_set_work(clo_graph *graph, uint32_t task, int64_t work_ns)
{
    uint64_t instances = graph->rows[task].instances, all;

    /* what was there is taken off, unless the sum is saturated: then it stays so, and seal refuses the graph */
    if (graph->work_open != UINT64_MAX)
        graph->work_open -= (uint64_t)graph->rows[task].work_ns * instances;
    work_ns = clo_time_mul(work_ns, clo_graph_grain_of(graph, task).size);
    graph->rows[task].work_ns = work_ns;
    if (__builtin_mul_overflow((uint64_t)work_ns, instances, &all) ||
        __builtin_add_overflow(graph->work_open, all, &graph->work_open))
        graph->work_open = UINT64_MAX;
}

/* Room for more tasks; nothing is counted yet. */
static inline clo_status reserve_tasks(clo_graph *graph, const growth *more)
{
    void *rows = graph->rows, *names = graph->names, *demands = graph->demands;
    int failed = clo_grow(&rows, &graph->rows_capacity, graph->tasks + more->tasks, sizeof *graph->rows);

    graph->rows = rows;
    if (!failed && more->name_bytes > 0)
        failed = clo_grow(&names, &graph->names_capacity, graph->names_bytes + more->name_bytes, 1);
    graph->names = names;
    if (!failed && more->demands > 0)
        failed =
            clo_grow(&demands, &graph->demands_capacity, graph->demands_count + more->demands, sizeof *graph->demands);
    graph->demands = demands;
    if (!failed) {
        unsigned wanted = more->columns | (unsigned)(more->demands > 0) << CLO_COLUMN_DEMAND;
        failed = (graph->columns.made | wanted) != 0 &&
                 clo_columns_reserve(&graph->columns, wanted, graph->tasks, more->tasks) != 0;
    }
    return failed ? clo_fail_memory("a task") : CLO_OK;
}

/* The placement set of a mask; CLO_NONE for 0. A set that no task uses cannot be read, so it may be left behind. */
static inline clo_status intern_mask(clo_graph *graph, uint64_t mask, uint32_t *placement)
{
    *placement = CLO_NONE;
    return mask != 0 ? clo_placement_intern_mask(&graph->sets, mask, placement) : CLO_OK;
}

/* What is to stand beside the row of a task: whether it has a demand, and its placement set. */
typedef struct beside {
    bool demand;
    uint32_t placement;
} beside;

/* What the next task has beside its row. */
static void put_columns(clo_graph *graph, const clo_task *task, size_t name_bytes, beside has)
{
    clo_graph_columns *columns = &graph->columns;
    uint32_t at = graph->tasks, grain = grain_of(task);

    clo_columns_clear(columns, at);
    if (name_bytes > 0) {
        clo_columns_set(columns, CLO_COLUMN_NAME, at, (uint32_t)graph->names_bytes);
        memcpy(graph->names + graph->names_bytes, task->name, name_bytes);
        graph->names_bytes += name_bytes;
    }
    if (has.demand) {
        clo_columns_set(columns, CLO_COLUMN_DEMAND, at, (uint32_t)graph->demands_count);
        memcpy(graph->demands[graph->demands_count++], task->demand, sizeof task->demand);
        graph->has_demands = true;
    }
    if (has.placement != CLO_NONE)
        clo_columns_set(columns, CLO_COLUMN_PLACEMENT, at, has.placement);
    if (task->output_bytes > 0)
        ((uint64_t *)columns->of[CLO_COLUMN_OUTPUT])[at] = task->output_bytes * grain;
    if (grain > 1)
        ((clo_graph_grain *)columns->of[CLO_COLUMN_GRAIN])[at] = (clo_graph_grain){task->instances, grain};
}

/* The next task: checked, and there is room. Inline: one by one, this is most of the cost. */
static inline void put_task(clo_graph *graph, const clo_task *task, size_t name_bytes, beside has)
{
    clo_graph_task_row *row = &graph->rows[graph->tasks];

    *row = (clo_graph_task_row){
        .body = task->body,
        .argument = task->argument,
        .instances = ranges_of(task),
        .task_class = task->task_class,
        .duplicable = task->duplicable != 0,
        .may_pend = task->may_pend != 0,
    };
    if (graph->columns.made != 0)
        put_columns(graph, task, name_bytes, has);
    graph->has_outputs |= task->output_bytes > 0;
    graph->may_pend |= task->may_pend != 0;
    graph->instances_open += row->instances;
    clo_graph_set_work(graph, graph->tasks++, task->work_ns);
}

clo_status clo_graph_add_task(clo_graph *graph, const clo_task *task, uint32_t *id)
{
    if (graph == NULL || task == NULL)
        return clo_fail_null("clo_graph_add_task", "graph or task");
    growth more = {0};
    size_t name_bytes = name_bytes_of(task);
    beside has = {.placement = CLO_NONE};
    clo_status status = check_open(graph, "add tasks");

    if (status == CLO_OK)
        status = check_task(graph, task, name_bytes, &more);
    if (status == CLO_OK)
        status = reserve_tasks(graph, &more);
    if (status == CLO_OK)
        status = intern_mask(graph, task->executors_mask, &has.placement);
    if (status != CLO_OK)
        return status;
    if (id != NULL)
        *id = graph->tasks;
    has.demand = more.demands > 0;
    put_task(graph, task, name_bytes, has);
    return CLO_OK;
}

clo_status clo_graph_add_tasks(clo_graph *graph, const clo_task *tasks, size_t count, uint32_t *first)
{
    if (graph == NULL || (tasks == NULL && count > 0))
        return clo_fail_null("clo_graph_add_tasks", "graph or tasks");
    growth more = {0};
    beside has = {.placement = CLO_NONE};
    char at[40];
    clo_status status = check_open(graph, "add tasks");

    for (size_t i = 0; status == CLO_OK && i < count; i++) {
        status = check_task(graph, &tasks[i], name_bytes_of(&tasks[i]), &more);
        if (status != CLO_OK) {
            snprintf(at, sizeof at, "tasks[%zu]: ", i);
            return clo_fail_prefix(status, at);
        }
    }
    if (status == CLO_OK)
        status = reserve_tasks(graph, &more);
    for (size_t i = 0; status == CLO_OK && i < count; i++)
        status = intern_mask(graph, tasks[i].executors_mask, &has.placement);
    if (status != CLO_OK)
        return status;
    if (first != NULL)
        *first = graph->tasks;
    for (size_t i = 0; i < count; i++) {
        has.demand = more.demands > 0 && has_demand(&tasks[i]);
        (void)intern_mask(graph, tasks[i].executors_mask, &has.placement); /* is there: cannot fail */
        put_task(graph, &tasks[i], name_bytes_of(&tasks[i]), has);
    }
    return CLO_OK;
}

clo_status clo_graph_kind(clo_graph *graph, const char *name, uint32_t *kind)
{
    if (graph == NULL || name == NULL || kind == NULL)
        return clo_fail_null("clo_graph_kind", "graph, name or kind");
    clo_status status = check_open(graph, "name kinds");

    if (status != CLO_OK)
        return status;
    for (uint32_t k = 0; k < graph->kinds; k++)
        if (strcmp(graph->kind_names[k], name) == 0)
            return *kind = k, CLO_OK;
    if (graph->kinds == CLO_GRAPH_KINDS_MAX)
        return clo_fail(CLO_ERR_LIMIT, "kind \"%.60s\": a graph may name %d kinds of executors; use fewer", name,
                        CLO_GRAPH_KINDS_MAX);
    char *copy = clo_duplicate(name);
    if (copy == NULL)
        return clo_fail_memory("the name of a kind");
    *kind = graph->kinds;
    graph->kind_names[graph->kinds++] = copy;
    return CLO_OK;
}

/* The special row of (task, kind), made if there is none: put into the task's chain in order of kind. */
static clo_graph_special *special_make(clo_graph *graph, uint32_t task, uint32_t kind)
{
    void *specials = graph->specials;
    uint32_t before = CLO_NONE, after = clo_graph_special_first(graph, task);

    for (; after != CLO_NONE && graph->specials[after].kind <= kind; after = graph->specials[after].next) {
        if (graph->specials[after].kind == kind)
            return &graph->specials[after];
        before = after;
    }
    if (graph->specials_count >= CLO_NONE - 1 ||
        clo_columns_reserve(&graph->columns, 1u << CLO_COLUMN_SPECIAL, graph->tasks, 0) != 0 ||
        clo_grow(&specials, &graph->specials_capacity, graph->specials_count + 1, sizeof *graph->specials) != 0)
        return NULL;
    graph->specials = specials;
    uint32_t index = (uint32_t)graph->specials_count++;
    graph->specials[index] = (clo_graph_special){.task = task, .kind = kind, .time_ns = -1, .next = after};
    if (before == CLO_NONE)
        clo_columns_set(&graph->columns, CLO_COLUMN_SPECIAL, task, index);
    else
        graph->specials[before].next = index;
    return &graph->specials[index];
}

clo_status clo_graph_check_task(const clo_graph *graph, uint32_t task, const char *what)
{
    clo_status status = check_open(graph, what);

    if (status == CLO_OK && task >= graph->tasks)
        return clo_fail(CLO_ERR_ARGUMENT, "task %u does not exist (the graph has %u); %s after clo_graph_add_task",
                        task, graph->tasks, what);
    return status;
}

static clo_status check_task_kind(const clo_graph *graph, uint32_t task, uint32_t kind, const char *what)
{
    clo_status status = clo_graph_check_task(graph, task, what);

    if (status != CLO_OK)
        return status;
    if (kind >= graph->kinds)
        return clo_fail(CLO_ERR_ARGUMENT, "kind %u does not exist (the graph has %u); %s after clo_graph_kind", kind,
                        graph->kinds, what);
    return CLO_OK;
}

clo_status clo_graph_set_body(clo_graph *graph, uint32_t task, uint32_t kind, clo_task_fn body)
{
    if (graph == NULL)
        return clo_fail_null("clo_graph_set_body", "graph");
    return clo_graph_set_body_argument(graph, task, kind, body,
                                       task < graph->tasks && !graph->sealed ? graph->rows[task].argument : NULL);
}

clo_status clo_graph_set_body_argument(clo_graph *graph, uint32_t task, uint32_t kind, clo_task_fn body, void *argument)
{
    if (graph == NULL)
        return clo_fail_null("clo_graph_set_body_argument", "graph");
    clo_status status = check_task_kind(graph, task, kind, "set bodies");

    if (status != CLO_OK)
        return status;
    if (body == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "task %u, kind %u: the body is NULL; leave the call out", task, kind);
    clo_graph_special *special = special_make(graph, task, kind);
    if (special == NULL)
        return clo_fail_memory("a body");
    special->body = body;
    special->argument = argument;
    graph->rows[task].has_kind_body = 1;
    return CLO_OK;
}

clo_status clo_graph_set_time(clo_graph *graph, uint32_t task, uint32_t kind, int64_t time_ns)
{
    if (graph == NULL)
        return clo_fail_null("clo_graph_set_time", "graph");
    clo_status status = check_task_kind(graph, task, kind, "set times");

    if (status != CLO_OK)
        return status;
    if (time_ns < 0)
        return clo_fail(CLO_ERR_ARGUMENT, "task %u, kind %u: time_ns is %lld; give a number >= 0 or CLO_TIME_NEVER",
                        task, kind, (long long)time_ns);
    uint32_t grain = clo_graph_grain_of(graph, task).size;
    if (time_ns != CLO_TIME_NEVER && time_ns > (INT64_MAX - 1) / grain)
        return clo_fail(CLO_ERR_LIMIT, "task %u, kind %u: %lld ns for each of %u instances exceed 2^63; lower grain",
                        task, kind, (long long)time_ns, grain);
    clo_graph_special *special = special_make(graph, task, kind);
    if (special == NULL)
        return clo_fail_memory("a time");
    special->time_ns = time_ns == CLO_TIME_NEVER ? time_ns : time_ns * grain;
    return CLO_OK;
}

clo_status clo_graph_set_resource(clo_graph *graph, uint32_t index, const char *name)
{
    if (graph == NULL)
        return clo_fail_null("clo_graph_set_resource", "graph");
    clo_status status = check_open(graph, "name resources");

    if (status != CLO_OK)
        return status;
    if (index >= CLO_RESOURCES_MAX || name == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "resource %u: give an index below %d and a name", index, CLO_RESOURCES_MAX);
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) /* they are matched by name: two alike would be counted as one */
        if (r != index && graph->resource_names[r] != NULL && strcmp(graph->resource_names[r], name) == 0)
            return clo_fail(CLO_ERR_ARGUMENT, "resource %u: \"%.60s\" is the name of resource %u; use another", index,
                            name, r);
    char *copy = clo_duplicate(name);
    if (copy == NULL)
        return clo_fail_memory("the name of a resource");
    clo_free(graph->resource_names[index]);
    graph->resource_names[index] = copy;
    return CLO_OK;
}

const char *clo_graph_name(const clo_graph *graph)
{
    if (graph == NULL)
        return NULL;
    return graph->name;
}

uint32_t clo_graph_tasks(const clo_graph *graph)
{
    return graph != NULL ? graph->tasks : 0;
}

uint32_t clo_graph_edges(const clo_graph *graph)
{
    return graph != NULL ? graph->edges : 0;
}

uint32_t clo_graph_instances(const clo_graph *graph)
{
    return graph != NULL ? graph->instances : 0;
}

uint32_t clo_graph_ranges(const clo_graph *graph, uint32_t task)
{
    return graph != NULL && task < graph->tasks ? graph->rows[task].instances : 0;
}

const char *clo_graph_task_name(const clo_graph *graph, uint32_t task, char *scratch)
{
    if (graph == NULL || task >= graph->tasks)
        return "?";
    const char *name = clo_graph_name_of(graph, task);
    if (name != NULL)
        return name;
    if (scratch == NULL)
        return "?";
    snprintf(scratch, 16, "t%u", task);
    return scratch;
}

clo_status clo_graph_task(const clo_graph *graph, uint32_t task, clo_task *out)
{
    if (graph == NULL || out == NULL)
        return clo_fail_null("clo_graph_task", "graph or out");
    if (task >= graph->tasks)
        return clo_fail(CLO_ERR_ARGUMENT, "task %u does not exist; ids go from 0 to %lld", task,
                        (long long)graph->tasks - 1);
    const clo_graph_task_row *row = &graph->rows[task];
    clo_graph_grain grain = clo_graph_grain_of(graph, task);
    *out = (clo_task){
        .name = clo_graph_name_of(graph, task),
        .body = row->body,
        .argument = row->argument,
        .work_ns = row->work_ns / grain.size,
        .output_bytes = clo_graph_output(graph, task) / grain.size,
        .instances = grain.items,
        .task_class = row->task_class,
        .duplicable = row->duplicable,
        .may_pend = row->may_pend,
        .executors_mask = clo_placement_mask(&graph->sets, clo_graph_placement(graph, task)),
        .grain = grain.size > 1 ? grain.size : 0,
    };
    memcpy(out->demand, clo_graph_demand(graph, task), sizeof out->demand);
    return CLO_OK;
}

uint32_t clo_graph_kinds(const clo_graph *graph)
{
    return graph != NULL ? graph->kinds : 0;
}

const char *clo_graph_kind_name(const clo_graph *graph, uint32_t kind)
{
    if (graph == NULL)
        return NULL;
    return kind < graph->kinds ? graph->kind_names[kind] : NULL;
}

const char *clo_graph_resource_name(const clo_graph *graph, uint32_t index)
{
    if (graph == NULL)
        return NULL;
    return index < CLO_RESOURCES_MAX ? graph->resource_names[index] : NULL;
}

bool clo_graph_time(const clo_graph *graph, uint32_t task, uint32_t kind, int64_t *time_ns)
{
    if (graph == NULL || time_ns == NULL)
        return false;
    const clo_graph_special *special = task < graph->tasks ? clo_graph_special_find(graph, task, kind) : NULL;

    if (special == NULL || special->time_ns < 0)
        return false;
    *time_ns =
        special->time_ns == CLO_TIME_NEVER ? CLO_TIME_NEVER : special->time_ns / clo_graph_grain_of(graph, task).size;
    return true;
}

const int64_t *clo_graph_demand(const clo_graph *graph, uint32_t task)
{
    uint32_t demand = clo_columns_get(&graph->columns, CLO_COLUMN_DEMAND, task);

    return demand == CLO_NONE ? no_demand : graph->demands[demand];
}

const clo_graph_special *clo_graph_special_find(const clo_graph *graph, uint32_t task, uint32_t kind)
{
    for (uint32_t s = clo_graph_special_first(graph, task); s != CLO_NONE; s = graph->specials[s].next)
        if (graph->specials[s].kind == kind)
            return &graph->specials[s];
    return NULL;
}

bool clo_graph_has_kind_body(const clo_graph *graph, uint32_t task)
{
    return graph->rows[task].has_kind_body != 0;
}
