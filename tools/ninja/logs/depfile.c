/* depfile.c - see depfile.h. Names are unescaped in place: they only become shorter. */
#include "ninja/logs/depfile.h"

#include <stdlib.h>
#include <string.h>

typedef struct reader {
    char *text;
    size_t bytes, in, out; /* what is read next, what is written next */
    bool at_line_end;
} reader;

static char look(const reader *r, size_t at)
{
    return at < r->bytes ? r->text[at] : '\0';
}

static void put(reader *r, char c)
{
    r->text[r->out++] = c;
}

/* One or more backslashes at r->in. False: the name ends here. */
static bool take_backslashes(reader *r)
{
    size_t count = 0;

    while (look(r, r->in + count) == '\\')
        count++;
    char next = look(r, r->in + count);
    r->in += count;
    if (next == ' ') { /* 2N + 1: N and a space; 2N: the name ends with 2N */
        size_t kept = count % 2 == 1 ? count / 2 : count;
        for (size_t i = 0; i < kept; i++)
            put(r, '\\');
        r->in++;
        if (count % 2 == 1)
            put(r, ' ');
        return count % 2 == 1;
    }
    char behind = look(r, r->in + 1);
    bool is_end = behind == '\0' || behind == ' ' || behind == '\r' || behind == '\n' || behind == '\t';
    bool is_escape = next == '#' || (next == ':' && !is_end);
    bool is_line_end = next == '\n' || (next == '\r' && behind == '\n');
    if (count == 1 && (is_line_end || next == '\r' || next == '\0')) { /* the line goes on, or the name ends */
        if (is_line_end)
            r->in += next == '\r' ? 2 : 1;
        return false;
    }
    for (size_t i = is_escape ? 1 : 0; i < count; i++)
        put(r, '\\');
    if (next == '\0' || next == '\r' || next == '\n')
        return true; /* looked at on its own */
    put(r, next);
    r->in++;
    return true;
}

/* Reads one name, maybe an empty one. */
static piece next_name(reader *r)
{
    size_t start = r->out = r->in;

    r->at_line_end = false;
    while (r->in < r->bytes) {
        char c = r->text[r->in];
        if (c == '\\') {
            if (!take_backslashes(r))
                break;
        } else if (c == '$' && look(r, r->in + 1) == '$') {
            put(r, '$');
            r->in += 2;
        } else if (c == '\n' || (c == '\r' && look(r, r->in + 1) == '\n')) {
            r->at_line_end = true;
            r->in += c == '\r' ? 2 : 1;
            break;
        } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c & 0x80) != 0 ||
                   (c != '\0' && strchr("+,/_:.~()}{%=@[]!-", c) != NULL)) {
            put(r, c);
            r->in++;
        } else {
            r->in++; /* a space, or what no name holds */
            break;
        }
    }
    return (piece){r->text + start, r->out - start};
}

static bool is_among(const piece *names, size_t count, piece name)
{
    for (size_t i = 0; i < count; i++)
        if (piece_equal(names[i], name))
            return true;
    return false;
}

static bool append(piece **names, size_t *count, size_t *capacity, piece name)
{
    piece *grown = array_grow(*names, capacity, *count + 1, sizeof *grown);

    if (grown == NULL)
        return false;
    *names = grown;
    (*names)[(*count)++] = name;
    return true;
}

const char *depfile_parse(depfile *d, char *text, size_t bytes)
{
    reader r = {0};
    bool is_left = true, has_target = false, is_rule_of_input = false;

    r.text = text;
    r.bytes = bytes;
    *d = (depfile){0};
    while (r.in < r.bytes) {
        piece name = next_name(&r);
        bool is_input = !is_left;
        if (name.bytes > 0 && name.at[name.bytes - 1] == ':') {
            name.bytes--;
            is_left = false;
            has_target = true;
        }
        bool is_known = name.bytes > 0 && is_among(d->inputs, d->inputs_count, name);
        if (name.bytes > 0 && !is_known) {
            if (is_input && is_rule_of_input)
                return "an input has inputs of its own";
            if (is_input ? !append(&d->inputs, &d->inputs_count, &d->inputs_capacity, name)
                         : !is_among(d->outputs, d->outputs_count, name) &&
                               !append(&d->outputs, &d->outputs_count, &d->outputs_capacity, name))
                return "there is no memory for it";
        }
        is_rule_of_input |= is_known && !is_input;
        if (r.at_line_end) {
            is_left = true;
            is_rule_of_input = false;
        }
    }
    return has_target ? NULL : "it has no ':'";
}

void depfile_free(depfile *d)
{
    free(d->outputs);
    free(d->inputs);
    *d = (depfile){0};
}
