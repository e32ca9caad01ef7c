/* dot.c - reads digraphs in the DOT language of Graphviz (graphviz.org/doc/info/lang.html).
 *
 * Node statements make tasks, in order of first mention; edge statements, chains and subgraphs as end points make
 * edges; subgraphs are flattened, but scope their defaults ("node [work_ns=5]"). Attributes that plan anything:
 * work_ns, weight, class, duplicable, output_bytes, instances, grain, arms, chances, bound and merge on nodes, bytes,
 * weight and arm on edges; all others are drawing and are ignored. Brackets are kept on an explicit stack: depth never
 * becomes recursion. */
#include "io/text/reader.h"

#include "base/memory.h"
#include "base/status.h"
#include "io/text/json_scan.h"
#include "io/text/names.h"
#include "io/workflow/dot_attributes.h"
#include "io/workflow/dot_control_flow.h"

#include <clotho/branch.h>

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define DEPTH_MAX 64
#define EDGES_MAX (1u << 22) /* {a b ...} -> {c d ...} multiplies: a small file could ask for all memory */
#define DEFAULT_WORK_NS 1e6  /* of each task where no task of the file states any */

typedef struct node {
    const char *name;
    clo_dot_attributes attributes;
    size_t at;      /* where it was first mentioned              */
    uint64_t stamp; /* of the last `distinct` that met it        */
} node;

typedef struct dot_edge {
    uint32_t from, to;
    uint32_t statement; /* that made it: attributes follow later */
    uint32_t order;
    unsigned has;
    double bytes, weight;
    uint32_t arm; /* where it has one */
    size_t at;
} dot_edge;

/* A list of nodes: a slice of parser.members. */
typedef struct slice {
    size_t begin, end;
} slice;

typedef enum state {
    AT_STATEMENT, /* a statement may begin                  */
    AT_OPERAND,   /* behind an arrow                        */
    AFTER_OPERAND /* an arrow or attributes may follow      */
} state;

/* One open bracket and the statement in it that is being read. */
typedef struct frame {
    size_t members;                  /* first member of this body             */
    clo_dot_attributes nodes, edges; /* defaults                              */
    state state;
    slice left;        /* operand before the arrow              */
    size_t first_edge; /* of the statement                      */
    uint32_t statement;
    uint32_t single; /* the node of a node statement, CLO_NONE for edges and subgraphs */
} frame;

typedef struct parser {
    clo_reader *reader;
    clo_dot_lexer lexer;
    bool strict;
    const char *name;
    frame frames[DEPTH_MAX];
    size_t depth; /* open brackets                         */
    clo_names names;
    node *nodes;
    size_t nodes_count, nodes_capacity;
    dot_edge *edges;
    size_t edges_count, edges_capacity;
    uint32_t *members; /* nodes as they are mentioned           */
    size_t members_count, members_capacity;
    uint32_t statements;
    uint64_t stamp;
} parser;

static size_t line_of(const parser *p, size_t at)
{
    return clo_text_line(p->lexer.text, at);
}

static clo_status wrong(const parser *p, const char *what)
{
    return clo_dot_wrong(&p->lexer, what);
}

static clo_status no_memory(const parser *p)
{
    return clo_fail_memory(p->lexer.file);
}

static clo_status next(parser *p)
{
    return clo_dot_next(&p->lexer);
}

/* ---- nodes and edges ---- */

static void merge_edge(dot_edge *edge, const clo_dot_attributes *a)
{
    edge->bytes = a->has & CLO_DOT_HAS_BYTES ? a->bytes : edge->bytes;
    edge->weight = a->has & CLO_DOT_HAS_WEIGHT ? a->weight : edge->weight;
    edge->arm = a->has & CLO_DOT_HAS_ARM ? a->arm : edge->arm;
    edge->has |= a->has & (CLO_DOT_HAS_BYTES | CLO_DOT_HAS_WEIGHT | CLO_DOT_HAS_ARM);
}

static double bytes_of(const dot_edge *edge)
{
    return edge->has & CLO_DOT_HAS_BYTES ? edge->bytes : edge->weight;
}

/* The same edge again, in a strict graph: what it says replaces what was said. */
static void restate(dot_edge *edge, const dot_edge *again)
{
    const clo_dot_attributes a = {.has = again->has, .bytes = again->bytes, .weight = again->weight, .arm = again->arm};

    merge_edge(edge, &a);
}

/* A parallel edge: both carry what they say. False where they belong to different arms. */
static bool unite(dot_edge *edge, const dot_edge *other)
{
    if ((edge->has & CLO_DOT_HAS_ARM) != (other->has & CLO_DOT_HAS_ARM) || edge->arm != other->arm)
        return false;
    edge->bytes = bytes_of(edge) + bytes_of(other);
    edge->has |= CLO_DOT_HAS_BYTES;
    return true;
}

static clo_status add_edge(parser *p, const frame *f, uint32_t from, uint32_t to)
{
    void *edges = p->edges;

    if (from == to)
        return clo_fail(CLO_ERR_FORMAT, "%s:%zu: an edge from '%.80s' to itself; remove it", p->lexer.file,
                        line_of(p, p->lexer.token.at), p->nodes[from].name);
    if (p->edges_count == EDGES_MAX)
        return clo_fail(CLO_ERR_LIMIT, "%s:%zu: more than %u edges; use the clotho format", p->lexer.file,
                        line_of(p, p->lexer.token.at), EDGES_MAX);
    if (clo_grow(&edges, &p->edges_capacity, p->edges_count + 1, sizeof *p->edges) != 0)
        return no_memory(p);
    p->edges = edges;
    p->edges[p->edges_count] = (dot_edge){
        .from = from, .to = to, .statement = f->statement, .order = (uint32_t)p->edges_count, .at = p->lexer.token.at};
    merge_edge(&p->edges[p->edges_count++], &f->edges);
    return CLO_OK;
}

/* The nodes of an operand, each once and in order of mention. `all` is the end of the members, and is cut to what is
 * left: so the work of an arrow is the number of its edges, however often a node is mentioned. */
static slice distinct(parser *p, slice all)
{
    uint64_t stamp = ++p->stamp;
    size_t end = all.begin;

    assert(all.end == p->members_count);
    for (size_t m = all.begin; m < all.end; m++) {
        node *it = &p->nodes[p->members[m]];
        if (it->stamp != stamp)
            p->members[end++] = p->members[m];
        it->stamp = stamp;
    }
    p->members_count = end;
    return (slice){all.begin, end};
}

/* Each node on the left with each on the right. */
static clo_status connect(parser *p, const frame *f, slice left, slice right)
{
    clo_status status = CLO_OK;

    for (size_t i = left.begin; i < left.end; i++)
        for (size_t k = right.begin; k < right.end && status == CLO_OK; k++)
            status = add_edge(p, f, p->members[i], p->members[k]);
    return status;
}

static void begin_statement(parser *p, frame *f)
{
    f->statement = ++p->statements;
    f->first_edge = p->edges_count;
    f->single = CLO_NONE;
}

/* An operand of the innermost statement is complete. */
static clo_status finish_operand(parser *p, slice all)
{
    frame *f = &p->frames[p->depth - 1];
    slice operand = distinct(p, all);
    clo_status status = CLO_OK;

    if (f->state == AT_OPERAND) {
        status = connect(p, f, f->left, operand);
        f->single = CLO_NONE;
    }
    f->left = operand;
    f->state = AFTER_OPERAND;
    return status;
}

static clo_status mention(parser *p, const clo_dot_token *id, uint32_t *number)
{
    void *nodes = p->nodes, *members = p->members;

    *number = clo_names_find(&p->names, id->text);
    if (*number == CLO_NONE) {
        *number = (uint32_t)p->nodes_count;
        if (clo_grow(&nodes, &p->nodes_capacity, p->nodes_count + 1, sizeof *p->nodes) != 0)
            return no_memory(p);
        p->nodes = nodes;
        if (clo_names_add(&p->names, id->text, *number) != 0)
            return no_memory(p);
        p->nodes[p->nodes_count++] =
            (node){.name = id->text, .attributes = p->frames[p->depth - 1].nodes, .at = id->at};
    }
    if (clo_grow(&members, &p->members_capacity, p->members_count + 1, sizeof *p->members) != 0)
        return no_memory(p);
    p->members = members;
    p->members[p->members_count++] = *number;
    return CLO_OK;
}

/* :port:compass says where an arrow touches the picture. */
static clo_status skip_port(parser *p)
{
    clo_status status = CLO_OK;

    while (status == CLO_OK && clo_dot_is_sign(&p->lexer, ':')) {
        status = next(p);
        if (status == CLO_OK && p->lexer.token.kind != CLO_DOT_ID)
            return wrong(p, "expected a port after ':'");
        if (status == CLO_OK)
            status = next(p);
    }
    return status;
}

/* The token is a name: `name = value` (ignored), or a node. Leaves the token behind it. */
static clo_status read_node(parser *p)
{
    frame *f = &p->frames[p->depth - 1];
    clo_dot_token id = p->lexer.token;
    uint32_t number;
    clo_status status = next(p);

    if (status == CLO_OK && clo_dot_is_sign(&p->lexer, '=') && f->state == AT_STATEMENT) {
        status = next(p);
        if (status == CLO_OK && p->lexer.token.kind != CLO_DOT_ID)
            return wrong(p, "expected a value after '='");
        return status == CLO_OK ? next(p) : status;
    }
    if (id.text[0] == '\0')
        return clo_fail(CLO_ERR_FORMAT, "%s:%zu: a node without a name; write one between the quotes", p->lexer.file,
                        line_of(p, id.at));
    if (status == CLO_OK)
        status = skip_port(p);
    if (status == CLO_OK)
        status = mention(p, &id, &number);
    if (status != CLO_OK)
        return status;
    if (f->state == AT_STATEMENT) {
        begin_statement(p, f);
        f->single = number;
    }
    return finish_operand(p, (slice){p->members_count - 1, p->members_count});
}

/* The token is '{' or "subgraph". */
static clo_status open_body(parser *p)
{
    clo_status status = CLO_OK;

    if (clo_dot_is(&p->lexer, "subgraph")) {
        status = next(p);
        if (status == CLO_OK && p->lexer.token.kind == CLO_DOT_ID)
            status = next(p);
        if (status == CLO_OK && !clo_dot_is_sign(&p->lexer, '{'))
            return wrong(p, "expected '{' after subgraph");
    }
    if (status == CLO_OK && p->depth == DEPTH_MAX)
        return wrong(p, "brackets nested deeper than 64 levels; flatten the subgraphs");
    if (status != CLO_OK)
        return status;
    frame *outer = &p->frames[p->depth - 1];
    if (outer->state == AT_STATEMENT)
        begin_statement(p, outer);
    p->frames[p->depth++] = (frame){.members = p->members_count, .nodes = outer->nodes, .edges = outer->edges};
    return next(p);
}

static clo_status close_body(parser *p)
{
    slice body = {p->frames[p->depth - 1].members, p->members_count};

    p->depth--;
    clo_status status = p->depth > 0 ? finish_operand(p, body) : CLO_OK;
    return status == CLO_OK ? next(p) : status;
}

/* node [...], edge [...], graph [...]: the token is the keyword. */
static clo_status read_defaults(parser *p)
{
    frame *f = &p->frames[p->depth - 1];
    clo_dot_attributes ignored = {0};
    clo_dot_attributes *into = clo_dot_is(&p->lexer, "node")   ? &f->nodes
                               : clo_dot_is(&p->lexer, "edge") ? &f->edges
                                                               : &ignored;
    clo_status status = next(p);

    if (status == CLO_OK && !clo_dot_is_sign(&p->lexer, '['))
        return wrong(p, "expected '[' after node, edge or graph; put names like these into double quotes");
    return status == CLO_OK ? clo_dot_attributes_read(&p->lexer, into) : status;
}

/* Attributes behind a node or an edge statement. */
static clo_status read_statement_lists(parser *p)
{
    frame *f = &p->frames[p->depth - 1];
    clo_dot_attributes a = {0};
    clo_status status = clo_dot_attributes_read(&p->lexer, &a);

    if (status != CLO_OK)
        return status;
    if (f->single != CLO_NONE)
        clo_dot_attributes_merge(&p->nodes[f->single].attributes, &a);
    for (size_t e = f->first_edge; e < p->edges_count; e++)
        if (p->edges[e].statement == f->statement)
            merge_edge(&p->edges[e], &a);
    f->state = AT_STATEMENT;
    return CLO_OK;
}

static clo_status read_after_operand(parser *p, frame *f)
{
    if (p->lexer.token.kind == CLO_DOT_ARROW) {
        f->state = AT_OPERAND;
        return next(p);
    }
    if (p->lexer.token.kind == CLO_DOT_LINE)
        return wrong(p, "-- joins nodes without direction; write ->");
    if (clo_dot_is_sign(&p->lexer, '['))
        return read_statement_lists(p);
    f->state = AT_STATEMENT; /* the token begins another statement */
    return CLO_OK;
}

/* One step; every step takes at least one token or leaves AFTER_OPERAND. */
static clo_status step(parser *p)
{
    frame *f = &p->frames[p->depth - 1];

    if (p->lexer.token.kind == CLO_DOT_END)
        return wrong(p, "the file ends inside the graph; close it with '}'");
    if (f->state == AFTER_OPERAND)
        return read_after_operand(p, f);
    if (clo_dot_is_sign(&p->lexer, '{') || clo_dot_is(&p->lexer, "subgraph"))
        return open_body(p);
    if (f->state == AT_STATEMENT) {
        if (clo_dot_is_sign(&p->lexer, '}'))
            return close_body(p);
        if (clo_dot_is_sign(&p->lexer, ';') || clo_dot_is_sign(&p->lexer, ','))
            return next(p);
        if (clo_dot_is(&p->lexer, "node") || clo_dot_is(&p->lexer, "edge") || clo_dot_is(&p->lexer, "graph"))
            return read_defaults(p);
    }
    if (p->lexer.token.kind != CLO_DOT_ID)
        return wrong(p,
                     f->state == AT_OPERAND ? "expected a node or a subgraph after ->" : "expected a statement here");
    return read_node(p);
}

static clo_status read_file(parser *p)
{
    clo_status status = next(p);

    p->strict = status == CLO_OK && clo_dot_is(&p->lexer, "strict");
    if (p->strict)
        status = next(p);
    if (status == CLO_OK && clo_dot_is(&p->lexer, "graph"))
        return wrong(p, "an undirected graph; write digraph, and -> for the edges");
    if (status == CLO_OK && !clo_dot_is(&p->lexer, "digraph"))
        return wrong(p, "expected digraph");
    if (status == CLO_OK)
        status = next(p);
    if (status == CLO_OK && p->lexer.token.kind == CLO_DOT_ID) {
        p->name = p->lexer.token.text;
        status = next(p);
    }
    if (status == CLO_OK && !clo_dot_is_sign(&p->lexer, '{'))
        return wrong(p, "expected '{' after digraph");
    if (status == CLO_OK)
        status = next(p);
    p->depth = 1;
    while (status == CLO_OK && p->depth > 0)
        status = step(p);
    if (status == CLO_OK && p->lexer.token.kind != CLO_DOT_END)
        return wrong(p, "more text after the graph; one file holds one graph");
    return status;
}

/* ---- the graph ---- */

static int by_ends(const void *left, const void *right)
{
    const dot_edge *a = left, *b = right;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static int by_order(const void *left, const void *right)
{
    const dot_edge *a = left, *b = right;

    return (a->order > b->order) - (a->order < b->order);
}

static clo_status fail_arms(const parser *p, const dot_edge *edge)
{
    return clo_fail(CLO_ERR_FORMAT,
                    "%s:%zu: the edge '%.80s' -> '%.80s' is there twice, with different arms; remove one",
                    p->lexer.file, line_of(p, edge->at), p->nodes[edge->from].name, p->nodes[edge->to].name);
}

/* One edge for each pair of nodes: see restate and unite. */
static clo_status unite_edges(parser *p)
{
    size_t kept = 0, before = p->edges_count, first = SIZE_MAX;

    if (p->edges_count < 2)
        return CLO_OK;
    qsort(p->edges, p->edges_count, sizeof *p->edges, by_ends);
    for (size_t e = 0; e < before; e++) {
        const dot_edge *edge = &p->edges[e];
        dot_edge *last = kept > 0 ? &p->edges[kept - 1] : NULL;
        if (last == NULL || last->from != edge->from || last->to != edge->to) {
            p->edges[kept++] = *edge;
            continue;
        }
        first = edge->at < first ? edge->at : first;
        if (p->strict)
            restate(last, edge);
        else if (!unite(last, edge))
            return fail_arms(p, edge);
    }
    p->edges_count = kept;
    qsort(p->edges, p->edges_count, sizeof *p->edges, by_order);
    return p->strict || kept == before ? CLO_OK : clo_reader_note_parallel(p->reader, line_of(p, first), before - kept);
}

static clo_status place(const parser *p, size_t at, clo_status status)
{
    char prefix[300];

    if (status == CLO_OK || status == CLO_ERR_MEMORY)
        return status;
    snprintf(prefix, sizeof prefix, "%.256s:%zu: ", p->lexer.file, line_of(p, at));
    return clo_fail_prefix(status == CLO_ERR_ARGUMENT ? CLO_ERR_FORMAT : status, prefix);
}

static clo_status add_task(const parser *p, const node *n, double default_work_ns)
{
    const clo_dot_attributes *a = &n->attributes;
    double work = a->has & CLO_DOT_HAS_WORK ? a->work_ns : a->has & CLO_DOT_HAS_WEIGHT ? a->weight : default_work_ns;
    clo_task task = {.name = n->name,
                     .body = p->reader->body,
                     .instances = a->instances,
                     .task_class = a->task_class,
                     .duplicable = a->duplicable,
                     .grain = a->grain};
    int64_t output = 0;

    if (!clo_scaled(work, p->reader->scale, &task.work_ns) || !clo_scaled(a->output_bytes, p->reader->scale, &output))
        return clo_fail(CLO_ERR_LIMIT,
                        "%s:%zu: work or output of '%.80s', scaled, exceeds 2^62; write a smaller number",
                        p->lexer.file, line_of(p, n->at), n->name);
    task.output_bytes = (uint64_t)output;
    clo_status status = place(p, n->at, clo_graph_add_task(p->reader->graph, &task, NULL));
    return status == CLO_OK ? clo_dot_add_control_flow(&p->lexer, p->reader->graph, a, n->at) : status;
}

static clo_status add_graph_edge(const parser *p, const dot_edge *edge)
{
    clo_graph *graph = p->reader->graph;
    int64_t bytes = 0;
    clo_status status = CLO_OK;

    if (!clo_scaled(bytes_of(edge), p->reader->scale, &bytes))
        return clo_fail(CLO_ERR_LIMIT, "%s:%zu: the bytes, scaled, exceed 2^62; write a smaller number", p->lexer.file,
                        line_of(p, edge->at));
    if ((edge->has & CLO_DOT_HAS_ARM) == 0)
        return place(p, edge->at, clo_graph_add_edge(graph, edge->from, edge->to, (uint64_t)bytes));
    status = clo_dot_check_arm(&p->lexer, &p->nodes[edge->from].attributes, edge->arm, edge->at);
    return status == CLO_OK
               ? place(p, edge->at, clo_graph_add_arm(graph, edge->from, edge->to, (uint64_t)bytes, edge->arm))
               : status;
}

static clo_status build(parser *p)
{
    double default_work_ns = DEFAULT_WORK_NS;

    if (p->nodes_count == 0)
        return clo_fail(CLO_ERR_FORMAT, "%s:%zu: the graph has no nodes; write at least one", p->lexer.file,
                        line_of(p, p->lexer.bytes));
    clo_status status = unite_edges(p);
    if (status == CLO_OK)
        status = clo_graph_create(p->name, &p->reader->graph);
    for (size_t n = 0; n < p->nodes_count; n++)
        if (p->nodes[n].attributes.has & (CLO_DOT_HAS_WORK | CLO_DOT_HAS_WEIGHT))
            default_work_ns = 0;
    for (size_t n = 0; n < p->nodes_count && status == CLO_OK; n++)
        status = add_task(p, &p->nodes[n], default_work_ns);
    for (size_t e = 0; e < p->edges_count && status == CLO_OK; e++)
        status = add_graph_edge(p, &p->edges[e]);
    return status;
}

static void free_parser(parser *p)
{
    clo_dot_lexer_close(&p->lexer);
    clo_names_free(&p->names);
    clo_free(p->nodes);
    clo_free(p->edges);
    clo_free(p->members);
    clo_free(p);
}

clo_status clo_dot_read(clo_reader *reader, const char *text, size_t bytes)
{
    reader->format = "dot";
    reader->unit_ns = 1;
    if (reader->body == clo_body_command)
        return clo_fail(CLO_ERR_ARGUMENT, "%s: body \"command\": format dot has no command lines; use spin or memory",
                        reader->file);
    parser *p = clo_allocate(1, sizeof *p); /* too large for a small thread's stack */
    if (p == NULL)
        return clo_fail_memory(reader->file);
    p->reader = reader;
    clo_status status = clo_dot_lexer_open(&p->lexer, reader->file, text, bytes);
    if (status == CLO_OK)
        status = read_file(p);
    if (status == CLO_OK)
        status = build(p);
    free_parser(p);
    return status;
}
