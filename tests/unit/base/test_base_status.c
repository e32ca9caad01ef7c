/* base/status.h: error lines, texts, versioned configs; and the fault injection itself. */
#include "support.h"

#include "base/memory.h"
#include "base/status.h"
#include "fault.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void every_status_has_a_text_of_its_own(void **state)
{
    (void)state;
    const char *texts[16];

    for (int s = 0; s < 16; s++) {
        texts[s] = clo_status_text((clo_status)-s);
        assert_string_not_equal(texts[s], "unknown status");
        for (int k = 0; k < s; k++)
            assert_string_not_equal(texts[s], texts[k]);
    }
    assert_string_equal(clo_status_text((clo_status)-16), "unknown status");
    assert_string_equal(clo_status_text((clo_status)1), "unknown status");
    assert_true(strchr(clo_version(), '.') != NULL);
}

static void an_error_is_one_line_of_at_most_511_bytes(void **state)
{
    (void)state;
    char long_text[1000];

    assert_int_equal(clo_fail(CLO_ERR_IO, "a\nb\tc%s", "\x1b[31m"), CLO_ERR_IO);
    assert_string_equal(clo_last_error(), "a\\x0ab\\x09c\\x1b[31m"); /* nothing that a terminal obeys */
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    assert_int_equal(clo_fail(CLO_ERR_IO, "%s", long_text), CLO_ERR_IO);
    assert_int_equal(strlen(clo_last_error()), 511);
}

static void a_failure_may_quote_the_last_one(void **state)
{
    (void)state;
    (void)clo_fail(CLO_ERR_IO, "inner");
    assert_int_equal(clo_fail(CLO_ERR_FORMAT, "outer: %s", clo_last_error()), CLO_ERR_FORMAT);
    assert_string_equal(clo_last_error(), "outer: inner");
    assert_int_equal(clo_fail_prefix(CLO_ERR_LIMIT, "file:3: "), CLO_ERR_LIMIT);
    assert_string_equal(clo_last_error(), "file:3: outer: inner");
    assert_int_equal(clo_fail_memory("a thing"), CLO_ERR_MEMORY);
    assert_string_equal(clo_last_error(), "out of memory for a thing");
}

static void *fail_elsewhere(void *seen)
{
    strcpy(seen, clo_last_error());
    (void)clo_fail(CLO_ERR_IO, "theirs");
    return NULL;
}

static void each_thread_has_its_own_error(void **state)
{
    (void)state;
    char seen[512] = "?";
    pthread_t thread;

    (void)clo_fail(CLO_ERR_IO, "mine");
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, seen), 0);
    pthread_join(thread, NULL);
    assert_string_equal(seen, "");
    assert_string_equal(clo_last_error(), "mine");
}

struct config {
    size_t size;
    uint64_t a, b;
};

static void a_config_is_read_from_older_and_newer_callers(void **state)
{
    (void)state;
    const struct config defaults = {.size = sizeof defaults, .a = 7, .b = 8};
    struct config mine = defaults, theirs = {.size = sizeof theirs, .a = 1, .b = 2};
    struct {
        struct config known;
        unsigned char tail[5];
    } newer = {.known = {.size = sizeof(struct config) + 5, .a = 3, .b = 4}};

    ok(clo_config_read(&mine, sizeof mine, NULL, "config"));
    assert_memory_equal(&mine, &defaults, sizeof mine);
    ok(clo_config_read(&mine, sizeof mine, &theirs, "config"));
    assert_int_equal(mine.a, 1);
    assert_int_equal(mine.b, 2);

    mine = defaults;
    theirs.size = offsetof(struct config, b); /* older: it does not know b */
    ok(clo_config_read(&mine, sizeof mine, &theirs, "config"));
    assert_int_equal(mine.a, 1);
    assert_int_equal(mine.b, 8);
    assert_int_equal(mine.size, sizeof mine);

    ok(clo_config_read(&mine, sizeof mine, &newer.known, "config"));
    assert_int_equal(mine.b, 4);
    assert_int_equal(mine.size, sizeof mine);
    newer.tail[4] = 1;
    mine = defaults;
    fails(CLO_ERR_ARGUMENT, "config uses a field", clo_config_read(&mine, sizeof mine, &newer.known, "config"));
    assert_memory_equal(&mine, &defaults, sizeof mine);
    theirs.size = 0; /* forgotten INIT */
    fails(CLO_ERR_ARGUMENT, "config.size is 0", clo_config_read(&mine, sizeof mine, &theirs, "config"));
}

/* `result` as a caller of an older, of this and of a newer release has it. */
static void a_result_fills_what_the_caller_has_room_for(void **state)
{
    (void)state;
    const size_t first = CLO_BYTES_UP_TO(struct config, a);
    const struct config mine = {.size = sizeof mine, .a = 1, .b = 2};
    struct config theirs = {.size = first, .a = 7, .b = 8};
    struct {
        struct config known;
        unsigned char tail[5];
    } newer;

    assert_int_equal(first, offsetof(struct config, b));
    ok(clo_result_check(NULL, first, "result"));
    clo_result_write(NULL, &mine, sizeof mine);
    ok(clo_result_check(&theirs, first, "result"));
    clo_result_write(&theirs, &mine, sizeof mine);
    assert_int_equal(theirs.size, first);
    assert_int_equal(theirs.a, 1);
    assert_int_equal(theirs.b, 8); /* beyond what an older caller has */

    memset(&newer, 0xaa, sizeof newer);
    newer.known.size = sizeof(struct config) + 3;
    ok(clo_result_check(&newer, first, "result"));
    clo_result_write(&newer, &mine, sizeof mine);
    assert_int_equal(newer.known.size, sizeof(struct config) + 3);
    assert_int_equal(newer.known.a, 1);
    assert_int_equal(newer.known.b, 2);
    assert_memory_equal(newer.tail, ((unsigned char[5]){0, 0, 0, 0xaa, 0xaa}), 5);
}

static void a_result_of_a_wrong_size_is_refused(void **state)
{
    (void)state;
    const size_t first = CLO_BYTES_UP_TO(struct config, a), wrong[] = {0, 1, first - 1, 4097, SIZE_MAX};
    struct config theirs = {.a = 7};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        theirs.size = wrong[i];
        fails(CLO_ERR_ARGUMENT, "result.size is ", clo_result_check(&theirs, first, "result"));
        fails(CLO_ERR_ARGUMENT, "initialise it with its ..._INIT", clo_result_check(&theirs, first, "result"));
    }
    theirs.size = 4096;
    ok(clo_result_check(&theirs, first, "result"));
}

static clo_status three_allocations(void *context)
{
    void *a = clo_allocate(1, 1), *b = a != NULL ? clo_allocate_aligned(1, 1) : NULL;
    char *c = b != NULL ? clo_duplicate("x") : NULL;
    clo_status status = c != NULL ? CLO_OK : clo_fail_memory("a test");

    ++*(int *)context;
    clo_free(a);
    clo_free(b);
    clo_free(c);
    return status;
}

static void faults_hit_each_allocation_once(void **state)
{
    (void)state;
    int runs = 0;

    assert_int_equal(fault_each(three_allocations, &runs), 3);
    assert_int_equal(runs, 4);
    fault_fail_nth(2);
    /* the test's own calls count too; volatile, or a compiler may leave them out */
    void *volatile first = malloc(8), *volatile second = malloc(8), *volatile third = malloc(8);
    int happened = fault_happened();
    fault_fail_nth(0);
    assert_non_null(first);
    assert_null(second);
    assert_non_null(third);
    assert_int_equal(happened, 1);
    assert_int_equal(fault_happened(), 0);
    free(first);
    free(third);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_text_of_its_own),
        cmocka_unit_test(an_error_is_one_line_of_at_most_511_bytes),
        cmocka_unit_test(a_failure_may_quote_the_last_one),
        cmocka_unit_test(each_thread_has_its_own_error),
        cmocka_unit_test(a_config_is_read_from_older_and_newer_callers),
        cmocka_unit_test(a_result_fills_what_the_caller_has_room_for),
        cmocka_unit_test(a_result_of_a_wrong_size_is_refused),
        cmocka_unit_test(faults_hit_each_allocation_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
