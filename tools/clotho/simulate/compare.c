/* compare.c - several policies on the same runs. Policies meet the same jobs and arrivals with the same seed, so what
 * is compared is their ratio run by run: how runs differ among themselves cancels out. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/simulate/simulate.h"

#include "clotho/common/interrupt.h"
#include "clotho/common/policy_option.h"
#include "clotho/simulate/compare_report.h"

#include <stdlib.h>
#include <string.h>

/* A run that is done goes into a row. One that the checker refuses does not count. */
static int take(void *context, const simulation *sim, const simulated_run *run, size_t index)
{
    policy_runs *row = context;
    const clo_stream_result *r = &run->result;

    progress_over("policy %s: seed %llu done", sim->policy_name, (unsigned long long)run->seed);
    if (run->status == CLO_OK)
        row->runs[index] = (compared_run){true,
                                          run->seed,
                                          r->jct_mean_ns,
                                          (double)r->jct_p95_ns,
                                          r->jct_weighted_ns,
                                          (double)r->makespan_ns,
                                          r->utilization,
                                          r->jobs_late,
                                          r->tardiness_mean_ns};
    return EXIT_GOOD;
}

static int no_memory(const char *path)
{
    return complain(path, "out of memory");
}

static int remember(policy_comparison *p, const simulation *sim)
{
    p->workload = strdup(clo_workload_name(sim->loaded));
    p->platform = strdup(clo_platform_name(sim->platform));
    p->arrivals = sim->draws ? sim->arrivals_text : NULL;
    p->has_same_runs = p->seeds > 1 && !sim->draws && sim->options->environment == NULL;
    return p->workload != NULL && p->platform != NULL ? EXIT_GOOD : no_memory(sim->path);
}

/* All seeds under one policy. Runs that fail are error lines and counted. */
static int run_policy(policy_comparison *p, simulation *sim, uint32_t index)
{
    size_t failed = 0;
    int code = simulation_choose_policy(sim, sim->options->policies.items[index]);

    if (code == EXIT_GOOD)
        code = simulation_run_range(sim, p->first, p->seeds, take, &p->policies[index], &failed);
    progress_clear();
    policy_comparison_take(p, index, failed);
    return code;
}

static int run_all(policy_comparison *p, simulation *sim)
{
    int code = EXIT_GOOD;

    for (uint32_t i = 0; i < p->comparison.count && !is_interrupted(); i++) {
        int one = run_policy(p, sim, i);
        code = code == EXIT_GOOD ? one : code;
    }
    if (is_interrupted()) {
        warn("interrupted: these are the runs that are done");
        code = EXIT_BAD_INPUT;
    }
    int reported = policy_comparison_report(p, sim->options);
    return code == EXIT_GOOD ? reported : code;
}

/* The workload is read once, which may be standard input. */
static int open_and_run(policy_comparison *p, const char *path, const simulate_options *options)
{
    simulation sim = {.path = path, .options = options};
    int code = simulation_open(&sim);

    if (code == EXIT_GOOD)
        code = remember(p, &sim);
    if (code == EXIT_GOOD)
        code = run_all(p, &sim);
    simulation_close(&sim);
    return code;
}

/* Before the first run, which may take long. */
static int check_policies(const option_list *names)
{
    int code = EXIT_GOOD;

    for (uint32_t p = 0; p < names->count && code == EXIT_GOOD; p++) {
        const clo_policy *policy;
        const char *text;
        void *argument;
        code = policy_open(names->items[p], &policy, &text, &argument);
        if (code == EXIT_GOOD)
            policy_close(policy, argument);
    }
    return code;
}

int simulate_compare(const char *path, const simulate_options *options)
{
    policy_comparison p = {.first = options->seed, .seeds = 1};
    uint32_t baseline = 0;
    int code = check_policies(&options->policies);

    if (code == EXIT_GOOD)
        code = comparison_baseline(&options->policies, options->baseline, NULL, "policy", &baseline);
    if (code == EXIT_GOOD && options->seeds != NULL)
        code = simulate_read_seeds(options->seeds, &p.first, &p.seeds);
    if (code == EXIT_GOOD && !policy_comparison_open(&p, &options->policies, baseline))
        code = no_memory(path);
    if (code == EXIT_GOOD) {
        interrupts_catch();
        code = open_and_run(&p, path, options);
        interrupts_let_go();
    }
    policy_comparison_close(&p);
    return code;
}
