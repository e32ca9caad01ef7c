/* slowing.c - see slowing.h. What is left of an execution is kept in 2^-32 ns of its time alone, so that nothing is
 * lost where its speed changes. A time that is told is rounded to the nearest ns; an execution that is never slowed takes
 * what it takes alone, and one that is slowed never less. */
#include "sim/slowing.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "platform/model/platform.h"
#include "profile/memory.h"

#include <assert.h>
#include <stdio.h>

#define AS_ALONE (UINT64_C(1) << 48)

typedef struct running {
    uint32_t execution, memory;
    clo_memory_part part;
    int64_t left_ns; /* alone, and the rest of it below */
    uint32_t left_q32;
    uint64_t slowdown_q48;
} running;

struct clo_slowing {
    clo_slowing_config config;
    int64_t now_ns;
    running *running; /* [count], at most config.executions */
    clo_memory_part *parts;
    uint32_t *memory_of; /* [executors] */
    uint32_t count, kinds;
    uint32_t changed; /* the memory of the one that ended last; CLO_NONE: settled */
};

clo_status clo_slowing_check(const clo_cost *cost, const clo_memory_part *parts)
{
    size_t kinds = cost->platform->kinds_count;
    char of[64];

    for (size_t i = 0; i < cost->graph->tasks * kinds; i++) {
        snprintf(of, sizeof of, "task %zu on kind %zu", i / kinds, i % kinds);
        clo_status status = clo_memory_check_part(&parts[i], of);
        if (status != CLO_OK)
            return status;
    }
    for (uint32_t e = 0; e < cost->platform->executors_count; e++)
        if (clo_memory_capacity_mbps(cost->platform, e, NULL) == 0)
            return clo_fail(CLO_ERR_ARGUMENT,
                            "the capacity " CLO_MEMORY_RESOURCE " of \"%.60s\" is 0; state what the memory moves, or "
                            "leave it out",
                            cost->platform->name);
    return CLO_OK;
}

static bool can_slow(const clo_cost *cost, const clo_memory_part *parts)
{
    const clo_platform *platform = cost->platform;
    bool is_any = false;

    for (uint32_t e = 0; e < platform->executors_count && !is_any; e++)
        is_any = clo_memory_capacity_mbps(platform, e, NULL) > 0;
    for (size_t i = 0; is_any && i < (size_t)cost->graph->tasks * platform->kinds_count; i++)
        if (parts[i].share_q16 > 0)
            return true;
    return false;
}

clo_status clo_slowing_open(const clo_slowing_config *config, clo_slowing **out)
{
    const clo_platform *platform = config->cost->platform;

    *out = NULL;
    if (!can_slow(config->cost, config->parts))
        return CLO_OK;
    clo_slowing *c = clo_allocate(1, sizeof *c);
    if (c == NULL)
        return clo_fail_memory("a simulation");
    c->config = *config;
    c->kinds = platform->kinds_count;
    c->changed = CLO_NONE;
    c->running = clo_allocate(config->executions, sizeof *c->running);
    c->parts = clo_allocate(config->executions, sizeof *c->parts);
    c->memory_of = clo_allocate(platform->executors_count, sizeof *c->memory_of);
    if (c->running == NULL || c->parts == NULL || c->memory_of == NULL)
        return clo_slowing_close(c), clo_fail_memory("a simulation");
    for (uint32_t e = 0; e < platform->executors_count; e++)
        (void)clo_memory_capacity_mbps(platform, e, &c->memory_of[e]);
    *out = c;
    return CLO_OK;
}

void clo_slowing_close(clo_slowing *c)
{
    if (c == NULL)
        return;
    clo_free(c->running);
    clo_free(c->parts);
    clo_free(c->memory_of);
    clo_free(c);
}

static const clo_memory_part *part_of(const clo_slowing *c, uint32_t task, uint32_t executor)
{
    return &c->config.parts[(size_t)task * c->kinds + c->config.cost->platform->executors[executor].kind];
}

bool clo_slowing_has(const clo_slowing *c, uint32_t task, uint32_t executor)
{
    return c->memory_of[executor] != CLO_NONE && part_of(c, task, executor)->share_q16 > 0;
}

/* Where it stands; `count`: it does not run. */
static uint32_t find(const clo_slowing *c, uint32_t execution)
{
    uint32_t i = 0;

    while (i < c->count && c->running[i].execution != execution)
        i++;
    return i;
}

bool clo_slowing_runs(const clo_slowing *c, uint32_t execution)
{
    return find(c, execution) < c->count;
}

/* What is done in that time. */
static void work(running *r, int64_t ns)
{
    clo_u128 wide = (clo_u128)(uint64_t)ns << 48;
    clo_u128 done_q32 = wide / r->slowdown_q48 << 32 | (wide % r->slowdown_q48 << 32) / r->slowdown_q48;
    clo_u128 left_q32 = (clo_u128)(uint64_t)r->left_ns << 32 | r->left_q32;

    left_q32 = left_q32 > done_q32 ? left_q32 - done_q32 : 0;
    r->left_ns = (int64_t)(left_q32 >> 32);
    r->left_q32 = (uint32_t)left_q32;
}

static void go_on(clo_slowing *c, int64_t now_ns)
{
    assert(now_ns >= c->now_ns);
    for (uint32_t i = 0; i < c->count && now_ns > c->now_ns; i++)
        work(&c->running[i], now_ns - c->now_ns);
    c->now_ns = now_ns;
}

/* To the nearest ns. */
static int64_t finish_ns(const running *r, int64_t now_ns)
{
    clo_u128 ns = ((clo_u128)(uint64_t)r->left_ns * r->slowdown_q48 + ((clo_u128)r->left_q32 * r->slowdown_q48 >> 32) +
                   AS_ALONE / 2) >>
                  48;

    return clo_time_add(now_ns, ns > INT64_MAX ? INT64_MAX : (int64_t)ns);
}

/* Another set of executions runs on the memory. `begun`: one that has no end yet; CLO_NONE: none. */
static void share(clo_slowing *c, uint32_t memory, uint32_t begun)
{
    int64_t capacity_mbps = c->config.cost->platform->capacities[memory]; /* as profile/memory.c numbers them */
    uint32_t count = 0;

    for (uint32_t i = 0; i < c->count; i++)
        if (c->running[i].memory == memory)
            c->parts[count++] = c->running[i].part;
    uint64_t stretch_q32 = clo_memory_stretch_q32(c->parts, count, capacity_mbps);
    for (uint32_t i = 0; i < c->count; i++) {
        running *r = &c->running[i];
        uint64_t slowdown_q48 = clo_memory_slowdown_q48(r->part, stretch_q32);
        if (r->memory != memory || (r->slowdown_q48 == slowdown_q48 && r->execution != begun))
            continue;
        r->slowdown_q48 = slowdown_q48;
        c->config.move(c->config.driver, r->execution, finish_ns(r, c->now_ns));
    }
}

void clo_slowing_begin(clo_slowing *c, uint32_t execution, uint32_t task, uint32_t executor, int64_t now_ns,
                       int64_t length_ns)
{
    assert(clo_slowing_has(c, task, executor) && length_ns > 0);
    assert(c->count < c->config.executions);
    go_on(c, now_ns);
    c->running[c->count++] = (running){.execution = execution,
                                       .memory = c->memory_of[executor],
                                       .part = *part_of(c, task, executor),
                                       .left_ns = length_ns,
                                       .slowdown_q48 = AS_ALONE};
    share(c, c->memory_of[executor], execution);
}

void clo_slowing_end(clo_slowing *c, uint32_t execution, int64_t now_ns)
{
    uint32_t at = find(c, execution);

    if (at == c->count)
        return;
    go_on(c, now_ns);
    c->changed = c->running[at].memory;
    c->running[at] = c->running[--c->count];
}

void clo_slowing_settle(clo_slowing *c)
{
    if (c->changed != CLO_NONE)
        share(c, c->changed, CLO_NONE);
    c->changed = CLO_NONE;
}
