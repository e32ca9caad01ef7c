/* features_list.c - the numbers of list 2 from what is known of stages, jobs and the system. Integers only: every
 * machine computes the same. Shifts round down. */

#include "base/numbers/saturate.h"
#include "learn/infer/features.h"
#include "learn/infer/lachesis_features.h"

enum { UNITS_LOG2 = 12 };

_Static_assert(1 << UNITS_LOG2 == CLO_FEATURE_TIME_UNITS, "4096 units are 2^scale ns");

static int32_t clamp(int64_t value, int32_t most, uint64_t *clamped)
{
    if (value >= 0 && value <= most)
        return (int32_t)value;
    ++*clamped;
    return value < 0 ? 0 : most;
}

/* In units of the job. */
static int64_t units(int64_t time_ns, int32_t scale)
{
    if (time_ns <= 0)
        return time_ns;
    return scale >= UNITS_LOG2 ? time_ns >> (scale - UNITS_LOG2)
                               : clo_time_mul(time_ns, INT64_C(1) << (UNITS_LOG2 - scale));
}

/* log2(1 + count) in Q8, rounded down: base/numbers/log2.h does it in Q16, which takes twice as long. The fraction
 * comes out bit by bit: y in [1, 2), squared, is 2 or more where its logarithm is 1/2 or more. */
static int32_t log_of(uint64_t count)
{
    uint64_t x = clo_amount_add(count, 1);
    int32_t whole = 63 - __builtin_clzll(x);
    uint64_t y = x << (63 - whole) >> 32; /* Q31 */

    int32_t result = whole;
    for (int i = 0; i < 8; i++) {
        y = y * y >> 31;
        int32_t bit = (int32_t)(y >> 32);
        y >>= bit;
        result = result * 2 + bit;
    }
    return result;
}

static int64_t share(uint32_t part, uint32_t whole)
{
    return whole > 0 ? (int64_t)part * CLO_FEATURE_SHARE_ONE / whole : 0;
}

/* Bits of the longest path. */
static int32_t scale_of(const clo_stage_figures *figures, uint32_t stages)
{
    int64_t longest_ns = 0;
    int32_t scale = 0;

    for (uint32_t s = 0; s < stages; s++)
        longest_ns = figures->rank_u_ns[s] > longest_ns ? figures->rank_u_ns[s] : longest_ns;
    for (; longest_ns > 0; longest_ns >>= 1)
        scale++;
    return scale;
}

uint64_t clo_features_stages(const clo_stage_figures *figures, uint32_t stages, int32_t *scale, int32_t *out)
{
    const int64_t *const times[] = {
        [CLO_FEATURE_TIME] = figures->time_ns,        [CLO_FEATURE_INPUT] = figures->input_ns,
        [CLO_FEATURE_OUTPUT] = figures->output_ns,    [CLO_FEATURE_RANK_UP] = figures->rank_u_ns,
        [CLO_FEATURE_RANK_DOWN] = figures->rank_d_ns,
    };
    uint64_t clamped = 0;

    *scale = scale_of(figures, stages);
    for (uint32_t s = 0; s < stages; s++, out += CLO_FEATURES_STAGE) {
        for (uint32_t f = 0; f < sizeof times / sizeof times[0]; f++)
            out[f] = clamp(units(times[f][s], *scale), CLO_FEATURE_TIME_MAX, &clamped);
        out[CLO_FEATURE_CHILDREN] = log_of(figures->children[s]);
        out[CLO_FEATURE_INSTANCES] = log_of(figures->instances[s]);
    }
    return clamped;
}

uint64_t clo_features_job(const clo_job_figures *figures, int32_t *out)
{
    uint64_t clamped = 0;

    int32_t scale = clamp(figures->scale, 63, &clamped);
    int64_t work = units(figures->work_left_ns, scale);

    out[CLO_FEATURE_TASKS_LEFT] = log_of(figures->tasks_left);
    out[CLO_FEATURE_WORK_LEFT] = clamp(work, CLO_FEATURE_WORK_MAX, &clamped);
    out[CLO_FEATURE_WORK_LEFT_LOG] = log_of(work > 0 ? (uint64_t)work : 0);
    out[CLO_FEATURE_SCALE] = scale;
    out[CLO_FEATURE_EXECUTORS] =
        clamp(share(figures->executors_used, figures->executors), CLO_FEATURE_SHARE_ONE, &clamped);
    return clamped;
}

uint64_t clo_features_system(const clo_system_figures *figures, int32_t *out)
{
    uint64_t clamped = 0;

    out[CLO_FEATURE_JOBS] = log_of(figures->jobs);
    out[CLO_FEATURE_FREE] = clamp(share(figures->executors_free, figures->executors), CLO_FEATURE_SHARE_ONE, &clamped);
    return clamped;
}

uint64_t clo_features_scale(const clo_model_feature *features, uint32_t count, const int32_t *raw, int16_t *out)
{
    uint64_t clamped = 0;

    for (uint32_t i = 0; i < count; i++) {
        bool is_clamped;
        const clo_model_feature *f = &features[i];
        /* |raw| < 2^31 and mult < 2^31: below 2^62 */
        out[i] = clo_feature_round((int64_t)raw[i] * f->mult, f->shift, f->lo, f->hi, &is_clamped);
        clamped += is_clamped;
    }
    return clamped;
}
