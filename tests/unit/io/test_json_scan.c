#include "io/text/json_read.h"
#include "io/text/json_scan.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

static clo_source source_of(const char *name, const char *text)
{
    return (clo_source){.name = name, .text = text, .bytes = strlen(text)};
}

static clo_status scan(const char *text)
{
    clo_source source = source_of("f", text);

    return clo_json_scan(&source);
}

static clo_status check(const char *text, size_t bytes)
{
    return clo_text_check(&(clo_source){.name = "f", .text = text, .bytes = bytes});
}

static clo_status open_json(clo_json *json, const char *name, const char *text)
{
    clo_source source = source_of(name, text);

    return clo_json_open(json, &source);
}

static void what_is_json_passes(void **state)
{
    static const char *const good[] = {
        "0",
        "-0",
        "-0.5e-3",
        "1E+9",
        "12",
        "\"\"",
        "true",
        "false",
        "null",
        "[]",
        "{}",
        " [ ] ",
        "\t{\r\n}\n",
        "[1,2]",
        "{\"a\":1,\"b\":[{},[],null]}",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\"",
        "\"\\ud83d\\ude00\"",
        "\xef\xbb\xbf{}",
        ("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
         "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (scan(good[i]) != CLO_OK)
            fail_msg("%s: %s", good[i], clo_last_error());
}

static void what_is_not_json_is_refused_with_its_line(void **state)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"", "f:1: the file is empty; write JSON into it"},
        {"{\"a\": 1,\n", "f:2: the file ends too early; it is truncated"},
        {"[1 2]", "f:1: expected ',' or ']' here"},
        {"{\"a\": 1 \"b\": 2}", "f:1: expected ',' or '}' here"},
        {"[1,\n\n]", "f:3: a comma stands before this bracket; remove the comma, or add a value"},
        {"[1,\nNaN]", "f:2: JSON has no NaN, Infinity, True, False, None, comments or 'text'; write a number, true, "
                      "false, null or \"text\""},
        {"{\"a\":\nInfinity}", "f:2: JSON has no NaN, Infinity, True, False, None, comments or 'text'; write a number, "
                               "true, false, null or \"text\""},
        {"[True]", "f:1: JSON has no NaN, Infinity, True, False, None, comments or 'text'; write a number, true, "
                   "false, null or \"text\""},
        {"['a']", "f:1: JSON has no NaN, Infinity, True, False, None, comments or 'text'; write a number, true, false, "
                  "null or \"text\""},
        {"[1] // two", "f:1: more text after the end of the JSON value; remove it"},
        {"{\"a\": }", "f:1: expected a value here: an object, an array, a string, a number, true, false or null"},
        {"0x10", "f:1: malformed number; write it like -12, 0.5 or 1e9"},
        {"1_000", "f:1: malformed number; write it like -12, 0.5 or 1e9"},
        {"+1", "f:1: malformed number; write it like -12, 0.5 or 1e9"},
        {".5", "f:1: malformed number; write it like -12, 0.5 or 1e9"},
        {"{\"a\" 1}", "f:1: expected ':' after the key"},
        {"{\"a\": 1,}", "f:1: expected a key in double quotes here (no comma after the last one)"},
        {"{a: 1}", "f:1: expected a key in double quotes here (no comma after the last one)"},
        {"{}\n{}", "f:2: more text after the end of the JSON value; remove it"},
        {"[1}", "f:1: expected ',' or ']' here"},
        {"]", "f:1: expected a value here: an object, an array, a string, a number, true, false or null"},
        {"01", "f:1: malformed number; write it like -12, 0.5 or 1e9"},
        {"-", "f:1: malformed number; write it like -12, 0.5 or 1e9"},
        {"1.", "f:1: malformed number; write it like -12, 0.5 or 1e9"},
        {"1e", "f:1: malformed number; write it like -12, 0.5 or 1e9"},
        {"0.00000000000000000000000000000000000000000000000000000000000001",
         "f:1: a number of more than 62 characters; round it"},
        {"\n\"abc", "f:2: the file ends inside a string; it is truncated"},
        {"\"a\nb\"", "f:1: a string without its closing quote; end it on the same line"},
        {"\"a\tb\"", "f:1: a control character in a string; write it as \\uXXXX"},
        {"\"\\x\"", "f:1: unknown escape in a string; use \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\uXXXX"},
        {"\"\\u12g4\"", "f:1: unknown escape in a string; use \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\uXXXX"},
        {"\"\\u0000\"", "f:1: \\u0000 in a string; names cannot hold a zero character"},
        {"\"\\ud800\"", "f:1: half of a surrogate pair in a string; write both \\uXXXX or the character itself"},
        {"\"\\udc00\"", "f:1: half of a surrogate pair in a string; write both \\uXXXX or the character itself"},
        {"\"\\ud800\\u0041\"", "f:1: half of a surrogate pair in a string; write both \\uXXXX or the character itself"},
        {"tru", "f:1: expected a value here: an object, an array, a string, a number, true, false or null"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(scan(rows[i].text), CLO_ERR_FORMAT);
        assert_string_equal(clo_last_error(), rows[i].error);
    }
}

static void ten_million_open_brackets_are_one_clean_error(void **state)
{
    size_t bytes = 10000000;
    char *text = test_malloc(bytes);

    (void)state;
    memset(text, '[', bytes);
    assert_int_equal(clo_json_scan(&(clo_source){.name = "deep", .text = text, .bytes = bytes}), CLO_ERR_FORMAT);
    assert_string_equal(clo_last_error(), "deep:1: nested deeper than 64 levels; no format of ours does that");
    test_free(text);
}

static void bytes_that_are_not_utf8_are_refused(void **state)
{
    static const char *const good[] = {
        "", "plain", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf"};
    static const char *const wrong[] = {"\x80",
                                        "\xc0\x80",
                                        "\xc3",
                                        "\xe0\x80\x80",
                                        "\xe2\x82",
                                        "\xed\xa0\x80",
                                        "\xf0\x80\x80\x80",
                                        "\xf4\x90\x80\x80",
                                        "\xf5\x80\x80\x80",
                                        "\xff",
                                        "\xc3("};

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        ok(check(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        fails(CLO_ERR_FORMAT, "is not valid UTF-8; save the file as UTF-8", check(wrong[i], strlen(wrong[i])));
    fails(CLO_ERR_FORMAT, "f:2: byte 0xe4 is not valid UTF-8", check("a\n\xe4!", 4));
    fails(CLO_ERR_FORMAT, "f:2: a zero byte; this is not a text file", check("a\nb\0c", 5));
}

static void a_byte_order_mark_is_skipped_even_before_one_digit(void **state)
{
    clo_json json;

    (void)state;
    ok(open_json(&json, "f",
                 "\xef\xbb\xbf"
                 "7")); /* cJSON 1.7.15 alone refuses it */
    assert_true(json.root->valuedouble == 7);
    clo_json_close(&json);
}

static void a_value_is_found_on_its_line_by_its_ordinal(void **state)
{
    static const char text[] = "{ \"a\": [1,\n \"x:]\\\"\", true ],\n\"b\" :\n{}, \"c\": -1.5e3\n}";
    static const size_t lines[] = {1, 1, 1, 2, 2, 4, 4};

    (void)state;
    clo_source source = source_of("f", text);
    ok(scan(text));
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        assert_int_equal(clo_json_line(&source, i), lines[i]);
    source.lines_before = 7;
    assert_int_equal(clo_json_line(&source, 3), 9);
}

static void an_error_names_file_line_path_and_value(void **state)
{
    static const char text[] = "{\"tasks\": [\n{\"w\": 1},\n{\"w\": -3, \"deep\": {\"list\": [1, [2]]}}\n]}";
    clo_json json;
    int64_t value;

    (void)state;
    ok(open_json(&json, "g.json", text));
    const cJSON *second = cJSON_GetArrayItem(cJSON_GetObjectItem(json.root, "tasks"), 1);
    assert_int_equal(clo_json_integer(&json, cJSON_GetObjectItem(second, "w"), 9, &value), CLO_ERR_FORMAT);
    assert_string_equal(clo_last_error(), "g.json:3: tasks[1].w is -3; write a whole number >= 0");
    const cJSON *list = cJSON_GetObjectItem(cJSON_GetObjectItem(second, "deep"), "list");
    clo_json_want(&json, cJSON_GetArrayItem(list, 1), "peace");
    assert_string_equal(clo_last_error(), "g.json:3: tasks[1].deep.list[1] is an array; write peace");
    clo_json_want(&json, json.root, "less");
    assert_string_equal(clo_last_error(), "g.json:1: the file is an object; write less");
    clo_json_close(&json);
}

static void long_keys_and_values_are_cut_between_characters(void **state)
{
    static const char text[] =
        "{\"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
        "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
        "\xc3\xa4\xc3\xa4\": \"\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"
        "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"
        "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\"}";
    clo_json json;

    (void)state;
    ok(open_json(&json, "f", text));
    clo_json_want(&json, json.root->child, "less");
    ok(check(clo_last_error(), strlen(clo_last_error())));
    clo_json_close(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_json_passes),
        cmocka_unit_test(what_is_not_json_is_refused_with_its_line),
        cmocka_unit_test(ten_million_open_brackets_are_one_clean_error),
        cmocka_unit_test(bytes_that_are_not_utf8_are_refused),
        cmocka_unit_test(a_byte_order_mark_is_skipped_even_before_one_digit),
        cmocka_unit_test(a_value_is_found_on_its_line_by_its_ordinal),
        cmocka_unit_test(an_error_names_file_line_path_and_value),
        cmocka_unit_test(long_keys_and_values_are_cut_between_characters),
    };

    return cmocka_run_group_tests_name("json_scan", tests, NULL, NULL);
}
