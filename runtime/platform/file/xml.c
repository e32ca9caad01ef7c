/* xml.c - expat events into a flat tree. The first failure is kept in the reader's state and stops the parser; the
 * handlers after it do nothing. */
#include "platform/file/xml.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"

#include <expat.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

typedef struct reader {
    clo_xml *xml;
    XML_Parser parser;
    uint32_t open; /* the innermost open node, UINT32_MAX: none */
    uint32_t depth;
    uint32_t texted; /* the node whose text ends the pool, UINT32_MAX: none */
    clo_status status;
} reader;

static unsigned long line_of(const reader *r)
{
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9 /* which warn of the other */
    return (unsigned long)XML_GetCurrentLineNumber64(r->parser);
#else
    return (unsigned long)XML_GetCurrentLineNumber(r->parser);
#endif
}

static void stop(reader *r, clo_status status, const char *what)
{
    if (r->status != CLO_OK)
        return;
    r->status = status;
    if (status == CLO_ERR_MEMORY)
        clo_fail_memory("an XML document");
    else
        clo_fail(status, "%s:%lu: %s", r->xml->file, line_of(r), what);
    XML_StopParser(r->parser, XML_FALSE);
}

/* Appends to the pool without a terminator. */
static int pool_add(clo_xml *xml, const char *data, size_t bytes)
{
    void *pool = xml->pool;

    if (clo_grow(&pool, &xml->pool_capacity, xml->pool_bytes + bytes, 1) != 0)
        return -1;
    xml->pool = pool;
    memcpy(xml->pool + xml->pool_bytes, data, bytes);
    xml->pool_bytes += bytes;
    return 0;
}

static int pool_string(clo_xml *xml, const char *string, size_t *offset)
{
    *offset = xml->pool_bytes;
    return pool_add(xml, string, strlen(string) + 1);
}

static int add_attributes(clo_xml *xml, const XML_Char **pairs)
{
    for (; pairs[0] != NULL; pairs += 2) {
        void *attributes = xml->attributes;
        if (clo_grow(&attributes, &xml->attributes_capacity, xml->attributes_count + 1, sizeof *xml->attributes) != 0)
            return -1;
        xml->attributes = attributes;
        clo_xml_attribute *a = &xml->attributes[xml->attributes_count++];
        if (pool_string(xml, pairs[0], &a->name) != 0 || pool_string(xml, pairs[1], &a->value) != 0)
            return -1;
    }
    return 0;
}

static int add_node(reader *r, const XML_Char *name, const XML_Char **pairs)
{
    clo_xml *xml = r->xml;
    void *nodes = xml->nodes;
    clo_xml_node node = {.parent = r->open, .line = (uint32_t)line_of(r)};

    if (clo_grow(&nodes, &xml->nodes_capacity, xml->nodes_count + 1, sizeof *xml->nodes) != 0)
        return -1;
    xml->nodes = nodes;
    node.attributes_begin = (uint32_t)xml->attributes_count;
    if (pool_string(xml, name, &node.name) != 0 || add_attributes(xml, pairs) != 0)
        return -1;
    node.attributes_end = (uint32_t)xml->attributes_count;
    r->open = (uint32_t)xml->nodes_count;
    xml->nodes[xml->nodes_count++] = node;
    return 0;
}

/* Text is collected as long as nothing else enters the pool; a later start or end tag terminates it. */
static void close_text(reader *r)
{
    if (r->texted != UINT32_MAX && pool_add(r->xml, "", 1) != 0)
        stop(r, CLO_ERR_MEMORY, "");
    r->texted = UINT32_MAX;
}

static void XMLCALL on_start(void *state, const XML_Char *name, const XML_Char **pairs)
{
    reader *r = state;
    size_t attributes = 0;

    if (r->status != CLO_OK)
        return;
    close_text(r);
    while (attributes <= CLO_XML_ATTRIBUTES_MAX && pairs[2 * attributes] != NULL)
        attributes++;
    if (++r->depth > CLO_XML_DEPTH_MAX)
        stop(r, CLO_ERR_FORMAT, "elements nested deeper than 64; this is not an hwloc topology");
    else if (attributes > CLO_XML_ATTRIBUTES_MAX)
        stop(r, CLO_ERR_FORMAT, "an element with more than 64 attributes; this is not an hwloc topology");
    else if (r->xml->nodes_count >= CLO_XML_NODES_MAX)
        stop(r, CLO_ERR_FORMAT, "more than 1048576 elements; split the platform");
    else if (r->status == CLO_OK && add_node(r, name, pairs) != 0)
        stop(r, CLO_ERR_MEMORY, "");
}

static void XMLCALL on_end(void *state, const XML_Char *name)
{
    reader *r = state;

    (void)name;
    if (r->status != CLO_OK)
        return;
    close_text(r);
    clo_xml_node *node = &r->xml->nodes[r->open];
    node->end = (uint32_t)r->xml->nodes_count;
    r->open = node->parent;
    r->depth--;
}

static bool is_blank(const char *text, size_t bytes)
{
    size_t i = 0;

    while (i < bytes && strchr(" \t\r\n", text[i]) != NULL)
        i++;
    return i == bytes;
}

static void XMLCALL on_text(void *state, const XML_Char *text, int bytes)
{
    reader *r = state;

    if (r->status != CLO_OK || r->open == UINT32_MAX || bytes <= 0)
        return;
    if (r->texted == UINT32_MAX) {
        if (is_blank(text, (size_t)bytes))
            return;
        if (r->xml->nodes[r->open].text != 0) {
            stop(r, CLO_ERR_FORMAT, "text on both sides of an element; this is not an hwloc topology");
            return;
        }
        r->texted = r->open;
        r->xml->nodes[r->open].text = r->xml->pool_bytes;
    }
    if (pool_add(r->xml, text, (size_t)bytes) != 0)
        stop(r, CLO_ERR_MEMORY, "");
}

/* hwloc writes <!DOCTYPE topology SYSTEM "hwloc2.dtd">: harmless, never fetched. An internal subset could define
 * entities. */
static void XMLCALL on_doctype(void *state, const XML_Char *name, const XML_Char *system, const XML_Char *public_id,
                               int has_internal_subset)
{
    (void)name, (void)system, (void)public_id;
    if (has_internal_subset)
        stop(state, CLO_ERR_FORMAT, "a document type with declarations of its own; remove them");
}

/* A file that expat does not take. Where it ends, an element or a tag may still be open. */
static clo_status refuse(const reader *r, bool is_empty)
{
    enum XML_Error error = XML_GetErrorCode(r->parser);
    bool is_cut = r->depth > 0 && (error == XML_ERROR_NO_ELEMENTS || error == XML_ERROR_UNCLOSED_TOKEN ||
                                   error == XML_ERROR_PARTIAL_CHAR);
    const char *wrong = is_empty ? "the file is empty" : is_cut ? "the file ends too early" : XML_ErrorString(error);

    return clo_fail(CLO_ERR_FORMAT, "%s:%lu: %s; give %s hwloc XML file", r->xml->file, line_of(r), wrong,
                    is_cut ? "the whole" : "an");
}

static clo_status parse(reader *r, const char *data, size_t bytes)
{
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, on_start, on_end);
    XML_SetCharacterDataHandler(r->parser, on_text);
    XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
    XML_SetParamEntityParsing(r->parser, XML_PARAM_ENTITY_PARSING_NEVER);
    if (XML_Parse(r->parser, data, (int)bytes, XML_TRUE) == XML_STATUS_OK || r->status != CLO_OK)
        return r->status;
    if (XML_GetErrorCode(r->parser) == XML_ERROR_NO_MEMORY)
        return clo_fail_memory("an XML document");
    return refuse(r, is_blank(data, bytes));
}

clo_status clo_xml_read(const char *file, const char *data, size_t bytes, clo_xml *xml)
{
    clo_xml mine = {.file = file};
    reader r = {.xml = &mine, .open = UINT32_MAX, .texted = UINT32_MAX};

    if (bytes > CLO_XML_BYTES_MAX)
        return clo_fail(CLO_ERR_LIMIT, "%s: longer than %u bytes; split the platform", file, CLO_XML_BYTES_MAX);
    r.parser = XML_ParserCreate(NULL);
    if (r.parser == NULL)
        return clo_fail_memory("an XML parser");
    clo_status status = pool_add(&mine, "", 1) == 0 ? parse(&r, data, bytes) /* offset 0 means "none" */
                                                    : clo_fail_memory("an XML document");
    XML_ParserFree(r.parser);
    if (status != CLO_OK)
        return clo_xml_free(&mine), status;
    *xml = mine;
    return CLO_OK;
}

void clo_xml_free(clo_xml *xml)
{
    clo_free(xml->nodes);
    clo_free(xml->attributes);
    clo_free(xml->pool);
    memset(xml, 0, sizeof *xml);
}

const char *clo_xml_name(const clo_xml *xml, uint32_t node)
{
    return xml->pool + xml->nodes[node].name;
}

const char *clo_xml_text(const clo_xml *xml, uint32_t node)
{
    return xml->pool + xml->nodes[node].text;
}

const char *clo_xml_get(const clo_xml *xml, uint32_t node, const char *attribute)
{
    for (uint32_t a = xml->nodes[node].attributes_begin; a < xml->nodes[node].attributes_end; a++)
        if (strcmp(xml->pool + xml->attributes[a].name, attribute) == 0)
            return xml->pool + xml->attributes[a].value;
    return NULL;
}

clo_status clo_xml_fail(const clo_xml *xml, uint32_t node, const char *format, ...)
{
    char text[400];
    va_list arguments;

    va_start(arguments, format);
    clo_print_list(text, sizeof text, format, arguments);
    va_end(arguments);
    return clo_fail(CLO_ERR_FORMAT, "%s:%u: %s", xml->file, xml->nodes[node].line, text);
}
