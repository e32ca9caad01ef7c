/* say.c - a line of the driver: which event is it, and what does it say? Each event is checked as a whole before
 * anything changes. */
#include "io/session/session.h"

#include "base/status.h"

#include <string.h>

/* An event as it was read. */
typedef struct event {
    clo_session *session;
    const clo_json *json;
    int64_t now_ns;
    clo_session_answer *answer;
} event;

static clo_status get_number(const event *e, const char *key, int64_t max, int64_t *out)
{
    const cJSON *item = NULL;
    clo_status status = clo_json_get(e->json, e->json->root, key, true, &item);

    return status == CLO_OK ? clo_json_integer(e->json, item, max, out) : status;
}

static clo_status carried_out(const event *e, clo_status status)
{
    if (status != CLO_OK)
        return status;
    clo_session_add_results(e->session);
    clo_session_add_ok(e->session, NULL, 0);
    return CLO_OK;
}

static clo_status arrive(const event *e)
{
    uint64_t number = 0;
    clo_status status = clo_session_arrive(e->session, e->json, e->now_ns, &number);

    if (status != CLO_OK)
        return status;
    clo_session_add_results(e->session);
    clo_session_add_ok(e->session, "job", number);
    return CLO_OK;
}

/* What a report says of the choice, and when it began. */
static clo_status read_report(const event *e, clo_service_report *report)
{
    int64_t job = 0, stage = 0, instance = 0, executor = 0, arm = -1;
    const cJSON *start = NULL, *item = NULL;
    clo_status status = get_number(e, "job", CLO_JSON_INTEGER_MAX, &job);

    if (status == CLO_OK)
        status = get_number(e, "stage", UINT32_MAX, &stage);
    if (status == CLO_OK)
        status = get_number(e, "instance", UINT32_MAX, &instance);
    if (status == CLO_OK)
        status = get_number(e, "executor", UINT32_MAX, &executor);
    if (status == CLO_OK)
        status = clo_json_get(e->json, e->json->root, "start_ns", false, &start);
    if (status == CLO_OK && start != NULL)
        status = clo_json_integer(e->json, start, CLO_JSON_INTEGER_MAX, &report->start_ns);
    if (status == CLO_OK)
        status = clo_json_get(e->json, e->json->root, "arm", false, &item);
    if (status == CLO_OK && item != NULL)
        status = clo_json_integer(e->json, item, UINT32_MAX - 1, &arm);
    report->job = (uint64_t)job;
    report->stage = (uint32_t)stage;
    report->instance = (uint32_t)instance;
    report->executor = (uint32_t)executor;
    report->has_start = start != NULL;
    report->arm = (uint32_t)(arm + 1);
    return status;
}

static clo_status report(const event *e, bool has_failed)
{
    clo_service_report said = CLO_SERVICE_REPORT_INIT;
    clo_status status = read_report(e, &said);

    said.has_failed = has_failed;
    return status == CLO_OK ? carried_out(e, clo_service_finish(e->session->service, &said, e->now_ns)) : status;
}

static clo_status finish(const event *e)
{
    return report(e, false);
}

static clo_status failed(const event *e)
{
    return report(e, true);
}

static clo_status cancel(const event *e)
{
    int64_t job = 0;
    clo_status status = get_number(e, "job", CLO_JSON_INTEGER_MAX, &job);

    return status == CLO_OK ? carried_out(e, clo_service_cancel(e->session->service, (uint64_t)job, e->now_ns))
                            : status;
}

/* All that are (not) lost, one after the other. */
static clo_status change_all(clo_session *s, bool loses, int64_t now_ns)
{
    clo_status status = clo_service_advance(s->service, now_ns);

    for (uint32_t k = 0; k < clo_platform_executors(s->platform) && status == CLO_OK; k++) {
        bool is_lost = false;
        clo_session_add_results(s);
        (void)clo_service_executor(s->service, k, NULL, &is_lost);
        if (is_lost != loses)
            status = loses ? clo_service_lose(s->service, k, now_ns) : clo_service_restore(s->service, k, now_ns);
    }
    return status;
}

static clo_status change(const event *e, bool loses)
{
    clo_service *service = e->session->service;
    const cJSON *item = NULL;
    int64_t executor = 0;
    clo_status status = clo_json_get(e->json, e->json->root, "executor", false, &item);

    if (status == CLO_OK && item == NULL)
        return carried_out(e, change_all(e->session, loses, e->now_ns));
    if (status == CLO_OK)
        status = clo_json_integer(e->json, item, UINT32_MAX, &executor);
    if (status != CLO_OK)
        return status;
    return carried_out(e, loses ? clo_service_lose(service, (uint32_t)executor, e->now_ns)
                                : clo_service_restore(service, (uint32_t)executor, e->now_ns));
}

static clo_status lost(const event *e)
{
    return change(e, true);
}

static clo_status back(const event *e)
{
    return change(e, false);
}

static clo_status heartbeat(const event *e)
{
    return carried_out(e, clo_service_advance(e->session->service, e->now_ns));
}

static clo_status state(const event *e)
{
    clo_session_add_state(e->session);
    return carried_out(e, CLO_OK);
}

static clo_status save(const event *e)
{
    if (e->session->log_path == NULL && e->session->workload_path == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "the service writes no files; start it with --log and --workload");
    return carried_out(e, clo_session_save(e->session));
}

static clo_status end(const event *e)
{
    e->answer->is_end = 1;
    return carried_out(e, CLO_OK);
}

#define KEYS_MAX 10

/* `is_timed`: time passes with it, so that it says when it happened. */
static const struct {
    const char *name;
    clo_status (*run)(const event *e);
    bool is_timed;
    const char *keys[KEYS_MAX];
} events[] = {
    {"finish", finish, true, {"event", "time_ns", "job", "stage", "instance", "executor", "start_ns", "arm", NULL}},
    {"arrive",
     arrive,
     true,
     {"event", "time_ns", "name", "graph", "deadline_ns", "weight", "band", "group", "limit", NULL}},
    {"failed", failed, true, {"event", "time_ns", "job", "stage", "instance", "executor", "start_ns", NULL}},
    {"cancel", cancel, true, {"event", "time_ns", "job", NULL}},
    {"lost", lost, true, {"event", "time_ns", "executor", NULL}},
    {"back", back, true, {"event", "time_ns", "executor", NULL}},
    {"heartbeat", heartbeat, true, {"event", "time_ns", NULL}},
    {"state", state, false, {"event", NULL}},
    {"save", save, false, {"event", NULL}},
    {"end", end, false, {"event", NULL}},
};

enum { EVENTS = sizeof events / sizeof events[0] };

/* Which event it is, with no keys but its own. */
static clo_status find_event(const clo_json *json, size_t *out)
{
    const char *name = NULL;

    if (!cJSON_IsObject(json->root))
        return clo_json_want(json, json->root, "an event {\"event\": ...}");
    clo_status status = clo_json_get_string(json, json->root, "event", &name);
    if (status != CLO_OK)
        return status;
    for (size_t i = 0; i < EVENTS; i++)
        if (strcmp(events[i].name, name) == 0) {
            *out = i;
            return clo_json_keys(json, json->root, events[i].keys);
        }
    return clo_json_want(json, cJSON_GetObjectItemCaseSensitive(json->root, "event"),
                         "arrive, finish, failed, cancel, lost, back, heartbeat, state, save or end");
}

/* Under the client's clock a heartbeat may leave the time out: then none passes. */
static clo_status read_time(const event *e, bool may_lack, int64_t *out)
{
    int64_t clock_ns = *out;
    const cJSON *item = NULL;
    bool is_real = e->session->is_real;
    clo_status status = clo_json_get(e->json, e->json->root, "time_ns", !is_real && !may_lack, &item);

    if (!is_real)
        *out = clo_service_now_ns(e->session->service);
    if (status == CLO_OK && item != NULL)
        status = clo_json_integer(e->json, item, CLO_JSON_INTEGER_MAX, out);
    if (status == CLO_OK && item != NULL && is_real && *out > clock_ns)
        return clo_json_fail(e->json, CLO_ERR_FORMAT, item,
                             "is %lld, from the future: the clock of the service is at %lld ns", (long long)*out,
                             (long long)clock_ns);
    return status;
}

static clo_status take_event(event *e)
{
    size_t which = 0;
    clo_status status = find_event(e->json, &which);

    if (status == CLO_OK && events[which].is_timed)
        status = read_time(e, events[which].run == heartbeat, &e->now_ns);
    return status == CLO_OK ? events[which].run(e) : status;
}

static void give(clo_session *s, clo_session_answer *mine, clo_session_answer *out)
{
    static const char failure[] = "{\"error\": \"out of memory for the answer; ask for the state\"}\n";

    mine->size = sizeof *mine;
    mine->text = s->text.failed ? failure : s->text.data != NULL ? s->text.data : "";
    mine->text_bytes = s->text.failed ? sizeof failure - 1 : s->text.bytes;
    clo_result_write(out, mine, sizeof *mine);
}

/* True: the line was a plain report, and *status says what became of it. */
static bool take_quickly(clo_session *s, const char *line, size_t bytes, clo_status *status)
{
    clo_service_report said = CLO_SERVICE_REPORT_INIT;
    int64_t now_ns = 0;

    if (s->is_real || !clo_session_read_finish(line, bytes, &said, &now_ns))
        return false;
    *status = clo_service_finish(s->service, &said, now_ns);
    if (*status == CLO_OK) {
        clo_session_add_results(s);
        clo_session_add_ok(s, NULL, 0);
    }
    return true;
}

/* The text keeps its memory from one answer to the next. */
static void begin_answer(clo_session *s)
{
    if (s->text.failed)
        clo_text_free(&s->text);
    s->text.failed = 0;
    s->text.bytes = 0;
}

static clo_status check_call(const clo_session *s, const char *call, const clo_session_answer *answer)
{
    if (s == NULL || answer == NULL)
        return clo_fail_null(call, "session or answer");
    return clo_result_check(answer, CLO_BYTES_UP_TO(clo_session_answer, is_end), "clo_session_answer");
}

static bool is_blank(const char *line, size_t bytes)
{
    size_t at = 0;

    while (at < bytes && (line[at] == ' ' || line[at] == '\t' || line[at] == '\r'))
        at++;
    return at == bytes;
}

/* A line that is not empty; see take_quickly for most of them. */
static clo_status take_line(clo_session *s, const char *line, size_t bytes, int64_t now_ns, clo_session_answer *mine)
{
    const clo_source source = {
        .name = "event", .text = line, .bytes = bytes, .lines_before = (size_t)s->line - 1, .is_line = true};
    clo_json json = {0};
    clo_status status;

    if (bytes > CLO_SESSION_LINE_MAX)
        return clo_fail(CLO_ERR_LIMIT, "the line is longer than %d bytes; it was not read", CLO_SESSION_LINE_MAX);
    if (take_quickly(s, line, bytes, &status))
        return status;
    status = clo_text_check(&source);
    if (status == CLO_OK)
        status = clo_json_open(&json, &source);
    if (status == CLO_OK)
        status = take_event(&(event){s, &json, now_ns, mine});
    clo_json_close(&json);
    return status;
}

clo_status clo_session_say(clo_session *s, const char *line, size_t bytes, int64_t now_ns, clo_session_answer *answer)
{
    clo_session_answer mine = CLO_SESSION_ANSWER_INIT;
    clo_status status = check_call(s, "clo_session_say", answer);

    if (status == CLO_OK && line == NULL)
        status = clo_fail_null("clo_session_say", "line");
    if (status != CLO_OK)
        return status;
    begin_answer(s);
    s->line++;
    if (is_blank(line, bytes))
        return give(s, &mine, answer), CLO_OK;
    status = take_line(s, line, bytes, now_ns, &mine);
    if (status != CLO_OK)
        clo_session_add_error(s);
    give(s, &mine, answer);
    return status;
}

clo_status clo_session_greet(clo_session *s, clo_session_answer *answer)
{
    clo_session_answer mine = CLO_SESSION_ANSWER_INIT;
    clo_status status = check_call(s, "clo_session_greet", answer);

    if (status != CLO_OK)
        return status;
    begin_answer(s);
    s->line = 0;
    clo_session_add_state(s);
    if (s->text.failed)
        return clo_fail_memory("the state of a session");
    give(s, &mine, answer);
    return CLO_OK;
}

/* Under the driver's clock no time passes by itself. */
static int64_t time_of(const clo_session *s, int64_t now_ns)
{
    int64_t last_ns = clo_service_now_ns(s->service);

    return s->is_real && now_ns > last_ns ? now_ns : last_ns;
}

clo_status clo_session_advance(clo_session *s, int64_t now_ns, clo_session_answer *answer)
{
    clo_session_answer mine = CLO_SESSION_ANSWER_INIT;
    clo_status status = check_call(s, "clo_session_advance", answer);

    if (status != CLO_OK)
        return status;
    begin_answer(s);
    status = clo_service_advance(s->service, time_of(s, now_ns));
    clo_session_add_results(s);
    give(s, &mine, answer);
    return status;
}

clo_status clo_session_lose_all(clo_session *s, int64_t now_ns, clo_session_answer *answer)
{
    clo_session_answer mine = CLO_SESSION_ANSWER_INIT;
    clo_status status = check_call(s, "clo_session_lose_all", answer);

    if (status != CLO_OK)
        return status;
    begin_answer(s);
    status = change_all(s, true, time_of(s, now_ns));
    clo_session_add_results(s);
    give(s, &mine, answer);
    return status;
}
