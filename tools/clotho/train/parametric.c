/* parametric.c - the numbers of the policies of tuned.h by the cross-entropy method (../train/cem.h).
 *
 * A score is the mean over streams of (mean completion time under the sample / under the baseline). Each generation
 * takes the next seeds of the training list; its mean is judged on all seeds of validation, and the best mean is kept.
 * With several scenes a score is the mean of theirs.
 * Numbers for platforms whose machines differ in their capacities are searched there alone, and elsewhere not written.
 */
#define _POSIX_C_SOURCE 200809L
#include "clotho/common/clock.h"
#include "clotho/common/json.h"
#include "clotho/common/outputs.h"
#include "clotho/common/policy_option.h"
#include "clotho/simulate/hash.h"
#include "clotho/simulate/simulate.h"
#include "clotho/train/scenes.h"
#include "clotho/train/streams.h"
#include "clotho/train/train.h"
#include "clotho/train/tuned.h"
#include "train/numbers/fnv.h"
#include "train/search/cem.h"
#include "train/trainer/checkpoint_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct training {
    const char *path;
    const train_options *o;
    clo_workload *jobs;
    train_scene scenes[TRAIN_SCENES_MAX];
    uint32_t scenes_count;
    train_goal goal;
    const tuned *tuned;
    const clo_policy *policy, *baseline;
    void *baseline_argument;
    double *baseline_reached; /* [scenes][seeds, then validation] */
    uint64_t hash;            /* of all that a checkpoint must agree with */
    cem cem;
} training;

/* Runs all of them. Returns EXIT_GOOD, or an exit code after an error line. */
static int run_streams(const training *t, const train_scene *scene, train_stream *list, uint32_t count)
{
    const train_streams how = {.jobs = t->jobs,
                               .platform = scene->platform,
                               .arrivals = scene->arrivals,
                               .environment = t->o->environment,
                               .goal = t->goal,
                               .deadlines = scene->deadlines,
                               .threads = t->o->threads};

    return train_streams_run(&how, t->path, list, count);
}

/* As the policy takes it; NULL: nothing that it knows of. */
static const char *policy_goal(const training *t)
{
    return t->goal == TRAIN_P95 || t->goal == TRAIN_LATE ? t->o->goal : NULL;
}

static void *to_argument(const training *t, const double *numbers)
{
    char text[TUNED_ARGUMENT_BYTES];
    void *argument = calloc(1, t->policy->argument_bytes);

    tuned_text(t->tuned, &t->cem, numbers, policy_goal(t), text);
    if (argument != NULL && t->policy->parse(text, argument) == CLO_OK)
        return argument;
    free(argument);
    return NULL;
}

static uint32_t seeds_of(const training *t)
{
    return t->o->seeds.count + t->o->validation.count;
}

/* Fills baseline_reached. */
static int measure_baseline(training *t)
{
    uint32_t count = seeds_of(t);
    train_stream *streams = calloc(count, sizeof *streams);
    int code = EXIT_GOOD;

    t->baseline_reached = calloc((size_t)t->scenes_count * count, sizeof *t->baseline_reached);
    if (streams == NULL || t->baseline_reached == NULL) {
        free(streams);
        return complain(NULL, "out of memory");
    }
    for (uint32_t i = 0; i < count; i++)
        streams[i] = (train_stream){.policy = t->baseline,
                                    .argument = t->baseline_argument,
                                    .seed = i < t->o->seeds.count ? t->o->seeds.first + i
                                                                  : t->o->validation.first + i - t->o->seeds.count};
    for (uint32_t s = 0; s < t->scenes_count && code == EXIT_GOOD; s++) {
        code = run_streams(t, &t->scenes[s], streams, count);
        for (uint32_t i = 0; i < count; i++)
            t->baseline_reached[(size_t)s * count + i] = streams[i].reached > 0 ? streams[i].reached : 1;
    }
    free(streams);
    return code;
}

/* What samples are tried on: the `from`-th seed of a list and those behind it, in a circle. */
typedef struct tries {
    seed_list list;
    uint32_t offset; /* of the list in a scene's baseline_reached */
    uint32_t from, count;
} tries;

/* Adds the scores of one scene. streams: [samples_count * count], with policies and arguments. */
static int score_scene(const training *t, uint32_t scene, const tries *on, train_stream *streams,
                       uint32_t samples_count, double *scores)
{
    const double *baseline_reached = t->baseline_reached + (size_t)scene * seeds_of(t) + on->offset;
    int code = run_streams(t, &t->scenes[scene], streams, samples_count * on->count);

    for (uint32_t s = 0; s < samples_count && code == EXIT_GOOD; s++)
        for (uint32_t i = 0; i < on->count; i++)
            scores[s] += streams[(size_t)s * on->count + i].reached /
                         baseline_reached[(on->from + i) % on->list.count] / on->count / t->scenes_count;
    return code;
}

/* The scores of `samples`. */
static int score(const training *t, double (*samples)[CEM_NUMBERS_MAX], uint32_t samples_count, const tries *on,
                 double *scores)
{
    train_stream *streams = calloc((size_t)samples_count * on->count, sizeof *streams);
    void **arguments = calloc(samples_count, sizeof *arguments);
    int code = EXIT_GOOD;

    if (streams == NULL || arguments == NULL) {
        free(streams);
        free(arguments);
        return complain(NULL, "out of memory");
    }
    for (uint32_t s = 0; s < samples_count && code == EXIT_GOOD; s++) {
        scores[s] = 0;
        arguments[s] = to_argument(t, samples[s]);
        if (arguments[s] == NULL)
            code = complain(NULL, "a sample is no argument: %s", clo_last_error());
        for (uint32_t i = 0; i < on->count; i++)
            streams[(size_t)s * on->count + i] =
                (train_stream){.policy = t->policy,
                               .argument = arguments[s],
                               .seed = on->list.first + (on->from + i) % on->list.count};
    }
    for (uint32_t i = 0; i < t->scenes_count && code == EXIT_GOOD; i++)
        code = score_scene(t, i, on, streams, samples_count, scores);
    for (uint32_t s = 0; s < samples_count; s++)
        free(arguments[s]);
    free(arguments);
    free(streams);
    return code;
}

static int write_checkpoint(const training *t)
{
    output out;

    if (t->o->checkpoint == NULL)
        return EXIT_GOOD;
    if (checkpoint_begin(&out, t->o->checkpoint, "parametric", t->hash) &&
        checkpoint_end(&out, cem_write(&t->cem, out.file)))
        return EXIT_GOOD;
    return output_complain(&out);
}

/* The search goes on from the checkpoint, if there is one. */
static int read_checkpoint(training *t)
{
    size_t bytes = 0;
    FILE *lines = NULL;
    unsigned char *data = t->o->checkpoint != NULL ? checkpoint_read(t->o->checkpoint, &bytes) : NULL;

    if (data == NULL)
        return t->o->checkpoint == NULL || errno == ENOENT ? EXIT_GOOD
                                                           : complain(t->o->checkpoint, "%s", strerror(errno));
    const char *wrong = checkpoint_lines((char *)data, bytes, "parametric", t->hash, &lines);
    if (wrong == NULL && !cem_read(&t->cem, lines))
        wrong = "is damaged; delete it to begin anew";
    if (lines != NULL)
        fclose(lines);
    free(data);
    return wrong == NULL ? EXIT_GOOD : complain(t->o->checkpoint, "%s", wrong);
}

/* The samples of one generation, the next distribution, and its mean on the seeds of validation. */
static int run_generation(training *t, double *train_score, double *valid_score)
{
    const train_options *o = t->o;
    uint32_t each = o->seeds_each > 0 && o->seeds_each < o->seeds.count ? o->seeds_each : o->seeds.count;
    double(*samples)[CEM_NUMBERS_MAX] = calloc(o->population, sizeof *samples);
    double *scores = calloc(o->population, sizeof *scores), mean[1][CEM_NUMBERS_MAX];
    const tries on = {o->seeds, 0, t->cem.generation * each % o->seeds.count, each};
    const tries judged = {o->validation, o->seeds.count, 0, o->validation.count};
    int code = EXIT_GOOD;

    if (samples == NULL || scores == NULL) {
        free(samples);
        free(scores);
        return complain(NULL, "out of memory");
    }
    for (uint32_t s = 0; s < o->population && code == EXIT_GOOD; s++)
        cem_sample(&t->cem, s, samples[s]);
    if (code == EXIT_GOOD)
        code = score(t, samples, o->population, &on, scores);
    if (code == EXIT_GOOD) {
        *train_score = scores[0];
        if (!cem_update(&t->cem, scores, o->population, (o->population + 4) / 5, 0.3))
            code = complain(NULL, "out of memory");
    }
    memcpy(mean[0], t->cem.mean, sizeof mean[0]);
    if (code == EXIT_GOOD)
        code = score(t, mean, 1, &judged, valid_score);
    if (code == EXIT_GOOD && *valid_score < t->cem.best_score) {
        t->cem.best_score = *valid_score;
        memcpy(t->cem.best, mean[0], sizeof mean[0]);
    }
    free(samples);
    free(scores);
    return code;
}

static int train(training *t)
{
    bool shows = !t->o->as_json;
    int code = EXIT_GOOD;

    if (shows)
        printf("generation   on training   on validation   best\n");
    while (t->cem.generation < t->o->generations && code == EXIT_GOOD) {
        double train_score = 0, valid_score = 0;
        code = run_generation(t, &train_score, &valid_score);
        if (code == EXIT_GOOD)
            code = write_checkpoint(t);
        if (code == EXIT_GOOD && shows) {
            printf("%10u %13.4f %15.4f %6.4f\n", t->cem.generation, train_score, valid_score, t->cem.best_score);
            fflush(stdout);
        }
    }
    return code;
}

static uint64_t fold_text(uint64_t hash, const char *text)
{
    for (; text != NULL && *text != '\0'; text++)
        hash = fnv_number(hash, (unsigned char)*text);
    return fnv_number(hash, 0);
}

static uint64_t hash_of(const training *t)
{
    const train_options *o = t->o;
    uint64_t hash = fnv_number(FNV_BEGIN, workload_hash(t->jobs));

    for (uint32_t s = 0; s < t->scenes_count; s++)
        hash = fnv_number(hash, platform_hash(t->scenes[s].platform));
    for (uint32_t s = 0; s < o->scenes.count; s++)
        hash = fold_text(hash, o->scenes.items[s]);
    hash = fold_text(fold_text(fold_text(fold_text(hash, o->policy), o->environment), o->arrivals), o->baseline);
    hash = o->deadlines != NULL ? fold_text(hash, o->deadlines) : hash;
    hash = fnv_number(fnv_number(fnv_number(fnv_number(hash, t->goal), o->jobs), o->population), o->seeds_each);
    hash = fnv_number(fnv_number(fnv_number(hash, o->seeds.first), o->seeds.count), o->validation.first);
    return fold_text(fnv_number(fnv_number(hash, o->validation.count), o->seed), o->start);
}

/* Some machine has another capacity than the first one. */
static bool has_classes(const clo_platform *platform)
{
    for (uint32_t m = 1; m < clo_platform_machines(platform); m++)
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
            if (clo_platform_capacity(platform, m, r) != clo_platform_capacity(platform, 0, r))
                return true;
    return false;
}

static bool has_deadlines(const clo_workload *jobs)
{
    for (uint32_t i = 0; i < clo_workload_jobs(jobs); i++)
        if (clo_workload_get(jobs, i)->deadline_ns > 0)
            return true;
    return false;
}

static int open_scenes(training *t)
{
    clo_load_config load = CLO_LOAD_CONFIG_INIT;
    tuned_platforms on = {false, false};

    load.scale = t->o->scale;
    clo_status status = workload_load(t->path, &load, &t->jobs);
    if (status != CLO_OK)
        return complain_status(t->path, status);
    int code = train_scenes_open(t->o, t->jobs, t->scenes, &t->scenes_count);
    for (uint32_t s = 0; s < t->scenes_count && code == EXIT_GOOD; s++)
        on = (tuned_platforms){on.has_classes || has_classes(t->scenes[s].platform),
                               on.has_sizes || clo_platform_executors(t->scenes[s].platform) !=
                                                   clo_platform_executors(t->scenes[0].platform)};
    if (code == EXIT_GOOD && t->goal == TRAIN_LATE && t->o->deadlines == NULL && !has_deadlines(t->jobs))
        return misuse("--for late counts jobs after their deadlines, and no job has one; write --deadlines X-Y");
    return code == EXIT_GOOD ? tuned_begin(t->tuned, t->o->start, on, &t->cem) : code;
}

/* The arguments that are tried have the goal of --for; one in --start would be lost. */
static int check_start(const training *t)
{
    const char *goal = policy_goal(t) != NULL ? policy_goal(t) : "mean";
    const char *said = t->o->start != NULL ? strstr(t->o->start, ",for=") : NULL;
    size_t length = said != NULL ? strcspn(said + 5, ",") : 0;

    if (said == NULL || (strlen(goal) == length && memcmp(goal, said + 5, length) == 0))
        return EXIT_GOOD;
    return misuse("--start has for=%.*s; add --for %.*s, or leave it out there", (int)length, said + 5, (int)length,
                  said + 5);
}

static int open_training(training *t)
{
    const train_options *o = t->o;
    const char *text;

    int code = policy_open(o->baseline, &t->baseline, &text, &t->baseline_argument);
    t->cem = (cem){.seed = o->seed, .best_score = INFINITY};
    if (code == EXIT_GOOD)
        code = train_goal_find(o->goal, &t->goal);
    code = code == EXIT_GOOD ? check_start(t) : code;
    t->tuned = code == EXIT_GOOD ? tuned_find(o->policy) : NULL;
    if (code == EXIT_GOOD)
        code =
            t->tuned != NULL ? tuned_begin(t->tuned, o->start, (tuned_platforms){true, true}, &t->cem) : EXIT_BAD_USAGE;
    if (code == EXIT_GOOD)
        code = open_scenes(t);
    if (code != EXIT_GOOD)
        return code;
    memcpy(t->cem.best, t->cem.mean, sizeof t->cem.best);
    t->policy = clo_policy_find(o->policy);
    t->hash = hash_of(t);
    return EXIT_GOOD;
}

static int report(const training *t, double seconds)
{
    char text[TUNED_ARGUMENT_BYTES];
    json out;

    tuned_text(t->tuned, &t->cem, t->cem.best, policy_goal(t), text);
    if (t->o->output != NULL) {
        output text_file;
        if (!output_open(&text_file, t->o->output) ||
            !output_close(&text_file, fprintf(text_file.file, "%s\n", text) > 0))
            return output_complain(&text_file);
    }
    if (!t->o->as_json) {
        printf("\nbest         %.4f of '%s' on %u seeds of validation, in %.1f s\n", t->cem.best_score, t->o->baseline,
               t->o->validation.count, seconds);
        printf("use          --policy %s:%s\n", t->o->policy, text);
        return EXIT_GOOD;
    }
    json_begin(&out);
    json_text(&out, "policy", t->o->policy);
    json_text(&out, "argument", text);
    json_text(&out, "baseline", t->o->baseline);
    json_real(&out, "validation", t->cem.best_score);
    json_count(&out, "generations", t->cem.generation);
    json_count(&out, "seeds_hash", seeds_hash(t->o->seeds));
    json_real(&out, "seconds", seconds);
    return json_print(&out);
}

static void print_head(const training *t)
{
    const train_options *o = t->o;

    printf("numbers of   %s\n", o->policy);
    printf("training on  %s%s%s\n", t->path, o->environment != NULL ? ", environment " : "",
           o->environment != NULL ? o->environment : "");
    for (uint32_t s = 0; s < o->scenes.count; s++)
        printf("             %s\n", o->scenes.items[s]);
    if (o->scenes.count == 0)
        printf("             %u jobs a stream, arrivals %s, platform %s\n", o->jobs, o->arrivals,
               clo_platform_name(t->scenes[0].platform));
    printf("seeds        %llu-%llu (list %016llx), validation %llu-%llu (list %016llx), samples seed %llu\n",
           (unsigned long long)o->seeds.first, (unsigned long long)(o->seeds.first + o->seeds.count - 1),
           (unsigned long long)seeds_hash(o->seeds), (unsigned long long)o->validation.first,
           (unsigned long long)(o->validation.first + o->validation.count - 1),
           (unsigned long long)seeds_hash(o->validation), (unsigned long long)o->seed);
    printf("scores       %s, 1 is that of '%s'\n\n", train_goal_words(t->goal), o->baseline);
    fflush(stdout);
}

int train_parametric(const char *path, const train_options *options)
{
    training t = {.path = path, .o = options};
    int64_t begin_ns = monotonic_ns();
    int code = open_training(&t);

    if (code == EXIT_GOOD)
        code = read_checkpoint(&t);
    if (code == EXIT_GOOD && !options->as_json)
        print_head(&t);
    if (code == EXIT_GOOD)
        code = measure_baseline(&t);
    if (code == EXIT_GOOD)
        code = train(&t);
    if (code == EXIT_GOOD)
        code = report(&t, seconds_since(begin_ns));
    train_scenes_close(t.scenes, t.scenes_count);
    clo_workload_destroy(t.jobs);
    policy_close(t.baseline, t.baseline_argument);
    free(t.baseline_reached);
    return code;
}
