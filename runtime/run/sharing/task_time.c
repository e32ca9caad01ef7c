/* task_time.c - see task_time.h. */
#include "run/sharing/task_time.h"

#include "base/clock.h"
#include "run/sharing/share_rule.h"

/* Narrow graphs: if of two items run one has come from another worker or goes there, the other one of two released
 * successors is kept from now on. */
static void judge_order(clo_worker *worker)
{
    worker->affinity.judged += worker->turns.ran;
    if (worker->affinity.judged < CLO_JUDGED_ITEMS)
        return;
    if (clo_share_is_restless(worker->affinity.exchanges, worker->affinity.judged)) {
        worker->affinity.keeps_last = !worker->affinity.keeps_last;
        worker->affinity.stride = 0;
    }
    worker->affinity.judged = worker->affinity.exchanges = 0;
}

void clo_worker_note_pace(clo_worker *worker, int64_t task_time_ns)
{
    worker->pace.task_time_ns = clo_share_pace(worker->pace.task_time_ns, task_time_ns);
}

void clo_worker_take_pace(clo_worker *worker)
{
    int64_t now_ns = clo_clock_ns();

    if (worker->turns.ran > 0) {
        clo_worker_note_pace(worker, (now_ns - worker->pace.since_ns) / worker->turns.ran + 1);
        judge_order(worker);
    }
    worker->turns.ran = 0;
    worker->pace.since_ns = now_ns;
}
