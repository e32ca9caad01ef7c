/* branch.c - branches, arms and merges of a graph: see clotho/branch.h. */
#include "graph/branch.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"

#include <string.h>

#define NAME_SHOWN 40

static clo_status take_modes(clo_graph *graph)
{
    if (graph->modes == NULL)
        graph->modes = clo_allocate(1, sizeof *graph->modes);
    return graph->modes != NULL ? CLO_OK : clo_fail_memory("the branches of a graph");
}

static const clo_graph_branch_row *branch_of(const clo_graph *graph, uint32_t task)
{
    const clo_graph_modes *modes = graph != NULL ? graph->modes : NULL;

    if (modes == NULL || task >= graph->tasks)
        return NULL;
    if (graph->sealed)
        return modes->branch_of[task] == CLO_NONE ? NULL : &modes->branches[modes->branch_of[task]];
    for (uint32_t b = 0; b < modes->branches_count; b++)
        if (modes->branches[b].task == task)
            return &modes->branches[b];
    return NULL;
}

/* Room for a branch and its chances. */
static clo_status reserve(clo_graph_modes *modes, uint32_t chances)
{
    void *branches = modes->branches, *all = modes->chances;

    if (chances > UINT32_MAX - modes->chances_count || modes->branches_count == UINT32_MAX - 1)
        return clo_fail(CLO_ERR_LIMIT, "more than 2^32 branches and chances; use fewer");
    int failed = clo_grow(&branches, &modes->branches_capacity, modes->branches_count + 1u, sizeof *modes->branches);

    modes->branches = branches;
    if (!failed && chances > 0)
        failed = clo_grow(&all, &modes->chances_capacity, (size_t)modes->chances_count + chances,
                          sizeof *modes->chances);
    modes->chances = all;
    return failed ? clo_fail_memory("a branch") : CLO_OK;
}

static clo_status add_branch(clo_graph *graph, const clo_graph_branch_row *row, const uint32_t *chances)
{
    clo_status status = clo_graph_check_task(graph, row->task, "make branches");

    if (status == CLO_OK)
        status = take_modes(graph);
    if (status == CLO_OK)
        status = reserve(graph->modes, chances != NULL ? row->arms : 0);
    if (status != CLO_OK)
        return status;
    clo_graph_modes *modes = graph->modes;
    modes->branches[modes->branches_count] = *row;
    modes->branches[modes->branches_count++].chance = chances != NULL ? modes->chances_count : CLO_NONE;
    for (uint32_t a = 0; chances != NULL && a < row->arms; a++)
        modes->chances[modes->chances_count++] = chances[a];
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
    clo_status status = take_modes(graph);
    if (status != CLO_OK)
        return status;
    clo_graph_modes *modes = graph->modes;
    void *arms = modes->arms;
    if (clo_grow(&arms, &modes->arms_capacity, modes->arms_count + 1u, sizeof *modes->arms) != 0)
        return clo_fail_memory("an arm");
    modes->arms = arms;
    status = clo_graph_add_edge(graph, from, to, bytes);
    if (status == CLO_OK)
        modes->arms[modes->arms_count++] = (clo_graph_arm_row){graph->edges - 1, arm};
    return status;
}

clo_status clo_graph_set_merge(clo_graph *graph, uint32_t task)
{
    if (graph == NULL)
        return clo_fail_null("clo_graph_set_merge", "graph");
    clo_status status = clo_graph_check_task(graph, task, "make merges");

    if (status == CLO_OK)
        status = take_modes(graph);
    if (status != CLO_OK)
        return status;
    clo_graph_modes *modes = graph->modes;
    void *merges = modes->merges;
    if (clo_grow(&merges, &modes->merges_capacity, modes->merges_count + 1u, sizeof *modes->merges) != 0)
        return clo_fail_memory("a merge");
    modes->merges = merges;
    modes->merges[modes->merges_count++] = task;
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
    const clo_graph_modes *modes = graph->modes;
    const clo_graph_ends *ends = &graph->ends[row->edge];
    uint32_t branch = modes->branch_of[ends->from];
    char scratch[16];

    if (branch == CLO_NONE)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "edge %u: arm %u of task \"%.*s\" (%u), which is no branch; call clo_graph_set_branch",
                        row->edge, row->arm, NAME_SHOWN, clo_graph_task_name(graph, ends->from, scratch), ends->from);
    if (row->arm >= modes->branches[branch].arms)
        return clo_fail(CLO_ERR_ARGUMENT, "edge %u: arm %u of task \"%.*s\" (%u); its arms go from 0 to %u", row->edge,
                        row->arm, NAME_SHOWN, clo_graph_task_name(graph, ends->from, scratch), ends->from,
                        modes->branches[branch].arms - 1);
    return CLO_OK;
}

/* Checks the branches and enters them under their tasks. */
static clo_status enter_branches(const clo_graph *graph)
{
    const clo_graph_modes *modes = graph->modes;
    clo_status status = CLO_OK;
    char scratch[16];

    memset(modes->branch_of, 0xff, graph->tasks * sizeof *modes->branch_of);
    for (uint32_t b = 0; b < modes->branches_count && status == CLO_OK; b++) {
        uint32_t task = modes->branches[b].task;
        if (modes->branch_of[task] != CLO_NONE)
            return clo_fail(CLO_ERR_ARGUMENT, "task \"%.*s\" (%u) was made a branch twice; do so once", NAME_SHOWN,
                            clo_graph_task_name(graph, task, scratch), task);
        modes->branch_of[task] = b;
        status = check_branch(graph, task);
    }
    for (uint32_t i = 0; i < modes->merges_count; i++)
        modes->is_merge[modes->merges[i]] = 1;
    return status;
}

/* Edges into a task stand in the order of their addition. next: [tasks] */
static clo_status enter_arms(const clo_graph *graph, const uint32_t *in_first, uint32_t *next)
{
    const clo_graph_modes *modes = graph->modes;
    uint32_t a = 0, added = graph->data != NULL ? graph->data->edges_added : graph->edges;

    memcpy(next, in_first, graph->tasks * sizeof *next);
    for (uint32_t e = 0; e < graph->edges; e++) {
        uint32_t at = next[graph->ends[e].to]++;
        modes->in_arm[at] = e < added ? CLO_NONE : CLO_ARM_ORDER;
        if (a >= modes->arms_count || modes->arms[a].edge != e)
            continue;
        clo_status status = check_arm(graph, &modes->arms[a]);
        if (status != CLO_OK)
            return status;
        modes->in_arm[at] = modes->arms[a++].arm;
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

clo_status clo_graph_modes_seal(clo_graph *graph, const uint32_t *in_first)
{
    clo_graph_modes *modes = graph->modes;
    clo_block block = {0};

    if (modes == NULL)
        return CLO_OK;
    if (modes->branches_count + modes->arms_count + modes->merges_count == 0) {
        clo_graph_modes_free(modes);
        graph->modes = NULL;
        return CLO_OK;
    }
    clo_status status = check_handles(graph);
    if (status != CLO_OK)
        return status;
    uint32_t *next = clo_allocate(graph->tasks, sizeof *next);
    clo_carve(&block, &modes->branch_of, graph->tasks);
    clo_carve(&block, &modes->in_arm, graph->edges);
    clo_carve(&block, &modes->is_merge, graph->tasks);
    modes->block = next != NULL ? clo_block_allocate(&block) : NULL;
    status = modes->block != NULL ? enter_branches(graph) : clo_fail_memory("the branches of a graph");
    if (status == CLO_OK)
        status = enter_arms(graph, in_first, next);
    clo_free(next);
    if (status != CLO_OK) {
        clo_free(modes->block);
        modes->block = NULL;
    }
    return status;
}

clo_status clo_graph_refuse_modes(const clo_graph *graph, const char *what)
{
    if (graph == NULL || graph->modes == NULL)
        return CLO_OK;
    return clo_fail(CLO_ERR_UNSUPPORTED, "graph \"%.60s\" has branches or merges, and %s does not know them; use a "
                                         "graph without",
                    graph->name, what);
}

/* Reading */

uint32_t clo_graph_branches(const clo_graph *graph)
{
    return graph == NULL || graph->modes == NULL ? 0 : graph->modes->branches_count;
}

uint32_t clo_graph_arms(const clo_graph *graph, uint32_t task)
{
    const clo_graph_branch_row *row = branch_of(graph, task);

    return row == NULL ? 0 : row->arms;
}

uint32_t clo_graph_chance(const clo_graph *graph, uint32_t task, uint32_t arm)
{
    const clo_graph_branch_row *row = branch_of(graph, task);

    return row == NULL || arm >= row->arms || row->chance == CLO_NONE ? 0 : graph->modes->chances[row->chance + arm];
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
    const clo_graph_modes *modes = graph != NULL ? graph->modes : NULL;

    if (modes == NULL || task >= graph->tasks)
        return false;
    if (graph->sealed)
        return modes->is_merge[task] != 0;
    for (uint32_t i = 0; i < modes->merges_count; i++)
        if (modes->merges[i] == task)
            return true;
    return false;
}

uint32_t clo_graph_edge_arm(const clo_graph *graph, uint32_t index)
{
    const clo_graph_modes *modes = graph != NULL ? graph->modes : NULL;
    uint32_t low = 0, high = modes != NULL ? modes->arms_count : 0;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (modes->arms[middle].edge < index)
            low = middle + 1;
        else
            high = middle;
    }
    return modes != NULL && low < modes->arms_count && modes->arms[low].edge == index ? modes->arms[low].arm : CLO_NONE;
}
