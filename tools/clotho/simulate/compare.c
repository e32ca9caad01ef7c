/* compare.c - several policies on the same runs. Policies meet the same jobs and arrivals with the same seed, so what
 * is compared is their ratio run by run: how runs differ among themselves cancels out. Each seed is run under all
 * policies before the next one, so that what is there after an interrupt can be compared. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/simulate/simulate.h"

#include "clotho/common/interrupt.h"
#include "clotho/common/policy_option.h"
#include "clotho/simulate/compare_report.h"

#include <stdlib.h>
#include <string.h>

/* What all policies share, and the simulation of each. */
typedef struct contest {
    policy_comparison comparison;
    simulation shared, each[OPTION_LIST_MAX];
} contest;

/* A run that is done goes into a row. One that the checker refuses does not count. */
static int take(void *context, const simulation *sim, const simulated_run *run, size_t index)
{
    contest *c = context;
    policy_runs *row = &c->comparison.policies[sim - c->each];
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
    bool is_drawn = sim->arrivals.kind == CLO_ARRIVALS_POISSON || sim->arrivals.shuffled; /* else one after another */
    p->has_same_runs = p->seeds > 1 && !is_drawn && sim->options->environment == NULL;
    return p->workload != NULL && p->platform != NULL ? EXIT_GOOD : no_memory(sim->path);
}

/* Runs that fail are error lines and counted. */
static int run_all(contest *c)
{
    policy_comparison *p = &c->comparison;
    const uint32_t count = p->comparison.count;
    size_t failed[OPTION_LIST_MAX] = {0};
    int code = simulation_run_range(c->each, count, p->first, p->seeds, take, c, failed);

    progress_clear();
    for (uint32_t i = 0; i < count; i++)
        policy_comparison_take(p, i, failed[i]);
    if (is_interrupted()) {
        warn("interrupted: these are the runs that are done");
        code = EXIT_BAD_INPUT;
    }
    int reported = policy_comparison_report(p, c->shared.options);
    return code == EXIT_GOOD ? reported : code;
}

/* The workload is read once, which may be standard input. */
static int open_and_run(contest *c)
{
    const option_list *names = &c->shared.options->policies;
    int code = simulation_open(&c->shared);
    uint32_t opened = 0;

    if (code == EXIT_GOOD)
        code = remember(&c->comparison, &c->shared);
    for (; opened < names->count && code == EXIT_GOOD; opened++) {
        c->each[opened] = c->shared; /* but for the policy, which is its own */
        c->each[opened].policy = NULL;
        c->each[opened].argument = NULL;
        code = simulation_choose_policy(&c->each[opened], names->items[opened]);
    }
    if (code == EXIT_GOOD)
        code = run_all(c);
    while (opened-- > 0)
        policy_close(c->each[opened].policy, c->each[opened].argument);
    simulation_close(&c->shared);
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
    contest *c = calloc(1, sizeof *c);
    uint32_t baseline = 0;

    if (c == NULL)
        return no_memory(path);
    policy_comparison *p = &c->comparison;
    c->shared = (simulation){.path = path, .options = options};
    p->first = options->seed;
    p->seeds = 1;
    int code = check_policies(&options->policies);
    if (code == EXIT_GOOD)
        code = comparison_baseline(&options->policies, options->baseline, NULL, "policy", &baseline);
    if (code == EXIT_GOOD && options->seeds != NULL)
        code = simulate_read_seeds(options->seeds, &p->first, &p->seeds);
    if (code == EXIT_GOOD && !policy_comparison_open(p, &options->policies, baseline))
        code = no_memory(path);
    if (code == EXIT_GOOD) {
        interrupts_catch();
        code = open_and_run(c);
        interrupts_let_go();
    }
    policy_comparison_close(p);
    free(c);
    return code;
}
