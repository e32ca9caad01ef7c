/* golden.h - compares a text with the stored one. */
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
            fail_msg("%s differs from line %zu on", path, line);
        free(wanted);
    }
    clo_text_free(text);
}

#endif
