/* test_model_bytes.c - a model file with any byte changed or cut anywhere is refused, or harmless. With the CRC mended,
 * so that the checks behind it are reached, what opens also runs: under the sanitizers nothing is read out of place,
 * and no sum wraps. */
#include "base/numbers/crc.h"
#include "base/numbers/rng.h"
#include "learn/format/format.h"
#include "support.h"
#include "tiny_model.h"

#include <stdbool.h>
#include <string.h>

typedef struct fixture {
    tiny_model tiny;
    unsigned char *data, *copy;
    size_t bytes;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    tiny_model_draw(&f->tiny, 3);
    assert_int_equal(clo_model_build(&f->tiny.desc, (void **)&f->data, &f->bytes), CLO_OK);
    f->copy = aligned_alloc(16, f->bytes);
    assert_non_null(f->copy);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    free(f->data);
    free(f->copy);
    free(f);
    return 0;
}

static void mend(fixture *f)
{
    clo_format_header *header = (void *)f->copy;
    size_t from = offsetof(clo_format_header, crc);

    header->crc = clo_crc32c(clo_crc32c(0, f->copy, from), f->copy + from + 4, f->bytes - from - 4);
}

/* Opens the copy, and runs it if it can be opened. Returns whether it could. */
static bool try(const fixture *f)
{
    clo_model *model = NULL;
    clo_status status = clo_model_open("m", f->copy, f->bytes, &model);

    if (status != CLO_OK) {
        assert_null(model);
        assert_true(status == CLO_ERR_FORMAT || status == CLO_ERR_LIMIT || status == CLO_ERR_UNSUPPORTED);
        assert_int_equal(strncmp(clo_last_error(), "m: ", 3), 0);
        return false;
    }
    status = clo_model_verify(model);
    assert_true(status == CLO_OK || status == CLO_ERR_INVALID);
    clo_model_destroy(model);
    return true;
}

static unsigned char flipped(unsigned char byte, size_t at)
{
    return (unsigned char)(byte ^ (1 << (at % 8)));
}

/* One bit, and all bits: both are errors that a CRC of 32 bits always finds. */
static void every_changed_byte_is_refused(void **state)
{
    fixture *f = *state;

    memcpy(f->copy, f->data, f->bytes);
    for (size_t i = 0; i < f->bytes; i++) {
        f->copy[i] = flipped(f->data[i], i);
        assert_false(try(f));
        f->copy[i] = (unsigned char)~f->data[i];
        assert_false(try(f));
        f->copy[i] = f->data[i];
    }
    assert_true(try(f));
}

static void every_cut_is_refused(void **state)
{
    fixture *f = *state;

    for (size_t bytes = 0; bytes < f->bytes; bytes++) {
        /* of the exact size: the address sanitizer sees a read behind the end */
        unsigned char *cut = aligned_alloc(16, bytes + 16 - bytes % 16);
        clo_model *model = NULL;
        assert_non_null(cut);
        memcpy(cut, f->data, bytes);
        assert_int_equal(clo_model_open("m", cut, bytes, &model), CLO_ERR_FORMAT);
        free(cut);
    }
}

static void every_changed_byte_under_a_good_crc_is_refused_or_harmless(void **state)
{
    fixture *f = *state;
    static const unsigned char values[] = {0x00, 0xff, 0x80, 0x7f};
    uint32_t opened = 0, refused = 0;

    for (size_t i = 0; i < f->bytes; i++)
        for (int k = 0; k < 2; k++) {
            memcpy(f->copy, f->data, f->bytes);
            f->copy[i] = k == 0 ? values[i % 4] : flipped(f->data[i], i);
            mend(f);
            *(try(f) ? &opened : &refused) += 1;
        }
    assert_true(opened > f->bytes / 4); /* weights, biases, inputs */
    assert_true(refused > f->bytes / 4);
}

static void many_changed_words_under_a_good_crc_are_refused_or_harmless(void **state)
{
    fixture *f = *state;
    clo_rng rng = clo_rng_seed(5);

    for (int round = 0; round < 4000; round++) {
        memcpy(f->copy, f->data, f->bytes);
        for (uint32_t n = 1 + clo_rng_below(&rng, 4); n > 0; n--) {
            uint32_t at = clo_rng_below(&rng, (uint32_t)f->bytes / 4) * 4, value = (uint32_t)clo_rng_next(&rng);
            value >>= clo_rng_below(&rng, 32);
            memcpy(f->copy + at, &value, 4);
        }
        mend(f);
        try(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_changed_byte_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_cut_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_changed_byte_under_a_good_crc_is_refused_or_harmless, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_changed_words_under_a_good_crc_are_refused_or_harmless, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
