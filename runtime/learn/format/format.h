/* learn/format/format.h - the bytes of a model file, as docs/MODELS.md says: little-endian, no pointers, every part at
 * a multiple of 16. Offsets count from the begin of the file. Bytes that are called zero are checked in files of this
 * minor version or an older one, and passed over in newer ones. */
#ifndef CLO_LEARN_FORMAT_FORMAT_H
#define CLO_LEARN_FORMAT_FORMAT_H

#include <clotho/model.h>
#include <stdint.h>

#define CLO_FORMAT_MAGIC "CLOM"

enum { CLO_FORMAT_ALIGN = 16 };

/* Tables of the file, in the order of the header. */
enum { CLO_PART_FEATURES, CLO_PART_VALUES, CLO_PART_LAYERS, CLO_PART_TABLES, CLO_PART_OPS, CLO_PART_GOLDEN, CLO_PARTS };

typedef struct clo_format_part {
    uint32_t offset, count;
} clo_format_part;

typedef struct clo_format_header {
    char magic[4];
    uint16_t major, minor;
    /* of the whole file; a multiple of 16 */
    uint32_t bytes;
    /* of everything but this field */
    uint32_t crc;
    uint16_t header_bytes, kind;
    uint32_t feature_set;
    /* printable ASCII, zeros behind it */
    char name[CLO_MODEL_NAME_BYTES];
    /* values; CLO_MODEL_NONE: there is none */
    uint16_t score, limit;
    uint32_t zero;
    clo_format_part parts[CLO_PARTS];
    uint64_t zeros[2];
} clo_format_header;

/* Features of the first input value, then of the next one. */
typedef struct clo_format_feature {
    char name[CLO_MODEL_FEATURE_BYTES];
    int32_t mult;
    uint8_t shift, zero[3];
    int16_t lo, hi;
    uint32_t zeros[3];
} clo_format_feature;

typedef struct clo_format_value {
    uint8_t number, domain;
    uint16_t width;
    int16_t exponent;
    uint8_t is_input, zero;
    uint32_t zeros[2];
} clo_format_value;

/* inputs 0: the rule alone. Offsets of what is not needed are 0. */
typedef struct clo_format_layer {
    uint32_t inputs, outputs;
    uint32_t weights, bias, folded, pre, m;
    int16_t lo, hi, leaky;
    uint8_t number, zero;
    uint32_t zeros[7];
} clo_format_layer;

typedef struct clo_format_table {
    uint32_t offset;
    /* CLO_S8: 256 numbers; CLO_S16: 257 */
    uint8_t number, zero[3];
    uint32_t zeros[2];
} clo_format_table;

typedef struct clo_format_op {
    uint16_t op, on, out, argument, in[CLO_MODEL_OP_INPUTS];
    uint16_t zeros[9];
} clo_format_op;

typedef struct clo_format_golden {
    uint32_t stages, jobs, limits, edges;
    /* int16 [all input values, one after the other][rows][width] */
    uint32_t inputs;
    /* uint32 [stages], [stages + 1], [edges], [limits] */
    uint32_t job_of_stage, child_begin, children, job_of_limit;
    /* int32 [stages], [limits] */
    uint32_t scores, limit_scores;
    uint32_t zero;
} clo_format_golden;

_Static_assert(sizeof(clo_format_header) == 128, "header");
_Static_assert(sizeof(clo_format_feature) == 48, "feature");
_Static_assert(sizeof(clo_format_value) == 16, "value");
_Static_assert(sizeof(clo_format_layer) == 64, "layer");
_Static_assert(sizeof(clo_format_table) == 16, "table");
_Static_assert(sizeof(clo_format_op) == 32, "op");
_Static_assert(sizeof(clo_format_golden) == 48, "golden");

#endif
