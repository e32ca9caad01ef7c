/* network.c - see network.h. */
#include "plan/ports/network.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "graph/shape/branch.h"

static bool is_large(const clo_network *n, uint32_t message)
{
    return n->messages.list[message].bytes > CLO_PORT_LARGE_BYTES;
}

/* Room for all large messages of each machine. */
static clo_status open_urgent(clo_network *n)
{
    uint32_t machines = n->messages.platform->machines_count;
    size_t sum = 0;

    n->urgent = clo_allocate(machines, sizeof *n->urgent);
    n->urgent_items = clo_allocate(n->messages.messages_count, sizeof *n->urgent_items);
    if (n->urgent == NULL || n->urgent_items == NULL)
        return clo_fail_memory("the ports of a plan");
    for (uint32_t i = 0; i < n->messages.messages_count; i++)
        n->urgent[n->messages.list[i].from_machine].capacity += is_large(n, i);
    for (uint32_t m = 0; m < machines; m++) {
        n->urgent[m].items = &n->urgent_items[sum];
        sum += n->urgent[m].capacity;
    }
    return CLO_OK;
}

clo_status clo_network_open(clo_network *n, const clo_cost *cost, const clo_placement *placements, size_t count)
{
    *n = (clo_network){0};
    clo_status status = clo_graph_refuse_control_flow(clo_cost_graph(cost), "a platform with ports");
    if (status == CLO_OK && count >= CLO_NONE / 2)
        status = clo_fail(CLO_ERR_LIMIT, "the plan has 2^31 executions or more; leave the ports of machines out");
    if (status == CLO_OK)
        status = clo_messages_open(&n->messages, cost, placements, count);
    if (status == CLO_OK)
        status = clo_share_open(&n->share, &n->messages);
    if (status != CLO_OK)
        return status;
    status = open_urgent(n);
    if (status != CLO_OK)
        return status;
    size_t messages = n->messages.messages_count;
    n->sent_ns = clo_allocate(messages, sizeof *n->sent_ns);
    n->flows = clo_allocate(n->messages.platform->machines_count, sizeof *n->flows);
    n->travelling.items = clo_allocate(messages, sizeof *n->travelling.items);
    n->travelling.capacity = messages;
    n->ready.items = clo_allocate(messages, sizeof *n->ready.items);
    n->ready.capacity = messages;
    if (n->ready.items == NULL || n->sent_ns == NULL || n->flows == NULL || n->travelling.items == NULL)
        return clo_fail_memory("the ports of a plan");
    return CLO_OK;
}

void clo_network_close(clo_network *n)
{
    clo_share_close(&n->share);
    clo_messages_close(&n->messages);
    clo_free(n->urgent);
    clo_free(n->urgent_items);
    clo_free(n->flows);
    clo_free(n->sent_ns);
    clo_free(n->travelling.items);
    clo_free(n->ready.items);
    *n = (clo_network){0};
}

static void send_urgent(clo_network *n, uint32_t machine)
{
    clo_heap *urgent = &n->urgent[machine];

    for (; n->flows[machine] < CLO_PORT_FLOWS && urgent->count > 0; n->flows[machine]++)
        clo_share_add(&n->share, (uint32_t)clo_heap_pop(urgent).id);
}

void clo_network_send(clo_network *n, uint32_t placement)
{
    for (uint32_t i = n->messages.first_message[placement]; i < n->messages.first_message[placement + 1]; i++) {
        uint32_t message = n->messages.sent[i];
        n->sent_ns[message] = n->now_ns;
        clo_heap_push(&n->ready, message, message);
    }
}

/* First all large ones stand in line, then the most urgent of each machine go. */
static void set_out(clo_network *n)
{
    const clo_message *list = n->messages.list;

    for (size_t i = 0; i < n->ready.count; i++) {
        uint32_t message = (uint32_t)n->ready.items[i].id;
        if (is_large(n, message))
            clo_heap_push(&n->urgent[list[message].from_machine], -list[message].rank_u, message);
    }
    while (n->ready.count > 0) {
        uint32_t message = (uint32_t)clo_heap_pop(&n->ready).id;
        if (is_large(n, message))
            send_urgent(n, list[message].from_machine);
        else
            clo_share_add(&n->share, message);
    }
}

/* The last byte has left; no message is there earlier than it would be alone. */
static void went(clo_network *n, uint32_t message)
{
    const clo_message *m = &n->messages.list[message];
    int64_t there_ns = clo_time_add(n->now_ns, m->latency_ns);
    int64_t alone_ns = clo_time_add(n->sent_ns[message], m->alone_ns);

    if (is_large(n, message)) {
        n->flows[m->from_machine]--;
        send_urgent(n, m->from_machine);
    }
    clo_heap_push(&n->travelling, there_ns > alone_ns ? there_ns : alone_ns, message);
}

int64_t clo_network_next_ns(clo_network *n)
{
    set_out(n);
    clo_share_rates(&n->share);
    int64_t moves_ns = clo_share_next_ns(&n->share);
    int64_t next_ns = moves_ns == INT64_MAX ? INT64_MAX : clo_time_add(n->now_ns, moves_ns);

    return n->travelling.count > 0 && n->travelling.items[0].key < next_ns ? n->travelling.items[0].key : next_ns;
}

void clo_network_go(clo_network *n, int64_t at_ns)
{
    clo_share_move(&n->share, at_ns - n->now_ns);
    n->now_ns = at_ns;
    for (uint32_t message; (message = clo_share_take(&n->share)) != CLO_NONE;)
        went(n, message);
}

uint32_t clo_network_take(clo_network *n)
{
    if (n->travelling.count == 0 || n->travelling.items[0].key > n->now_ns)
        return CLO_NONE;
    return (uint32_t)clo_heap_pop(&n->travelling).id;
}
