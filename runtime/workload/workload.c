/* workload.c - rows of jobs, checked when they are added, and the objects that live as long as they. */
#include "workload/workload.h"

#include <clotho/policy.h>

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "graph/graph.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

clo_status clo_workload_create(const char *name, clo_workload **out)
{
    if (out == NULL)
        return clo_fail_null("clo_workload_create", "out");
    clo_workload *made = clo_allocate(1, sizeof *made);
    char *copy = clo_duplicate(name != NULL ? name : "workload");
    if (made == NULL || copy == NULL) {
        clo_free(made);
        clo_free(copy);
        return clo_fail_memory("a workload");
    }
    *made = (clo_workload){.name = copy, .is_sorted = true};
    *out = made;
    return CLO_OK;
}

void clo_workload_destroy(clo_workload *workload)
{
    if (workload == NULL)
        return;
    while (workload->owned_count > 0) { /* one fewer each round */
        const clo_workload_owned *last = &workload->owned[--workload->owned_count];
        last->destroy(last->object);
    }
    clo_platform_destroy(workload->platform);
    clo_free(workload->owned);
    clo_free(workload->jobs);
    clo_free(workload->file);
    clo_free(workload->name);
    clo_free(workload);
}

clo_status clo_workload_own(clo_workload *workload, void *object, void (*destroy)(void *object))
{
    void *owned = workload->owned;

    assert(object != NULL);
    assert(destroy != NULL);
    if (clo_grow(&owned, &workload->owned_capacity, workload->owned_count + 1, sizeof *workload->owned) != 0)
        return clo_fail_memory("a workload");
    workload->owned = owned;
    workload->owned[workload->owned_count++] = (clo_workload_owned){.object = object, .destroy = destroy};
    return CLO_OK;
}

clo_status clo_workload_set_file(clo_workload *workload, const char *file)
{
    char *copy = clo_duplicate(file);

    if (copy == NULL)
        return clo_fail_memory("a workload");
    clo_free(workload->file);
    workload->file = copy;
    return CLO_OK;
}

int64_t clo_workload_last_release_ns(const clo_workload_job *job)
{
    int64_t count = (int64_t)job->releases;

    return count > 1 ? clo_time_add(job->arrival_ns, clo_time_mul(count - 1, job->period_ns)) : job->arrival_ns;
}

static clo_status check_fields(const clo_workload_job *job, const char *name)
{
    const struct {
        const char *what;
        int64_t ns;
    } times[] = {{"arrival_ns", job->arrival_ns}, {"deadline_ns", job->deadline_ns}, {"period_ns", job->period_ns}};

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        if (times[i].ns < 0)
            return clo_fail(CLO_ERR_ARGUMENT, "job \"%.60s\": %s is %lld; give a number >= 0", name, times[i].what,
                            (long long)times[i].ns);
        if (times[i].ns > CLO_WORKLOAD_TIME_MAX)
            return clo_fail(CLO_ERR_LIMIT, "job \"%.60s\": %s is %lld, more than 146 years; give less", name,
                            times[i].what, (long long)times[i].ns);
    }
    if (job->releases > CLO_WORKLOAD_JOBS_MAX)
        return clo_fail(CLO_ERR_LIMIT, "job \"%.60s\": releases is %llu; give at most %u", name,
                        (unsigned long long)job->releases, (unsigned)CLO_WORKLOAD_JOBS_MAX);
    if (clo_time_add(clo_workload_last_release_ns(job), job->deadline_ns) > CLO_WORKLOAD_TIME_MAX)
        return clo_fail(CLO_ERR_LIMIT, "job \"%.60s\": %s + deadline_ns is more than 146 years; give less", name,
                        job->releases > 1 ? "its last release" : "arrival_ns");
    if (job->band >= CLO_BANDS_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "job \"%.60s\": band is %u; use 0 to %d", name, job->band, CLO_BANDS_MAX - 1);
    if (job->releases > 0 && job->period_ns == 0)
        return clo_fail(CLO_ERR_ARGUMENT, "job \"%.60s\": has %llu releases but no period_ns; give one", name,
                        (unsigned long long)job->releases);
    return CLO_OK;
}

clo_status clo_workload_append(clo_workload *workload, const clo_workload_job *job)
{
    void *jobs = workload->jobs;
    size_t count = workload->jobs_count;

    assert(job->graph != NULL);
    assert(job->name != NULL);
    if (count >= CLO_WORKLOAD_JOBS_MAX)
        return clo_fail(CLO_ERR_LIMIT, "a workload holds at most %u jobs; use fewer", (unsigned)CLO_WORKLOAD_JOBS_MAX);
    if (clo_grow(&jobs, &workload->jobs_capacity, count + 1, sizeof *workload->jobs) != 0)
        return clo_fail_memory("the jobs of a workload");
    workload->jobs = jobs;
    workload->jobs[count] = *job;
    workload->jobs[count].size = sizeof *job;
    workload->is_sorted &= count == 0 || workload->jobs[count - 1].arrival_ns <= job->arrival_ns;
    workload->jobs_count++;
    if (clo_workload_last_release_ns(job) > workload->end_ns)
        workload->end_ns = clo_workload_last_release_ns(job);
    return CLO_OK;
}

clo_status clo_workload_add(clo_workload *workload, const clo_workload_job *job)
{
    clo_workload_job mine = CLO_WORKLOAD_JOB_INIT;
    char *copy = NULL;

    if (workload == NULL || job == NULL)
        return clo_fail_null("clo_workload_add", workload == NULL ? "workload" : "job");
    clo_status status = clo_config_read(&mine, sizeof mine, job, "clo_workload_job");
    if (status != CLO_OK)
        return status;
    if (mine.graph == NULL)
        return clo_fail_null("clo_workload_add", "graph of the job");
    const char *graph_name = clo_graph_name(mine.graph);
    if (!mine.graph->sealed)
        return clo_fail(CLO_ERR_STATE, "clo_workload_add: graph \"%.60s\" is not sealed; call clo_graph_seal first",
                        graph_name);
    mine.name = mine.name != NULL ? mine.name : graph_name;
    mine.weight = mine.weight > 0 ? mine.weight : 1;
    status = check_fields(&mine, mine.name);
    if (status != CLO_OK)
        return status;
    if (strcmp(mine.name, graph_name) == 0) {
        mine.name = graph_name;
        return clo_workload_append(workload, &mine);
    }
    copy = clo_duplicate(mine.name);
    if (copy == NULL)
        return clo_fail_memory("the name of a job");
    mine.name = copy;
    status = clo_workload_own(workload, copy, clo_free);
    if (status != CLO_OK)
        return clo_free(copy), status;
    return clo_workload_append(workload, &mine); /* on a failure the copy stays until the workload goes */
}

static void destroy_graph(void *graph)
{
    clo_graph_destroy(graph);
}

clo_status clo_workload_adopt(clo_workload *workload, clo_graph *graph)
{
    if (workload == NULL || graph == NULL)
        return clo_fail_null("clo_workload_adopt", workload == NULL ? "workload" : "graph");
    if (!graph->sealed)
        return clo_fail(CLO_ERR_STATE, "clo_workload_adopt: graph \"%.60s\" is not sealed; call clo_graph_seal first",
                        clo_graph_name(graph));
    return clo_workload_own(workload, graph, destroy_graph);
}

void clo_workload_set_platform(clo_workload *workload, clo_platform *platform)
{
    if (workload->platform != platform)
        clo_platform_destroy(workload->platform);
    workload->platform = platform;
}

/* Where a row stands, and what it is sorted by. */
typedef struct key {
    int64_t arrival_ns;
    size_t index;
} key;

static int by_arrival(const void *left, const void *right)
{
    const key *a = left, *b = right;

    if (a->arrival_ns != b->arrival_ns)
        return a->arrival_ns < b->arrival_ns ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

clo_status clo_workload_sort(clo_workload *workload)
{
    if (workload == NULL)
        return clo_fail_null("clo_workload_sort", "workload");
    if (workload->is_sorted)
        return CLO_OK;
    size_t count = workload->jobs_count;
    key *keys = clo_allocate(count, sizeof *keys);
    clo_workload_job *sorted = clo_allocate(count, sizeof *sorted);
    if (keys == NULL || sorted == NULL) {
        clo_free(keys);
        clo_free(sorted);
        return clo_fail_memory("the order of a workload");
    }
    for (size_t i = 0; i < count; i++)
        keys[i] = (key){.arrival_ns = workload->jobs[i].arrival_ns, .index = i};
    qsort(keys, count, sizeof *keys, by_arrival);
    for (size_t i = 0; i < count; i++)
        sorted[i] = workload->jobs[keys[i].index];
    clo_free(keys);
    clo_free(workload->jobs);
    workload->jobs = sorted;
    workload->jobs_capacity = count;
    workload->is_sorted = true;
    return CLO_OK;
}

clo_status clo_workload_check(const clo_workload *workload, const clo_platform *platform)
{
    uint32_t executors = clo_platform_executors(platform);
    for (size_t i = 0; i < workload->jobs_count; i++) {
        const clo_workload_job *job = &workload->jobs[i];
        if (job->limit <= executors)
            continue;
        clo_status status = clo_fail(CLO_ERR_PLATFORM,
                                     "job %zu \"%.60s\": limit is %u, but the platform has %u executors; "
                                     "write at most that, or 0 for no limit",
                                     i, job->name, job->limit, executors);
        if (workload->file == NULL || job->line == 0)
            return status;
        char prefix[300];
        snprintf(prefix, sizeof prefix, "%.256s:%llu: ", workload->file, (unsigned long long)job->line);
        return clo_fail_prefix(status, prefix);
    }
    return CLO_OK;
}

const char *clo_workload_name(const clo_workload *workload)
{
    return workload != NULL ? workload->name : NULL;
}

uint32_t clo_workload_jobs(const clo_workload *workload)
{
    return workload != NULL ? (uint32_t)workload->jobs_count : 0;
}

const clo_workload_job *clo_workload_get(const clo_workload *workload, uint32_t index)
{
    return workload != NULL && index < workload->jobs_count ? &workload->jobs[index] : NULL;
}

uint64_t clo_workload_releases(const clo_workload *workload, uint32_t index)
{
    const clo_workload_job *job = clo_workload_get(workload, index);

    if (job == NULL)
        return 0;
    if (job->period_ns == 0)
        return 1;
    return job->releases > 0 ? job->releases : 1 + (uint64_t)((workload->end_ns - job->arrival_ns) / job->period_ns);
}

const clo_platform *clo_workload_platform(const clo_workload *workload)
{
    return workload != NULL ? workload->platform : NULL;
}

typedef struct user {
    const clo_graph *graph;
    uint32_t job;
} user;

static int by_graph(const void *left, const void *right)
{
    const user *a = left, *b = right;

    if (a->graph != b->graph)
        return (uintptr_t)a->graph < (uintptr_t)b->graph ? -1 : 1;
    return (a->job > b->job) - (a->job < b->job);
}

uint32_t *clo_workload_first_jobs(const clo_workload *workload)
{
    uint32_t jobs = clo_workload_jobs(workload);
    user *users = clo_allocate(jobs, sizeof *users);
    uint32_t *first = clo_allocate(jobs, sizeof *first);

    if (users == NULL || first == NULL) {
        clo_free(users);
        clo_free(first);
        return NULL;
    }
    for (uint32_t j = 0; j < jobs; j++)
        users[j] = (user){.graph = clo_workload_get(workload, j)->graph, .job = j};
    qsort(users, jobs, sizeof *users, by_graph);
    for (uint32_t i = 0; i < jobs; i++)
        first[users[i].job] = i > 0 && users[i].graph == users[i - 1].graph ? first[users[i - 1].job] : users[i].job;
    clo_free(users);
    return first;
}
