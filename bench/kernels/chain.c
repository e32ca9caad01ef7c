#include "kernels/chain.h"

#include "common/bench.h"

#include <stdlib.h>

enum {
    LINE_BYTES = 64,
    STEP = LINE_BYTES / sizeof(uint32_t),
    CHASE_BYTES = 256 << 20,
    CHASE_QUICK_BYTES = 32 << 20,
    CHASED = 2000
};

bool chain_make(chain *c, bool is_quick, uint64_t seed)
{
    size_t bytes = is_quick ? CHASE_QUICK_BYTES : CHASE_BYTES;

    c->at = 0;
    c->lines = (uint32_t)(bytes / LINE_BYTES);
    c->next = malloc(bytes);
    if (c->next == NULL)
        return false;
    for (uint32_t i = 0; i < c->lines; i++)
        c->next[(size_t)i * STEP] = i;
    for (uint32_t i = c->lines - 1; i > 0; i--) {
        size_t other = (size_t)bench_random_below(&seed, i) * STEP, mine = (size_t)i * STEP;
        uint32_t next = c->next[mine];

        c->next[mine] = c->next[other];
        c->next[other] = next;
    }
    return true;
}

void chain_free(chain *c)
{
    free(c->next);
}

double chain_chase(chain *c)
{
    int64_t begin = bench_now_ns();

    for (int i = 0; i < CHASED; i++)
        c->at = c->next[(size_t)c->at * STEP];
    return (double)(bench_now_ns() - begin) / (double)CHASED;
}
