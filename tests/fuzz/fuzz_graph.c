/* fuzz_graph.c - graph files of every format: own JSON, WfFormat, SAGA, cost tables, DOT. */
#include "round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    clo_document d = {0};

    if (clo_document_parse("f", (const char *)data, bytes, NULL, &d) == CLO_OK) {
        PROMISE(clo_graph_is_sealed(d.graph) && d.format != NULL && d.unit_ns > 0);
        all_round_trips(&d);
    } else {
        PROMISE(d.graph == NULL && clo_last_error()[0] == 'f');
    }
    clo_document_destroy(&d);
    return 0;
}
