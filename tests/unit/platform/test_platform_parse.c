/* The small parts: numbers and sets as hwloc writes them, figures for people, the fit of a link. */
#include "support.h"

#include "platform/file/parse.h"
#include "platform/host/measure.h"
#include "platform/model/figures.h"

#include <stdlib.h>
#include <string.h>

static void a_number_is_digits_and_nothing_else(void **state)
{
    (void)state;
    uint64_t value = 7;
    static const char *const bad[] = {"", " 1", "1 ", "-1", "+1", "0x1", "1.5", "18446744073709551616", "1e3", "a"};

    assert_true(clo_parse_u64("0", 10, &value));
    assert_int_equal(value, 0);
    assert_true(clo_parse_u64("18446744073709551615", UINT64_MAX, &value));
    assert_true(value == UINT64_MAX);
    assert_true(clo_parse_u64("10", 10, &value));
    assert_false(clo_parse_u64("11", 10, &value));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(clo_parse_u64(bad[i], UINT64_MAX, &value));
}

static void minus_one_stands_for_unknown(void **state)
{
    (void)state;
    int64_t value = 0;

    assert_true(clo_parse_int("-1", 5, &value));
    assert_int_equal(value, -1);
    assert_true(clo_parse_int("5", 5, &value));
    assert_int_equal(value, 5);
    assert_false(clo_parse_int("-2", 5, &value));
    assert_false(clo_parse_int("6", 5, &value));
}

static void numbers_in_a_row_end_cleanly_or_are_malformed(void **state)
{
    (void)state;
    const char *text = " 1\n22 ";
    uint64_t value = 0;

    assert_int_equal(clo_parse_next_u64(&text, &value), 1);
    assert_int_equal(value, 1);
    assert_int_equal(clo_parse_next_u64(&text, &value), 1);
    assert_int_equal(value, 22);
    assert_int_equal(clo_parse_next_u64(&text, &value), 0);
    text = "1,2";
    assert_int_equal(clo_parse_next_u64(&text, &value), -1);
    text = "99999999999999999999";
    assert_int_equal(clo_parse_next_u64(&text, &value), -1);
}

static void a_set_is_words_highest_first(void **state)
{
    (void)state;
    clo_set *set = malloc(sizeof *set);

    assert_true(clo_parse_set("0x0000000f", set));
    assert_int_equal(clo_set_count(set), 4);
    assert_true(clo_set_has(set, 3));
    assert_false(clo_set_has(set, 4));
    assert_true(clo_parse_set("0x00000001,,0x80000000", set));
    assert_int_equal(clo_set_count(set), 2);
    assert_true(clo_set_has(set, 64));
    assert_true(clo_set_has(set, 31));
    assert_true(clo_parse_set("0x0", set));
    assert_int_equal(clo_set_count(set), 0);
    assert_true(clo_parse_set("0xf...f,0x3", set));
    assert_true(set->infinite);
    assert_int_equal(clo_set_count(set), 2);
    assert_true(clo_parse_set("0xf...f", set));
    assert_true(set->infinite);
    free(set);
}

static void a_malformed_or_too_large_set_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",     "f",      "0x",         "0xg",  "0x123456789", ",0x1", "0x1;0x2",
                                      "0x1 ", "0xf...", "0xf...f0x1", "-0x1", "0x1,0x",      "0x1,y"};
    clo_set *set = malloc(sizeof *set);
    char *many = malloc(3 * 2100);

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(clo_parse_set(bad[i], set));
    strcpy(many, "0x1");
    for (int i = 0; i < 2047; i++)
        strcat(many, ",");
    assert_false(clo_parse_set(many, set)); /* the last word is never empty */
    strcat(many, "0x0");
    assert_true(clo_parse_set(many, set)); /* bit 65504: the first of 2048 words */
    assert_true(clo_set_has(set, 65504));
    strcat(many, ",0x0");
    assert_false(clo_parse_set(many, set));
    free(many);
    free(set);
}

static void figures_are_short_and_rounded(void **state)
{
    (void)state;
    char out[CLO_FIGURE_BYTES];
    static const struct {
        int64_t ns;
        const char *text;
    } times[] = {{0, "0 ns"},        {999, "999 ns"},      {1000, "1 us"},    {1500, "1.50 us"}, {12500, "12.5 us"},
                 {171542, "172 us"}, {2257845, "2.26 ms"}, {9999, "10.0 us"}, {99960, "100 us"}, {3000000000, "3 s"}};

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        clo_figure_ns(times[i].ns, out);
        assert_string_equal(out, times[i].text);
    }
    clo_figure_bytes(512 << 10, out);
    assert_string_equal(out, "512K");
    clo_figure_bytes(3 << 20, out);
    assert_string_equal(out, "3M");
    clo_figure_bytes(100, out);
    assert_string_equal(out, "100B");
    clo_figure_bytes(4389548032, out);
    assert_string_equal(out, "4186M");
    clo_figure_rate(0, out);
    assert_string_equal(out, "unlimited");
    clo_figure_rate(1ull << 32, out); /* 1 ns a byte */
    assert_string_equal(out, "1 GB/s");
    clo_figure_rate((1ull << 32) * 2, out);
    assert_string_equal(out, "500 MB/s");
}

static void the_median_is_the_middle_of_the_sorted_values(void **state)
{
    (void)state;
    int64_t odd[] = {9, 1, 5}, one[] = {4};

    assert_int_equal(clo_measure_median(odd, 3), 5);
    assert_int_equal(odd[0], 1);
    assert_int_equal(odd[2], 9);
    assert_int_equal(clo_measure_median(one, 1), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_digits_and_nothing_else),
        cmocka_unit_test(minus_one_stands_for_unknown),
        cmocka_unit_test(numbers_in_a_row_end_cleanly_or_are_malformed),
        cmocka_unit_test(a_set_is_words_highest_first),
        cmocka_unit_test(a_malformed_or_too_large_set_is_refused),
        cmocka_unit_test(figures_are_short_and_rounded),
        cmocka_unit_test(the_median_is_the_middle_of_the_sorted_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
