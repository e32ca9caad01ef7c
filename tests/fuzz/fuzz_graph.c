/* fuzz_graph.c - graph files of every format: own JSON, WfFormat, SAGA, cost tables, DOT, the data sets; with one
 * instance and with many. */
#include "graph/graph.h"
#include "io/text/parse.h"
#include "round_trip.h"

/* Every instance is good or has its error line, and there are as many as were counted. */
static void read_all(const char *text, size_t bytes)
{
    clo_documents *documents;
    clo_document *d = NULL;

    PROMISE(clo_documents_parse("f", text, bytes, NULL, &documents) == CLO_OK);
    for (size_t i = clo_documents_count(documents); i > 0; i--) {
        clo_status status = clo_documents_next(documents, &d);
        PROMISE((status == CLO_OK) == (clo_document_graph(d) != NULL));
        PROMISE(status == CLO_OK || (status != CLO_ERR_STATE && clo_last_error()[0] == 'f'));
        clo_document_destroy(d);
        d = NULL;
    }
    PROMISE(clo_documents_next(documents, &d) == CLO_ERR_STATE);
    clo_documents_close(documents);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    clo_document *d = NULL;

    if (clo_document_parse("f", (const char *)data, bytes, NULL, &d) == CLO_OK) {
        PROMISE(clo_document_graph(d)->sealed && clo_document_format(d) != NULL && clo_document_unit_ns(d) > 0);
        all_round_trips(d);
    } else {
        PROMISE(clo_document_graph(d) == NULL && clo_last_error()[0] == 'f');
    }
    clo_document_destroy(d);
    read_all((const char *)data, bytes);
    return 0;
}
