/* answer.c - what a session says: one JSON object a line. */
#include "io/session/session.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_BYTES = 40, DIGITS = 20 /* of the largest number */ };

/* A label (of at most LABEL_BYTES) and a number >= 0: these are most of what is said, and printf would take longer than
 * the decision. */
static void add_number(clo_text *text, const char *label, uint64_t value)
{
    char both[LABEL_BYTES + DIGITS], digits[DIGITS];
    size_t at = DIGITS, length = strlen(label);

    assert(length <= LABEL_BYTES);
    do
        digits[--at] = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    memcpy(both, label, length);
    memcpy(both + length, digits + at, DIGITS - at);
    clo_text_add_bytes(text, both, length + DIGITS - at);
}

static void add_words(clo_text *text, const char *words)
{
    clo_text_add_bytes(text, words, strlen(words));
}

static void add_choice(clo_session *s, const clo_service_choice *choice)
{
    clo_text *text = &s->text;
    clo_task task;

    add_number(text, "{\"job\": ", choice->job);
    add_number(text, ", \"stage\": ", choice->stage);
    add_number(text, ", \"instance\": ", choice->instance);
    add_number(text, ", \"executor\": ", choice->executor);
    if (choice->job < s->jobs_count && clo_graph_task(s->jobs[choice->job].graph, choice->stage, &task) == CLO_OK &&
        task.name != NULL && task.name[0] != '\0') {
        add_words(text, ", \"task\": ");
        clo_text_add_json(text, task.name);
    }
    add_number(text, ", \"chosen_ns\": ", (uint64_t)choice->chosen_ns);
    add_number(text, ", \"data_ns\": ", (uint64_t)choice->data_ns);
    add_words(text, choice->is_replica != 0 ? ", \"replica\": true}" : "}");
}

void clo_session_add_results(clo_session *s)
{
    static const char *const how[] = {"ok", "cancelled", "failed"};
    clo_service_choice choice;
    clo_service_end end;

    while (clo_service_next(s->service, &choice)) {
        add_words(&s->text, "{\"choice\": ");
        add_choice(s, &choice);
        add_words(&s->text, "}\n");
    }
    while (clo_service_ended(s->service, &end)) {
        add_number(&s->text, "{\"ended\": {\"job\": ", end.job);
        add_words(&s->text, ", \"how\": \"");
        add_words(&s->text, how[end.how]);
        add_number(&s->text, "\", \"arrival_ns\": ", (uint64_t)end.arrival_ns);
        add_number(&s->text, ", \"end_ns\": ", (uint64_t)end.end_ns);
        add_words(&s->text, "}}\n");
    }
}

static void add_wake(clo_session *s)
{
    int64_t wake_ns = clo_service_wake_ns(s->service);

    if (wake_ns != CLO_TIME_NEVER)
        add_number(&s->text, ", \"wake_ns\": ", (uint64_t)wake_ns);
}

void clo_session_add_ok(clo_session *s, const char *key, uint64_t value)
{
    add_number(&s->text, "{\"ok\": ", s->line);
    if (key != NULL) {
        add_words(&s->text, ", \"");
        add_words(&s->text, key);
        add_number(&s->text, "\": ", value);
    }
    add_wake(s);
    add_words(&s->text, "}\n");
}

void clo_session_add_error(clo_session *s)
{
    char place[48];
    const char *why = clo_last_error();

    int length = snprintf(place, sizeof place, "event:%" PRIu64 ": ", s->line); /* the object says it by a key */
    if (strncmp(why, place, (size_t)length) == 0)
        why += length;
    clo_text_add(&s->text, "{\"error\": ");
    clo_text_add_json(&s->text, why);
    clo_text_add(&s->text, ", \"line\": %" PRIu64 "}\n", s->line);
}

static void add_live(clo_session *s)
{
    const char *comma = "";

    clo_text_add(&s->text, ", \"live\": [");
    for (uint64_t job = 0; job < clo_service_jobs(s->service); job++) {
        if (!clo_service_is_live(s->service, job))
            continue;
        clo_text_add(&s->text, "%s%" PRIu64, comma, job);
        comma = ", ";
    }
    clo_text_add(&s->text, "]");
}

static void add_executors(clo_session *s)
{
    uint32_t executors = clo_platform_executors(s->platform);
    const char *comma = "";
    clo_service_choice choice;
    bool is_lost = false;

    clo_text_add(&s->text, ", \"runs\": [");
    for (uint32_t e = 0; e < executors; e++) {
        if (clo_service_executor(s->service, e, &choice, NULL) != CLO_SERVICE_RUNS)
            continue;
        clo_text_add(&s->text, "%s", comma);
        add_choice(s, &choice);
        comma = ", ";
    }
    clo_text_add(&s->text, "], \"lost\": [");
    comma = "";
    for (uint32_t e = 0; e < executors; e++) {
        (void)clo_service_executor(s->service, e, NULL, &is_lost);
        if (is_lost)
            clo_text_add(&s->text, "%s%u", comma, e);
        comma = is_lost ? ", " : comma;
    }
    clo_text_add(&s->text, "]");
}

void clo_session_add_state(clo_session *s)
{
    clo_text_add(&s->text, "{\"state\": {\"format\": \"clotho.service/1\", \"clock\": \"%s\", \"policy\": ",
                 s->is_real ? "real" : "client");
    clo_text_add_json(&s->text, s->policy);
    clo_text_add(&s->text, ", \"executors\": %u, \"time_ns\": %" PRId64 ", \"jobs\": %" PRIu64,
                 clo_platform_executors(s->platform), clo_service_now_ns(s->service), clo_service_jobs(s->service));
    add_wake(s);
    add_live(s);
    add_executors(s);
    clo_text_add(&s->text, "}}\n");
}
