/* wfair.c - weighted fair sharing with an exponent, the tuned baseline of Decima (section 7.1): the executors are
 * shared in proportion to T^alpha, T being the whole work of a job and alpha between -2 and 2. 0 is fair sharing, 1
 * shares by work, -1 (the default, and what Decima found best) lets small jobs go first. Weights of jobs count as
 * factors.
 *
 * The next executor goes to the job with the least (executors + 1) / share (the highest averages of D'Hondt),
 * compared as logarithms, so that no power over- or underflows: log2(executors + 1) - alpha log2(T) - log2(weight),
 * in Q16. Not promised: the rounding of shares to whole executors that Decima's code does. O(log jobs) an event. */
#include "policy/queue/wfair.h"
#include "policy/select/by_job.h"
#include "policy/select/policies.h"

#include "base/numbers/log2.h"
#include "base/numbers/saturate.h"
#include "cost/cost.h"

#define ALPHA_MOST_Q16 (2 * 65536)

typedef struct wfair {
    int32_t alpha_q16;
} wfair;

typedef struct wfair_job {
    int64_t share_q16; /* alpha log2(T) */
} wfair_job;

clo_status clo_wfair_read(const char **text, const char *policy, int32_t *alpha_q16)
{
    clo_fixed_range range = {-ALPHA_MOST_Q16, ALPHA_MOST_Q16};

    return clo_fixed_read(text, policy, "the exponent", range, alpha_q16);
}

int64_t clo_wfair_share_q16(const clo_cost *cost, int32_t alpha_q16)
{
    int64_t work_ns = 0;

    for (uint32_t t = 0; t < cost->graph->tasks; t++)
        work_ns = clo_time_add(work_ns, clo_time_mul(cost->graph->rows[t].instances, cost->mean_ns[t]));
    return (int64_t)alpha_q16 * clo_log2_q16((uint64_t)work_ns) / 65536;
}

int64_t clo_wfair_key(const clo_live_job *job, int64_t share_q16)
{
    uint64_t used = (uint64_t)job->running + job->committed;

    return clo_log2_q16(used + 1) - share_q16 - clo_log2_q16(job->weight);
}

static clo_status wfair_parse(const char *text, void *argument)
{
    clo_status status = clo_wfair_read(&text, "wfair", &((wfair *)argument)->alpha_q16);

    return status == CLO_OK ? clo_argument_end(text, "wfair") : status;
}

static size_t wfair_job_bytes(const clo_cost *cost, const void *argument)
{
    (void)cost, (void)argument;
    return sizeof(wfair_job);
}

static clo_status wfair_prepare(void *job_state, const clo_cost *cost, const void *argument)
{
    const wfair *w = argument;

    ((wfair_job *)job_state)->share_q16 = clo_wfair_share_q16(cost, w != NULL ? w->alpha_q16 : CLO_WFAIR_DEFAULT_Q16);
    return CLO_OK;
}

static int64_t key(const clo_live_job *job)
{
    return clo_wfair_key(job, ((const wfair_job *)job->state)->share_q16);
}

static void wfair_event(void *state, const clo_view *view, const clo_event *event)
{
    clo_by_job_event(state, view, event, key);
}

const clo_policy clo_policy_wfair = {
    .size = sizeof(clo_policy),
    .name = "wfair",
    .summary = "shares of jobs in proportion to (their work)^E; wfair:E, E from -2 to 2, -1 if left out",
    .state_bytes = clo_by_job_bytes,
    .job_bytes = wfair_job_bytes,
    .prepare = wfair_prepare,
    .init = clo_by_job_init,
    .event = wfair_event,
    .decide = clo_by_job_decide_one,
    .argument_bytes = sizeof(wfair),
    .parse = wfair_parse,
};

const clo_selector clo_selector_wfair = {&clo_policy_wfair, clo_by_job_select, NULL};
