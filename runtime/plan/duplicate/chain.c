#include "plan/duplicate/chain.h"

#include <assert.h>

clo_inputs clo_draft_inputs(const clo_draft *draft, uint32_t instance, uint32_t executor)
{
    clo_inputs found = {0, 0, CLO_NONE};

    for (uint32_t arc = draft->graph->pred_first[instance]; arc < draft->graph->pred_first[instance + 1]; arc++) {
        int64_t arrival = clo_draft_arrival_ns(draft, arc, executor);
        if (found.arc == CLO_NONE || arrival > found.latest_ns) {
            found = (clo_inputs){arrival, found.latest_ns, arc};
        } else if (arrival > found.second_ns) {
            found.second_ns = arrival;
        }
    }
    return found;
}

bool clo_draft_may_duplicate(const clo_draft *draft, uint32_t instance, uint32_t executor)
{
    uint32_t task = draft->graph->task_of[instance];

    return draft->may_duplicate && draft->graph->rows[task].duplicable &&
           clo_cost_time(draft->cost, task, executor) != CLO_TIME_NEVER &&
           !clo_draft_has_copy(draft, instance, executor);
}

uint32_t clo_draft_room(const clo_draft *draft, uint32_t unplaced)
{
    assert(draft->capacity - draft->count >= unplaced);
    return draft->capacity - draft->count - unplaced;
}

clo_status clo_chain_place(const clo_chain *chain, clo_draft *draft)
{
    clo_status status = CLO_OK;

    for (uint32_t i = 0; status == CLO_OK && i < chain->count; i++)
        status = clo_draft_place(draft, chain->duplicates[i], chain->executor, chain->starts_ns[i]);
    return status == CLO_OK ? clo_draft_place(draft, chain->instance, chain->executor, chain->start_ns) : status;
}
