/* listing_graph.c - see listing.h: the graph as DOT, and generated files that only compilers have named. */
#include "ninja/listing/listing.h"
#include "ninja/logs/discover.h"
#include "ninja/manifest/bindings.h"

#include <stdlib.h>
#include <string.h>

/* A node whose producer's inputs are being visited. */
typedef struct visit {
    uint32_t node, next;
} visit;

typedef struct walk {
    visit *stack;
    size_t depth, capacity;
    bool *seen; /* [nodes] */
} walk;

static bool walk_begin(walk *w, ninja_manifest *m)
{
    *w = (walk){.seen = calloc(m->nodes_count + 1, 1)};
    return w->seen != NULL || ninja_no_memory(m);
}

static void walk_end(walk *w)
{
    free(w->stack);
    free(w->seen);
}

/* Sees a node; its producer's inputs come next. */
static bool walk_into(ninja_manifest *m, walk *w, uint32_t node)
{
    visit *grown = array_grow(w->stack, &w->capacity, w->depth + 1, sizeof *grown);

    if (grown == NULL)
        return ninja_no_memory(m);
    w->stack = grown;
    w->seen[node] = true;
    w->stack[w->depth++] = (visit){node, 0};
    return true;
}

static void add_rule(buffer *out, const ninja_manifest *m, uint32_t edge)
{
    piece rule = ninja_rule_name(m, edge);

    buffer_add(out, rule.at, rule.bytes);
}

static void draw_node(const ninja_manifest *m, uint32_t node, buffer *out)
{
    buffer_add_format(out, "\"n%u\" [label=\"", node);
    for (const char *at = m->nodes[node].path; *at != '\0'; at++)
        buffer_add(out, *at == '\\' ? "/" : at, 1);
    buffer_add_text(out, "\"]\n");
}

static void draw_edge(const ninja_manifest *m, uint32_t index, buffer *out)
{
    const ninja_edge *edge = &m->edges[index];

    if (edge->inputs_count == 1 && edge->outputs_count == 1) {
        buffer_add_format(out, "\"n%u\" -> \"n%u\" [label=\" ", edge->inputs[0], edge->outputs[0]);
        add_rule(out, m, index);
        buffer_add_text(out, "\"]\n");
        return;
    }
    buffer_add_format(out, "\"e%u\" [label=\"", index);
    add_rule(out, m, index);
    buffer_add_text(out, "\", shape=ellipse]\n");
    for (uint32_t i = 0; i < edge->outputs_count; i++)
        buffer_add_format(out, "\"e%u\" -> \"n%u\"\n", index, edge->outputs[i]);
    for (uint32_t i = 0; i < edge->inputs_count; i++)
        buffer_add_format(out, "\"n%u\" -> \"e%u\" [arrowhead=none%s]\n", edge->inputs[i], index,
                          i >= edge->inputs_count - edge->order_only_count ? " style=dotted" : "");
}

/* drawn: [edges] */
static bool draw_behind(ninja_manifest *m, walk *w, bool *drawn, uint32_t target, buffer *out)
{
    uint32_t node = target;
    bool is_good = true;

    while (is_good) {
        if (!w->seen[node]) {
            uint32_t edge = m->nodes[node].producer;
            draw_node(m, node, out);
            w->seen[node] = true;
            if (edge != NINJA_NONE && !drawn[edge]) {
                drawn[edge] = true;
                draw_edge(m, edge, out);
                is_good = walk_into(m, w, node);
            }
        }
        while (w->depth > 0 &&
               w->stack[w->depth - 1].next == m->edges[m->nodes[w->stack[w->depth - 1].node].producer].inputs_count)
            w->depth--;
        if (w->depth == 0)
            return is_good;
        visit *top = &w->stack[w->depth - 1];
        node = m->edges[m->nodes[top->node].producer].inputs[top->next++];
    }
    return false;
}

bool list_graph(ninja_manifest *m, const uint32_t *nodes, size_t count, buffer *out)
{
    walk w;
    bool *drawn = calloc(m->edges_count + 1, 1);
    bool is_good = walk_begin(&w, m) && (drawn != NULL || ninja_no_memory(m));

    buffer_add_text(out, "digraph ninja {\nrankdir=\"LR\"\nnode [fontsize=10, shape=box, height=0.25]\n"
                         "edge [fontsize=10]\n");
    for (size_t i = 0; is_good && i < count; i++)
        is_good = draw_behind(m, &w, drawn, nodes[i], out);
    buffer_add_text(out, "}\n");
    walk_end(&w);
    free(drawn);
    return is_good && (!out->failed || ninja_no_memory(m));
}

/* What -t missingdeps counts. */
typedef struct missing {
    ninja_manifest *m;
    buffer *out;
    uint32_t *reached; /* [edges] the round in which the search behind an edge has met them */
    uint32_t *queue;   /* [edges] */
    uint32_t round, processed, paths, targets, inputs, rules;
    bool *is_input, *is_rule; /* [nodes], [rules] */
} missing;

/* Marks the edges that `edge` waits for. */
static void reach(missing *s, uint32_t edge)
{
    const ninja_manifest *m = s->m;
    uint32_t first = 0, count = 0;

    s->round++;
    for (uint32_t at = edge; at != NINJA_NONE; at = first < count ? s->queue[first++] : NINJA_NONE)
        for (uint32_t i = 0; i < m->edges[at].inputs_count; i++) {
            uint32_t producer = m->nodes[m->edges[at].inputs[i]].producer;
            if (producer == NINJA_NONE || s->reached[producer] == s->round)
                continue;
            s->reached[producer] = s->round;
            s->queue[count++] = producer;
        }
}

static uint32_t count_first(bool *is_known)
{
    uint32_t is_new = !*is_known;

    *is_known = true;
    return is_new;
}

static void say_missing(missing *s, uint32_t node, uint32_t input)
{
    const ninja_manifest *m = s->m;
    uint32_t producer = m->nodes[input].producer;

    s->inputs += count_first(&s->is_input[input]);
    s->rules += count_first(&s->is_rule[m->edges[producer].rule]);
    buffer_add_text(s->out, "Missing dep: ");
    buffer_add_text(s->out, m->nodes[node].path);
    buffer_add_text(s->out, " uses ");
    buffer_add_text(s->out, m->nodes[input].path);
    buffer_add_text(s->out, " (generated by ");
    add_rule(s->out, m, producer);
    buffer_add_text(s->out, ")\n");
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* The producers of those inputs that `node` does not wait for, each once, as ninja has it in the order of their
 * statements: an array from malloc. */
static uint32_t *missing_producers(missing *s, uint32_t node, const uint32_t *inputs, uint32_t count, uint32_t *found)
{
    const ninja_manifest *m = s->m;
    uint32_t *edges = malloc((count + 1) * sizeof *edges), all = 0;

    *found = 0;
    if (edges == NULL)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(m->nodes[inputs[i]].path, "build.ninja") == 0)
            return edges; /* "whenever it was configured anew" */
        if (m->nodes[inputs[i]].producer != NINJA_NONE)
            edges[all++] = m->nodes[inputs[i]].producer;
    }
    if (all > 0) {
        reach(s, m->nodes[node].producer);
        qsort(edges, all, sizeof *edges, by_number);
    }
    for (uint32_t i = 0; i < all; i++)
        if (s->reached[edges[i]] != s->round && (*found == 0 || edges[*found - 1] != edges[i]))
            edges[(*found)++] = edges[i];
    return edges;
}

static bool look_at_inputs(missing *s, uint32_t node, const uint32_t *inputs, uint32_t count)
{
    const ninja_manifest *m = s->m;
    uint32_t found, *edges = missing_producers(s, node, inputs, count, &found);

    if (edges == NULL)
        return ninja_no_memory(s->m);
    for (uint32_t k = 0; k < found; k++) {
        bool is_known = false; /* rules count once for a target */
        for (uint32_t i = 0; i < count; i++)
            if (m->nodes[inputs[i]].producer == edges[k])
                say_missing(s, node, inputs[i]);
        for (uint32_t before = 0; before < k; before++)
            is_known |= piece_equal(ninja_rule_name(m, edges[before]), ninja_rule_name(m, edges[k]));
        s->paths += !is_known;
    }
    s->targets += found > 0;
    free(edges);
    return true;
}

/* What the log or a depfile says of a node. */
static bool look_at_node(missing *s, const deps_log *log, uint32_t node)
{
    ninja_manifest *m = s->m;
    uint32_t edge = m->nodes[node].producer;
    buffer path = {0};
    discovered found = {0};

    s->processed++;
    if (ninja_edge_flag(m, edge, SYMBOL_DEPS)) {
        const deps_record *record = deps_log_find(log, m, node);
        return record == NULL || look_at_inputs(s, node, record->inputs, record->count);
    }
    bool is_good = ninja_edge_value(m, edge, SYMBOL_DEPFILE, false, &path);
    buffer_add(&path, "", 1);
    if (is_good && path.bytes > 1)
        is_good = discover_read(m, edge, path.at, true, &found) && look_at_inputs(s, node, found.nodes, found.count);
    free(found.nodes);
    buffer_free(&path);
    return is_good;
}

static bool look_behind(missing *s, walk *w, const deps_log *log, uint32_t target)
{
    ninja_manifest *m = s->m;
    bool is_good = m->nodes[target].producer == NINJA_NONE || w->seen[target] || walk_into(m, w, target);

    while (is_good && w->depth > 0) {
        visit *top = &w->stack[w->depth - 1];
        const ninja_edge *edge = &m->edges[m->nodes[top->node].producer];
        if (top->next == edge->inputs_count) {
            is_good = look_at_node(s, log, top->node);
            w->depth--;
            continue;
        }
        uint32_t input = edge->inputs[top->next++];
        if (m->nodes[input].producer != NINJA_NONE && !w->seen[input])
            is_good = walk_into(m, w, input);
    }
    return is_good;
}

static void print_missing(const missing *s)
{
    buffer_add_format(s->out, "Processed %u nodes.\n", s->processed);
    if (s->targets == 0) {
        buffer_add_text(s->out, "No missing dependencies on generated files found.\n");
        return;
    }
    buffer_add_format(s->out, "Error: There are %u missing dependency paths.\n", s->paths);
    buffer_add_format(s->out,
                      "%u targets had depfile dependencies on %u distinct generated inputs (from %u rules)  without a "
                      "non-depfile dep path to the generator.\n",
                      s->targets, s->inputs, s->rules);
    buffer_add_text(s->out, "There might be build flakiness if any of the targets listed above are built alone, or not "
                            "late enough, in a clean output directory.\n");
}

/* Depfiles may name new nodes, which nothing makes: those are never walked into. */
bool list_missing(ninja_manifest *m, const deps_log *log, const uint32_t *nodes, size_t count, buffer *out,
                  bool *is_any)
{
    size_t edges = m->edges_count + 1;
    missing s = {.m = m, .out = out};
    walk w;

    s.reached = calloc(edges, sizeof *s.reached);
    s.queue = calloc(edges, sizeof *s.queue);
    s.is_input = calloc(m->nodes_count + 1, 1);
    s.is_rule = calloc(m->rules_count + 1, 1);
    bool is_good = walk_begin(&w, m);
    if (s.reached == NULL || s.queue == NULL || s.is_input == NULL || s.is_rule == NULL)
        is_good = ninja_no_memory(m);
    for (size_t i = 0; is_good && i < count; i++)
        is_good = look_behind(&s, &w, log, nodes[i]);
    print_missing(&s);
    *is_any = s.targets > 0;
    walk_end(&w);
    free(s.reached);
    free(s.queue);
    free(s.is_input);
    free(s.is_rule);
    return is_good && (!out->failed || ninja_no_memory(m));
}
