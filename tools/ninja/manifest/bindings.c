/* bindings.c - see bindings.h. */
#include "ninja/manifest/bindings.h"
#include "ninja/manifest/scope.h"
#include "ninja/text/paths.h"

/* A rule's value that is being evaluated. */
typedef struct frame {
    const ninja_value *value;
    uint32_t next, symbol;
} frame;

/* As in ninja nothing stands between an empty path (`/`) and the next one. */
static void add_paths(const ninja_manifest *m, const uint32_t *nodes, uint32_t count, bool quoted, char between,
                      buffer *out)
{
    size_t begin = out->bytes;

    for (uint32_t i = 0; i < count; i++) {
        piece path = {m->nodes[nodes[i]].path, m->nodes[nodes[i]].bytes};
        if (out->bytes > begin)
            buffer_add(out, &between, 1);
        if (quoted)
            path_quote(out, path);
        else
            buffer_add(out, path.at, path.bytes);
    }
}

/* Appends a variable, or pushes the rule's value that stands for it. As in ninja an edge's own scope comes first (the
 * file's, where the edge binds nothing), then its rule, then the scopes around. False: rule variables in a circle. */
static bool add_symbol(const ninja_manifest *m, const ninja_edge *edge, uint32_t symbol, bool quoted, buffer *out,
                       frame *frames, uint32_t *depth)
{
    if (symbol == SYMBOL_IN || symbol == SYMBOL_IN_NEWLINE) {
        add_paths(m, edge->inputs, edge->inputs_count - edge->implicit_count - edge->order_only_count, quoted,
                  symbol == SYMBOL_IN ? ' ' : '\n', out);
        return true;
    }
    if (symbol == SYMBOL_OUT) {
        add_paths(m, edge->outputs, edge->outputs_count - edge->implicit_outputs, quoted, ' ', out);
        return true;
    }
    const piece *value = scope_own(m, edge->scope, symbol);
    if (value == NULL && symbol <= SYMBOL_RULE_LAST && m->rules[edge->rule].values[symbol].is_set) {
        for (uint32_t i = 0; i < *depth; i++)
            if (frames[i].symbol == symbol)
                return false;
        frames[(*depth)++] = (frame){&m->rules[edge->rule].values[symbol], 0, symbol};
        return true;
    }
    if (value == NULL)
        value = scope_value(m, m->parents[edge->scope], symbol);
    if (value != NULL)
        buffer_add(out, value->at, value->bytes);
    return true;
}

bool ninja_edge_value(ninja_manifest *m, uint32_t index, uint32_t symbol, bool quoted, buffer *out)
{
    const ninja_edge *edge = &m->edges[index];
    frame frames[SYMBOL_RULE_LAST + 1]; /* no symbol is on it twice */
    uint32_t depth = 0;
    size_t most = out->most;
    bool is_good;

    out->most = out->bytes + m->options.value_max;
    is_good = add_symbol(m, edge, symbol, quoted, out, frames, &depth);
    while (is_good && depth > 0 && !out->failed) {
        frame *top = &frames[depth - 1];
        if (top->next == top->value->count) {
            depth--;
            continue;
        }
        const ninja_part *part = &top->value->parts[top->next++];
        if (part->symbol == NINJA_NONE)
            buffer_add(out, part->at, part->bytes);
        else
            is_good = add_symbol(m, edge, part->symbol, quoted, out, frames, &depth);
    }
    out->most = most;
    if (is_good && !out->failed)
        return true;
    return ninja_fail(m, "%.256s:%u: '%.80s' of this statement %s", m->files[edge->file], edge->line,
                      m->symbols[symbol].at,
                      out->failed ? "is too long, or there is no memory; look for variables that contain themselves"
                                  : "needs itself; mend the variables of its rule");
}

bool ninja_edge_flag(ninja_manifest *m, uint32_t edge, uint32_t symbol)
{
    buffer text = {.counts = true};

    if (symbol == SYMBOL_RESTAT && m->edges[edge].is_restat)
        return true;
    return ninja_edge_value(m, edge, symbol, true, &text) && text.bytes > 0;
}

bool ninja_edge_command(ninja_manifest *m, uint32_t edge, bool with_response, buffer *out)
{
    if (!ninja_edge_value(m, edge, SYMBOL_COMMAND, true, out))
        return false;
    if (!with_response)
        return true;
    buffer content = {0};
    bool is_good = ninja_edge_value(m, edge, SYMBOL_RSPFILE_CONTENT, true, &content);
    if (is_good && content.bytes > 0) {
        buffer_add_text(out, ";rspfile=");
        buffer_add(out, content.at, content.bytes);
        is_good = !out->failed || ninja_no_memory(m);
    }
    buffer_free(&content);
    return is_good;
}

piece ninja_variable(const ninja_manifest *m, uint32_t symbol)
{
    const piece *value = scope_own(m, 0, symbol);

    return value != NULL ? *value : (piece){"", 0};
}

piece ninja_rule_name(const ninja_manifest *m, uint32_t edge)
{
    return m->symbols[m->rules[m->edges[edge].rule].name];
}
