/* options.c - see options.h. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/build/options.h"
#include "clotho/build/status.h"
#include "clotho/build_plan/memory.h"
#include "clotho/common/input.h"
#include "clotho/common/outputs.h"
#include "clotho/common/report.h"

#include <stdlib.h>
#include <string.h>

const char build_about[] =
    "Builds what a build.ninja describes, as ninja 1.11 does. Reads and writes .ninja_deps, and .ninja_log of\n"
    "ninja 1.5 to 1.13, which keeps its version; a new one is that of ninja 1.11.";

const char build_notes[] =
    "DIR is the folder of the build.ninja, where the first operand is such a folder; else all operands are targets in "
    "the\n"
    "current one. Without targets: those of `default` statements, else all that nothing uses. By the link "
    "clotho-ninja\n"
    "the command is taken for a ninja, as CMAKE_MAKE_PROGRAM or NINJA of Meson; all operands are targets then.\n\n"
    "  clotho build DIR -j 8               run the steps; the longest path behind a step says which is next\n"
    "  clotho build DIR -n                 the steps that must run\n"
    "  clotho build DIR -n --explain       and why\n"
    "  clotho build DIR --plan -j 8        critical path and makespan of a whole build, from the times of the last "
    "one\n"
    "  clotho build DIR -t clean           as `ninja -t clean`, which removes what was built\n\n"
    "Tools: clean [-g] [TARGETS], clean -r RULES, cleandead, recompact, restat [OUTPUTS]; and those that print:\n"
    "commands [-s] [TARGETS], compdb [-x] [RULES], deps [TARGETS], graph [TARGETS], inputs [TARGETS],\n"
    "missingdeps [TARGETS], query TARGETS, rules [-d], targets [all], targets rule [RULE], targets depth [N], list.\n\n"
    "--plan --json keys: steps tasks edges known jobs planner work_ns critical_path_ns lower_bound_ns makespan_ns gap\n"
    "critical_path.\n\n"
    "Exit status: 0 built, 1 a step failed or bad input, 2 bad usage, or interrupted as ninja has it.";

/* -j, -l, --memory and NINJA_STATUS; the rest of NINJA_STATUS is text. */
static int check_numbers(build_options *o)
{
    const char *format = getenv("NINJA_STATUS"), *unknown = format != NULL ? status_unknown(format) : NULL;
    bool has_jobs = o->jobs != NO_JOBS;
    char *end = NULL;

    o->is_unlimited = o->jobs == 0;
    if (!has_jobs)
        o->jobs = 0;
    if (o->jobs > CLO_EXECUTORS_MAX)
        return misuse("-j is %u; write a number up to %u, or 0 for no limit", o->jobs, CLO_EXECUTORS_MAX);
    if (o->load != NULL) {
        o->load_most = strtod(o->load, &end);
        if (end == o->load || *end != '\0' || !(o->load_most >= 0 && o->load_most < 1e9))
            return misuse("-l is '%s'; write a load such as 4 or 2.5; 0: no limit", show_name(o->load));
    }
    if (o->memory != NULL && !memory_read_budget(o->memory, &o->memory_kib))
        return misuse("--memory is '%s'; write a size from 1M, such as 512M or 4G, or auto", show_name(o->memory));
    if (unknown != NULL)
        return misuse("NINJA_STATUS has '%.2s', which means nothing; use %%s %%t %%r %%u %%f %%o %%c %%p %%e or %%%%",
                      unknown);
    return EXIT_GOOD;
}

/* -d and -w. */
static int check_modes(build_options *o)
{
    for (uint32_t i = 0; i < o->debug.count; i++) {
        const char *mode = o->debug.items[i];
        o->explains |= strcmp(mode, "explain") == 0;
        o->keeps_depfiles |= strcmp(mode, "keepdepfile") == 0;
        o->keeps_responses |= strcmp(mode, "keeprsp") == 0;
        o->counts |= strcmp(mode, "stats") == 0;
        if (strcmp(mode, "explain") != 0 && strcmp(mode, "keepdepfile") != 0 && strcmp(mode, "keeprsp") != 0 &&
            strcmp(mode, "stats") != 0)
            return misuse("-d '%s' means nothing; use explain, keepdepfile, keeprsp or stats", show_name(mode));
    }
    for (uint32_t i = 0; i < o->warnings.count; i++)
        if (strcmp(o->warnings.items[i], "dupbuild=err") != 0)
            return misuse("-w '%s' means nothing; an output of two statements is always an error (dupbuild=err)",
                          show_name(o->warnings.items[i]));
    return EXIT_GOOD;
}

/* Options that say nothing without others, and names. */
int build_options_check(build_options *o)
{
    int code = check_numbers(o);

    if (code == EXIT_GOOD)
        code = check_modes(o);
    if (code != EXIT_GOOD)
        return code;
    if (!o->plans && (o->out != NULL || o->as_json))
        return misuse("--out and --json belong to --plan; add it");
    if (o->plans && (o->trace != NULL || o->summarizes))
        return misuse("--trace and --summary are of a build that runs; leave --plan out");
    if (o->distributes && (o->plans || o->memory != NULL))
        return misuse("--distcc goes with neither --plan nor --memory: what a step takes on another host is not known "
                      "here; leave one out");
    if (!o->plans && o->is_dry && (o->trace != NULL || o->gantt != NULL || o->page != NULL || o->summarizes))
        return misuse(
            "-n runs nothing that --trace, --gantt, --report or --summary could show; leave it out, or add --plan");
    const char *const files[] = {o->trace, o->gantt, o->page, o->out};
    int wanted = o->as_json + outputs_to_standard(files, sizeof files / sizeof files[0]);
    if (wanted > 1)
        return o->as_json ? misuse("--json and '-' both want standard output; name a file")
                          : misuse("two files want standard output; name one");
    if (wanted > o->as_json && (code = outputs_keep_standard()) != EXIT_GOOD)
        return code;
    code = known_planner(&o->planner);
    return code == EXIT_GOOD && o->policy != NULL ? known_policy(o->policy) : code;
}
