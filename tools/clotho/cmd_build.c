/* cmd_build.c - `clotho build [DIR] [TARGETS]`: a ninja build. */
#define _POSIX_C_SOURCE 200809L
#include "../ninja/build.h"
#include "../ninja/dyndep.h"
#include "../ninja/listing.h"
#include "build_hosts.h"
#include "build_memory.h"
#include "build_plan.h"
#include "build_run.h"
#include "build_status.h"
#include "commands.h"
#include "input.h"
#include "options.h"
#include "report.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANIFEST_ROUNDS = 100 /* as ninja has it */ };
#define NO_JOBS UINT32_MAX /* -j was not given */

typedef struct build_options {
    const char *file, *directory, *tool, *planner, *gantt, *out, *policy;
    const char *trace, *load, *memory;
    uint32_t jobs, failures;
    double load_most;
    int64_t memory_kib;
    bool is_dry, is_verbose, explains, plans, as_json, summarizes, leaves_makes, distributes;
} build_options;

typedef struct build {
    build_options options;
    build_folder folder;
    int home; /* the folder of the call */
    jobserver tokens;
    bool has_tokens; /* `tokens` was opened */
    build_hosts hosts;
    uint64_t made[MANIFEST_ROUNDS]; /* sets of dyndep files that this command has made */
    uint32_t made_count;
} build;

/* What is to be built. */
typedef struct target_list {
    uint32_t *nodes;
    size_t count;
} target_list;

static int failed(build *b)
{
    return complain(NULL, "%s", show_name(b->folder.manifest.error));
}

static int find_targets(build *b, char **names, int count, target_list *targets)
{
    ninja_manifest *m = &b->folder.manifest;

    if (count == 0)
        return ninja_default_targets(m, &targets->nodes, &targets->count) ? EXIT_GOOD : failed(b);
    targets->nodes = malloc((size_t)count * sizeof *targets->nodes);
    if (targets->nodes == NULL)
        return complain(NULL, "out of memory");
    for (int i = 0; i < count; i++) {
        targets->nodes[i] = ninja_target(m, names[i]);
        if (targets->nodes[i] == NINJA_NONE)
            return failed(b);
    }
    targets->count = (size_t)count;
    return EXIT_GOOD;
}

static int print(build *b, bool is_good, buffer *out)
{
    if (is_good && out->bytes > 0)
        fwrite(out->at, 1, out->bytes, stdout);
    buffer_free(out);
    return is_good ? EXIT_GOOD : failed(b);
}

static int print_tool(build *b, const target_list *targets)
{
    ninja_manifest *m = &b->folder.manifest;
    const char *tool = b->options.tool;
    char directory[4096];
    buffer out = {0};
    bool is_good;

    if (strcmp(tool, "query") == 0)
        is_good = list_query(m, targets->nodes, targets->count, &out);
    else if (strcmp(tool, "commands") == 0)
        is_good = list_commands(m, targets->nodes, targets->count, &out);
    else if (strcmp(tool, "targets") == 0)
        is_good = list_targets(m, &out);
    else if (getcwd(directory, sizeof directory) == NULL)
        is_good = ninja_fail(m, "the path of this folder cannot be found out; go to another one");
    else
        is_good = list_compdb(m, directory, &out);
    return print(b, is_good, &out);
}

static int dry_run(build *b)
{
    buffer out = {0};
    uint32_t steps = 0;
    bool is_good = build_dry_run(&b->folder, b->options.is_verbose, &out, &steps);

    if (is_good && steps == 0)
        buffer_add_text(&out, "clotho: no work to do.\n");
    return print(b, is_good, &out);
}

/* Of the paths of nodes. */
static uint64_t hash_of(const ninja_manifest *m, const uint32_t *nodes, size_t count)
{
    uint64_t hash = count;

    for (size_t i = 0; i < count; i++)
        hash = hash * 0x9e3779b97f4a7c15U + murmur64(m->nodes[nodes[i]].path, m->nodes[nodes[i]].bytes);
    return hash;
}

/* What this command has made counts as made, even if a file of the future makes it look old. */
static bool is_new(build *b, const uint32_t *files, size_t count)
{
    uint64_t hash = hash_of(&b->folder.manifest, files, count);

    for (uint32_t i = 0; i < b->made_count; i++)
        if (b->made[i] == hash)
            return false;
    if (b->made_count < MANIFEST_ROUNDS)
        b->made[b->made_count++] = hash;
    return true;
}

/* Reads the dyndep files that are up to date, which may name statements with further ones. *is_first: some must be made
 * first, and those are wanted now. A dry run goes on without them. */
static int read_dyndeps(build *b, const target_list *targets, bool *is_first)
{
    ninja_manifest *m = &b->folder.manifest;
    uint32_t *files;
    size_t count;

    *is_first = false;
    for (;;) { /* ends: each round reads or skips one at least */
        if (!dyndep_next(m, targets->nodes, targets->count, &files, &count))
            return failed(b);
        if (count == 0)
            return EXIT_GOOD;
        bool is_good = build_want(&b->folder, files, count, b->options.explains);
        *is_first = is_good && !order_is_done(&b->folder.order) && !b->options.is_dry && is_new(b, files, count);
        for (size_t i = 0; is_good && !*is_first && i < count; i++) {
            if (b->options.is_dry && m->nodes[files[i]].is_dirty)
                dyndep_skip(m, files[i]);
            else
                is_good = dyndep_read(m, files[i]);
        }
        free(files);
        if (!is_good || *is_first)
            return is_good ? EXIT_GOOD : failed(b);
        build_forget(&b->folder);
    }
}

/* What comes first decides what the rest is: the manifest's own statement, if it has one, then dyndep files. *is_first:
 * that is wanted now; the manifest must be read again. */
static int want(build *b, const target_list *targets, bool *is_first)
{
    ninja_manifest *m = &b->folder.manifest;
    uint32_t manifest = ninja_find_node(m, piece_of(b->options.file));

    *is_first = false;
    if (!build_read_logs(&b->folder))
        return failed(b);
    if (manifest != NINJA_NONE && m->nodes[manifest].producer != NINJA_NONE) {
        if (!build_want(&b->folder, &manifest, 1, b->options.explains))
            return failed(b);
        *is_first = !order_is_done(&b->folder.order);
        if (*is_first)
            return EXIT_GOOD;
        build_forget(&b->folder);
    }
    int code = read_dyndeps(b, targets, is_first);
    if (code != EXIT_GOOD || *is_first)
        return code;
    return build_want(&b->folder, targets->nodes, targets->count, b->options.explains) ? EXIT_GOOD : failed(b);
}

/* ninja's rule: two more than there are CPUs, one more where there are only one or two. */
static uint32_t default_jobs(void)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    return cpus <= 2 ? (cpus == 2 ? 3 : 2) : (uint32_t)cpus + 2;
}

static int plan(build *b, const target_list *targets)
{
    const build_options *o = &b->options;
    build_plan_options options = {o->planner, o->gantt,   o->out, o->jobs > 0 ? o->jobs : default_jobs(),
                                  o->is_dry,  o->as_json, b->home};
    bool is_manifest;

    if (o->is_dry) {
        int code = want(b, targets, &is_manifest);
        if (code != EXIT_GOOD)
            return code;
    } else if (!build_read_logs(&b->folder)) {
        return failed(b);
    }
    return build_plan(&b->folder, targets->nodes, targets->count, &options);
}

static bool is_build_folder(const char *path, const char *file)
{
    struct stat about;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_there = folder >= 0 && fstatat(folder, file, &about, 0) == 0;

    if (folder >= 0)
        close(folder);
    return is_there;
}

/* The tokens of the whole command: those of the make that called it, unless -j says otherwise, or its own. */
static void open_tokens(build *b)
{
    build_options *o = &b->options;
    uint32_t jobs = 0;

    if (b->has_tokens)
        return;
    b->has_tokens = true;
    bool is_client = o->jobs == 0 && !o->leaves_makes && jobserver_join(&b->tokens, &jobs);
    if (o->jobs == 0)
        o->jobs = is_client && jobs > 0 ? jobs : default_jobs();
    if (is_client)
        return;
    int error = o->leaves_makes ? 0 : jobserver_open(&b->tokens, o->jobs);
    if (error != 0)
        warn("no jobserver: %s; makes and LTO links start jobs beyond -j", strerror(error));
    if (o->leaves_makes)
        b->tokens = (jobserver){.inherited = -1, .own = -1};
}

static int open_hosts(build *b)
{
    const char *text = getenv("DISTCC_HOSTS");

    return text != NULL ? hosts_open(&b->hosts, text, b->options.jobs)
                        : complain(NULL, "--distcc: DISTCC_HOSTS names no hosts; set it to such as 'a:3632/8 b/4'");
}

static int run_steps(build *b)
{
    const build_options *o = &b->options;

    open_tokens(b);
    int code = o->distributes && b->hosts.count == 0 ? open_hosts(b) : EXIT_GOOD;
    if (code != EXIT_GOOD)
        return code;
    const build_run_options options = {.policy = o->policy,
                                       .jobs = o->jobs + b->hosts.elsewhere,
                                       .hosts = &b->hosts,
                                       .failures_most = o->failures,
                                       .memory_kib = o->memory_kib,
                                       .is_verbose = o->is_verbose,
                                       .status_format = getenv("NINJA_STATUS"),
                                       .load_most = o->load_most,
                                       .tokens = &b->tokens,
                                       .report = {o->trace, o->gantt, o->summarizes, b->home}};
    return build_run(&b->folder, &options);
}

/* The steps, once the targets are known. *is_manifest: the manifest's own statement was run; it must be read again. */
static int run_targets(build *b, const target_list *targets, bool *is_manifest)
{
    const build_options *o = &b->options;

    if (o->tool != NULL)
        return print_tool(b, targets);
    if (o->plans)
        return plan(b, targets);
    int code = want(b, targets, is_manifest);
    if (code != EXIT_GOOD)
        return code;
    if (o->is_dry) {
        *is_manifest = false;
        return dry_run(b);
    }
    if (!order_is_done(&b->folder.order))
        return run_steps(b);
    printf("clotho: no work to do.\n");
    return EXIT_GOOD;
}

/* One reading of the manifest. */
static int run_once(build *b, char **names, int count, bool *is_manifest)
{
    const char *tool = b->options.tool;
    bool is_whole = tool != NULL && (strcmp(tool, "targets") == 0 || strcmp(tool, "compdb") == 0);
    target_list targets = {0};

    *is_manifest = false;
    if (!build_open(&b->folder, b->options.file))
        return failed(b);
    int code = is_whole ? EXIT_GOOD : find_targets(b, names, count, &targets);
    if (code == EXIT_GOOD)
        code = run_targets(b, &targets, is_manifest);
    free(targets.nodes);
    return code;
}

static int run(build *b, char **names, int count)
{
    bool is_manifest;

    for (int round = 0; round < MANIFEST_ROUNDS; round++) {
        int code = run_once(b, names, count, &is_manifest);
        build_close(&b->folder);
        if (code != EXIT_GOOD || !is_manifest)
            return code;
    }
    return complain(b->options.file,
                    "still not up to date after it was made %d times; look at the statement that makes it",
                    MANIFEST_ROUNDS);
}

static bool known_tool(const char *tool)
{
    static const char *const tools[] = {"query", "commands", "compdb", "targets"};

    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
        if (strcmp(tool, tools[i]) == 0)
            return true;
    return false;
}

static const char about_text[] =
    "Builds what a build.ninja describes, and reads and writes .ninja_log and .ninja_deps as ninja 1.11 does.";

static const char notes[] =
    "DIR is the folder of the build.ninja, where the first operand is such a folder; else all operands are targets in "
    "the\n"
    "current one. Without targets: those of `default` statements, else all that nothing uses.\n\n"
    "  clotho build DIR -j 8               run the steps; the longest path behind a step says which is next\n"
    "  clotho build DIR -n                 the steps that must run\n"
    "  clotho build DIR -n --explain       and why\n"
    "  clotho build DIR --plan -j 8        critical path and makespan of a whole build, from the times of the last "
    "one\n"
    "  clotho build DIR -t commands        as `ninja -t commands`; so are query, compdb and targets\n\n"
    "--plan --json keys: steps tasks edges known jobs planner work_ns critical_path_ns lower_bound_ns makespan_ns gap\n"
    "critical_path.";

/* -j, -l, --memory and NINJA_STATUS; the rest of NINJA_STATUS is text. */
static int check_numbers(build_options *o, bool has_jobs)
{
    const char *format = getenv("NINJA_STATUS");
    char *end = NULL;

    if (has_jobs && (o->jobs == 0 || o->jobs > CLO_EXECUTORS_MAX))
        return misuse("-j is %u; write a number from 1 to %u", o->jobs, CLO_EXECUTORS_MAX);
    if (o->load != NULL) {
        o->load_most = strtod(o->load, &end);
        if (end == o->load || *end != '\0' || !(o->load_most >= 0 && o->load_most < 1e9))
            return misuse("-l is '%s'; write a load such as 4 or 2.5; 0: no limit", show_name(o->load));
    }
    if (o->memory != NULL && !memory_read_budget(o->memory, &o->memory_kib))
        return misuse("--memory is '%s'; write a size from 1M, such as 512M or 4G, or auto", show_name(o->memory));
    if (format != NULL && status_unknown(format) != 0)
        return misuse("NINJA_STATUS has '%%%c', which means nothing; use %%s %%t %%r %%u %%f %%o %%c %%p %%e or %%%%",
                      status_unknown(format));
    return EXIT_GOOD;
}

/* Options that say nothing without others, and names. */
static int check_options(const build_options *o)
{
    if (o->tool != NULL && !known_tool(o->tool))
        return misuse("there is no tool '%s'; use query, commands, compdb or targets", o->tool);
    if (!o->plans && (o->out != NULL || o->as_json))
        return misuse("--out and --json belong to --plan; add it");
    if (o->plans && (o->trace != NULL || o->summarizes))
        return misuse("--trace and --summary are of a build that runs; leave --plan out");
    if (o->distributes && (o->plans || o->memory != NULL))
        return misuse("--distcc goes with neither --plan nor --memory: what a step takes on another host is not known "
                      "here; leave one out");
    if (!o->plans && o->is_dry && (o->trace != NULL || o->gantt != NULL || o->summarizes))
        return misuse("-n runs nothing that --trace, --gantt or --summary could show; leave it out, or add --plan");
    int code = known_planner(o->planner);
    return code == EXIT_GOOD && o->policy != NULL ? known_policy(o->policy) : code;
}

int cmd_build(int argc, char **argv)
{
    static const command about = {"build", "[DIR] [TARGETS]", 0, 4096, about_text, notes};
    build b = {.options = {.file = "build.ninja", .planner = "heft", .jobs = NO_JOBS, .failures = 1},
               .tokens = {.inherited = -1, .own = -1}};
    const option_spec options[] = {
        {"directory", 'C', "DIR", OPTION_TEXT, &b.options.directory, "the folder to build in"},
        {"file", 'f', "FILE", OPTION_TEXT, &b.options.file, "the manifest (build.ninja)"},
        {"dry-run", 'n', NULL, OPTION_FLAG, &b.options.is_dry, "print the steps that would run, and run none"},
        {"verbose", 'v', NULL, OPTION_FLAG, &b.options.is_verbose, "print commands, not descriptions"},
        {"explain", 0, NULL, OPTION_FLAG, &b.options.explains, "say on standard error why each step must run"},
        {"plan", 0, NULL, OPTION_FLAG, &b.options.plans,
         "plan all steps, with -n those that would run, with the times of .ninja_log"},
        {"jobs", 'j', "N", OPTION_U32, &b.options.jobs, "steps at once (CPUs + 2; 3 on 2 CPUs)"},
        {"keep-going", 'k', "N", OPTION_U32, &b.options.failures, "go on until N steps have failed (1); 0: to the end"},
        {"load", 'l', "N", OPTION_TEXT, &b.options.load, "begin no step while the load is N or above; 0: no limit"},
        {"distcc", 0, NULL, OPTION_FLAG, &b.options.distributes,
         "compiles that call distcc run on the hosts of DISTCC_HOSTS too, placed here"},
        {"no-jobserver", 0, NULL, OPTION_FLAG, &b.options.leaves_makes,
         "makes and LTO links below steps know nothing of -j"},
        {"memory", 0, "SIZE", OPTION_TEXT, &b.options.memory,
         "what all running steps may take together, such as 512M or 4G; auto: what is available"},
        {"policy", 0, "NAME", OPTION_TEXT, &b.options.policy,
         "which ready step is next (rank; with --memory one that plans the rest anew)"},
        {"planner", 0, "NAME", OPTION_TEXT, &b.options.planner, "of --plan (heft)"},
        {"gantt", 0, "F.svg", OPTION_TEXT, &b.options.gantt, "picture of what ran; with --plan of the plan"},
        {"trace", 0, "F.json", OPTION_TEXT, &b.options.trace, "what ran, for ui.perfetto.dev"},
        {"summary", 0, NULL, OPTION_FLAG, &b.options.summarizes,
         "at the end: predicted and measured time, bound, critical path, what would help"},
        {"out", 'o', "F.json", OPTION_TEXT, &b.options.out, "the graph that was planned, with its platform"},
        {"json", 0, NULL, OPTION_FLAG, &b.options.as_json, "of --plan: one JSON object"},
        {"tool", 't', "NAME", OPTION_TEXT, &b.options.tool, "print query, commands, compdb or targets as ninja does"},
    };
    char **operands;
    int count;
    int code = options_parse(&about, options, sizeof options / sizeof options[0], argc, argv, &operands, &count);

    if (code != OPTIONS_GO_ON)
        return code;
    bool has_jobs = b.options.jobs != NO_JOBS;
    if (!has_jobs)
        b.options.jobs = 0;
    code = check_numbers(&b.options, has_jobs);
    if (code == EXIT_GOOD)
        code = check_options(&b.options);
    if (code != EXIT_GOOD)
        return code;
    b.home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (b.options.directory == NULL && count > 0 && is_build_folder(operands[0], b.options.file)) {
        b.options.directory = *operands++;
        count--;
    }
    if (b.options.directory != NULL && chdir(b.options.directory) != 0)
        return complain(b.options.directory, "cannot be entered; name the folder of a build.ninja");
    code = run(&b, operands, count);
    jobserver_close(&b.tokens);
    hosts_close(&b.hosts);
    if (b.home >= 0)
        close(b.home);
    return code;
}
