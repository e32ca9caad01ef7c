/* bad.h - a table of texts that must be refused, each with its status and its whole error line. */
#ifndef CLO_TEST_BAD_H
#define CLO_TEST_BAD_H

#include "support.h"

#include <string.h>

typedef struct bad {
    const char *text;
    clo_status status;
    const char *error;
} bad;

static inline void refuse_each(const bad *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        clo_document document = {.unit_ns = -1};
        clo_status status = clo_document_parse("f", rows[i].text, strlen(rows[i].text), NULL, &document);

        if (status != rows[i].status || strcmp(clo_last_error(), rows[i].error) != 0)
            fail_msg("%s\n  gives    %d %s\n  not      %d %s", rows[i].text, status, clo_last_error(), rows[i].status,
                     rows[i].error);
        assert_null(document.graph); /* untouched */
        assert_true(document.unit_ns == -1);
    }
}

#define REFUSE(rows) refuse_each(rows, sizeof(rows) / sizeof(rows)[0])

static inline clo_document parsed(const char *text)
{
    clo_document document;

    ok(clo_document_parse("f", text, strlen(text), NULL, &document));
    return document;
}

static inline clo_task task_of(const clo_document *document, uint32_t id)
{
    clo_task task;

    ok(clo_graph_task(document->graph, id, &task));
    return task;
}

static inline clo_edge edge_of(const clo_document *document, uint32_t index)
{
    clo_edge edge;

    ok(clo_graph_edge(document->graph, index, &edge));
    return edge;
}

#endif
