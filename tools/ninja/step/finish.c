/* finish.c - see finish.h. */
#define _POSIX_C_SOURCE 200809L
#include "ninja/step/finish.h"
#include "ninja/logs/show_includes.h"
#include "ninja/manifest/bindings.h"
#include "ninja/text/disk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool finish_open_logs(build_folder *f)
{
    if (!disk_make_folders(f->log_path))
        return ninja_fail(&f->manifest, "%.256s: its folder cannot be made: %s; look at the disk", f->log_path,
                          strerror(errno));
    if (!f->has_clock && build_log_has_starts(&f->log)) {
        f->clock = disk_open_nameless(f->log_path);
        f->has_clock = true;
    }
    return build_log_open(&f->log, &f->manifest, f->log_path) && deps_log_open(&f->deps, &f->manifest, f->deps_path);
}

int64_t finish_now_ns(const build_folder *f)
{
    return f->has_clock ? disk_clock_ns(f->clock) : disk_now_ns();
}

/* A binding as a terminated path; empty: none. */
static bool path_of(build_folder *f, uint32_t edge, uint32_t symbol, buffer *path)
{
    buffer_clear(path);
    if (!ninja_edge_value(&f->manifest, edge, symbol, false, path))
        return false;
    buffer_add(path, "", 1);
    return !path->failed || ninja_no_memory(&f->manifest);
}

static bool make_folders(build_folder *f, const char *path)
{
    return disk_make_folders(path) ||
           ninja_fail(&f->manifest, "%.256s: its folder cannot be made: %s; look at the disk", path, strerror(errno));
}

static bool write_response(build_folder *f, uint32_t edge, const char *path)
{
    buffer content = {0};

    if (!make_folders(f, path))
        return false;
    if (!ninja_edge_value(&f->manifest, edge, SYMBOL_RSPFILE_CONTENT, true, &content))
        return false;
    FILE *file = fopen(path, "we");
    bool is_good = file != NULL && fwrite(content.at, 1, content.bytes, file) == content.bytes;
    if (file != NULL && fclose(file) != 0)
        is_good = false;
    buffer_free(&content);
    return is_good ||
           ninja_fail(&f->manifest, "%.256s: cannot be written: %s; look at the disk", path, strerror(errno));
}

bool finish_prepare(build_folder *f, uint32_t edge)
{
    const ninja_manifest *m = &f->manifest;
    buffer path = {0};
    bool is_good = true;

    for (uint32_t i = 0; is_good && i < m->edges[edge].outputs_count; i++)
        is_good = make_folders(f, m->nodes[m->edges[edge].outputs[i]].path);
    is_good = is_good && path_of(f, edge, SYMBOL_DEPFILE, &path) && (path.bytes < 2 || make_folders(f, path.at)) &&
              path_of(f, edge, SYMBOL_RSPFILE, &path) && (path.bytes < 2 || write_response(f, edge, path.at));
    buffer_free(&path);
    return is_good && build_log_begin(&f->log, &f->manifest, edge);
}

/* The newest time of the inputs that are not order-only, and of a depfile that no record replaces. A phony input
 * without a file is as old as what stands behind it, which was there when the command began. */
static bool newest_input(build_folder *f, uint32_t edge, int64_t start_disk_ns, int64_t *newest_ns)
{
    const ninja_manifest *m = &f->manifest;
    const ninja_edge *e = &m->edges[edge];
    buffer path = {0};

    *newest_ns = 0;
    for (uint32_t i = 0; i < e->inputs_count - e->order_only_count; i++) {
        int64_t age = disk_mtime_ns(m->nodes[e->inputs[i]].path);
        age = age > 0 ? age : start_disk_ns;
        *newest_ns = age > *newest_ns ? age : *newest_ns;
    }
    if (*newest_ns == 0 || ninja_edge_flag(&f->manifest, edge, SYMBOL_DEPS))
        return true;
    bool is_good = path_of(f, edge, SYMBOL_DEPFILE, &path);
    if (is_good && path.bytes > 1) {
        int64_t age = disk_mtime_ns(path.at);
        *newest_ns = age > *newest_ns ? age : *newest_ns;
    }
    buffer_free(&path);
    return is_good;
}

/* Whether restat may believe that a command left an output as it was. Where the old time lies within the command's
 * own, what was written in the same tick of the clock has that time too. */
static bool is_unchanged(int64_t old_ns, int64_t new_ns, int64_t start_disk_ns)
{
    return new_ns == old_ns && (old_ns < start_disk_ns || old_ns > disk_now_ns());
}

/* The time that the log gets, and what restat makes clean. */
static bool look_at_outputs(build_folder *f, uint32_t edge, int64_t start_disk_ns, int64_t *age_ns)
{
    ninja_manifest *m = &f->manifest;
    bool is_restat = ninja_edge_flag(m, edge, SYMBOL_RESTAT), is_cleaned = false;
    bool has_starts = build_log_has_starts(&f->log);
    bool takes_age = !has_starts || is_restat || ninja_edge_flag(m, edge, SYMBOL_GENERATOR);

    *age_ns = has_starts ? start_disk_ns : 0;
    for (uint32_t i = 0; i < m->edges[edge].outputs_count; i++) {
        uint32_t node = m->edges[edge].outputs[i];
        int64_t age = disk_mtime_ns(m->nodes[node].path);
        *age_ns = takes_age && age > *age_ns ? age : *age_ns;
        if (!is_restat || !is_unchanged(m->nodes[node].mtime_ns, age, start_disk_ns))
            continue;
        if (!order_clean(&f->order, &f->scan, node))
            return false;
        is_cleaned = true;
    }
    if (is_cleaned && has_starts)
        *age_ns = start_disk_ns;
    return !is_cleaned || has_starts || newest_input(f, edge, start_disk_ns, age_ns);
}

/* Of a depfile, which is removed once it was read. */
static bool discover_in_depfile(build_folder *f, uint32_t edge, discovered *found, bool *is_bad)
{
    ninja_manifest *m = &f->manifest;
    buffer path = {0};
    bool is_good = path_of(f, edge, SYMBOL_DEPFILE, &path);

    if (is_good && path.bytes < 2) {
        *is_bad = true;
        ninja_set_error(m, "deps = gcc needs a depfile; name it in the rule");
    } else if (is_good) {
        *is_bad = !discover_read(m, edge, path.at, false, found);
        if (!*is_bad && !f->keeps_depfiles)
            unlink(path.at);
    }
    buffer_free(&path);
    return is_good;
}

bool finish_discover(build_folder *f, uint32_t edge, spool *output, discovered *found, bool *is_bad)
{
    ninja_manifest *m = &f->manifest;
    buffer kind = {0}, prefix = {0};
    bool is_good = ninja_edge_value(m, edge, SYMBOL_DEPS, true, &kind);

    *found = (discovered){0};
    *is_bad = false;
    if (is_good && piece_equal(buffer_piece(&kind), piece_of("gcc"))) {
        is_good = discover_in_depfile(f, edge, found, is_bad);
    } else if (is_good && piece_equal(buffer_piece(&kind), piece_of("msvc"))) {
        is_good = ninja_edge_value(m, edge, SYMBOL_MSVC_DEPS_PREFIX, true, &prefix) &&
                  show_includes_read(m, buffer_piece(&prefix), output, found);
    } else if (is_good && kind.bytes > 0) {
        *is_bad = true;
        ninja_set_error(m, "deps = %.*s means nothing; write gcc or msvc", (int)(kind.bytes > 40 ? 40 : kind.bytes),
                        kind.at);
    }
    buffer_free(&kind);
    buffer_free(&prefix);
    return is_good;
}

static bool write_deps(build_folder *f, uint32_t edge, const discovered *found)
{
    ninja_manifest *m = &f->manifest;

    for (uint32_t i = 0; i < m->edges[edge].outputs_count; i++) {
        uint32_t node = m->edges[edge].outputs[i];
        if (!deps_log_add(&f->deps, m, node, disk_mtime_ns(m->nodes[node].path), found->nodes, found->count))
            return false;
    }
    return true;
}

/* The line of the log comes last: with it the step is done, also for a build that is killed here. */
bool finish_succeeded(build_folder *f, uint32_t edge, const step_times *times, const discovered *found)
{
    ninja_manifest *m = &f->manifest;
    int64_t age_ns = 0;
    buffer path = {0};
    bool is_good = look_at_outputs(f, edge, times->start_disk_ns, &age_ns) && order_finished(&f->order, edge) &&
                   (!ninja_edge_flag(m, edge, SYMBOL_DEPS) || write_deps(f, edge, found)) &&
                   build_log_add(&f->log, m, edge, times->start_ms, times->end_ms, age_ns) &&
                   path_of(f, edge, SYMBOL_RSPFILE, &path);

    if (is_good && path.bytes > 1 && !f->keeps_responses)
        unlink(path.at);
    m->edges[edge].deps_loaded = false; /* who looks again looks at what was found now */
    m->edges[edge].has_run = true;
    buffer_free(&path);
    return is_good;
}

bool finish_logs(build_folder *f)
{
    return deps_log_follow(&f->deps, &f->manifest) && build_log_follow(&f->log, &f->manifest);
}

bool finish_interrupted(build_folder *f, uint32_t edge)
{
    ninja_manifest *m = &f->manifest;
    buffer depfile = {0};
    bool is_good = path_of(f, edge, SYMBOL_DEPFILE, &depfile);

    for (uint32_t i = 0; is_good && i < m->edges[edge].outputs_count; i++) {
        const ninja_node *node = &m->nodes[m->edges[edge].outputs[i]];
        if (depfile.bytes > 1 || disk_mtime_ns(node->path) != node->mtime_ns)
            unlink(node->path);
    }
    if (is_good && depfile.bytes > 1)
        unlink(depfile.at);
    buffer_free(&depfile);
    return is_good;
}
