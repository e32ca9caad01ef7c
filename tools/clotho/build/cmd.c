/* cmd.c - `clotho build [DIR] [TARGETS]`: a ninja build. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/build/options.h"
#include "clotho/build/run.h"
#include "clotho/build/stats.h"
#include "clotho/build_plan/hosts.h"
#include "clotho/build_plan/plan.h"
#include "clotho/common/commands.h"
#include "clotho/common/input.h"
#include "clotho/common/report.h"
#include "ninja/manifest/dyndep.h"
#include "ninja/manifest/manifest.h"
#include "ninja/state/build.h"
#include "ninja/step/cpus.h"
#include "ninja/step/lock.h"
#include "ninja/text/disk.h"
#include "ninja/text/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANIFEST_ROUNDS = 100 /* as ninja has it */ };

typedef struct build {
    build_options options;
    build_folder folder;
    int home; /* the folder of the call */
    jobserver tokens;
    bool has_tokens; /* `tokens` was opened */
    build_lock lock;
    bool has_asked;  /* for the lock */
    int64_t read_ns; /* when the manifest was read; disk_now_ns */
    uint32_t remade; /* the node of the manifest, while what comes before it is run; else NINJA_NONE */
    bool is_current; /* the manifest was made anew, if need be: as ninja has it, once in a command */
    build_hosts hosts;
    ran_steps ran;   /* of the phases that made dyndep files */
    bool is_phase;   /* that is what is wanted now */
    uint32_t failed; /* steps, in all phases */
    build_stats stats;
} build;

/* What is to be built: the words of the command line, and what the manifest as it is now has for them. */
typedef struct target_list {
    char **names;
    int names_count;
    uint32_t *nodes; /* NULL: not looked for yet */
    size_t count;
} target_list;

static int failed(build *b)
{
    return complain(NULL, "%s", show_name(b->folder.manifest.error));
}

/* Only where the manifest is up to date: one that is not may lack a target that the next one has. */
static int find_targets(build *b, target_list *targets)
{
    ninja_manifest *m = &b->folder.manifest;

    if (targets->nodes != NULL)
        return EXIT_GOOD;
    if (targets->names_count == 0)
        return ninja_default_targets(m, &targets->nodes, &targets->count) ? EXIT_GOOD : failed(b);
    targets->nodes = malloc((size_t)targets->names_count * sizeof *targets->nodes);
    if (targets->nodes == NULL)
        return complain(NULL, "out of memory");
    for (int i = 0; i < targets->names_count; i++) {
        targets->nodes[i] = ninja_target(m, targets->names[i]);
        if (targets->nodes[i] == NINJA_NONE)
            return failed(b);
    }
    targets->count = (size_t)targets->names_count;
    return EXIT_GOOD;
}

static int print(build *b, bool is_good, buffer *out)
{
    if (is_good && out->bytes > 0)
        fwrite(out->at, 1, out->bytes, stdout);
    buffer_free(out);
    return is_good ? EXIT_GOOD : failed(b);
}

static int dry_run(build *b)
{
    buffer out = {0};
    uint32_t steps = 0;
    bool is_good = build_dry_run(&b->folder, b->options.is_verbose, &out, &steps);

    if (b->options.is_quiet)
        buffer_clear(&out);
    if (is_good && steps == 0)
        buffer_add_format(&out, "%s: no work to do.\n", report_speaker());
    return print(b, is_good, &out);
}

/* Wants nodes. *is_first: dyndep files must be made before, and those are wanted. What their statements validate waits,
 * as it may need further dyndep files. A dry run goes on without files that are not up to date. Why a step must run is
 * said once: when no dyndep file is left to be read. */
static int want_nodes(build *b, const uint32_t *nodes, size_t count, bool *is_first)
{
    ninja_manifest *m = &b->folder.manifest;
    const char *explains = b->options.explains ? report_speaker() : NULL;
    const build_wish of_files = {explains, true};
    uint32_t *files;
    size_t files_count;

    *is_first = b->is_phase = false;
    for (;;) { /* ends: each round reads or skips one at least */
        const build_wish wish = {dyndep_is_any(m) ? NULL : explains, false};
        if (!build_want(&b->folder, nodes, count, wish) || !dyndep_next(m, nodes, count, &files, &files_count))
            return failed(b);
        if (files_count == 0 && wish.explains == explains)
            return EXIT_GOOD;
        build_forget(&b->folder);
        if (files_count == 0)
            return build_want(&b->folder, nodes, count, (build_wish){explains, false}) ? EXIT_GOOD : failed(b);
        bool is_good = build_want(&b->folder, files, files_count, of_files);
        *is_first = b->is_phase = is_good && !order_is_done(&b->folder.order) && !b->options.is_dry;
        for (size_t i = 0; is_good && !*is_first && i < files_count; i++) {
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

/* Another build may have written the manifest since we began to read it, and have ended before we asked for the
 * lock. */
static bool is_manifest_old(const build *b)
{
    const ninja_manifest *m = &b->folder.manifest;

    for (size_t i = 0; i < m->files_count; i++)
        if (disk_is_newer(m->files[i], b->read_ns))
            return true;
    return false;
}

/* One build at a time writes the logs of a folder. *is_old: another one did until now, or has just done it; what it has
 * changed must be read. */
static int take_lock(build *b, bool *is_old)
{
    build_folder *f = &b->folder;

    *is_old = false;
    if (b->has_asked)
        return EXIT_GOOD;
    b->has_asked = true;
    if (!build_name_logs(f))
        return failed(b);
    disk_make_folders(f->log_path); /* where that fails, the logs say so */
    *is_old = lock_take(&b->lock, f->log_path, false) == LOCK_BUSY;
    if (*is_old) {
        fprintf(stderr, "%s: another build runs in this folder; waiting for its end\n", report_speaker());
        lock_take(&b->lock, f->log_path, true);
    }
    *is_old |= is_manifest_old(b);
    return EXIT_GOOD;
}

/* The node of the manifest, if a statement makes it; however -f spells it. A command that was killed while it wrote the
 * manifest may have left one without that statement. */
static uint32_t find_manifest(const build *b)
{
    const ninja_manifest *m = &b->folder.manifest;
    char *text = strdup(b->options.file);

    if (text == NULL)
        return NINJA_NONE;
    const piece path = {text, path_canonical(text, strlen(text))};
    uint32_t node = ninja_find_node(m, path);
    if (node != NINJA_NONE && m->nodes[node].producer == NINJA_NONE)
        node = NINJA_NONE;
    const log_entry *entry = node == NINJA_NONE ? build_log_find(&b->folder.log, path) : NULL;
    if (entry != NULL && log_entry_is_begun(entry))
        warn("%s: the command that makes it has not ended well, and it does not name that command any more; make it "
             "anew, as with 'cmake -B DIR'",
             show_name(b->options.file));
    free(text);
    return node;
}

/* Wants the manifest's own statement, or what comes before it. *is_first: something of that must run. What the phases
 * of the manifest have run may have to run again for the targets, as in ninja. */
static int want_manifest(build *b, bool *is_first)
{
    uint32_t node = b->is_current ? NINJA_NONE : find_manifest(b);

    *is_first = b->is_phase = false;
    if (node == NINJA_NONE) {
        b->is_current = true;
        return EXIT_GOOD;
    }
    int code = want_nodes(b, &node, 1, is_first);
    if (code != EXIT_GOOD || *is_first)
        return code;
    *is_first = !order_is_done(&b->folder.order);
    if (*is_first) {
        b->remade = node;
        return EXIT_GOOD;
    }
    if (b->failed > 0)
        return build_say_failed(b->options.file, b->failed, b->options.failures);
    build_forget(&b->folder);
    ran_free(&b->ran);
    b->is_current = true;
    return EXIT_GOOD;
}

/* What want_manifest wanted has run. True: restat has shown that the manifest itself is as it was, and need not be read
 * again; what its statement needs, such as CMake's look at its globs, may run in each build. */
static bool is_manifest_spared(build *b)
{
    bool is_spared = b->remade != NINJA_NONE && !b->folder.manifest.nodes[b->remade].is_dirty;

    if (b->remade != NINJA_NONE)
        ran_free(&b->ran);
    b->remade = NINJA_NONE;
    b->is_current |= is_spared;
    if (is_spared)
        build_forget(&b->folder);
    return is_spared;
}

/* What comes first decides what the rest is: the manifest's own statement, if it has one, then dyndep files. *is_first:
 * that is wanted now; the manifest must be read again, unless is_manifest_spared. */
static int want(build *b, target_list *targets, bool *is_first)
{
    int code = want_manifest(b, is_first);

    if (code != EXIT_GOOD || *is_first)
        return code;
    code = find_targets(b, targets);
    if (code != EXIT_GOOD)
        return code;
    stats_begin(&b->stats);
    code = want_nodes(b, targets->nodes, targets->count, is_first);
    stats_end(&b->stats, STATS_DIRTY);
    return code;
}

/* ninja's rule: two more than there are CPUs, one more where there are only one or two. */
static uint32_t default_jobs(void)
{
    uint32_t cpus = cpus_usable();

    return cpus <= 2 ? cpus + 1 : cpus + 2;
}

/* -j0: all steps at once, as far as executors go. */
static uint32_t every_step(const build *b)
{
    size_t steps = b->folder.manifest.edges_count;

    return steps == 0 ? 1 : steps < CLO_EXECUTORS_MAX ? (uint32_t)steps : CLO_EXECUTORS_MAX;
}

/* The manifest is read here, --out is written in the folder of the call. */
static bool replaces_manifest(const build *b, const char *path)
{
    struct stat manifest, out;

    return path != NULL && stat(b->options.file, &manifest) == 0 && fstatat(b->home, path, &out, 0) == 0 &&
           manifest.st_dev == out.st_dev && manifest.st_ino == out.st_ino;
}

static int plan(build *b, target_list *targets)
{
    const build_options *o = &b->options;
    uint32_t jobs = o->is_unlimited ? every_step(b) : o->jobs > 0 ? o->jobs : default_jobs();
    build_plan_options options = {o->planner, o->gantt, o->page, o->out, jobs, o->is_dry, o->as_json, b->home};
    bool is_manifest;

    if (replaces_manifest(b, o->out))
        return misuse("--out would replace %s, which is read; name another file", show_name(o->out));
    if (!build_read_logs(&b->folder))
        return failed(b);
    int code = o->is_dry ? want(b, targets, &is_manifest) : find_targets(b, targets);
    if (code != EXIT_GOOD)
        return code;
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
    o->leaves_makes |= o->is_unlimited;
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
    if (o->is_unlimited)
        b->options.jobs = b->folder.order.steps < CLO_EXECUTORS_MAX ? b->folder.order.steps : CLO_EXECUTORS_MAX;
    int code = o->distributes && b->hosts.count == 0 ? open_hosts(b) : EXIT_GOOD;
    if (code != EXIT_GOOD)
        return code;
    const build_run_options options = {.policy = o->policy,
                                       .jobs = o->jobs + b->hosts.elsewhere,
                                       .hosts = &b->hosts,
                                       .failures_most = o->failures,
                                       .failed = &b->failed,
                                       .is_phase = b->is_phase,
                                       .remakes = b->is_current ? NULL : o->file,
                                       .memory_kib = o->memory_kib,
                                       .lock = b->lock.folder,
                                       .ends_servers = o->ends_servers,
                                       .is_verbose = o->is_verbose,
                                       .is_quiet = o->is_quiet,
                                       .status_format = getenv("NINJA_STATUS"),
                                       .load_most = o->load_most,
                                       .tokens = &b->tokens,
                                       .report = {o->trace, o->gantt, o->page, o->summarizes, b->home}};
    return build_run(&b->folder, &options);
}

/* Nothing is wanted, or nothing that can be made after what has failed. */
static int end_without_steps(const build *b)
{
    if (b->failed > 0)
        return build_say_failed(NULL, b->failed, b->options.failures);
    if (b->ran.count == 0)
        printf("%s: no work to do.\n", report_speaker());
    return EXIT_GOOD;
}

/* The steps. *is_manifest: the manifest must be read again, because its own statement was run, or because another build
 * has just ended. */
static int run_targets(build *b, target_list *targets, bool *is_manifest)
{
    const build_options *o = &b->options;

    if (o->plans)
        return plan(b, targets);
    int code = o->is_dry ? EXIT_GOOD : take_lock(b, is_manifest);
    if (code != EXIT_GOOD || *is_manifest)
        return code;
    stats_begin(&b->stats);
    bool is_read = build_read_logs(&b->folder);
    stats_end(&b->stats, STATS_LOGS);
    if (!is_read)
        return failed(b);
    do { /* twice at most */
        code = want(b, targets, is_manifest);
        if (code != EXIT_GOOD)
            return code;
        if (!o->is_dry && order_is_done(&b->folder.order))
            return end_without_steps(b);
        stats_begin(&b->stats);
        code = o->is_dry ? dry_run(b) : run_steps(b);
        stats_end(&b->stats, STATS_RUN);
    } while (code == EXIT_GOOD && is_manifest_spared(b));
    *is_manifest &= !o->is_dry;
    return code == EXIT_GOOD && b->is_phase && !ran_keep(&b->ran, &b->folder.manifest) ? failed(b) : code;
}

/* A tool instead of a build. */
static int run_tool(build *b, bool *is_manifest)
{
    const build_tool *t = &b->options.tool;
    int code = tool_writes(t) ? take_lock(b, is_manifest) : EXIT_GOOD;

    return code != EXIT_GOOD || *is_manifest ? code : tool_run(&b->folder, t);
}

/* One reading of the manifest. */
static int run_once(build *b, char **names, int count, bool *is_manifest)
{
    target_list targets = {names, count, NULL, 0};

    *is_manifest = false;
    b->remade = NINJA_NONE;
    b->read_ns = disk_now_ns();
    if (access(b->options.file, F_OK) != 0 && errno == ENOENT)
        return complain(b->options.file, "there is no such file here; name the folder of a build, or make one, as with "
                                         "'cmake -G Ninja -B DIR'");
    stats_begin(&b->stats);
    bool is_open = build_open(&b->folder, b->options.file);
    stats_end(&b->stats, STATS_PARSE);
    if (!is_open)
        return failed(b);
    b->folder.ran = &b->ran;
    b->folder.keeps_depfiles = b->options.keeps_depfiles;
    b->folder.keeps_responses = b->options.keeps_responses;
    if (b->options.tool.name != NULL)
        return run_tool(b, is_manifest);
    int code = run_targets(b, &targets, is_manifest);
    free(targets.nodes);
    return code;
}

static int run(build *b, char **names, int count)
{
    bool is_manifest;

    for (int round = 0; round < MANIFEST_ROUNDS; round += !b->is_phase) { /* each phase runs a step more */
        int code = run_once(b, names, count, &is_manifest);
        stats_manifest(&b->stats, &b->folder.manifest);
        build_close(&b->folder);
        if (code != EXIT_GOOD || !is_manifest) {
            stats_print(&b->stats);
            return code;
        }
    }
    return complain(b->options.file,
                    "still not up to date after it was made %d times; look at the statement that makes it",
                    MANIFEST_ROUNDS);
}

/* The words of the tool: operands before `-t NAME`, and all behind it. */
static int add_words(build *b, char **operands, int count, char **more, int more_count)
{
    build_tool *t = &b->options.tool;

    if (t->name == NULL)
        return EXIT_GOOD;
    t->words = malloc(((size_t)count + (size_t)more_count + 1) * sizeof *t->words);
    if (t->words == NULL)
        return complain(NULL, "out of memory");
    for (int i = 0; i < count; i++)
        t->words[t->count++] = operands[i];
    for (int i = 0; i < more_count; i++)
        t->words[t->count++] = more[i];
    t->is_dry = b->options.is_dry;
    t->is_verbose = b->options.is_verbose;
    return tool_check(t);
}

/* Editors look for the files of errors by this line, with its odd quotes. */
static void say_folder(const build *b)
{
    const build_options *o = &b->options;

    if (o->directory == NULL || o->is_quiet || o->plans || o->tool.name != NULL)
        return;
    printf("%s: Entering directory `%s'\n", report_speaker(), o->directory);
    fflush(stdout);
}

/* Once the options are known: the folder, then what is to be done there. */
static int run_in_folder(build *b, char **operands, int count, char **more, int more_count)
{
    b->home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (b->options.directory == NULL && !report_is_ninja() && count > 0 &&
        is_build_folder(operands[0], b->options.file)) {
        b->options.directory = *operands++;
        count--;
    }
    int code = add_words(b, operands, count, more, more_count);
    if (code != EXIT_GOOD)
        return code;
    say_folder(b);
    if (b->options.directory != NULL && chdir(b->options.directory) != 0)
        return complain(b->options.directory, "cannot be entered; name the folder of a build.ninja");
    return run(b, operands, count);
}

static void close_all(build *b)
{
    free(b->options.tool.words);
    ran_free(&b->ran);
    jobserver_close(&b->tokens);
    hosts_close(&b->hosts);
    lock_give_back(&b->lock);
    if (b->home >= 0)
        close(b->home);
}

/* What CMake and Meson ask for: the ninja whose features these are. */
static const char NINJA_VERSION[] = "1.11.1";

/* Alone: CMake and Meson compare it. */
static int say_version(void)
{
    puts(NINJA_VERSION);
    return EXIT_GOOD;
}

int cmd_build(int argc, char **argv)
{
    static const command about = {"build", "[DIR] [TARGETS]", 0, 4096, build_about, build_notes};
    build b = {.options = {.file = "build.ninja", .jobs = NO_JOBS, .failures = 1},
               .tokens = {.inherited = -1, .own = -1},
               .lock = {.folder = -1},
               .home = -1};
    const option_spec options[] = {
        {"directory", 'C', "DIR", OPTION_TEXT, &b.options.directory, "the folder to build in"},
        {"file", 'f', "FILE", OPTION_TEXT, &b.options.file, "the manifest (build.ninja)"},
        {"dry-run", 'n', NULL, OPTION_FLAG, &b.options.is_dry, "print the steps that would run, and run none"},
        {"verbose", 'v', NULL, OPTION_FLAG, &b.options.is_verbose, "print commands, not descriptions"},
        {"explain", 0, NULL, OPTION_FLAG, &b.options.explains, "say on standard error why each step must run"},
        {"plan", 0, NULL, OPTION_FLAG, &b.options.plans,
         "plan all steps, with -n those that would run, with the times of .ninja_log"},
        {"jobs", 'j', "N", OPTION_U32, &b.options.jobs, "steps at once (CPUs + 2; 3 on 2 CPUs); 0: no limit"},
        {"keep-going", 'k', "N", OPTION_U32, &b.options.failures, "go on until N steps have failed (1); 0: to the end"},
        {"load", 'l', "N", OPTION_TEXT, &b.options.load, "begin no step while the load is N or above; 0: no limit"},
        {"distcc", 0, NULL, OPTION_FLAG, &b.options.distributes,
         "compiles that call distcc run on the hosts of DISTCC_HOSTS too, placed here"},
        {"no-jobserver", 0, NULL, OPTION_FLAG, &b.options.leaves_makes,
         "makes and LTO links below steps know nothing of -j"},
        {"end-servers", 0, NULL, OPTION_FLAG, &b.options.ends_servers,
         "servers that a step starts (sccache, watchman, Gradle) end with it; left out: they run on"},
        {"memory", 0, "SIZE", OPTION_TEXT, &b.options.memory,
         "what all running steps may take together, such as 512M or 4G; auto: what is available"},
        {"policy", 0, "NAME", OPTION_TEXT, &b.options.policy,
         "which ready step is next (rank; with --memory one that plans the rest anew)"},
        {"planner", 0, "NAME", OPTION_TEXT, &b.options.planner, "of --plan (heft)"},
        {"gantt", 0, "F.svg", OPTION_OUTPUT, &b.options.gantt, "picture of what ran; with --plan of the plan"},
        {"report", 0, "F.html", OPTION_OUTPUT, &b.options.page, "the same as a page with a chart and tables"},
        {"trace", 0, "F.json", OPTION_OUTPUT, &b.options.trace, "what ran, for ui.perfetto.dev"},
        {"summary", 0, NULL, OPTION_FLAG, &b.options.summarizes,
         "at the end: predicted and measured time, bound, critical path, what would help"},
        {"out", 'o', "F.json", OPTION_OUTPUT, &b.options.out, "the graph that was planned, with its platform"},
        {"json", 0, NULL, OPTION_FLAG, &b.options.as_json, "of --plan: one JSON object"},
        {"debug", 'd', "MODE", OPTION_LIST, &b.options.debug, "explain (as --explain), keepdepfile, keeprsp or stats"},
        {"warning", 'w', "FLAG", OPTION_LIST, &b.options.warnings, "dupbuild=err, which is always so; for scripts"},
        {"version", 0, NULL, OPTION_FLAG, &b.options.tells_version, "print the version of ninja that this stands for"},
        {"quiet", 0, NULL, OPTION_FLAG, &b.options.is_quiet, "print no lines of steps, only what they print"},
        {"tool", 't', "NAME", OPTION_TEXT, &b.options.tool.name,
         "a tool of ninja; all behind NAME is the tool's; see below"},
    };
    char **operands;
    const size_t options_count = sizeof options / sizeof options[0];
    int count, first = options_behind(options, options_count, 't', argc, argv); /* the tool's, as ninja has it */
    int code = options_parse(&about, options, options_count, first, argv, &operands, &count);

    if (code != OPTIONS_GO_ON)
        return code;
    if (b.options.tells_version)
        return say_version();
    if (b.options.tool.name != NULL && strcmp(b.options.tool.name, "list") == 0)
        return tool_list();
    if ((code = build_options_check(&b.options)) != EXIT_GOOD)
        return code;
    b.stats.is_on = b.options.counts && b.options.tool.name == NULL;
    code = run_in_folder(&b, operands, count, argv + first, argc - first);
    close_all(&b);
    return code;
}

int build_as_ninja(int argc, char **argv)
{
    report_speak_as_ninja();
    return cmd_build(argc, argv);
}
