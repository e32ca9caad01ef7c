/* commands.h - a graph whose tasks are commands, as people know it from make: lines of progress, what failed and
 * what was left out, `-k`, `-n`; what has no time is planned as if it took as long as the rest. */
#ifndef CLO_TOOLS_CLOTHO_RUN_COMMANDS_H
#define CLO_TOOLS_CLOTHO_RUN_COMMANDS_H

#include "clotho/run/run.h"

typedef struct run_commands run_commands;

/* For a graph of `in` with commands; *out is NULL for any other. in->cost becomes that of a copy of the graph whose
 * bodies report here. Returns an exit code after an error line. */
int commands_open(input *in, const run_options *options, run_commands **out);
void commands_close(run_commands *c);

/* The cost to plan with: commands without a time take as long as the others in the mean, or all the same. */
const clo_cost *commands_planning_cost(const run_commands *c, const input *in);
/* How many have none; c may be NULL. */
uint32_t commands_without_time(const run_commands *c);

/* Threads for the slots of a platform, of which each command blocks one; 0: no task of the graph is a command. */
uint32_t commands_at_once(const input *in);

/* Before each run. */
void commands_begin(run_commands *c);
/* How many have failed in this run, which was the first, and how many did not run. */
uint32_t commands_failed(const run_commands *c, uint32_t *first, uint32_t *skipped);
/* The error line of a run in which some have failed. */
int commands_complain(const run_commands *c, const char *path);
/* What the first that failed has returned, and what it has printed, as far as that was kept. */
int commands_failed_code(const run_commands *c);
const char *commands_output(const run_commands *c);

/* `-n`: the commands in the order of the plan, as a shell would take them. */
int commands_print(const input *in, const clo_plan *plan);

#endif
