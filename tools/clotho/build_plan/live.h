/* live.h - what is expected of steps that have no history, while the build runs: for each class of steps the time
 * and the memory, as learned so far; and how many CPUs the running steps use. The driver's thread writes it, the policy
 * and the thread that looks for better orders read it. */
#ifndef CLO_TOOLS_CLOTHO_BUILD_PLAN_LIVE_H
#define CLO_TOOLS_CLOTHO_BUILD_PLAN_LIVE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define LIVE_KNOWN UINT32_MAX /* no class: the graph says what the task needs */

typedef struct live_guess {
    int64_t time_ns, need_kib; /* need: a step's share where as many run as fit */
} live_guess;

typedef struct build_live {
    pthread_mutex_t lock; /* of `version`, `guesses` and `cpus` */
    double cpus;          /* that the running steps use, as far as is known */
    bool is_cpu_bound;    /* CPUs are short, not memory; constant while the build runs */
    uint32_t version;     /* 0: nothing is written yet */
    live_guess *guesses;  /* [classes_count] */
    uint32_t classes_count;
    uint32_t *classes; /* [tasks_count] of the graph's tasks; constant while the build runs */
    uint32_t tasks_count;
} build_live;

/* All tasks are LIVE_KNOWN. False: no memory. live_close in both cases. */
bool live_open(build_live *live, uint32_t classes_count, uint32_t tasks_count);
void live_close(build_live *live);

/* A new guess for each class. The driver's thread, and any before that has begun. */
void live_write(build_live *live, const live_guess *guesses);

void live_write_cpus(build_live *live, double cpus);
double live_cpus(build_live *live);

/* What is new of tasks since *version, to take(of, task, guess), in order of the tasks. False: nothing. */
typedef void (*live_take)(void *of, uint32_t task, const live_guess *guess);
bool live_read(build_live *live, uint32_t *version, live_take take, void *of);

#endif
