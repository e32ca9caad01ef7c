/* status.c - see status.h. */
#define _DEFAULT_SOURCE
#include "clotho/build/status.h"
#include "clotho/common/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *status_unknown(const char *format)
{
    for (const char *at = format; (at = strchr(at, '%')) != NULL; at += 2)
        if (at[1] == '\0' || strchr("%strufocpe", at[1]) == NULL)
            return at;
    return NULL;
}

void status_begin(build_status *s, const char *format, uint32_t jobs, bool is_plain, int64_t now_ns)
{
    const char *forced = getenv("CLICOLOR_FORCE");

    *s = (build_status){.format = format != NULL ? format : "[%f/%t] ", .start_ns = now_ns};
    s->has_color = takes_escapes(STDOUT_FILENO);
    s->is_smart = s->has_color && !is_plain;
    if (!s->has_color)
        s->has_color = forced != NULL && strcmp(forced, "0") != 0;
    s->window = jobs < STATUS_RATES ? jobs : STATUS_RATES;
}

void status_ended(build_status *s, int64_t now_ns)
{
    s->ends_ns[s->ends++ % s->window] = now_ns;
}

static void add_rate(buffer *out, double steps, int64_t time_ns)
{
    if (time_ns > 0)
        buffer_add_format(out, "%.1f", steps / ((double)time_ns / 1e9));
    else
        buffer_add(out, "?", 1);
}

/* Steps a second over the last ones. */
static void add_current_rate(const build_status *s, buffer *out)
{
    uint32_t count = s->ends < s->window ? s->ends : s->window;
    int64_t first = count > 0 ? s->ends_ns[(s->ends - count) % s->window] : 0;

    add_rate(out, count, count > 0 ? s->ends_ns[(s->ends - 1) % s->window] - first : 0);
}

static void add_field(const build_status *s, char field, const build_counts *c, int64_t now_ns, buffer *out)
{
    switch (field) {
    case 's':
        buffer_add_format(out, "%u", c->started);
        break;
    case 't':
        buffer_add_format(out, "%u", c->steps);
        break;
    case 'r':
        buffer_add_format(out, "%u", c->running);
        break;
    case 'u':
        buffer_add_format(out, "%u", c->steps > c->started ? c->steps - c->started : 0);
        break;
    case 'f':
        buffer_add_format(out, "%u", c->finished);
        break;
    case 'o':
        add_rate(out, c->finished, now_ns - s->start_ns);
        break;
    case 'c':
        add_current_rate(s, out);
        break;
    case 'p':
        buffer_add_format(out, "%3u%%", c->steps > 0 ? (unsigned)(100ULL * c->finished / c->steps) : 100);
        break;
    case 'e':
        buffer_add_format(out, "%.3f", (double)(now_ns - s->start_ns) / 1e9);
        break;
    default:
        buffer_add(out, "%", 1);
        break;
    }
}

static void format_line(build_status *s, const build_counts *counts, int64_t now_ns, piece what)
{
    buffer_clear(&s->line);
    for (const char *at = s->format; *at != '\0'; at++) {
        if (*at == '%' && at[1] != '\0')
            add_field(s, *++at, counts, now_ns, &s->line);
        else
            buffer_add(&s->line, at, 1);
    }
    buffer_add(&s->line, what.at, what.bytes);
}

static void write_piece(piece text)
{
    if (text.bytes > 0)
        fwrite(text.at, 1, text.bytes, stdout);
}

/* Over the line where the cursor is: without its middle where it is wider than the terminal. */
static void write_over(build_status *s, piece line)
{
    struct winsize size = {0};
    const char *end = memchr(line.at != NULL ? line.at : "", '\n', line.bytes);
    size_t bytes = end != NULL ? (size_t)(end - line.at) : line.bytes;

    putchar('\r');
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && bytes > size.ws_col) {
        size_t kept = size.ws_col > 3 ? ((size_t)size.ws_col - 3) / 2 : 0;
        printf("%.*s%.*s%.*s", (int)kept, line.at, (int)size.ws_col, "...", (int)kept, line.at + bytes - kept);
    } else {
        write_piece((piece){line.at, bytes});
    }
    fputs("\033[K", stdout);
    fflush(stdout);
    s->is_on_line = true;
}

static void leave_line(build_status *s)
{
    if (s->is_on_line)
        putchar('\n');
    s->is_on_line = false;
}

void status_line(build_status *s, const build_counts *counts, piece what, int64_t now_ns, bool of_console)
{
    bool is_held = s->has_console && !of_console;

    format_line(s, counts, now_ns, what);
    if (s->is_smart) {
        if (!is_held)
            write_over(s, buffer_piece(&s->line));
        return;
    }
    buffer_add(&s->line, "\n", 1);
    if (is_held) {
        status_text(s, buffer_piece(&s->line), false);
        return;
    }
    write_piece(buffer_piece(&s->line)); /* as ninja has it: behind a text without a line end at once */
    fflush(stdout);
}

/* A piece of a text that is held, or stands on lines of its own; *has_begun: a piece of it was put out before. */
static void put(build_status *s, piece text, bool is_held, bool *has_begun)
{
    if (text.bytes == 0)
        return;
    if (is_held) {
        spool_add(&s->held, text.at, text.bytes);
        return;
    }
    if (!*has_begun)
        leave_line(s);
    *has_begun = true;
    write_piece(text);
    s->is_on_line = text.at[text.bytes - 1] != '\n';
}

void status_text(build_status *s, piece text, bool of_console)
{
    bool has_begun = false;

    put(s, text, s->has_console && !of_console, &has_begun);
    if (has_begun)
        fflush(stdout);
}

/* Where a text stands between pieces: outside, behind ESC, within what ESC [ begins and a letter ends. */
enum { PLAIN, BEHIND_ESCAPE, WITHIN_SEQUENCE };

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Takes out what begins with ESC [ and ends with a letter, and each ESC. Returns what is left of the bytes. */
static size_t strip(char *text, size_t bytes, int *state)
{
    size_t kept = 0;

    for (size_t i = 0; i < bytes; i++) {
        if (*state == WITHIN_SEQUENCE) {
            *state = is_letter(text[i]) ? PLAIN : WITHIN_SEQUENCE;
        } else if (*state == BEHIND_ESCAPE && text[i] == '[') {
            *state = WITHIN_SEQUENCE;
        } else if (text[i] == '\033') {
            *state = BEHIND_ESCAPE;
        } else {
            *state = PLAIN;
            text[kept++] = text[i];
        }
    }
    return kept;
}

static void put_spool(build_status *s, const spool *text, bool strips, bool is_held)
{
    char chunk[1 << 14];
    bool has_begun = false;
    int state = PLAIN;
    uint64_t at = 0;

    for (size_t got; (got = spool_read(text, at, chunk, sizeof chunk)) > 0; at += got)
        put(s, (piece){chunk, strips ? strip(chunk, got, &state) : got}, is_held, &has_begun);
    if (has_begun)
        fflush(stdout);
    if (at < spool_bytes(text))
        warn("%" PRIu64 " bytes of the output of a step cannot be read back; look at the disk", spool_bytes(text) - at);
}

void status_output(build_status *s, const spool *text)
{
    put_spool(s, text, !s->has_color, s->has_console);
}

void status_give_console(build_status *s)
{
    leave_line(s);
    fflush(stdout);
    s->has_console = true;
}

void status_take_console(build_status *s)
{
    if (!s->has_console)
        return;
    s->has_console = false;
    put_spool(s, &s->held, false, false);
    spool_clear(&s->held);
}

void status_end(build_status *s)
{
    status_take_console(s);
    leave_line(s);
    fflush(stdout);
    spool_free(&s->held);
    buffer_free(&s->line);
}
