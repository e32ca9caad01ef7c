/* build.c - see build.h. */
#define _POSIX_C_SOURCE 200809L
#include "ninja/state/build.h"
#include "ninja/manifest/bindings.h"
#include "ninja/manifest/manifest.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool build_open(build_folder *f, const char *file)
{
    memset(f, 0, sizeof *f);
    return ninja_open(&f->manifest, file, NULL);
}

static bool name_log(build_folder *f, char *path, size_t bytes, const char *name)
{
    piece folder = ninja_variable(&f->manifest, SYMBOL_BUILDDIR);
    int written = snprintf(path, bytes, "%.*s%s%s", (int)folder.bytes, folder.bytes > 0 ? folder.at : "",
                           folder.bytes > 0 ? "/" : "", name);

    return (written > 0 && (size_t)written < bytes) ||
           ninja_fail(&f->manifest, "the path of builddir is too long; use one below %zu bytes", bytes - 20);
}

bool build_name_logs(build_folder *f)
{
    return name_log(f, f->log_path, sizeof f->log_path, ".ninja_log") &&
           name_log(f, f->deps_path, sizeof f->deps_path, ".ninja_deps");
}

bool build_read_logs(build_folder *f)
{
    return build_name_logs(f) && build_log_load(&f->log, &f->manifest, f->log_path) &&
           deps_log_load(&f->deps, &f->manifest, f->deps_path);
}

bool build_want(build_folder *f, const uint32_t *targets, size_t count, build_wish wish)
{
    for (;;) { /* ends: each further round has read a dyndep file at least */
        f->scan = (dirty_scan){.m = &f->manifest,
                               .log = &f->log,
                               .deps = &f->deps,
                               .ran = f->ran,
                               .explains = wish.explains,
                               .leaves_validations = wish.leaves_validations};
        bool is_good = order_make(&f->order, &f->scan, targets, count);
        if (!f->scan.has_read)
            return is_good;
        f->manifest.error[0] = '\0'; /* it may be of what the file has changed */
        build_forget(f);
    }
}

void build_forget(build_folder *f)
{
    ninja_manifest *m = &f->manifest;

    order_free(&f->order);
    dirty_free(&f->scan);
    for (size_t i = 0; i < m->nodes_count; i++) {
        m->nodes[i].mtime_ns = -1;
        m->nodes[i].exists = m->nodes[i].is_dirty = false;
    }
    for (size_t i = 0; i < m->edges_count; i++) { /* discovered inputs stay, as ninja keeps them */
        m->edges[i].mark = EDGE_UNSEEN;
        m->edges[i].outputs_ready = m->edges[i].has_run = m->edges[i].has_failed = false;
    }
}

void build_close(build_folder *f)
{
    if (f->has_clock && f->clock >= 0)
        close(f->clock);
    f->has_clock = false;
    order_free(&f->order);
    dirty_free(&f->scan);
    build_log_close(&f->log);
    deps_log_close(&f->deps);
    ninja_close(&f->manifest);
}

bool build_describe(build_folder *f, uint32_t edge, bool is_verbose, buffer *out)
{
    size_t before = out->bytes;

    if (!is_verbose && !ninja_edge_value(&f->manifest, edge, SYMBOL_DESCRIPTION, true, out))
        return false;
    return out->bytes > before || ninja_edge_command(&f->manifest, edge, false, out);
}

static bool print_step(build_folder *f, uint32_t edge, uint32_t finished, uint32_t steps, bool is_verbose, buffer *out)
{
    buffer_add_format(out, "[%u/%u] ", finished, steps);
    if (!build_describe(f, edge, is_verbose, out))
        return false;
    buffer_add(out, "\n", 1);
    return !out->failed || ninja_no_memory(&f->manifest);
}

/* Steps that have begun and end in the order of their begin. */
typedef struct running {
    uint32_t *edges;
    size_t first, count, capacity;
} running;

static bool begin(build_folder *f, running *r, uint32_t edge)
{
    if (ninja_is_phony(&f->manifest, edge))
        return order_finished(&f->order, edge);
    uint32_t *grown = array_grow(r->edges, &r->capacity, r->count + 1, sizeof *grown);
    if (grown == NULL)
        return ninja_no_memory(&f->manifest);
    r->edges = grown;
    r->edges[r->count++] = edge;
    return true;
}

/* ninja begins all that is ready before it ends a step. A step of the console is printed as it begins. */
bool build_dry_run(build_folder *f, bool is_verbose, buffer *out, uint32_t *steps)
{
    running r = {0};
    uint32_t total = f->order.steps, finished = 0;
    bool is_good = true;

    *steps = order_is_done(&f->order) ? 0 : total;
    while (is_good && f->order.wanted > 0 && *steps > 0) {
        uint32_t edge = order_next(&f->order);
        if (edge != NINJA_NONE) {
            bool is_console = f->manifest.edges[edge].pool == NINJA_POOL_CONSOLE;
            if (is_console && !ninja_is_phony(&f->manifest, edge))
                is_good = print_step(f, edge, finished, total, is_verbose, out);
            is_good = is_good && begin(f, &r, edge);
            continue;
        }
        if (r.first == r.count) {
            is_good = ninja_fail(&f->manifest, "the build is stuck: %u steps wait for each other; report this",
                                 f->order.wanted);
            break;
        }
        edge = r.edges[r.first++];
        finished++;
        if (f->manifest.edges[edge].pool != NINJA_POOL_CONSOLE)
            is_good = print_step(f, edge, finished, total, is_verbose, out);
        is_good = is_good && order_finished(&f->order, edge);
    }
    free(r.edges);
    return is_good;
}
