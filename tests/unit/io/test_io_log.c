/* test_io_log.c - log files: what is written reads back, and what was cut or changed is refused with one line. */
#define _POSIX_C_SOURCE 200809L
#include "base/memory.h"
#include "base/numbers/rng.h"
#include "fault.h"
#include "io/text/parse.h"
#include "io/workload/log_file.h"
#include "support.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const clo_log_policy policies[] = {{"fifo", NULL}, {"tu\"ned", "a\nb"}};

static clo_log *sample(void)
{
    clo_log_header header = CLO_LOG_HEADER_INIT;
    clo_log *log;

    header.platform = "rk3588";
    header.platform_hash = 0xfedcba9876543210;
    header.workload = "jobs.jsonl";
    header.workload_hash = 1;
    header.seed = UINT64_MAX;
    header.arrivals = "poisson:25";
    header.arrivals_seed = 42;
    header.jobs = 3;
    header.shuffled = 1;
    header.clock = CLO_CLOCK_VIRTUAL;
    header.executors = 8;
    header.policies = policies;
    header.policies_count = 2;
    header.run = CLO_LOG_RUN_REAL;
    header.jobs_max = 256;
    header.steps_max = 64;
    header.scale = 0.001;
    header.instance = "q5";
    ok(clo_log_create(&header, 0, &log));
    return log;
}

static const clo_log_record records[] = {
    {-5, CLO_LOG_NO_JOB, CLO_LOG_BEGIN, CLO_NONE, CLO_NONE, CLO_NONE, 0},
    {0, 0, CLO_LOG_ARRIVE, CLO_NONE, CLO_NONE, CLO_NONE, 0},
    {7, 0, CLO_LOG_START, 1, 0, 4, 1},
    {INT64_MAX, UINT64_MAX - 1, CLO_LOG_FINISH, UINT32_MAX - 1, UINT32_MAX - 1, 0, INT64_MIN},
    {INT64_MAX, CLO_LOG_NO_JOB, CLO_LOG_END, CLO_NONE, CLO_NONE, CLO_NONE, INT64_MAX},
};

static clo_log *filled(void)
{
    clo_log *log = sample();

    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++)
        assert_true(clo_log_append(log, &records[i]));
    return log;
}

static char *print(const clo_log *log)
{
    clo_text text = {0};
    char *data;

    ok(clo_log_print(log, &text));
    ok(clo_text_take(&text, &data));
    return data;
}

static const char golden[] =
    "{\"format\":\"clotho.log/1\",\"platform\":\"rk3588\",\"platform_hash\":\"fedcba9876543210\","
    "\"workload\":\"jobs.jsonl\",\"workload_hash\":\"0000000000000001\",\"seed\":\"18446744073709551615\","
    "\"arrivals_seed\":\"42\",\"arrivals\":\"poisson:25\",\"jobs\":3,\"shuffled\":true,\"run\":\"real\",\"jobs_max\":"
    "256,"
    "\"steps_max\":64,\"scale\":0.001,\"instance\":\"q5\",\"clock\":\"virtual\","
    "\"executors\":8,\"policies\":[{\"name\":\"fifo\"},{\"name\":\"tu\\\"ned\",\"argument\":\"a\\u000ab\"}]}\n"
    "[-5,\"begin\",null,null,null,null,0]\n"
    "[0,\"arrive\",0,null,null,null,0]\n"
    "[7,\"start\",0,1,0,4,1]\n"
    "[9223372036854775807,\"finish\",18446744073709551614,4294967294,4294967294,0,-9223372036854775808]\n"
    "[9223372036854775807,\"end\",null,null,null,null,9223372036854775807]\n";

static void a_log_is_written_as_documented(void **state)
{
    clo_log *log = filled();
    static const char tail[] = "{\"end\":true,\"records\":5,\"dropped\":\"0\",";
    char *text = print(log), end[200], before[sizeof golden + sizeof tail];

    (void)state;
    snprintf(before, sizeof before, "%s%s", golden, tail);
    snprintf(end, sizeof end, "%s\"hash\":\"%016llx\"}\n", tail,
             (unsigned long long)clo_log_hash(before, strlen(before)));
    if (strncmp(text, golden, sizeof golden - 1) != 0)
        fail_msg("%s", text);
    assert_string_equal(text + sizeof golden - 1, end);
    assert_true(clo_log_hash("a", 1) == 0xaf63dc4c8601ec8c); /* the published value of FNV-1a */
    clo_free(text);
    clo_log_destroy(log);
}

static void assert_same(const clo_log *a, const clo_log *b)
{
    const clo_log_header *x = clo_log_about(a), *y = clo_log_about(b);
    char *first = print(a), *second = print(b);

    assert_int_equal(clo_log_first_difference(a, b, NULL, 0), CLO_LOG_EQUAL);
    assert_int_equal(x->policies_count, y->policies_count);
    assert_int_equal(x->run, y->run);
    assert_true(x->scale == y->scale);
    assert_string_equal(first, second);
    clo_free(first);
    clo_free(second);
}

static void a_log_reads_back(void **state)
{
    char path[] = "/tmp/clotho_log_XXXXXX";
    clo_log *log = filled(), *again;
    int file = mkstemp(path);

    (void)state;
    assert_true(file >= 0);
    close(file);
    ok(clo_log_save(log, path));
    ok(clo_log_load(path, &again));
    unlink(path);
    assert_same(log, again);
    clo_log_destroy(again);
    fails(CLO_ERR_IO, path, clo_log_load(path, &again));
    clo_log_destroy(log);
}

static void random_logs_read_back(void **state)
{
    static const uint32_t kinds[] = {CLO_LOG_ARRIVE, CLO_LOG_START, CLO_LOG_COMMIT, CLO_LOG_REFUSED, CLO_LOG_CAPACITY};

    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        clo_rng rng = clo_rng_seed(seed);
        clo_log *log = sample(), *again;
        for (uint32_t i = clo_rng_below(&rng, 200); i > 0; i--) {
            uint32_t shift = clo_rng_below(&rng, 64);
            clo_log_record r = {(int64_t)(clo_rng_next(&rng) >> shift), clo_rng_next(&rng) >> shift,
                                kinds[clo_rng_below(&rng, 5)],          (uint32_t)(clo_rng_next(&rng) >> 32),
                                (uint32_t)(clo_rng_next(&rng) >> 40),   (uint32_t)(clo_rng_next(&rng) >> 32),
                                (int64_t)(clo_rng_next(&rng) << shift)};
            clo_log_append(log, &r);
        }
        char *text = print(log);
        ok(clo_log_parse("f", text, strlen(text), &again));
        assert_same(log, again);
        clo_free(text);
        clo_log_destroy(again);
        clo_log_destroy(log);
    }
}

static void a_log_that_dropped_says_so_after_reading(void **state)
{
    clo_log *log, *again;

    (void)state;
    ok(clo_log_create(NULL, 1, &log));
    clo_log_append(log, &records[0]);
    clo_log_append(log, &records[1]);
    char *text = print(log);
    ok(clo_log_parse("f", text, strlen(text), &again));
    assert_int_equal(clo_log_dropped(again), 1);
    assert_same(log, again);
    clo_free(text);
    clo_log_destroy(again);
    clo_log_destroy(log);
}

static void a_record_of_no_kind_is_not_written(void **state)
{
    clo_log *log = sample();
    clo_log_record odd = {.what = 99};

    (void)state;
    clo_log_append(log, &odd);
    fails(CLO_ERR_ARGUMENT, "a record is of kind 99", clo_log_save(log, "/tmp/clotho_never_written"));
    assert_int_equal(access("/tmp/clotho_never_written", F_OK), -1);
    clo_log_destroy(log);
}

#define HEAD "{\"format\":\"clotho.log/1\",\"clock\":\"real\",\"executors\":2,\"policies\":[]}\n"
#define AGAIN "; the log was cut or changed, write it again"

static const struct bad_log {
    const char *text;
    clo_status status;
    const char *error;
} bad_logs[] = {
    {"", CLO_ERR_FORMAT,
     "f:1: this is no log: its first line must begin with {\"format\":\"clotho.log/1\"; give a file that --log wrote"},
    {"{\"format\":\"clotho.plan/1\"}\n", CLO_ERR_FORMAT,
     "f:1: this is no log: its first line must begin with {\"format\":\"clotho.log/1\"; give a file that --log wrote"},
    {"{\"format\":\"clotho.log/1\"", CLO_ERR_FORMAT, "f:1: the line ends too early; it is truncated"},
    {"{\"format\":\"clotho.log/1\"}", CLO_ERR_FORMAT, "f:1: the line has no \"clock\"; add it"},
    {"{\"format\":\"clotho.log/1\",\"clock\":\"sun\",\"executors\":2,\"policies\":[]}\n", CLO_ERR_FORMAT,
     "f:1: clock is \"sun\"; write \"real\", \"padded\" or \"virtual\""},
    {"{\"format\":\"clotho.log/1\",\"clock\":\"real\",\"executors\":2,\"policies\":[],\"seed\":7}\n", CLO_ERR_FORMAT,
     "f:1: seed is 7; write a whole number of 64 bits in quotes"},
    {"{\"format\":\"clotho.log/1\",\"clock\":\"real\",\"executors\":2,\"policies\":[],"
     "\"seed\":\"18446744073709551616\"}\n",
     CLO_ERR_FORMAT, "f:1: seed is \"18446744073709551616\"; write a whole number of 64 bits in quotes"},
    {"{\"format\":\"clotho.log/1\",\"clock\":\"real\",\"executors\":2,\"policies\":[],\"platform_hash\":\"12\"}\n",
     CLO_ERR_FORMAT, "f:1: platform_hash is \"12\"; write 16 hexadecimal digits in quotes"},
    {"{\"format\":\"clotho.log/1\",\"clock\":\"real\",\"executors\":2,\"policies\":[{\"argument\":\"x\"}]}\n",
     CLO_ERR_FORMAT, "f:1: policies[0] has no \"name\"; add it"},
    {HEAD, CLO_ERR_FORMAT, "f:1: the log ends without its last line; the file was cut, write it again"},
    {HEAD "[1,\"timer\",null,null,null,null,0]\n", CLO_ERR_FORMAT,
     "f:2: the log ends without its last line; the file was cut, write it again"},
    {HEAD "[1,\"timer\",nu", CLO_ERR_FORMAT, "f:2: column 12 should be the job's number, or null" AGAIN},
    {HEAD "\n", CLO_ERR_FORMAT,
     "f:2: column 1 should be a record, [now,\"kind\",job,stage,instance,executor,value]" AGAIN},
    {HEAD "[1.5,\"timer\",null,null,null,null,0]\n", CLO_ERR_FORMAT, "f:2: column 3 should be a comma" AGAIN},
    {HEAD "[9223372036854775808,\"timer\",null,null,null,null,0]\n", CLO_ERR_FORMAT,
     "f:2: column 20 should be the time, a whole number of ns" AGAIN},
    {HEAD "[01,\"timer\",null,null,null,null,0]\n", CLO_ERR_FORMAT,
     "f:2: column 4 should be the time, a whole number of ns" AGAIN},
    {HEAD "[1,\"tim\",null,null,null,null,0]\n", CLO_ERR_FORMAT,
     "f:2: column 5 should be a known kind of record: docs/FORMATS.md lists them" AGAIN},
    {HEAD "[1,timer,null,null,null,null,0]\n", CLO_ERR_FORMAT, "f:2: column 4 should be the kind in quotes" AGAIN},
    {HEAD "[1,\"timer\",18446744073709551615,null,null,null,0]\n", CLO_ERR_FORMAT,
     "f:2: column 31 should be the job's number, or null" AGAIN},
    {HEAD "[1,\"timer\",null,4294967295,null,null,0]\n", CLO_ERR_FORMAT,
     "f:2: column 26 should be the stage's number, or null" AGAIN},
    {HEAD "[1,\"timer\",null,-1,null,null,0]\n", CLO_ERR_FORMAT,
     "f:2: column 17 should be the stage's number, or null" AGAIN},
    {HEAD "[1,\"timer\",null,null,null,null]\n", CLO_ERR_FORMAT, "f:2: column 31 should be a comma" AGAIN},
    {HEAD "[1,\"timer\",null,null,null,null,0,0]\n", CLO_ERR_FORMAT, "f:2: column 33 should be ]" AGAIN},
    {HEAD "[1,\"timer\",null,null,null,null,0],\n", CLO_ERR_FORMAT, "f:2: column 34 should be nothing" AGAIN},
    {HEAD "{\"end\":true,\"records\":1}\n", CLO_ERR_FORMAT,
     "f:2: the last line counts 1 records, 0 stand before it" AGAIN},
    {HEAD "{\"records\":0}\n", CLO_ERR_FORMAT,
     "f:2: the last line must be {\"end\":true,\"records\":N,...}; the log was changed, write it again"},
    {HEAD "{\"end\":true,\"records\":0}\n", CLO_ERR_FORMAT,
     "f:2: the hash does not agree with the lines before; the log was changed, write it again"},
    {HEAD "{\"end\":true,\"records\":0,\"more\":1}\n", CLO_ERR_FORMAT,
     "f:2: more is not a known key; correct or remove it"},
    {HEAD "{\"end\":true,\"records\":0,\"hash\":\"\xff\"}\n", CLO_ERR_FORMAT,
     "f:2: byte 0xff is not valid UTF-8; save the file as UTF-8"},
};

static void bad_logs_are_refused_with_one_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_logs / sizeof bad_logs[0]; i++) {
        const struct bad_log *bad = &bad_logs[i];
        clo_log *log = NULL;
        clo_status status = clo_log_parse("f", bad->text, strlen(bad->text), &log);
        if (status != bad->status || strcmp(clo_last_error(), bad->error) != 0)
            fail_msg("%s\n  gives    %d %s\n  not      %d %s", bad->text, status, clo_last_error(), bad->status,
                     bad->error);
        assert_null(log);
    }
}

static void something_behind_the_end_is_refused(void **state)
{
    clo_log *log = filled(), *none = NULL;
    char *text = print(log), longer[2048];

    (void)state;
    snprintf(longer, sizeof longer, "%s \n\n", text);
    ok(clo_log_parse("f", longer, strlen(longer), &none));
    clo_log_destroy(none);
    none = NULL;
    snprintf(longer, sizeof longer, "%s\nx\n", text);
    fails(CLO_ERR_FORMAT, "f:9: something stands behind the last line of the log; remove it",
          clo_log_parse("f", longer, strlen(longer), &none));
    assert_null(none);
    clo_free(text);
    clo_log_destroy(log);
}

/* Cut anywhere, or with any byte changed: refused, without a crash. Only the line break at the end may go. */
static void every_cut_and_every_changed_byte_is_noticed(void **state)
{
    clo_log *log = filled();
    char *text = print(log);
    size_t whole = strlen(text);

    (void)state;
    for (size_t bytes = 0; bytes + 1 < whole; bytes++) {
        char *piece = test_malloc(bytes > 0 ? bytes : 1);
        clo_log *none = NULL;
        memcpy(piece, text, bytes);
        fails(CLO_ERR_FORMAT, "f:", clo_log_parse("f", piece, bytes, &none));
        assert_null(none);
        test_free(piece);
    }
    for (size_t at = 0; at + 1 < whole; at++)
        for (unsigned b = 0; b < 256; b++) {
            clo_log *again = NULL;
            char kept = text[at];
            text[at] = (char)b;
            clo_status status = clo_log_parse("f", text, whole, &again);
            text[at] = kept;
            assert_true((status == CLO_OK) == (again != NULL));
            /* Between the words of the last line a blank may be another one; there is none here. */
            if (b != (unsigned char)kept && status == CLO_OK)
                fail_msg("byte %zu as 0x%02x is not noticed", at, b);
            clo_log_destroy(again);
        }
    clo_free(text);
    clo_log_destroy(log);
}

static clo_status write_and_read(void *context)
{
    clo_text text = {0};
    clo_log *again;
    char *data;
    clo_status status = clo_log_print(context, &text);

    if (status != CLO_OK || clo_text_take(&text, &data) != CLO_OK)
        return CLO_ERR_MEMORY;
    status = clo_log_parse("f", data, strlen(data), &again);
    clo_free(data);
    if (status == CLO_OK)
        clo_log_destroy(again);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    clo_log *log = filled();

    (void)state;
    assert_true(fault_each(write_and_read, log) > 5);
    clo_log_destroy(log);
}

static void logs_are_recognised_by_content(void **state)
{
    (void)state;
    assert_true(clo_log_is_log(HEAD, sizeof HEAD - 1));
    assert_true(clo_log_is_log("  { \"format\" :\t\"clotho.log/1\"", 29));
    assert_false(clo_log_is_log("{\"format\":\"clotho.log/2\"", 24));
    assert_false(clo_log_is_log("{\"format\":\"clotho.log/1", 22));
    assert_false(clo_log_is_log("", 0));
    assert_false(clo_log_is_log(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_log_is_written_as_documented),
                                       cmocka_unit_test(a_log_reads_back),
                                       cmocka_unit_test(random_logs_read_back),
                                       cmocka_unit_test(a_log_that_dropped_says_so_after_reading),
                                       cmocka_unit_test(a_record_of_no_kind_is_not_written),
                                       cmocka_unit_test(bad_logs_are_refused_with_one_line),
                                       cmocka_unit_test(something_behind_the_end_is_refused),
                                       cmocka_unit_test(every_cut_and_every_changed_byte_is_noticed),
                                       cmocka_unit_test(every_allocation_may_fail),
                                       cmocka_unit_test(logs_are_recognised_by_content)};

    return cmocka_run_group_tests_name("io_log", tests, NULL, NULL);
}
