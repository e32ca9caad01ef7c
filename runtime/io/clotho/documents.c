/* documents.c - files with one instance and files with many: JSON Lines, an object a line.
 *
 * Lines are found by their brackets before anything is parsed, so that a bad line among good ones is a bad instance and
 * not a bad file. The rule of is_json_lines never takes a valid JSON text apart. */
#define _POSIX_C_SOURCE 200809L
#include "io/text/lines.h"
#include "io/text/reader.h"

#include "base/memory.h"
#include "base/status.h"
#include "io/text/parse.h"

#include <assert.h>
#include <string.h>

#define DOCUMENT_BYTES_MAX ((size_t)1 << 30)

struct clo_documents {
    clo_reader base;     /* what the config says */
    char *name;          /* owned                */
    char *owned;         /* the text, if it came from a file; else NULL */
    clo_lines lines;     /* the text, and the place of the next instance where there are many */
    size_t count, given; /* instances: all, and those before the next */
    bool many;
};

/* Behind the value that begins with a bracket at `at`, or `end` where it does not close. */
static size_t value_end(const char *text, size_t at, size_t end)
{
    size_t depth = 0;
    bool quoted = false;

    for (; at < end; at++) {
        if (quoted) {
            quoted = text[at] != '"';
            at += text[at] == '\\';
        } else if (text[at] == '"') {
            quoted = true;
        } else if (text[at] == '{' || text[at] == '[') {
            depth++;
        } else if ((text[at] == '}' || text[at] == ']') && --depth == 0) {
            return at + 1;
        }
    }
    return end + 1;
}

static bool is_whole(const char *text, const clo_line *l)
{
    return text[l->first] == '{' && value_end(text, l->first, l->end) == l->end;
}

/* An object on a line of its own is "whole". Many instances are: two whole lines one behind the other, or a whole first
 * line and a later one that begins like it, or lines that all begin with a brace, one of them whole. None of the three
 * can be part of one valid JSON text: there would be a comma or a closing bracket between. DOT has such lines. Where a
 * brace is open and lines go on inside it, a comma is missing in one object. */
static bool is_json_lines(const char *text, size_t bytes)
{
    size_t lines = 0, braces = 0, whole = 0, inside = 0;
    bool first = false, last = false, together = false, opens = false;

    for (size_t at = 0; at < bytes;) { /* every round passes at least one byte */
        clo_line l = clo_line_at(text, bytes, at);
        at = l.next;
        if (l.first >= l.end)
            continue;
        bool now = is_whole(text, &l);
        together |= now && last;
        first = lines == 0 ? now : first;
        opens = lines == 0 ? !now && text[l.first] == '{' : opens;
        last = now;
        lines++;
        braces += text[l.first] == '{';
        inside += strchr("\"]}", text[l.first]) != NULL && text[l.first] != '\0';
        whole += now;
    }
    if (together)
        return !opens || inside == 0;
    return lines > 1 && ((first && braces > 1) || (whole > 0 && braces == lines));
}

static size_t count_lines(const char *text, size_t bytes)
{
    size_t count = 0;

    for (size_t at = 0; at < bytes;) { /* every round passes at least one byte */
        clo_line l = clo_line_at(text, bytes, at);
        at = l.next;
        count += l.first < l.end;
    }
    return count;
}

clo_status clo_documents_parse(const char *name, const char *text, size_t text_bytes, const clo_load_config *config,
                               clo_documents **out)
{
    clo_reader base = {0};

    clo_status status = clo_reader_config(config, &base);
    if (status != CLO_OK)
        return status;
    clo_documents *d = clo_allocate(1, sizeof *d);
    char *copy = clo_allocate(strlen(name) + 1, 1);
    if (d == NULL || copy == NULL) {
        clo_free(d);
        clo_free(copy);
        return clo_fail_memory(name);
    }
    *d = (clo_documents){.base = base, .name = strcpy(copy, name), .count = 1};
    d->lines = (clo_lines){.name = d->name, .text = text, .bytes = text_bytes};
    d->many = !clo_text_is_dot(text, text_bytes) && is_json_lines(text, text_bytes);
    if (d->many)
        d->count = count_lines(text, text_bytes);
    *out = d;
    return CLO_OK;
}

clo_status clo_documents_open(const char *path, const clo_load_config *config, clo_documents **out)
{
    clo_reader unused = {0};
    char *text;
    size_t bytes;

    if (path == NULL || out == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_documents_open: path or out is NULL");
    clo_status status = clo_reader_config(config, &unused); /* before a long read */
    if (status == CLO_OK)
        status = clo_file_read(path, DOCUMENT_BYTES_MAX, &text, &bytes);
    if (status != CLO_OK)
        return status;
    status = clo_documents_parse(strcmp(path, "-") == 0 ? "standard input" : path, text, bytes, config, out);
    if (status != CLO_OK)
        return clo_free(text), status;
    (*out)->owned = text;
    return CLO_OK;
}

size_t clo_documents_count(const clo_documents *documents)
{
    return documents != NULL ? documents->count : 0;
}

clo_status clo_documents_next(clo_documents *documents, clo_document **out)
{
    clo_documents *d = documents;

    if (d == NULL || out == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_documents_next: an argument is NULL");
    if (d->given == d->count)
        return clo_fail(CLO_ERR_STATE, "%s: all of its instances have been read; open it again", d->name);
    d->given++;
    clo_source source = {.name = d->name, .text = d->lines.text, .bytes = d->lines.bytes};
    bool is_there = !d->many || clo_lines_next(&d->lines, &source);
    assert(is_there); /* as many as were counted */
    (void)is_there;
    return clo_document_read(&d->base, &source, out);
}

clo_reader *clo_documents_reader(clo_documents *documents)
{
    return &documents->base;
}

void clo_documents_close(clo_documents *documents)
{
    if (documents == NULL)
        return;
    clo_free(documents->owned);
    clo_free(documents->name);
    clo_free(documents);
}

/* The first good instance of that name. */
static clo_status find_instance(clo_documents *d, const char *name, clo_document **out)
{
    clo_document *document = NULL;
    clo_status status = CLO_OK;
    size_t bad = 0;

    while (d->given < d->count) {
        status = clo_documents_next(d, &document);
        if (status == CLO_ERR_MEMORY || (status != CLO_OK && !d->many))
            return status;
        if (status != CLO_OK) {
            bad++;
            continue;
        }
        if (strcmp(clo_graph_name(document->graph), name) == 0) {
            *out = document;
            return CLO_OK;
        }
        clo_document_destroy(document);
    }
    return clo_fail(CLO_ERR_ARGUMENT,
                    "%s: no instance is called '%.100s', of %zu that can be read; name one that is there", d->name,
                    name, d->count - bad);
}

/* The one instance that the caller wants. */
static clo_status load_one(clo_documents *d, const char *instance, clo_document **out)
{
    if (instance != NULL)
        return find_instance(d, instance, out);
    if (d->many)
        return clo_fail(CLO_ERR_ARGUMENT, "%s: holds %zu instances, one a line; name the one to take (--instance NAME)",
                        d->name, d->count);
    return clo_documents_next(d, out);
}

static const char *instance_of(const clo_load_config *config)
{
    clo_load_config mine = CLO_LOAD_CONFIG_INIT;

    return clo_config_read(&mine, sizeof mine, config, "clo_load_config") == CLO_OK ? mine.instance : NULL;
}

clo_status clo_document_parse(const char *name, const char *text, size_t text_bytes, const clo_load_config *config,
                              clo_document **out)
{
    clo_documents *documents;

    if (name == NULL || text == NULL || out == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_document_parse: an argument is NULL");
    clo_status status = clo_documents_parse(name, text, text_bytes, config, &documents);
    if (status != CLO_OK)
        return status;
    status = load_one(documents, instance_of(config), out);
    clo_documents_close(documents);
    return status;
}

clo_status clo_document_load(const char *path, const clo_load_config *config, clo_document **out)
{
    clo_documents *documents;

    if (path == NULL || out == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_document_load: path or out is NULL");
    clo_status status = clo_documents_open(path, config, &documents);
    if (status != CLO_OK)
        return status;
    status = load_one(documents, instance_of(config), out);
    clo_documents_close(documents);
    return status;
}
