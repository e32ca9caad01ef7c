/* 13_operate.c - a program that stays up looks after its runtime: which jobs live and how far they are, another policy
 * and another plan in the middle of it all, what each job ran, and an end in bounded time. */
#include <clotho/clotho.h>
#include <stdio.h>
#include <string.h>

enum { JOBS = 4, RECORDS = 256 };

/* A graph need not be a file, nor built task by task. */
static const char text[] = "{\"format\": \"clotho.graph/1\", \"name\": \"served\", \"tasks\": ["
                           "{\"name\": \"read\", \"work_ns\": 200000}, "
                           "{\"name\": \"work\", \"work_ns\": 1000000, \"instances\": 4}, "
                           "{\"name\": \"write\", \"work_ns\": 200000}], "
                           "\"edges\": [{\"from\": 0, \"to\": 1}, {\"from\": 1, \"to\": 2}]}";

static void show(void *shown, const clo_job_progress *job)
{
    static const char *const states[] = {"created", "running", "stopping", "ended"};

    printf("job %llu, %s%s%s: %s, %llu of %u bodies\n", (unsigned long long)job->id, job->graph,
           job->policy[0] != '\0' ? " by " : "", job->policy, states[job->state], (unsigned long long)job->executed,
           job->executions);
    ++*(int *)shown;
}

/* Executions of a job that the flight recorder kept; reading empties it. */
static size_t recorded(clo_runtime *runtime, const clo_job *job)
{
    clo_record records[RECORDS];
    size_t found = 0;

    for (uint32_t w = 0; w < clo_runtime_workers(runtime); w++) {
        size_t count = clo_runtime_record_read(runtime, w, records, RECORDS, NULL);
        for (size_t i = 0; i < count; i++)
            found += records[i].job == clo_job_id(job);
    }
    return found;
}

/* The first job replays a plan, the others follow the scheduler's policy. */
static clo_status serve(clo_runtime *runtime, const clo_cost *cost, clo_plan *const *plans, clo_job **jobs, int *shown)
{
    clo_job_config replay = {.size = sizeof replay, .plan = plans[0]};
    clo_job_config decided = {.size = sizeof decided, .policy = clo_policy_find("fifo")};
    clo_status status = CLO_OK;

    for (int i = 0; i < JOBS && status == CLO_OK; i++)
        status = clo_job_create(runtime, cost, i == 0 ? &replay : &decided, &jobs[i]);
    for (int i = 0; i < JOBS && status == CLO_OK; i++)
        status = clo_job_submit(jobs[i]);
    if (status == CLO_OK)
        status = clo_runtime_swap_policy(runtime, clo_policy_find("rank"), NULL); /* in the middle of the runs */
    if (status == CLO_OK)
        status = clo_runtime_visit_jobs(runtime, show, shown);
    for (int i = 0; i < JOBS && status == CLO_OK; i++)
        status = clo_job_wait(jobs[i], NULL);
    if (status == CLO_OK)
        status = clo_job_swap_plan(jobs[0], plans[1]); /* from its next submit on */
    if (status == CLO_OK)
        status = clo_job_submit(jobs[0]);
    return status == CLO_OK ? clo_job_wait(jobs[0], NULL) : status;
}

int main(void)
{
    clo_job *jobs[JOBS] = {NULL};
    clo_document *document = NULL;
    clo_platform *platform = NULL;
    clo_cost *cost = NULL;
    clo_plan *plans[2] = {NULL, NULL};
    clo_plan_config deft = {.size = sizeof deft, .planner = &clo_planner_deft};
    clo_runtime_config config = {.size = sizeof config, .recorder_events = RECORDS};
    clo_runtime *runtime = NULL;
    int shown = 0;
    size_t ran = 0;

    if (clo_document_parse("served", text, strlen(text), NULL, &document) || clo_platform_open("native", &platform) ||
        clo_cost_create(clo_document_graph(document), platform, &cost) || clo_plan_create(cost, NULL, &plans[0]) ||
        clo_plan_create(cost, &deft, &plans[1]) || clo_runtime_create(platform, &config, &runtime) ||
        serve(runtime, cost, plans, jobs, &shown)) {
        fprintf(stderr, "operate: %s\n", clo_last_error());
    } else {
        ran = recorded(runtime, jobs[0]);
        printf("%u memories, %d jobs; the first one ran %zu bodies\n", clo_platform_memories(platform), shown, ran);
    }
    /* Frees the jobs too. A body that does not return in a second keeps all that it works on. */
    if (clo_runtime_close(runtime, 1000000000) != CLO_OK) {
        fprintf(stderr, "operate: %s\n", clo_last_error());
        return 1;
    }
    for (int i = 0; i < 2; i++)
        clo_plan_destroy(plans[i]);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_document_destroy(document);
    return shown == JOBS && ran >= 2 * 6 ? 0 : 1;
}
