/* live.c - see live.h. */
#include "clotho/build_plan/live.h"

#include <stdlib.h>
#include <string.h>

bool live_open(build_live *live, uint32_t classes_count, uint32_t tasks_count)
{
    *live = (build_live){.classes_count = classes_count, .tasks_count = tasks_count};
    pthread_mutex_init(&live->lock, NULL);
    live->guesses = calloc((size_t)classes_count + 1, sizeof *live->guesses);
    live->classes = malloc(((size_t)tasks_count + 1) * sizeof *live->classes);
    if (live->guesses == NULL || live->classes == NULL)
        return false;
    memset(live->classes, 0xff, tasks_count * sizeof *live->classes);
    return true;
}

void live_close(build_live *live)
{
    pthread_mutex_destroy(&live->lock);
    free(live->guesses);
    free(live->classes);
    *live = (build_live){0};
}

void live_write(build_live *live, const live_guess *guesses)
{
    size_t bytes = live->classes_count * sizeof *guesses;

    pthread_mutex_lock(&live->lock);
    if (live->version == 0 || memcmp(live->guesses, guesses, bytes) != 0) {
        memcpy(live->guesses, guesses, bytes);
        live->version++;
    }
    pthread_mutex_unlock(&live->lock);
}

void live_write_cpus(build_live *live, double cpus)
{
    pthread_mutex_lock(&live->lock);
    live->cpus = cpus;
    pthread_mutex_unlock(&live->lock);
}

double live_cpus(build_live *live)
{
    pthread_mutex_lock(&live->lock);
    double cpus = live->cpus;
    pthread_mutex_unlock(&live->lock);
    return cpus;
}

bool live_read(build_live *live, uint32_t *version, live_take take, void *of)
{
    pthread_mutex_lock(&live->lock);
    bool is_new = *version != live->version;
    *version = live->version;
    for (uint32_t t = 0; is_new && t < live->tasks_count; t++)
        if (live->classes[t] != LIVE_KNOWN)
            take(of, t, &live->guesses[live->classes[t]]);
    pthread_mutex_unlock(&live->lock);
    return is_new;
}
