/* report.c - see report.h. */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE
#include "clotho/common/report.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define EXECUTOR_ROWS_MAX 64

/* A line of progress_over stands on the terminal. */
static atomic_bool is_progress_shown;

static bool is_ninja;

void report_speak_as_ninja(void)
{
    is_ninja = true;
}

bool report_is_ninja(void)
{
    return is_ninja;
}

const char *report_speaker(void)
{
    return is_ninja ? "ninja" : "clotho";
}

bool takes_escapes(int file)
{
    const char *terminal = getenv("TERM");

    return isatty(file) == 1 && terminal != NULL && terminal[0] != '\0' && strcmp(terminal, "dumb") != 0;
}

static const char *clear_line(void)
{
    return takes_escapes(STDERR_FILENO) ? "\r\x1b[K" : "";
}

void progress_clear(void)
{
    if (atomic_exchange_explicit(&is_progress_shown, false, memory_order_relaxed))
        fputs(clear_line(), stderr);
}

/* One line whatever the text holds: file names may contain line breaks, and more. */
static void print_line(const char *first, const char *place, const char *format, va_list arguments)
{
    char text[1024], line[2048];

    vsnprintf(text, sizeof text, format, arguments);
    int length = snprintf(line, sizeof line, "%s: %s%s%s%s", report_speaker(), first, place != NULL ? place : "",
                          place != NULL ? ": " : "", text);

    if (length < 0)
        return;
    char clean[sizeof line];
    fflush(stdout);
    progress_clear();
    fprintf(stderr, "%s\n", clo_printable(line, clean, sizeof clean));
}

int complain(const char *place, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_line(is_ninja ? "error: " : "", place, format, arguments);
    va_end(arguments);
    return EXIT_BAD_INPUT;
}

int misuse(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_line(is_ninja ? "error: " : "", NULL, format, arguments);
    va_end(arguments);
    return is_ninja ? EXIT_BAD_INPUT : EXIT_BAD_USAGE;
}

void note(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_line("note: ", NULL, format, arguments);
    va_end(arguments);
}

void warn(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_line("warning: ", NULL, format, arguments);
    va_end(arguments);
}

/* "clo_job_config.period_ns is 1" without the name of the struct, which only programmers know. */
static const char *without_struct(const char *text)
{
    static const char END[] = "_config.";
    const char *first = strstr(text, "clo_"), *end = first != NULL ? strstr(first, END) : NULL;
    static char plain[1024];

    if (end == NULL || memchr(first, ' ', (size_t)(end - first)) != NULL)
        return text;
    snprintf(plain, sizeof plain, "%.*s%s", (int)(first - text), text, end + sizeof END - 1);
    return plain;
}

int complain_status(const char *place, clo_status status)
{
    const char *text = without_struct(clo_last_error()), *missing = strerror(ENOENT);
    size_t bytes = strlen(text), ending = strlen(missing);
    bool says_only_that = bytes >= ending && strcmp(text + bytes - ending, missing) == 0;

    if (status == CLO_ERR_IO && says_only_that && place != NULL && access(place, F_OK) != 0)
        return complain(place, "%s; name a file that is there", missing);
    if (text[0] == '\0')
        text = clo_status_text(status);
    if (place != NULL && strncmp(text, place, strlen(place)) == 0)
        place = NULL;
    return complain(place, "%s", text);
}

void progress(void *context, const char *line)
{
    (void)context;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "%s%s\n", clear_line(), line);
}

void progress_over(const char *format, ...)
{
    static struct timespec last;
    struct timespec now;
    va_list arguments;

    clock_gettime(CLOCK_MONOTONIC, &now);
    double passed = (double)(now.tv_sec - last.tv_sec) + (double)(now.tv_nsec - last.tv_nsec) / 1e9;
    if (passed < 0.1 || !takes_escapes(STDERR_FILENO))
        return;
    last = now;
    fflush(stdout);
    atomic_store_explicit(&is_progress_shown, true, memory_order_relaxed);
    fputs(clear_line(), stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fflush(stderr);
}

const char *show_name(const char *name)
{
    static _Thread_local char buffers[4][4096];
    static _Thread_local unsigned turn;

    return clo_printable(name, buffers[turn++ % 4], sizeof buffers[0]);
}

static char *next_buffer(size_t *bytes)
{
    static _Thread_local char buffers[8][32];
    static _Thread_local unsigned turn;

    *bytes = sizeof buffers[0];
    return buffers[turn++ % 8];
}

const char *show_ns(int64_t ns)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    size_t bytes;
    char *text = next_buffer(&bytes);
    double size = fabs((double)ns);
    int i = 0;

    while (i < 3 && size < units[i].ns)
        i++;
    double value = (double)ns / units[i].ns;
    int decimals = i == 3 ? 0 : fabs(value) < 10 ? 3 : fabs(value) < 100 ? 2 : 1;
    snprintf(text, bytes, "%.*f %s", decimals, value, units[i].unit);
    return text;
}

/* In the largest unit of which it is one at least; each is `step` times the one before. */
static const char *show_scaled(double value, double step, const char *const *units, int last)
{
    size_t room;
    char *text = next_buffer(&room);
    int i = 0;

    while (i < last && value >= step) {
        value /= step;
        i++;
    }
    snprintf(text, room, "%.*f %s", i == 0 ? 0 : 1, value, units[i]);
    return text;
}

const char *show_bytes(uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};

    return show_scaled((double)bytes, 1024, units, 4);
}

const char *show_energy(int64_t nj)
{
    static const char *const units[] = {"nJ", "uJ", "mJ", "J"};

    return show_scaled((double)nj, 1000, units, 3);
}

const char *show_percent(double share)
{
    size_t bytes;
    char *text = next_buffer(&bytes);

    if (share != share) /* no number: a share of nothing */
        snprintf(text, bytes, "-");
    else
        snprintf(text, bytes, "%.1f %%", 100 * share);
    return text;
}

bool locale_has_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = NULL;

    for (size_t i = 0; i < sizeof variables / sizeof variables[0] && (locale == NULL || locale[0] == '\0'); i++)
        locale = getenv(variables[i]);
    const char *codeset = locale != NULL ? strchr(locale, '.') : NULL;
    return codeset != NULL && (strncasecmp(codeset, ".utf-8", 6) == 0 || strncasecmp(codeset, ".utf8", 5) == 0);
}

/* The ASCII for a character that drawings are made of; 0: it is none. */
static char plain_for(uint32_t character)
{
    static const struct {
        uint32_t character;
        char plain;
    } pairs[] = {
        {0xb5, 'u'},   {0xb7, '.'},   {0xd7, 'x'},   {0x2500, '-'}, {0x2502, '|'}, {0x2503, '!'}, {0x2588, '#'},
        {0x258c, ']'}, {0x2590, '['}, {0x2591, ':'}, {0x2592, '%'}, {0x2593, '='}, {0x25c6, '*'},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (pairs[i].character == character)
            return pairs[i].plain;
    if (character >= 0x2581 && character <= 0x2587) /* blocks of one to seven eighths */
        return (char)('1' + (character - 0x2581));
    return character > 0x2500 && character <= 0x257f ? '+' : 0; /* corners and crossings of boxes */
}

/* Of two or three bytes; 0: `text` begins with none of these. */
static uint32_t character_at(const char *text, size_t *bytes)
{
    const unsigned char *byte = (const unsigned char *)text;

    *bytes = byte[0] >= 0xe0 ? 3 : 2;
    if (byte[0] >= 0xc2 && byte[0] < 0xe0)
        return (byte[0] & 0x1fu) << 6 | (byte[1] & 0x3fu);
    if (byte[0] < 0xe0 || byte[0] >= 0xf0 || byte[1] == 0)
        return 0;
    return (byte[0] & 0x0fu) << 12 | (byte[1] & 0x3fu) << 6 | (byte[2] & 0x3fu);
}

void print_drawing(const char *text)
{
    bool is_plain = !locale_has_utf8();
    size_t bytes;

    while (*text != '\0') { /* every round passes a byte or a character */
        char plain = is_plain ? plain_for(character_at(text, &bytes)) : 0;
        putchar(plain != 0 ? plain : *text);
        text += plain != 0 ? bytes : 1;
    }
}

uint32_t terminal_columns(void)
{
    const char *variable = getenv("COLUMNS");
    struct winsize size = {0};
    long columns = 80;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        columns = size.ws_col;
    else if (variable != NULL)
        columns = strtol(variable, NULL, 10);
    return columns < 40 ? (columns <= 0 ? 80 : 40) : columns > 200 ? 200 : (uint32_t)columns;
}

/* Letters that are wrong, too many, missing, or swapped with their neighbour (optimal string alignment), large and small
 * ones alike; words longer than a name can be are "far". */
static size_t edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 40 };
    size_t rows[3][LONGEST + 1], la = strlen(a), lb = strlen(b); /* row i is rows[i % 3] */

    if (la > LONGEST || lb > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= lb; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= la; i++) {
        const size_t *above = rows[(i - 1) % 3], *twice = rows[(i + 1) % 3];
        size_t *row = rows[i % 3];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            size_t least = above[j - 1] + (x != y);
            least = above[j] + 1 < least ? above[j] + 1 : least;
            least = row[j - 1] + 1 < least ? row[j - 1] + 1 : least;
            bool is_swap =
                i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) && y == tolower((unsigned char)a[i - 2]);
            row[j] = is_swap && twice[j - 2] + 1 < least ? twice[j - 2] + 1 : least;
        }
    }
    return rows[la % 3][lb];
}

/* The one name that begins with the word, or with all of it but the last letter ("policy", "policies"); NULL: none or
 * several. */
static const char *begun_name(const char *word, const char *(*at)(uint32_t index))
{
    const char *found = NULL, *name;
    size_t letters = strlen(word), same = letters > 4 ? letters - 1 : letters;

    for (uint32_t i = 0; (name = at(i)) != NULL; i++) {
        if (strncasecmp(name, word, same) != 0)
            continue;
        if (found != NULL)
            return NULL;
        found = name;
    }
    return same > 2 ? found : NULL;
}

const char *nearest_name(const char *word, const char *(*at)(uint32_t index))
{
    enum { WRONG_MAX = 3 };
    const char *best = NULL, *name;
    size_t third = (strlen(word) + 1) / 3, limit = third < WRONG_MAX ? third : WRONG_MAX; /* more is no slip */
    size_t best_distance = limit + 1;

    for (uint32_t i = 0; (name = at(i)) != NULL; i++) {
        size_t distance = edit_distance(word, name);
        if (distance < best_distance) {
            best_distance = distance;
            best = name;
        }
    }
    const char *begun = best_distance > 1 ? begun_name(word, at) : NULL;
    return begun != NULL ? begun : best;
}

int report_flush(int code)
{
    errno = 0;
    int failed = ferror(stdout) != 0;
    failed |= fflush(stdout) != 0;
    if (failed)
        return complain("standard output", "%s; the report is not complete",
                        errno != 0 ? strerror(errno) : "cannot be written");
    return code;
}

const char *status_name(clo_status status)
{
    switch (status) {
#define X(name, value, text) \
    case CLO_##name:         \
        return "CLO_" #name;
        CLO_STATUS_LIST(X)
#undef X
    }
    return "?";
}

typedef struct executor_use {
    int64_t busy_ns;
    uint64_t executions, replicas;
} executor_use;

static void print_use(const clo_plan *plan, const clo_platform *platform, executor_use *use)
{
    uint32_t executors = clo_platform_executors(platform);
    int64_t makespan = clo_plan_makespan_ns(plan);
    size_t count;
    const clo_placement *placements = clo_plan_placements(plan, &count);

    for (size_t i = 0; i < count; i++) {
        executor_use *mine = &use[placements[i].executor];
        mine->busy_ns += placements[i].finish_ns - placements[i].start_ns;
        if (clo_plan_is_skipped(plan, placements[i].task))
            continue;
        mine->executions++;
        mine->replicas += placements[i].is_replica != 0;
    }
    printf("%-14s %-14s %9s %9s %12s %8s\n", "executor", "kind", "ran", "replicas", "busy", "use");
    for (uint32_t e = 0; e < executors && e < EXECUTOR_ROWS_MAX; e++)
        printf("%-14s %-14s %9" PRIu64 " %9" PRIu64 " %12s %8s\n", show_name(clo_platform_executor_name(platform, e)),
               show_name(clo_platform_kind_name(platform, clo_platform_executor(platform, e)->kind)), use[e].executions,
               use[e].replicas, show_ns(use[e].busy_ns),
               show_percent(makespan > 0 ? (double)use[e].busy_ns / (double)makespan : 0));
    if (executors > EXECUTOR_ROWS_MAX)
        printf("... and %u more executors\n", executors - EXECUTOR_ROWS_MAX);
}

int report_executors(const clo_plan *plan, const clo_platform *platform)
{
    executor_use *use = calloc(clo_platform_executors(platform), sizeof *use);

    if (use == NULL)
        return complain(NULL, "out of memory for the table of executors; free some and try again");
    print_use(plan, platform, use);
    free(use);
    return EXIT_GOOD;
}
