/* run.h - `clotho run`, shared by its three files: cmd.c (options), execute.c (does it),
 * report.c (tells). */
#ifndef CLO_TOOLS_CLOTHO_RUN_RUN_H
#define CLO_TOOLS_CLOTHO_RUN_RUN_H

#include "clotho/common/input.h"
#include "clotho/common/outputs.h"
#include "clotho/run/median.h"

#define RUN_REPEAT_MAX 100000u

typedef struct run_options {
    input_config input;
    bool names_planner; /* --planner was written; else `planner` is the default one */
    const char *planner, *policy, *clock_name, *trace, *gantt, *report;
    const char *arrivals, *csv, *log; /* of workloads */
    const char *hosts, *engine;       /* of hosts.h; here for --help */
    const char *plan;                 /* file to replay */
    const char *learn;                /* profile to merge into */
    clo_clock clock;
    uint32_t repeat, fifo, dilate;
    uint32_t jobs, live, steps_max;                                        /* of workloads */
    uint32_t releases_in_flight, releases, traced_releases, late_releases; /* of releases.h */
    uint32_t failures, at_once; /* of commands: commands.h; at_once UINT32_MAX: as the platform says */
    char slots[24];             /* the platform of at_once */
    uint64_t seed, memory_limit_mib;
    int64_t deadline_ns, period_ns;
    bool is_dry, no_replay_check, unpinned, copy_always, as_json;
} run_options;

/* How many files go to standard output: with one, nothing else does. */
static inline int run_to_output(const run_options *o)
{
    const char *const files[] = {o->gantt, o->csv, o->log, o->trace, o->report};

    return outputs_to_standard(files, sizeof files / sizeof files[0]);
}

typedef enum run_replay { REPLAY_NOT_CHECKED, REPLAY_EQUAL, REPLAY_DIFFERS } run_replay;

/* What happened. results and measured_ns hold `runs` entries; trace and happened are of the run with the median
 * time, or of the one that failed. */
typedef struct run_outcome {
    const input *in;
    const run_options *options;
    struct run_commands *commands; /* NULL: its tasks are no commands              */
    clo_plan *plan;                /* replay: the plan; else NULL                     */
    const clo_policy *policy;      /* policy dispatch; else NULL                      */
    void *argument;                /* of the policy, owned; NULL: none                */
    int64_t predicted_ns;
    clo_prediction prediction; /* with a profile; median_ns 0: none */
    clo_job_result *results;
    int64_t *measured_ns;
    int64_t *sorted;     /* [repeat]: room for the medians               */
    uint32_t runs;       /* that ended well                                 */
    bool is_cut;         /* by a signal: fewer runs than were wanted */
    clo_job_result last; /* of the last run, also if it failed              */
    clo_trace *trace;
    clo_plan *happened;
    clo_plan *expected; /* what the simulator expects of a policy, for --report; else NULL */
    median_runs median;
    clo_profile *learned; /* what the runs have taken; NULL: nobody wants to know */
    size_t samples;
    clo_plan_metrics metrics; /* of `happened`                                   */
    uint64_t output_hash;
    bool reportable; /* something ran and was looked at: a report makes sense even where it failed */
    bool valid;      /* every run passed the checker, outputs all alike */
    run_replay replay;
    bool speedup_means_something; /* false: more padded workers than CPUs */
} run_outcome;

/* Executes; everything in `out` is to be freed with run_close, also after a failure.
 * Returns EXIT_GOOD, or an exit code after an error line; out->reportable tells whether there is more to say. */
int run_execute(const input *in, const run_options *options, struct run_commands *commands, run_outcome *out);
/* `-n`: prints the commands in an order that would run. Returns an exit code. */
int run_dry(const input *in, const run_options *options, struct run_commands *commands);
void run_close(run_outcome *out);

/* -j N as a platform of slots, and --body: EXIT_GOOD, or an exit code after an error line. */
int run_read_slots(run_options *options);
int run_check_body(const run_options *options);

const char *run_mode(const run_outcome *out);             /* "replay", "steal", "policy" */
const char *run_dispatch(const run_options *options);     /* the planner's or policy's name */
int64_t run_median_ns(const run_outcome *out);            /* of the measured makespans   */
const clo_job_result *run_median(const run_outcome *out); /* the run with that makespan, else the last */
double run_prediction_error(
    const run_outcome *out); /* median of |measured - predicted| / predicted; NAN if undefined */

int run_print_json(const run_outcome *out);
/* Returns EXIT_GOOD, or EXIT_BAD_INPUT after an error line where runs have missed --deadline. */
int run_check_deadline(const run_outcome *out);
int run_print_text(const run_outcome *out);

#endif
