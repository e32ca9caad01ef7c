/* What a reader takes grows with the file, not with its square: four times the file may take nine times as long, where
 * anything quadratic takes sixteen. Measured in the thread's own CPU time, so that other programs do not matter. */
#define _GNU_SOURCE
#include "support.h"

#include "base/text.h"
#include "platform/build/build.h"
#include "platform/file/topology.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef void (*writer)(clo_text *text, uint32_t size);

static void repeat(clo_text *text, uint32_t count, const char *with_number)
{
    for (uint32_t i = 0; i < count; i++) {
        char piece[200];
        snprintf(piece, sizeof piece, with_number, i); /* literals of this file */
        clo_text_add_bytes(text, piece, strlen(piece));
    }
}

static void kinds_of_executors(clo_text *text, uint32_t size)
{
    clo_text_add(text, "{\"format\": \"clotho.graph/1\", \"tasks\": [{\"work_ns\": 1}], "
                       "\"platform\": {\"executors\": 2, \"kinds\": [\"k\"");
    repeat(text, size, ", \"k%u\"");
    clo_text_add(text, "]}}");
}

/* Many nodes on the left, and on the right one that is mentioned many times. */
static void mentions_in_dot(clo_text *text, uint32_t size)
{
    clo_text_add(text, "digraph g {{");
    repeat(text, size, "a%u ");
    clo_text_add(text, "} -> {");
    for (uint32_t i = 0; i < size; i++)
        clo_text_add(text, "b ");
    clo_text_add(text, "}}");
}

static void begin_xml(clo_text *text)
{
    clo_text_add(text,
                 "<topology version=\"2.0\"><object type=\"Machine\" os_index=\"0\" cpuset=\"0x1\" gp_index=\"1\">"
                 "<info name=\"clotho.schema\" value=\"1\"/><info name=\"clotho.platform\" value=\"x\"/>");
}

#define XML_PU "<object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" gp_index=\"2\"/></object>"

/* Keys of our own, at most 1000, behind many that are not. */
static void infos_in_xml(clo_text *text, uint32_t size)
{
    begin_xml(text);
    repeat(text, 50 * size, "<info name=\"n%u\" value=\"1\"/>");
    repeat(text, size, "<info name=\"clotho.source.s%u\" value=\"1\"/>");
    clo_text_add(text, "<object type=\"NUMANode\" os_index=\"0\" gp_index=\"3\"/>" XML_PU "</topology>");
}

static void numa_nodes_in_xml(clo_text *text, uint32_t size)
{
    begin_xml(text);
    repeat(text, size, "<object type=\"NUMANode\" os_index=\"%u\"/>");
    clo_text_add(text, XML_PU "</topology>");
}

static void memory_values_in_xml(clo_text *text, uint32_t size)
{
    begin_xml(text);
    for (uint32_t n = 0; n < size; n++)
        clo_text_add(text, "<object type=\"NUMANode\" os_index=\"%u\" gp_index=\"%u\"/>", n, n + 10);
    clo_text_add(text, XML_PU "<memattr name=\"Latency\" flags=\"5\">");
    for (uint32_t n = 0; n < size; n++)
        clo_text_add(text, "<memattr_value target_obj_gp_index=\"%u\" initiator_cpuset=\"0x1\" value=\"5\"/>", n + 10);
    clo_text_add(text, "</memattr></topology>");
}

static int64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void read_graph(const clo_text *text)
{
    clo_document *document = NULL;

    if (clo_document_parse("file", text->data, text->bytes, NULL, &document) == CLO_OK)
        clo_document_destroy(document);
    else
        assert_non_null(strstr(clo_last_error(), "at most 65536")); /* kinds: read, then refused */
}

static void read_platform(const clo_text *text)
{
    clo_topology topology;
    clo_platform *platform;

    ok(clo_topology_read("file", text->data, text->bytes, &topology));
    ok(clo_topology_to_platform(&topology, &platform));
    clo_platform_destroy(platform);
    clo_topology_free(&topology);
}

static int64_t shortest_ns(const clo_text *text, void (*read)(const clo_text *text))
{
    int64_t best = INT64_MAX;

    for (int round = 0; round < 3; round++) {
        int64_t begin = cpu_ns();
        read(text);
        int64_t took = cpu_ns() - begin;
        best = took < best ? took : best;
    }
    return best;
}

static void scales(const char *what, writer write, void (*read)(const clo_text *text), uint32_t size)
{
    double ratio = 0;

    for (int attempt = 0; attempt < 30; attempt++) { /* caches of a busy machine: a square fails every time */
        clo_text small = {0}, large = {0};
        write(&small, size);
        write(&large, 4 * size);
        ratio = (double)shortest_ns(&large, read) / (double)shortest_ns(&small, read);
        clo_text_free(&small);
        clo_text_free(&large);
        if (ratio < 9)
            return;
    }
    fail_msg("%s: four times the file takes %.1f times as long", what, ratio);
}

static void readers_take_time_in_proportion_to_the_file(void **state)
{
    (void)state;
    /* What was touched once is kept: where a page fault is dear, files above the C library's threshold would pay for
     * fresh pages in each round, and smaller ones would not. */
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    scales("kinds of executors", kinds_of_executors, read_graph, 5000);
    scales("mentions in DOT", mentions_in_dot, read_graph, 5000);
    scales("infos in XML", infos_in_xml, read_platform, 200);
    scales("NUMA nodes in XML", numa_nodes_in_xml, read_platform, 15000);
    scales("values of memories in XML", memory_values_in_xml, read_platform, 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_take_time_in_proportion_to_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
