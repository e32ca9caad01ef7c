/* train_parametric.c - the numbers of the policy "parametric" by the cross-entropy method (../train/cem.h).
 *
 * A score is the mean over streams of (mean completion time under the sample / under the baseline). Each generation
 * takes the next seeds of the training list; its mean is judged on all seeds of validation, and the best mean is kept.
 * l_scale is searched as its logarithm; fit only on platforms whose machines differ in their capacities, elsewhere it
 * is 0 and not written. */
#define _POSIX_C_SOURCE 200809L
#include "../train/cem.h"
#include "arrivals.h"
#include "json.h"
#include "policy_option.h"
#include "simulate.h"
#include "simulate_hash.h"
#include "train.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NUMBERS = 10, SCALE = 5, FIT = 9, ARGUMENT_BYTES = 256, THREADS_MAX = 256 };

/* Where the search begins, and how widely; the built-in argument has the same numbers. */
static const double start_mean[NUMBERS] = {1.0254, 4.9115, 4.9624, 0.5845, 0.1769, 2.3192, 0.2864, 0.6474, -1, 0};
static const double start_sigma[NUMBERS] = {0.6, 1.5, 1.5, 0.3, 0.4, 0.5, 0.3, 0.4, 1, 1};
static const double least_sigma[NUMBERS] = {0.02, 0.05, 0.05, 0.01, 0.01, 0.02, 0.01, 0.01, 0.01, 0.05};

/* The built-in unit of time is this share of the mean work of a TPC-H query. */
static const double unit_per_work = 1 / 7.26;

typedef struct training {
    const char *path;
    const train_options *o;
    clo_workload *jobs;
    clo_platform *opened;
    const clo_platform *platform;
    clo_arrivals_config arrivals;
    const clo_policy *policy, *baseline;
    void *baseline_argument;
    int64_t unit_ns;
    double *baseline_ns; /* [seeds, then validation] */
    uint64_t hash;       /* of all that a checkpoint must agree with */
    cem cem;
} training;

/* One simulation of a batch of them. */
typedef struct task {
    const clo_policy *policy;
    const void *argument;
    uint64_t seed;
    double jct_ns; /* out */
    clo_status status;
    char error[256];
} task;

typedef struct batch {
    const training *t;
    task *tasks;
    uint32_t count;
    _Atomic uint32_t next;
} batch;

static clo_status simulate(const training *t, task *k)
{
    clo_arrivals_config arrivals = t->arrivals;
    clo_environment environment = CLO_ENVIRONMENT_INIT;
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_stream_result result = CLO_STREAM_RESULT_INIT;
    clo_workload *drawn = NULL;

    arrivals.seed = k->seed;
    clo_status status = clo_workload_arrivals(t->jobs, &arrivals, &drawn);
    if (status == CLO_OK && t->o->environment != NULL) {
        status = clo_environment_open(t->o->environment, k->seed, &environment);
        config.environment = &environment;
    }
    config.policy = k->policy;
    config.argument = k->argument;
    if (status == CLO_OK)
        status = clo_stream_simulate(drawn, t->platform, &config, &result);
    clo_environment_close(&environment);
    clo_workload_destroy(drawn);
    k->jct_ns = result.jct_mean_ns;
    return status;
}

static void *work(void *argument)
{
    batch *b = argument;

    for (uint32_t i; (i = atomic_fetch_add(&b->next, 1)) < b->count;) { /* ends: next grows */
        task *k = &b->tasks[i];
        k->status = simulate(b->t, k);
        if (k->status != CLO_OK)
            snprintf(k->error, sizeof k->error, "%s", clo_last_error());
    }
    return NULL;
}

/* Runs all tasks. Returns EXIT_GOOD, or an exit code after an error line. */
static int run_batch(const training *t, task *tasks, uint32_t count)
{
    batch b = {.t = t, .tasks = tasks, .count = count};
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t threads = t->o->threads > 0 ? t->o->threads : cpus > 0 && cpus < THREADS_MAX ? (uint32_t)cpus : 1;
    pthread_t list[THREADS_MAX];
    uint32_t started = 0;

    while (started + 1 < threads && pthread_create(&list[started], NULL, work, &b) == 0)
        started++;
    (void)work(&b);
    while (started > 0)
        pthread_join(list[--started], NULL);
    for (uint32_t i = 0; i < count; i++)
        if (tasks[i].status != CLO_OK)
            return complain(t->path, "seed %llu: %s", (unsigned long long)tasks[i].seed, tasks[i].error);
    return EXIT_GOOD;
}

/* The argument of the policy as text. */
static void to_text(const training *t, const double *numbers, char *out)
{
    size_t used = 0;

    for (uint32_t n = 0; n < t->cem.numbers; n++) {
        double value = n == SCALE ? exp(numbers[n]) : numbers[n];
        value = fmax(n == SCALE ? 0.01 : n == FIT ? 0 : -999, fmin(999, value));
        used += (size_t)snprintf(out + used, ARGUMENT_BYTES - used, "%s%.4f",
                                 n == FIT ? ",fit="
                                 : n > 0  ? ","
                                          : "",
                                 value);
    }
    snprintf(out + used, ARGUMENT_BYTES - used, ",%lldns", (long long)t->unit_ns);
}

static void *to_argument(const training *t, const double *numbers)
{
    char text[ARGUMENT_BYTES];
    void *argument = calloc(1, t->policy->argument_bytes);

    to_text(t, numbers, text);
    if (argument != NULL && t->policy->parse(text, argument) == CLO_OK)
        return argument;
    free(argument);
    return NULL;
}

/* Fills baseline_ns. */
static int measure_baseline(training *t)
{
    uint32_t count = t->o->seeds.count + t->o->validation.count;
    task *tasks = calloc(count, sizeof *tasks);

    t->baseline_ns = calloc(count, sizeof *t->baseline_ns);
    if (tasks == NULL || t->baseline_ns == NULL) {
        free(tasks);
        return complain(NULL, "out of memory");
    }
    for (uint32_t i = 0; i < count; i++)
        tasks[i] = (task){.policy = t->baseline,
                          .argument = t->baseline_argument,
                          .seed = i < t->o->seeds.count ? t->o->seeds.first + i
                                                        : t->o->validation.first + i - t->o->seeds.count};
    int code = run_batch(t, tasks, count);
    for (uint32_t i = 0; i < count; i++)
        t->baseline_ns[i] = tasks[i].jct_ns > 0 ? tasks[i].jct_ns : 1;
    free(tasks);
    return code;
}

/* The scores of `samples` on `count` streams: the `from`-th of the list and those behind it, in a circle within the
 * training seeds, or the validation seeds. */
static int score(const training *t, double (*samples)[CEM_NUMBERS_MAX], uint32_t samples_count, bool validates,
                 uint32_t from, uint32_t count, double *scores)
{
    task *tasks = calloc((size_t)samples_count * count, sizeof *tasks);
    void **arguments = calloc(samples_count, sizeof *arguments);
    seed_list list = validates ? t->o->validation : t->o->seeds;
    int code = EXIT_GOOD;

    if (tasks == NULL || arguments == NULL) {
        free(tasks);
        free(arguments);
        return complain(NULL, "out of memory");
    }
    for (uint32_t s = 0; s < samples_count && code == EXIT_GOOD; s++) {
        arguments[s] = to_argument(t, samples[s]);
        if (arguments[s] == NULL)
            code = complain(NULL, "a sample is no argument: %s", clo_last_error());
        for (uint32_t i = 0; i < count; i++)
            tasks[(size_t)s * count + i] =
                (task){.policy = t->policy, .argument = arguments[s], .seed = list.first + (from + i) % list.count};
    }
    if (code == EXIT_GOOD)
        code = run_batch(t, tasks, samples_count * count);
    for (uint32_t s = 0; s < samples_count && code == EXIT_GOOD; s++) {
        scores[s] = 0;
        for (uint32_t i = 0; i < count; i++) {
            size_t at = (validates ? t->o->seeds.count : 0) + (from + i) % list.count;
            scores[s] += tasks[(size_t)s * count + i].jct_ns / t->baseline_ns[at] / count;
        }
    }
    for (uint32_t s = 0; s < samples_count; s++)
        free(arguments[s]);
    free(arguments);
    free(tasks);
    return code;
}

static int write_checkpoint(const training *t)
{
    char name[4096];

    if (t->o->checkpoint == NULL)
        return EXIT_GOOD;
    snprintf(name, sizeof name, "%s.new", t->o->checkpoint);
    FILE *file = fopen(name, "w");
    bool is_good = file != NULL &&
                   fprintf(file, "clotho.checkpoint/1 parametric %llx\n", (unsigned long long)t->hash) > 0 &&
                   cem_write(&t->cem, file);
    if (file != NULL)
        is_good = fclose(file) == 0 && is_good;
    if (is_good && rename(name, t->o->checkpoint) == 0)
        return EXIT_GOOD;
    return complain(t->o->checkpoint, "the checkpoint cannot be written; check the folder and its rights");
}

static int read_checkpoint(training *t)
{
    static const char head[] = "clotho.checkpoint/1 parametric ";
    char line[128] = "";
    FILE *file = t->o->checkpoint != NULL ? fopen(t->o->checkpoint, "r") : NULL;

    if (file == NULL)
        return EXIT_GOOD;
    bool is_one = fgets(line, sizeof line, file) != NULL && strncmp(line, head, sizeof head - 1) == 0;
    bool is_mine = is_one && strtoull(line + sizeof head - 1, NULL, 16) == t->hash;
    bool is_read = is_mine && cem_read(&t->cem, file);
    fclose(file);
    if (is_read)
        return EXIT_GOOD;
    if (is_one && !is_mine)
        return complain(t->o->checkpoint,
                        "was written for other jobs or options; name another file, or delete this one");
    return complain(t->o->checkpoint,
                    "is no checkpoint of 'clotho train parametric', or damaged; delete it to begin anew");
}

/* The samples of one generation, the next distribution, and its mean on the seeds of validation. */
static int run_generation(training *t, double *train_score, double *valid_score)
{
    const train_options *o = t->o;
    uint32_t each = o->seeds_each > 0 && o->seeds_each < o->seeds.count ? o->seeds_each : o->seeds.count;
    double(*samples)[CEM_NUMBERS_MAX] = calloc(o->population, sizeof *samples);
    double *scores = calloc(o->population, sizeof *scores), mean[1][CEM_NUMBERS_MAX];
    int code = EXIT_GOOD;

    if (samples == NULL || scores == NULL) {
        free(samples);
        free(scores);
        return complain(NULL, "out of memory");
    }
    for (uint32_t s = 0; s < o->population && code == EXIT_GOOD; s++)
        cem_sample(&t->cem, s, samples[s]);
    if (code == EXIT_GOOD)
        code = score(t, samples, o->population, false, t->cem.generation * each % o->seeds.count, each, scores);
    if (code == EXIT_GOOD) {
        *train_score = scores[0];
        if (!cem_update(&t->cem, scores, o->population, (o->population + 4) / 5, 0.3))
            code = complain(NULL, "out of memory");
    }
    memcpy(mean[0], t->cem.mean, sizeof mean[0]);
    if (code == EXIT_GOOD)
        code = score(t, mean, 1, true, 0, o->validation.count, valid_score);
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

static uint64_t fold(uint64_t hash, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        hash = (hash ^ ((value >> (8 * i)) & 0xff)) * UINT64_C(1099511628211);
    return hash;
}

static uint64_t fold_text(uint64_t hash, const char *text)
{
    for (; text != NULL && *text != '\0'; text++)
        hash = fold(hash, (unsigned char)*text);
    return fold(hash, 0);
}

static uint64_t hash_of(const training *t)
{
    const train_options *o = t->o;
    uint64_t hash = fold(fold(UINT64_C(14695981039346656037), workload_hash(t->jobs)), platform_hash(t->platform));

    hash = fold_text(fold_text(fold_text(hash, o->environment), o->arrivals), o->baseline);
    hash = fold(fold(fold(hash, o->jobs), o->population), o->seeds_each);
    hash = fold(fold(fold(hash, o->seeds.first), o->seeds.count), o->validation.first);
    return fold_text(fold(fold(hash, o->validation.count), o->seed), o->start);
}

static int64_t choose_unit(const clo_workload *jobs)
{
    double work_ns = 0;

    for (uint32_t j = 0; j < clo_workload_jobs(jobs); j++) {
        const clo_graph *graph = clo_workload_get(jobs, j)->graph;
        for (uint32_t i = 0; i < clo_graph_tasks(graph); i++) {
            clo_task row;
            if (clo_graph_task(graph, i, &row) == CLO_OK)
                work_ns += (double)row.work_ns * (row.instances > 0 ? row.instances : 1);
        }
    }
    double unit = work_ns / clo_workload_jobs(jobs) * unit_per_work;
    return unit < 1 ? 1 : unit > 1e16 ? INT64_C(10000000000000000) : (int64_t)unit;
}

/* --start NUMBERS, fit left out or not, the unit left out or the same. */
static int read_start(training *t)
{
    const char *at = t->o->start;
    char *end;

    memcpy(t->cem.mean, start_mean, sizeof start_mean);
    for (int n = 0; n < NUMBERS && at != NULL; n++) {
        if (n == FIT && strncmp(at, "fit=", 4) != 0)
            break;
        at += n == FIT ? 4 : 0;
        t->cem.mean[n] = strtod(at, &end);
        if (end == at || !isfinite(t->cem.mean[n]) || (n == SCALE && !(t->cem.mean[n] > 0)) ||
            (*end != ',' && n + 1 < FIT))
            return misuse("--start is '%.80s'; write nine numbers with commas between, as the policy takes them",
                          t->o->start);
        if (n == SCALE)
            t->cem.mean[n] = log(t->cem.mean[n]);
        at = end + (*end == ',');
    }
    return EXIT_GOOD;
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

static int open_training(training *t)
{
    const train_options *o = t->o;
    clo_load_config load = CLO_LOAD_CONFIG_INIT;
    const char *text;

    int code = policy_open(o->baseline, &t->baseline, &text, &t->baseline_argument);
    t->arrivals = (clo_arrivals_config)CLO_ARRIVALS_CONFIG_INIT;
    if (code == EXIT_GOOD)
        code = arrivals_parse(o->arrivals, &t->arrivals);
    t->arrivals.jobs = o->jobs;
    t->arrivals.shuffled = t->arrivals.kind != CLO_ARRIVALS_TRACE;
    t->cem = (cem){.numbers = FIT, .seed = o->seed, .best_score = INFINITY};
    memcpy(t->cem.sigma, start_sigma, sizeof start_sigma);
    memcpy(t->cem.least_sigma, least_sigma, sizeof least_sigma);
    if (code == EXIT_GOOD)
        code = read_start(t);
    if (code != EXIT_GOOD)
        return code;
    memcpy(t->cem.best, t->cem.mean, sizeof t->cem.best);
    load.scale = o->scale;
    clo_status status = clo_workload_load(t->path, &load, &t->jobs);
    if (status != CLO_OK)
        return complain_status(t->path, status);
    t->platform = clo_workload_platform(t->jobs);
    if (o->spec != NULL || t->platform == NULL) {
        code = platform_open(o->spec != NULL ? o->spec : "native", &t->opened);
        t->platform = t->opened;
    }
    t->cem.numbers = code == EXIT_GOOD && has_classes(t->platform) ? NUMBERS : FIT;
    t->policy = clo_policy_find("parametric");
    t->unit_ns = choose_unit(t->jobs);
    t->hash = code == EXIT_GOOD ? hash_of(t) : 0;
    return code;
}

static int report(const training *t, double seconds)
{
    char text[ARGUMENT_BYTES];
    json out;

    to_text(t, t->cem.best, text);
    if (t->o->output != NULL) {
        FILE *file = fopen(t->o->output, "w");
        bool is_good = file != NULL && fprintf(file, "%s\n", text) > 0;
        if (file != NULL)
            is_good = fclose(file) == 0 && is_good;
        if (!is_good)
            return complain(t->o->output, "cannot be written; check the folder and its rights");
    }
    if (!t->o->as_json) {
        printf("\nbest         %.4f of '%s' on %u seeds of validation, in %.1f s\n", t->cem.best_score, t->o->baseline,
               t->o->validation.count, seconds);
        printf("use          --policy parametric:%s\n", text);
        return EXIT_GOOD;
    }
    json_begin(&out);
    json_text(&out, "policy", "parametric");
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

    printf("training on  %s: %u jobs a stream, arrivals %s%s%s, platform %s\n", t->path, o->jobs, o->arrivals,
           o->environment != NULL ? ", environment " : "", o->environment != NULL ? o->environment : "",
           clo_platform_name(t->platform));
    printf("seeds        %llu-%llu (list %016llx), validation %llu-%llu (list %016llx), samples seed %llu\n",
           (unsigned long long)o->seeds.first, (unsigned long long)(o->seeds.first + o->seeds.count - 1),
           (unsigned long long)seeds_hash(o->seeds), (unsigned long long)o->validation.first,
           (unsigned long long)(o->validation.first + o->validation.count - 1),
           (unsigned long long)seeds_hash(o->validation), (unsigned long long)o->seed);
    printf("scores       mean completion time, 1 is that of '%s'\n\n", o->baseline);
    fflush(stdout);
}

int train_parametric(const char *path, const train_options *options)
{
    training t = {.path = path, .o = options};
    struct timespec from, to;

    clock_gettime(CLOCK_MONOTONIC, &from);
    int code = open_training(&t);
    if (code == EXIT_GOOD)
        code = read_checkpoint(&t);
    if (code == EXIT_GOOD && !options->as_json)
        print_head(&t);
    if (code == EXIT_GOOD)
        code = measure_baseline(&t);
    if (code == EXIT_GOOD)
        code = train(&t);
    clock_gettime(CLOCK_MONOTONIC, &to);
    if (code == EXIT_GOOD)
        code = report(&t, (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9);
    clo_platform_destroy(t.opened);
    clo_workload_destroy(t.jobs);
    policy_close(t.baseline, t.baseline_argument);
    free(t.baseline_ns);
    return code;
}
