/* discover.c - see discover.h. */
#include "ninja/logs/discover.h"
#include "ninja/logs/depfile.h"
#include "ninja/manifest/bindings.h"
#include "ninja/text/paths.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DEPFILE_BYTES_MAX = 1 << 28 };

/* A file that nothing makes may be missing if only a record names it: its edge is phony and has no inputs. */
static bool add_phony(ninja_manifest *m, uint32_t node)
{
    if (m->nodes[node].producer != NINJA_NONE)
        return true;
    uint32_t *output = store_take(&m->store, sizeof *output);
    if (output == NULL)
        return ninja_no_memory(m);
    uint32_t edge = ninja_add_edge(m, NINJA_PHONY, 0);
    if (edge == NINJA_NONE)
        return false;
    *output = node;
    m->edges[edge].outputs = output;
    m->edges[edge].outputs_count = 1;
    m->edges[edge].outputs_ready = true; /* its node may have been looked at before */
    m->edges[edge].is_discovered = true;
    m->nodes[node].producer = edge;
    return true;
}

/* Inputs as implicit ones, before those that are order-only. */
static bool add_inputs(ninja_manifest *m, uint32_t edge, const uint32_t *nodes, uint32_t count)
{
    uint32_t old = m->edges[edge].inputs_count, ordered = old - m->edges[edge].order_only_count;
    uint32_t *inputs = store_take(&m->store, ((size_t)old + count) * sizeof *inputs);

    if (inputs == NULL)
        return ninja_no_memory(m);
    for (uint32_t i = 0; i < old + count; i++)
        inputs[i] = i < ordered           ? m->edges[edge].inputs[i]
                    : i < ordered + count ? nodes[i - ordered]
                                          : m->edges[edge].inputs[i - count];
    m->edges[edge].inputs = inputs;
    m->edges[edge].inputs_count = old + count;
    m->edges[edge].implicit_count += count;
    for (uint32_t i = 0; i < count; i++)
        if (!add_phony(m, nodes[i]))
            return false;
    return true;
}

static bool load_record(ninja_manifest *m, const deps_log *log, uint32_t edge, const char *explains, bool *is_missing)
{
    uint32_t output = m->edges[edge].outputs[0];
    const deps_record *record = deps_log_find(log, m, output);

    *is_missing = record == NULL || m->nodes[output].mtime_ns > record->mtime_ns;
    if (*is_missing && explains != NULL && record == NULL)
        fprintf(stderr, "%s explain: deps for '%s' are missing\n", explains, m->nodes[output].path);
    else if (*is_missing && explains != NULL)
        fprintf(stderr, "%s explain: stored deps info out of date for '%s' (%" PRId64 " vs %" PRId64 ")\n", explains,
                m->nodes[output].path, record->mtime_ns, m->nodes[output].mtime_ns);
    return *is_missing || add_inputs(m, edge, record->inputs, record->count);
}

/* The path as a canonical node name; the text is changed. */
static piece canonical(piece name, char *text)
{
    memcpy(text, name.at, name.bytes);
    return (piece){text, path_canonical(text, name.bytes)};
}

static bool is_output(const ninja_manifest *m, uint32_t edge, uint32_t outputs, piece name)
{
    for (uint32_t i = 0; i < outputs; i++) {
        const ninja_node *node = &m->nodes[m->edges[edge].outputs[i]];
        if (piece_equal(name, (piece){node->path, node->bytes}))
            return true;
    }
    return false;
}

/* *is_other: the depfile is about another output. False: m->error is set. */
static bool check_outputs(ninja_manifest *m, uint32_t edge, const char *path, const depfile *d, char *scratch,
                          bool *is_other)
{
    *is_other = false;
    if (d->outputs_count == 0)
        return ninja_fail(m, "%.256s: names no output; remove it, so that its step runs again", path);
    *is_other = !is_output(m, edge, 1, canonical(d->outputs[0], scratch));
    for (size_t i = 0; !*is_other && i < d->outputs_count; i++)
        if (!is_output(m, edge, m->edges[edge].outputs_count, canonical(d->outputs[i], scratch)))
            return ninja_fail(m, "%.256s: names '%.*s', which is no output of its step; name it in the build statement",
                              path, (int)(d->outputs[i].bytes > 200 ? 200 : d->outputs[i].bytes), d->outputs[i].at);
    return true;
}

static bool take_nodes(ninja_manifest *m, const depfile *d, char *scratch, discovered *out)
{
    out->nodes = malloc((d->inputs_count + 1) * sizeof *out->nodes);
    if (out->nodes == NULL)
        return ninja_no_memory(m);
    for (out->count = 0; out->count < d->inputs_count; out->count++) {
        out->nodes[out->count] = ninja_add_node(m, canonical(d->inputs[out->count], scratch));
        if (out->nodes[out->count] == NINJA_NONE) {
            free(out->nodes);
            *out = (discovered){0};
            return false;
        }
    }
    return true;
}

static bool read_text(ninja_manifest *m, uint32_t edge, const char *path, piece text, bool checks_output,
                      discovered *out)
{
    depfile d;
    char *copy = malloc(text.bytes + 1), *scratch = malloc(text.bytes + 1);
    bool is_good = copy != NULL && scratch != NULL;

    if (!is_good) {
        free(copy);
        free(scratch);
        return ninja_no_memory(m);
    }
    memcpy(copy, text.at, text.bytes);
    const char *wrong = depfile_parse(&d, copy, text.bytes);
    if (wrong != NULL)
        is_good = ninja_fail(m, "%.256s: %s; remove it, so that its step runs again", path, wrong);
    if (is_good && checks_output)
        is_good = check_outputs(m, edge, path, &d, scratch, &out->is_missing);
    if (is_good && !out->is_missing)
        is_good = take_nodes(m, &d, scratch, out);
    depfile_free(&d);
    free(copy);
    free(scratch);
    return is_good;
}

bool discover_read(ninja_manifest *m, uint32_t edge, const char *path, bool checks_output, discovered *out)
{
    char *text = NULL;
    size_t bytes = 0;
    int error = file_read(path, DEPFILE_BYTES_MAX, &text, &bytes);

    *out = (discovered){.is_missing = error == ENOENT || (error == 0 && bytes == 0)};
    if (error != 0 && error != ENOENT)
        return ninja_fail(m, "%.256s: cannot be read: %s; look at the file", path, strerror(error));
    bool is_good = out->is_missing || read_text(m, edge, path, (piece){text, bytes}, checks_output, out);
    free(text);
    return is_good;
}

static bool load_depfile(ninja_manifest *m, uint32_t edge, const char *path, const char *explains, bool *is_missing)
{
    discovered found;

    if (!discover_read(m, edge, path, true, &found))
        return false;
    *is_missing = found.is_missing;
    if (found.is_missing && explains != NULL)
        fprintf(stderr, "%s explain: depfile '%s' is missing\n", explains, path);
    bool is_good = add_inputs(m, edge, found.nodes, found.count);
    free(found.nodes);
    return is_good;
}

bool discover_load(ninja_manifest *m, const deps_log *log, uint32_t edge, const char *explains, bool *is_missing)
{
    buffer path = {0};
    bool is_good = true;

    *is_missing = false;
    if (ninja_edge_flag(m, edge, SYMBOL_DEPS))
        return load_record(m, log, edge, explains, is_missing);
    if (!ninja_edge_value(m, edge, SYMBOL_DEPFILE, false, &path))
        return false;
    if (path.bytes > 0) {
        buffer_add(&path, "", 1);
        is_good = !path.failed ? load_depfile(m, edge, path.at, explains, is_missing) : ninja_no_memory(m);
    }
    buffer_free(&path);
    return is_good;
}
