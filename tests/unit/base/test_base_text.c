/* base/text.h: the growing string and its escapes. */
#include "support.h"

#include "base/memory.h"
#include "base/text.h"
#include "fault.h"

#include <string.h>

static void takes(clo_text *text, const char *want)
{
    char *got = NULL;

    ok(clo_text_take(text, &got));
    assert_string_equal(got, want);
    clo_free(got);
    assert_null(text->data);
    assert_int_equal(text->bytes, 0);
}

static void pieces_are_joined_over_many_growths(void **state)
{
    (void)state;
    clo_text text = {0};

    for (int i = 0; i < 5000; i++)
        clo_text_add(&text, "%04d,", i);
    assert_int_equal(text.bytes, 25000);
    assert_memory_equal(text.data + 5 * 4321, "4321,", 5);
    assert_int_equal(text.data[25000], '\0');
    clo_text_free(&text);
    assert_null(text.data);
}

static void an_empty_text_is_an_empty_string(void **state)
{
    (void)state;
    clo_text text = {0};

    takes(&text, "");
    clo_text_add_bytes(&text, "abc", 2);
    takes(&text, "ab");
}

static void json_strings_are_escaped_and_bad_utf8_replaced(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"", "\"\""},
        {"plain", "\"plain\""},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"tab\there\n", "\"tab\\u0009here\\u000a\""},
        {"\x7f\x1b", "\"\\u007f\\u001b\""},
        {"\xc2\x9b"
         "1m\xc2\xa0",
         "\"\\u009b1m\xc2\xa0\""}, /* a control sequence of one character */
        {"gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\""},
        {"\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\""},
        {"\xed\x9f\xbf \xee\x80\x80", "\"\xed\x9f\xbf \xee\x80\x80\""}, /* just outside the surrogates */
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},   /* a surrogate */
        {"\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                   /* overlong */
        {"\xe0\x9f\xbf", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* above U+10FFFF */
        {"a\xff", "\"a\xef\xbf\xbd\""},
        {"\xc3", "\"\xef\xbf\xbd\""}, /* cut at the end */
        {"\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        clo_text text = {0};
        clo_text_add_json(&text, rows[i][0]);
        takes(&text, rows[i][1]);
    }
}

static void xml_is_escaped_and_has_no_control_characters(void **state)
{
    (void)state;
    clo_text text = {0};

    clo_text_add_xml(&text, "<a b=\"c\">&'\xc3\xbc\x01\xff");
    takes(&text, "&lt;a b=&quot;c&quot;&gt;&amp;'\xc3\xbc\xef\xbf\xbd\xef\xbf\xbd");
    clo_text_add_xml(&text,
                     "\x1b\x7f\xc2\x9b\xef\xbf\xbe\xef\xbf\xbf"); /* U+FFFE and U+FFFF are no characters of XML */
    takes(&text, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

static void shows(const char *string, const char *want)
{
    clo_text text = {0};

    clo_text_add_visible(&text, string);
    takes(&text, want);
}

/* A name from a file must not command the terminal: no control characters, of one byte or two, and nothing that is not
 * UTF-8, which a terminal may take for a control character of 8 bits. */
static void what_a_terminal_sees_has_no_control_characters(void **state)
{
    (void)state;
    shows("gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80 \\x", "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80 \\x");
    shows("\x1b[31mred\x07\n\r\t\x7f", "\\x1b[31mred\\x07\\x0a\\x0d\\x09\\x7f");
    shows("\xc2\x9b"
          "31m\xc2\xa0",
          "\\xc2\\x9b31m\xc2\xa0");
    shows("\x9b"
          "31m\xc3",
          "\\x9b31m\\xc3");
}

/* The first failure latches: nothing is added after a gap. */
static void a_failed_append_latches(void **state)
{
    (void)state;
    clo_text text = {0};

    clo_text_add(&text, "abc");
    fault_fail_nth(1);
    clo_text_add(&text, "%200d", 1);
    fault_fail_nth(0);
    assert_int_equal(text.failed, 1);
    clo_text_add(&text, "def");
    assert_string_equal(text.data, "abc");
    char *out = (char *)&text;
    assert_int_equal(clo_text_take(&text, &out), CLO_ERR_MEMORY);
    assert_ptr_equal(out, &text);
    assert_null(text.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_joined_over_many_growths),
        cmocka_unit_test(an_empty_text_is_an_empty_string),
        cmocka_unit_test(json_strings_are_escaped_and_bad_utf8_replaced),
        cmocka_unit_test(xml_is_escaped_and_has_no_control_characters),
        cmocka_unit_test(what_a_terminal_sees_has_no_control_characters),
        cmocka_unit_test(a_failed_append_latches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
