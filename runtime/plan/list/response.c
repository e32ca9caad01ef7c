/* plan/list/response.c - see response.h. */
#include "plan/list/response.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"

#include <assert.h>

enum { DEPTH_MAX = 33 }; /* deeper than any tree of UINT32_MAX leaves */

clo_status clo_response_open(clo_response *response, const clo_cost *cost)
{
    clo_block block = {0};

    *response = (clo_response){.cost = cost, .leaves = 2};
    while (response->leaves < cost->graph->tasks)
        response->leaves *= 2;
    clo_carve(&block, &response->matches, 2 * (size_t)response->leaves);
    clo_carve(&block, &response->since_ns, cost->graph->tasks);
    response->block = clo_block_allocate(&block);
    if (response->block == NULL)
        return clo_fail_memory("a plan");
    for (size_t i = 0; i < 2 * (size_t)response->leaves; i++)
        response->matches[i] = (clo_match){INT64_MAX, CLO_NONE};
    return CLO_OK;
}

void clo_response_close(clo_response *response)
{
    clo_free(response->block);
    *response = (clo_response){0};
}

static int64_t time_of(const clo_response *r, uint32_t task)
{
    int64_t time_ns = r->cost->mean_ns[task];

    return time_ns > 0 ? time_ns : 1;
}

/* wait_a / time_a against wait_b / time_b, crosswise. */
static bool beats(const clo_response *r, uint32_t a, uint32_t b, int64_t now_ns)
{
    clo_u128 left = (clo_u128)(uint64_t)(now_ns - r->since_ns[a]) * (uint64_t)time_of(r, b);
    clo_u128 right = (clo_u128)(uint64_t)(now_ns - r->since_ns[b]) * (uint64_t)time_of(r, a);

    return left != right ? left > right : a < b;
}

/* Until when `a`, which leads now, leads `b`: for ever where b's ratio grows no faster. */
static int64_t leads_until_ns(const clo_response *r, uint32_t a, uint32_t b, int64_t now_ns)
{
    int64_t time_a = time_of(r, a), time_b = time_of(r, b);

    if (time_b >= time_a)
        return INT64_MAX;
    clo_u128 ahead = (clo_u128)(uint64_t)(now_ns - r->since_ns[a]) * (uint64_t)time_b -
                     (clo_u128)(uint64_t)(now_ns - r->since_ns[b]) * (uint64_t)time_a;
    if (ahead > 0 && b < a) /* an equal ratio would be lost */
        ahead--;
    clo_u128 wait = ahead / (uint64_t)(time_a - time_b);
    return wait > INT64_MAX ? INT64_MAX : clo_time_add(now_ns, (int64_t)wait);
}

static void play(clo_response *r, uint32_t at, int64_t now_ns)
{
    const clo_match *a = &r->matches[2 * at], *b = &r->matches[2 * at + 1];
    int64_t until_ns = a->until_ns < b->until_ns ? a->until_ns : b->until_ns, own_ns = INT64_MAX;
    uint32_t winner = a->winner != CLO_NONE ? a->winner : b->winner;

    if (a->winner != CLO_NONE && b->winner != CLO_NONE) {
        bool is_first = beats(r, a->winner, b->winner, now_ns);
        winner = is_first ? a->winner : b->winner;
        own_ns = leads_until_ns(r, winner, is_first ? b->winner : a->winner, now_ns);
    }
    r->matches[at] = (clo_match){own_ns < until_ns ? own_ns : until_ns, winner};
}

static void enter(clo_response *r, uint32_t task, uint32_t winner, int64_t now_ns)
{
    r->matches[r->leaves + task].winner = winner;
    for (uint32_t at = (r->leaves + task) / 2; at > 0; at /= 2)
        play(r, at, now_ns);
}

void clo_response_add(clo_response *response, uint32_t task, int64_t since_ns, int64_t now_ns)
{
    assert(since_ns <= now_ns);
    response->since_ns[task] = since_ns;
    enter(response, task, task, now_ns);
}

void clo_response_remove(clo_response *response, uint32_t task, int64_t now_ns)
{
    enter(response, task, CLO_NONE, now_ns);
}

/* Plays again what does not hold any more, from the leaves up. */
uint32_t clo_response_first(clo_response *response, int64_t now_ns)
{
    struct {
        uint32_t at;
        bool is_below_done;
    } stack[2 * DEPTH_MAX];
    uint32_t depth = 0;

    stack[depth].is_below_done = false;
    stack[depth].at = 1;
    depth += response->matches[1].until_ns < now_ns;
    while (depth > 0) { /* ends: each match is put on it once at most */
        uint32_t at = stack[depth - 1].at;
        if (stack[depth - 1].is_below_done) {
            play(response, at, now_ns);
            depth--;
            continue;
        }
        stack[depth - 1].is_below_done = true;
        for (uint32_t child = 2 * at; child <= 2 * at + 1; child++)
            if (child < response->leaves && response->matches[child].until_ns < now_ns) {
                stack[depth].at = child;
                stack[depth++].is_below_done = false;
            }
    }
    return response->matches[1].winner;
}
