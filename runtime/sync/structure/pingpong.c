/* pingpong.c - see pingpong.h. */
#define _POSIX_C_SOURCE 200809L
#include "sync/structure/pingpong.h"

#include "base/memory.h"
#include "sync/sleep/park.h"

#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>

#define SPINS_BEFORE_RELAX 1024 /* a rally is quicker than that                                                   */
#define SPINS_BEFORE_YIELD 16384

struct clo_pingpong {
    /* A line to spare on either side: the adjacent-line prefetcher would drag a neighbour along. */
    char before[CLO_CACHE_LINE_BYTES];
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint32_t ball;
    char after[2 * CLO_CACHE_LINE_BYTES - sizeof(uint32_t)];
};

clo_pingpong *clo_pingpong_create(void)
{
    return clo_allocate_aligned(1, sizeof(clo_pingpong));
}

void clo_pingpong_destroy(clo_pingpong *pingpong)
{
    clo_free(pingpong);
}

void clo_pingpong_pass(clo_pingpong *pingpong, uint32_t turn)
{
    /* [A] release, pairs with [B]: hands over the plain data (commands, buffers) written before. */
    atomic_store_explicit(&pingpong->ball, turn, memory_order_release);
}

void clo_pingpong_wait(clo_pingpong *pingpong, uint32_t turn)
{
    uint32_t spins = 0;

    /* [B] acquire, pairs with [A]. Ends when the partner passes, which it does after a bounded piece of work. */
    while (atomic_load_explicit(&pingpong->ball, memory_order_acquire) != turn) {
        if (++spins % SPINS_BEFORE_YIELD == 0)
            sched_yield();
        else if (spins > SPINS_BEFORE_RELAX) /* who waits long leaves a core that it shares to its neighbour */
            clo_relax();
    }
}

uint32_t clo_pingpong_serve(clo_pingpong *pingpong, uint32_t turn, uint32_t rounds)
{
    for (uint32_t r = 0; r < rounds; r++, turn += 2) {
        clo_pingpong_pass(pingpong, turn + 1);
        clo_pingpong_wait(pingpong, turn + 2);
    }
    return turn;
}

uint32_t clo_pingpong_return(clo_pingpong *pingpong, uint32_t turn, uint32_t rounds)
{
    for (uint32_t r = 0; r < rounds; r++, turn += 2) {
        clo_pingpong_wait(pingpong, turn + 1);
        clo_pingpong_pass(pingpong, turn + 2);
    }
    return turn;
}
