/* tool.c - see tool.h. One row a tool; some are on the targets of a build where no operand
 * names others. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/build/tool.h"
#include "clotho/common/options.h"
#include "clotho/common/report.h"
#include "ninja/listing/clean.h"
#include "ninja/listing/listing.h"
#include "ninja/manifest/dyndep.h"
#include "ninja/manifest/manifest.h"
#include "ninja/step/finish.h"
#include "ninja/text/disk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A call: the operands without options, as text and, where the tool wants nodes, as nodes. */
typedef struct tool_call {
    build_folder *f;
    const build_tool *t;
    char **names;
    size_t count;
    uint32_t *nodes;
    bool has_flag[128]; /* "-g": has_flag['g'] */
    buffer out;
    int code; /* of a tool that has an exit status of its own */
} tool_call;

enum { EXIT_MISSING = 3 /* of missingdeps, as ninja has it */ };

enum { ON_WORDS, ON_TARGETS /* of the build, if none is named */, ON_NAMED };

typedef struct tool_row {
    const char *name, *flags, *about;
    int operands;
    bool reads_logs; /* what only they mention has a name then */
    bool writes;
    bool (*run)(tool_call *c);
} tool_row;

/* What the dyndep file of a statement names, as far as it was made and can be read: a build that has written a bad one
 * can be cleaned, too. */
static void read_dyndep(ninja_manifest *m, uint32_t edge)
{
    uint32_t file = m->edges[edge].dyndep;

    if (file != NINJA_NONE && (disk_mtime_ns(m->nodes[file].path) <= 0 || !dyndep_read(m, file)))
        dyndep_skip(m, file);
}

static void read_dyndeps(ninja_manifest *m)
{
    for (uint32_t e = 0; e < m->edges_count; e++)
        read_dyndep(m, e);
}

/* As ninja, it looks into the dyndep files of what it is asked for alone. */
static bool run_query(tool_call *c)
{
    ninja_manifest *m = &c->f->manifest;

    for (size_t i = 0; i < c->count; i++)
        if (m->nodes[c->nodes[i]].producer != NINJA_NONE)
            read_dyndep(m, m->nodes[c->nodes[i]].producer);
    return c->count > 0 ? list_query(m, c->nodes, c->count, &c->out)
                        : ninja_fail(m, "-t query needs a target; name a file of the build");
}

static bool run_commands(tool_call *c)
{
    return list_commands(&c->f->manifest, c->nodes, c->count, c->has_flag['s'], &c->out);
}

static bool run_inputs(tool_call *c)
{
    return list_inputs(&c->f->manifest, c->nodes, c->count, &c->out);
}

static bool run_compdb(tool_call *c)
{
    char directory[4096];

    if (getcwd(directory, sizeof directory) == NULL)
        return ninja_fail(&c->f->manifest, "the path of this folder cannot be found out; go to another one");
    const compdb_options options = {directory, c->names, c->count, c->has_flag['x']};
    return list_compdb(&c->f->manifest, &options, &c->out);
}

static bool run_targets(tool_call *c)
{
    ninja_manifest *m = &c->f->manifest;
    const char *mode = c->count > 0 ? c->names[0] : "depth", *word = c->count > 1 ? c->names[1] : NULL;
    uint64_t depth = 1;

    if (strcmp(mode, "all") == 0)
        return list_targets(m, &c->out);
    if (strcmp(mode, "rule") == 0)
        return word != NULL ? list_rule_outputs(m, word, &c->out) : list_sources(m, &c->out);
    if (strcmp(mode, "depth") != 0)
        return ninja_fail(m, "-t targets '%.80s' means nothing; use all, rule NAME or depth N", mode);
    if (word != NULL && (!parse_u64(word, &depth) || depth > UINT32_MAX))
        return ninja_fail(m, "-t targets depth '%.80s' is no number; write 1 or more, or 0 for all", word);
    return list_depth(m, (uint32_t)depth, &c->out);
}

static bool run_rules(tool_call *c)
{
    return list_rules(&c->f->manifest, c->has_flag['d'], &c->out);
}

static bool run_deps(tool_call *c)
{
    return list_deps(&c->f->manifest, &c->f->deps, c->nodes, c->count, &c->out);
}

static bool run_graph(tool_call *c)
{
    read_dyndeps(&c->f->manifest);
    return list_graph(&c->f->manifest, c->nodes, c->count, &c->out);
}

static bool run_missingdeps(tool_call *c)
{
    bool is_any = false;
    bool is_good = list_missing(&c->f->manifest, &c->f->deps, c->nodes, c->count, &c->out, &is_any);

    c->code = is_any ? EXIT_MISSING : EXIT_GOOD;
    return is_good;
}

/* "Cleaning... N files.", with a line for each where they are wanted. */
static bool run_cleaner(tool_call *c, bool (*what)(tool_call *c, cleaner *cleaning))
{
    cleaner cleaning = {.m = &c->f->manifest, .is_dry = c->t->is_dry};
    buffer lines = {0};
    bool shows = c->t->is_verbose || c->t->is_dry;

    cleaning.lines = shows ? &lines : NULL;
    read_dyndeps(cleaning.m);
    bool is_good = what(c, &cleaning);
    buffer_add_text(&c->out, shows ? "Cleaning...\n" : "Cleaning... ");
    buffer_add(&c->out, lines.at, lines.bytes);
    buffer_add_format(&c->out, "%u files.\n", cleaning.count);
    buffer_free(&lines);
    if (is_good && cleaning.failed == 1)
        return ninja_fail(cleaning.m, "%s", cleaning.why);
    if (is_good && cleaning.failed > 1)
        return ninja_fail(cleaning.m, "%s (and %u more)", cleaning.why, cleaning.failed - 1);
    return is_good;
}

static bool clean_what_is_named(tool_call *c, cleaner *cleaning)
{
    bool is_good = true;

    if (c->count == 0)
        return clean_all(cleaning, c->has_flag['g']);
    for (size_t i = 0; is_good && i < c->count; i++)
        is_good = c->has_flag['r'] ? clean_rule(cleaning, c->names[i]) : clean_target(cleaning, c->names[i]);
    return is_good;
}

static bool clean_what_is_dead(tool_call *c, cleaner *cleaning)
{
    return clean_dead(cleaning, &c->f->log);
}

static bool run_clean(tool_call *c)
{
    if (c->has_flag['r'] && c->count == 0)
        return ninja_fail(&c->f->manifest, "-t clean -r needs a rule; see 'clotho build -t rules'");
    return run_cleaner(c, clean_what_is_named);
}

static bool run_cleandead(tool_call *c)
{
    return run_cleaner(c, clean_what_is_dead);
}

/* Both logs anew, without what is not needed any more. */
static bool run_recompact(tool_call *c)
{
    c->f->log.is_old = true;
    c->f->deps.good_bytes = 0;
    return c->t->is_dry || finish_open_logs(c->f);
}

/* The log gets the times that the outputs have now. */
static bool run_restat(tool_call *c)
{
    build_log *log = &c->f->log;

    for (size_t i = 0; i < log->count; i++) {
        bool is_named = c->count == 0, is_whole = !log_entry_is_begun(&log->entries[i]);
        for (size_t k = 0; !is_named && k < c->count; k++)
            is_named = piece_equal(log->entries[i].output, piece_of(c->names[k]));
        is_named &= is_whole; /* else the file may be half of what it is to be */
        int64_t mtime_ns = is_named ? disk_mtime_ns(log->entries[i].output.at) : log->entries[i].mtime_ns;
        if (is_named && mtime_ns < 0)
            return ninja_fail(&c->f->manifest, "%.256s: cannot be looked at: %s; the log stays as it was",
                              log->entries[i].output.at, strerror(errno));
        log->entries[i].mtime_ns = mtime_ns;
    }
    if (c->t->is_dry || log->count == 0)
        return true;
    log->is_old = true;
    return build_log_open(log, &c->f->manifest, c->f->log_path);
}

/* In the words of `ninja -t list`, which completions of shells read. */
static const tool_row rows[] = {
    {"clean", "gr", "clean built files", ON_WORDS, false, true, run_clean},
    {"cleandead", "", "clean built files that are no longer produced by the manifest", ON_WORDS, true, true,
     run_cleandead},
    {"commands", "s", "list all commands required to rebuild given targets", ON_TARGETS, false, false, run_commands},
    {"compdb", "x", "dump JSON compilation database to stdout", ON_WORDS, false, false, run_compdb},
    {"deps", "", "show dependencies stored in the deps log", ON_NAMED, true, false, run_deps},
    {"graph", "", "output graphviz dot file for targets", ON_TARGETS, false, false, run_graph},
    {"inputs", "", "list all inputs required to rebuild given targets", ON_TARGETS, false, false, run_inputs},
    {"missingdeps", "", "check deps log dependencies on generated files", ON_TARGETS, true, false, run_missingdeps},
    {"query", "", "show inputs/outputs for a path", ON_NAMED, true, false, run_query},
    {"recompact", "", "recompacts ninja-internal data structures", ON_WORDS, true, true, run_recompact},
    {"restat", "", "restats all outputs in the build log", ON_WORDS, true, true, run_restat},
    {"rules", "d", "list all rules", ON_WORDS, false, false, run_rules},
    {"targets", "", "list targets by their rule or depth in the DAG", ON_WORDS, false, false, run_targets},
};

int tool_list(void)
{
    printf("%s subtools:\n", report_speaker());
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        printf("%11s  %s\n", rows[i].name, rows[i].about);
    return EXIT_GOOD;
}

static const tool_row *find_row(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

/* How the options of a tool are named in a message; "": it has none. */
static const char *flags_text(const tool_row *row, char text[32])
{
    size_t at = 0;

    text[0] = '\0';
    for (const char *flag = row->flags; *flag != '\0'; flag++)
        at += (size_t)snprintf(text + at, 32 - at, "%s-%c", at > 0 ? " and " : ", only ", *flag);
    return text;
}

static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0';
}

/* Where the words that may be options end: at the first "--". */
static int options_end(const build_tool *t)
{
    int end = 0;

    while (end < t->count && strcmp(t->words[end], "--") != 0)
        end++;
    return end;
}

int tool_check(const build_tool *t)
{
    const tool_row *row = find_row(t->name);
    char flags[32];

    if (row == NULL)
        return misuse(
            "there is no tool '%s'; use clean, cleandead, commands, compdb, deps, graph, inputs, list, missingdeps, "
            "query, recompact, restat, rules or targets",
            show_name(t->name));
    for (int i = 0; i < options_end(t); i++)
        for (const char *at = t->words[i] + 1; is_option(t->words[i]) && *at != '\0'; at++)
            if (strchr(row->flags, *at) == NULL)
                return misuse("-t %s has no option '%s'%s; options of the build stand before -t", t->name,
                              show_name(t->words[i]), flags_text(row, flags));
    return EXIT_GOOD;
}

bool tool_writes(const build_tool *t)
{
    return find_row(t->name)->writes && !t->is_dry;
}

static bool find_nodes(tool_call *c)
{
    ninja_manifest *m = &c->f->manifest;

    c->nodes = malloc((c->count + 1) * sizeof *c->nodes);
    if (c->nodes == NULL)
        return ninja_no_memory(m);
    for (size_t i = 0; i < c->count; i++)
        if ((c->nodes[i] = ninja_target(m, c->names[i])) == NINJA_NONE)
            return false;
    return true;
}

static bool prepare(tool_call *c, const tool_row *row)
{
    int end = options_end(c->t);

    c->names = malloc(((size_t)c->t->count + 1) * sizeof *c->names);
    if (c->names == NULL)
        return ninja_no_memory(&c->f->manifest);
    for (int i = 0; i < c->t->count; i++) {
        char *word = c->t->words[i];
        if (i > end || (i < end && !is_option(word)))
            c->names[c->count++] = word;
        for (const char *at = word + 1; i < end && is_option(word) && *at != '\0'; at++)
            c->has_flag[*at & 127] = true;
    }
    if (row->operands == ON_WORDS)
        return true;
    return row->operands == ON_TARGETS && c->count == 0 ? ninja_default_targets(&c->f->manifest, &c->nodes, &c->count)
                                                        : find_nodes(c);
}

int tool_run(build_folder *f, const build_tool *t)
{
    const tool_row *row = find_row(t->name);
    tool_call c = {.f = f, .t = t};
    bool is_good = (!row->reads_logs || build_read_logs(f)) && prepare(&c, row) && row->run(&c);

    if ((is_good || row->writes) && c.out.bytes > 0)
        fwrite(c.out.at, 1, c.out.bytes, stdout);
    buffer_free(&c.out);
    free(c.names);
    free(c.nodes);
    return is_good ? c.code : complain(NULL, "%s", show_name(f->manifest.error));
}
