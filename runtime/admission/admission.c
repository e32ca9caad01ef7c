/* admission.c - the test of admission.h, band by band from the highest.
 *
 * The bounds of the jobs of a band lean on each other: a release counts as gone at its deadline. That is sound as long
 * as all of them hold (look at the first deadline that is missed: before it nothing was). So where one periodic job of
 * a band is not admitted, no job of this band or of a lower one is. */
#include <clotho/admission.h>

#include "admission/response.h"
#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "workload/workload.h"

#include <stdlib.h>

typedef struct test {
    const clo_workload *workload;
    clo_admission_config config;
    uint32_t jobs, executors, figures_count, periodic_count;
    clo_admission_figures *figures;      /* [figures_count] by graph */
    clo_admission_task *tasks;           /* [jobs] */
    clo_admission_job *answers;          /* [jobs] */
    const clo_admission_task **periodic; /* [periodic_count] of the bands seen so far */
    int64_t *blocking;                   /* [executors] */
    int64_t *weights;                    /* [tasks of the largest graph] */
    int64_t once_ns;                     /* of the bands seen so far, the one at hand left out */
    bool is_broken;                      /* a periodic job of a band seen so far is not admitted */
    clo_admission_result result;
} test;

static int by_graph(const void *left, const void *right)
{
    const clo_admission_figures *a = left, *b = right;

    return (uintptr_t)a->graph < (uintptr_t)b->graph ? -1 : (uintptr_t)a->graph > (uintptr_t)b->graph;
}

static clo_status measure_graphs(test *t, const clo_platform *platform)
{
    uint32_t count = 0, largest = 0;
    clo_status status = CLO_OK;

    for (uint32_t i = 0; i < t->jobs; i++)
        t->figures[i].graph = clo_workload_get(t->workload, i)->graph;
    qsort(t->figures, t->jobs, sizeof t->figures[0], by_graph);
    for (uint32_t i = 0; i < t->jobs; i++)
        if (count == 0 || t->figures[i].graph != t->figures[count - 1].graph)
            t->figures[count++].graph = t->figures[i].graph;
    t->figures_count = count;
    for (uint32_t i = 0; i < count && status == CLO_OK; i++) {
        uint32_t tasks = clo_graph_tasks(t->figures[i].graph);
        largest = tasks > largest ? tasks : largest;
        status = clo_admission_figures_open(&t->figures[i], t->figures[i].graph, platform, t->config.overhead_ns);
    }
    if (status != CLO_OK)
        return status;
    t->weights = clo_allocate(largest, sizeof t->weights[0]);
    return t->weights != NULL ? CLO_OK : clo_fail_memory("an admission test");
}

static void describe_job(test *t, uint32_t place)
{
    const clo_workload_job *job = clo_workload_get(t->workload, place);
    const clo_admission_figures key = {.graph = job->graph};
    clo_admission_task *task = &t->tasks[place];
    clo_admission_job *answer = &t->answers[place];
    double period_ns = (double)job->period_ns;

    task->job = job;
    task->figures = bsearch(&key, t->figures, t->figures_count, sizeof key, by_graph);
    task->deadline_ns = job->deadline_ns > 0 ? job->deadline_ns : job->period_ns > 0 ? job->period_ns : CLO_TIME_NEVER;
    task->releases = job->period_ns == 0                                         ? 1
                     : job->releases == 0 || job->releases > (uint64_t)INT64_MAX ? INT64_MAX
                                                                                 : (int64_t)job->releases;
    *answer = (clo_admission_job){.reason = "",
                                  .deadline_ns = task->deadline_ns,
                                  .response_ns = CLO_TIME_NEVER,
                                  .fastest_ns = task->figures->fastest_ns};
    if (job->period_ns == 0)
        return;
    answer->utilization = (double)task->figures->work_ns / period_ns;
    t->result.utilization_most[job->band] += answer->utilization;
    t->result.utilization_least[job->band] += (double)task->figures->work_least_ns / period_ns;
}

/* Times that differ by less than this share are equal: sums of many are rounded. */
#define MARGIN (1 + 1e-9)

/* More work is asked for until the last deadline than one job alone can get. */
static bool asks_too_much(const test *t, const clo_admission_task *task)
{
    double executors = t->executors, work = (double)task->figures->work_least_ns;
    double period_ns = (double)task->job->period_ns, releases = (double)task->releases;

    if (task->releases == INT64_MAX)
        return work > executors * period_ns * MARGIN;
    return releases * work > executors * ((releases - 1) * period_ns + (double)task->deadline_ns) * MARGIN;
}

/* What jobs with deadlines ask for in all bands up to one. */
typedef struct demand {
    double work_ns, from_ns, to_ns, endless; /* endless: executors in the long run */
    bool is_any;
} demand;

static void add_demand(demand *d, const clo_admission_task *task)
{
    double work = (double)task->figures->work_least_ns, from = (double)task->job->arrival_ns;

    if (task->releases == INT64_MAX) {
        d->endless += work / (double)task->job->period_ns;
        return;
    }
    double to = from + (double)(task->releases - 1) * (double)task->job->period_ns + (double)task->deadline_ns;
    d->work_ns += (double)task->releases * work;
    d->from_ns = !d->is_any || from < d->from_ns ? from : d->from_ns;
    d->to_ns = !d->is_any || to > d->to_ns ? to : d->to_ns;
    d->is_any = true;
}

static void find_overload(test *t)
{
    demand d = {0};

    t->result.overloaded_band = CLO_NONE;
    for (uint32_t b = 0; b < CLO_BANDS_MAX && t->result.overloaded_band == CLO_NONE; b++) {
        for (uint32_t i = 0; i < t->jobs; i++)
            if (t->tasks[i].job->band == b && t->tasks[i].job->deadline_ns > 0)
                add_demand(&d, &t->tasks[i]);
        if (d.endless > t->executors * MARGIN || d.work_ns > t->executors * (d.to_ns - d.from_ns) * MARGIN)
            t->result.overloaded_band = b;
    }
}

/* The longest bodies that can block jobs of a band. With the earliest deadline first, those of the band itself too,
 * unless one job has it alone. */
static void find_blocking(test *t, uint32_t band)
{
    uint32_t peers = 0;

    for (uint32_t i = 0; i < t->jobs; i++)
        peers += t->tasks[i].job->band == band;
    for (uint32_t e = 0; e < t->executors; e++)
        t->blocking[e] = 0;
    for (uint32_t i = 0; i < t->jobs; i++) {
        const clo_admission_task *task = &t->tasks[i];
        bool is_late = task->job->period_ns > 0 && task->deadline_ns > task->job->period_ns;
        bool blocks_peers = t->config.order == CLO_ADMISSION_EDF && task->job->band == band && (peers > 1 || is_late);
        if (task->job->band <= band && !blocks_peers)
            continue;
        for (uint32_t e = 0; e < t->executors; e++)
            if (task->figures->by_executor[e] > t->blocking[e])
                t->blocking[e] = task->figures->by_executor[e];
    }
}

static void answer_job(test *t, const clo_admission_band *band, uint32_t place)
{
    const clo_admission_task *task = &t->tasks[place];
    clo_admission_job *answer = &t->answers[place];

    if (task->deadline_ns == CLO_TIME_NEVER) {
        answer->verdict = CLO_ADMISSION_ADMITTED;
        return;
    }
    if (task->job->deadline_ns > 0 && (task->figures->fastest_ns > task->deadline_ns || asks_too_much(t, task))) {
        answer->verdict = CLO_ADMISSION_REFUSED;
        answer->reason = task->figures->fastest_ns > task->deadline_ns
                             ? "its longest chain of fastest times is longer than its deadline"
                             : "its releases ask for more work than all executors do up to their deadlines";
        return;
    }
    if (task->figures->has_demands) {
        answer->reason = "the test does not cover demands of capacities";
    } else if (task->job->limit > 0 && task->job->limit < t->executors) {
        answer->reason = "the test does not cover limits of executors";
    } else {
        answer->response_ns = clo_admission_response(task, band, true);
        if (answer->response_ns == CLO_TIME_NEVER) {
            answer->reason = "no bound of its response time up to its deadline was found";
            return;
        }
        answer->verdict = CLO_ADMISSION_ADMITTED;
        answer->blocking_ns = answer->response_ns - clo_admission_response(task, band, false);
    }
}

/* Jobs of the band that were admitted, where a periodic one was not. */
static void take_back(test *t, uint32_t band)
{
    for (uint32_t i = 0; i < t->jobs; i++) {
        const clo_admission_task *task = &t->tasks[i];
        if (task->job->band == band && task->job->period_ns > 0 && t->answers[i].verdict != CLO_ADMISSION_ADMITTED)
            t->is_broken = true;
    }
    for (uint32_t i = 0; i < t->jobs && t->is_broken; i++) {
        const clo_admission_task *task = &t->tasks[i];
        clo_admission_job *answer = &t->answers[i];
        if (task->job->band != band || answer->verdict != CLO_ADMISSION_ADMITTED || task->deadline_ns == CLO_TIME_NEVER)
            continue;
        answer->verdict = CLO_ADMISSION_UNKNOWN;
        answer->reason = "a periodic job of its band or of a higher one is not admitted";
    }
}

static void answer_band(test *t, uint32_t band)
{
    int64_t once_ns = t->once_ns, without_ns = 0;
    clo_admission_band view = {.order = t->config.order,
                               .periodic = t->periodic,
                               .blocking = t->blocking,
                               .executors = t->executors,
                               .weights = t->weights};

    for (uint32_t i = 0; i < t->jobs; i++) {
        const clo_admission_task *task = &t->tasks[i];
        if (task->job->band != band)
            continue;
        if (task->job->period_ns > 0)
            t->periodic[t->periodic_count++] = task;
        else if (task->deadline_ns == CLO_TIME_NEVER)
            without_ns = clo_time_add(without_ns, task->figures->work_ns);
        else
            once_ns = clo_time_add(once_ns, task->figures->work_ns);
    }
    t->once_ns = clo_time_add(once_ns, without_ns);
    view.once_ns = t->once_ns;
    view.periodic_count = t->periodic_count;
    find_blocking(t, band);
    for (uint32_t i = 0; i < t->jobs; i++)
        if (t->tasks[i].job->band == band) {
            bool goes_first = t->config.order == CLO_ADMISSION_EDF && t->tasks[i].job->deadline_ns > 0;
            view.once_ns = goes_first ? once_ns : t->once_ns;
            answer_job(t, &view, i);
        }
    take_back(t, band);
}

static clo_status open_test(test *t, const clo_platform *platform)
{
    for (uint32_t i = 0; i < t->jobs; i++)
        if (clo_workload_get(t->workload, i)->band >= CLO_BANDS_MAX)
            return clo_fail(CLO_ERR_ARGUMENT, "job %u is of band %u; use 0 to %d", i,
                            clo_workload_get(t->workload, i)->band, CLO_BANDS_MAX - 1);
    t->figures = clo_allocate(t->jobs, sizeof t->figures[0]);
    t->tasks = clo_allocate(t->jobs, sizeof t->tasks[0]);
    t->answers = clo_allocate(t->jobs, sizeof t->answers[0]);
    t->periodic = clo_allocate(t->jobs, sizeof t->periodic[0]);
    t->blocking = clo_allocate(t->executors, sizeof t->blocking[0]);
    if (t->figures == NULL || t->tasks == NULL || t->answers == NULL || t->periodic == NULL || t->blocking == NULL)
        return clo_fail_memory("an admission test");
    return measure_graphs(t, platform);
}

static void close_test(test *t)
{
    for (uint32_t i = 0; i < t->figures_count; i++)
        clo_admission_figures_close(&t->figures[i]);
    clo_free(t->figures);
    clo_free(t->tasks);
    clo_free(t->answers);
    clo_free((void *)t->periodic);
    clo_free(t->blocking);
    clo_free(t->weights);
}

static void count_answers(test *t)
{
    clo_admission_result *r = &t->result;

    for (uint32_t i = 0; i < t->jobs; i++) {
        r->admitted += t->answers[i].verdict == CLO_ADMISSION_ADMITTED;
        r->unknown += t->answers[i].verdict == CLO_ADMISSION_UNKNOWN;
        r->refused += t->answers[i].verdict == CLO_ADMISSION_REFUSED;
    }
    if (r->refused > 0 || r->overloaded_band != CLO_NONE)
        r->verdict = CLO_ADMISSION_REFUSED;
    else
        r->verdict = r->unknown > 0 ? CLO_ADMISSION_UNKNOWN : CLO_ADMISSION_ADMITTED;
}

static void answer(test *t)
{
    for (uint32_t i = 0; i < t->jobs; i++)
        describe_job(t, i);
    find_overload(t);
    for (uint32_t band = 0; band < CLO_BANDS_MAX; band++)
        answer_band(t, band);
    count_answers(t);
}

clo_status clo_admission_test(const clo_workload *workload, const clo_platform *platform,
                              const clo_admission_config *config, clo_admission_job *jobs, clo_admission_result *result)
{
    test t = {.workload = workload, .config = CLO_ADMISSION_CONFIG_INIT, .result = CLO_ADMISSION_RESULT_INIT};

    if (workload == NULL || platform == NULL)
        return clo_fail_null("clo_admission_test", "workload or platform");
    clo_status status = clo_config_read(&t.config, sizeof t.config, config, "clo_admission_config");
    if (status == CLO_OK)
        status =
            clo_result_check(result, CLO_BYTES_UP_TO(clo_admission_result, utilization_most), "clo_admission_result");
    if (status != CLO_OK)
        return status;
    if (t.config.order != CLO_ADMISSION_GREEDY && t.config.order != CLO_ADMISSION_EDF)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_admission_config.order is %d; use a CLO_ADMISSION_...",
                        (int)t.config.order);
    if (t.config.overhead_ns < 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_admission_config.overhead_ns is %lld; give a time >= 0",
                        (long long)t.config.overhead_ns);
    t.jobs = clo_workload_jobs(workload);
    t.executors = clo_platform_executors(platform);
    status = open_test(&t, platform);
    if (status == CLO_OK) {
        answer(&t);
        for (uint32_t i = 0; i < t.jobs && jobs != NULL; i++)
            jobs[i] = t.answers[i];
        clo_result_write(result, &t.result, sizeof t.result);
    }
    close_test(&t);
    return status;
}
