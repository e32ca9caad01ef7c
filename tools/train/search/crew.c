/* crew.c - see crew.h. Threads live for one call: an update takes milliseconds, and a thread is made in
 * microseconds. */
#include "train/search/crew.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct crew {
    void (*work)(void *, uint32_t, uint32_t);
    void *argument;
    uint32_t count;
    _Atomic uint32_t next;
} crew;

typedef struct member {
    crew *of;
    uint32_t thread;
} member;

static void *work(void *argument)
{
    const member *m = argument;

    for (uint32_t i; (i = atomic_fetch_add(&m->of->next, 1)) < m->of->count;) /* ends: next grows */
        m->of->work(m->of->argument, m->thread, i);
    return NULL;
}

void crew_run(uint32_t threads, uint32_t count, void (*each)(void *argument, uint32_t thread, uint32_t i),
              void *argument)
{
    crew c = {.work = each, .argument = argument, .count = count};
    member members[CREW_THREADS_MAX];
    pthread_t list[CREW_THREADS_MAX];
    uint32_t started = 0;

    for (uint32_t i = 0; i < CREW_THREADS_MAX; i++)
        members[i] = (member){&c, i};
    while (started + 1 < threads && started + 1 < count && started + 1 < CREW_THREADS_MAX &&
           pthread_create(&list[started], NULL, work, &members[started + 1]) == 0)
        started++;
    (void)work(&members[0]);
    while (started > 0)
        pthread_join(list[--started], NULL);
}
