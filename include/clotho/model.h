/* model.h - networks that decide, in integers: the model file.
 *
 * A model is a list of features with their scales, values (tensors), layers of int8 weights and a list of operations
 * from features to scores. It is flat, little-endian and free of pointers (docs/MODELS.md has it to the byte), and is
 * used where it lies: in a file mapping, or in an array in ROM ("clotho model embed"). The same model gives the same
 * scores on every machine, bit for bit.
 *
 * Everything in a file is checked before it is used: offsets, shapes, the order of operations, and that no sum of any
 * layer can leave 32 bits for any input.
 *
 * Library: libclotho-decide. */
#ifndef CLOTHO_MODEL_H
#define CLOTHO_MODEL_H

#include <clotho/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the format. A file of another major version is refused. Older minor versions are read; newer ones are
 * too, as long as they use nothing that this library does not know. */
enum { CLO_MODEL_MAJOR = 1, CLO_MODEL_MINOR = 0 };

/* Limits. Each is checked; a number above its limit is CLO_ERR_LIMIT. */
enum {
    CLO_MODEL_NAME_BYTES = 32,
    CLO_MODEL_FEATURE_BYTES = 24,
    CLO_MODEL_OP_INPUTS = 3,
    CLO_MODEL_FEATURES_MAX = 512,
    CLO_MODEL_VALUES_MAX = 128,
    CLO_MODEL_LAYERS_MAX = 128,
    CLO_MODEL_TABLES_MAX = 16,
    CLO_MODEL_OPS_MAX = 256,
    CLO_MODEL_GOLDEN_MAX = 64,
    /* numbers in a row of a value */
    CLO_MODEL_WIDTH_MAX = 512,
    /* stages, jobs and limits of a golden vector, each; edges */
    CLO_MODEL_GOLDEN_ROWS_MAX = 256,
    CLO_MODEL_GOLDEN_EDGES_MAX = 4096,
    CLO_MODEL_BYTES_MAX = 1 << 26
};

/* An index that names nothing. */
#define CLO_MODEL_NONE 0xffff

/* What a model is for. */
typedef enum clo_model_kind {
    /* scores over candidates, of any features */
    CLO_MODEL_HEAD = 0,
    CLO_MODEL_DECIMA = 1,
    CLO_MODEL_LACHESIS = 2
} clo_model_kind;

/* Numbers of a value. */
typedef enum clo_model_number { CLO_MODEL_S8 = 0, CLO_MODEL_S16 = 1, CLO_MODEL_S32 = 2 } clo_model_number;

/* What a value has one row for. */
typedef enum clo_model_domain {
    /* each stage, or each candidate */
    CLO_MODEL_STAGE = 0,
    CLO_MODEL_JOB = 1,
    /* one row */
    CLO_MODEL_GLOBAL = 2,
    /* each choice of how many executors a job may use */
    CLO_MODEL_LIMIT = 3
} clo_model_domain;

/* Operations. A value is written by one operation, or by one for leaves and one for inner stages, before it is read.
 *
 *   DENSE         out = layer(in); the same domain
 *   JOIN          out = rule(in + in + in): int32 sums of the same width. An input may be of a coarser domain (global
 *                 for job; job or global for stage and limit); its row is then that of the stage's or limit's job
 *   SUM           out = sum of in over the stages of a job, or over all jobs; clamped once to out's numbers
 *   SUM_CHILDREN  out = sum of in over the children of a stage, likewise
 *   ADD           out = in + in (+ in), clamped; all of the same shape, numbers and exponent
 *   TANH          out = table(in), int16: linear interpolation between 257 points
 *   LOOKUP        out = table[in + 128], int8
 *   LOOP          begins a loop over stages, children before parents; all up to END works on one stage at a time, and
 *                 SUM_CHILDREN may read what the loop writes. If `in` is given and the jobs have no edge at all, the
 *                 loop is skipped and `out` is `in`; then no other value of the loop may be read after it
 *   END           ends the loop */
typedef enum clo_model_operation {
    CLO_MODEL_DENSE = 1,
    CLO_MODEL_JOIN = 2,
    CLO_MODEL_SUM = 3,
    CLO_MODEL_SUM_CHILDREN = 4,
    CLO_MODEL_ADD = 5,
    CLO_MODEL_TANH = 6,
    CLO_MODEL_LOOKUP = 7,
    CLO_MODEL_LOOP = 8,
    CLO_MODEL_END = 9
} clo_model_operation;

/* Stages that an operation works on. Other domains: CLO_MODEL_ALL. */
typedef enum clo_model_on { CLO_MODEL_ALL = 0, CLO_MODEL_LEAVES = 1, CLO_MODEL_INNER = 2 } clo_model_on;

/* Scales a raw number to what the network sees: clamp((raw * mult + half) >> shift, lo, hi), half = 2^(shift - 1) or 0.
 * raw is first clamped to +-2^62 / mult. */
typedef struct clo_model_feature {
    const char *name;
    /* > 0 */
    int32_t mult;
    /* 0 .. 62 */
    uint32_t shift;
    int16_t lo, hi;
} clo_model_feature;

typedef struct clo_model_value {
    clo_model_number number;
    clo_model_domain domain;
    /* 1 .. CLO_MODEL_WIDTH_MAX */
    uint32_t width;
    /* One unit is about 2^-exponent. It informs readers, and ADD compares it. Each number of a value may have a scale
     * of its own. int32 sums: 0. */
    int32_t exponent;
    /* Not 0: an input value, filled by `width` features. */
    uint32_t is_input;
} clo_model_value;

/* t = sat16(sum >> pre), r = (t * m + 0x4000) >> 15; negative r: (r * leaky + 128) >> 8; clamped to lo .. hi. */
typedef struct clo_model_layer {
    /* 0: the rule alone, for JOIN */
    uint32_t inputs;
    uint32_t outputs;
    /* [outputs][inputs], [outputs]; NULL for the rule alone */
    const int8_t *weights;
    const int32_t *bias;
    /* [outputs]: 0 .. 31, 1 .. 32767; NULL if number is CLO_MODEL_S32 */
    const int32_t *pre;
    const int16_t *m;
    int16_t lo, hi;
    /* 0 .. 255, or 256 for none */
    int16_t leaky;
    clo_model_number number;
} clo_model_layer;

typedef struct clo_model_table {
    clo_model_number number;
    /* CLO_MODEL_S8: 256 int8; CLO_MODEL_S16: 257 int16 */
    const void *points;
} clo_model_table;

typedef struct clo_model_op {
    clo_model_operation op;
    clo_model_on on;
    /* values; CLO_MODEL_NONE where there is none */
    uint32_t out, in[CLO_MODEL_OP_INPUTS];
    /* layer or table; CLO_MODEL_NONE */
    uint32_t argument;
} clo_model_op;

/* Jobs for the network, as arrays. Children have greater indices than their parents. */
typedef struct clo_model_case {
    uint32_t stages, jobs, limits;
    /* [stages] */
    const uint32_t *job_of_stage;
    /* [stages + 1], into children */
    const uint32_t *child_begin;
    const uint32_t *children;
    /* [limits] */
    const uint32_t *job_of_limit;
    /* All input values in order, each [rows][width]. */
    const int16_t *inputs;
} clo_model_case;

/* The parts of a model. The elements of the arrays have no size field. */
typedef struct clo_model_desc {
    /* Set by CLO_MODEL_DESC_INIT. */
    size_t size;
    /* Printable ASCII, shorter than CLO_MODEL_NAME_BYTES. */
    const char *name;
    clo_model_kind kind;
    /* Number of the list of features: 0 any, 1 Decima's, 2 LACHESIS's, 3 of edge adding,
     * 4 Decima's with work as four numbers; docs/MODELS.md. */
    uint32_t feature_set;
    /* Of the input values in order. */
    const clo_model_feature *features;
    uint32_t features_count;
    const clo_model_value *values;
    uint32_t values_count;
    const clo_model_layer *layers;
    uint32_t layers_count;
    const clo_model_table *tables;
    uint32_t tables_count;
    const clo_model_op *ops;
    uint32_t ops_count;
    /* Cases that become golden vectors: their outputs are computed and stored with them. */
    const clo_model_case *cases;
    uint32_t cases_count;
    /* The values that hold the scores of stages, and of limits (CLO_MODEL_NONE: none); int32, of width 1. */
    uint32_t score, limit;
} clo_model_desc;

#define CLO_MODEL_DESC_INIT CLO_SIZED_INIT(clo_model_desc)

/* Figures of a model. */
typedef struct clo_model_info {
    /* Set by CLO_MODEL_INFO_INIT. */
    size_t size;
    /* Owned by the model. */
    const char *name;
    clo_model_kind kind;
    uint32_t major, minor, feature_set, crc;
    uint32_t features, values, layers, tables, ops, golden;
    /* As in clo_model_desc. */
    uint32_t score, limit;
    /* Of all layers, without padding. */
    uint64_t weights;
    /* Multiplications for each row, without padding: [clo_model_domain]. */
    uint64_t multiplications[4];
} clo_model_info;

#define CLO_MODEL_INFO_INIT CLO_SIZED_INIT(clo_model_info)

typedef struct clo_model clo_model; /* opaque: has invariants */

/* Opens a model in place, and checks all of it except the outputs of its golden vectors.
 *
 *   name   stands for the model in error messages.
 *   data   borrowed until clo_model_destroy, must not change; at a multiple of 16 bytes.
 *   bytes  the exact size of the model.
 *   out    the model, owned by the caller.
 *
 * Returns CLO_OK, or with one line in clo_last_error ("NAME: what is wrong; what to do")
 *   CLO_ERR_ARGUMENT     also: data is not aligned
 *   CLO_ERR_FORMAT       not a model, cut or changed, or it breaks a rule of the format
 *   CLO_ERR_LIMIT        a count or a shape is over its limit, or a sum could overflow
 *   CLO_ERR_UNSUPPORTED  a newer version, or features that this library does not compute; a big-endian machine
 *   CLO_ERR_MEMORY
 *
 * Threads: any. Real time: no. O(bytes). */
CLO_API CLO_NODISCARD clo_status clo_model_open(const char *name, const void *data, size_t bytes, clo_model **out);

/* Reads a model file into memory of its own and opens it. A mapping would change with the file, after the checks.
 *
 *   path  at most CLO_MODEL_BYTES_MAX bytes; "-": standard input.
 *   out   the model, owned by the caller.
 *
 * Returns as clo_model_open, and CLO_ERR_IO. Threads: any. Real time: no. O(bytes). */
CLO_API CLO_NODISCARD clo_status clo_model_load(const char *path, clo_model **out);

/* The bytes of a built-in model (`clotho list models`), for clo_model_open: static, at a multiple of 16. NULL: there is
 * none of that name.
 *   bytes  receives their number, or 0; may be NULL.
 * Threads: any. Real time: yes, O(models). */
CLO_API const void *clo_model_builtin(const char *name, size_t *bytes);

/* Frees a model, not the data it was opened on. NULL is allowed. Threads: one. Real time: no. O(1). */
CLO_API void clo_model_destroy(clo_model *model);

/* Runs the golden vectors with each variant of the kernels that this machine has.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_INVALID (a score differs; clo_last_error names it) or CLO_ERR_MEMORY.
 * A model without golden vectors is CLO_OK.
 * Threads: any. Real time: no. O(vectors * operations). */
CLO_API CLO_NODISCARD clo_status clo_model_verify(const clo_model *model);

/* Computes the scores of the stages and limits of a case in the simplest way, one row after the other. For tests, tools
 * and trainers.
 *
 *   scores, limits  [stages], [limits]; `limits` may be NULL. Untouched on failure.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (a row or index out of range, an input outside its feature's lo .. hi),
 * CLO_ERR_LIMIT (more rows than a golden vector may have) or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(rows * operations). */
CLO_API CLO_NODISCARD clo_status clo_model_scores(const clo_model *model, const clo_model_case *input, int32_t *scores,
                                                  int32_t *limits);

/* Reading a model. Threads: any. Real time: yes, O(1), where nothing else is said. */

/* Fills `info`; set info->size with CLO_MODEL_INFO_INIT. Returns CLO_OK or CLO_ERR_ARGUMENT (also: info->size is
 * wrong). O(layers + operations). */
CLO_API CLO_NODISCARD clo_status clo_model_inspect(const clo_model *model, clo_model_info *info);

/* The bytes of the model; their owner does not change. NULL without a model.
 *   bytes  receives their number; may be NULL. */
CLO_API const void *clo_model_data(const clo_model *model, size_t *bytes);

/* Each fills `out` and returns CLO_OK, or CLO_ERR_ARGUMENT if there is no such index. Arrays and texts are owned by the
 * model. The weights of a layer are packed as kernels read them (docs/MODELS.md), not in rows. */
CLO_API CLO_NODISCARD clo_status clo_model_feature_at(const clo_model *model, uint32_t index, clo_model_feature *out);
CLO_API CLO_NODISCARD clo_status clo_model_value_at(const clo_model *model, uint32_t index, clo_model_value *out);
CLO_API CLO_NODISCARD clo_status clo_model_layer_at(const clo_model *model, uint32_t index, clo_model_layer *out);
CLO_API CLO_NODISCARD clo_status clo_model_op_at(const clo_model *model, uint32_t index, clo_model_op *out);

/* Makes the bytes of a model: packs weights, folds biases, computes the golden vectors' scores and opens the result
 * once, so the returned bytes are a valid model.
 *
 *   desc  borrowed during the call.
 *   out   the bytes, at a multiple of 16; free them with free().
 *
 * Returns as clo_model_open, and CLO_ERR_ARGUMENT for arrays that are missing.
 * Threads: any. Real time: no. O(bytes, and golden vectors). */
CLO_API CLO_NODISCARD clo_status clo_model_build(const clo_model_desc *desc, void **out, size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
