/* waves.c - Decima's environment: times drawn from what was measured on Spark (waves.h), by wave and by the number of
 * the job's executors. The rules are those of decima-sim (github.com/hongzimao/decima-sim, commit c010dd7,
 * spark_env/node.py), whose two defects are kept apart: its reversed interpolation between levels is the faithful
 * option; its durations come from a generator that nobody seeds, so only a caller who has its seed can draw them again
 * (clo_decima_config.below). */
#include "sim/waves.h"

#include <clotho/waves.h>

#include "base/memory.h"
#include "base/numbers/rng.h"
#include "base/numbers/saturate.h"
#include "base/status.h"

#include <stdio.h>

enum { FOR_LEVELS = 0, FOR_TIMES = 1, STREAMS = 2, NAME_BYTES = 64 };

static const uint32_t measured_levels[] = {5, 10, 20, 40, 50, 60, 80, 100};

#define LEVELS (sizeof measured_levels / sizeof measured_levels[0])

typedef struct decima {
    clo_decima_config config;
    clo_rng rng[STREAMS];
    char name[NAME_BYTES];
} decima;

static uint32_t own_below(void *source, uint32_t stream, uint32_t bound)
{
    return clo_rng_below(&((decima *)source)->rng[stream], bound);
}

/* The level whose measurements count for so many executors. */
static uint32_t draw_level(decima *d, uint32_t executors)
{
    uint32_t right = 0;

    while (right < LEVELS && measured_levels[right] < executors)
        right++;
    if (right == 0)
        return measured_levels[0];
    if (right == LEVELS)
        return measured_levels[LEVELS - 1];
    uint32_t low = measured_levels[right - 1], high = measured_levels[right];
    if (high == executors)
        return high;
    bool is_below = d->config.below(d->config.source, FOR_LEVELS, high - low) < executors - low;
    return is_below == (d->config.faithful != 0) ? low : high;
}

/* The row of a level of the stage, else of its largest one. */
static uint32_t find_row(const clo_graph *graph, uint32_t stage, uint32_t rows, uint32_t level)
{
    for (uint32_t k = 0; k < rows; k++)
        if (clo_graph_wave_level(graph, stage, k) == level)
            return k;
    return rows - 1;
}

static int64_t decima_time_ns(void *state, const clo_environment_execution *x)
{
    static const clo_wave orders[3][3] = {
        {CLO_WAVE_FRESH, CLO_WAVE_FIRST, CLO_WAVE_REST},
        {CLO_WAVE_REST, CLO_WAVE_FIRST, CLO_WAVE_FRESH},
        {CLO_WAVE_FIRST, CLO_WAVE_FRESH, CLO_WAVE_REST},
    };
    decima *d = state;
    uint32_t rows = clo_graph_wave_levels(x->graph, x->stage), count = 0;

    if (rows == 0)
        return x->cost_ns;
    uint32_t row = find_row(x->graph, x->stage, rows, draw_level(d, x->bound));
    bool is_fresh = x->last_stage == CLO_NONE;
    const clo_wave *order = orders[is_fresh ? 0 : x->last_stage == x->stage ? 1 : 2];
    for (uint32_t i = 0; i < 3; i++) {
        const int64_t *times_ns = clo_graph_wave_times(x->graph, x->stage, row, order[i], &count);
        if (count > 0) {
            int64_t time_ns = times_ns[d->config.below(d->config.source, FOR_TIMES, count)];
            return is_fresh && i > 0 ? clo_time_add(time_ns, d->config.warmup_ns) : time_ns;
        }
    }
    return x->cost_ns;
}

static clo_status read_config(const clo_decima_config *theirs, clo_decima_config *config)
{
    *config = (clo_decima_config)CLO_DECIMA_CONFIG_INIT;
    clo_status status = clo_config_read(config, sizeof *config, theirs, "clo_decima_config");

    if (status != CLO_OK)
        return status;
    if (config->faithful > 1 || config->moving_ns < 0 || config->warmup_ns < 0)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "clo_decima_config: faithful is %u, moving_ns %lld, warmup_ns %lld; give 0 or "
                        "1, and times >= 0",
                        config->faithful, (long long)config->moving_ns, (long long)config->warmup_ns);
    if (config->moving_ns == 0)
        config->moving_ns = CLO_DECIMA_MOVING_NS;
    if (config->warmup_ns == 0)
        config->warmup_ns = CLO_DECIMA_WARMUP_NS;
    return CLO_OK;
}

/* "decima:faithful,moving=500ms", without what is the default. */
static void write_name(const clo_decima_config *config, char name[NAME_BYTES])
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
    const char *faithful = config->faithful != 0 ? ":faithful" : "";
    size_t unit = 0;

    while (config->moving_ns % units[unit].ns != 0)
        unit++;
    if (config->moving_ns == CLO_DECIMA_MOVING_NS)
        snprintf(name, NAME_BYTES, "decima%s", faithful);
    else
        snprintf(name, NAME_BYTES, "decima%s%cmoving=%lld%s", faithful, config->faithful != 0 ? ',' : ':',
                 (long long)(config->moving_ns / units[unit].ns), units[unit].name);
}

clo_status clo_decima_make(const clo_decima_config *config, clo_environment *out)
{
    clo_status status = clo_result_check(out, sizeof *out, "clo_environment");

    if (status != CLO_OK)
        return status;
    decima *d = clo_allocate(1, sizeof *d);
    if (d == NULL)
        return clo_fail_memory("an environment");
    d->config = *config;
    d->rng[FOR_LEVELS] = clo_rng_seed(clo_mix64(config->seed));
    d->rng[FOR_TIMES] = clo_rng_seed(clo_mix64(config->seed) + 1);
    if (config->below == NULL) {
        d->config.below = own_below;
        d->config.source = d;
    }
    write_name(config, d->name);
    out->name = d->name;
    out->moving_ns = config->moving_ns;
    out->time_ns = decima_time_ns;
    out->state = d;
    out->close = clo_free;
    out->keeps_stages = 1;
    return CLO_OK;
}

clo_status clo_decima_open(const clo_decima_config *config, clo_environment *out)
{
    clo_decima_config mine;

    if (out == NULL)
        return clo_fail_null("clo_decima_open", "out");
    clo_status status = clo_result_check(out, sizeof *out, "clo_environment");
    if (status == CLO_OK)
        status = read_config(config, &mine);
    return status == CLO_OK ? clo_decima_make(&mine, out) : status;
}
