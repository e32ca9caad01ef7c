/* Formats of others that are known but not read: refused by their names, with all formats that are read. */
#include "bad.h"
#include "io/text/formats.h"

#include <stdio.h>

static const struct {
    const char *text, *what;
} foreign[] = {
    {"graph [\n  directed 1\n node [ id 1 ] ]\n", "GML"},
    {"graph\n[\n  directed 1 ]\n", "GML"},
    {"Creator \"networkx\"\nVersion 1\ngraph [\n]\n", "GML"},
    {"# a comment\nCreator \"x\"\n\ngraph\n  [\n]\n", "GML"},
    {"<?xml version=\"1.0\"?>\n<!-- generated -->\n<adag xmlns=\"x\" jobCount=\"2\">\n</adag>\n", "DAX"},
    {"\xef\xbb\xbf<adag></adag>", "DAX"},
    {"<?xml version=\"1.0\"?><!DOCTYPE adag><adag/>", "DAX"},
    {"<graphml/>", "GraphML"},
    {"<gexf version=\"1.2\"/>", "GEXF"},
    {"<?xml version=\"1.0\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">", "--platform"},
    {"<svg/>", "XML"},
    {"<!--", "XML"},
    {"\n@HYPERPERIOD 300\n\n@COMMUN_QUANT 0 {\n}\n@TASK_GRAPH 0 {\n}\n", "TGFF"},
    {"# tgff 3.5\n@TASK_GRAPH 0 {\n\tPERIOD 300\n}\n", "TGFF"},
    {"32 4\n12 13 4 12\n\n0 0 0 0 0 3 2 3 4\n", "Patterson's format (.rcp)"},
    {"\n\n   32    4  \r\n", "Patterson's format (.rcp)"},
    {"10\t5\t0\t0\n0\t1\t3\t2\t3\t4\t[0]\t[0]\t[0]\n", "ProGen/max (.sch)"},
    {"****\njobs (incl. supersource/sink ):  3\n  - renewable : 2 R\n  - nonrenewable : 2 N\n  - doubly constrained : "
     "0 D\n",
     "PSPLIB .mm"},
    {"****\njobs (incl. supersource/sink ): 2\n- renewable : 0\n- nonrenewable : 0\n- doubly constrained : 0\n"
     "PRECEDENCE RELATIONS:\njobnr.\n1 3 1 2\n2 1 0\n****\nREQUESTS/DURATIONS:\nRESOURCEAVAILABILITIES:\nR\n\n",
     "PSPLIB .mm"},
    {"cwlVersion: v1.2\nclass: Workflow\nsteps: {}\n", "CWL"},
    {"#!/usr/bin/env cwl-runner\n\nclass: Workflow\ncwlVersion: v1.0\n", "CWL"},
    {"{\"cwlVersion\": \"v1.2\", \"class\": \"Workflow\", \"steps\": []}", "CWL"},
    {"{\"cwlVersion\": \"v1.2\", \"$graph\": []}", "CWL"},
    {"pegasus: \"5.0\"\nname: diamond\n", "Pegasus"},
    {"{\"directed\": true, \"multigraph\": false, \"graph\": [], \"nodes\": [], \"adjacency\": [[]]}", "adjacency"},
    {"{\"graph\": {\"nodes\": {}, \"edges\": []}}", "JSON Graph Format"},
    {"{\"data\": [], \"directed\": true, \"elements\": {\"nodes\": [], \"edges\": []}}", "Cytoscape"},
    {"ninja_required_version = 1.3\nrule cc\n  command = cc\nbuild a: cc b\n", "'clotho build'"},
};

/* Every format that clo_registry_entry lists as read. */
static void names_all_formats(const char *error)
{
    const char *list = strstr(error, "read: ");

    if (list == NULL)
        fail_msg("no list of formats in: %s", error);
    for (uint32_t i = 0;; i++) {
        clo_entry entry = CLO_ENTRY_INIT;
        if (!clo_registry_entry("formats", i, &entry))
            break;
        if (strchr(entry.directions, 'r') != NULL && strstr(list, entry.name) == NULL)
            fail_msg("%s is not named in: %s", entry.name, error);
    }
}

static void files_of_other_formats_are_refused_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        clo_document *d = NULL;
        clo_status status = clo_document_parse("f", foreign[i].text, strlen(foreign[i].text), NULL, &d);
        const char *error = clo_last_error();

        if (status != CLO_ERR_FORMAT || strncmp(error, "f:", 2) != 0 || strstr(error, foreign[i].what) == NULL)
            fail_msg("%s\n  gives %d %s\n  not   %s", foreign[i].text, status, error, foreign[i].what);
        assert_null(strchr(error, '\n'));
        names_all_formats(error);
    }
}

static void what_nobody_knows_is_refused_with_the_same_list(void **state)
{
    static const char *const texts[] = {"nonsense", "a b\nc d\n", "1 2 3\n", "1,5\n", "{\"a\": 1}", "graphs [", "@x"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        clo_document *d = NULL;
        assert_int_equal(clo_document_parse("f", texts[i], strlen(texts[i]), NULL, &d), CLO_ERR_FORMAT);
        names_all_formats(clo_last_error());
    }
}

/* Their words stand in files that are read too. */
static void nothing_that_is_read_is_taken_for_another_format(void **state)
{
    static const char *const texts[] = {
        "digraph graph_1 { a [label=\"cwlVersion: 1\"] }",
        "/*\n@TASK_GRAPH\nbuild x\n*/\ndigraph { a -> b }",
        "{\"format\": \"clotho.graph/1\", \"name\": \"\\n@TASK_GRAPH\", \"tasks\": [{}]}",
        "1\n0 0 0\n1 5 1 0\n2 0 1 1\n# build x\n@HYPERPERIOD\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        clo_document_destroy(parsed(texts[i]));
}

static void no_cut_and_no_byte_makes_it_crash(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        handle_every_cut(foreign[i].text);
        handle_every_byte(foreign[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_other_formats_are_refused_by_name),
        cmocka_unit_test(what_nobody_knows_is_refused_with_the_same_list),
        cmocka_unit_test(nothing_that_is_read_is_taken_for_another_format),
        cmocka_unit_test(no_cut_and_no_byte_makes_it_crash),
    };

    return cmocka_run_group_tests_name("io_foreign", tests, NULL, NULL);
}
