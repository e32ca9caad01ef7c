/* The stand-in of a library built with -DCLOTHO_IO=OFF, in place of the module that is in the library. */
#include "io/cluster/cluster.h"
#include "io/text/parse.h"

clo_status clo_cluster_save_links(const char *from, const uint64_t *cut_bytes, uint32_t cuts_count,
                                  const clo_cluster_link *links, size_t links_count, const char *to);
const clo_platform *clo_cluster_machine(const clo_cluster *cluster, uint32_t machine);
uint32_t clo_cluster_first_executor(const clo_cluster *cluster, uint32_t machine);

#include "io/off/off.c"

#include "support.h"

#include <string.h>

static void every_call_says_that_files_are_not_built_in(void **state)
{
    clo_document *document = NULL;
    uint32_t count = 1;
    clo_documents *documents = NULL;
    clo_plan *plan = NULL;

    (void)state;
    fails(CLO_ERR_UNSUPPORTED, "clo_document_load: this library was built without files; build it with -DCLOTHO_IO=ON",
          clo_document_load("f", NULL, &document));
    fails(CLO_ERR_UNSUPPORTED, "clo_document_parse: ", clo_document_parse("f", "", 0, NULL, &document));
    fails(CLO_ERR_UNSUPPORTED, "clo_documents_open: ", clo_documents_open("f", NULL, &documents));
    fails(CLO_ERR_UNSUPPORTED, "clo_documents_parse: ", clo_documents_parse("f", "", 0, NULL, &documents));
    fails(CLO_ERR_UNSUPPORTED, "clo_documents_next: ", clo_documents_next(documents, &document));
    assert_int_equal(clo_documents_count(documents), 0);
    clo_documents_close(documents);
    fails(CLO_ERR_UNSUPPORTED, "clo_document_save: ", clo_document_save(document, NULL, "f"));
    fails(CLO_ERR_UNSUPPORTED, "clo_plan_save: ", clo_plan_save(NULL, NULL, "f"));
    fails(CLO_ERR_UNSUPPORTED, "clo_plan_load: ", clo_plan_load("f", NULL, &plan));
    fails(CLO_ERR_UNSUPPORTED, "clo_plan_parse: ", clo_plan_parse("f", "", 0, NULL, &plan));
    clo_workload *workload = NULL;
    fails(CLO_ERR_UNSUPPORTED, "clo_workload_load: ", clo_workload_load("f", NULL, &workload));
    fails(CLO_ERR_UNSUPPORTED, "clo_workload_parse: ", clo_workload_parse("f", "", 0, NULL, &workload));
    fails(CLO_ERR_UNSUPPORTED, "clo_workload_save: ", clo_workload_save(workload, "f"));
    assert_null(workload);
    assert_null(no_formats[0].name);
    assert_ptr_equal(clo_formats.rows, no_formats);
    assert_null(plan);
    fails(CLO_ERR_UNSUPPORTED, "clo_document_create: ", clo_document_create(NULL, NULL, &document));
    assert_null(document);
    clo_document_destroy(document);
    assert_null(clo_document_graph(document));
    assert_null(clo_document_platform(document));
    assert_null(clo_document_format(document));
    assert_null(clo_document_references(document, &count));
    assert_null(clo_document_note(document));
    assert_null(clo_workload_note(NULL));
    assert_int_equal(count, 0);
    assert_true(clo_document_unit_ns(document) == 0);
    assert_int_equal(clo_document_line(document), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_call_says_that_files_are_not_built_in)};

    return cmocka_run_group_tests_name("io_off", tests, NULL, NULL);
}
