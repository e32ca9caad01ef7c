/* Broken platform files: whatever is done to a shipped file, reading it ends in a clean error or in a whole
 * platform. hwloc's own reader crashed on 8 of 600 such files. */
#include "sample.h"
#include "support.h"

#include "base/numbers/rng.h"
#include "base/text.h"
#include "platform/build/build.h"
#include "platform/model/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"rk3588", "zcu102", "jetson-tx2"};

static char *read_shipped(const char *name, size_t *bytes)
{
    char path[512], *text;

    snprintf(path, sizeof path, CLO_SOURCE "/platforms/%s.xml", name);
    ok(clo_file_read(path, 1 << 20, &text, bytes));
    return text;
}

/* Returns 1 for a platform, 0 for an error line. */
static int try(const char *text, size_t bytes)
{
    clo_platform *p = NULL;
    char *described;
    clo_status status = clo_platform_parse("m.xml", text, bytes, &p);

    if (status != CLO_OK) {
        assert_true(status == CLO_ERR_FORMAT || status == CLO_ERR_LIMIT);
        assert_null(p);
        assert_memory_equal(clo_last_error(), "m.xml:", 6);
        return 0;
    }
    assert_false(clo_platform_is_native(p));
    assert_true(clo_platform_executors(p) > 0);
    for (uint32_t e = 0; e < clo_platform_executors(p); e++) {
        const clo_executor *x = clo_platform_executor(p, e);
        assert_int_equal(x->os_index, -1);
        assert_true(x->memory < clo_platform_memories(p));
        assert_true(x->kind < clo_platform_kinds(p));
        for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++)
            assert_true(x->speed_q16[c] > 0);
        for (uint32_t to = 0; to < clo_platform_executors(p); to++)
            assert_true(clo_platform_transfer_ns(p, 1 << 20, e, to) >= 0);
    }
    ok(clo_platform_describe(p, 80, &described));
    free(described);
    ok(clo_platform_describe_json(p, &described));
    free(described);
    clo_platform_destroy(p);
    return 1;
}

/* One to four small accidents: a byte, a digit, a stretch removed or doubled, a number made absurd. */
static size_t mutate(clo_rng *rng, char *text, size_t bytes, size_t room)
{
    static const char *const numbers[] = {"-1", "18446744073709551615", "4294967295", "0", "99999999999999999999", "0x",
                                          ""};

    for (uint32_t k = 1 + clo_rng_below(rng, 4); k > 0; k--) {
        size_t at = clo_rng_below(rng, (uint32_t)bytes), length = 1 + clo_rng_below(rng, 40);
        const char *number = numbers[clo_rng_below(rng, 7)];
        length = at + length > bytes ? bytes - at : length;
        switch (clo_rng_below(rng, 5)) {
        case 0:
            text[at] = (char)clo_rng_below(rng, 256);
            break;
        case 1:
            while (at < bytes && (text[at] < '0' || text[at] > '9'))
                at++;
            if (at < bytes)
                text[at] = (char)('0' + clo_rng_below(rng, 10));
            break;
        case 2:
            memmove(text + at, text + at + length, bytes - at - length);
            bytes -= length;
            break;
        case 3:
            if (bytes + length <= room) {
                memmove(text + at + length, text + at, bytes - at);
                bytes += length;
            }
            break;
        default: /* the next quoted value becomes another one */
            while (at + 1 < bytes && !(text[at] == '=' && text[at + 1] == '"'))
                at++;
            length = 0;
            while (at + 2 + length < bytes && text[at + 2 + length] != '"')
                length++;
            if (at + 2 + length < bytes && bytes + 20 <= room) {
                size_t size = strlen(number);
                memmove(text + at + 2 + size, text + at + 2 + length, bytes - at - 2 - length);
                memcpy(text + at + 2, number, size);
                bytes = bytes - length + size;
            }
        }
    }
    return bytes;
}

static void six_hundred_mutations_of_each_file_end_cleanly(void **state)
{
    (void)state;
    for (int f = 0; f < 3; f++) {
        size_t bytes, room;
        char *text = read_shipped(names[f], &bytes), *copy = malloc(room = 2 * bytes);
        int platforms = 0;
        for (uint64_t seed = 0; seed < 600; seed++) {
            clo_rng rng = sample_rng(seed);
            memcpy(copy, text, bytes);
            platforms += try(copy, mutate(&rng, copy, bytes, room));
        }
        assert_true(platforms > 0);   /* some accidents are harmless ...      */
        assert_true(platforms < 560); /* ... and most are noticed, or the test is blunt */
        free(copy);
        free(text);
    }
}

static void a_file_cut_at_every_97th_byte_is_an_error(void **state)
{
    (void)state;
    for (int f = 0; f < 3; f++) {
        size_t bytes;
        char *text = read_shipped(names[f], &bytes);
        for (size_t cut = 0; cut + 12 < bytes; cut += 97)
            assert_int_equal(try(text, cut), 0);
        assert_int_equal(try(text, bytes), 1);
        free(text);
    }
}

/* Drops one element, with what it holds, or doubles it: well-formed XML, wrong content. */
static void a_file_without_any_one_line_ends_cleanly(void **state)
{
    (void)state;
    for (int f = 0; f < 3; f++) {
        size_t bytes;
        char *text = read_shipped(names[f], &bytes), *copy = malloc(2 * bytes);
        for (size_t start = 0, end; start < bytes; start = end) {
            end = (size_t)((char *)memchr(text + start, '\n', bytes - start) - text) + 1;
            memcpy(copy, text, start);
            memcpy(copy + start, text + end, bytes - end);
            try(copy, bytes - (end - start));
            memcpy(copy, text, end);
            memcpy(copy + end, text + start, bytes - start);
            try(copy, bytes + (end - start));
        }
        free(copy);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(six_hundred_mutations_of_each_file_end_cleanly),
        cmocka_unit_test(a_file_cut_at_every_97th_byte_is_an_error),
        cmocka_unit_test(a_file_without_any_one_line_ends_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
