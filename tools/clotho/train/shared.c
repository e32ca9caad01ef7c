/* shared.c - what all actions of `clotho train` do alike: options, lists of seeds, jobs, the curve as a file. */
#include "clotho/common/input.h"
#include "clotho/common/outputs.h"
#include "clotho/train/train.h"
#include "train/trainer/curve.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { SEEDS_MAX = 10000, OWN_ROWS_MAX = 40, SHARED_ROWS = 5 };

int train_parse(const command *cmd, const option_spec *own, size_t own_count, const train_shared *shared, int argc,
                char **argv, char ***operands, int *count)
{
    const option_spec rows[SHARED_ROWS] = {
        {"seed", 0, "N", OPTION_U64, shared->seed, "fixes every draw (0)"},
        {"threads", 0, "N", OPTION_COUNT, shared->threads, "at once (as many as CPUs)"},
        {"checkpoint", 0, "F", OPTION_OUTPUT, shared->checkpoint,
         "written at each validation or generation; where it is there already, training goes on from it"},
        {"output", 'o', "F", OPTION_OUTPUT, shared->output, "write there what was found"},
        {"json", 0, NULL, OPTION_FLAG, shared->as_json, "print one JSON object on standard output"}};
    option_spec all[OWN_ROWS_MAX + SHARED_ROWS];

    assert(own_count <= OWN_ROWS_MAX);
    memcpy(all, own, own_count * sizeof *own);
    memcpy(all + own_count, rows, sizeof rows);
    int code = options_parse(cmd, all, own_count + SHARED_ROWS, argc, argv, operands, count);
    if (code == OPTIONS_GO_ON && *shared->threads > 256)
        return misuse("--threads is %u; write at most 256", *shared->threads);
    return code;
}

int train_check_name(const char *name)
{
    if (strlen(name) >= CLO_MODEL_NAME_BYTES)
        return misuse("--name is too long; write at most %d characters", CLO_MODEL_NAME_BYTES - 1);
    return EXIT_GOOD;
}

int train_read_list(const char *name, const char *text, seed_list *out)
{
    const char *dash = strchr(text, '-');
    char first[32];
    uint64_t last = 0;

    snprintf(first, sizeof first, "%.*s", dash != NULL ? (int)(dash - text) : 0, text);
    if (dash == NULL || !parse_u64(first, &out->first) || !parse_u64(dash + 1, &last) || last < out->first ||
        last - out->first >= SEEDS_MAX)
        return misuse("--%s is '%.60s'; write two whole numbers as 100-163, at most %d seeds", name, text, SEEDS_MAX);
    out->count = (uint32_t)(last - out->first + 1);
    if (seeds_have_tests(*out))
        return misuse("--%s: seeds %d to %d are kept for tests; choose others", name, SEEDS_TEST_FIRST,
                      SEEDS_TEST_LAST);
    return EXIT_GOOD;
}

int train_read_seeds(const train_seeds *texts, seed_list *training, seed_list *judging, seed_list *aside)
{
    int code = train_read_list("seeds", texts->seeds, training);

    if (code == EXIT_GOOD)
        code = train_read_list("validation", texts->validation, judging);
    if (code == EXIT_GOOD && seeds_overlap(*training, *judging))
        return misuse("--seeds and --validation share seeds; what is kept must be judged on others");
    if (code != EXIT_GOOD || texts->compare == NULL)
        return code;
    code = train_read_list("compare", texts->compare, aside);
    if (code == EXIT_GOOD && (seeds_overlap(*aside, *training) || seeds_overlap(*aside, *judging)))
        return misuse("--compare shares seeds with --seeds or --validation; what is held aside must be others");
    return code;
}

int train_load_jobs(char *const *paths, int count, double scale, clo_workload **loaded, clo_workload **jobs)
{
    clo_load_config load = CLO_LOAD_CONFIG_INIT;
    clo_status status = clo_workload_create("training", jobs);

    load.scale = scale;
    for (int i = 0; i < count; i++) {
        clo_status found = status == CLO_OK ? workload_load(paths[i], &load, &loaded[i]) : status;
        if (found != CLO_OK)
            return complain_status(paths[i], found);
        for (uint32_t j = 0; j < clo_workload_jobs(loaded[i]) && status == CLO_OK; j++) {
            clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
            job.graph = clo_workload_get(loaded[i], j)->graph;
            status = clo_workload_add(*jobs, &job);
        }
    }
    if (status == CLO_OK && clo_workload_jobs(*jobs) == 0)
        return complain(paths[0], "has no jobs to train on");
    return status == CLO_OK ? EXIT_GOOD : complain_status(NULL, status);
}

int train_write_curve(const train_point *points, uint32_t count, const char *title, const char *path)
{
    output out;

    if (output_open(&out, path) && output_close(&out, curve_svg(points, count, title, out.file)))
        return EXIT_GOOD;
    return output_complain(&out);
}
