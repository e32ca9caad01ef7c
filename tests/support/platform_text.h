/* platform_text.h - a platform file as a text, pieces of which a test replaces. */
#ifndef CLO_TEST_PLATFORM_TEXT_H
#define CLO_TEST_PLATFORM_TEXT_H

#include "support.h"

#include <stdlib.h>
#include <string.h>

/* Two NUMA nodes, cores 0 and 1 on the first, core 2 with two PUs on the second. */
static const char base[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
    "<topology version=\"2.0\">\n"
    " <object type=\"Machine\" os_index=\"0\" cpuset=\"0x0000000f\" nodeset=\"0x3\" gp_index=\"1\">\n"
    "  <info name=\"clotho.schema\" value=\"1\"/>\n"
    "  <info name=\"clotho.platform\" value=\"base\"/>\n"
    "  @machine@\n"
    "  <object type=\"Package\" os_index=\"0\" cpuset=\"0x00000003\" gp_index=\"2\">\n"
    "   <object type=\"NUMANode\" os_index=\"0\" gp_index=\"3\" local_memory=\"4096\"><page_type size=\"4096\" "
    "count=\"1\"/></object>\n"
    "   <object type=\"L2Cache\" cpuset=\"0x00000003\" gp_index=\"4\" cache_size=\"1048576\" depth=\"2\" "
    "cache_associativity=\"-1\">\n"
    "    <object type=\"Core\" os_index=\"0\" cpuset=\"0x00000001\" gp_index=\"5\">@core0@\n"
    "     <object type=\"PU\" os_index=\"0\" cpuset=\"0x00000001\" gp_index=\"6\">@pu0@</object></object>\n"
    "    <object type=\"Core\" os_index=\"1\" cpuset=\"0x00000002\" gp_index=\"7\">\n"
    "     <object type=\"PU\" os_index=\"1\" cpuset=\"0x00000002\" gp_index=\"8\"/></object></object></object>\n"
    "  <object type=\"Package\" os_index=\"1\" cpuset=\"0x0000000c\" gp_index=\"9\">\n"
    "   <object type=\"NUMANode\" os_index=\"1\" gp_index=\"10\"/>\n"
    "   <object type=\"Core\" os_index=\"2\" cpuset=\"0x0000000c\" gp_index=\"11\">\n"
    "     <object type=\"PU\" os_index=\"3\" cpuset=\"0x00000008\" gp_index=\"12\"/>\n"
    "     <object type=\"PU\" os_index=\"2\" cpuset=\"0x00000004\" gp_index=\"13\"/></object></object>\n"
    "  @misc@\n"
    " </object>\n"
    " @tables@\n"
    "</topology>\n";

static inline void replace(char **text, const char *what, const char *with)
{
    char *at = strstr(*text, what);

    if (at == NULL) {
        fail_msg("'%s' is not in the file", what);
        return;
    }
    size_t head = (size_t)(at - *text);
    char *made = malloc(strlen(*text) + strlen(with) + 1);
    memcpy(made, *text, head);
    strcpy(made + head, with);
    strcat(made, at + strlen(what));
    free(*text);
    *text = made;
}

/* The base file, with pairs of (what, with) replaced in turn up to NULL, and no markers left. */
static inline char *file_with(const char *const *pairs)
{
    static const char *const markers[] = {"@machine@", "@core0@", "@pu0@", "@misc@", "@tables@"};
    char *text = malloc(sizeof base);

    memcpy(text, base, sizeof base);
    for (; pairs != NULL && pairs[0] != NULL; pairs += 2)
        replace(&text, pairs[0], pairs[1]);
    for (size_t i = 0; i < sizeof markers / sizeof markers[0]; i++)
        if (strstr(text, markers[i]) != NULL)
            replace(&text, markers[i], "");
    return text;
}

#define INFO(name, value) "<info name=\"" name "\" value=\"" value "\"/>"
#define MATRIX(type, n, kind, name, indexes, values)                                \
    "<distances2 type=\"" type "\" nbobjs=\"" n "\" kind=\"" kind "\" name=\"" name \
    "\" indexing=\"os\">" indexes values "</distances2>"
#define INDEXES4 "<indexes length=\"8\">0 1 2 3 </indexes>"
#define VALUES4                                                                                                 \
    "<u64values length=\"39\">0 11 12 13 21 0 22 23 31 32 0 33 41 42 </u64values><u64values length=\"5\">43 0 " \
    "</u64values>"
#define LATENCY MATRIX("PU", "4", "6", "clotho.c2c_latency_ns", INDEXES4, VALUES4)
#define BANDWIDTH MATRIX("PU", "4", "10", "clotho.c2c_bandwidth_MBps", INDEXES4, VALUES4)
#define BEYOND(bytes) MATRIX("PU", "4", "10", "clotho.c2c_bandwidth_MBps." bytes, INDEXES4, VALUES4)
#define KINDS(key, low, high)                                     \
    "<cpukind cpuset=\"0x00000003\">" INFO(key, low) "</cpukind>" \
                                                     "<cpukind cpuset=\"0x0000000c\">" INFO(key, high) "</cpukind>"

#endif
