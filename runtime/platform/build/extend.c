/* extend.c - see extend.h. The accelerators of the file are written into the text of this machine, before its end: so that
 * one reader checks and numbers all of it. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "platform/build/extend.h"

#include "base/memory.h"
#include "base/status.h"
#include "platform/build/build.h"
#include "platform/build/native.h"
#include "platform/file/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* hwloc's own numbers of objects are small. */
#define FIRST_GP_INDEX 1000000000u

static void write_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    for (; *value != '\0'; value++)
        switch (*value) {
        case '"':
            fputs("&quot;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        default:
            fputc(*value, out);
        }
    fputc('"', out);
}

static void write_accelerator(FILE *out, const clo_xml *xml, uint32_t node, uint32_t number)
{
    fprintf(out, "<object type=\"Misc\" gp_index=\"%u\"", FIRST_GP_INDEX + number);
    write_attribute(out, "name", clo_xml_get(xml, node, "name"));
    fputc('>', out);
    for (uint32_t n = node + 1; n < xml->nodes[node].end; n = xml->nodes[n].end) {
        if (strcmp(clo_xml_name(xml, n), "info") != 0)
            continue;
        fputs("<info", out);
        write_attribute(out, "name", clo_xml_get(xml, n, "name"));
        write_attribute(out, "value", clo_xml_get(xml, n, "value"));
        fputs("/>", out);
    }
    fputs("</object>\n", out);
}

static clo_status check_accelerators(const clo_topology *t)
{
    if (t->accels_count == 0)
        return clo_fail(CLO_ERR_PLATFORM,
                        "%s: no accelerator to add: no Misc object accel:NAME; name a file that has one", t->xml.file);
    for (uint32_t a = 0; a < t->accels_count; a++) {
        uint32_t node = t->objects[t->accels[a]].node;
        if (clo_topology_info(t, node, "clotho.slots") == NULL && clo_topology_info(t, node, "clotho.depth") == NULL)
            return clo_xml_fail(&t->xml, node,
                                "%s has no clotho.slots; say how many of its bodies may be under way at once",
                                clo_xml_get(&t->xml, node, "name"));
    }
    return CLO_OK;
}

/* Where the Machine ends in the text of this machine: its last object. */
static const char *end_of_machine(const char *machine)
{
    static const char tag[] = "</object>";
    const char *end = NULL;

    for (const char *next = strstr(machine, tag); next != NULL; next = strstr(next + 1, tag))
        end = next;
    return end;
}

/* The text of this machine with the accelerators of `t`; release with free. */
static clo_status merge(const clo_topology *t, const char *machine, char **text, size_t *bytes)
{
    const char *end = end_of_machine(machine);
    FILE *out = end != NULL ? open_memstream(text, bytes) : NULL;

    if (out == NULL)
        return clo_fail_memory("a platform");
    fwrite(machine, 1, (size_t)(end - machine), out);
    for (uint32_t a = 0; a < t->accels_count; a++)
        write_accelerator(out, &t->xml, t->objects[t->accels[a]].node, a);
    fputs(end, out);
    bool failed = ferror(out) != 0;
    if (fclose(out) == 0 && !failed)
        return CLO_OK;
    free(*text);
    return clo_fail_memory("a platform");
}

static clo_status extend(const clo_topology *t, clo_platform **out)
{
    const char *own = clo_topology_info(t, t->objects[0].node, "clotho.platform");
    char name[300], *machine, *text;
    size_t bytes;

    snprintf(name, sizeof name, "native+%.200s", own != NULL ? own : t->xml.file);
    clo_status status = clo_native_text(name, &machine, &bytes);
    if (status != CLO_OK)
        return status;
    status = merge(t, machine, &text, &bytes);
    clo_free(machine);
    if (status != CLO_OK)
        return status;
    status = clo_platform_parse(name, text, bytes, out);
    free(text);
    return status;
}

clo_status clo_platform_extend_native(const char *file, const char *data, size_t bytes, clo_platform **out)
{
    clo_topology topology;
    clo_platform *alone; /* its errors name the file and the line */
    clo_status status = clo_topology_read(file, data, bytes, &topology);

    if (status != CLO_OK)
        return status;
    status = clo_topology_to_platform(&topology, &alone);
    if (status == CLO_OK) {
        clo_platform_destroy(alone);
        status = check_accelerators(&topology);
    }
    if (status == CLO_OK)
        status = extend(&topology, out);
    clo_topology_free(&topology);
    return status;
}
