/* share.c - see share.h. Progressive filling: of all limits those that leave least to each of their flows settle them,
 * in the order of the flows; what they take is taken off the other limits that they cross, and so on. */
#include "plan/ports/share.h"

#include "base/memory.h"
#include "base/order/sort.h"
#include "base/status.h"

/* ---- which limits there are ---- */

typedef struct crossing {
    uint32_t from_machine, to_machine, message;
    uint64_t rate_q32;
} crossing;

static int by_pair(const void *a, const void *b)
{
    const crossing *x = a, *y = b;

    if (x->from_machine != y->from_machine)
        return x->from_machine < y->from_machine ? -1 : 1;
    if (x->to_machine != y->to_machine)
        return x->to_machine < y->to_machine ? -1 : 1;
    if (x->rate_q32 != y->rate_q32)
        return x->rate_q32 < y->rate_q32 ? -1 : 1;
    return x->message < y->message ? -1 : x->message > y->message;
}

/* Numbers the links that messages go over, and the rates on each. sorted: [messages_count] by_pair. */
static void number_limits(clo_share *share, const crossing *sorted)
{
    uint32_t count = share->messages->messages_count, links = 0, rates = 0;

    for (uint32_t i = 0; i < count; i++) {
        const crossing *c = &sorted[i], *before = i > 0 ? c - 1 : NULL;
        bool is_link = before == NULL || before->from_machine != c->from_machine || before->to_machine != c->to_machine;
        links += is_link;
        rates += is_link || before->rate_q32 != c->rate_q32;
        uint32_t *crosses = share->crosses[c->message];
        crosses[0] = c->from_machine;
        crosses[1] = share->machines + c->to_machine;
        crosses[2] = links - 1;
        crosses[3] = rates - 1;
    }
    share->first_link = 2 * share->machines;
    share->first_rate = share->first_link + links;
    share->limits_count = share->first_rate + rates;
    for (uint32_t m = 0; m < count; m++) {
        share->crosses[m][2] += share->first_link;
        share->crosses[m][3] += share->first_rate;
    }
}

static clo_status find_limits(clo_share *share)
{
    const clo_messages *messages = share->messages;
    uint32_t count = messages->messages_count;
    crossing *sorted = clo_allocate(count, sizeof *sorted);

    share->crosses = clo_allocate(count, sizeof *share->crosses);
    if (sorted == NULL || share->crosses == NULL)
        return clo_free(sorted), clo_fail_memory("the ports of a plan");
    for (uint32_t m = 0; m < count; m++) {
        const clo_message *message = &messages->list[m];
        sorted[m] = (crossing){message->from_machine, message->to_machine, m, message->rate_q32};
    }
    if (count > 0)
        clo_sort(sorted, count, sizeof *sorted, by_pair);
    number_limits(share, sorted);
    clo_free(sorted);
    return CLO_OK;
}

clo_status clo_share_open(clo_share *share, const clo_messages *messages)
{
    size_t count = messages->messages_count;

    *share = (clo_share){.messages = messages, .machines = messages->platform->machines_count};
    clo_status status = find_limits(share);
    if (status != CLO_OK)
        return status;
    share->limits = clo_allocate(share->limits_count, sizeof *share->limits);
    share->flows = clo_allocate(count, sizeof *share->flows);
    share->crossing = clo_allocate(count, CLO_SHARE_CROSSES * sizeof *share->crossing);
    share->list = clo_allocate(share->limits_count, sizeof *share->list);
    share->marks = clo_allocate(count / 64 + 1, sizeof *share->marks);
    share->heap.items = clo_allocate(share->limits_count, sizeof *share->heap.items);
    share->heap.capacity = share->limits_count;
    if (share->limits == NULL || share->flows == NULL || share->crossing == NULL || share->list == NULL ||
        share->marks == NULL || share->heap.items == NULL)
        return clo_fail_memory("the ports of a plan");
    return CLO_OK;
}

void clo_share_close(clo_share *share)
{
    clo_free(share->crosses);
    clo_free(share->limits);
    clo_free(share->flows);
    clo_free(share->crossing);
    clo_free(share->list);
    clo_free(share->marks);
    clo_free(share->heap.items);
    *share = (clo_share){0};
}

/* ---- rates ---- */

static const clo_message *message_of(const clo_share *share, const clo_flow *flow)
{
    return &share->messages->list[flow->message];
}

void clo_share_add(clo_share *share, uint32_t message)
{
    clo_flow *flow = &share->flows[share->flows_count++];

    share->has_changed = true;
    *flow = (clo_flow){.message = message};
    flow->left_q32 = (clo_u128)message_of(share, flow)->bytes << 32;
}

/* The limit as if nothing moved. A link moves what the fastest of its messages could: see open_limits. */
static clo_limit limit_alone(const clo_share *share, uint32_t at, uint64_t rate_q32)
{
    const uint64_t *port_q32 = share->messages->platform->port_q32;

    if (at >= share->first_link)
        return (clo_limit){.left_q32 = rate_q32};
    uint64_t mine = port_q32 != NULL ? port_q32[at % share->machines] : 0;
    return (clo_limit){.left_q32 = mine > 0 ? mine : UINT64_MAX};
}

/* Limits that are crossed, and the flows of each; returns how many. */
static uint32_t open_limits(clo_share *share)
{
    uint32_t count = 0;

    for (uint32_t f = 0; f < share->flows_count; f++) {
        const uint32_t *crosses = share->crosses[share->flows[f].message];
        uint64_t rate_q32 = message_of(share, &share->flows[f])->rate_q32;
        share->flows[f].is_settled = false;
        for (int k = 0; k < CLO_SHARE_CROSSES; k++) {
            clo_limit *limit = &share->limits[crosses[k]];
            if (limit->flows == 0) {
                share->list[count++] = crosses[k];
                *limit = limit_alone(share, crosses[k], rate_q32);
            }
            if (crosses[k] >= share->first_link && rate_q32 > limit->left_q32)
                limit->left_q32 = rate_q32;
            limit->flows++;
        }
    }
    for (uint32_t i = 0, sum = 0; i < count; i++) {
        clo_limit *limit = &share->limits[share->list[i]];
        limit->first = limit->end = sum;
        sum += limit->flows;
    }
    for (uint32_t f = 0; f < share->flows_count; f++)
        for (int k = 0; k < CLO_SHARE_CROSSES; k++)
            share->crossing[share->limits[share->crosses[share->flows[f].message][k]].end++] = f;
    return count;
}

/* What the limit leaves to each of its flows; a rate is not divided. */
static uint64_t share_of_limit(const clo_share *share, uint32_t at)
{
    const clo_limit *limit = &share->limits[at];
    bool is_whole = at >= share->first_rate || limit->left_q32 == UINT64_MAX;
    uint64_t mine = is_whole ? limit->left_q32 : limit->left_q32 / limit->flows;

    return mine > 0 ? mine : 1;
}

/* The least that a limit leaves to the flow. */
static uint64_t share_of(const clo_share *share, const clo_flow *flow)
{
    uint64_t least = UINT64_MAX;

    for (int k = 0; k < CLO_SHARE_CROSSES; k++) {
        uint64_t mine = share_of_limit(share, share->crosses[flow->message][k]);
        least = mine < least ? mine : least;
    }
    return least;
}

static void settle(clo_share *share, clo_flow *flow, uint64_t rate_q32)
{
    flow->rate_q32 = rate_q32;
    flow->is_settled = true;
    for (int k = 0; k < CLO_SHARE_CROSSES; k++) {
        uint32_t at = share->crosses[flow->message][k];
        clo_limit *limit = &share->limits[at];
        limit->flows--;
        if (at < share->first_rate && limit->left_q32 != UINT64_MAX)
            limit->left_q32 -= rate_q32 < limit->left_q32 ? rate_q32 : limit->left_q32;
    }
}

/* The heap's keys have a sign. */
static int64_t key_of(uint64_t rate_q32)
{
    return rate_q32 > INT64_MAX ? (int64_t)(rate_q32 - INT64_MAX - 1) : (int64_t)rate_q32 + INT64_MIN;
}

/* Takes the limits that leave least from the heap, and marks their flows. Returns how many limits: 0: all is settled.
 * What a limit leaves only grows while others settle, so an old key is never too large. */
static uint32_t take_least(clo_share *share, uint64_t *least_q32)
{
    uint32_t count = 0;

    while (share->heap.count > 0) { /* ends: a limit is taken, or gets its present key once */
        if (count > 0 && share->heap.items[0].key > key_of(*least_q32))
            break;
        clo_heap_item top = clo_heap_pop(&share->heap);
        uint32_t at = (uint32_t)top.id;
        const clo_limit *limit = &share->limits[at];
        if (limit->flows == 0)
            continue;
        uint64_t mine = share_of_limit(share, at);
        if (top.key != key_of(mine)) {
            clo_heap_push(&share->heap, key_of(mine), at);
            continue;
        }
        *least_q32 = mine;
        share->list[count++] = at;
        for (uint32_t i = limit->first; i < limit->end; i++)
            if (!share->flows[share->crossing[i]].is_settled)
                share->marks[share->crossing[i] / 64] |= (uint64_t)1 << share->crossing[i] % 64;
    }
    return count;
}

/* Settles the flows that are marked, in their order, as long as a limit leaves them no more than that. */
static void settle_marked(clo_share *share, uint64_t least_q32)
{
    for (uint32_t word = 0; word <= share->flows_count / 64; word++)
        for (; share->marks[word] != 0; share->marks[word] &= share->marks[word] - 1) {
            clo_flow *flow = &share->flows[word * 64 + (uint32_t)__builtin_ctzll(share->marks[word])];
            if (share_of(share, flow) <= least_q32)
                settle(share, flow, least_q32);
        }
}

void clo_share_rates(clo_share *share)
{
    if (!share->has_changed)
        return;
    uint32_t count = open_limits(share);
    uint64_t least_q32 = 0;

    share->has_changed = false;
    share->heap.count = 0;
    for (uint32_t i = 0; i < count; i++)
        clo_heap_push(&share->heap, key_of(share_of_limit(share, share->list[i])), share->list[i]);
    while ((count = take_least(share, &least_q32)) > 0) { /* ends: each round settles a flow at least */
        settle_marked(share, least_q32);
        for (uint32_t i = 0; i < count; i++)
            if (share->limits[share->list[i]].flows > 0)
                clo_heap_push(&share->heap, key_of(share_of_limit(share, share->list[i])), share->list[i]);
    }
}

int64_t clo_share_next_ns(const clo_share *share)
{
    int64_t next_ns = INT64_MAX;

    for (uint32_t f = 0; f < share->flows_count; f++) {
        const clo_flow *flow = &share->flows[f];
        if (flow->left_q32 > (clo_u128)flow->rate_q32 * (uint64_t)(next_ns - 1)) /* far cheaper than the division */
            continue;
        next_ns = (int64_t)((flow->left_q32 + flow->rate_q32 - 1) / flow->rate_q32);
        if (next_ns == 0)
            break;
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
        share->has_changed = true;
        return message;
    }
    return CLO_NONE;
}
