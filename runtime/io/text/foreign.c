/* foreign.c - see foreign.h. What begins a text, a line of it, or the root of an XML document tells the format; names
 * of files count for nothing, as everywhere. */
#include "io/text/foreign.h"

#include "base/status.h"
#include "io/text/formats.h"
#include "io/text/lines.h"

#include <stdio.h>
#include <string.h>

#define FORMATS_BYTES 400

/* What a file of a format shows, what it is, and what to do with it. */
typedef struct sign {
    const char *mark, *what, *mend;
} sign;

#define BY_NETWORKX "convert it (networkx reads it and writes node-link)"
#define CONVERT "convert it"

/* At the beginning of a line. */
static const sign line_signs[] = {
    {"cwlVersion:", "a workflow of CWL", CONVERT},
    {"@TASK_GRAPH", "a file of TGFF", CONVERT},
    {"@HYPERPERIOD", "a file of TGFF", CONVERT},
    {"pegasus:", "an abstract workflow of Pegasus 5 (YAML)", CONVERT},
    {"build ", "a manifest of ninja", "run it with 'clotho build', or convert what 'ninja -t graph' writes"},
};

/* The root of an XML document; the last one is any other. */
static const sign root_signs[] = {
    {"adag", "DAX, an abstract workflow of Pegasus (XML)", CONVERT},
    {"graphml", "GraphML", BY_NETWORKX},
    {"gexf", "GEXF", BY_NETWORKX},
    {"topology", "a platform (XML of hwloc)", "give it to --platform"},
    {"", "XML", CONVERT},
};

/* A key of a JSON object. */
static const sign json_signs[] = {
    {"cwlVersion", "a workflow of CWL", CONVERT},
    {"adjacency", "the adjacency JSON of networkx", "write it with node_link_data"},
    {"elements", "Cytoscape JSON", BY_NETWORKX},
    {"graph", "JSON Graph Format", CONVERT},
    {"graphs", "JSON Graph Format", CONVERT},
};

static const sign gml = {"graph", "GML", BY_NETWORKX};
static const sign rcp = {"", "a project in Patterson's format (.rcp)", "convert it to .sm"};
static const sign sch = {"", "a project of ProGen/max (.sch)", CONVERT};
static const sign modes = {"", "a project with several modes or resources that are used up (PSPLIB .mm)", CONVERT};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static bool begins(const char *text, size_t bytes, const char *with)
{
    return bytes >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

static size_t skip_blanks(const char *text, size_t bytes, size_t at)
{
    while (at < bytes && memchr(" \t\r\n", text[at], 4) != NULL)
        at++;
    return at;
}

bool clo_text_is_gml(const char *text, size_t bytes, size_t at)
{
    at = skip_blanks(text, bytes, at);
    return at < bytes && text[at] == '[';
}

/* The name of the root of an XML text, behind declarations and comments; bytes: there is none. */
static size_t find_root(const char *text, size_t bytes, size_t at)
{
    static const struct {
        const char *open, *close;
    } skipped[] = {{"<?", "?>"}, {"<!--", "-->"}, {"<!", ">"}};

    for (size_t s = 0; s < COUNT(skipped);) { /* every round but the last three passes at least one byte */
        at = skip_blanks(text, bytes, at);
        if (!begins(text + at, bytes - at, skipped[s].open)) {
            s++;
            continue;
        }
        while (at < bytes && !begins(text + at, bytes - at, skipped[s].close))
            at++;
        at += at < bytes ? strlen(skipped[s].close) : 0;
        s = 0;
    }
    return at < bytes && text[at] == '<' ? at + 1 : bytes;
}

static const sign *xml_of(const char *text, size_t bytes, size_t at)
{
    const sign *found = root_signs;
    size_t root = find_root(text, bytes, at);

    while (!begins(text + root, bytes - root, found->mark)) /* ends: any text begins with "" */
        found++;
    return found;
}

/* The number of whole numbers in a line, 0 where anything else is in it. */
static size_t numbers_in(const char *text, const clo_line *l)
{
    size_t numbers = 0;

    for (size_t at = l->first; at < l->end; at++) {
        bool is_digit = text[at] >= '0' && text[at] <= '9';
        if (!is_digit && memchr(" \t", text[at], 2) == NULL)
            return 0;
        numbers += is_digit && (at == l->first || text[at - 1] < '0' || text[at - 1] > '9');
    }
    return numbers;
}

/* NULL: the line says nothing. */
static const sign *line_of(const char *text, const clo_line *l, size_t bytes)
{
    const char *line = text + l->first;
    size_t length = l->end - l->first;

    for (size_t s = 0; s < COUNT(line_signs); s++)
        if (begins(line, length, line_signs[s].mark))
            return &line_signs[s];
    return begins(line, length, gml.mark) && clo_text_is_gml(text, bytes, l->first + strlen(gml.mark)) ? &gml : NULL;
}

/* NULL: nothing that is known. The first line that is no comment tells whether it is a table of numbers. */
static const sign *sign_of(const char *text, size_t bytes, size_t at)
{
    const sign *found = NULL;
    bool is_first = true;

    if (text[at] == '<' && (at + 1 == bytes || text[at + 1] != '<')) /* two: a conflict that git left */
        return xml_of(text, bytes, at);
    while (at < bytes && found == NULL) { /* every round passes a line */
        clo_line l = clo_line_at(text, bytes, at);
        at = l.next;
        if (l.first >= l.end || text[l.first] == '#')
            continue;
        size_t numbers = is_first ? numbers_in(text, &l) : 0;
        found = numbers == 2 ? &rcp : numbers == 4 ? &sch : line_of(text, &l, bytes);
        is_first = false;
    }
    return found;
}

/* The names of all formats that are read, with commas between. */
static const char *formats_read(char *text, size_t bytes)
{
    const clo_registry_head *row;
    size_t used = 0;

    text[0] = '\0';
    for (const char *at = clo_formats.rows; (row = (const void *)at)->name != NULL; at += clo_formats.row_bytes)
        if (strchr(row->directions, 'r') != NULL && used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", used > 0 ? ", " : "", row->name);
    return text;
}

static clo_status refuse_as(const clo_source *source, size_t at, const char *what, const char *mend)
{
    char formats[FORMATS_BYTES];

    return clo_fail(CLO_ERR_FORMAT, "%s:%zu: this is %s, which is not read; %s; formats that are read: %s",
                    source->name, clo_source_line(source, at), what, mend, formats_read(formats, sizeof formats));
}

clo_status clo_foreign_refuse(const clo_source *source, size_t at)
{
    const sign *found = sign_of(source->text, source->bytes, at);
    char formats[FORMATS_BYTES];

    if (found != NULL)
        return refuse_as(source, at, found->what, found->mend);
    return clo_fail(CLO_ERR_FORMAT, "%s:%zu: unknown format; convert it to one of those that are read: %s",
                    source->name, clo_source_line(source, at), formats_read(formats, sizeof formats));
}

clo_status clo_foreign_refuse_json(const clo_json *json)
{
    char formats[FORMATS_BYTES];

    if (cJSON_GetObjectItemCaseSensitive(json->root, "arrival_ns") != NULL)
        return clo_json_fail(json, CLO_ERR_FORMAT, json->root,
                             "is a job of a workload, whose first line is missing; write {\"format\": "
                             "\"clotho.workload/1\", \"name\": \"w\"} above");
    for (size_t s = 0; s < COUNT(json_signs); s++)
        if (cJSON_GetObjectItemCaseSensitive(json->root, json_signs[s].mark) != NULL)
            return refuse_as(&json->source, skip_blanks(json->source.text, json->source.bytes, 0), json_signs[s].what,
                             json_signs[s].mend);
    return clo_json_fail(json, CLO_ERR_FORMAT, json->root,
                         "is JSON of an unknown format; a graph of our own begins with "
                         "{\"format\": \"clotho.graph/1\"; formats that are read: %s",
                         formats_read(formats, sizeof formats));
}

clo_status clo_foreign_refuse_modes(const clo_source *source, size_t at)
{
    return refuse_as(source, at, modes.what, modes.mend);
}
