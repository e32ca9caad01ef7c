/* serial.c - see serial.h. */
#include "run/sharing/serial.h"

#include "run/sharing/borrow.h"
#include "run/sharing/share_rule.h"
#include "run/state/runtime.h"
#include "run/state/worker.h"

/* A longer run is the workers'. */
#define LONGEST_US 10000
/* The way that was slower is tried once in so many runs. */
#define RUNS_BETWEEN_TRIES 32u
/* Serial runs that tell enough: the first one finds its caches cold, after a shared one. */
#define SERIAL_RUNS 2u
/* Runs of the workers that tell more than that other programs disturbed one of them. */
#define SHARED_RUNS 3u
/* The deque of one worker takes the roots. */
#define ROOTS_MAX (CLO_DEQUE_ITEMS / 2)

/* Quick to see that it is short, slow to believe that it is long: other programs disturb one run or another. */
static void note(_Atomic int64_t *known_ns, int64_t now_ns, int64_t slowness)
{
    int64_t before_ns = atomic_load_explicit(known_ns, memory_order_relaxed);

    if (before_ns > 0 && now_ns > 2 * before_ns)
        now_ns = 2 * before_ns;
    if (before_ns > 0 && now_ns > before_ns)
        now_ns = before_ns + (now_ns - before_ns) / slowness + 1;
    atomic_store_explicit(known_ns, now_ns, memory_order_relaxed);
}

void clo_serial_note(clo_job *job, int64_t execution_ns)
{
    note(&job->waiting.serial_ns, execution_ns > 0 ? execution_ns : 1, 4);
}

/* Shared runs tell enough to judge bodies that take so long. */
static bool knows_shared(const clo_job *job, int64_t serial_ns)
{
    return job->waiting.runs_shared >= (serial_ns < CLO_WORTH_NS ? 1 : SHARED_RUNS);
}

bool clo_serial_pays(const clo_job *job, int64_t task_time_ns, uint32_t ready)
{
    if (task_time_ns >= CLO_SERIAL_SURE_NS)
        return false;
    if (knows_shared(job, task_time_ns))
        return task_time_ns <= atomic_load_explicit(&job->waiting.shared_ns, memory_order_relaxed);
    return task_time_ns * ready < CLO_WAKE_NS;
}

/* As far as is known. */
static bool is_quicker(const clo_job *job)
{
    int64_t serial_ns = atomic_load_explicit(&job->waiting.serial_ns, memory_order_relaxed);

    if (serial_ns >= CLO_SERIAL_SURE_NS)
        return false;
    if (job->waiting.runs_serial < SERIAL_RUNS)
        return true;
    return knows_shared(job, serial_ns)
               ? serial_ns <= atomic_load_explicit(&job->waiting.shared_ns, memory_order_relaxed)
               : serial_ns < CLO_WORTH_NS;
}

/* A small plan: runs that were not serial tell nothing, since all that is compared is how long a body takes. */
static bool suits_plan(clo_job *job)
{
    int64_t task_time_ns = atomic_load_explicit(&job->waiting.task_time_ns, memory_order_relaxed);

    return task_time_ns <= job->waiting.serial_plan->limit_ns || ++job->waiting.runs_judged % RUNS_BETWEEN_TRIES == 0;
}

void clo_serial_decide(clo_job *job)
{
    int64_t last_ticks = atomic_load_explicit(&job->times.response, memory_order_relaxed);
    bool was_serial = atomic_load_explicit(&job->waiting.is_serial, memory_order_relaxed) != 0, is_serial = false;

    if (!clo_job_may_be_helped(job) || !clo_job_may_be_unshared(job) || job->program->roots_count > ROOTS_MAX) {
        atomic_store_explicit(&job->waiting.is_serial, 0, memory_order_relaxed);
        return;
    }
    if (job->is_pinned) {
        atomic_store_explicit(&job->waiting.is_serial, suits_plan(job), memory_order_relaxed);
        return;
    }
    int64_t last_ns = last_ticks * 1000 / job->runtime->ticks_in_us;
    if (!was_serial && job->waiting.runs_judged > 1) { /* the very first run finds all caches cold */
        note(&job->waiting.shared_ns, last_ns / job->program->executions + 1, 16);
        job->waiting.runs_shared++;
    }
    if (job->waiting.runs_judged > 0 && last_ns <= LONGEST_US * 1000)
        is_serial = is_quicker(job) != (job->waiting.runs_judged % RUNS_BETWEEN_TRIES == 0);
    job->waiting.runs_judged++;
    job->waiting.runs_serial += is_serial;
    atomic_store_explicit(&job->waiting.is_serial, is_serial, memory_order_relaxed);
}
