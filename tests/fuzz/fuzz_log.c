/* fuzz_log.c - log files, and the stream checker on whatever was read. A file of random bytes hardly ever has the right
 * hash, so the same bytes are taken as records too, eight for each, of two small jobs. */
#include "base/memory.h"
#include "fuzz.h"
#include "io/text/parse.h"
#include "io/workload/log_file.h"
#include "trace/log_kinds.h"

#include <string.h>

static const char graph[] =
    "{\"format\": \"clotho.graph/1\", \"resources\": [\"m\"], \"tasks\": [{\"name\": \"a\", \"work_ns\": 4, "
    "\"duplicable\": true}, {\"name\": \"b\", \"instances\": 3, \"work_ns\": 2, \"demand\": [2]}, {\"name\": \"c\", "
    "\"work_ns\": 1, \"times\": {\"k\": null, \"l\": 0}}], \"edges\": [{\"from\": 0, \"to\": 1, \"bytes\": 9}, "
    "{\"from\": 1, "
    "\"to\": 2, \"bytes\": 5}], \"platform\": {\"resources\": [\"m\"], \"machines\": [{\"m\": 3}], \"executors\": "
    "[{\"name\": \"x\", \"kind\": \"k\"}, {\"name\": \"y\", \"kind\": \"k\"}, {\"name\": \"z\", \"kind\": \"l\"}], "
    "\"latency_ns\": 1, \"bandwidth_bytes_per_ns\": 2}}";

static void judge(const clo_log *log, const clo_cost *cost)
{
    clo_stream_job jobs[] = {{.job = 0, .cost = cost, .arrival_ns = 1, .weight = 1, .limit = 2, .band = 1},
                             {.job = 1, .cost = cost, .deadline_ns = 5, .band = 0}};
    clo_stream_fault faults[4];
    uint32_t backlog[3];
    clo_stream_case stream = CLO_STREAM_CASE_INIT;
    clo_stream_report first = CLO_STREAM_REPORT_INIT, second = CLO_STREAM_REPORT_INIT;

    stream.platform = clo_cost_platform(cost);
    stream.jobs = jobs;
    stream.jobs_count = 2;
    stream.faults = faults;
    stream.faults_max = 4;
    stream.backlog = backlog;
    stream.backlog_count = 3;
    clo_status status = clo_stream_check(&stream, log, &first);
    if (status == CLO_ERR_STATE || status == CLO_ERR_ARGUMENT)
        return;
    PROMISE(status == (first.faults > 0 ? CLO_ERR_INVALID : CLO_OK));
    PROMISE(first.faults_told == (first.faults < 4 ? first.faults : 4));
    for (size_t i = 0; i < first.faults_told; i++)
        PROMISE(first.by_kind[faults[i].kind] > 0 && strlen(faults[i].text) > 4);
    PROMISE(clo_stream_check(&stream, log, &second) == status);
    PROMISE(memcmp(&first, &second, sizeof first) == 0);
}

static void round_trip(const clo_log *log)
{
    clo_text text = {0}, same = {0};
    clo_log *again = NULL;

    if (clo_log_print(log, &text) == CLO_OK) {
        PROMISE(clo_log_parse("again", text.data, text.bytes, &again) == CLO_OK);
        PROMISE(clo_log_first_difference(log, again, NULL, 0) == CLO_LOG_EQUAL);
        PROMISE(clo_log_print(again, &same) == CLO_OK);
        PROMISE(text.bytes == same.bytes && memcmp(text.data, same.data, text.bytes) == 0);
    }
    clo_text_free(&text);
    clo_text_free(&same);
    clo_log_destroy(again);
}

/* Small numbers mostly, and now and then the largest. */
static int64_t number(uint8_t byte)
{
    return byte == 255 ? INT64_MAX : byte == 254 ? INT64_MIN : (int64_t)byte - 3;
}

static clo_log *from_bytes(const uint8_t *data, size_t bytes)
{
    static const uint32_t kinds[] = {CLO_LOG_BEGIN,
                                     CLO_LOG_ARRIVE,
                                     CLO_LOG_FINISH,
                                     CLO_LOG_TIMER,
                                     CLO_LOG_CANCEL,
                                     CLO_LOG_SWAP,
                                     CLO_LOG_END,
                                     CLO_LOG_START,
                                     CLO_LOG_COMMIT,
                                     CLO_LOG_LIMIT,
                                     CLO_LOG_CAPACITY,
                                     CLO_LOG_DONE,
                                     CLO_LOG_WAKE,
                                     CLO_LOG_KEEP,
                                     CLO_LOG_ENTER,
                                     CLO_LOG_MORE,
                                     99};
    static const clo_log_policy policy = {"p", NULL};
    clo_log_header header = CLO_LOG_HEADER_INIT;
    clo_log *log;
    int64_t now_ns = 0;

    header.clock = bytes > 0 ? data[0] % 3 : 0;
    header.policies = &policy;
    header.policies_count = 1;
    PROMISE(clo_log_create(&header, 0, &log) == CLO_OK);
    for (size_t at = 1; at + 8 <= bytes; at += 8) {
        const uint8_t *b = &data[at];
        now_ns = b[6] >= 254 ? number(b[6]) : (int64_t)((uint64_t)now_ns + b[6]);
        clo_log_record record = {now_ns,   b[1] % 3, kinds[b[0] % (sizeof kinds / sizeof kinds[0])], b[2] % 4, b[3] % 4,
                                 b[4] % 4, 0};
        record.value = record.what == CLO_LOG_FINISH && b[7] < 128 ? (int64_t)((uint64_t)now_ns - b[7]) : number(b[7]);
        PROMISE(clo_log_append(log, &record));
    }
    return log;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    clo_document *d;
    clo_cost *cost;
    clo_log *log = NULL;

    PROMISE(clo_document_parse("graph", graph, sizeof graph - 1, NULL, &d) == CLO_OK);
    PROMISE(clo_cost_create(clo_document_graph(d), clo_document_platform(d), &cost) == CLO_OK);
    if (clo_log_parse("f", (const char *)data, bytes, &log) == CLO_OK) {
        round_trip(log);
        judge(log, cost);
    } else {
        PROMISE(log == NULL && clo_last_error()[0] == 'f');
    }
    clo_log_destroy(log);
    log = from_bytes(data, bytes);
    round_trip(log);
    judge(log, cost);
    clo_log_destroy(log);
    clo_cost_destroy(cost);
    clo_document_destroy(d);
    return 0;
}
