/* show_includes.c - see show_includes.h. The output is copied in one pass, by pieces of a spool; names are kept until
 * all are known. */
#include "ninja/logs/show_includes.h"
#include "ninja/text/paths.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES_MAX = 1 << 16 };

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

/* A pass over an output. */
typedef struct filtering {
    piece prefix;
    spool *rest;
    name_list *list;
    bool is_first; /* no line has named a file yet */
    bool is_long;  /* within a line whose beginning was copied already */
} filtering;

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

/* False: no memory. */
static bool take_line(filtering *f, piece line)
{
    piece name = named_file(line, f->prefix);

    if (name.bytes > 0 && !f->is_long) {
        f->is_first = false;
        return add_name(f->list, name);
    }
    if (f->is_long || !f->is_first || !is_source(line)) {
        spool_add(f->rest, line.at, line.bytes);
        spool_add(f->rest, "\n", 1);
    }
    f->is_long = false;
    return true;
}

/* Takes the whole lines of `text`, at the end of the output all of it. *taken: bytes. False: no memory. */
static bool take_lines(filtering *f, piece text, bool is_end, size_t *taken)
{
    size_t at = 0;

    while (at < text.bytes) {
        size_t next;
        piece line = line_at(text, at, &next);
        if (next == text.bytes && !is_end) { /* more of it may come, if only the "\n" behind a "\r" */
            if (text.bytes - at < LINE_BYTES_MAX)
                break;
            spool_add(f->rest, line.at, line.bytes);
            f->is_long = true;
            at += line.bytes;
            break;
        }
        if (!take_line(f, line))
            return false;
        at = next;
    }
    *taken = at;
    return true;
}

static bool filter(filtering *f, const spool *output)
{
    buffer window = {0};
    bool is_good = true, is_end = false;

    for (uint64_t at = 0; is_good && !is_end;) {
        char chunk[1 << 14];
        size_t got = spool_read(output, at, chunk, sizeof chunk), taken = 0;
        is_end = got == 0;
        at += got;
        buffer_add(&window, chunk, got);
        is_good = !window.failed && take_lines(f, buffer_piece(&window), is_end, &taken);
        if (taken > 0)
            memmove(window.at, window.at + taken, window.bytes - taken);
        window.bytes -= taken;
    }
    if (f->is_long)
        spool_add(f->rest, "\n", 1);
    buffer_free(&window);
    return is_good && !f->rest->text.failed;
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

bool show_includes_read(ninja_manifest *m, piece prefix, spool *output, discovered *out)
{
    name_list list = {0};
    spool rest = {.beside = output->beside};
    filtering f = {prefix.bytes > 0 ? prefix : piece_of(ENGLISH), &rest, &list, true, false};

    *out = (discovered){0};
    bool is_good = filter(&f, output);
    if (!is_good)
        ninja_set_error(m, "out of memory; the output of a step is too long for this machine");
    is_good = is_good && take_nodes(m, &list, out);
    if (is_good) {
        spool_free(output);
        *output = rest;
    } else {
        spool_free(&rest);
    }
    free(list.names);
    store_free(&list.store);
    return is_good;
}
