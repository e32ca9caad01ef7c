/* monitor.c - see monitor.h: a row of each job, made from what the job's threads publish as they go. */
#include "run/records/monitor.h"

#include "base/status.h"
#include "run/records/stamp.h"
#include "run/state/runtime.h"
#include "run/state/worker.h"
#include "run/system/open.h"

#include <stdio.h>

/* A row, with room for the texts, which may be gone when the row is shown. */
typedef struct job_row {
    clo_job_progress progress;
    char graph[CLO_JOB_PROGRESS_TEXT], policy[CLO_JOB_PROGRESS_TEXT];
} job_row;

void clo_monitor_add(clo_job *job)
{
    clo_rcu_publish(&job->runtime->monitored[job->slot], job);
}

void clo_monitor_remove(const clo_job *job)
{
    clo_rcu_publish(&job->runtime->monitored[job->slot], NULL);
}

void clo_monitor_wait(const clo_runtime *runtime)
{
    if (clo_visits_ask(runtime->visits)) /* what was removed is published */
        clo_rcu_wait();
}

static clo_job_state read_state(const clo_job *job)
{
    switch (clo_phase_get(&job->phase)) {
    case CLO_PHASE_IDLE:
        return CLO_JOB_CREATED;
    case CLO_PHASE_RUNNING:
        return clo_stop_is_set(&job->stop) ? CLO_JOB_STOPPING : CLO_JOB_RUNNING;
    default:
        return CLO_JOB_ENDED;
    }
}

/* Workers that show a body of the job. */
static uint32_t count_running(const clo_job *job)
{
    const clo_runtime *runtime = job->runtime;
    uint32_t count = 0;

    for (uint32_t w = 0; w < runtime->workers_count; w++) {
        uint64_t current = atomic_load_explicit(&runtime->workers[w].current, memory_order_relaxed);
        count += current != CLO_ITEM_NONE && current >> 32 == job->slot;
    }
    return count;
}

static void copy_text(char text[CLO_JOB_PROGRESS_TEXT], const char *from)
{
    snprintf(text, CLO_JOB_PROGRESS_TEXT, "%s", from != NULL ? from : "");
}

/* In a section: the job, its graph and its policy live as long as that lasts. */
static void read_row(const clo_job *job, job_row *row)
{
    const clo_runtime *runtime = job->runtime;
    clo_job_progress *progress = &row->progress;

    *progress = (clo_job_progress){.id = job->id, .graph = row->graph, .policy = row->policy};
    copy_text(row->graph, clo_graph_name(clo_cost_graph(job->cost)));
    copy_text(row->policy, NULL);
    if (job->mode == CLO_JOB_POLICY) { /* published before the job was, and a job keeps the runtime from having none */
        const clo_policy *policy = clo_rcu_read(&runtime->scheduling.monitored);
        copy_text(row->policy, policy->name);
    }
    progress->mode = job->mode;
    progress->state = read_state(job);
    progress->submit_ns = clo_stamp_submit_ns(job);
    progress->deadline_ns = job->deadline_ns;
    for (uint32_t w = 0; w < runtime->workers_count; w++)
        progress->executed += clo_counter_read(&job->stats[w].executed);
    progress->executions = atomic_load_explicit(&job->executions, memory_order_relaxed);
    bool is_running = progress->state == CLO_JOB_RUNNING || progress->state == CLO_JOB_STOPPING;
    progress->running = is_running ? count_running(job) : 0;
}

/* False: the slot is empty. */
static bool read_slot(const clo_runtime *runtime, uint32_t slot, job_row *row)
{
    clo_rcu_enter();
    const clo_job *job = clo_rcu_read(&runtime->monitored[slot]);
    if (job != NULL)
        read_row(job, row);
    clo_rcu_leave();
    return job != NULL;
}

clo_status clo_runtime_visit_jobs(const clo_runtime *runtime, clo_job_visit_fn visit, void *argument)
{
    job_row row;

    if (runtime == NULL || visit == NULL)
        return clo_fail_null("clo_runtime_visit_jobs", "runtime or visit");
    if (clo_runtime_is_forked(runtime))
        return clo_fail(CLO_ERR_STATE, CLO_FORKED_TEXT);
    clo_visits_note(runtime->visits);
    for (uint32_t slot = 0; slot < runtime->jobs_max; slot++)
        if (read_slot(runtime, slot, &row))
            visit(argument, &row.progress); /* outside the section: it may do what it likes */
    return CLO_OK;
}
