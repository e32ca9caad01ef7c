/* predict.c - a distribution of makespans: one simulation after the other, each with the durations of another draw
 * (profile/times.h): one of each task, and one that all tasks of the run have in common. */
#include <clotho/sim.h>

#include "base/memory.h"
#include "base/numbers/rng.h"
#include "base/order/sort.h"
#include "base/status.h"
#include "cost/cost.h"
#include "profile/estimator.h"
#include "profile/times.h"

#include <stdlib.h>

enum { SAMPLES_MAX = 100000 };

typedef struct draws {
    const clo_cost *cost;
    clo_profile_times times;
    uint32_t *quantile;     /* [tasks] of this simulation */
    int64_t factor_q16;     /* of all tasks, of this simulation */
    int64_t middle_q16;     /* the run that factor 1 stands for: what was learned of runs is in multiples of it */
    clo_memory_part *parts; /* [tasks * kinds] */
} draws;

__extension__ typedef __int128 wide;

/* Of this simulation. */
static int64_t duration_ns(const draws *d, const clo_profile_time *time, uint32_t task)
{
    wide ns = (wide)clo_profile_time_at(time, d->quantile[task]) * d->factor_q16 >> 16;

    return ns < 1 ? 1 : ns > CLO_ESTIMATOR_MOST_NS ? CLO_ESTIMATOR_MOST_NS : (int64_t)ns;
}

/* clo_cost_times.time_ns */
static int64_t drawn_ns(const void *of, uint32_t task, uint32_t kind)
{
    const draws *d = of;
    const clo_profile_time *time = &d->times.of[(size_t)task * clo_platform_kinds(d->times.platform) + kind];

    if (time->basis != CLO_TIME_TYPED)
        return duration_ns(d, time, task);
    for (uint32_t c = 0; c < d->cost->columns; c++) { /* as the caller's cost has it */
        int64_t ns = d->cost->time_ns[(size_t)task * d->cost->columns + c];
        if (d->cost->platform->executors[d->cost->column_first[c]].kind == kind && ns != CLO_TIME_NEVER)
            return ns;
    }
    return -1;
}

static clo_status simulate_once(draws *d, const clo_sim_config *config, clo_rng *rng, int64_t *makespan_ns)
{
    const clo_cost_times times = {d, drawn_ns};
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_cost *drawn = NULL;

    for (uint32_t t = 0; t < d->cost->graph->tasks; t++)
        d->quantile[t] = clo_rng_below(rng, 1u << CLO_QUANTILE_BITS);
    if (d->times.run.basis != CLO_TIME_TYPED)
        d->factor_q16 =
            (int64_t)(((wide)clo_profile_time_at(&d->times.run, clo_rng_below(rng, 1u << CLO_QUANTILE_BITS)) << 16) /
                      d->middle_q16);
    clo_status status = clo_cost_create_from(d->cost->graph, d->cost->platform, &times, &drawn);
    if (status == CLO_OK)
        status = clo_simulate(drawn, config, &result, NULL, NULL);
    clo_cost_destroy(drawn);
    *makespan_ns = result.makespan_ns;
    return status;
}

static clo_status check(const clo_sim_config *config, const clo_prediction *prediction)
{
    if (prediction->samples == 0 || prediction->samples > SAMPLES_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_profile_predict: samples is %u; give 1 to %d", prediction->samples,
                        SAMPLES_MAX);
    if (config->recorded != NULL || config->execute != 0 || config->timing != NULL || config->responses != NULL)
        return clo_fail(
            CLO_ERR_ARGUMENT,
            "clo_profile_predict draws durations; leave clo_sim_config.recorded, execute, timing and responses out");
    return CLO_OK;
}

/* Means over whole runs follow a level that changes at once, what runs differed from them before does not. So where all
 * times have one, the middle run is what they say, and factors tell how far others are from it. */
static int64_t middle_of(const clo_profile_times *times)
{
    size_t count = (size_t)times->graph->tasks * clo_platform_kinds(times->platform);

    for (size_t i = 0; i < count; i++)
        if (times->of[i].basis != CLO_TIME_TYPED && times->of[i].mean_ns == 0)
            return 1 << 16;
    return times->run.location_ns > 0 ? times->run.location_ns : 1 << 16;
}

static clo_status predict(draws *d, const clo_sim_config *config, int64_t *makespans_ns, clo_prediction *mine)
{
    uint32_t count = mine->samples;
    clo_rng rng = clo_rng_seed(mine->seed);
    clo_status status = CLO_OK;

    d->middle_q16 = middle_of(&d->times);
    for (uint32_t i = 0; i < count && status == CLO_OK; i++)
        status = simulate_once(d, config, &rng, &makespans_ns[i]);
    if (status != CLO_OK)
        return status;
    clo_sort_times(makespans_ns, count);
    mine->median_ns = makespans_ns[(count - 1) / 2];
    mine->low_ns = makespans_ns[count / 20];
    mine->high_ns = makespans_ns[count - 1 - count / 20];
    return CLO_OK;
}

/* The memory parts of the profile, unless others are given; counts the tasks that may be slowed. */
static clo_status take_parts(draws *d, clo_sim_config *config, uint32_t *tasks)
{
    const clo_platform *platform = d->times.platform;
    size_t kinds = platform->kinds_count, count = d->cost->graph->tasks * kinds;
    bool *is_limited = clo_allocate(kinds, sizeof *is_limited);

    d->parts = clo_allocate(count, sizeof *d->parts);
    if (is_limited == NULL || d->parts == NULL) {
        clo_free(is_limited);
        return clo_fail_memory("a prediction");
    }
    for (uint32_t e = 0; e < platform->executors_count; e++)
        is_limited[platform->executors[e].kind] |= clo_memory_capacity_mbps(platform, e, NULL) >= 0;
    for (size_t t = 0; t < count; t += kinds) {
        bool has_part = false;
        for (size_t k = 0; k < kinds; k++) {
            d->parts[t + k] = config->memory_parts != NULL ? config->memory_parts[t + k] : d->times.of[t + k].memory;
            has_part = has_part || (is_limited[k] && d->parts[t + k].share_q16 > 0);
        }
        *tasks += has_part;
    }
    clo_free(is_limited);
    if (*tasks > 0)
        config->memory_parts = d->parts;
    return CLO_OK;
}

clo_status clo_profile_predict(const clo_profile *profile, const clo_cost *cost, const clo_sim_config *config,
                               clo_prediction *prediction)
{
    if (profile == NULL || cost == NULL || prediction == NULL)
        return clo_fail_null("clo_profile_predict", "profile, cost or prediction");
    clo_sim_config sim = CLO_SIM_CONFIG_INIT;
    clo_prediction mine = CLO_PREDICTION_INIT;
    draws d = {.cost = cost, .factor_q16 = 1 << 16};
    clo_status status = clo_config_read(&sim, sizeof sim, config, "clo_sim_config");

    if (status == CLO_OK)
        status = clo_config_read(&mine, sizeof mine, prediction, "clo_prediction");
    if (status == CLO_OK)
        status = check(&sim, &mine);
    if (status == CLO_OK)
        status = clo_profile_times_open(&d.times, cost->graph, cost->platform, profile);
    if (status != CLO_OK)
        return status;
    int64_t *makespans_ns = clo_allocate(mine.samples, sizeof *makespans_ns);
    d.quantile = clo_allocate(cost->graph->tasks, sizeof *d.quantile);
    status = makespans_ns != NULL && d.quantile != NULL ? take_parts(&d, &sim, &mine.memory_tasks)
                                                        : clo_fail_memory("a prediction");
    if (status == CLO_OK)
        status = predict(&d, &sim, makespans_ns, &mine);
    clo_free(makespans_ns);
    clo_free(d.parts);
    clo_free(d.quantile);
    clo_profile_times_close(&d.times);
    if (status == CLO_OK)
        clo_result_write(prediction, &mine, sizeof mine);
    return status;
}
