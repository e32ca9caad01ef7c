/* report.h - one HTML page about plans, about a run, or about jobs over time; the picture of a platform.
 *
 * A page is one file that needs no other and no network: a chart to zoom and search, dependencies, critical paths,
 * histograms, tables, the platform. Without scripts it shows tables and a picture. Its data are one JSON block,
 * "clotho.report/1" (docs/FORMATS.md). The page forbids itself everything but its own script, and shows names as text,
 * whatever they hold. Its size is bounded by CLO_REPORT_EXECUTIONS_MAX and CLO_REPORT_EDGES_MAX: beyond them the chart
 * is a picture without details, or has no dependencies, and the page says so.
 *
 * Library: libclotho-io. */
#ifndef CLOTHO_REPORT_H
#define CLOTHO_REPORT_H

#include <clotho/job.h>
#include <clotho/plan.h>
#include <clotho/stream.h>
#include <clotho/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Executions of all schedules of a page together that are kept with their details. The schedule that is drawn comes
 * first. */
#define CLO_REPORT_EXECUTIONS_MAX 400000

/* Edges of a graph that are kept. */
#define CLO_REPORT_EDGES_MAX 1000000

/* A schedule on a page: planned, or what happened. Without a size field: schedules come in an array. */
typedef struct clo_report_schedule {
    /* Of the graph and the platform of the cost. */
    const clo_plan *plan;

    /* What the plan was made from (clo_trace_to_plan); says what moving inputs took, and which executions lost. NULL:
     * it was planned. */
    const clo_trace *trace;

    /* How long planning took; 0: not known. */
    int64_t planned_in_ns;

    /* 1: clo_plan_check has found a fault. */
    uint32_t is_invalid;
} clo_report_schedule;

typedef struct clo_report_config {
    /* Set by CLO_REPORT_CONFIG_INIT. */
    size_t size;

    /* NULL: the name of the graph or workload. */
    const char *title;

    /* A sentence below the title; NULL: none. */
    const char *note;

    /* After the start; marked in the chart. 0: none. Jobs of workloads have deadlines of their own. */
    int64_t deadline_ns;

    /* [failed_count] tasks that failed, to be marked; NULL: none. */
    const uint32_t *failed;
    uint32_t failed_count;

    /* For clo_report_stream: [jobs of the workload] as in clo_stream_config.outcomes. Jobs that fitted nowhere
     * (CLO_ERR_PLATFORM) have no place among the arrivals of the log. NULL: all fitted. */
    const clo_stream_outcome *outcomes;

    /* For clo_report_releases: release k is due after k times this, and late when deadline_ns have passed since. 0: none
     * is due, each counts from its start. */
    int64_t period_ns;

    /* For clo_report_releases: [CLO_LATENCY_BUCKETS] how long all releases took, also those that the trace does not have
     * (clo_job_latency_read). NULL: not known. */
    const uint32_t *responses;
} clo_report_config;

#define CLO_REPORT_CONFIG_INIT CLO_SIZED_INIT(clo_report_config)

/* Writes a page about schedules of one graph. The first one that happened is drawn, beside the first one that was
 * planned; if none happened, the shortest plan is drawn. The reader may choose others.
 *
 *   schedules  [count], at least one; borrowed during the call.
 *   config     NULL: all defaults. Read during the call only.
 *   path       "-": standard output. The file is written whole or not at all.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (also: a plan of another graph or platform, a failed task that the graph does not
 * have), CLO_ERR_IO or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(executions * (log executions + edges into a task)), and what clo_plan_measure takes
 * for each plan. */
CLO_API CLO_NODISCARD clo_status clo_report_plans(const clo_cost *cost, const clo_report_schedule *schedules,
                                                  size_t count, const clo_report_config *config, const char *path);

/* Writes the picture of such a page alone, as clo_plan_gantt_svg does, with the tasks that failed marked. Arguments,
 * statuses, threads and real time as clo_report_plans. */
CLO_API CLO_NODISCARD clo_status clo_report_svg(const clo_cost *cost, const clo_plan *plan,
                                                const clo_report_config *config, const char *path);

/* Writes a page about a series of releases (pipeline.h), where each release is shown as a job.
 *
 *   trace   of one or several releases; those that it does not have are not shown.
 *   cost    of the same graph and platform.
 *   config  as in clo_report_plans; `failed` is not used.
 *   path    likewise.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (the cost is of another graph or platform), CLO_ERR_LIMIT (2^32 events), CLO_ERR_IO
 * or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(events * log events). */
CLO_API CLO_NODISCARD clo_status clo_report_releases(const clo_trace *trace, const clo_cost *cost,
                                                     const clo_report_config *config, const char *path);

/* Writes such a series as Chrome / Perfetto JSON, to be opened in ui.perfetto.dev: what clo_trace_write_chrome writes,
 * and a process "releases" with a slice for each release, from when it was due to its end ("late" where that was after
 * the deadline), an instant for when it was due and one for its deadline, and counters: releases in flight, ready tasks
 * (due, their inputs there, not begun), busy executors, and the lateness of each release. They count what the trace has.
 *
 *   trace, cost, config, path  as in clo_report_releases; `note` is not used.
 *
 * Returns as clo_report_releases.
 * Threads: any. Real time: no. O(events * (log events + edges into a task)). */
CLO_API CLO_NODISCARD clo_status clo_trace_write_releases(const clo_trace *trace, const clo_cost *cost,
                                                          const clo_report_config *config, const char *path);

/* Writes a page about jobs over time.
 *
 *   log       of a run of `workload` on `platform`. Of its records those of bodies are needed; ARRIVE and DONE say when
 *             jobs came and ended.
 *   workload  names the jobs, by the values of the ARRIVE records; without such records, by their numbers.
 *   config    as in clo_report_plans; `failed` is not used.
 *   path      likewise.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (also: a body that cannot have run on the platform), CLO_ERR_STATE (the log has
 * dropped records), CLO_ERR_LIMIT (more jobs and releases than CLO_WORKLOAD_JOBS_MAX), CLO_ERR_IO or CLO_ERR_MEMORY.
 * Threads: any; nobody may append to the log meanwhile. Real time: no. O(records * log records). */
CLO_API CLO_NODISCARD clo_status clo_report_stream(const clo_log *log, const clo_workload *workload,
                                                   const clo_platform *platform, const clo_report_config *config,
                                                   const char *path);

/* Draws a platform as SVG: packages, in them clusters, in them cores, with their caches; more than 24 cores of a cluster
 * as one box.
 *
 *   path  "-": standard output. The file is written whole or not at all.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_IO or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(executors^2). */
CLO_API CLO_NODISCARD clo_status clo_platform_svg(const clo_platform *platform, const char *path);

#ifdef __cplusplus
}
#endif
#endif
