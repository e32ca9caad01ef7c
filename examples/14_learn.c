/* 14_learn.c - no typed times: a recurring job of C functions begins by work stealing; what its tasks take is read from
 * the flight recorder while it runs, and a plan of measured times takes over. */
#include <clotho/clotho.h>
#include <stdio.h>
#include <stdlib.h>

enum { PARTS = 6, RUNS = 40, RECORDS = 1024 };

/* Sums up as many numbers as the task's argument says: parts differ by a factor of six. */
static int sum(const clo_call *call)
{
    const uint32_t *numbers = call->argument;
    uint64_t value = call->task;

    for (uint32_t i = 0; i < *numbers; i++)
        value = (value ^ i) * 0x9e3779b97f4a7c15u;
    *(uint64_t *)call->output = value;
    return 0;
}

static int join(const clo_call *call)
{
    uint64_t value = 0;

    for (uint32_t i = 0; i < call->inputs_count; i++)
        value ^= *(const uint64_t *)call->inputs[i];
    *(uint64_t *)call->output = value;
    return 0;
}

/* Codelets say which tasks take equal times: the footprint tells the parts' sizes apart. */
static clo_status describe(clo_graph *graph)
{
    static uint32_t numbers[PARTS];
    const clo_task last = {.name = "join", .body = join, .output_bytes = sizeof(uint64_t)};
    clo_status status = CLO_OK;
    uint32_t id;

    for (uint32_t p = 0; p < PARTS && status == CLO_OK; p++) {
        const clo_task part = {.name = "sum", .body = sum, .argument = &numbers[p], .output_bytes = sizeof(uint64_t)};
        numbers[p] = 20000 * (p + 1);
        status = clo_graph_add_task(graph, &part, &id);
        if (status == CLO_OK)
            status = clo_graph_set_codelet(graph, id, &(clo_codelet){"sum", 1, numbers[p]});
    }
    if (status == CLO_OK)
        status = clo_graph_add_task(graph, &last, &id);
    if (status == CLO_OK)
        status = clo_graph_set_codelet(graph, id, &(clo_codelet){"join", 1, 0});
    for (uint32_t p = 0; p < PARTS && status == CLO_OK; p++)
        status = clo_graph_add_edge(graph, p, PARTS, sizeof(uint64_t));
    return status == CLO_OK ? clo_graph_seal(graph) : status;
}

/* Runs the job, and adds what its executions took to the profile. */
static clo_status run(clo_runtime *runtime, const clo_cost *cost, clo_job *job, clo_profile *profile, size_t *samples)
{
    static clo_record records[RECORDS];
    clo_status status = CLO_OK;

    for (int i = 0; i < RUNS && status == CLO_OK; i++) {
        status = clo_job_submit(job);
        if (status == CLO_OK)
            status = clo_job_wait(job, NULL);
    }
    for (uint32_t w = 0; w < clo_runtime_workers(runtime) && status == CLO_OK; w++) {
        size_t learned = 0, count = clo_runtime_record_read(runtime, w, records, RECORDS, NULL);
        status = clo_profile_learn_records(profile, cost, clo_job_id(job), records, count, &learned);
        *samples += learned;
    }
    return status;
}

static void show(const clo_profile *profile)
{
    clo_profile_entry entry;

    for (uint32_t i = 0; clo_profile_entry_at(profile, i, &entry) == CLO_OK; i++)
        printf("%-5s %6llu on %-8s %4llu samples, %8.1f us, spread %6.1f us\n", entry.codelet,
               (unsigned long long)entry.footprint, entry.kind, (unsigned long long)entry.samples,
               (double)entry.location_ns / 1e3, (double)entry.spread_ns / 1e3);
}

/* A plan of measured times. */
static clo_status plan_measured(const clo_graph *graph, const clo_platform *platform, const clo_profile *profile,
                                clo_cost **cost, clo_plan **plan)
{
    clo_measured measured = CLO_MEASURED_INIT;
    clo_status status = clo_cost_create_measured(graph, platform, profile, &measured, cost);

    if (status == CLO_OK)
        status = clo_plan_create(*cost, NULL, plan);
    if (status == CLO_OK)
        printf("%u of %u tasks are measured; the plan says %.1f us\n", measured.tasks_by[CLO_TIME_MEASURED],
               clo_graph_tasks(graph), (double)clo_plan_makespan_ns(*plan) / 1e3);
    return status;
}

int main(void)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config replay = CLO_JOB_CONFIG_INIT;
    clo_graph *graph = NULL;
    clo_platform *platform = NULL;
    clo_cost *typed = NULL, *measured = NULL;
    clo_plan *plan = NULL;
    clo_profile *profile = NULL;
    clo_runtime *runtime = NULL;
    clo_job *steals = NULL, *replays = NULL;
    size_t samples = 0;
    clo_status status = clo_graph_create("learn", &graph);

    config.recorder_events = RECORDS;
    if (status == CLO_OK)
        status = describe(graph);
    if (status == CLO_OK)
        status = clo_platform_open("native", &platform);
    if (status == CLO_OK)
        status = clo_cost_create(graph, platform, &typed);
    if (status == CLO_OK)
        status = clo_profile_create(0, &profile);
    if (status == CLO_OK) /* a time that somebody else measured: the maker of an accelerator */
        status = clo_profile_learn(profile, &(clo_codelet){"sum", 1, 20000}, sizeof(uint64_t), "npu", 4000);
    if (status == CLO_OK)
        status = clo_runtime_create(platform, &config, &runtime);
    if (status == CLO_OK)
        status = clo_job_create(runtime, typed, NULL, &steals);
    if (status == CLO_OK)
        status = run(runtime, typed, steals, profile, &samples);
    if (status == CLO_OK)
        status = clo_profile_publish(profile); /* from here on costs see it */
    if (status == CLO_OK)
        status = plan_measured(graph, platform, profile, &measured, &plan);
    replay.plan = plan;
    if (status == CLO_OK)
        status = clo_job_create(runtime, measured, &replay, &replays);
    if (status == CLO_OK)
        status = run(runtime, measured, replays, profile, &samples); /* it goes on learning */
    if (status == CLO_OK)
        status = clo_profile_publish(profile);
    if (status == CLO_OK)
        show(profile);
    if (status != CLO_OK)
        fprintf(stderr, "14_learn: %s\n", clo_last_error());
    bool is_good = status == CLO_OK && samples >= RUNS * (PARTS + 1); /* the recorder may drop, but not that many */
    clo_job_destroy(replays);
    clo_job_destroy(steals);
    clo_runtime_destroy(runtime);
    clo_plan_destroy(plan);
    clo_profile_destroy(profile);
    clo_cost_destroy(measured);
    clo_cost_destroy(typed);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
    return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}
