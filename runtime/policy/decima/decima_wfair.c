/* decima_wfair.c - weighted fair sharing in Decima's environment, the tuned baseline of its paper (section 7.1): a job
 * with a stage that is not saturated may have T^alpha / (sum of T^alpha of all such jobs) of the executors, rounded up.
 * T is the whole work of the job. alpha 0 is decima-fair.
 *
 * Shares are powers of two relative to the largest one, in Q16 (error of a share: 2 / 65536 of the largest). O(jobs)
 * each time that executors look for another job. */
#include "policy/decima/decima.h"
#include "policy/queue/wfair.h"
#include "policy/select/policies.h"

#include "base/numbers/log2.h"

typedef struct wfair {
    int32_t alpha_q16;
} wfair;

static clo_status parse(const char *text, void *argument)
{
    clo_status status = clo_wfair_read(&text, "decima-wfair", &((wfair *)argument)->alpha_q16);

    return status == CLO_OK ? clo_argument_end(text, "decima-wfair") : status;
}

static clo_status prepare(void *job_state, const clo_cost *cost, const void *argument)
{
    int32_t alpha_q16 = argument != NULL ? ((const wfair *)argument)->alpha_q16 : CLO_WFAIR_DEFAULT_Q16;

    ((clo_decima_job *)job_state)->share_q16 = (int32_t)clo_wfair_share_q16(cost, alpha_q16);
    return CLO_OK;
}

static uint64_t share_of(const clo_decima *d, const clo_decima_job *job)
{
    return clo_exp2_q16(job->share_q16 - d->most_q16);
}

static void weigh(clo_decima *d)
{
    const clo_live_job *live;

    d->most_q16 = INT32_MIN / 2;
    d->shares_q16 = 0;
    for (uint32_t slot = clo_view_first_job(d->view); slot != CLO_NONE; slot = live->next) {
        live = clo_view_job(d->view, slot);
        const clo_decima_job *job = live->state;
        if (job->unsaturated > 0 && job->share_q16 > d->most_q16)
            d->most_q16 = job->share_q16;
    }
    for (uint32_t slot = clo_view_first_job(d->view); slot != CLO_NONE; slot = live->next) {
        live = clo_view_job(d->view, slot);
        const clo_decima_job *job = live->state;
        d->shares_q16 += job->unsaturated > 0 ? share_of(d, job) : 0;
    }
}

static uint32_t room(const clo_decima *d, const clo_decima_job *job)
{
    uint64_t wanted_q16 = d->executors_count * share_of(d, job), has = job->executors + job->coming;
    uint64_t share = d->shares_q16 > 0 ? (wanted_q16 + d->shares_q16 - 1) / d->shares_q16 : d->executors_count;

    return has < share ? (uint32_t)(share - has) : 0;
}

static clo_status init(void *state, const clo_view *view)
{
    clo_status status = clo_decima_init(state, view, room);

    ((clo_decima *)state)->weigh = weigh;
    return status;
}

const clo_policy clo_policy_decima_wfair = {
    CLO_DECIMA_POLICY,
    .name = "decima-wfair",
    .summary = "shares by (work)^E of executors bound to jobs; decima-wfair:E, E from -2 to 2, -1 if left out",
    .prepare = prepare,
    .init = init,
    .argument_bytes = sizeof(wfair),
    .parse = parse,
};
