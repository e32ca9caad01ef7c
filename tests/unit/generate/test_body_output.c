/* The bodies "spin" and "memory": their output depends on what it should and on nothing else, their time is the time
 * asked for. */
#include "support.h"

#include "base/clock.h"
#include "generate/body.h"
#include "generate/output.h"

#include <string.h>

/* A call with two inputs and an output of `bytes`. */
struct fixture {
    unsigned char first[100], second[37], output[1000];
    const void *inputs[3];
    size_t inputs_bytes[3];
    clo_call call;
};

static void fill(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    memset(f->first, 3, sizeof f->first);
    memset(f->second, 4, sizeof f->second);
    f->inputs[0] = f->first;
    f->inputs[2] = f->second;
    f->inputs_bytes[0] = sizeof f->first;
    f->inputs_bytes[2] = sizeof f->second;
    f->call = (clo_call){.task = 5,
                         .instance = 1,
                         .instances = 2,
                         .executor = 3,
                         .inputs_count = 3,
                         .inputs = f->inputs,
                         .inputs_bytes = f->inputs_bytes,
                         .output = f->output,
                         .output_bytes = 100};
}

/* The first 8 bytes of the output of `body`. */
static uint64_t head(clo_task_fn body, const struct fixture *f)
{
    uint64_t word;

    assert_int_equal(body(&f->call), 0);
    memcpy(&word, f->output, sizeof word);
    return word;
}

static void the_output_depends_on_task_instance_and_every_input_byte(void **state)
{
    (void)state;
    struct fixture f;
    uint64_t seen[110], count = 0;

    fill(&f);
    seen[count++] = head(clo_body_spin, &f);
    f.call.task = 6;
    seen[count++] = head(clo_body_spin, &f);
    f.call.task = 5;
    f.call.instance = 0;
    seen[count++] = head(clo_body_spin, &f);
    f.call.instance = 1;
    for (size_t i = 0; i < sizeof f.first; i++) {
        f.first[i] ^= 1;
        seen[count++] = head(clo_body_spin, &f);
        f.first[i] ^= 1;
    }
    f.second[36] ^= 0x80;
    seen[count++] = head(clo_body_spin, &f);
    f.inputs_bytes[2] = 36;
    seen[count++] = head(clo_body_spin, &f);
    for (uint64_t i = 0; i < count; i++)
        for (uint64_t k = 0; k < i; k++)
            assert_true(seen[i] != seen[k]);
}

static void outputs_are_the_same_on_every_machine(void **state)
{
    (void)state;
    static const uint64_t want[] = {0x7fd666f00b245afcu, 0x7fbbe8928b79ce7eu, 0x1001516b31e597c8u};
    struct fixture f;
    uint64_t words[3];

    fill(&f);
    for (size_t i = 0; i < sizeof f.first; i++)
        f.first[i] = (unsigned char)(7 * i);
    assert_int_equal(clo_body_spin(&f.call), 0);
    memcpy(words, f.output, 16);
    f.inputs_bytes[2] = 0;
    assert_int_equal(clo_body_memory(&f.call), 0);
    memcpy(&words[2], f.output + 88, 8);
    for (int i = 0; i < 3; i++)
        assert_int_equal(words[i], want[i]);
}

static void the_order_of_the_inputs_matters(void **state)
{
    (void)state;
    struct fixture f;

    fill(&f);
    uint64_t before = head(clo_body_spin, &f);
    f.inputs[0] = f.second;
    f.inputs_bytes[0] = sizeof f.second;
    f.inputs[2] = f.first;
    f.inputs_bytes[2] = sizeof f.first;
    assert_true(head(clo_body_spin, &f) != before);
}

static void executor_replica_time_and_body_do_not_matter(void **state)
{
    (void)state;
    struct fixture f;

    fill(&f);
    uint64_t want = head(clo_body_spin, &f);
    assert_true(want == 0x254679f2204d6c1eu); /* the same bytes on every machine */
    f.call.executor = 9;
    f.call.is_replica = 1;
    f.call.expected_ns = 20000;
    assert_true(head(clo_body_spin, &f) == want);
    assert_true(head(clo_body_memory, &f) == want);
}

static void the_whole_output_is_written_and_not_a_byte_more(void **state)
{
    (void)state;
    struct fixture f;

    for (size_t bytes = 0; bytes < 70; bytes++) {
        unsigned char other[1000];
        fill(&f);
        f.call.output_bytes = bytes;
        memset(f.output, 0xaa, sizeof f.output);
        assert_int_equal(clo_body_spin(&f.call), 0);
        memcpy(other, f.output, sizeof other);
        memset(f.output, 0x55, sizeof f.output);
        assert_int_equal(clo_body_spin(&f.call), 0);
        assert_memory_equal(f.output, other, bytes);
        for (size_t i = bytes; i < sizeof f.output; i++)
            assert_true(f.output[i] == 0x55 && other[i] == 0xaa);
    }
}

static void without_inputs_and_output_a_body_just_runs(void **state)
{
    (void)state;
    clo_call call = {.expected_ns = 1000};

    assert_int_equal(clo_body_spin(&call), 0);
    assert_int_equal(clo_body_memory(&call), 0);
}

static void a_body_lasts_at_least_as_long_as_expected(void **state)
{
    (void)state;
    clo_call call = {.expected_ns = 300000};
    int64_t start_ns = clo_clock_ns();

    assert_int_equal(clo_body_spin(&call), 0);
    assert_true(clo_clock_ns() - start_ns >= 300000);
    start_ns = clo_clock_ns();
    assert_int_equal(clo_body_memory(&call), 0);
    assert_true(clo_clock_ns() - start_ns >= 300000);
}

static int own_body(const clo_call *call)
{
    (void)call;
    return 0;
}

static void bodies_have_names(void **state)
{
    (void)state;
    assert_string_equal(clo_body_name(clo_body_spin), "spin");
    assert_string_equal(clo_body_name(clo_body_memory), "memory");
    assert_string_equal(clo_body_name(clo_body_command), "command");
    assert_null(clo_body_name(own_body));
    assert_null(clo_body_name(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_output_depends_on_task_instance_and_every_input_byte),
        cmocka_unit_test(outputs_are_the_same_on_every_machine),
        cmocka_unit_test(the_order_of_the_inputs_matters),
        cmocka_unit_test(executor_replica_time_and_body_do_not_matter),
        cmocka_unit_test(the_whole_output_is_written_and_not_a_byte_more),
        cmocka_unit_test(without_inputs_and_output_a_body_just_runs),
        cmocka_unit_test(a_body_lasts_at_least_as_long_as_expected),
        cmocka_unit_test(bodies_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
