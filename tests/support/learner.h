/* learner.h - a thread of the application that reads the flight recorder and learns while jobs run. After support.h. */
#ifndef CLO_TEST_LEARNER_H
#define CLO_TEST_LEARNER_H

#include <clotho/profile.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { LEARNER_RECORDS = 256 };

typedef struct learner {
    pthread_t thread;
    clo_runtime *runtime;
    const clo_cost *cost;
    const clo_job *job;
    clo_profile *profile;
    bool publishes; /* which takes memory, on this thread */
    _Atomic bool is_over, has_failed;
    _Atomic uint64_t learned;
    clo_record records[LEARNER_RECORDS];
} learner;

static inline void learner_learn(learner *l)
{
    for (uint32_t w = 0; w < clo_runtime_workers(l->runtime); w++) {
        size_t learned = 0, count = clo_runtime_record_read(l->runtime, w, l->records, LEARNER_RECORDS, NULL);
        if (clo_profile_learn_records(l->profile, l->cost, clo_job_id(l->job), l->records, count, &learned) != CLO_OK)
            atomic_store(&l->has_failed, true);
        atomic_fetch_add(&l->learned, learned);
    }
    if (l->publishes && clo_profile_publish(l->profile) != CLO_OK)
        atomic_store(&l->has_failed, true);
}

static inline void *learner_run(void *argument)
{
    learner *l = argument;

    while (!atomic_load(&l->is_over)) {
        learner_learn(l);
        sched_yield();
    }
    return NULL;
}

/* For learner_learn on the calling thread. The runtime has a recorder. */
static inline void learner_open(learner *l, clo_runtime *runtime, const clo_cost *cost, const clo_job *job)
{
    l->runtime = runtime;
    l->cost = cost;
    l->job = job;
    ok(clo_profile_create(0, &l->profile));
}

/* After a run of the job, so that the entries are there. */
static inline void learner_start(learner *l, clo_runtime *runtime, const clo_cost *cost, const clo_job *job)
{
    learner_open(l, runtime, cost, job);
    learner_learn(l);
    assert_true(atomic_load(&l->learned) > 0);
    assert_int_equal(pthread_create(&l->thread, NULL, learner_run, l), 0);
}

/* Runs the job so often, and on until as many executions were learned meanwhile. */
static inline void learner_watch(learner *l, clo_job *job, uint32_t runs, clo_job_result *result)
{
    uint64_t before = atomic_load(&l->learned);

    for (uint32_t run = 0; run < runs || atomic_load(&l->learned) < before + runs; run++) { /* it learns each time */
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, result));
    }
}

static inline void learner_stop(learner *l)
{
    atomic_store(&l->is_over, true);
    pthread_join(l->thread, NULL);
    assert_false(atomic_load(&l->has_failed));
    clo_profile_destroy(l->profile);
}

#endif
