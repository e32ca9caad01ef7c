/* float_decima.h - the published weights of Decima in floating point: what the integer network is compared with. */
#ifndef CLO_TEST_FLOAT_DECIMA_H
#define CLO_TEST_FLOAT_DECIMA_H

#include "support.h"
#include "train/models/decima.h"

#include <cjson/cJSON.h>
#include <clotho/learned.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLOAT_ROWS_MAX = 2048, FLOAT_TEXT_BYTES = 1 << 20 };

typedef struct float_decima {
    decima_weights weights;
    network net;
} float_decima;

static inline double *float_tensor(const cJSON *state, const char *mlp, int layer, const char *what, uint32_t numbers)
{
    char name[96];
    uint32_t i = 0;
    const cJSON *number = NULL;

    snprintf(name, sizeof name, "%s.%d.%s", mlp, 2 * layer, what);
    const cJSON *data = cJSON_GetObjectItem(cJSON_GetObjectItem(state, name), "data");
    double *out = calloc(numbers, sizeof *out);
    assert_non_null(out);
    assert_int_equal(cJSON_GetArraySize(data), numbers);
    cJSON_ArrayForEach (number, data)
        out[i++] = number->valuedouble;
    return out;
}

static inline void float_open(float_decima *f, const char *path)
{
    static const char *const names[DECIMA_MLPS] = {
        "encoder.node_encoder.mlp_prep", "encoder.node_encoder.mlp_msg", "encoder.node_encoder.mlp_update",
        "encoder.dag_encoder.mlp",       "encoder.global_encoder.mlp",   "stage_policy_network.mlp_score",
        "exec_policy_network.mlp_score",
    };
    char *text = calloc(1, FLOAT_TEXT_BYTES);
    FILE *file = fopen(path, "r");

    assert_non_null(text);
    assert_non_null(file);
    assert_in_range(fread(text, 1, FLOAT_TEXT_BYTES - 1, file), 1, FLOAT_TEXT_BYTES - 2);
    assert_int_equal(fclose(file), 0);
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    const cJSON *state = cJSON_GetObjectItem(root, "state_dict");
    for (int mlp = 0; mlp < DECIMA_MLPS; mlp++)
        for (int layer = 0; layer < DECIMA_DEPTH; layer++) {
            uint32_t inputs = decima_shapes[mlp][layer], outputs = decima_shapes[mlp][layer + 1];
            f->weights.weights[mlp][layer] = float_tensor(state, names[mlp], layer, "weight", inputs * outputs);
            f->weights.biases[mlp][layer] = float_tensor(state, names[mlp], layer, "bias", outputs);
        }
    f->weights.executors = 50;
    f->weights.tasks_scale = 200;
    f->weights.work_scale_ms = 1e5;
    decima_network(&f->weights, &f->net);
    cJSON_Delete(root);
    free(text);
}

static inline void float_close(float_decima *f)
{
    for (int mlp = 0; mlp < DECIMA_MLPS; mlp++)
        for (int layer = 0; layer < DECIMA_DEPTH; layer++) {
            free(f->weights.weights[mlp][layer]);
            free(f->weights.biases[mlp][layer]);
        }
}

/* Scores of all stages, and of the limits of the job of `stage`, from the inputs as they were before rounding. */
static inline void float_score(float_decima *f, const clo_learned_decision *seen, uint32_t stage, double *scores,
                               double *limits)
{
    const double scale[] = {1.0 / 50, 1, 1.0 / 50, 1.0 / 200, 1e-6 / 1e5};
    static uint32_t job_of_limit[FLOAT_ROWS_MAX];
    static double inputs[FLOAT_ROWS_MAX * 9];
    clo_model_case shape = seen->input;
    uint32_t at = 0;

    assert_in_range(shape.stages, 1, FLOAT_ROWS_MAX);
    assert_in_range(shape.limits, 1, FLOAT_ROWS_MAX);
    for (uint32_t i = 0; i < DECIMA_STAGE_FEATURES * shape.stages; i++)
        inputs[at++] = (double)seen->stage_raw[i] * scale[i % DECIMA_STAGE_FEATURES];
    for (uint32_t i = 0; i < DECIMA_JOB_FEATURES * shape.jobs; i++)
        inputs[at++] = (double)seen->job_raw[i] * scale[i % DECIMA_JOB_FEATURES];
    for (uint32_t k = 0; k < shape.limits; k++) {
        inputs[at++] = k * scale[0];
        job_of_limit[k] = shape.job_of_stage[stage];
    }
    shape.job_of_limit = job_of_limit;
    const network_case real = {&shape, inputs};
    assert_true(network_run(&f->net, &real, scores, limits));
}

#endif
