/* simulate_workload.c - `clotho simulate` of a whole workload: what the options say becomes a simulation; the runs of a
 * range of seeds go on in parallel, and are reported in the order of their seeds. */
#define _POSIX_C_SOURCE 200809L
#include "simulate.h"
#include "simulate_hash.h"
#include "simulate_replay.h"

#include "arrivals.h"
#include "stream_case.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEEDS_MAX = 1000000, THREADS_MAX = 64 };

/* Jobs up to which a kind that the platform lacks is looked for unasked: that makes a cost for each graph. */
#define WARNED_JOBS_MAX 4096u

bool is_workload_file(const char *path)
{
    char head[512] = "";
    size_t length = strlen(path);
    clo_documents *documents;

    if (strcmp(path, "-") == 0 || (length > 4 && strcmp(path + length - 4, ".csv") == 0))
        return true;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false;
    head[fread(head, 1, sizeof head - 1, file)] = '\0';
    fclose(file);
    if (strstr(head, "clotho.workload/") != NULL)
        return true;
    if (clo_documents_open(path, NULL, &documents) != CLO_OK)
        return false;
    bool has_many = clo_documents_count(documents) > 1;
    clo_documents_close(documents);
    return has_many;
}

int policy_open(const char *name, const clo_policy **policy, const char **text, void **argument)
{
    char plain[64];
    size_t length = strcspn(name, ":");

    *text = name[length] == ':' ? name + length + 1 : NULL;
    *argument = NULL;
    snprintf(plain, sizeof plain, "%.*s", length < sizeof plain ? (int)length : (int)sizeof plain - 1, name);
    if (known_policy(plain) != EXIT_GOOD)
        return EXIT_BAD_USAGE;
    *policy = clo_policy_find(plain);
    if (*policy == NULL)
        return misuse("'%s' is no policy of the scheduler; see 'clotho list policies'", plain);
    if (*text == NULL)
        return EXIT_GOOD;
    if ((*policy)->parse == NULL)
        return misuse("the policy '%s' takes no argument; write --policy %s", plain, plain);
    *argument = calloc(1, (*policy)->argument_bytes > 0 ? (*policy)->argument_bytes : 1);
    if (*argument == NULL)
        return misuse("out of memory");
    if ((*policy)->parse(*text, *argument) == CLO_OK)
        return EXIT_GOOD;
    free(*argument);
    *argument = NULL;
    return misuse("--policy %s: %s", name, clo_last_error());
}

/* --platform, else the workload's own, else this machine. */
static int choose_platform(simulation *sim)
{
    const clo_platform *own = clo_workload_platform(sim->loaded);

    sim->spec = sim->options->input.spec;
    if (sim->spec == NULL)
        sim->spec = own != NULL ? "own" : "native";
    if (strcmp(sim->spec, "own") != 0) {
        int code = platform_open(sim->spec, &sim->opened);
        sim->platform = sim->opened;
        return code;
    }
    sim->platform = own;
    return own != NULL ? EXIT_GOOD : complain(sim->path, "carries no platform; name one with --platform SPEC");
}

/* Jobs that --jobs draws are random ones, those of a trace stand in their order. */
static int choose_arrivals(simulation *sim)
{
    const simulate_options *o = sim->options;

    sim->arrivals = (clo_arrivals_config)CLO_ARRIVALS_CONFIG_INIT;
    sim->arrivals_text = o->arrivals != NULL ? o->arrivals : "trace";
    sim->draws = o->jobs > 0 || o->arrivals != NULL;
    int code = arrivals_parse(sim->arrivals_text, &sim->arrivals);
    sim->arrivals.jobs = o->jobs;
    sim->arrivals.shuffled = o->jobs > 0 && sim->arrivals.kind != CLO_ARRIVALS_TRACE;
    return code;
}

/* Kinds that the platform lacks: a warning, or an error if wanted. */
static int check_kinds(const simulation *sim)
{
    bool is_strict = sim->options->input.strict;
    stream_case jobs;
    int code = EXIT_GOOD;

    if (!is_strict && clo_workload_jobs(sim->loaded) > WARNED_JOBS_MAX)
        return EXIT_GOOD;
    clo_status status = stream_case_open(&jobs, sim->loaded, sim->platform, NULL);
    const char *kind = status == CLO_OK ? stream_case_unmatched_kind(&jobs) : NULL;
    const char *platform = clo_platform_name(sim->platform);
    if (status != CLO_OK)
        code = status == CLO_ERR_MEMORY ? complain(sim->path, "out of memory") : complain_status(sim->path, status);
    else if (kind != NULL && is_strict)
        code = complain(sim->path,
                        "platform '%s' has no executor of kind '%.60s'; correct the names or leave --strict out",
                        platform, kind);
    else if (kind != NULL)
        warn("%s: platform '%s' has no executor of kind '%.60s'; what the graphs say for that is not used", sim->path,
             platform, kind);
    stream_case_close(&jobs);
    return code;
}

int simulation_open(simulation *sim)
{
    const simulate_options *o = sim->options;
    clo_load_config load = CLO_LOAD_CONFIG_INIT;

    int code = policy_open(o->policy, &sim->policy, &sim->policy_text, &sim->argument);
    if (code == EXIT_GOOD)
        code = choose_arrivals(sim);
    if (code != EXIT_GOOD)
        return code;
    sim->policy_name = sim->policy->name;
    load.scale = o->input.scale;
    clo_status status = clo_workload_load(sim->path, &load, &sim->loaded);
    if (status != CLO_OK)
        return complain_status(sim->path, status);
    code = choose_platform(sim);
    if (code == EXIT_GOOD)
        code = check_kinds(sim);
    if (code == EXIT_GOOD) {
        sim->workload_hash = workload_hash(sim->loaded);
        sim->platform_hash = platform_hash(sim->platform);
    }
    return code;
}

void simulation_close(simulation *sim)
{
    clo_platform_destroy(sim->opened);
    clo_workload_destroy(sim->loaded);
    free(sim->argument);
}

/* One error line and 1 where the run failed or its log is not valid. */
static int verdict(const simulation *sim, const simulated_run *run)
{
    if (run->status == CLO_OK)
        return EXIT_GOOD;
    if (strncmp(run->error, sim->path, strlen(sim->path)) == 0)
        return complain(NULL, "%s", run->error);
    return complain(sim->path, "%s", run->error);
}

static int write_files(const simulation *sim, const simulated_run *run)
{
    const simulate_options *o = sim->options;
    int code = EXIT_GOOD;
    clo_status status;

    if (o->log != NULL && (status = clo_log_save(run->log, o->log)) != CLO_OK)
        code = complain_status(o->log, status);
    if (o->csv != NULL && simulated_csv(sim, run, o->csv) != EXIT_GOOD)
        code = EXIT_BAD_INPUT;
    return code;
}

static int simulate_one(const simulation *sim)
{
    simulated_run run = {.seed = sim->options->seed};
    int code = EXIT_GOOD;

    simulation_run(sim, &run);
    if (run.status == CLO_OK || run.is_judged) {
        if (sim->options->as_json) {
            code = simulated_json(sim, &run);
        } else {
            simulated_head(sim);
            simulated_text(sim, &run);
        }
        if (code == EXIT_GOOD)
            code = write_files(sim, &run);
    }
    if (run.status != CLO_OK)
        code = verdict(sim, &run);
    simulated_run_close(&run);
    return code;
}

/* The runs of a range of seeds. */
typedef struct range {
    const simulation *sim;
    simulated_run *runs; /* [count] */
    bool *is_done;       /* [count] */
    size_t count, next, reported;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} range;

/* Takes runs in order. No more than THREADS_MAX wait to be reported, so that memory does not grow. */
static void *work(void *argument)
{
    range *r = argument;

    pthread_mutex_lock(&r->lock);
    while (r->next < r->count) {
        if (r->next >= r->reported + THREADS_MAX) {
            pthread_cond_wait(&r->changed, &r->lock);
            continue;
        }
        size_t mine = r->next++;
        pthread_mutex_unlock(&r->lock);
        simulation_run(r->sim, &r->runs[mine]);
        pthread_mutex_lock(&r->lock);
        r->is_done[mine] = true;
        pthread_cond_broadcast(&r->changed);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static int report_run(const simulation *sim, const simulated_run *run, bool is_first)
{
    int code = EXIT_GOOD;

    if (run->status == CLO_OK || run->is_judged) {
        if (sim->options->as_json)
            code = simulated_json(sim, run);
        else
            simulated_row(run, is_first);
    }
    return run->status != CLO_OK ? verdict(sim, run) : code;
}

static int report_in_order(range *r)
{
    int code = EXIT_GOOD;

    for (size_t i = 0; i < r->count; i++) {
        pthread_mutex_lock(&r->lock);
        while (!r->is_done[i])
            pthread_cond_wait(&r->changed, &r->lock);
        pthread_mutex_unlock(&r->lock);
        int one = report_run(r->sim, &r->runs[i], i == 0);
        code = code == EXIT_GOOD ? one : code;
        fflush(stdout);
        simulated_run_close(&r->runs[i]);
        pthread_mutex_lock(&r->lock);
        r->reported = i + 1;
        pthread_cond_broadcast(&r->changed);
        pthread_mutex_unlock(&r->lock);
    }
    return code;
}

static int simulate_range(const simulation *sim, uint64_t first, size_t count)
{
    range r = {.sim = sim, .count = count, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    pthread_t threads[THREADS_MAX];
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    size_t wanted = cpus < 1 ? 1 : cpus > THREADS_MAX ? THREADS_MAX : (size_t)cpus, started = 0;
    int code = EXIT_GOOD;

    r.runs = calloc(count, sizeof r.runs[0]);
    r.is_done = calloc(count, sizeof r.is_done[0]);
    if (r.runs == NULL || r.is_done == NULL) {
        code = complain(sim->path, "out of memory");
        goto done;
    }
    for (size_t i = 0; i < count; i++)
        r.runs[i].seed = first + i;
    if (!sim->options->as_json)
        simulated_head(sim);
    while (started < wanted && started < count && pthread_create(&threads[started], NULL, work, &r) == 0)
        started++;
    code = started > 0 ? report_in_order(&r) : complain(sim->path, "no thread could be started");
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
done:
    free(r.runs);
    free(r.is_done);
    return code;
}

/* "A-B". */
static int read_seeds(const char *text, uint64_t *first, size_t *count)
{
    char from[32];
    size_t length = strcspn(text, "-");
    unsigned long long last;
    char *end;

    snprintf(from, sizeof from, "%.*s", length < sizeof from ? (int)length : 0, text);
    char *stop;
    unsigned long long begin = strtoull(from, &stop, 10);
    last = text[length] == '-' ? strtoull(text + length + 1, &end, 10) : 0;
    if (from[0] < '0' || from[0] > '9' || *stop != '\0' || text[length] != '-' || text[length + 1] < '0' ||
        text[length + 1] > '9' || *end != '\0' || last < begin || last - begin >= SEEDS_MAX)
        return misuse("--seeds is '%s'; write A-B with A <= B, at most %d seeds", text, SEEDS_MAX);
    *first = begin;
    *count = (size_t)(last - begin) + 1;
    return EXIT_GOOD;
}

int simulate_workload(const char *path, const simulate_options *options)
{
    simulation sim = {.path = path, .options = options, .keeps_log = options->log != NULL};
    uint64_t first = options->seed;
    size_t count = 1;
    int code = EXIT_GOOD;

    if (options->replay != NULL)
        return simulate_replay(path, options);
    if (options->seeds != NULL)
        code = read_seeds(options->seeds, &first, &count);
    if (code == EXIT_GOOD)
        code = simulation_open(&sim);
    if (code == EXIT_GOOD)
        code = options->seeds != NULL ? simulate_range(&sim, first, count) : simulate_one(&sim);
    simulation_close(&sim);
    return code;
}
