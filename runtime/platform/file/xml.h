/* platform/file/xml.h - an XML document as one flat tree, read with expat, for the platform reader.
 *
 * Nodes lie in document order, so the subtree of node n is [n, nodes[n].end). Everything is bounded: bytes, nodes,
 * depth, attributes. Entities and an internal DTD are refused; nothing external is ever fetched. */
#ifndef CLO_PLATFORM_FILE_XML_H
#define CLO_PLATFORM_FILE_XML_H

#include <clotho/status.h>
#include <stddef.h>
#include <stdint.h>

#define CLO_XML_BYTES_MAX (256u << 20)
#define CLO_XML_DEPTH_MAX 64u
#define CLO_XML_NODES_MAX (1u << 20)
#define CLO_XML_ATTRIBUTES_MAX 64u

typedef struct clo_xml_node {
    size_t name, text;          /* offsets into the pool; text 0: none (white space is dropped) */
    uint32_t line, parent, end; /* parent of the root: UINT32_MAX                                */
    uint32_t attributes_begin, attributes_end;
} clo_xml_node;

typedef struct clo_xml_attribute {
    size_t name, value; /* offsets into the pool */
} clo_xml_attribute;

typedef struct clo_xml {
    const char *file; /* for error lines; borrowed */
    clo_xml_node *nodes;
    clo_xml_attribute *attributes;
    char *pool;
    size_t nodes_count, attributes_count, pool_bytes;
    size_t nodes_capacity, attributes_capacity, pool_capacity;
} clo_xml;

/* Reads a document. `xml` need not be initialised; release with clo_xml_free after success only.
 * Returns CLO_OK, CLO_ERR_FORMAT ("FILE:LINE: ..."), CLO_ERR_LIMIT, CLO_ERR_MEMORY. */
CLO_NODISCARD clo_status clo_xml_read(const char *file, const char *data, size_t bytes, clo_xml *xml);
void clo_xml_free(clo_xml *xml);

const char *clo_xml_name(const clo_xml *xml, uint32_t node);
const char *clo_xml_text(const clo_xml *xml, uint32_t node);                       /* "" if there is none   */
const char *clo_xml_get(const clo_xml *xml, uint32_t node, const char *attribute); /* NULL if it is missing */

/* Stores "FILE:LINE: ..." for clo_last_error, LINE being where `node` starts, and returns CLO_ERR_FORMAT. */
clo_status clo_xml_fail(const clo_xml *xml, uint32_t node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
