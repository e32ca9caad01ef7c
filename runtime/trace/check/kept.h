/* trace/check/kept.h - who waits for the capacity of each machine, as the KEEP records say, and whether it was kept for
 * them as it should have been. */
#ifndef CLO_TRACE_CHECK_KEPT_H
#define CLO_TRACE_CHECK_KEPT_H

#include "trace/judge/judge.h"
#include "trace/log_kinds.h"

/* Who waits for the capacity of a machine. */
typedef struct clo_judge_waiter {
    /* Index of the job; CLO_NONE: nobody waits. */
    uint32_t job, stage;
    /* By resource. */
    const int64_t *demand;
    /* It has been passed so often that its demand is kept. */
    bool is_kept;
} clo_judge_waiter;

/* Reads a KEEP record into waiters[machines]. Records that name what does not exist change nothing. */
void clo_judge_read_keep(const clo_judge *judge, const clo_log_record *record, clo_judge_waiter *waiters);

/* Nobody waits anywhere. */
void clo_judge_waiters_init(const clo_judge *judge, clo_judge_waiter *waiters);

static inline uint32_t clo_judge_overtakes_max(const clo_judge *judge)
{
    return judge->stream->overtakes_max > 0 ? judge->stream->overtakes_max : CLO_LOG_OVERTAKES;
}

/* The pass. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_judge_kept(clo_judge *judge);

#endif
