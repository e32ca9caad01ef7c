/* bad.h - a table of texts that must be refused, each with its status and its whole error line. */
#ifndef CLO_TEST_BAD_H
#define CLO_TEST_BAD_H

#include "support.h"

#include <string.h>

/* As error lines list them. */
#define FORMATS_READ                                                                                           \
    "clotho, wfformat, saga, cost-table, node-link, psplib, stg, tpch-packing, alibaba, tpch, rpc, workload, " \
    "alibaba-2017, dot"

typedef struct bad {
    const char *text;
    clo_status status;
    const char *error;
} bad;

static inline void refuse_each(const bad *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        clo_document *document = NULL;
        clo_status status = clo_document_parse("f", rows[i].text, strlen(rows[i].text), NULL, &document);

        if (status != rows[i].status || strcmp(clo_last_error(), rows[i].error) != 0)
            fail_msg("%s\n  gives    %d %s\n  not      %d %s", rows[i].text, status, clo_last_error(), rows[i].status,
                     rows[i].error);
        assert_null(document); /* untouched */
    }
}

#define REFUSE(rows) refuse_each(rows, sizeof(rows) / sizeof(rows)[0])

static inline clo_document *parsed(const char *text)
{
    clo_document *document;

    ok(clo_document_parse("f", text, strlen(text), NULL, &document));
    return document;
}

/* Cut anywhere or with any byte changed: no crash, no leak, and an error line where it fails. The address sanitizer
 * sees a read behind the end: each piece is a block of its own. */
static inline void handle_every_cut(const char *text)
{
    for (size_t bytes = 0; bytes <= strlen(text); bytes++) {
        char *piece = test_malloc(bytes > 0 ? bytes : 1);
        clo_document *d = NULL;
        memcpy(piece, text, bytes);
        clo_status status = clo_document_parse("f", piece, bytes, NULL, &d);
        assert_true((status == CLO_OK) == (clo_document_graph(d) != NULL));
        if (status != CLO_OK && strncmp(clo_last_error(), "f:", 2) != 0)
            fail_msg("%d %s", status, clo_last_error());
        clo_document_destroy(d);
        test_free(piece);
    }
}

static inline void handle_every_byte(const char *text)
{
    static const char bytes[] = "\0*#0129ae.-\x80 \n";
    size_t whole = strlen(text);
    char *copy = test_malloc(whole);

    memcpy(copy, text, whole);
    for (size_t at = 0; at < whole; at++) {
        for (size_t b = 0; b < sizeof bytes - 1; b++) {
            clo_document *d = NULL;
            copy[at] = bytes[b];
            clo_status status = clo_document_parse("f", copy, whole, NULL, &d);
            assert_true((status == CLO_OK) == (clo_document_graph(d) != NULL));
            if (status != CLO_OK && strncmp(clo_last_error(), "f:", 2) != 0)
                fail_msg("%d %s", status, clo_last_error());
            clo_document_destroy(d);
        }
        copy[at] = text[at];
    }
    test_free(copy);
}

static inline clo_task task_of(const clo_document *document, uint32_t id)
{
    clo_task task;

    ok(clo_graph_task(clo_document_graph(document), id, &task));
    return task;
}

static inline clo_edge edge_of(const clo_document *document, uint32_t index)
{
    clo_edge edge;

    ok(clo_graph_edge(clo_document_graph(document), index, &edge));
    return edge;
}

/* What fault_each calls: reads the text that `context` points to, a const char **. */
static inline clo_status parse_and_drop(void *context)
{
    const char *const *text = context;
    clo_document *d;
    clo_status status = clo_document_parse("f", *text, strlen(*text), NULL, &d);

    if (status == CLO_OK)
        clo_document_destroy(d);
    return status;
}

#endif
