/* plan/budget/parallel.c - see parallel.h. Threads live for one call: planning takes far longer than creating
 * them. */
#include "plan/budget/parallel.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct share {
    void (*fn)(void *context, uint32_t worker, uint32_t round);
    void *context;
    uint32_t worker, threads, count;
    pthread_t thread;
    bool has_thread;
} share;

static void *work(void *argument)
{
    const share *mine = argument;

    for (uint64_t round = mine->worker; round < mine->count; round += mine->threads)
        mine->fn(mine->context, mine->worker, (uint32_t)round);
    return NULL;
}

void clo_parallel_for(uint32_t threads, uint32_t count, void (*fn)(void *context, uint32_t worker, uint32_t round),
                      void *context)
{
    share shares[CLO_PARALLEL_MAX];

    assert(threads >= 1 && threads <= CLO_PARALLEL_MAX);
    for (uint32_t w = 0; w < threads; w++)
        shares[w] = (share){.fn = fn, .context = context, .worker = w, .threads = threads, .count = count};
    for (uint32_t w = 1; w < threads && w < count; w++)
        shares[w].has_thread = pthread_create(&shares[w].thread, NULL, work, &shares[w]) == 0;
    for (uint32_t w = 0; w < threads; w++)
        if (!shares[w].has_thread)
            work(&shares[w]);
    for (uint32_t w = 1; w < threads; w++)
        if (shares[w].has_thread)
            (void)pthread_join(shares[w].thread, NULL);
}
