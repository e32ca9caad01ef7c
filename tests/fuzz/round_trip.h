/* round_trip.h - what holds for every document that was read: own JSON keeps it whole, the other formats what they
 * can. */
#ifndef CLO_FUZZ_ROUND_TRIP_H
#define CLO_FUZZ_ROUND_TRIP_H

#include "base/memory.h"
#include "fuzz.h"
#include "io/text/reader.h"
#include "same.h"

/* False where own JSON cannot hold it (numbers above 2^53). */
static inline bool own_round_trip(const clo_document *d)
{
    clo_document *again;
    char *text;
    clo_status status = clo_document_print(d, "clotho", &text);

    if (status != CLO_OK) {
        PROMISE(status == CLO_ERR_UNSUPPORTED);
        return false;
    }
    PROMISE(clo_document_parse("again", text, strlen(text), NULL, &again) == CLO_OK);
    PROMISE(same_graph(clo_document_graph(d), clo_document_graph(again)));
    PROMISE(same_platform(clo_document_platform(d), clo_document_platform(again)));
    clo_free(text);
    clo_document_destroy(again);
    return true;
}

static inline void foreign_round_trip(const clo_document *d, const char *format)
{
    clo_document *again;
    char *text;
    clo_status status = clo_document_print(d, format, &text);

    if (status != CLO_OK) {
        PROMISE(status == CLO_ERR_UNSUPPORTED);
        return;
    }
    PROMISE(clo_document_parse("again", text, strlen(text), NULL, &again) == CLO_OK);
    PROMISE(clo_graph_tasks(clo_document_graph(again)) == clo_graph_tasks(clo_document_graph(d)));
    PROMISE(clo_graph_edges(clo_document_graph(again)) == clo_graph_edges(clo_document_graph(d)));
    PROMISE(same_control_flow(clo_document_graph(again), clo_document_graph(d)));
    clo_free(text);
    clo_document_destroy(again);
}

static inline void all_round_trips(const clo_document *d)
{
    static const char *const formats[] = {"dot", "wfformat", "saga"};

    if (!own_round_trip(d))
        return;
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++)
        foreign_round_trip(d, formats[f]);
}

#endif
