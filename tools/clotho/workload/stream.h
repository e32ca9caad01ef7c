/* stream.h - `clotho run WORKLOAD`: what its files share. arrivals.c makes the list of jobs, drive.c runs
 * them, workload_report.c prints, workload.c does it all. */
#ifndef CLO_TOOLS_CLOTHO_WORKLOAD_STREAM_H
#define CLO_TOOLS_CLOTHO_WORKLOAD_STREAM_H

#include "clotho/run/run.h"
#include "clotho/simulate/simulate.h"
#include "clotho/stream/stream_case.h"

/* Jobs that live or are prepared at once, unless --live says otherwise. */
#define RUN_LIVE_DEFAULT 4096u

/* Sums over the jobs that ran. */
typedef struct run_sums {
    uint64_t submitted, ended, late, failed, cancelled, peak;
    uint64_t held; /* jobs that came while as many lived as may, and waited */
    uint64_t executed, skipped, duplicates, transfers, transferred_bytes, copied_bytes, steals, parks;
    uint64_t decisions, refused, fallbacks, partial;
    int64_t busy_ns, makespan_ns, decision_max_ns;
    int64_t submit_late_max_ns; /* how much later than its arrival a job was submitted, at most */
    double submit_late_ns;      /* sum */
    double jct_mean_ns, jct_weighted_ns;
    int64_t jct_p95_ns, decision_p50_ns;
    char refusal[192];
} run_sums;

/* A run of a workload. */
typedef struct stream_run {
    const run_options *options;
    simulate_options simulate; /* the same for what is shared with `clotho simulate` */
    simulation sim;
    simulated_run run;        /* run.workload: the jobs, one for each release, in order of arrival */
    clo_workload *releases;   /* owned: run.workload */
    uint64_t misfits;         /* jobs that were refused as they fit nowhere */
    stream_case jobs;         /* cost of each job, by its place */
    bool is_steal;            /* work stealing in place of a policy; in virtual time the policy "steal" stands in */
    clo_log *gantt;           /* the bodies that ran, for the picture; NULL: not wanted */
    clo_log *log;             /* of the scheduler; NULL: none */
    clo_stream_report report; /* of the stream checker on the log */
    bool is_judged, is_valid;
    bool draws;        /* --gantt or --report */
    bool keeps_traces; /* start times are wanted */
    bool is_interrupted;
    run_sums sums;
    clo_stream_result predicted;
} stream_run;

/* arrivals.c: the list of jobs that a run of a workload submits. */

/* Makes run.workload and `jobs`: each release is a job, and jobs that fit nowhere are refused, with a line for each of
 * the first. Returns EXIT_GOOD, or an exit code after an error line. */
int run_arrivals(stream_run *run);

/* drive.c: runs the jobs of a workload on real workers. */

/* Runs the jobs; fills run.outcomes and `sums`. Returns an exit code. A report makes sense, also after a failure, where
 * a job ended, failed or was cancelled. */
int run_drive(stream_run *run);

/* log.c: the log of a run of a workload on real workers, and the verdict of the stream checker on it. */

/* Makes run->log where one was asked for, or the run is short enough to be judged. Returns an exit code. */
int run_log_open(stream_run *run);

/* Judges run->log: is_judged, is_valid, report. A log that dropped records is not judged. Returns an exit code, after a
 * line with the first fault where there is one. */
int run_log_judge(stream_run *run);

/* workload_report.c: what a run of a workload came to. */

int run_workload_json(const stream_run *run); /* an exit code */
void run_workload_text(const stream_run *run);

#endif
