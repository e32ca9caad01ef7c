/* scenes.c - see scenes.h. */
#include "clotho/train/scenes.h"

#include "clotho/common/input.h"
#include "clotho/stream/arrivals.h"

#include <stdlib.h>
#include <string.h>

static int open_scene(const char *option, const char *spec, uint32_t jobs, const char *arrivals,
                      const clo_workload *workload, train_scene *out)
{
    out->arrivals = (clo_arrivals_config)CLO_ARRIVALS_CONFIG_INIT;
    int code = arrivals_parse(option, arrivals, &out->arrivals);
    out->arrivals.jobs = jobs;
    out->arrivals.shuffled = out->arrivals.kind != CLO_ARRIVALS_TRACE;
    out->platform = clo_workload_platform(workload);
    if (code == EXIT_GOOD && (spec != NULL || out->platform == NULL)) {
        code = platform_open(spec != NULL ? spec : "native", &out->opened);
        out->platform = out->opened;
    }
    return code;
}

/* SPEC/JOBS/ARRIVALS: a name of a file may have slashes of its own, so the last two count. */
static int read_scene(const char *text, const clo_workload *workload, train_scene *out)
{
    char spec[4096];
    const char *arrivals = strrchr(text, '/'), *jobs = arrivals;

    while (jobs != NULL && jobs > text && (jobs == arrivals || *jobs != '/'))
        jobs--;
    char *end = NULL;
    bool has_count = jobs != NULL && *jobs == '/' && jobs[1] >= '0' && jobs[1] <= '9';
    unsigned long count = has_count ? strtoul(jobs + 1, &end, 10) : 0;
    if (!has_count || jobs == text || end != arrivals || count < 1 || count > UINT32_MAX ||
        (size_t)(jobs - text) >= sizeof spec)
        return misuse("--scene is '%.80s'; write SPEC/JOBS/ARRIVALS, as uniform:50/20/batch", text);
    memcpy(spec, text, (size_t)(jobs - text));
    spec[jobs - text] = '\0';
    return open_scene("scene: ARRIVALS", spec, (uint32_t)count, arrivals + 1, workload, out);
}

int train_scenes_open(const train_options *o, const clo_workload *jobs, train_scene out[TRAIN_SCENES_MAX],
                      uint32_t *count)
{
    memset(out, 0, TRAIN_SCENES_MAX * sizeof *out);
    *count = o->scenes.count > 0 ? o->scenes.count : 1;
    if (o->scenes.count > 0 && (o->spec != NULL || o->jobs > 0 || o->arrivals != NULL)) {
        *count = 0;
        return misuse("--scene is in place of --platform, --jobs and --arrivals; leave these out");
    }
    int code = EXIT_GOOD;
    if (o->scenes.count == 0)
        code = open_scene("arrivals", o->spec, o->jobs, o->arrivals, jobs, &out[0]);
    if (o->scenes.count > TRAIN_SCENES_MAX) {
        *count = 0;
        return misuse("--scene is there %u times; write at most %d", o->scenes.count, TRAIN_SCENES_MAX);
    }
    for (uint32_t i = 0; i < o->scenes.count && code == EXIT_GOOD; i++)
        code = read_scene(o->scenes.items[i], jobs, &out[i]);
    for (uint32_t i = 0; i < *count && code == EXIT_GOOD; i++)
        code = deadlines_open(o->deadlines, jobs, out[i].platform, &out[i].deadlines);
    return code;
}

void train_scenes_close(train_scene *scenes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        deadlines_close(&scenes[i].deadlines);
        clo_platform_destroy(scenes[i].opened);
    }
}
