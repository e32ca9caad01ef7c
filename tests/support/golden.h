/* golden.h - compares a text with the stored one; hashes for its lines (FNV-1a). */
#ifndef CLO_TEST_GOLDEN_H
#define CLO_TEST_GOLDEN_H

#include "support.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

/* Compares `text` with the file tests/golden/`name`, or, with CLO_UPDATE_GOLDEN in the environment, stores it there;
 * releases it. */
static inline void is_golden(const char *name, clo_text *text)
{
    char path[512], *wanted;
    size_t bytes;

    assert_false(text->failed);
    snprintf(path, sizeof path, CLO_SOURCE "/tests/golden/%s", name);
    if (getenv("CLO_UPDATE_GOLDEN") != NULL) {
        ok(clo_file_write(path, text->data, text->bytes));
    } else {
        ok(clo_file_read(path, 1 << 22, &wanted, &bytes));
        size_t line = 1, i = 0;
        for (; i < bytes && i < text->bytes && wanted[i] == text->data[i]; i++)
            line += wanted[i] == '\n';
        if (i < bytes || i < text->bytes)
            fail_msg("%s differs from line %zu on, at: %.60s", path, line, text->data + i);
        free(wanted);
    }
    clo_text_free(text);
}

#define HASH_BEGIN 0xcbf29ce484222325u

static inline uint64_t add(uint64_t hash, uint64_t value)
{
    for (int i = 0; i < 8; i++, value >>= 8)
        hash = (hash ^ (value & 255)) * 0x100000001b3u;
    return hash;
}

static inline uint64_t hash_of_trace(const clo_trace *trace)
{
    uint64_t hash = HASH_BEGIN;
    size_t count;
    const clo_trace_event *e = clo_trace_events(trace, &count);

    for (size_t i = 0; i < count; i++) {
        hash = add(add(add(hash, e[i].task), e[i].instance), e[i].executor);
        hash = add(add(add(hash, e[i].is_replica), (uint64_t)e[i].start_ns), (uint64_t)e[i].finish_ns);
        hash = add(add(hash, (uint64_t)e[i].transfer_ns), e[i].sequence);
    }
    return hash;
}

#endif
