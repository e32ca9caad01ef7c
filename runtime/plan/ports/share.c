/* share.c - see share.h. Progressive filling: of all limits the one that leaves least to each of its flows settles
 * them, what they take is taken off the other limits that they cross, and so on. The flow's own link is a limit,
 * too. */
#include "plan/ports/share.h"

#include "base/memory.h"
#include "base/status.h"

clo_status clo_share_open(clo_share *share, const clo_messages *messages)
{
    uint32_t machines = messages->platform->machines_count;

    *share = (clo_share){.messages = messages, .machines = machines};
    share->ports = clo_allocate((size_t)machines * 2, sizeof *share->ports);
    share->links = clo_allocate(messages->messages_count, sizeof *share->links);
    share->flows = clo_allocate(messages->messages_count, sizeof *share->flows);
    if (share->ports == NULL || share->links == NULL || share->flows == NULL)
        return clo_fail_memory("the ports of a plan");
    return CLO_OK;
}

void clo_share_close(clo_share *share)
{
    clo_free(share->ports);
    clo_free(share->links);
    clo_free(share->flows);
    *share = (clo_share){0};
}

static const clo_message *message_of(const clo_share *share, const clo_flow *flow)
{
    return &share->messages->list[flow->message];
}

void clo_share_add(clo_share *share, uint32_t message)
{
    clo_flow *flow = &share->flows[share->flows_count++];

    *flow = (clo_flow){.message = message};
    flow->crosses[0] = message_of(share, flow)->from_machine;
    flow->crosses[1] = share->machines + message_of(share, flow)->to_machine;
    flow->left_q32 = (clo_u128)message_of(share, flow)->bytes << 32;
}

static clo_port *limit_of(const clo_share *share, const clo_flow *flow, int at)
{
    return at < 2 ? &share->ports[flow->crosses[at]] : &share->links[flow->crosses[2]];
}

/* The first flow between the same machines; itself, if there is none before it. */
static uint32_t first_of_pair(const clo_share *share, uint32_t at)
{
    const uint32_t *mine = share->flows[at].crosses;
    uint32_t first = 0;

    while (share->flows[first].crosses[0] != mine[0] || share->flows[first].crosses[1] != mine[1])
        first++; /* ends: at `at` */
    return first;
}

/* All limits as if nothing moved. A link moves what the fastest of its messages could. */
static void open_limits(clo_share *share)
{
    const uint64_t *port_q32 = share->messages->platform->port_q32;

    for (uint32_t m = 0; m < share->machines * 2; m++) {
        uint64_t mine = port_q32 != NULL ? port_q32[m % share->machines] : 0;
        share->ports[m] = (clo_port){mine > 0 ? mine : UINT64_MAX, 0};
    }
    for (uint32_t f = 0; f < share->flows_count; f++) {
        clo_flow *flow = &share->flows[f];
        flow->is_settled = false;
        flow->crosses[2] = first_of_pair(share, f);
        clo_port *link = &share->links[flow->crosses[2]];
        if (flow->crosses[2] == f)
            *link = (clo_port){0, 0};
        if (message_of(share, flow)->rate_q32 > link->left_q32)
            link->left_q32 = message_of(share, flow)->rate_q32;
        for (int at = 0; at < 3; at++)
            limit_of(share, flow, at)->flows++;
    }
}

/* The least that a limit leaves to the flow. */
static uint64_t share_of(const clo_share *share, const clo_flow *flow)
{
    uint64_t least = message_of(share, flow)->rate_q32;

    for (int at = 0; at < 3; at++) {
        const clo_port *limit = limit_of(share, flow, at);
        uint64_t mine = limit->left_q32 == UINT64_MAX ? UINT64_MAX : limit->left_q32 / limit->flows;
        least = mine < least ? mine : least;
    }
    return least > 0 ? least : 1;
}

static void settle(const clo_share *share, clo_flow *flow, uint64_t rate_q32)
{
    flow->rate_q32 = rate_q32;
    flow->is_settled = true;
    for (int at = 0; at < 3; at++) {
        clo_port *limit = limit_of(share, flow, at);
        limit->flows--;
        if (limit->left_q32 != UINT64_MAX)
            limit->left_q32 -= rate_q32 < limit->left_q32 ? rate_q32 : limit->left_q32;
    }
}

void clo_share_rates(clo_share *share)
{
    uint32_t left = share->flows_count;

    open_limits(share);
    while (left > 0) { /* ends: each round settles the flow with the least at least */
        uint64_t least = UINT64_MAX;
        for (uint32_t f = 0; f < share->flows_count; f++) {
            uint64_t mine = share->flows[f].is_settled ? UINT64_MAX : share_of(share, &share->flows[f]);
            least = mine < least ? mine : least;
        }
        for (uint32_t f = 0; f < share->flows_count; f++)
            if (!share->flows[f].is_settled && share_of(share, &share->flows[f]) <= least) {
                settle(share, &share->flows[f], least);
                left--;
            }
    }
}

int64_t clo_share_next_ns(const clo_share *share)
{
    int64_t next_ns = INT64_MAX;

    for (uint32_t f = 0; f < share->flows_count; f++) {
        const clo_flow *flow = &share->flows[f];
        clo_u128 ns = (flow->left_q32 + flow->rate_q32 - 1) / flow->rate_q32;
        if (ns < (clo_u128)next_ns)
            next_ns = (int64_t)ns;
    }
    return next_ns;
}

void clo_share_move(clo_share *share, int64_t ns)
{
    for (uint32_t f = 0; f < share->flows_count; f++) {
        clo_flow *flow = &share->flows[f];
        clo_u128 moved = (clo_u128)flow->rate_q32 * (uint64_t)ns;
        flow->left_q32 = moved < flow->left_q32 ? flow->left_q32 - moved : 0;
    }
}

uint32_t clo_share_take(clo_share *share)
{
    for (uint32_t f = 0; f < share->flows_count; f++) {
        if (share->flows[f].left_q32 > 0)
            continue;
        uint32_t message = share->flows[f].message;
        for (uint32_t i = f + 1; i < share->flows_count; i++) /* the order stays: it decides who comes first */
            share->flows[i - 1] = share->flows[i];
        share->flows_count--;
        return message;
    }
    return CLO_NONE;
}
