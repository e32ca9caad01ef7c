/* quick.c - the event that comes for every choice, "finish", read without a tree. What it does not take - other events,
 * other keys, anything that is wrong - is read as all lines are (say.c), which also says what is wrong. So this may be
 * narrow, but must never take what JSON or the protocol does not allow. */
#include "io/session/session.h"

#include <string.h>

/* A place in a line. `failed` latches. */
typedef struct scan {
    const char *at, *end;
    bool failed;
} scan;

static char peek(scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\r'))
        s->at++;
    return s->at < s->end ? *s->at : '\0';
}

static void take(scan *s, char wanted)
{
    if (peek(s) == wanted)
        s->at++;
    else
        s->failed = true;
}

/* A string without escapes; [*bytes] of the line. */
static const char *take_string(scan *s, size_t *bytes)
{
    take(s, '"');
    const char *first = s->at;
    while (s->at < s->end && ((*s->at >= 'a' && *s->at <= 'z') || *s->at == '_'))
        s->at++;
    *bytes = (size_t)(s->at - first);
    if (s->at == s->end || *s->at != '"')
        s->failed = true;
    else
        s->at++;
    return first;
}

/* At most fifteen digits: below 2^53. */
static int64_t take_number(scan *s)
{
    int64_t number = 0;
    int digits = 0;
    char first = peek(s);

    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9' && digits < 15; digits++)
        number = number * 10 + (*s->at++ - '0');
    if (digits == 0 || (first == '0' && digits > 1))
        s->failed = true;
    return number; /* what follows must be a comma or the end of the object */
}

enum { TIME, JOB, STAGE, INSTANCE, EXECUTOR, START, ARM, NUMBERS, NEEDED = START };

/* The number's key; NUMBERS: it is none. */
static int find(const char *key, size_t bytes)
{
    static const char *const keys[NUMBERS] = {"time_ns", "job", "stage", "instance", "executor", "start_ns", "arm"};
    int k = 0;

    while (k < NUMBERS && (strlen(keys[k]) != bytes || memcmp(keys[k], key, bytes) != 0))
        k++;
    return k;
}

static void take_member(scan *s, int64_t numbers[NUMBERS], bool *is_finish)
{
    size_t bytes = 0;
    const char *key = take_string(s, &bytes);

    take(s, ':');
    if (s->failed)
        return;
    if (bytes == 5 && memcmp(key, "event", 5) == 0) {
        const char *event = take_string(s, &bytes);
        s->failed = s->failed || *is_finish || bytes != 6 || memcmp(event, "finish", 6) != 0;
        *is_finish = true;
        return;
    }
    int which = find(key, bytes);
    if (which == NUMBERS || numbers[which] >= 0) {
        s->failed = true;
        return;
    }
    numbers[which] = take_number(s);
}

bool clo_session_read_finish(const char *line, size_t bytes, clo_service_report *report, int64_t *now_ns)
{
    int64_t numbers[NUMBERS] = {-1, -1, -1, -1, -1, -1, -1};
    bool is_finish = false;
    scan s = {.at = line, .end = line + bytes};

    take(&s, '{');
    while (!s.failed) { /* each round a member */
        take_member(&s, numbers, &is_finish);
        if (s.failed || peek(&s) != ',')
            break;
        s.at++;
    }
    take(&s, '}');
    if (s.failed || peek(&s) != '\0' || s.at != s.end || !is_finish)
        return false;
    for (int k = 0; k < NEEDED; k++)
        if (numbers[k] < 0)
            return false;
    for (int k = STAGE; k < NUMBERS; k++)
        if (k != START && numbers[k] >= UINT32_MAX)
            return false;
    report->job = (uint64_t)numbers[JOB];
    report->stage = (uint32_t)numbers[STAGE];
    report->instance = (uint32_t)numbers[INSTANCE];
    report->executor = (uint32_t)numbers[EXECUTOR];
    report->has_start = numbers[START] >= 0;
    report->start_ns = numbers[START];
    report->arm = (uint32_t)(numbers[ARM] + 1);
    *now_ns = numbers[TIME];
    return true;
}
