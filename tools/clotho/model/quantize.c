/* quantize.c - `clotho model quantize IN.json -o OUT`: published weights of Decima, as JSON, to a model file.
 *
 * Scales are chosen from jobs that are drawn from a seed, and the integer model is compared with floating point on
 * others. */
#include "train/models/quantize.h"
#include "clotho/common/commands.h"
#include "clotho/common/json.h"
#include "clotho/common/options.h"
#include "clotho/common/report.h"
#include "clotho/model/model.h"
#include "train/models/decima.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_BYTES_MAX = 1 << 26, SCALE_CASES = 512, TEST_CASES = 256, GOLDEN_CASES = 4, SEED_TEST = 1 << 20 };

static const char *const names[DECIMA_MLPS] = {
    "encoder.node_encoder.mlp_prep", "encoder.node_encoder.mlp_msg", "encoder.node_encoder.mlp_update",
    "encoder.dag_encoder.mlp",       "encoder.global_encoder.mlp",   "stage_policy_network.mlp_score",
    "exec_policy_network.mlp_score",
};

typedef struct agreement {
    uint32_t stages, stages_agree, limits, limits_agree;
} agreement;

/* Returns the text, or NULL after an error line. */
static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = file != NULL ? malloc(JSON_BYTES_MAX) : NULL;
    size_t got = 0;

    if (text != NULL)
        got = fread(text, 1, JSON_BYTES_MAX, file);
    bool is_good = text != NULL && !ferror(file) && got < JSON_BYTES_MAX;
    if (file != NULL)
        fclose(file);
    if (is_good) {
        text[got] = '\0';
        return text;
    }
    free(text);
    complain(path, "cannot be read, or is longer than %d bytes", JSON_BYTES_MAX);
    return NULL;
}

/* The numbers of a tensor of `rows` x `columns` (0: a vector of `rows`). NULL: it is not there, or has another
 * shape. */
static double *read_tensor(const cJSON *state, const char *name, uint32_t rows, uint32_t columns)
{
    const cJSON *tensor = cJSON_GetObjectItemCaseSensitive(state, name);
    const cJSON *shape = cJSON_GetObjectItemCaseSensitive(tensor, "shape"),
                *data = cJSON_GetObjectItemCaseSensitive(tensor, "data");
    const cJSON *number = NULL;
    uint32_t count = rows * (columns > 0 ? columns : 1), i = 0;

    if (cJSON_GetArraySize(shape) != (columns > 0 ? 2 : 1) || cJSON_GetArraySize(data) != (int)count)
        return NULL;
    const cJSON *first = cJSON_GetArrayItem(shape, 0), *second = cJSON_GetArrayItem(shape, 1);
    if (!cJSON_IsNumber(first) || first->valuedouble != rows ||
        (columns > 0 && (!cJSON_IsNumber(second) || second->valuedouble != columns)))
        return NULL;
    double *numbers = calloc(count, sizeof *numbers);
    if (numbers == NULL)
        return NULL;
    cJSON_ArrayForEach (number, data) {
        if (!cJSON_IsNumber(number) || !isfinite(number->valuedouble)) {
            free(numbers);
            return NULL;
        }
        numbers[i++] = number->valuedouble;
    }
    return numbers;
}

static bool read_positive(const cJSON *config, const char *name, double max, double *out)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(config, name);

    if (!cJSON_IsNumber(number) || !(number->valuedouble >= 1 && number->valuedouble <= max))
        return false;
    *out = number->valuedouble;
    return true;
}

static void free_weights(decima_weights *weights)
{
    for (int mlp = 0; mlp < DECIMA_MLPS; mlp++)
        for (int depth = 0; depth < DECIMA_DEPTH; depth++) {
            free(weights->weights[mlp][depth]);
            free(weights->biases[mlp][depth]);
        }
}

static int read_weights(const char *path, const cJSON *root, decima_weights *weights)
{
    const cJSON *state = cJSON_GetObjectItemCaseSensitive(root, "state_dict"),
                *config = cJSON_GetObjectItemCaseSensitive(root, "config");
    char name[80];

    if (!read_positive(config, "num_executors", 4096, &weights->executors) ||
        !read_positive(config, "num_tasks_scale", 1e6, &weights->tasks_scale) ||
        !read_positive(config, "work_scale", 1e9, &weights->work_scale_ms))
        return complain(path, "config lacks num_executors, num_tasks_scale or work_scale, or they are out of range; "
                              "give the published weights of Decima as JSON");
    for (int mlp = 0; mlp < DECIMA_MLPS; mlp++)
        for (int depth = 0; depth < DECIMA_DEPTH; depth++) {
            uint32_t inputs = decima_shapes[mlp][depth], outputs = decima_shapes[mlp][depth + 1];
            snprintf(name, sizeof name, "%s.%d.weight", names[mlp], 2 * depth);
            weights->weights[mlp][depth] = read_tensor(state, name, outputs, inputs);
            if (weights->weights[mlp][depth] == NULL)
                return complain(path, "state_dict.%s is no tensor of %u x %u finite numbers", name, outputs, inputs);
            snprintf(name, sizeof name, "%s.%d.bias", names[mlp], 2 * depth);
            weights->biases[mlp][depth] = read_tensor(state, name, outputs, 0);
            if (weights->biases[mlp][depth] == NULL)
                return complain(path, "state_dict.%s is no tensor of %u finite numbers", name, outputs);
        }
    return EXIT_GOOD;
}

static int load_weights(const char *path, decima_weights *weights)
{
    char *text = read_text(path);

    if (text == NULL)
        return EXIT_BAD_INPUT;
    cJSON *root = cJSON_Parse(text);
    free(text);
    if (root == NULL)
        return complain(path, "is no JSON");
    int code = read_weights(path, root, weights);
    cJSON_Delete(root);
    return code;
}

static uint32_t best_real(const double *scores, uint32_t count)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < count; i++)
        best = scores[i] > scores[best] ? i : best;
    return best;
}

static uint32_t best_integer(const int32_t *scores, uint32_t count)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < count; i++)
        best = scores[i] > scores[best] ? i : best;
    return best;
}

/* Whether both choose the same among all stages, and among the limits of the first job. */
static clo_status compare(const clo_model *model, network *net, const decima_case *drawn, agreement *found)
{
    double scores[CLO_MODEL_GOLDEN_ROWS_MAX], limits[CLO_MODEL_GOLDEN_ROWS_MAX];
    int32_t int_scores[CLO_MODEL_GOLDEN_ROWS_MAX], int_limits[CLO_MODEL_GOLDEN_ROWS_MAX];
    uint32_t count = 0;

    if (!network_run(net, &drawn->real, scores, limits))
        return CLO_ERR_MEMORY;
    clo_status status = clo_model_scores(model, &drawn->shape, int_scores, int_limits);
    if (status != CLO_OK)
        return status;
    if (drawn->shape.stages >= 4) {
        found->stages++;
        found->stages_agree += best_real(scores, drawn->shape.stages) == best_integer(int_scores, drawn->shape.stages);
    }
    while (count < drawn->shape.limits && drawn->job_of_limit[count] == 0)
        count++;
    uint32_t a = best_real(limits, count), b = best_integer(int_limits, count);
    found->limits++;
    found->limits_agree += a == b || limits[a] == limits[b]; /* equal limits are drawn too */
    return CLO_OK;
}

static clo_status compare_all(const void *data, size_t bytes, network *net, const decima_weights *weights,
                              agreement *found)
{
    decima_case *drawn = malloc(sizeof *drawn);
    clo_model *model = NULL;
    clo_status status = drawn != NULL ? clo_model_open("quantized", data, bytes, &model) : CLO_ERR_MEMORY;

    for (uint64_t i = 0; i < TEST_CASES && status == CLO_OK; i++) {
        decima_draw(drawn, weights, SEED_TEST + i);
        status = compare(model, net, drawn, found);
    }
    clo_model_destroy(model);
    free(drawn);
    return status;
}

/* Scales from drawn jobs, then the model. `drawn` has room for the golden vectors. */
static clo_status convert(const decima_weights *weights, network *net, decima_case *drawn, const char *name,
                          void **data, size_t *bytes, const char **why)
{
    clo_model_feature features[DECIMA_FEATURES];
    clo_model_case golden[GOLDEN_CASES];
    measure seen;

    *why = NULL;
    decima_network(weights, net);
    if (!measure_open(&seen, net))
        return CLO_ERR_MEMORY;
    decima_features(weights, features);
    for (uint64_t i = SCALE_CASES; i-- > 0;) {
        decima_draw(&drawn[i % GOLDEN_CASES], weights, i + 1);
        if (!measure_add(&seen, net, &drawn[i % GOLDEN_CASES].real)) {
            measure_close(&seen);
            return CLO_ERR_MEMORY;
        }
    }
    for (int i = 0; i < GOLDEN_CASES; i++)
        golden[i] = drawn[i].shape;
    const quantize_config config = {.name = name,
                                    .kind = CLO_MODEL_DECIMA,
                                    .feature_set = 4,
                                    .features = features,
                                    .features_count = DECIMA_FEATURES,
                                    .cases = golden,
                                    .cases_count = GOLDEN_CASES,
                                    .margin = 1.1};
    clo_status status = quantize(net, &seen, &config, data, bytes, why);
    measure_close(&seen);
    return status;
}

int model_write(const char *path, const void *data, size_t bytes)
{
    clo_status status = clo_file_write(path, data, bytes);

    return status == CLO_OK ? EXIT_GOOD : complain_status(path, status);
}

static int report(const char *path, size_t bytes, const agreement *found, bool as_json)
{
    json out;

    if (!as_json) {
        printf("%s: %zu bytes\n", show_name(path), bytes);
        printf("chooses as floating point does: stages %u of %u, limits %u of %u, on drawn jobs\n", found->stages_agree,
               found->stages, found->limits_agree, found->limits);
        return report_flush(EXIT_GOOD);
    }
    json_begin(&out);
    json_count(&out, "bytes", bytes);
    json_count(&out, "stages", found->stages);
    json_count(&out, "stages_agree", found->stages_agree);
    json_count(&out, "limits", found->limits);
    json_count(&out, "limits_agree", found->limits_agree);
    return json_print(&out);
}

static int run(const char *in, const char *path, const char *name, bool as_json)
{
    decima_weights weights = {0};
    decima_case *drawn = calloc(GOLDEN_CASES, sizeof *drawn);
    network *net = calloc(1, sizeof *net);
    void *data = NULL;
    const char *why = NULL;
    size_t bytes = 0;
    agreement found = {0};
    clo_status status = drawn != NULL && net != NULL ? CLO_OK : CLO_ERR_MEMORY;
    int code = status == CLO_OK ? load_weights(in, &weights) : EXIT_GOOD;

    if (code == EXIT_GOOD && status == CLO_OK)
        status = convert(&weights, net, drawn, name, &data, &bytes, &why);
    if (code == EXIT_GOOD && status == CLO_OK)
        status = compare_all(data, bytes, net, &weights, &found);
    if (code == EXIT_GOOD && status != CLO_OK)
        code = why != NULL ? complain(in, "%s", why) : complain_status(in, status);
    if (code == EXIT_GOOD)
        code = model_write(path, data, bytes);
    if (code == EXIT_GOOD)
        code = report(path, bytes, &found, as_json);
    free(data);
    free(net);
    free(drawn);
    free_weights(&weights);
    return code;
}

int model_quantize(int argc, char **argv)
{
    static const command cmd = {
        "model quantize",
        "IN.json",
        1,
        1,
        "Converts published weights of Decima (a PyTorch state as JSON) to a model file: int8 weights "
        "with a scale for each\n"
        "output, int16 values. Scales are chosen from drawn jobs; the choices are compared with "
        "floating point on others.",
        "Example: clotho model quantize decima_weights.json -o decima.model"};
    bool as_json = false;
    const char *path = NULL, *name = "decima";
    const option_spec options[] = {
        {"output", 'o', "F.model", OPTION_OUTPUT, &path, "file to write"},
        {"name", 0, "NAME", OPTION_TEXT, &name, "of the model (decima)"},
        {"json", 0, NULL, OPTION_FLAG, &as_json, "print one JSON object on standard output"}};
    char **operands;
    int count, code = options_parse(&cmd, options, 3, argc, argv, &operands, &count);

    if (code != OPTIONS_GO_ON)
        return code;
    if (path == NULL || strcmp(path, "-") == 0)
        return misuse("model quantize needs -o F.model");
    return run(operands[0], path, name, as_json);
}
