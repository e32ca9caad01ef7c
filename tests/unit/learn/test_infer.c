/* test_infer.c - a model in memory that the caller gives scores as row by row does. */
#include "learn/infer.h"
#include "learn/run.h"
#include "support.h"
#include "tiny_model.h"

#include <string.h>

static void golden_vectors_score_as_the_file_says(void **state)
{
    tiny_model tiny;
    void *data, *memory;
    size_t bytes;
    clo_model *model;
    clo_kernels kernels;
    const clo_infer_sizes sizes = {6, 2, 3, 5};
    int32_t scores[6], limits[3], again[6], wanted[6], wanted_limits[3];

    (void)state;
    tiny_model_draw(&tiny, 1);
    assert_int_equal(clo_model_build(&tiny.desc, &data, &bytes), CLO_OK);
    assert_int_equal(clo_model_open("m", data, bytes, &model), CLO_OK);
    clo_kernels_select(&kernels, clo_cpu_isa());
    memory = aligned_alloc(64, (clo_infer_bytes(model, &sizes) + 63) / 64 * 64);
    assert_non_null(memory);
    clo_infer *infer = clo_infer_init(model, &kernels, &sizes, memory);
    for (int i = 0; i < 3; i++) {
        const clo_model_case *input = &tiny.cases[i];
        const uint32_t all[] = {5, 4, 3, 2, 1, 0};
        assert_int_equal(clo_run_ops(model, &kernels, input, wanted, wanted_limits), CLO_OK);
        clo_infer_run(infer, input, scores, limits);
        assert_memory_equal(scores, wanted, input->stages * sizeof *scores);
        assert_memory_equal(limits, wanted_limits, input->limits * sizeof *limits);
        clo_infer_encode(infer, input);
        clo_infer_score(infer, all, input->stages, again);
        for (uint32_t s = 0; s < input->stages; s++)
            assert_int_equal(again[s], wanted[all[s]]);
        const int16_t *inputs = input->inputs + 6 * 3 + 2 * 2; /* behind those of stages and jobs */
        clo_infer_limits(infer, 1, inputs + 1, input->limits > 0 ? 2 : 0, limits);
        for (uint32_t l = 1; l < input->limits; l++)
            assert_int_equal(limits[l - 1], wanted_limits[l]);
    }
    free(memory);
    clo_model_destroy(model);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden_vectors_score_as_the_file_says)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
