/* simulate.h - `clotho simulate`: what its files share. */
#ifndef CLO_TOOLS_CLOTHO_SIMULATE_SIMULATE_H
#define CLO_TOOLS_CLOTHO_SIMULATE_SIMULATE_H

#include "clotho/common/input.h"
#include "clotho/common/options.h"
#include "clotho/common/outputs.h"

#include <clotho/stream.h>
#include <clotho/stream_check.h>
#include <stdio.h>

enum { SIMULATE_SAMPLES = 60 };

typedef struct simulate_options {
    input_config input;
    option_list policies;
    const char *policy;  /* NAME[:ARGUMENT], of them the one that is simulated; NULL: none */
    const char *planner; /* NULL: a policy decides */
    const char *arrivals, *seeds, *log, *replay, *csv, *gantt, *trace, *report;
    const char *baseline, *svg; /* of several policies */
    const char *environment;    /* NULL: the costs give the times */
    uint32_t jobs, steps_max, live;
    uint64_t samples;               /* with a profile: simulations with drawn durations; 0: the default */
    int64_t period_ns, deadline_ns; /* with releases_in_flight */
    uint32_t releases_in_flight, releases;
    uint64_t seed;
    bool as_json, skips_misfits;
} simulate_options;

/* How many files go to standard output: with one, nothing else does. */
static inline int simulate_to_output(const simulate_options *o)
{
    const char *const files[] = {o->gantt, o->trace, o->csv, o->log, o->svg, o->report};

    return outputs_to_standard(files, sizeof files / sizeof files[0]);
}

/* All that the runs of one command share; only read while they run. */
typedef struct simulation {
    const char *path;
    const simulate_options *options;
    clo_workload *loaded;
    clo_platform *opened; /* NULL: the workload's own is used */
    const clo_platform *platform;
    const char *spec; /* for the log */
    uint64_t workload_hash, platform_hash;
    const clo_policy *policy;
    const char *policy_name, *policy_text; /* the argument as text; NULL: none */
    void *argument;                        /* owned; NULL: none                */
    bool draws;                            /* the arrivals are not those of the file */
    clo_arrivals_config arrivals;
    const char *arrivals_text;
    bool keeps_log;     /* after the verdict too */
    bool drops_misfits; /* a job that fits nowhere is no error here: the caller refuses it */
} simulation;

/* One run of it. */
typedef struct simulated_run {
    uint64_t seed;
    clo_workload *drawn;
    const clo_workload *workload;
    clo_log *log;
    clo_stream_outcome *outcomes;
    clo_stream_result result;
    bool is_judged; /* report and use are there */
    bool is_valid;
    clo_stream_report report;
    uint32_t backlog[SIMULATE_SAMPLES];
    double use[SIMULATE_SAMPLES]; /* share of the executors */
    clo_status status;
    char error[512]; /* of a failed run, or of a fault */
} simulated_run;

/* True if the file is to be simulated as a workload, even where no option asks for that. */
bool is_workload_file(const char *path);

/* Simulates the workload at `path` as the options say. Returns an exit code. */
int simulate_workload(const char *path, const simulate_options *options);

/* "A-B". Returns an exit code. */
int simulate_read_seeds(const char *text, uint64_t *first, size_t *count);

/* Whether the options go together with --releases-in-flight, or none of it is asked for. Returns an exit code. */
int simulate_flight_check(const simulate_options *options);

/* Plans the graph at `path` modulo an interval and simulates a series of releases. Returns an exit code. */
int simulate_flight(const char *path, const simulate_options *options);

/* Plans the workload at `path` with options->planner. Returns an exit code. */
int simulate_planner(const char *path, const simulate_options *options);

/* Opens what sim->path and sim->options name. Returns an exit code; simulation_close is safe in each case. */
int simulation_open(simulation *sim);
void simulation_close(simulation *sim);

/* "NAME[:ARGUMENT]" in place of the policy of sim->options. Returns an exit code. */
int simulation_choose_policy(simulation *sim, const char *name);

/* The jobs of the run, with its seed: drawn, or those of the file. simulated_run_close frees them. */
clo_status simulation_draw(const simulation *sim, simulated_run *run);

/* Runs seed `run->seed`; fills all of *run but what it keeps NULL. Any thread. */
void simulation_run(const simulation *sim, simulated_run *run);
void simulated_run_close(simulated_run *run);

/* Runs `seeds` seeds from `first` on, side by side, and each of them in all of sims[sims_count] before the next one;
 * `take` is called for each run that is not in error, in order, with the index of its seed, and its exit code counts,
 * too. Where the caller catches signals (interrupt.h), one ends it early, with the runs that are done. failed: NULL:
 * each run that fails is an error line; else [sims_count], only the first of each is, and their number is added. */
typedef int (*simulated_take)(void *context, const simulation *sim, const simulated_run *run, size_t index);
int simulation_run_range(const simulation *sims, size_t sims_count, uint64_t first, size_t seeds, simulated_take take,
                         void *context, size_t *failed);

/* The reports; each returns an exit code. */
int simulated_json(const simulation *sim, const simulated_run *run);
void simulated_head(const simulation *sim);
void simulated_text(const simulation *sim, const simulated_run *run);
void simulated_row(const simulated_run *run, bool is_first);
int simulated_csv(const simulated_run *run, const char *path);

/* compare.c: several policies on the same runs. */

/* Simulates the workload at `path` under each of options->policies, with each seed of --seeds. Returns an exit code. */
int simulate_compare(const char *path, const simulate_options *options);

/* replay.c: `clotho simulate WORKLOAD --replay LOG`: the run of a log again, compared record by record. */

/* Returns EXIT_GOOD where every record is equal. */
int simulate_replay(const char *path, const simulate_options *options);

#endif
