/* pace.c - see pace.h. */
#include "run/pace.h"

#include "base/clock.h"

#define JUDGED_ITEMS 512u /* so many tell whether items change hands too often */

/* Narrow graphs: if of two items run one has come from another worker or goes there, the other one of two released
 * successors is kept from now on. */
static void judge_order(clo_worker *worker)
{
    worker->judged += worker->ran;
    if (worker->judged < JUDGED_ITEMS)
        return;
    if (2 * worker->exchanges > worker->judged) {
        worker->keeps_last = !worker->keeps_last;
        worker->stride = 0;
    }
    worker->judged = worker->exchanges = 0;
}

void clo_worker_note_pace(clo_worker *worker, int64_t pace_ns)
{
    worker->pace_ns = pace_ns > worker->pace_ns ? pace_ns : (3 * worker->pace_ns + pace_ns) / 4;
}

void clo_worker_take_pace(clo_worker *worker)
{
    int64_t now_ns = clo_clock_ns();

    if (worker->ran > 0) {
        clo_worker_note_pace(worker, (now_ns - worker->pace_since_ns) / worker->ran + 1);
        judge_order(worker);
    }
    worker->ran = 0;
    worker->pace_since_ns = now_ns;
}
