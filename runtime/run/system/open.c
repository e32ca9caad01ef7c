/* open.c - forks are counted, so that a process can tell a runtime whose workers it has from one that a fork has left
 * behind. */
#include "run/system/open.h"

#include "engine/execution/body.h"
#include "run/state/runtime.h"
#include "run/system/real_time.h"
#include "sync/protocol/rcu.h"

/* Counts the forks that led to this process. A runtime that was created under another count has its workers
 * elsewhere. */
static _Atomic uint32_t forks;

/* In the child. */
static void see_fork(void)
{
    atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed);
    clo_thread_unblock_signals();
}

static void watch_forks(void)
{
    clo_rcu_handle_forks(); /* first, since liburcu's handler sets the signal mask of before the fork */
    (void)pthread_atfork(NULL, NULL, see_fork); /* fails without memory: then a fork goes unseen, as before */
}

void clo_runtime_note_forks(clo_runtime *runtime)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    clo_body_watch_forks();
    pthread_once(&once, watch_forks);
    runtime->forks = atomic_load_explicit(&forks, memory_order_relaxed);
}

bool clo_runtime_is_forked(const clo_runtime *runtime)
{
    return runtime->forks != atomic_load_explicit(&forks, memory_order_relaxed);
}

bool clo_runtime_is_whole(clo_runtime *runtime)
{
    pthread_mutex_t *locks[] = {&runtime->scheduling.coming, &runtime->control};
    bool is_whole = true;

    for (int i = 0; i < 2; i++) {
        bool is_free = pthread_mutex_trylock(locks[i]) == 0;
        if (is_free)
            pthread_mutex_unlock(locks[i]);
        is_whole &= is_free;
    }
    return is_whole;
}

clo_status clo_runtime_check_open(const clo_runtime *runtime)
{
    if (clo_runtime_is_forked(runtime))
        return clo_fail(CLO_ERR_STATE, CLO_FORKED_TEXT);
    if (atomic_load_explicit(&runtime->closing, memory_order_relaxed) != 0)
        return clo_fail(CLO_ERR_STATE, "the runtime is closing; create another one");
    return CLO_OK;
}

clo_status clo_runtime_fail_lacks(const char *feature)
{
    return clo_fail(CLO_ERR_UNSUPPORTED, "the runtime has no %s; name clo_with_%s in its clo_features", feature,
                    feature);
}
