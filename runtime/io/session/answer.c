/* answer.c - what a session says: one JSON object a line. */
#include "io/session/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void add_choice(clo_session *s, const clo_service_choice *choice)
{
    clo_text *text = &s->text;
    clo_task task;

    clo_text_add(text, "{\"job\": %" PRIu64 ", \"stage\": %u, \"instance\": %u, \"executor\": %u", choice->job,
                 choice->stage, choice->instance, choice->executor);
    if (choice->job < s->jobs_count && clo_graph_task(s->jobs[choice->job].graph, choice->stage, &task) == CLO_OK &&
        task.name != NULL && task.name[0] != '\0') {
        clo_text_add(text, ", \"task\": ");
        clo_text_add_json(text, task.name);
    }
    clo_text_add(text, ", \"chosen_ns\": %" PRId64 ", \"data_ns\": %" PRId64 "%s}", choice->chosen_ns, choice->data_ns,
                 choice->is_replica != 0 ? ", \"replica\": true" : "");
}

void clo_session_add_results(clo_session *s)
{
    static const char *const how[] = {"ok", "cancelled", "failed"};
    clo_service_choice choice;
    clo_service_end end;

    while (clo_service_next(s->service, &choice)) {
        clo_text_add(&s->text, "{\"choice\": ");
        add_choice(s, &choice);
        clo_text_add(&s->text, "}\n");
    }
    while (clo_service_ended(s->service, &end))
        clo_text_add(&s->text,
                     "{\"ended\": {\"job\": %" PRIu64 ", \"how\": \"%s\", \"arrival_ns\": %" PRId64
                     ", \"end_ns\": %" PRId64 "}}\n",
                     end.job, how[end.how], end.arrival_ns, end.end_ns);
}

static void add_wake(clo_session *s)
{
    int64_t wake_ns = clo_service_wake_ns(s->service);

    if (wake_ns != CLO_TIME_NEVER)
        clo_text_add(&s->text, ", \"wake_ns\": %" PRId64, wake_ns);
}

void clo_session_add_ok(clo_session *s, const char *key, uint64_t value)
{
    clo_text_add(&s->text, "{\"ok\": %" PRIu64, s->line);
    if (key != NULL)
        clo_text_add(&s->text, ", \"%s\": %" PRIu64, key, value);
    add_wake(s);
    clo_text_add(&s->text, "}\n");
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
