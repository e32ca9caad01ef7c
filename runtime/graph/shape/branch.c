/* branch.c - branches, arms and merges of a graph: see clotho/branch.h. */
#include "graph/shape/branch.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"

#include <string.h>

#define NAME_SHOWN 40

static clo_status take_control_flow(clo_graph *graph)
{
    if (graph->control_flow == NULL)
        graph->control_flow = clo_allocate(1, sizeof *graph->control_flow);
    return graph->control_flow != NULL ? CLO_OK : clo_fail_memory("the branches of a graph");
}

static const clo_graph_branch_row *branch_of(const clo_graph *graph, uint32_t task)
{
    const clo_graph_control_flow *control_flow = graph != NULL ? graph->control_flow : NULL;

    if (control_flow == NULL || task >= graph->tasks)
        return NULL;
    if (graph->sealed)
        return control_flow->branch_of[task] == CLO_NONE ? NULL
                                                         : &control_flow->branches[control_flow->branch_of[task]];
    for (uint32_t b = 0; b < control_flow->branches_count; b++)
        if (control_flow->branches[b].task == task)
            return &control_flow->branches[b];
    return NULL;
}

/* Room for a branch and its chances. */
static clo_status reserve(clo_graph_control_flow *control_flow, uint32_t chances)
{
    void *branches = control_flow->branches, *all = control_flow->chances;

    if (chances > UINT32_MAX - control_flow->chances_count || control_flow->branches_count == UINT32_MAX - 1)
        return clo_fail(CLO_ERR_LIMIT, "more than 2^32 branches and chances; use fewer");
    int failed = clo_grow(&branches, &control_flow->branches_capacity, control_flow->branches_count + 1u,
                          sizeof *control_flow->branches);

    control_flow->branches = branches;
    if (!failed && chances > 0)
        failed = clo_grow(&all, &control_flow->chances_capacity, (size_t)control_flow->chances_count + chances,
                          sizeof *control_flow->chances);
    control_flow->chances = all;
    return failed ? clo_fail_memory("a branch") : CLO_OK;
}

static clo_status add_branch(clo_graph *graph, const clo_graph_branch_row *row, const uint32_t *chances)
{
    clo_status status = clo_graph_check_task(graph, row->task, "make branches");

    if (status == CLO_OK)
        status = take_control_flow(graph);
    if (status == CLO_OK)
        status = reserve(graph->control_flow, chances != NULL ? row->arms : 0);
    if (status != CLO_OK)
        return status;
    clo_graph_control_flow *control_flow = graph->control_flow;
    control_flow->branches[control_flow->branches_count] = *row;
    control_flow->branches[control_flow->branches_count++].chance =
        chances != NULL ? control_flow->chances_count : CLO_NONE;
    for (uint32_t a = 0; chances != NULL && a < row->arms; a++)
        control_flow->chances[control_flow->chances_count++] = chances[a];
    return CLO_OK;
}

static clo_status check_chances(uint32_t task, uint32_t arms, const uint32_t *chances)
{
    uint64_t sum = 0;

    for (uint32_t a = 0; chances != NULL && a < arms; a++)
        sum += chances[a];
    if (chances != NULL && sum != CLO_CHANCES_ONE)
        return clo_fail(CLO_ERR_ARGUMENT, "task %u: the chances of its arms add up to %llu; make that %u", task,
                        (unsigned long long)sum, CLO_CHANCES_ONE);
    return CLO_OK;
}

clo_status clo_graph_set_branch(clo_graph *graph, uint32_t task, uint32_t arms, const uint32_t *chances)
{
    if (graph == NULL)
        return clo_fail_null("clo_graph_set_branch", "graph");
    if (arms == 0 || arms > CLO_ARMS_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "task %u: a branch of %u arms; give 1 to %u", task, arms, CLO_ARMS_MAX);
    clo_status status = check_chances(task, arms, chances);
    return status == CLO_OK ? add_branch(graph, &(clo_graph_branch_row){.task = task, .arms = arms}, chances) : status;
}

clo_status clo_graph_set_last(clo_graph *graph, uint32_t task, uint32_t bound)
{
    return add_branch(graph, &(clo_graph_branch_row){.task = task, .arms = 1, .bound = bound}, NULL);
}

clo_status clo_graph_add_arm(clo_graph *graph, uint32_t from, uint32_t to, uint64_t bytes, uint32_t arm)
{
    if (graph == NULL)
        return clo_fail_null("clo_graph_add_arm", "graph");
    if (arm >= CLO_ARMS_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "edge %u -> %u: arm %u; arms go from 0 to %u", from, to, arm,
                        CLO_ARMS_MAX - 1);
    if (graph->sealed)
        return clo_fail(CLO_ERR_STATE, "graph \"%.60s\" is sealed; add arms before clo_graph_seal", graph->name);
    clo_status status = take_control_flow(graph);
    if (status != CLO_OK)
        return status;
    clo_graph_control_flow *control_flow = graph->control_flow;
    void *arms = control_flow->arms;
    if (clo_grow(&arms, &control_flow->arms_capacity, control_flow->arms_count + 1u, sizeof *control_flow->arms) != 0)
        return clo_fail_memory("an arm");
    control_flow->arms = arms;
    status = clo_graph_add_edge(graph, from, to, bytes);
    if (status == CLO_OK)
        control_flow->arms[control_flow->arms_count++] = (clo_graph_arm_row){graph->edges - 1, arm};
    return status;
}

clo_status clo_graph_set_merge(clo_graph *graph, uint32_t task)
{
    if (graph == NULL)
        return clo_fail_null("clo_graph_set_merge", "graph");
    clo_status status = clo_graph_check_task(graph, task, "make merges");

    if (status == CLO_OK)
        status = take_control_flow(graph);
    if (status != CLO_OK)
        return status;
    clo_graph_control_flow *control_flow = graph->control_flow;
    void *merges = control_flow->merges;
    if (clo_grow(&merges, &control_flow->merges_capacity, control_flow->merges_count + 1u,
                 sizeof *control_flow->merges) != 0)
        return clo_fail_memory("a merge");
    control_flow->merges = merges;
    control_flow->merges[control_flow->merges_count++] = task;
    return CLO_OK;
}

/* Sealing */

static clo_status check_branch(const clo_graph *graph, uint32_t task)
{
    const clo_graph_task_row *row = &graph->rows[task];
    bool is_one = clo_graph_grain_of(graph, task).items == 1;
    const char *what = !is_one ? "several instances" : row->duplicable ? "duplicable" : "may_pend";
    char scratch[16];

    if (is_one && !row->duplicable && !row->may_pend)
        return CLO_OK;
    return clo_fail(CLO_ERR_ARGUMENT, "task \"%.*s\" (%u) is a branch and has %s%s; leave that out", NAME_SHOWN,
                    clo_graph_task_name(graph, task, scratch), task, !is_one ? "" : "the property ", what);
}

static clo_status check_arm(const clo_graph *graph, const clo_graph_arm_row *row)
{
    const clo_graph_control_flow *control_flow = graph->control_flow;
    const clo_graph_ends *ends = &graph->ends[row->edge];
    uint32_t branch = control_flow->branch_of[ends->from];
    char scratch[16];

    if (branch == CLO_NONE)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "edge %u: arm %u of task \"%.*s\" (%u), which is no branch; call clo_graph_set_branch",
                        row->edge, row->arm, NAME_SHOWN, clo_graph_task_name(graph, ends->from, scratch), ends->from);
    if (row->arm >= control_flow->branches[branch].arms)
        return clo_fail(CLO_ERR_ARGUMENT, "edge %u: arm %u of task \"%.*s\" (%u); its arms go from 0 to %u", row->edge,
                        row->arm, NAME_SHOWN, clo_graph_task_name(graph, ends->from, scratch), ends->from,
                        control_flow->branches[branch].arms - 1);
    return CLO_OK;
}

/* Checks the branches and enters them under their tasks. */
static clo_status enter_branches(const clo_graph *graph)
{
    const clo_graph_control_flow *control_flow = graph->control_flow;
    clo_status status = CLO_OK;
    char scratch[16];

    memset(control_flow->branch_of, 0xff, graph->tasks * sizeof *control_flow->branch_of);
    for (uint32_t b = 0; b < control_flow->branches_count && status == CLO_OK; b++) {
        uint32_t task = control_flow->branches[b].task;
        if (control_flow->branch_of[task] != CLO_NONE)
            return clo_fail(CLO_ERR_ARGUMENT, "task \"%.*s\" (%u) was made a branch twice; do so once", NAME_SHOWN,
                            clo_graph_task_name(graph, task, scratch), task);
        control_flow->branch_of[task] = b;
        status = check_branch(graph, task);
    }
    for (uint32_t i = 0; i < control_flow->merges_count; i++)
        control_flow->is_merge[control_flow->merges[i]] = 1;
    return status;
}

/* Edges into a task stand in the order of their addition. next: [tasks] */
static clo_status enter_arms(const clo_graph *graph, const uint32_t *in_first, uint32_t *next)
{
    const clo_graph_control_flow *control_flow = graph->control_flow;
    uint32_t a = 0, added = graph->data != NULL ? graph->data->edges_added : graph->edges;

    memcpy(next, in_first, graph->tasks * sizeof *next);
    for (uint32_t e = 0; e < graph->edges; e++) {
        uint32_t at = next[graph->ends[e].to]++;
        control_flow->in_arm[at] = e < added ? CLO_NONE : CLO_ARM_ORDER;
        if (a >= control_flow->arms_count || control_flow->arms[a].edge != e)
            continue;
        clo_status status = check_arm(graph, &control_flow->arms[a]);
        if (status != CLO_OK)
            return status;
        control_flow->in_arm[at] = control_flow->arms[a++].arm;
    }
    return CLO_OK;
}

/* A task that writes may be skipped: only content that is there before serves whoever reads then, and only one buffer
 * for all memories has it where it is read. */
static clo_status check_handles(const clo_graph *graph)
{
    char scratch[16];

    for (uint32_t h = 0; h < clo_graph_handles(graph); h++)
        if (!clo_handle_is_fixed(&graph->data->handles[h]))
            return clo_fail(CLO_ERR_UNSUPPORTED,
                            "handle \"%.*s\": graph \"%.60s\" has branches, so who writes it may be skipped; give the "
                            "handle an address or kept",
                            NAME_SHOWN, clo_graph_handle_name(graph->data, h, scratch), graph->name);
    return CLO_OK;
}

clo_status clo_graph_control_flow_seal(clo_graph *graph, const uint32_t *in_first)
{
    clo_graph_control_flow *control_flow = graph->control_flow;
    clo_block block = {0};

    if (control_flow == NULL)
        return CLO_OK;
    if (control_flow->branches_count + control_flow->arms_count + control_flow->merges_count == 0) {
        clo_graph_control_flow_free(control_flow);
        graph->control_flow = NULL;
        return CLO_OK;
    }
    clo_status status = check_handles(graph);
    if (status != CLO_OK)
        return status;
    uint32_t *next = clo_allocate(graph->tasks, sizeof *next);
    clo_carve(&block, &control_flow->branch_of, graph->tasks);
    clo_carve(&block, &control_flow->in_arm, graph->edges);
    clo_carve(&block, &control_flow->is_merge, graph->tasks);
    control_flow->block = next != NULL ? clo_block_allocate(&block) : NULL;
    status = control_flow->block != NULL ? enter_branches(graph) : clo_fail_memory("the branches of a graph");
    if (status == CLO_OK)
        status = enter_arms(graph, in_first, next);
    clo_free(next);
    if (status != CLO_OK) {
        clo_free(control_flow->block);
        control_flow->block = NULL;
    }
    return status;
}

clo_status clo_graph_refuse_control_flow(const clo_graph *graph, const char *what)
{
    if (graph == NULL || graph->control_flow == NULL)
        return CLO_OK;
    return clo_fail(CLO_ERR_UNSUPPORTED,
                    "graph \"%.60s\" has branches or merges, and %s does not know them; use a "
                    "graph without",
                    graph->name, what);
}

/* Reading */

uint32_t clo_graph_branches(const clo_graph *graph)
{
    return graph == NULL || graph->control_flow == NULL ? 0 : graph->control_flow->branches_count;
}

uint32_t clo_graph_arms(const clo_graph *graph, uint32_t task)
{
    const clo_graph_branch_row *row = branch_of(graph, task);

    return row == NULL ? 0 : row->arms;
}

uint32_t clo_graph_chance(const clo_graph *graph, uint32_t task, uint32_t arm)
{
    const clo_graph_branch_row *row = branch_of(graph, task);

    return row == NULL || arm >= row->arms || row->chance == CLO_NONE ? 0
                                                                      : graph->control_flow->chances[row->chance + arm];
}

bool clo_graph_has_chances(const clo_graph *graph, uint32_t task)
{
    const clo_graph_branch_row *row = branch_of(graph, task);

    return row != NULL && row->chance != CLO_NONE;
}

uint32_t clo_graph_bound(const clo_graph *graph, uint32_t task)
{
    const clo_graph_branch_row *row = branch_of(graph, task);

    return row == NULL ? 0 : row->bound;
}

bool clo_graph_is_merge(const clo_graph *graph, uint32_t task)
{
    const clo_graph_control_flow *control_flow = graph != NULL ? graph->control_flow : NULL;

    if (control_flow == NULL || task >= graph->tasks)
        return false;
    if (graph->sealed)
        return control_flow->is_merge[task] != 0;
    for (uint32_t i = 0; i < control_flow->merges_count; i++)
        if (control_flow->merges[i] == task)
            return true;
    return false;
}

uint32_t clo_graph_edge_arm(const clo_graph *graph, uint32_t index)
{
    const clo_graph_control_flow *control_flow = graph != NULL ? graph->control_flow : NULL;
    uint32_t low = 0, high = control_flow != NULL ? control_flow->arms_count : 0;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (control_flow->arms[middle].edge < index)
            low = middle + 1;
        else
            high = middle;
    }
    return control_flow != NULL && low < control_flow->arms_count && control_flow->arms[low].edge == index
               ? control_flow->arms[low].arm
               : CLO_NONE;
}
