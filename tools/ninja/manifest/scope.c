/* scope.c - one open-addressing table for all scopes: a key is a scope and a symbol, so that a scope costs nothing but
 * its bindings, and an edge's few ones need no table of their own. */
#include "ninja/manifest/scope.h"

#include <stdlib.h>
#include <string.h>

typedef struct entry {
    uint64_t key; /* 0: empty */
    piece value;
    uint32_t index;
} entry;

struct ninja_table {
    entry *entries;
    size_t count, capacity; /* a power of two, at most half full */
};

static uint64_t mix(uint64_t key)
{
    key = (key ^ (key >> 31)) * 0x9E3779B97F4A7C15U;
    return key ^ (key >> 29);
}

static entry *table_slot(const struct ninja_table *t, uint64_t key)
{
    size_t mask = t->capacity - 1, at = (size_t)mix(key) & mask;

    while (t->entries[at].key != 0 && t->entries[at].key != key)
        at = (at + 1) & mask;
    return &t->entries[at];
}

static bool table_double(struct ninja_table *t)
{
    struct ninja_table more = {.capacity = t->capacity == 0 ? 64 : 2 * t->capacity, .count = t->count};

    more.entries = calloc(more.capacity, sizeof *more.entries);
    if (more.entries == NULL)
        return false;
    for (size_t i = 0; i < t->capacity; i++)
        if (t->entries[i].key != 0)
            *table_slot(&more, t->entries[i].key) = t->entries[i];
    free(t->entries);
    *t = more;
    return true;
}

/* The entry of `key`, new if need be; NULL: no memory. */
static entry *table_take(struct ninja_table *t, uint64_t key)
{
    if (2 * (t->count + 1) > t->capacity && !table_double(t))
        return NULL;
    entry *e = table_slot(t, key);
    if (e->key == 0) {
        e->key = key;
        t->count++;
    }
    return e;
}

static const entry *table_find(const struct ninja_table *t, uint64_t key)
{
    const entry *e = t->capacity > 0 ? table_slot(t, key) : NULL;

    return e != NULL && e->key != 0 ? e : NULL;
}

static uint64_t key_of(uint32_t scope, uint32_t symbol)
{
    return ((uint64_t)scope << 32 | symbol) + 1;
}

/* Names are told apart by their hash first. Two names of one hash take the next keys. */
static uint32_t find_name(const ninja_manifest *m, piece name, uint64_t *key)
{
    *key = murmur64(name.at, name.bytes) | 1;
    for (;; *key += 2) {
        const entry *e = table_find(m->symbol_table, *key);
        if (e == NULL)
            return NINJA_NONE;
        if (piece_equal(m->symbols[e->index], name))
            return e->index;
    }
}

uint32_t scope_find_symbol(const ninja_manifest *m, piece name)
{
    uint64_t key;

    return find_name(m, name, &key);
}

uint32_t scope_symbol(ninja_manifest *m, piece name)
{
    uint64_t key;
    uint32_t symbol = find_name(m, name, &key);

    if (symbol != NINJA_NONE)
        return symbol;
    piece *grown = array_grow(m->symbols, &m->symbols_capacity, m->symbols_count + 1, sizeof *grown);
    if (grown == NULL)
        goto fail;
    m->symbols = grown;
    char *copy = store_copy(&m->store, name);
    entry *e = copy != NULL ? table_take(m->symbol_table, key) : NULL;
    if (e == NULL)
        goto fail;
    e->index = (uint32_t)m->symbols_count;
    m->symbols[m->symbols_count++] = (piece){copy, name.bytes};
    return e->index;
fail:
    ninja_no_memory(m);
    return NINJA_NONE;
}

uint32_t scope_open(ninja_manifest *m, uint32_t parent)
{
    uint32_t *grown = array_grow(m->parents, &m->scopes_capacity, m->scopes_count + 1, sizeof *grown);

    if (grown == NULL || m->scopes_count >= NINJA_NONE - 1) {
        m->parents = grown != NULL ? grown : m->parents;
        ninja_no_memory(m);
        return NINJA_NONE;
    }
    m->parents = grown;
    m->parents[m->scopes_count] = parent;
    return (uint32_t)m->scopes_count++;
}

bool scope_bind(ninja_manifest *m, uint32_t scope, uint32_t symbol, piece value)
{
    entry *e = table_take(m->bindings, key_of(scope, symbol));

    if (e == NULL)
        return ninja_no_memory(m);
    e->value = value;
    return true;
}

const piece *scope_own(const ninja_manifest *m, uint32_t scope, uint32_t symbol)
{
    const entry *e = table_find(m->bindings, key_of(scope, symbol));

    return e != NULL ? &e->value : NULL;
}

const piece *scope_value(const ninja_manifest *m, uint32_t scope, uint32_t symbol)
{
    for (; scope != NINJA_NONE; scope = m->parents[scope]) {
        const piece *value = scope_own(m, scope, symbol);
        if (value != NULL)
            return value;
    }
    return NULL;
}

bool scope_bind_rule(ninja_manifest *m, uint32_t scope, uint32_t symbol, uint32_t rule)
{
    entry *e = table_take(m->rule_names, key_of(scope, symbol));

    if (e == NULL)
        return ninja_no_memory(m);
    e->index = rule;
    return true;
}

uint32_t scope_own_rule(const ninja_manifest *m, uint32_t scope, uint32_t symbol)
{
    const entry *e = table_find(m->rule_names, key_of(scope, symbol));

    return e != NULL ? e->index : NINJA_NONE;
}

uint32_t scope_rule(const ninja_manifest *m, uint32_t scope, uint32_t symbol)
{
    for (; scope != NINJA_NONE; scope = m->parents[scope]) {
        uint32_t rule = scope_own_rule(m, scope, symbol);
        if (rule != NINJA_NONE)
            return rule;
    }
    return NINJA_NONE;
}

static bool begin_names(ninja_manifest *m)
{
    static const char *const names[SYMBOLS_KNOWN] = {
        [SYMBOL_COMMAND] = "command",
        [SYMBOL_DEPFILE] = "depfile",
        [SYMBOL_DYNDEP] = "dyndep",
        [SYMBOL_DESCRIPTION] = "description",
        [SYMBOL_DEPS] = "deps",
        [SYMBOL_GENERATOR] = "generator",
        [SYMBOL_POOL] = "pool",
        [SYMBOL_RESTAT] = "restat",
        [SYMBOL_RSPFILE] = "rspfile",
        [SYMBOL_RSPFILE_CONTENT] = "rspfile_content",
        [SYMBOL_MSVC_DEPS_PREFIX] = "msvc_deps_prefix",
        [SYMBOL_IN] = "in",
        [SYMBOL_IN_NEWLINE] = "in_newline",
        [SYMBOL_OUT] = "out",
        [SYMBOL_BUILDDIR] = "builddir",
        [SYMBOL_REQUIRED_VERSION] = "ninja_required_version",
        [SYMBOL_DEPTH] = "depth",
        [SYMBOL_PHONY] = "phony",
        [SYMBOL_CONSOLE] = "console",
    };

    for (uint32_t i = 0; i < SYMBOLS_KNOWN; i++)
        if (scope_symbol(m, piece_of(names[i])) == NINJA_NONE)
            return false;
    return true;
}

bool scope_begin(ninja_manifest *m)
{
    m->symbol_table = calloc(1, sizeof *m->symbol_table);
    m->bindings = calloc(1, sizeof *m->bindings);
    m->rule_names = calloc(1, sizeof *m->rule_names);
    m->rules = array_grow(NULL, &m->rules_capacity, 1, sizeof *m->rules);
    m->pools = array_grow(NULL, &m->pools_capacity, 2, sizeof *m->pools);
    if (m->symbol_table == NULL || m->bindings == NULL || m->rule_names == NULL || m->rules == NULL || m->pools == NULL)
        return ninja_no_memory(m);
    if (!begin_names(m) || scope_open(m, NINJA_NONE) == NINJA_NONE)
        return false;
    m->rules[NINJA_PHONY] = (ninja_rule){.name = SYMBOL_PHONY};
    m->rules_count = 1;
    m->pools[NINJA_POOL_ANY] = (ninja_pool){.name = NINJA_NONE};
    m->pools[NINJA_POOL_CONSOLE] = (ninja_pool){.name = SYMBOL_CONSOLE, .depth = 1};
    m->pools_count = 2;
    return scope_bind_rule(m, 0, SYMBOL_PHONY, NINJA_PHONY);
}

static void table_free(struct ninja_table *t)
{
    if (t != NULL)
        free(t->entries);
    free(t);
}

void scope_end(ninja_manifest *m)
{
    table_free(m->symbol_table);
    table_free(m->bindings);
    table_free(m->rule_names);
    free(m->symbols);
    free(m->parents);
}
