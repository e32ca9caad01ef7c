/* calibrate.c - measures this machine and writes it down as a platform file.
 *
 * Speeds: each class of work runs in turns on every CPU, so that a drift of the machine hits all alike; the median
 * of a CPU's own time (other programs' share excluded) against that of the fastest one is its speed. CPUs of one
 * kind within 5 % of the kind's median are taken as equal: less is noise, and a planner should see equal cores as
 * equal. The generic speed is the mean of integer and float. Links: every pair of CPUs, both ways (links.c). Memory:
 * what streams on all CPUs move together (streams.c). What was measured is read back through the file reader before it is
 * written. */
#define _GNU_SOURCE
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "platform/build/build.h"
#include "platform/build/discover.h"
#include "platform/host/calibration.h"
#include "platform/host/links.h"
#include "platform/host/measure.h"
#include "platform/model/platform.h"

#include <clotho/memory.h>

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define ALIKE_PERMILLE 50 /* CPUs of a kind that differ by less are equal */

typedef struct calibration {
    clo_calibration base;
    bool quick;
    clo_platform *discovered; /* CPUs and kinds              */
    uint32_t *cpus;           /* [count]                     */
    uint32_t samples;         /* of each speed               */
    int64_t *times;           /* [CLO_WORKS][count][samples] */
    int64_t *medians;         /* [CLO_WORKS][count]          */
    int64_t *scratch;         /* [count]                     */
    clo_links *links;         /* NULL: one CPU               */
    int64_t memory_mbps;      /* 0: one CPU                  */
} calibration;

static void release(calibration *c)
{
    clo_native_close(c->base.native);
    clo_platform_destroy(c->discovered);
    clo_free(c->cpus);
    clo_free(c->times);
    clo_free(c->medians);
    clo_free(c->scratch);
    clo_links_free(c->links);
}

static clo_status allocate(calibration *c)
{
    size_t n = c->base.count;

    c->samples = c->quick ? 9 : 75;
    c->cpus = clo_allocate(n, sizeof *c->cpus);
    c->times = clo_allocate(CLO_WORKS * n * c->samples, sizeof *c->times);
    c->medians = clo_allocate(CLO_WORKS * n, sizeof *c->medians);
    c->scratch = clo_allocate(n, sizeof *c->scratch);
    if (c->cpus == NULL || c->times == NULL || c->medians == NULL || c->scratch == NULL)
        return clo_fail_memory("calibration");
    for (uint32_t i = 0; i < n; i++)
        c->cpus[i] = (uint32_t)c->discovered->executors[i].os_index;
    c->base.cpus = c->cpus;
    return CLO_OK;
}

/* How many units of work take `wanted_ns` here. */
static uint64_t count_units(clo_work *work, uint32_t which, int64_t wanted_ns)
{
    uint64_t units = 16;

    for (int doublings = 0; doublings < 32; doublings++, units *= 2) {
        int64_t start = clo_measure_cpu_ns();
        clo_work_run(work, which, units);
        if (clo_measure_cpu_ns() - start >= wanted_ns)
            break;
    }
    return units;
}

static int64_t limit(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

static clo_status sample_speeds(calibration *c, clo_work *work, uint32_t which, uint64_t units)
{
    for (uint32_t s = 0; s < c->samples; s++)
        for (uint32_t i = 0; i < c->base.count; i++) {
            clo_status status = clo_measure_pin(c->cpus[i]);
            if (status != CLO_OK)
                return status;
            clo_work_run(work, which, units / 4); /* warm: after the move the caches are another core's */
            int64_t start = clo_measure_cpu_ns();
            clo_work_run(work, which, units);
            c->times[((size_t)which * c->base.count + i) * c->samples + s] = clo_measure_cpu_ns() - start;
        }
    return CLO_OK;
}

/* CPUs of a kind that are nearly as fast as its median get the median. */
static void level_kinds(const calibration *c, int64_t *medians)
{
    for (uint32_t kind = 0; kind < c->discovered->kinds_count; kind++) {
        uint32_t members = 0;
        for (uint32_t i = 0; i < c->base.count; i++)
            if (c->discovered->executors[i].kind == kind)
                c->scratch[members++] = medians[i];
        int64_t middle = clo_measure_median(c->scratch, members);
        for (uint32_t i = 0; i < c->base.count; i++) {
            int64_t apart = medians[i] > middle ? medians[i] - middle : middle - medians[i];
            if (c->discovered->executors[i].kind == kind && apart * 1000 <= middle * ALIKE_PERMILLE)
                medians[i] = middle;
        }
    }
}

static clo_status measure_speeds(calibration *c)
{
    int64_t budget = c->quick ? 300000000 : 3000000000;
    int64_t each = limit(budget / (CLO_WORKS * (int64_t)c->base.count * c->samples), 100000, 5000000);
    clo_work *work;
    clo_status status = clo_work_create(&work);

    if (status != CLO_OK)
        return status;
    clo_calibration_say(&c->base, "speeds of %u CPUs in %d classes of work, %u samples each: about %lld ms",
                        c->base.count, CLO_WORKS, c->samples,
                        (long long)(each * CLO_WORKS * c->base.count * c->samples * 3 / 2 / 1000000));
    for (uint32_t which = 0; which < CLO_WORKS && status == CLO_OK; which++) {
        int64_t *medians = c->medians + (size_t)which * c->base.count;
        status = sample_speeds(c, work, which, count_units(work, which, each / 2));
        for (uint32_t i = 0; i < c->base.count && status == CLO_OK; i++)
            medians[i] = clo_measure_median(c->times + ((size_t)which * c->base.count + i) * c->samples, c->samples);
        if (status == CLO_OK)
            level_kinds(c, medians);
    }
    clo_work_destroy(work);
    return status;
}

/* What all CPUs together read from memory. */
static clo_status measure_memory(calibration *c)
{
    clo_streams *streams;
    clo_status status = clo_streams_start(c->cpus, c->base.count, &streams);

    if (status != CLO_OK)
        return status;
    c->memory_mbps = clo_streams_mbps(streams, c->quick ? 20000000 : 200000000);
    clo_streams_stop(streams);
    clo_calibration_say(&c->base, "all CPUs together read %lld MB/s from memory", (long long)c->memory_mbps);
    return CLO_OK;
}

static clo_status add_memory(const calibration *c)
{
    if (c->memory_mbps == 0)
        return CLO_OK;
    clo_status status =
        clo_calibration_add(&c->base, -1, "clotho.capacity." CLO_MEMORY_RESOURCE, "%lld", (long long)c->memory_mbps);

    if (status == CLO_OK)
        status = clo_calibration_add(&c->base, -1, "clotho.status.memory", "measured");
    if (status == CLO_OK)
        status = clo_calibration_add(&c->base, -1, "clotho.source.memory",
                                     "clotho platform calibrate %s: what a reading thread on each CPU moves, all "
                                     "together, in MB/s; median of five looks",
                                     clo_version());
    return status;
}

static uint32_t speed_of(const calibration *c, uint32_t which, uint32_t cpu)
{
    const int64_t *medians = c->medians + (size_t)which * c->base.count;
    int64_t fastest = medians[0];

    for (uint32_t i = 1; i < c->base.count; i++)
        fastest = medians[i] < fastest ? medians[i] : fastest;
    int64_t mine = medians[cpu] > 0 ? medians[cpu] : 1;
    int64_t q16 = (fastest * (int64_t)CLO_SPEED_ONE + mine / 2) / mine;
    return q16 < 1 ? 1 : (uint32_t)q16;
}

static clo_status add_cpu(const calibration *c, uint32_t cpu)
{
    static const char *const keys[CLO_WORKS] = {"clotho.speed_q16.integer", "clotho.speed_q16.float",
                                                "clotho.speed_q16.memory"};
    int32_t number = (int32_t)c->cpus[cpu];
    uint32_t mean = (speed_of(c, CLO_WORK_INTEGER, cpu) + speed_of(c, CLO_WORK_FLOAT, cpu) + 1) / 2;
    clo_status status = clo_calibration_add(&c->base, number, "clotho.speed_q16", "%u", mean);

    for (uint32_t which = 0; which < CLO_WORKS && status == CLO_OK; which++)
        status = clo_calibration_add(&c->base, number, keys[which], "%u", speed_of(c, which, cpu));
    return status;
}

static clo_status add_machine(const calibration *c)
{
    char here[256], when[32] = "?";
    time_t now = time(NULL);
    struct tm parts;
    const char *how = c->quick ? "quick" : "full";

    if (gmtime_r(&now, &parts) != NULL)
        strftime(when, sizeof when, "%Y-%m-%d %H:%M UTC", &parts);
    clo_native_describe(here, sizeof here);
    clo_status status = clo_calibration_add(&c->base, -1, "clotho.schema", "1");
    if (status == CLO_OK)
        status = clo_calibration_add(&c->base, -1, "clotho.platform", "calibrated");
    if (status == CLO_OK)
        status = clo_calibration_add(&c->base, -1, "clotho.summary", "%s", here);
    if (status == CLO_OK)
        status = clo_calibration_add(&c->base, -1, "clotho.machine", "%s", here);
    if (status == CLO_OK)
        status = clo_calibration_add(&c->base, -1, "clotho.coherent", "1");
    if (status == CLO_OK)
        status = clo_calibration_add(&c->base, -1, "clotho.status.speed", "measured");
    if (status == CLO_OK)
        status = clo_calibration_add(&c->base, -1, "clotho.source.speed",
                                     "clotho platform calibrate %s (%s), %s: medians of %u pinned samples; "
                                     "CPUs of a kind within %d %% are taken as equal",
                                     clo_version(), how, when, c->samples, ALIKE_PERMILLE / 10);
    return status;
}

static clo_status write_down(calibration *c, const char *path, clo_platform **out)
{
    clo_platform *platform = NULL;
    char *xml = NULL;
    size_t bytes = 0;
    clo_status status = add_machine(c);

    if (status == CLO_OK && c->links != NULL)
        status = clo_links_add(c->links);
    if (status == CLO_OK)
        status = add_memory(c);
    for (uint32_t i = 0; i < c->base.count && status == CLO_OK; i++)
        status = add_cpu(c, i);
    if (status == CLO_OK)
        status = clo_native_export(c->base.native, &xml, &bytes);
    if (status == CLO_OK)
        status = clo_platform_parse(path == NULL ? "calibrated" : path, xml, bytes, &platform);
    if (status == CLO_OK && path != NULL)
        status = clo_file_write(path, xml, bytes);
    clo_free(xml);
    if (status != CLO_OK || out == NULL)
        return clo_platform_destroy(platform), status;
    *out = platform;
    return CLO_OK;
}

static clo_status measure(calibration *c)
{
    clo_affinity *affinity;
    clo_status status = clo_affinity_save(&affinity);

    if (status != CLO_OK)
        return status;
    status = measure_speeds(c);
    if (status == CLO_OK && c->base.count > 1)
        status = clo_links_measure(&c->base, c->quick ? 500000000 : 6000000000, &c->links);
    if (status == CLO_OK && c->base.count > 1)
        status = measure_memory(c);
    clo_affinity_restore(affinity);
    return status;
}

clo_status clo_platform_calibrate(int quick, clo_progress_fn progress, void *context, const char *path,
                                  clo_platform **out)
{
    calibration c = {.base = {.progress = progress, .context = context}, .quick = quick != 0};
    clo_status status = clo_platform_open("native", &c.discovered);

    if (status == CLO_OK)
        status = clo_native_open(&c.base.native);
    if (status == CLO_OK) {
        c.base.count = c.discovered->executors_count;
        status = allocate(&c);
    }
    if (status == CLO_OK)
        status = measure(&c);
    if (status == CLO_OK)
        status = write_down(&c, path, out);
    release(&c);
    return status;
}
