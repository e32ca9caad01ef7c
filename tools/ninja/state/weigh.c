/* weigh.c - see weigh.h. */
#include "ninja/state/weigh.h"

#include <stdlib.h>

typedef struct mean {
    int64_t sum_ns;
    uint32_t count;
} mean;

static int64_t value_of(mean m, int64_t otherwise_ns)
{
    return m.count > 0 ? m.sum_ns / m.count : otherwise_ns;
}

/* A step takes at least 1 ms, the step of the log's clock, and at most a year, so that sums stay small. */
static int64_t logged_ns(const build_folder *f, uint32_t edge)
{
    const int64_t most_ms = (int64_t)366 * 86400 * 1000;
    const ninja_node *output = &f->manifest.nodes[f->manifest.edges[edge].outputs[0]];
    const log_entry *entry = build_log_find(&f->log, (piece){output->path, output->bytes});

    if (entry == NULL || entry->start_ms < 0 || entry->end_ms < entry->start_ms || entry->end_ms > most_ms)
        return -1;
    return entry->end_ms > entry->start_ms ? (entry->end_ms - entry->start_ms) * 1000000 : 1000000;
}

bool build_weigh(build_folder *f, const bool *is_in, const int64_t *learned_ns, build_weights *out)
{
    const ninja_manifest *m = &f->manifest;
    mean all = {0}, *rules = calloc(m->rules_count, sizeof *rules);
    int64_t *time_ns = calloc(m->edges_count + 1, sizeof *time_ns);

    if (rules == NULL || time_ns == NULL) {
        free(rules);
        free(time_ns);
        return ninja_no_memory(&f->manifest);
    }
    *out = (build_weights){time_ns, 0};
    for (uint32_t e = 0; e < m->edges_count; e++) {
        if (!is_in[e] || ninja_is_phony(m, e))
            continue;
        time_ns[e] = logged_ns(f, e);
        if (time_ns[e] < 0 && learned_ns != NULL && learned_ns[e] > 0)
            time_ns[e] = learned_ns[e];
        if (time_ns[e] < 0)
            continue;
        rules[m->edges[e].rule].sum_ns += time_ns[e];
        rules[m->edges[e].rule].count++;
        all.sum_ns += time_ns[e];
        all.count++;
    }
    for (uint32_t e = 0; e < m->edges_count; e++)
        if (time_ns[e] < 0)
            time_ns[e] = value_of(rules[m->edges[e].rule], value_of(all, 1000000000));
    out->known = all.count;
    free(rules);
    return true;
}

void build_weights_free(build_weights *w)
{
    free(w->time_ns);
    *w = (build_weights){0};
}

/* Everything behind the targets, with a stack of its own. */
static bool mark_all(build_folder *f, const uint32_t *targets, size_t count, bool *is_in)
{
    const ninja_manifest *m = &f->manifest;
    uint32_t *stack = malloc((m->edges_count + 1) * sizeof *stack);
    size_t depth = 0;

    if (stack == NULL)
        return ninja_no_memory(&f->manifest);
    for (size_t i = 0; i < count || depth > 0;) {
        const uint32_t *nodes = &targets[i], *more = NULL;
        uint32_t nodes_count = 1, more_count = 0;
        if (depth > 0) {
            const ninja_edge *edge = &m->edges[stack[--depth]];
            nodes = edge->inputs;
            nodes_count = edge->inputs_count;
            more = edge->validations;
            more_count = edge->validations_count;
        } else {
            i++;
        }
        for (uint32_t n = 0; n < nodes_count + more_count; n++) {
            uint32_t edge = m->nodes[n < nodes_count ? nodes[n] : more[n - nodes_count]].producer;
            if (edge == NINJA_NONE || is_in[edge])
                continue;
            is_in[edge] = true;
            stack[depth++] = edge;
        }
    }
    free(stack);
    return true;
}

bool build_mark(build_folder *f, const uint32_t *targets, size_t count, bool only_wanted, bool *is_in)
{
    if (!only_wanted)
        return mark_all(f, targets, count, is_in);
    for (size_t e = 0; e < f->manifest.edges_count; e++)
        is_in[e] = f->order.wants != NULL && f->order.wants[e] > WANT_NEVER;
    return true;
}
