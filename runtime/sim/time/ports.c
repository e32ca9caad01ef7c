/* ports.c - see ports.h. */
#include "sim/time/ports.h"

#include "base/memory.h"
#include "base/status.h"
#include "engine/program/replay.h"
#include "plan/ports/network.h"

struct clo_sim_ports {
    clo_network network;
    uint32_t *execution_of; /* [placements] */
    uint32_t *placement_of; /* [executions] */
    uint32_t *awaited;      /* [placements] inputs that are in messages and not there */
    int64_t *begin_ns;      /* [placements] of those that wait; -1: it does not */
    uint32_t next, end;     /* consumers, in `far`, of the message that has come */
};

static void number(clo_sim_ports *p, const clo_program *program, const clo_placement *placements, size_t count)
{
    uint32_t replicas = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t execution = clo_replay_execution(program, &placements[i], &replicas);
        p->execution_of[i] = execution;
        p->placement_of[execution] = i;
    }
}

clo_status clo_sim_ports_open(const clo_program *program, const clo_placement *placements, size_t count,
                              clo_sim_ports **out)
{
    clo_sim_ports *p = clo_allocate(1, sizeof *p);

    if (p == NULL)
        return clo_fail_memory("a simulation");
    clo_status status = clo_network_open(&p->network, program->cost, placements, count);
    p->execution_of = clo_allocate(count, sizeof *p->execution_of);
    p->placement_of = clo_allocate(program->executions, sizeof *p->placement_of);
    p->awaited = clo_allocate(count, sizeof *p->awaited);
    p->begin_ns = clo_allocate(count, sizeof *p->begin_ns);
    bool is_there = p->execution_of != NULL && p->placement_of != NULL && p->awaited != NULL && p->begin_ns != NULL;
    if (status == CLO_OK && !is_there)
        status = clo_fail_memory("a simulation");
    if (status != CLO_OK)
        return clo_sim_ports_close(p), status;
    number(p, program, placements, count);
    for (size_t i = 0; i < count; i++)
        p->begin_ns[i] = -1;
    for (size_t i = 0; i < p->network.messages.far_count; i++)
        p->awaited[p->network.messages.far[i].to]++;
    *out = p;
    return CLO_OK;
}

void clo_sim_ports_close(clo_sim_ports *p)
{
    if (p == NULL)
        return;
    clo_network_close(&p->network);
    clo_free(p->execution_of);
    clo_free(p->placement_of);
    clo_free(p->awaited);
    clo_free(p->begin_ns);
    clo_free(p);
}

bool clo_sim_ports_wait(clo_sim_ports *p, uint32_t execution, int64_t begin_ns)
{
    uint32_t placement = p->placement_of[execution];

    if (p->awaited[placement] == 0)
        return false;
    p->begin_ns[placement] = begin_ns;
    return true;
}

void clo_sim_ports_send(clo_sim_ports *p, uint32_t execution)
{
    clo_network_send(&p->network, p->placement_of[execution]);
}

int64_t clo_sim_ports_next_ns(clo_sim_ports *p)
{
    return clo_network_next_ns(&p->network);
}

void clo_sim_ports_go(clo_sim_ports *p, int64_t at_ns)
{
    clo_network_go(&p->network, at_ns);
}

uint32_t clo_sim_ports_take(clo_sim_ports *p, int64_t *begin_ns)
{
    for (;;) { /* ends: each round takes a message, or a consumer of one */
        for (; p->next < p->end; p->next++) {
            uint32_t to = p->network.messages.far[p->next].to;
            if (--p->awaited[to] > 0 || p->begin_ns[to] < 0)
                continue;
            *begin_ns = p->begin_ns[to];
            p->begin_ns[to] = -1;
            p->next++;
            return p->execution_of[to];
        }
        uint32_t message = clo_network_take(&p->network);
        if (message == CLO_NONE)
            return CLO_NONE;
        p->next = p->network.messages.list[message].first;
        p->end = p->network.messages.list[message].end;
    }
}
