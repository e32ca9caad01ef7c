/* show_includes.c - see show_includes.h. The output is copied in one pass; names are kept until all are known. */
#include "show_includes.h"
#include "paths.h"

#include <stdlib.h>
#include <string.h>

static const char ENGLISH[] = "Note: including file: ";

/* Names that were found: canonical, each an own block. */
typedef struct name_list {
    piece *names;
    size_t count, capacity;
    store store;
} name_list;

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool equal_at(piece text, size_t at, const char *what, size_t bytes)
{
    if (at + bytes > text.bytes)
        return false;
    for (size_t i = 0; i < bytes; i++)
        if (lower(text.at[at + i]) != what[i])
            return false;
    return true;
}

static bool contains(piece text, const char *what)
{
    size_t bytes = strlen(what);

    for (size_t at = 0; at + bytes <= text.bytes; at++)
        if (equal_at(text, at, what, bytes))
            return true;
    return false;
}

static bool is_of_system(piece path)
{
    return contains(path, "program files") || contains(path, "microsoft visual studio");
}

/* cl prints the name of what it compiles. */
static bool is_source(piece line)
{
    static const char *const ends[] = {".c", ".cc", ".cxx", ".cpp", ".c++"};

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        size_t bytes = strlen(ends[i]);
        if (line.bytes >= bytes && equal_at(line, line.bytes - bytes, ends[i], bytes))
            return true;
    }
    return false;
}

/* The file that a line names; empty: none. Deeper ones stand behind more spaces. */
static piece named_file(piece line, piece prefix)
{
    if (line.bytes <= prefix.bytes || memcmp(line.at, prefix.at, prefix.bytes) != 0)
        return (piece){0};
    piece name = {line.at + prefix.bytes, line.bytes - prefix.bytes};
    for (; name.bytes > 0 && *name.at == ' '; name.bytes--)
        name.at++;
    return name;
}

static bool add_name(name_list *list, piece name)
{
    piece *grown = array_grow(list->names, &list->capacity, list->count + 1, sizeof *grown);

    if (grown == NULL)
        return false;
    list->names = grown;
    char *copy = store_copy(&list->store, name);
    if (copy == NULL)
        return false;
    list->names[list->count] = (piece){copy, path_canonical(copy, name.bytes)};
    list->count += !is_of_system(list->names[list->count]);
    return true;
}

/* The line at `at`; *next: where the one behind it begins. Lines end with "\n", "\r\n" or "\r". */
static piece line_at(piece text, size_t at, size_t *next)
{
    size_t end = at;

    while (end < text.bytes && text.at[end] != '\n' && text.at[end] != '\r')
        end++;
    *next = end;
    if (*next < text.bytes && text.at[*next] == '\r')
        ++*next;
    if (*next < text.bytes && text.at[*next] == '\n')
        ++*next;
    return (piece){text.at + at, end - at};
}

static bool filter(piece prefix, piece text, buffer *rest, name_list *list)
{
    bool is_first = true;

    for (size_t at = 0, next; at < text.bytes; at = next) {
        piece line = line_at(text, at, &next), name = named_file(line, prefix);
        if (name.bytes > 0) {
            is_first = false;
            if (!add_name(list, name))
                return false;
        } else if (!is_first || !is_source(line)) {
            buffer_add(rest, line.at, line.bytes);
            buffer_add(rest, "\n", 1);
        }
    }
    return !rest->failed;
}

static bool take_nodes(ninja_manifest *m, const name_list *list, discovered *out)
{
    out->nodes = malloc((list->count + 1) * sizeof *out->nodes);
    if (out->nodes == NULL)
        return ninja_no_memory(m);
    if (list->count > 0)
        qsort(list->names, list->count, sizeof *list->names, piece_order);
    for (size_t i = 0; i < list->count; i++) {
        if (i > 0 && piece_equal(list->names[i - 1], list->names[i]))
            continue;
        uint32_t node = ninja_add_node(m, list->names[i]);
        if (node == NINJA_NONE) {
            free(out->nodes);
            *out = (discovered){0};
            return false;
        }
        out->nodes[out->count++] = node;
    }
    return true;
}

bool show_includes_read(ninja_manifest *m, piece prefix, buffer *output, discovered *out)
{
    name_list list = {0};
    buffer rest = {0};

    *out = (discovered){0};
    bool is_good = filter(prefix.bytes > 0 ? prefix : piece_of(ENGLISH), buffer_piece(output), &rest, &list);
    if (!is_good)
        ninja_set_error(m, "out of memory; the output of a step is too long for this machine");
    is_good = is_good && take_nodes(m, &list, out);
    if (is_good) {
        buffer_free(output);
        *output = rest;
    } else {
        buffer_free(&rest);
    }
    free(list.names);
    store_free(&list.store);
    return is_good;
}
