/* dot.c - reads digraphs in the DOT language of Graphviz (graphviz.org/doc/info/lang.html).
 *
 * Node statements make tasks, in order of first mention; edge statements, chains and subgraphs as end points make
 * edges; subgraphs are flattened, but scope their defaults ("node [work_ns=5]"). Attributes that plan anything: work_ns,
 * weight, class, duplicable, output_bytes, instances on nodes, bytes and weight on edges; all others are drawing and are
 * ignored. Brackets are kept on an explicit stack: depth never becomes recursion. */
#define _POSIX_C_SOURCE 200809L
#include "io/reader.h"

#include "base/memory.h"
#include "base/status.h"
#include "io/dot_token.h"
#include "io/json_scan.h"
#include "io/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEPTH_MAX 64
#define EDGES_MAX (1u << 22) /* {a b ...} -> {c d ...} multiplies: a small file could ask for all memory */
#define DEFAULT_WORK_NS 1e6  /* of each task where no task of the file states any */

enum { /* attributes that were stated */
    HAS_WORK = 1,
    HAS_WEIGHT = 2,
    HAS_BYTES = 4,
    HAS_CLASS = 8,
    HAS_DUPLICABLE = 16,
    HAS_OUTPUT = 32,
    HAS_INSTANCES = 64
};

typedef struct attributes {
    unsigned has;
    double work_ns, weight, bytes, output_bytes;
    uint32_t instances;
    uint16_t task_class;
    uint8_t duplicable;
} attributes;

typedef struct node {
    const char *name;
    attributes attributes;
    size_t at;                 /* where it was first mentioned          */
    uint64_t left, right;      /* stamps of connect                     */
} node;

typedef struct dot_edge {
    uint32_t from, to;
    uint32_t statement;        /* that made it: attributes follow later */
    uint32_t order;
    unsigned has;
    double bytes, weight;
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
    size_t members;            /* first member of this body             */
    attributes nodes, edges;   /* defaults                              */
    state state;
    slice left;                /* operand before the arrow              */
    size_t first_edge;         /* of the statement                      */
    uint32_t statement;
    uint32_t single;           /* the node of a node statement, CLO_NONE for edges and subgraphs */
} frame;

typedef struct parser {
    clo_reader *reader;
    clo_dot_lexer lexer;
    clo_dot_token token;       /* the one looked at                     */
    bool strict;
    const char *name;
    frame frames[DEPTH_MAX];
    size_t depth;              /* open brackets                         */
    clo_names names;
    node *nodes;
    size_t nodes_count, nodes_capacity;
    dot_edge *edges;
    size_t edges_count, edges_capacity;
    uint32_t *members;         /* nodes as they are mentioned           */
    size_t members_count, members_capacity;
    uint32_t statements;
    uint64_t stamp;
} parser;

static clo_status wrong_at(const parser *p, size_t at, clo_status status, const char *what, const char *detail)
{
    return clo_fail(status, "%s:%zu: %s%.80s%s", p->lexer.file, clo_text_line(p->lexer.text, at), what, detail,
                    detail[0] != '\0' ? "'" : "");
}

static clo_status wrong(const parser *p, const char *what)
{
    return wrong_at(p, p->token.at, CLO_ERR_FORMAT, what, "");
}

static clo_status no_memory(const parser *p)
{
    return clo_fail_memory(p->lexer.file);
}

static clo_status next(parser *p)
{
    return clo_dot_next(&p->lexer, &p->token);
}

static bool is_sign(const parser *p, char sign)
{
    return p->token.kind == CLO_DOT_SIGN && p->token.sign == sign;
}

/* ---- attributes ---- */

static clo_status read_number(const parser *p, const char *key, double max, double *out)
{
    char *end;
    double value = strtod(p->token.text, &end);
    size_t line = clo_text_line(p->lexer.text, p->token.at);

    if (p->token.text[0] == '\0' || *end != '\0' || !(value >= 0))
        return clo_fail(CLO_ERR_FORMAT, "%s:%zu: %s is '%.80s'; write a number >= 0", p->lexer.file, line, key,
                        p->token.text);
    if (!(value <= max))
        return clo_fail(CLO_ERR_LIMIT, "%s:%zu: %s is %.80s; the largest possible is %g", p->lexer.file, line, key,
                        p->token.text, max);
    *out = value;
    return CLO_OK;
}

static clo_status read_whole(const parser *p, const char *key, double max, double *out)
{
    clo_status status = read_number(p, key, max, out);

    if (status == CLO_OK && *out != floor(*out))
        return clo_fail(CLO_ERR_FORMAT, "%s:%zu: %s is %.80s; write a whole number", p->lexer.file,
                        clo_text_line(p->lexer.text, p->token.at), key, p->token.text);
    return status;
}

static clo_status read_class(const parser *p, attributes *a)
{
    static const char *const names[CLO_CLASSES_BUILTIN] = {"generic", "integer", "float", "memory"};
    double number = 0;

    for (uint16_t k = 0; k < CLO_CLASSES_BUILTIN; k++)
        if (strcmp(p->token.text, names[k]) == 0) {
            a->task_class = k;
            return CLO_OK;
        }
    clo_status status = read_whole(p, "class", UINT16_MAX, &number);
    a->task_class = (uint16_t)number;
    return status;
}

static clo_status read_flag(const parser *p, uint8_t *out)
{
    static const char *const yes[] = {"true", "yes", "1"}, *const no[] = {"false", "no", "0"};

    for (size_t k = 0; k < 3; k++)
        if (strcasecmp(p->token.text, yes[k]) == 0 || strcasecmp(p->token.text, no[k]) == 0) {
            *out = strcasecmp(p->token.text, yes[k]) == 0;
            return CLO_OK;
        }
    return wrong_at(p, p->token.at, CLO_ERR_FORMAT, "duplicable is true or false, not '", p->token.text);
}

/* The token is the value of `key`. */
static clo_status read_attribute(const parser *p, const char *key, attributes *a)
{
    static const struct {
        const char *key;
        unsigned bit;
    } keys[] = {{"work_ns", HAS_WORK}, {"weight", HAS_WEIGHT}, {"bytes", HAS_BYTES}, {"output_bytes", HAS_OUTPUT},
                {"class", HAS_CLASS}, {"duplicable", HAS_DUPLICABLE}, {"instances", HAS_INSTANCES}};
    unsigned bit = 0;
    double count = 0;
    clo_status status = CLO_OK;

    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
        if (strcasecmp(key, keys[k].key) == 0)
            bit = keys[k].bit;
    if (bit == HAS_CLASS)
        status = read_class(p, a);
    else if (bit == HAS_DUPLICABLE)
        status = read_flag(p, &a->duplicable);
    else if (bit == HAS_INSTANCES)
        status = read_whole(p, key, UINT32_MAX - 2, &count);
    else if (bit != 0)
        status = read_number(p, key, 0x1p62, bit == HAS_WORK ? &a->work_ns : bit == HAS_WEIGHT ? &a->weight :
                             bit == HAS_BYTES ? &a->bytes : &a->output_bytes);
    if (status == CLO_OK && bit == HAS_INSTANCES && count < 1)
        return wrong(p, "0 instances; write 1 or more");
    if (bit == HAS_INSTANCES)
        a->instances = (uint32_t)count;
    a->has |= bit;
    return status;
}

/* [key=value, key=value; ...] [...]; the token is the first '['. Leaves the token behind the last ']'. */
static clo_status read_lists(parser *p, attributes *a)
{
    clo_status status = CLO_OK;

    while (status == CLO_OK && is_sign(p, '[')) {
        status = next(p);
        while (status == CLO_OK && p->token.kind == CLO_DOT_ID) {
            const char *key = p->token.text;
            if ((status = next(p)) == CLO_OK && is_sign(p, '=')) {
                status = next(p);
                if (status == CLO_OK && p->token.kind != CLO_DOT_ID)
                    return wrong(p, "expected the value of an attribute after '='");
                if (status == CLO_OK)
                    status = read_attribute(p, key, a);
                if (status == CLO_OK)
                    status = next(p);
            }
            if (status == CLO_OK && (is_sign(p, ',') || is_sign(p, ';')))
                status = next(p);
        }
        if (status == CLO_OK && !is_sign(p, ']'))
            return wrong(p, "expected key=value or ']' in a list of attributes");
        if (status == CLO_OK)
            status = next(p);
    }
    return status;
}

static void merge(attributes *into, const attributes *from)
{
    into->work_ns = from->has & HAS_WORK ? from->work_ns : into->work_ns;
    into->weight = from->has & HAS_WEIGHT ? from->weight : into->weight;
    into->bytes = from->has & HAS_BYTES ? from->bytes : into->bytes;
    into->output_bytes = from->has & HAS_OUTPUT ? from->output_bytes : into->output_bytes;
    into->instances = from->has & HAS_INSTANCES ? from->instances : into->instances;
    into->task_class = from->has & HAS_CLASS ? from->task_class : into->task_class;
    into->duplicable = from->has & HAS_DUPLICABLE ? from->duplicable : into->duplicable;
    into->has |= from->has;
}

static void merge_edge(dot_edge *edge, unsigned has, double bytes, double weight)
{
    edge->bytes = has & HAS_BYTES ? bytes : edge->bytes;
    edge->weight = has & HAS_WEIGHT ? weight : edge->weight;
    edge->has |= has & (HAS_BYTES | HAS_WEIGHT);
}

/* ---- nodes and edges ---- */

static clo_status add_edge(parser *p, const frame *f, uint32_t from, uint32_t to)
{
    void *edges = p->edges;

    if (from == to)
        return wrong_at(p, p->token.at, CLO_ERR_FORMAT, "an edge from a task to itself, remove it: '", p->nodes[from].name);
    if (p->edges_count == EDGES_MAX)
        return wrong_at(p, p->token.at, CLO_ERR_LIMIT, "more than 4194304 edges; use the clotho format", "");
    if (clo_grow(&edges, &p->edges_capacity, p->edges_count + 1, sizeof *p->edges) != 0)
        return no_memory(p);
    p->edges = edges;
    p->edges[p->edges_count] = (dot_edge){.from = from, .to = to, .statement = f->statement, .order = (uint32_t)p->edges_count,
                                          .at = p->token.at};
    merge_edge(&p->edges[p->edges_count++], f->edges.has, f->edges.bytes, f->edges.weight);
    return CLO_OK;
}

/* Each node on the left with each on the right, mentioned twice or not. */
static clo_status connect(parser *p, const frame *f, slice left, slice right)
{
    uint64_t stamp = ++p->stamp;

    for (size_t i = left.begin; i < left.end; i++) {
        node *from = &p->nodes[p->members[i]];
        if (from->left == stamp)
            continue;
        from->left = stamp;
        uint64_t row = ++p->stamp;
        for (size_t k = right.begin; k < right.end; k++) {
            node *to = &p->nodes[p->members[k]];
            if (to->right == row)
                continue;
            to->right = row;
            clo_status status = add_edge(p, f, p->members[i], p->members[k]);
            if (status != CLO_OK)
                return status;
        }
    }
    return CLO_OK;
}

static void begin_statement(parser *p, frame *f)
{
    f->statement = ++p->statements;
    f->first_edge = p->edges_count;
    f->single = CLO_NONE;
}

/* An operand of the innermost statement is complete. */
static clo_status finish_operand(parser *p, slice operand)
{
    frame *f = &p->frames[p->depth - 1];
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
        p->nodes[p->nodes_count++] = (node){.name = id->text, .attributes = p->frames[p->depth - 1].nodes, .at = id->at};
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

    while (status == CLO_OK && is_sign(p, ':')) {
        status = next(p);
        if (status == CLO_OK && p->token.kind != CLO_DOT_ID)
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
    clo_dot_token id = p->token;
    uint32_t number;
    clo_status status = next(p);

    if (status == CLO_OK && is_sign(p, '=') && f->state == AT_STATEMENT) {
        status = next(p);
        if (status == CLO_OK && p->token.kind != CLO_DOT_ID)
            return wrong(p, "expected a value after '='");
        return status == CLO_OK ? next(p) : status;
    }
    if (id.text[0] == '\0')
        return wrong_at(p, id.at, CLO_ERR_FORMAT, "a node without a name; write one between the quotes", "");
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

    if (clo_dot_is(&p->token, "subgraph")) {
        status = next(p);
        if (status == CLO_OK && p->token.kind == CLO_DOT_ID)
            status = next(p);
        if (status == CLO_OK && !is_sign(p, '{'))
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
    attributes ignored = {0};
    attributes *into = clo_dot_is(&p->token, "node") ? &f->nodes : clo_dot_is(&p->token, "edge") ? &f->edges : &ignored;
    clo_status status = next(p);

    if (status == CLO_OK && !is_sign(p, '['))
        return wrong(p, "expected '[' after node, edge or graph; put names like these into double quotes");
    return status == CLO_OK ? read_lists(p, into) : status;
}

/* Attributes behind a node or an edge statement. */
static clo_status read_statement_lists(parser *p)
{
    frame *f = &p->frames[p->depth - 1];
    attributes a = {0};
    clo_status status = read_lists(p, &a);

    if (status != CLO_OK)
        return status;
    if (f->single != CLO_NONE)
        merge(&p->nodes[f->single].attributes, &a);
    for (size_t e = f->first_edge; e < p->edges_count; e++)
        if (p->edges[e].statement == f->statement)
            merge_edge(&p->edges[e], a.has, a.bytes, a.weight);
    f->state = AT_STATEMENT;
    return CLO_OK;
}

static clo_status read_after_operand(parser *p, frame *f)
{
    if (p->token.kind == CLO_DOT_ARROW) {
        f->state = AT_OPERAND;
        return next(p);
    }
    if (p->token.kind == CLO_DOT_LINE)
        return wrong(p, "-- joins nodes without direction; write ->");
    if (is_sign(p, '['))
        return read_statement_lists(p);
    f->state = AT_STATEMENT; /* the token begins another statement */
    return CLO_OK;
}

/* One step; every step takes at least one token or leaves AFTER_OPERAND. */
static clo_status step(parser *p)
{
    frame *f = &p->frames[p->depth - 1];

    if (p->token.kind == CLO_DOT_END)
        return wrong(p, "the file ends inside the graph; close it with '}'");
    if (f->state == AFTER_OPERAND)
        return read_after_operand(p, f);
    if (is_sign(p, '{') || clo_dot_is(&p->token, "subgraph"))
        return open_body(p);
    if (f->state == AT_STATEMENT) {
        if (is_sign(p, '}'))
            return close_body(p);
        if (is_sign(p, ';') || is_sign(p, ','))
            return next(p);
        if (clo_dot_is(&p->token, "node") || clo_dot_is(&p->token, "edge") || clo_dot_is(&p->token, "graph"))
            return read_defaults(p);
    }
    if (p->token.kind != CLO_DOT_ID)
        return wrong(p, f->state == AT_OPERAND ? "expected a node or a subgraph after ->" : "expected a statement here");
    return read_node(p);
}

static clo_status read_file(parser *p)
{
    clo_status status = next(p);

    p->strict = status == CLO_OK && clo_dot_is(&p->token, "strict");
    if (p->strict)
        status = next(p);
    if (status == CLO_OK && clo_dot_is(&p->token, "graph"))
        return wrong(p, "an undirected graph; write digraph, and -> for the edges");
    if (status == CLO_OK && !clo_dot_is(&p->token, "digraph"))
        return wrong(p, "expected digraph");
    if (status == CLO_OK)
        status = next(p);
    if (status == CLO_OK && p->token.kind == CLO_DOT_ID) {
        p->name = p->token.text;
        status = next(p);
    }
    if (status == CLO_OK && !is_sign(p, '{'))
        return wrong(p, "expected '{' after digraph");
    if (status == CLO_OK)
        status = next(p);
    p->depth = 1;
    while (status == CLO_OK && p->depth > 0)
        status = step(p);
    if (status == CLO_OK && p->token.kind != CLO_DOT_END)
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

/* In a strict graph, repeated edges are one; otherwise they are an error. */
static clo_status unite_edges(parser *p)
{
    size_t kept = 0;

    if (p->edges_count < 2)
        return CLO_OK;
    qsort(p->edges, p->edges_count, sizeof *p->edges, by_ends);
    for (size_t e = 0; e < p->edges_count; e++) {
        dot_edge *last = kept > 0 ? &p->edges[kept - 1] : NULL;
        if (last == NULL || last->from != p->edges[e].from || last->to != p->edges[e].to)
            p->edges[kept++] = p->edges[e];
        else if (p->strict)
            merge_edge(last, p->edges[e].has, p->edges[e].bytes, p->edges[e].weight);
        else
            return clo_fail(CLO_ERR_FORMAT, "%s:%zu: the edge '%.80s' -> '%.80s' is there twice; remove one, or write strict digraph",
                            p->lexer.file, clo_text_line(p->lexer.text, p->edges[e].at), p->nodes[last->from].name,
                            p->nodes[last->to].name);
    }
    p->edges_count = kept;
    qsort(p->edges, p->edges_count, sizeof *p->edges, by_order);
    return CLO_OK;
}

static clo_status place(const parser *p, size_t at, clo_status status)
{
    char prefix[300];

    if (status == CLO_OK || status == CLO_ERR_MEMORY)
        return status;
    snprintf(prefix, sizeof prefix, "%.256s:%zu: ", p->lexer.file, clo_text_line(p->lexer.text, at));
    return clo_fail_prefix(status == CLO_ERR_ARGUMENT ? CLO_ERR_FORMAT : status, prefix);
}

static clo_status add_task(const parser *p, const node *n, double default_work_ns)
{
    const attributes *a = &n->attributes;
    double work = a->has & HAS_WORK ? a->work_ns : a->has & HAS_WEIGHT ? a->weight : default_work_ns;
    clo_task task = {.name = n->name, .body = p->reader->body, .instances = a->instances, .task_class = a->task_class,
                     .duplicable = a->duplicable};
    int64_t output = 0;

    if (!clo_scaled(work, p->reader->scale, &task.work_ns) || !clo_scaled(a->output_bytes, p->reader->scale, &output))
        return wrong_at(p, n->at, CLO_ERR_LIMIT, "the work or the output, scaled, exceeds 2^62; use a smaller scale for '", n->name);
    task.output_bytes = (uint64_t)output;
    return place(p, n->at, clo_graph_add_task(p->reader->graph, &task, NULL));
}

static clo_status build(parser *p)
{
    double default_work_ns = DEFAULT_WORK_NS;
    int64_t bytes = 0;

    if (p->nodes_count == 0)
        return clo_fail(CLO_ERR_FORMAT, "%s:%zu: the graph has no nodes; write at least one", p->lexer.file,
                        clo_text_line(p->lexer.text, p->lexer.bytes));
    clo_status status = unite_edges(p);
    if (status == CLO_OK)
        status = clo_graph_create(p->name, &p->reader->graph);
    for (size_t n = 0; n < p->nodes_count; n++)
        if (p->nodes[n].attributes.has & (HAS_WORK | HAS_WEIGHT))
            default_work_ns = 0;
    for (size_t n = 0; n < p->nodes_count && status == CLO_OK; n++)
        status = add_task(p, &p->nodes[n], default_work_ns);
    for (size_t e = 0; e < p->edges_count && status == CLO_OK; e++) {
        const dot_edge *edge = &p->edges[e];
        if (!clo_scaled(edge->has & HAS_BYTES ? edge->bytes : edge->weight, p->reader->scale, &bytes))
            return wrong_at(p, edge->at, CLO_ERR_LIMIT, "the bytes, scaled, exceed 2^62; use a smaller scale", "");
        status = place(p, edge->at, clo_graph_add_edge(p->reader->graph, edge->from, edge->to, (uint64_t)bytes));
    }
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
