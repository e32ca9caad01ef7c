/* workload.c - `clotho simulate` of a whole workload. The runs of a range of seeds go on in parallel, and are
 * reported in the order of their seeds. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/common/interrupt.h"
#include "clotho/common/options.h"
#include "clotho/simulate/simulate.h"

#include <clotho/report.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEEDS_MAX = 1000000, THREADS_MAX = 64, RUNS_MAX = THREADS_MAX };

/* One error line and 1 where the run failed or its log is not valid. */
static int verdict(const simulation *sim, const simulated_run *run)
{
    if (run->status == CLO_OK)
        return EXIT_GOOD;
    if (strncmp(run->error, sim->path, strlen(sim->path)) == 0)
        return complain(NULL, "%s", run->error);
    return complain(sim->path, "%s", run->error);
}

static int draw(const simulation *sim, const simulated_run *run)
{
    const simulate_options *o = sim->options;
    clo_report_config config = CLO_REPORT_CONFIG_INIT;
    clo_status status = CLO_OK;
    char title[256];
    int code = EXIT_GOOD;

    snprintf(title, sizeof title, "%.120s, policy %s, simulated", clo_workload_name(sim->loaded), sim->policy_name);
    config.title = title;
    config.outcomes = run->outcomes;
    if (o->gantt != NULL)
        status = clo_stream_gantt_svg(run->log, sim->platform, title, o->gantt);
    if (status != CLO_OK)
        code = complain_status(o->gantt, status);
    if (o->report != NULL &&
        (status = clo_report_stream(run->log, run->workload, sim->platform, &config, o->report)) != CLO_OK)
        code = complain_status(o->report, status);
    return code;
}

static int write_files(const simulation *sim, const simulated_run *run)
{
    const simulate_options *o = sim->options;
    int code = EXIT_GOOD;
    clo_status status;

    if (o->log != NULL && (status = clo_log_save(run->log, o->log)) != CLO_OK)
        code = complain_status(o->log, status);
    if ((o->gantt != NULL || o->report != NULL) && draw(sim, run) != EXIT_GOOD)
        code = EXIT_BAD_INPUT;
    if (o->csv != NULL && simulated_csv(run, o->csv) != EXIT_GOOD)
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
        } else if (simulate_to_output(sim->options) == 0) {
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

/* The runs of a range of seeds: run i is of simulation i % sims_count. Those that are not reported yet are a ring. */
typedef struct range {
    const simulation *sims;
    size_t sims_count;
    uint64_t first; /* seed */
    simulated_run runs[RUNS_MAX];
    bool is_done[RUNS_MAX];
    size_t count, next, reported;
    bool
        is_cut; /* a signal ended a run; of several simulations later runs, with a hole before them, are not reported */
    size_t *failed; /* [sims_count]; NULL: each failure is a line; else the first of each, and all are counted */
    simulated_take take;
    void *context;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} range;

static const simulation *sim_of(const range *r, size_t index)
{
    return &r->sims[index % r->sims_count];
}

/* Takes runs in order. No more than RUNS_MAX wait to be reported, so that memory does not grow. */
static void *work(void *argument)
{
    range *r = argument;

    pthread_mutex_lock(&r->lock);
    while (r->next < r->count && !is_interrupted()) {
        if (r->next >= r->reported + RUNS_MAX) {
            pthread_cond_wait(&r->changed, &r->lock);
            continue;
        }
        size_t mine = r->next++;
        simulated_run *run = &r->runs[mine % RUNS_MAX];
        pthread_mutex_unlock(&r->lock);
        *run = (simulated_run){.seed = r->first + mine / r->sims_count};
        simulation_run(sim_of(r, mine), run);
        pthread_mutex_lock(&r->lock);
        r->is_done[mine % RUNS_MAX] = true;
        pthread_cond_broadcast(&r->changed);
    }
    pthread_cond_broadcast(&r->changed); /* of an interrupt nobody else speaks */
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* Of a range: a line, or an object. */
static int report_run(void *context, const simulation *sim, const simulated_run *run, size_t index)
{
    (void)context;
    if (sim->options->as_json)
        return simulated_json(sim, run);
    simulated_row(run, index == 0);
    fflush(stdout);
    return EXIT_GOOD;
}

static int take_run(range *r, size_t index)
{
    const simulation *sim = sim_of(r, index);
    const simulated_run *run = &r->runs[index % RUNS_MAX];

    r->is_cut |= run->status == CLO_ERR_CANCELLED && is_interrupted();
    if (r->is_cut && (r->sims_count > 1 || run->status == CLO_ERR_CANCELLED))
        return EXIT_GOOD;
    if (run->status != CLO_OK && r->failed != NULL && r->failed[index % r->sims_count]++ > 0)
        return EXIT_BAD_INPUT;
    int code = EXIT_GOOD;
    if (run->status == CLO_OK || run->is_judged)
        code = r->take(r->context, sim, run, index / r->sims_count);
    return run->status != CLO_OK ? verdict(sim, run) : code;
}

static int take_in_order(range *r)
{
    int code = EXIT_GOOD;

    for (size_t i = 0; i < r->count; i++) {
        pthread_mutex_lock(&r->lock);
        while (!r->is_done[i % RUNS_MAX] && !(i >= r->next && is_interrupted()))
            pthread_cond_wait(&r->changed, &r->lock);
        bool is_done = r->is_done[i % RUNS_MAX];
        pthread_mutex_unlock(&r->lock);
        if (!is_done)
            break;
        int one = take_run(r, i);
        code = code == EXIT_GOOD ? one : code;
        simulated_run_close(&r->runs[i % RUNS_MAX]);
        pthread_mutex_lock(&r->lock);
        r->is_done[i % RUNS_MAX] = false;
        r->reported = i + 1;
        pthread_cond_broadcast(&r->changed);
        pthread_mutex_unlock(&r->lock);
    }
    return code;
}

int simulation_run_range(const simulation *sims, size_t sims_count, uint64_t first, size_t seeds, simulated_take take,
                         void *context, size_t *failed)
{
    pthread_t threads[THREADS_MAX];
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    size_t wanted = cpus < 1 ? 1 : cpus > THREADS_MAX ? THREADS_MAX : (size_t)cpus, started = 0;
    range *r = calloc(1, sizeof *r);

    if (r == NULL)
        return complain(sims->path, "out of memory");
    *r = (range){.sims = sims,
                 .sims_count = sims_count,
                 .first = first,
                 .count = seeds * sims_count,
                 .take = take,
                 .context = context,
                 .lock = PTHREAD_MUTEX_INITIALIZER,
                 .changed = PTHREAD_COND_INITIALIZER};
    r->failed = failed;
    while (started < wanted && started < r->count && pthread_create(&threads[started], NULL, work, r) == 0)
        started++;
    int code = started > 0 ? take_in_order(r) : complain(sims->path, "no thread could be started");
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(r);
    return code;
}

static int simulate_range(const simulation *sim, uint64_t first, size_t count)
{
    if (!sim->options->as_json)
        simulated_head(sim);
    return simulation_run_range(sim, 1, first, count, report_run, NULL, NULL);
}

int simulate_read_seeds(const char *text, uint64_t *first, size_t *count)
{
    char from[32] = "";
    size_t length = strcspn(text, "-");
    uint64_t begin, last;

    if (length < sizeof from)
        memcpy(from, text, length);
    if (text[length] != '-' || !parse_u64(from, &begin) || !parse_u64(text + length + 1, &last) || last < begin ||
        last - begin >= SEEDS_MAX)
        return misuse("--seeds is '%s'; write A-B with A <= B, at most %d seeds", text, SEEDS_MAX);
    *first = begin;
    *count = (size_t)(last - begin) + 1;
    return EXIT_GOOD;
}

int simulate_workload(const char *path, const simulate_options *options)
{
    simulation sim = {.path = path,
                      .options = options,
                      .keeps_log = options->log != NULL || options->gantt != NULL || options->report != NULL};
    uint64_t first = options->seed;
    size_t count = 1;
    int code = EXIT_GOOD;

    if (options->replay != NULL)
        return simulate_replay(path, options);
    if (options->seeds != NULL)
        code = simulate_read_seeds(options->seeds, &first, &count);
    if (code == EXIT_GOOD)
        code = simulation_open(&sim);
    if (code == EXIT_GOOD)
        code = options->seeds != NULL ? simulate_range(&sim, first, count) : simulate_one(&sim);
    simulation_close(&sim);
    return code;
}
