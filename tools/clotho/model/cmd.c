/* cmd.c - `clotho model show | verify | embed | diff`, and the table with `quantize`. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/common/actions.h"
#include "clotho/common/commands.h"
#include "clotho/common/json.h"
#include "clotho/common/operands.h"
#include "clotho/common/options.h"
#include "clotho/common/outputs.h"
#include "clotho/common/report.h"
#include "clotho/common/symbol.h"
#include "clotho/model/model.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Most columns of the array that embed writes. */
enum { EMBED_COLUMNS = 20 };

static const char *builtin_at(uint32_t index)
{
    clo_entry entry = CLO_ENTRY_INIT;

    return clo_registry_entry("models", index, &entry) ? entry.name : NULL;
}

int model_load(const char *path, clo_model **out)
{
    size_t bytes;
    bool is_there = access(path, F_OK) == 0;
    const void *data = is_there ? NULL : clo_model_builtin(path, &bytes);
    const char *near = is_there || data != NULL ? NULL : nearest_name(path, builtin_at);

    *out = NULL;
    if (near != NULL)
        return complain(path, "no file and no model of the library; did you mean '%s'?", near);
    if (!is_there && data == NULL && strcmp(path, "-") != 0)
        return complain_missing(path);
    clo_status status = data != NULL ? clo_model_open(path, data, bytes, out) : clo_model_load(path, out);

    return status == CLO_OK ? EXIT_GOOD : complain_status(path, status);
}

static int show(int argc, char **argv)
{
    static const command cmd = {
        "model show",
        "MODEL",
        1,
        1,
        "Prints the features, values, layers and operations of a model file, or of a built-in model.",
        "Example: clotho model show lachesis (built in, see 'clotho list models')"};
    bool as_json = false;
    const option_spec options[] = {
        {"json", 0, NULL, OPTION_FLAG, &as_json, "print one JSON object on standard output"}};
    char **operands;
    int count, code = options_parse(&cmd, options, 1, argc, argv, &operands, &count);
    clo_model *model;

    if (code != OPTIONS_GO_ON)
        return code;
    code = model_load(operands[0], &model);
    if (code != EXIT_GOOD)
        return code;
    code = as_json ? model_print_json(model) : model_print(model);
    clo_model_destroy(model);
    return code;
}

static int verify(int argc, char **argv)
{
    static const command cmd = {"model verify",
                                "MODEL",
                                1,
                                1,
                                "Checks a model file and runs its golden vectors with each variant of the kernels that "
                                "this machine has.",
                                "Exit status 1: the file is damaged, or a score differs."};
    bool as_json = false;
    const option_spec options[] = {
        {"json", 0, NULL, OPTION_FLAG, &as_json, "print one JSON object on standard output"}};
    char **operands;
    int count, code = options_parse(&cmd, options, 1, argc, argv, &operands, &count);
    clo_model *model;
    clo_model_info info = CLO_MODEL_INFO_INIT;
    json out;

    if (code != OPTIONS_GO_ON)
        return code;
    code = model_load(operands[0], &model);
    if (code != EXIT_GOOD)
        return code;
    clo_status status = clo_model_verify(model);
    if (status == CLO_OK)
        status = clo_model_inspect(model, &info);
    if (status != CLO_OK) {
        code = complain_status(operands[0], status);
    } else if (as_json) {
        json_begin(&out);
        json_bool(&out, "valid", true);
        json_count(&out, "golden", info.golden);
        code = json_print(&out);
    } else {
        printf("%s is valid; %u golden vectors agree\n", show_name(operands[0]), info.golden);
    }
    clo_model_destroy(model);
    return code;
}

static bool write_array(FILE *file, const clo_model *model, const clo_model_info *info, const char *symbol)
{
    size_t bytes;
    const unsigned char *data = clo_model_data(model, &bytes);

    fprintf(file,
            "/* Made by `clotho model embed`: %zu bytes, CRC-32C %08x. Open it with\n"
            " *     clo_model_open(\"%s\", %s, %s_bytes, &model) */\n"
            "#include <stddef.h>\n\n"
            "extern const unsigned char %s[%zu];\n"
            "extern const size_t %s_bytes;\n\n"
            "_Alignas(16) const unsigned char %s[%zu] = {",
            bytes, info->crc, symbol, symbol, symbol, symbol, bytes, symbol, symbol, bytes);
    for (size_t i = 0; i < bytes; i++)
        fprintf(file, "%s%u,", i % EMBED_COLUMNS == 0 ? "\n    " : " ", data[i]);
    fprintf(file, "\n};\nconst size_t %s_bytes = sizeof %s;\n", symbol, symbol);
    return ferror(file) == 0;
}

static int write_embedded(const char *path, const clo_model *model, const clo_model_info *info, const char *symbol)
{
    output out;

    if (path == NULL || strcmp(path, "-") == 0) {
        write_array(stdout, model, info, symbol);
        return report_flush(EXIT_GOOD);
    }
    if (output_open(&out, path) && output_close(&out, write_array(out.file, model, info, symbol)))
        return EXIT_GOOD;
    return output_complain(&out);
}

static int embed(int argc, char **argv)
{
    static const command cmd = {"model embed",
                                "MODEL",
                                1,
                                1,
                                "Writes a model file as a C array, which a program opens in place with clo_model_open.",
                                "Example: clotho model embed decima.model -o decima_model.c --name decima_model"};
    const char *path = NULL, *symbol = NULL;
    const option_spec options[] = {
        {"output", 'o', "F.c", OPTION_OUTPUT, &path, "file to write; '-': standard output (default)"},
        {"name", 0, "SYMBOL", OPTION_TEXT, &symbol, "of the array (model_ and the model's name)"}};
    char **operands;
    char made[SYMBOL_BYTES];
    int count, code = options_parse(&cmd, options, 2, argc, argv, &operands, &count);
    clo_model *model;
    clo_model_info info = CLO_MODEL_INFO_INIT;

    if (code != OPTIONS_GO_ON)
        return code;
    if (symbol != NULL && !is_symbol(symbol))
        return misuse("--name is '%.80s'; write a name of C, at most %d characters", symbol, SYMBOL_BYTES - 1);
    code = model_load(operands[0], &model);
    if (code != EXIT_GOOD)
        return code;
    clo_status status = clo_model_inspect(model, &info);
    if (status == CLO_OK) {
        symbol_make("model_", info.name, strlen(info.name), made);
        code = write_embedded(path, model, &info, symbol != NULL ? symbol : made);
    } else {
        code = complain_status(operands[0], status);
    }
    clo_model_destroy(model);
    return code;
}

/* {"equal": ...}, as the exit status says. */
static int print_equal(const clo_model *a, const clo_model *b)
{
    size_t a_bytes, b_bytes;
    const void *a_data = clo_model_data(a, &a_bytes), *b_data = clo_model_data(b, &b_bytes);
    bool are_equal = a_bytes == b_bytes && memcmp(a_data, b_data, a_bytes) == 0;
    json out;

    json_begin(&out);
    json_bool(&out, "equal", are_equal);
    int code = json_print(&out);
    return code != EXIT_GOOD || are_equal ? code : EXIT_BAD_INPUT;
}

static int diff(int argc, char **argv)
{
    static const command cmd = {"model diff",
                                "A B",
                                2,
                                2,
                                "Prints what differs between two model files.",
                                "Exit status 0: the files are equal; 1: they differ."};
    bool as_json = false;
    const option_spec options[] = {
        {"json", 0, NULL, OPTION_FLAG, &as_json, "print one JSON object, whether they are equal, on standard output"}};
    char **operands;
    int count, code = options_parse(&cmd, options, 1, argc, argv, &operands, &count);
    clo_model *a, *b;

    if (code != OPTIONS_GO_ON)
        return code;
    code = model_load(operands[0], &a);
    if (code != EXIT_GOOD)
        return code;
    code = model_load(operands[1], &b);
    if (code == EXIT_GOOD) {
        code = as_json ? print_equal(a, b) : model_print_difference(a, b);
        clo_model_destroy(b);
    }
    clo_model_destroy(a);
    return code;
}

static const action actions[] = {
    {"show", show, "print features, values, layers and operations"},
    {"verify", verify, "check the file and run its golden vectors"},
    {"embed", embed, "write it as a C array"},
    {"diff", diff, "print what differs between two models"},
    {"quantize", model_quantize, "convert published weights of Decima"},
    {0},
};

int cmd_model(int argc, char **argv)
{
    return actions_run("model", actions, argc, argv);
}
