/* episodes.c - the policy on streams: episodes that are learned from, and tries that say how good it is. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/agent/episodes.h"

#include "clotho/common/report.h"
#include "clotho/room/room.h"
#include "train/agent/returns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of decisions that scales are chosen from, for each scene. */
enum { SCALED_EACH = 24 };

static train_streams streams_of(const network_training *t, uint32_t scene)
{
    const train_options *o = &t->o.scenes;

    return (train_streams){.jobs = t->jobs,
                           .platform = t->scenes[scene].platform,
                           .arrivals = t->scenes[scene].arrivals,
                           .environment = o->environment,
                           .is_common = o->environment != NULL,
                           .threads = o->threads};
}

int network_room(const network_training *t)
{
    train_streams settings[TRAIN_SCENES_MAX];

    for (uint32_t s = 0; s < t->scenes_count; s++)
        settings[s] = streams_of(t, s);
    return room_check(settings, t->scenes_count, clo_policy_find("auto"), NULL, t->o.scenes.validation,
                      t->o.scenes.as_json);
}

int network_try(const network_training *t, const network_tries *tries)
{
    uint32_t count = tries->seeds.count;
    train_stream *list = calloc(count, sizeof *list);
    int code = EXIT_GOOD;

    if (list == NULL)
        return complain(NULL, "out of memory");
    for (uint32_t s = 0; s < t->scenes_count && code == EXIT_GOOD; s++) {
        const train_streams how = streams_of(t, s);
        for (uint32_t i = 0; i < count; i++)
            list[i] =
                (train_stream){.policy = tries->policy, .argument = tries->argument, .seed = tries->seeds.first + i};
        code = train_streams_run(&how, NULL, list, count);
        for (uint32_t i = 0; i < count; i++)
            tries->reached[(size_t)s * count + i] = fmax(1, list[i].reached);
    }
    free(list);
    return code;
}

/* The policy that plays an episode. */
static clo_learned_argument argument_of(const clo_model *model, const train_law *law, episode *e)
{
    clo_learned_argument with = CLO_LEARNED_ARGUMENT_INIT;

    with.model = model;
    with.is_sampled = law->is_drawn;
    with.seed = e->seed;
    with.watch = episode_watch;
    with.watch_context = e;
    with.choose = e->is_led ? episode_choose : NULL;
    with.choose_context = e;
    return with;
}

int network_play(const network_training *t, const clo_model *model, const train_law *law, played *list, uint32_t count)
{
    train_stream *streams = calloc(count, sizeof *streams);
    clo_learned_argument *with = calloc(count, sizeof *with);
    int code = EXIT_GOOD;

    if (streams == NULL || with == NULL) {
        free(streams);
        free(with);
        return complain(NULL, "out of memory");
    }
    train_streams how = streams_of(t, law->scene);

    if (law->jobs > 0)
        how.arrivals.jobs = law->jobs;
    for (uint32_t i = 0; i < count && code == EXIT_GOOD; i++) {
        with[i] = argument_of(model, law, &list[i].episode);
        streams[i] = (train_stream){
            .policy = t->policy, .argument = &with[i], .seed = list[i].seed, .outcomes = list[i].outcomes};
    }
    if (code == EXIT_GOOD)
        code = train_streams_run(&how, NULL, streams, count);
    for (uint32_t i = 0; i < count && code == EXIT_GOOD; i++) {
        list[i].reached = streams[i].reached;
        if (list[i].episode.has_failed)
            code = complain(NULL, "out of memory");
    }
    free(streams);
    free(with);
    return code;
}

teacher network_teacher(const network_training *t, uint32_t scene)
{
    return teacher_for(t->mean_work_ns, clo_platform_executors(t->scenes[scene].platform));
}

/* Decisions of an episode that the teacher leads. */
static int collect_scene(network_training *t, uint32_t scene)
{
    const teacher leads = network_teacher(t, scene);
    const train_law law = {.scene = scene};
    played one = {.seed = t->o.scenes.seeds.first,
                  .episode = {.taught_by = &leads, .is_led = true, .keep = 1, .executors = t->executors}};
    episode *e = &one.episode;
    int code = network_play(t, NULL, &law, &one, 1);
    decision *more = code == EXIT_GOOD ? realloc(t->scaled, (t->scaled_count + SCALED_EACH) * sizeof *more) : NULL;

    if (more != NULL)
        t->scaled = more;
    else if (code == EXIT_GOOD)
        code = complain(NULL, "out of memory");
    for (uint32_t i = 0; i < SCALED_EACH && code == EXIT_GOOD; i++) {
        uint32_t from = (uint32_t)((uint64_t)i * e->kept_count / SCALED_EACH);
        if (i > 0 && from == (uint32_t)((uint64_t)(i - 1) * e->kept_count / SCALED_EACH))
            continue;
        if (from < e->kept_count && e->kept[from].inputs != NULL) {
            t->scaled[t->scaled_count++] = e->kept[from];
            e->kept[from].inputs = NULL; /* moved */
        }
    }
    episode_free(e);
    return code;
}

/* Of a job of the workload. */
static double mean_work_ns(const clo_workload *jobs)
{
    double sum = 0;

    for (uint32_t j = 0; j < clo_workload_jobs(jobs); j++) {
        const clo_graph *graph = clo_workload_get(jobs, j)->graph;
        for (uint32_t i = 0; i < clo_graph_tasks(graph); i++) {
            clo_task task = CLO_TASK_INIT;
            if (clo_graph_task(graph, i, &task) == CLO_OK)
                sum += (double)task.work_ns * (task.instances > 0 ? task.instances : 1);
        }
    }
    return fmax(1, sum / clo_workload_jobs(jobs));
}

int network_prepare(network_training *t)
{
    uint32_t count = t->o.scenes.validation.count;
    int code = EXIT_GOOD;

    t->mean_work_ns = mean_work_ns(t->jobs);
    t->baseline_ns = calloc((size_t)t->scenes_count * count, sizeof *t->baseline_ns);
    if (t->baseline_ns == NULL)
        return complain(NULL, "out of memory");
    for (uint32_t s = 0; s < t->scenes_count && code == EXIT_GOOD; s++)
        code = collect_scene(t, s);
    if (code == EXIT_GOOD && t->scaled_count == 0)
        return complain(NULL, "the streams hold no decision to train on; write more --jobs");
    const network_tries tries = {t->o.scenes.validation, t->baseline, t->baseline_argument, t->baseline_ns};
    return code == EXIT_GOOD ? network_try(t, &tries) : code;
}

int network_model(network_training *t, double *numbers, void **data, size_t *bytes, clo_model **opened)
{
    const char *why = NULL;
    clo_status status = agent_model(numbers, t->executors, t->o.name, t->scaled, t->scaled_count, data, bytes, &why);

    if (status == CLO_OK && opened != NULL)
        status = clo_model_open(t->o.name, *data, *bytes, opened);
    if (status == CLO_OK)
        return EXIT_GOOD;
    return why != NULL ? complain("the model", "%s", why) : complain_status("the model", status);
}
