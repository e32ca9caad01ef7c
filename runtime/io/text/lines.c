/* lines.c - see lines.h. */
#include "io/text/lines.h"

#include <assert.h>
#include <string.h>

clo_line clo_line_at(const char *text, size_t bytes, size_t at)
{
    assert(at < bytes);
    const char *found = memchr(text + at, '\n', bytes - at);
    size_t end = found != NULL ? (size_t)(found - text) : bytes;
    clo_line l = {.first = at, .end = end, .next = end + (found != NULL)};

    if (at == 0 && bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        l.first = 3;
    while (l.first < l.end && strchr(" \t\r", text[l.first]) != NULL)
        l.first++;
    while (l.first < l.end && strchr(" \t\r", text[l.end - 1]) != NULL)
        l.end--;
    return l;
}

bool clo_lines_next(clo_lines *lines, clo_source *out)
{
    while (lines->at < lines->bytes) { /* every round passes a line */
        clo_line l = clo_line_at(lines->text, lines->bytes, lines->at);
        size_t before = lines->passed++;
        lines->at = l.next;
        if (l.first >= l.end)
            continue;
        *out = (clo_source){.name = lines->name,
                            .text = lines->text + l.first,
                            .bytes = l.end - l.first,
                            .lines_before = before,
                            .is_line = true};
        return true;
    }
    return false;
}
