/* parse.c - statements of a build.ninja. A file inside a file is a stack entry, so that depth costs no C stack. */
#include "ninja/manifest/bindings.h"
#include "ninja/manifest/manifest.h"
#include "ninja/manifest/scan.h"
#include "ninja/manifest/scope.h"
#include "ninja/text/paths.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANGUAGE_MAJOR = 1, LANGUAGE_MINOR = 11 };

enum { OUTPUTS, IMPLICIT_OUTPUTS, INPUTS, IMPLICIT, ORDER_ONLY, VALIDATIONS, SECTIONS };

/* A path as it stands in a build statement, before it is evaluated. */
typedef struct parsed_path {
    uint32_t first, count; /* of parser.parts */
    uint32_t section;
} parsed_path;

typedef struct parser {
    ninja_manifest *m;
    scan_source *sources; /* those that are being read, innermost last */
    size_t sources_count, sources_capacity;
    scan_parts parts;
    parsed_path *paths;
    size_t paths_count, paths_capacity;
    buffer text;
} parser;

static scan_source *source(parser *p)
{
    return &p->sources[p->sources_count - 1];
}

/* Appends the value of the parts [first, first + count) as the scope sees it now. */
static bool evaluate(parser *p, uint32_t scope, size_t first, size_t count)
{
    buffer_clear(&p->text);
    for (size_t i = first; i < first + count; i++) {
        const ninja_part *part = &p->parts.items[i];
        if (part->symbol == NINJA_NONE) {
            buffer_add(&p->text, part->at, part->bytes);
        } else {
            const piece *value = scope_value(p->m, scope, part->symbol);
            if (value != NULL)
                buffer_add(&p->text, value->at, value->bytes);
        }
    }
    if (!p->text.failed)
        return true;
    return scan_fail(p->m, source(p),
                     "the value is longer than %zu bytes, or there is no memory; look for variables that "
                     "contain themselves",
                     p->text.most);
}

static bool expect_line_end(parser *p)
{
    return scan_next(source(p)) == TOKEN_NEWLINE || scan_unexpected(p->m, source(p), "the end of the line");
}

/* NAME = VALUE; the value's parts are p->parts[*first ...]. */
static bool parse_let(parser *p, uint32_t *symbol, size_t *first)
{
    piece name;

    if (!scan_name(source(p), &name))
        return scan_unexpected(p->m, source(p), "the name of a variable");
    *symbol = scope_symbol(p->m, name);
    if (*symbol == NINJA_NONE)
        return false;
    if (scan_next(source(p)) != TOKEN_EQUALS)
        return scan_unexpected(p->m, source(p), "'='");
    *first = p->parts.count;
    return scan_value(p->m, source(p), false, &p->parts);
}

/* A let whose value is evaluated in `scope` at once; it is in p->text. */
static bool parse_let_now(parser *p, uint32_t scope, uint32_t *symbol)
{
    size_t first = 0;

    return parse_let(p, symbol, &first) && evaluate(p, scope, first, p->parts.count - first);
}

static bool bind_text(parser *p, uint32_t scope, uint32_t symbol)
{
    char *copy = store_copy(&p->m->store, buffer_piece(&p->text));

    if (copy == NULL)
        return ninja_no_memory(p->m);
    return scope_bind(p->m, scope, symbol, (piece){copy, p->text.bytes});
}

static bool check_version(parser *p)
{
    unsigned major, minor;

    piece_version(buffer_piece(&p->text), &major, &minor);
    if (major < LANGUAGE_MAJOR || (major == LANGUAGE_MAJOR && minor <= LANGUAGE_MINOR))
        return true;
    return scan_fail(p->m, source(p),
                     "the manifest asks for ninja %u.%u, this reader knows the language of %d.%d; use ninja", major,
                     minor, LANGUAGE_MAJOR, LANGUAGE_MINOR);
}

static bool parse_variable(parser *p)
{
    uint32_t symbol = 0, scope = source(p)->scope;

    scan_back(source(p));
    return parse_let_now(p, scope, &symbol) && (symbol != SYMBOL_REQUIRED_VERSION || check_version(p)) &&
           bind_text(p, scope, symbol);
}

/* atoi, as ninja reads a depth; -1: negative, or too large. */
static int64_t read_depth(piece text)
{
    int64_t depth = 0;
    size_t at = 0;

    while (at < text.bytes && (text.at[at] == ' ' || text.at[at] == '\t'))
        at++;
    if (at < text.bytes && text.at[at] == '-')
        return -1;
    at += at < text.bytes && text.at[at] == '+';
    for (; at < text.bytes && text.at[at] >= '0' && text.at[at] <= '9'; at++)
        if ((depth = depth * 10 + (text.at[at] - '0')) > INT_MAX)
            return -1;
    return depth;
}

static uint32_t find_pool(const ninja_manifest *m, uint32_t symbol)
{
    for (uint32_t i = 0; i < m->pools_count; i++)
        if (m->pools[i].name == symbol)
            return i;
    return NINJA_NONE;
}

static bool parse_pool(parser *p)
{
    ninja_manifest *m = p->m;
    piece name;
    int64_t depth = -1;

    if (!scan_name(source(p), &name))
        return scan_unexpected(m, source(p), "the name of a pool");
    uint32_t key = 0, symbol = scope_symbol(m, name);
    if (symbol == NINJA_NONE || !expect_line_end(p))
        return false;
    if (find_pool(m, symbol) != NINJA_NONE)
        return scan_fail(m, source(p), "the pool '%.*s' is there already; rename one", (int)name.bytes, name.at);
    while (scan_if(source(p), TOKEN_INDENT)) {
        if (!parse_let_now(p, source(p)->scope, &key))
            return false;
        if (key != SYMBOL_DEPTH)
            return scan_fail(m, source(p), "a pool has a depth and nothing else; remove this line");
        depth = read_depth(buffer_piece(&p->text));
        if (depth < 0)
            return scan_fail(m, source(p), "the depth of a pool is a number from 0 to %d; write one", INT_MAX);
    }
    if (depth < 0)
        return scan_fail(m, source(p), "the pool '%.*s' has no depth; add 'depth = N'", (int)name.bytes, name.at);
    ninja_pool *grown = array_grow(m->pools, &m->pools_capacity, m->pools_count + 1, sizeof *grown);
    if (grown == NULL)
        return ninja_no_memory(m);
    m->pools = grown;
    m->pools[m->pools_count++] = (ninja_pool){.name = symbol, .depth = (uint32_t)depth};
    return true;
}

/* Keeps the parts from `first` on as the value of a rule. */
static bool keep_value(parser *p, size_t first, ninja_value *value)
{
    size_t count = p->parts.count - first;
    ninja_part *parts = store_take(&p->m->store, count * sizeof *parts);

    if (parts == NULL)
        return ninja_no_memory(p->m);
    if (count > 0)
        memcpy(parts, p->parts.items + first, count * sizeof *parts);
    *value = (ninja_value){parts, (uint32_t)count, true};
    return true;
}

static bool parse_rule_values(parser *p, ninja_rule *rule)
{
    ninja_manifest *m = p->m;

    while (scan_if(source(p), TOKEN_INDENT)) {
        uint32_t symbol = 0;
        size_t first = 0;
        p->parts.count = 0;
        if (!parse_let(p, &symbol, &first))
            return false;
        if (symbol > SYMBOL_RULE_LAST)
            return scan_fail(m, source(p), "a rule cannot bind '%.*s'; bind it outside", (int)m->symbols[symbol].bytes,
                             m->symbols[symbol].at);
        if (!keep_value(p, first, &rule->values[symbol]))
            return false;
    }
    if (source(p)->text[source(p)->at] == '\t')
        return scan_unexpected(m, source(p), "a binding of the rule");
    if ((rule->values[SYMBOL_RSPFILE].count == 0) != (rule->values[SYMBOL_RSPFILE_CONTENT].count == 0))
        return scan_fail(m, source(p), "rspfile and rspfile_content belong together; give both");
    if (rule->values[SYMBOL_COMMAND].count == 0)
        return scan_fail(m, source(p), "the rule '%.*s' has no command; add 'command = ...'",
                         (int)m->symbols[rule->name].bytes, m->symbols[rule->name].at);
    return true;
}

static bool parse_rule(parser *p)
{
    ninja_manifest *m = p->m;
    ninja_rule rule = {0};
    piece name;

    if (!scan_name(source(p), &name))
        return scan_unexpected(m, source(p), "the name of a rule");
    rule.name = scope_symbol(m, name);
    if (rule.name == NINJA_NONE || !expect_line_end(p))
        return false;
    if (scope_own_rule(m, source(p)->scope, rule.name) != NINJA_NONE)
        return scan_fail(m, source(p), "the rule '%.*s' is there already; rename one", (int)name.bytes, name.at);
    if (!parse_rule_values(p, &rule))
        return false;
    ninja_rule *grown = array_grow(m->rules, &m->rules_capacity, m->rules_count + 1, sizeof *grown);
    if (grown == NULL)
        return ninja_no_memory(m);
    m->rules = grown;
    m->rules[m->rules_count] = rule;
    return scope_bind_rule(m, source(p)->scope, rule.name, (uint32_t)m->rules_count++);
}

/* The path in p->text, canonical. */
static bool canonical_text(parser *p)
{
    if (p->text.bytes == 0)
        return scan_fail(p->m, source(p), "a path is empty; give one, or remove the variable that stands for it");
    p->text.bytes = path_canonical(p->text.at, p->text.bytes);
    return true;
}

static bool parse_default(parser *p)
{
    ninja_manifest *m = p->m;

    for (bool first = true;; first = false) {
        p->parts.count = 0;
        if (!scan_value(m, source(p), true, &p->parts))
            return false;
        if (p->parts.count == 0)
            return first ? scan_fail(m, source(p), "'default' names no target; add one") : expect_line_end(p);
        if (!evaluate(p, source(p)->scope, 0, p->parts.count) || !canonical_text(p))
            return false;
        uint32_t node = ninja_find_node(m, buffer_piece(&p->text));
        if (node == NINJA_NONE)
            return scan_fail(m, source(p), "'default' names '%.*s', which no statement above mentions; remove it",
                             (int)p->text.bytes, p->text.at);
        uint32_t *grown = array_grow(m->defaults, &m->defaults_capacity, m->defaults_count + 1, sizeof *grown);
        if (grown == NULL)
            return ninja_no_memory(m);
        m->defaults = grown;
        m->defaults[m->defaults_count++] = node;
    }
}

/* Paths until something else stands there. */
static bool parse_paths(parser *p, uint32_t section)
{
    for (;;) {
        size_t first = p->parts.count;
        if (!scan_value(p->m, source(p), true, &p->parts))
            return false;
        if (p->parts.count == first)
            return true;
        parsed_path *grown = array_grow(p->paths, &p->paths_capacity, p->paths_count + 1, sizeof *grown);
        if (grown == NULL)
            return ninja_no_memory(p->m);
        p->paths = grown;
        p->paths[p->paths_count++] = (parsed_path){(uint32_t)first, (uint32_t)(p->parts.count - first), section};
    }
}

/* build OUTPUTS | IMPLICIT: RULE INPUTS | IMPLICIT || ORDER-ONLY |@ VALIDATIONS */
static bool parse_edge_line(parser *p, uint32_t *rule)
{
    ninja_manifest *m = p->m;
    piece name;

    if (!parse_paths(p, OUTPUTS) || (scan_if(source(p), TOKEN_PIPE) && !parse_paths(p, IMPLICIT_OUTPUTS)))
        return false;
    if (p->paths_count == 0)
        return scan_unexpected(m, source(p), "the path of an output");
    if (scan_next(source(p)) != TOKEN_COLON)
        return scan_unexpected(m, source(p), "':'");
    if (!scan_name(source(p), &name))
        return scan_unexpected(m, source(p), "the name of a rule");
    uint32_t symbol = scope_find_symbol(m, name);
    *rule = symbol == NINJA_NONE ? NINJA_NONE : scope_rule(m, source(p)->scope, symbol);
    if (*rule == NINJA_NONE)
        return scan_fail(m, source(p), "there is no rule '%.*s'; add 'rule %.*s' above", (int)name.bytes, name.at,
                         (int)name.bytes, name.at);
    return parse_paths(p, INPUTS) && (!scan_if(source(p), TOKEN_PIPE) || parse_paths(p, IMPLICIT)) &&
           (!scan_if(source(p), TOKEN_PIPE2) || parse_paths(p, ORDER_ONLY)) &&
           (!scan_if(source(p), TOKEN_PIPE_AT) || parse_paths(p, VALIDATIONS)) && expect_line_end(p);
}

/* The lines below a build statement. They see the file's variables, not each other. */
static bool parse_edge_values(parser *p, uint32_t *scope)
{
    uint32_t outer = source(p)->scope, symbol = 0;

    *scope = outer;
    while (scan_if(source(p), TOKEN_INDENT)) {
        if (*scope == outer && (*scope = scope_open(p->m, outer)) == NINJA_NONE)
            return false;
        if (!parse_let_now(p, outer, &symbol) || !bind_text(p, *scope, symbol))
            return false;
    }
    return true;
}

static bool set_pool(parser *p, uint32_t edge)
{
    ninja_manifest *m = p->m;

    buffer_clear(&p->text);
    if (!ninja_edge_value(m, edge, SYMBOL_POOL, true, &p->text))
        return false;
    if (p->text.bytes == 0)
        return true;
    uint32_t symbol = scope_find_symbol(m, buffer_piece(&p->text));
    uint32_t pool = symbol == NINJA_NONE ? NINJA_NONE : find_pool(m, symbol);
    if (pool == NINJA_NONE)
        return scan_fail(m, source(p), "there is no pool '%.*s'; add 'pool %.*s' above", (int)p->text.bytes, p->text.at,
                         (int)p->text.bytes, p->text.at);
    m->edges[edge].pool = pool;
    return true;
}

/* The nodes of the sections [from, to] in their order. */
static bool take_nodes(parser *p, uint32_t scope, uint32_t from, uint32_t to, uint32_t **nodes, uint32_t *count,
                       uint32_t *of_last)
{
    *count = 0;
    *of_last = 0;
    for (size_t i = 0; i < p->paths_count; i++)
        *count += p->paths[i].section >= from && p->paths[i].section <= to;
    *nodes = store_take(&p->m->store, *count * sizeof **nodes);
    if (*nodes == NULL)
        return ninja_no_memory(p->m);
    uint32_t at = 0;
    for (size_t i = 0; i < p->paths_count; i++) {
        if (p->paths[i].section < from || p->paths[i].section > to)
            continue;
        if (!evaluate(p, scope, p->paths[i].first, p->paths[i].count) || !canonical_text(p))
            return false;
        (*nodes)[at] = ninja_add_node(p->m, buffer_piece(&p->text));
        if ((*nodes)[at++] == NINJA_NONE)
            return false;
        *of_last += p->paths[i].section == to;
    }
    return true;
}

static bool set_outputs(parser *p, uint32_t index)
{
    ninja_manifest *m = p->m;
    ninja_edge *edge = &m->edges[index];

    if (!take_nodes(p, edge->scope, OUTPUTS, IMPLICIT_OUTPUTS, &edge->outputs, &edge->outputs_count,
                    &edge->implicit_outputs))
        return false;
    for (uint32_t i = 0; i < edge->outputs_count; i++) {
        ninja_node *node = &m->nodes[edge->outputs[i]];
        if (node->producer != NINJA_NONE) {
            const ninja_edge *other = &m->edges[node->producer];
            return scan_fail(m, source(p), "'%.200s' is an output of line %u of %.200s too; one statement must make it",
                             node->path, other->line, m->files[other->file]);
        }
        node->producer = index;
    }
    return true;
}

static bool set_inputs(parser *p, uint32_t index)
{
    ninja_edge *edge = &p->m->edges[index];
    uint32_t order_only = 0, implicit = 0, unused;

    if (!take_nodes(p, edge->scope, INPUTS, ORDER_ONLY, &edge->inputs, &edge->inputs_count, &order_only) ||
        !take_nodes(p, edge->scope, VALIDATIONS, VALIDATIONS, &edge->validations, &edge->validations_count, &unused))
        return false;
    for (size_t i = 0; i < p->paths_count; i++)
        implicit += p->paths[i].section == IMPLICIT;
    edge->implicit_count = implicit;
    edge->order_only_count = order_only;
    /* CMake 2.8 and 3.0 wrote phony statements that name their own output; ninja drops that input, and so do we; but
     * it leaves the statement a user of its output, which then is no root. */
    if (edge->rule == NINJA_PHONY && edge->outputs_count == 1 && edge->implicit_outputs == 0 && implicit == 0) {
        uint32_t kept = 0, kept_order_only = 0;
        for (uint32_t i = 0; i < edge->inputs_count; i++)
            if (edge->inputs[i] != edge->outputs[0]) {
                kept_order_only += i >= edge->inputs_count - order_only;
                edge->inputs[kept++] = edge->inputs[i];
            }
        edge->self_uses = edge->inputs_count - kept;
        edge->inputs_count = kept;
        edge->order_only_count = kept_order_only;
    }
    return true;
}

static bool set_dyndep(parser *p, uint32_t index)
{
    ninja_manifest *m = p->m;

    buffer_clear(&p->text);
    if (!ninja_edge_value(m, index, SYMBOL_DYNDEP, false, &p->text))
        return false;
    if (p->text.bytes == 0)
        return true;
    p->text.bytes = path_canonical(p->text.at, p->text.bytes);
    ninja_edge *edge = &m->edges[index];
    uint32_t node = ninja_find_node(m, buffer_piece(&p->text));
    for (uint32_t i = 0; i < edge->inputs_count; i++)
        if (edge->inputs[i] == node)
            edge->dyndep = node;
    if (edge->dyndep != NINJA_NONE)
        return true;
    return scan_fail(m, source(p), "the dyndep file '%.*s' is no input of this statement; add it", (int)p->text.bytes,
                     p->text.at);
}

static uint32_t count_line(parser *p)
{
    scan_source *s = source(p);

    for (; s->counted < s->last; s->counted++)
        s->line += s->text[s->counted] == '\n';
    return s->line;
}

static bool parse_edge(parser *p)
{
    uint32_t rule = 0, scope = 0, line = count_line(p);

    p->paths_count = 0;
    if (!parse_edge_line(p, &rule) || !parse_edge_values(p, &scope))
        return false;
    uint32_t edge = ninja_add_edge(p->m, rule, scope);
    if (edge == NINJA_NONE)
        return false;
    p->m->edges[edge].file = source(p)->file;
    p->m->edges[edge].line = line;
    return set_pool(p, edge) && set_outputs(p, edge) && set_inputs(p, edge) && set_dyndep(p, edge);
}

static bool is_open(const parser *p, const char *path)
{
    for (size_t i = 0; i < p->sources_count; i++)
        if (strcmp(p->m->files[p->sources[i].file], path) == 0)
            return true;
    return false;
}

static bool open_source(parser *p, const char *path, uint32_t scope)
{
    ninja_manifest *m = p->m;
    char *text = NULL;

    scan_source *grown = array_grow(p->sources, &p->sources_capacity, p->sources_count + 1, sizeof *grown);
    if (grown == NULL)
        return ninja_no_memory(m);
    p->sources = grown;
    if (!ninja_keep_file(m, path, &text))
        return false;
    p->sources[p->sources_count++] =
        (scan_source){.text = text, .file = (uint32_t)(m->files_count - 1), .scope = scope, .line = 1};
    return true;
}

static bool parse_include(parser *p, bool is_scope)
{
    ninja_manifest *m = p->m;
    uint32_t scope = source(p)->scope;

    if (!scan_value(m, source(p), true, &p->parts) || !evaluate(p, scope, 0, p->parts.count) || !expect_line_end(p))
        return false;
    char *path = store_copy(&m->store, buffer_piece(&p->text));
    if (path == NULL)
        return ninja_no_memory(m);
    if (is_open(p, path))
        return scan_fail(m, source(p), "'%.200s' includes itself; remove one of the lines", path);
    if (p->sources_count >= m->options.includes_max)
        return scan_fail(m, source(p), "files stand in files more than %u deep; include less", m->options.includes_max);
    if (is_scope && (scope = scope_open(m, scope)) == NINJA_NONE)
        return false;
    if (open_source(p, path, scope))
        return true;
    char why[700];
    snprintf(why, sizeof why, "%.699s", m->error);
    return scan_fail(m, source(p), "%s", why); /* who looks for the file finds the line that names it */
}

static bool parse_statement(parser *p)
{
    p->parts.count = 0;
    switch (scan_next(source(p))) {
    case TOKEN_NEWLINE:
        return true;
    case TOKEN_BUILD:
        return parse_edge(p);
    case TOKEN_RULE:
        return parse_rule(p);
    case TOKEN_POOL:
        return parse_pool(p);
    case TOKEN_DEFAULT:
        return parse_default(p);
    case TOKEN_IDENTIFIER:
        return parse_variable(p);
    case TOKEN_INCLUDE:
        return parse_include(p, false);
    case TOKEN_SUBNINJA:
        return parse_include(p, true);
    case TOKEN_INDENT:
        return scan_fail(p->m, source(p), "this line is indented, but the one above takes no lines; remove the spaces");
    case TOKEN_END:
        p->sources_count--;
        return true;
    default:
        return scan_unexpected(p->m, source(p), "a statement");
    }
}

bool ninja_parse(ninja_manifest *m, const char *path)
{
    parser p = {.m = m, .text.most = m->options.value_max};

    char *kept = store_copy(&m->store, piece_of(path));
    bool is_good = kept != NULL ? open_source(&p, kept, 0) : ninja_no_memory(m);
    while (is_good && p.sources_count > 0)
        is_good = parse_statement(&p);
    free(p.sources);
    free(p.parts.items);
    free(p.paths);
    buffer_free(&p.text);
    assert(is_good || m->error[0] != '\0');
    return is_good;
}
