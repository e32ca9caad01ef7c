/* fuzz_session.c - lines of any bytes to a session. Where the first byte is no '{', each two bytes are an event of two
 * small graphs, mostly one that can be: so deep states are reached. Whatever is said, the log of the session replays
 * with every choice equal, and another service goes on from it. */
#define _GNU_SOURCE /* memmem */
#include "fuzz.h"
#include "io/session/session.h"

#include <string.h>

enum { EXECUTORS = 3, LINE_BYTES = 512, EVENTS_MAX = 4096 };

static const char chain[] =
    "{\"format\": \"clotho.graph/1\", \"tasks\": [{\"name\": \"a\", \"work_ns\": 5, \"duplicable\": "
    "true, \"output_bytes\": 9}, {\"name\": \"b\", \"work_ns\": 3, \"instances\": 4}], \"edges\": "
    "[{\"from\": 0, \"to\": 1, \"bytes\": 9}]}";
static const char choice[] =
    "{\"format\": \"clotho.graph/1\", \"tasks\": [{\"work_ns\": 2, \"arms\": 2}, {\"work_ns\": 4}, "
    "{\"work_ns\": 1, \"merge\": true}], \"edges\": [{\"from\": 0, \"to\": 1, \"arm\": 0}, "
    "{\"from\": 0, \"to\": 2, \"arm\": 1}, {\"from\": 1, \"to\": 2}]}";

static bool say(clo_session *s, const char *line, size_t bytes)
{
    clo_session_answer answer = CLO_SESSION_ANSWER_INIT;
    clo_status status = clo_session_say(s, line, bytes, 0, &answer);

    PROMISE(answer.text_bytes == 0 || answer.text[answer.text_bytes - 1] == '\n');
    PROMISE(answer.text_bytes == 0 ||
            (status == CLO_OK) == (memmem(answer.text, answer.text_bytes, "{\"ok\"", 5) != NULL));
    return answer.is_end != 0;
}

static void say_lines(clo_session *s, const char *text, size_t bytes)
{
    for (size_t at = 0, length; at < bytes; at += length + 1) {
        const char *end = memchr(text + at, '\n', bytes - at);
        length = end != NULL ? (size_t)(end - text) - at : bytes - at;
        if (say(s, text + at, length))
            return;
    }
}

/* A report of what runs on the executor, or of something near it. */
static int write_report(const clo_session *s, const char *event, uint32_t executor, uint8_t how, char *line)
{
    clo_service_choice c = {0};

    (void)clo_service_executor(s->service, executor, &c, NULL);
    int64_t now_ns = clo_service_now_ns(s->service) + how % 8;
    return snprintf(line, LINE_BYTES,
                    "{\"event\": \"%s\", \"time_ns\": %lld, \"job\": %llu, \"stage\": %u, \"instance\": %u, "
                    "\"executor\": %u%s}",
                    event, (long long)now_ns, (unsigned long long)c.job, c.stage, c.instance + (how == 77), executor,
                    how % 16 == 3 && event[1] == 'i' ? ", \"arm\": 1" : "");
}

static int write_event(const clo_session *s, uint8_t what, uint8_t how, char *line)
{
    long long now_ns = clo_service_now_ns(s->service) + how % 8;
    unsigned executor = what / 16 % EXECUTORS;

    switch (what % 16) {
    case 0:
        return snprintf(line, LINE_BYTES, "{\"event\": \"arrive\", \"time_ns\": %lld, \"graph\": %s, \"band\": %u}",
                        now_ns, how % 2 == 0 ? chain : choice, how / 64);
    case 1:
        return snprintf(line, LINE_BYTES, "{\"event\": \"arrive\", \"time_ns\": %lld, \"graph\": %u, \"weight\": %u}",
                        now_ns, how % 3, 1 + how / 8);
    case 2:
        return snprintf(line, LINE_BYTES, "{\"event\": \"cancel\", \"time_ns\": %lld, \"job\": %u}", now_ns, how % 32);
    case 3:
        return snprintf(line, LINE_BYTES, "{\"event\": \"lost\", \"time_ns\": %lld, \"executor\": %u}", now_ns,
                        executor);
    case 4:
    case 5:
        return snprintf(line, LINE_BYTES, "{\"event\": \"back\", \"time_ns\": %lld, \"executor\": %u}", now_ns,
                        executor);
    case 6:
        return snprintf(line, LINE_BYTES, "{\"event\": \"heartbeat\", \"time_ns\": %lld}", now_ns * (how % 4));
    case 7:
        return write_report(s, "failed", executor, how, line);
    default:
        return write_report(s, "finish", executor, how, line);
    }
}

static void say_events(clo_session *s, const uint8_t *data, size_t bytes)
{
    char line[LINE_BYTES];

    for (size_t at = 0; at + 1 < bytes && at < 2 * (size_t)EVENTS_MAX; at += 2) {
        int length = write_event(s, data[at], data[at + 1], line);
        PROMISE(length > 0 && length < LINE_BYTES);
        (void)say(s, line, (size_t)length);
    }
}

/* The log once more, and a service that goes on from it. */
static void judge(const clo_session *s, const clo_platform *platform, const clo_service_config *config)
{
    const clo_cost **costs = calloc(s->jobs_count + 1, sizeof *costs);
    clo_replay_config replay = CLO_REPLAY_CONFIG_INIT;
    clo_service_config theirs = *config;
    clo_service *again;
    clo_log *log;

    PROMISE(costs != NULL && clo_log_create(clo_log_about(s->log), 0, &log) == CLO_OK);
    PROMISE(s->jobs_count == clo_service_jobs(s->service) && s->jobs_count == clo_workload_jobs(s->workload));
    for (size_t k = 0; k < s->jobs_count; k++)
        costs[k] = s->jobs[k].cost;
    theirs.log = log;
    PROMISE(clo_service_create(platform, &theirs, &again) == CLO_OK);
    PROMISE(clo_service_restart(again, s->log, costs, s->jobs_count) == CLO_OK);
    clo_service_destroy(again);
    clo_service_end_log(s->service);
    replay.platform = platform;
    replay.costs = costs;
    replay.costs_count = s->jobs_count;
    PROMISE(clo_stream_replay(&replay, s->log, NULL) == CLO_OK);
    clo_log_destroy(log);
    free(costs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char *const policies[] = {"fifo", "deft", "fair", "auto"};
    const clo_log_policy policy = {.name = policies[bytes % 4]};
    clo_log_header header = CLO_LOG_HEADER_INIT;
    clo_session_config config = CLO_SESSION_CONFIG_INIT;
    clo_platform *platform;
    clo_session *session;
    clo_log *log;

    header.policies = &policy;
    header.policies_count = 1;
    config.service.size = sizeof config.service;
    config.service.policy = clo_policy_find(policy.name);
    config.service.jobs_max = 8;
    PROMISE(clo_platform_open("uniform:3", &platform) == CLO_OK && clo_log_create(&header, 0, &log) == CLO_OK);
    config.service.log = log;
    PROMISE(clo_session_create(platform, &config, &session) == CLO_OK);
    if (bytes > 0 && data[0] == '{')
        say_lines(session, (const char *)data, bytes);
    else
        say_events(session, data, bytes);
    judge(session, platform, &config.service);
    clo_session_destroy(session);
    clo_log_destroy(log);
    clo_platform_destroy(platform);
    return 0;
}
