/* outcomes.c - see outcomes.h. */
#include "graph/shape/outcomes.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/numbers/rng.h"
#include "base/status.h"

#include <string.h>

/* arms: [branches * CLO_OUTCOMES] what each branch chooses in each outcome. */
typedef struct drawing {
    const clo_graph *graph;
    uint64_t *runs;
    uint8_t *arms;
} drawing;

/* The chance of an arm; where none is known, all are as likely. */
static uint64_t chance_of(const clo_graph_control_flow *control_flow, const clo_graph_branch_row *row, uint32_t arm)
{
    if (row->chance != CLO_NONE)
        return control_flow->chances[row->chance + arm];
    return ((uint64_t)CLO_CHANCES_ONE * (arm + 1)) / row->arms - ((uint64_t)CLO_CHANCES_ONE * arm) / row->arms;
}

/* Each arm gets its share of the outcomes, and then they are shuffled: independent of other branches. */
static void draw(const drawing *d, uint32_t branch)
{
    const clo_graph_control_flow *control_flow = d->graph->control_flow;
    const clo_graph_branch_row *row = &control_flow->branches[branch];
    uint8_t *arms = d->arms + (size_t)branch * CLO_OUTCOMES;
    clo_rng rng = clo_rng_seed(row->task);
    uint64_t below = chance_of(control_flow, row, 0);
    uint32_t arm = 0;

    for (uint32_t o = 0; o < CLO_OUTCOMES; o++) {
        uint64_t point = (2 * (uint64_t)o + 1) * CLO_CHANCES_ONE / (2 * CLO_OUTCOMES);
        while (point >= below && arm + 1 < row->arms)
            below += chance_of(control_flow, row, ++arm);
        arms[o] = (uint8_t)arm;
    }
    for (uint32_t left = CLO_OUTCOMES; left > 1; left--) {
        uint32_t other = clo_rng_below(&rng, left);
        uint8_t last = arms[left - 1];
        arms[left - 1] = arms[other];
        arms[other] = last;
    }
}

/* The outcomes in which something comes over graph->in[edge]. */
static void find_alive(const drawing *d, uint32_t edge, uint64_t *alive)
{
    const clo_graph_control_flow *control_flow = d->graph->control_flow;
    uint32_t from = clo_graph_source(d->graph, edge), arm = control_flow->in_arm[edge];

    memcpy(alive, d->runs + (size_t)from * CLO_OUTCOME_WORDS, CLO_OUTCOME_WORDS * sizeof *alive);
    if (arm == CLO_NONE)
        return;
    const uint8_t *arms = d->arms + (size_t)control_flow->branch_of[from] * CLO_OUTCOMES;
    for (uint32_t o = 0; o < CLO_OUTCOMES; o++)
        if (arms[o] != arm)
            alive[o / 64] &= ~((uint64_t)1 << (o % 64));
}

/* The rule of branch.h. */
static void settle(const drawing *d, uint32_t task)
{
    const clo_graph *graph = d->graph;
    uint64_t *runs = d->runs + (size_t)task * CLO_OUTCOME_WORDS, alive[CLO_OUTCOME_WORDS];
    bool is_first = true;

    memset(runs, 0xff, CLO_OUTCOME_WORDS * sizeof *runs);
    for (uint32_t e = graph->in_first[task]; e < graph->in_first[task + 1]; e++) {
        if (graph->control_flow->in_arm[e] == CLO_ARM_ORDER)
            continue;
        find_alive(d, e, alive);
        for (uint32_t w = 0; w < CLO_OUTCOME_WORDS; w++)
            runs[w] = graph->control_flow->is_merge[task] && !is_first ? runs[w] | alive[w] : runs[w] & alive[w];
        is_first = false;
    }
}

clo_status clo_outcomes_open(clo_outcomes *outcomes, const clo_graph *graph)
{
    clo_block block = {0};

    *outcomes = (clo_outcomes){0};
    clo_carve(&block, &outcomes->runs, (size_t)graph->tasks * CLO_OUTCOME_WORDS);
    outcomes->block = clo_block_allocate(&block);
    drawing d = {graph, outcomes->runs, clo_allocate(clo_graph_branches(graph) + (size_t)1, CLO_OUTCOMES)};
    if (outcomes->block == NULL || d.arms == NULL) {
        clo_outcomes_close(outcomes);
        clo_free(d.arms);
        return clo_fail_memory("the outcomes of branches");
    }
    d.runs = outcomes->runs;
    for (uint32_t b = 0; b < clo_graph_branches(graph); b++)
        draw(&d, b);
    if (graph->control_flow == NULL)
        memset(d.runs, 0xff, (size_t)graph->tasks * CLO_OUTCOME_WORDS * sizeof *d.runs);
    for (uint32_t i = 0; i < graph->tasks && graph->control_flow != NULL; i++)
        settle(&d, graph->task_order[i]);
    clo_free(d.arms);
    return CLO_OK;
}

void clo_outcomes_close(clo_outcomes *outcomes)
{
    clo_free(outcomes->block);
    *outcomes = (clo_outcomes){0};
}

uint32_t clo_outcomes_count(const clo_outcomes *outcomes, uint32_t task)
{
    uint32_t count = 0;

    for (uint32_t w = 0; w < CLO_OUTCOME_WORDS; w++)
        count += (uint32_t)__builtin_popcountll(outcomes->runs[(size_t)task * CLO_OUTCOME_WORDS + w]);
    return count;
}
