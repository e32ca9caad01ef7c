/* dot_attributes.c - see dot_attributes.h. Keys in any case; numbers as strtod reads them, with a decimal point. */
#define _POSIX_C_SOURCE 200809L
#include "io/workflow/dot_attributes.h"

#include "base/status.h"
#include "base/text.h"
#include "io/text/json_scan.h"

#include <clotho/branch.h>

#include <string.h>
#include <strings.h>

static clo_status read_number(const clo_dot_lexer *l, const char *key, double max, double *out)
{
    char *end;
    double value = clo_number_read(l->token.text, &end);

    if (l->token.text[0] == '\0' || *end != '\0' || !(value >= 0))
        return clo_fail(CLO_ERR_FORMAT, "%s:%zu: %s is '%.80s'; write a number >= 0", l->file,
                        clo_text_line(l->text, l->token.at), key, l->token.text);
    if (!(value <= max))
        return clo_fail(CLO_ERR_LIMIT, "%s:%zu: %s is %.80s; the largest possible is %g", l->file,
                        clo_text_line(l->text, l->token.at), key, l->token.text, max);
    *out = value;
    return CLO_OK;
}

static clo_status read_whole(const clo_dot_lexer *l, const char *key, double max, double *out)
{
    clo_status status = read_number(l, key, max, out);

    if (status == CLO_OK && *out != (double)(int64_t)*out)
        return clo_fail(CLO_ERR_FORMAT, "%s:%zu: %s is %.80s; write a whole number", l->file,
                        clo_text_line(l->text, l->token.at), key, l->token.text);
    return status;
}

static clo_status read_class(const clo_dot_lexer *l, clo_dot_attributes *a)
{
    static const char *const names[CLO_CLASSES_BUILTIN] = {"generic", "integer", "float", "memory"};
    double number = 0;

    for (uint32_t k = 0; k < CLO_CLASSES_BUILTIN; k++)
        if (strcmp(l->token.text, names[k]) == 0) {
            a->task_class = (uint16_t)k;
            return CLO_OK;
        }
    clo_status status = read_whole(l, "class", UINT16_MAX, &number);
    a->task_class = (uint16_t)number;
    return status;
}

static clo_status read_flag(const clo_dot_lexer *l, const char *key, uint8_t *out)
{
    static const char *const yes[] = {"true", "yes", "1"}, *const no[] = {"false", "no", "0"};

    for (size_t k = 0; k < 3; k++)
        if (strcasecmp(l->token.text, yes[k]) == 0 || strcasecmp(l->token.text, no[k]) == 0) {
            *out = strcasecmp(l->token.text, yes[k]) == 0;
            return CLO_OK;
        }
    return clo_fail(CLO_ERR_FORMAT, "%s:%zu: %s is '%.80s'; write true or false", l->file,
                    clo_text_line(l->text, l->token.at), key, l->token.text);
}

/* Counts of branches, each with its own limit. */
static clo_status read_mode(const clo_dot_lexer *l, unsigned bit, clo_dot_attributes *a)
{
    const char *key = bit == CLO_DOT_HAS_ARMS ? "arms" : bit == CLO_DOT_HAS_BOUND ? "bound" : "arm";
    double most = bit == CLO_DOT_HAS_ARMS    ? CLO_ARMS_MAX
                  : bit == CLO_DOT_HAS_BOUND ? CLO_LOOP_BOUND_MAX
                                             : CLO_ARMS_MAX - 1;
    double count = 0;
    clo_status status = read_whole(l, key, most, &count);

    if (status == CLO_OK && count < 1 && bit != CLO_DOT_HAS_ARM)
        return clo_fail(CLO_ERR_FORMAT, "%s:%zu: %s is 0; write 1 to %g", l->file, clo_text_line(l->text, l->token.at),
                        key, most);
    *(bit == CLO_DOT_HAS_ARMS ? &a->arms : bit == CLO_DOT_HAS_BOUND ? &a->bound : &a->arm) = (uint32_t)count;
    return status;
}

/* The token is the value of `key`. */
static clo_status read_attribute(const clo_dot_lexer *l, const char *key, clo_dot_attributes *a)
{
    static const struct {
        const char *key;
        unsigned bit;
    } keys[] = {{"work_ns", CLO_DOT_HAS_WORK},
                {"weight", CLO_DOT_HAS_WEIGHT},
                {"bytes", CLO_DOT_HAS_BYTES},
                {"output_bytes", CLO_DOT_HAS_OUTPUT},
                {"class", CLO_DOT_HAS_CLASS},
                {"duplicable", CLO_DOT_HAS_DUPLICABLE},
                {"instances", CLO_DOT_HAS_INSTANCES},
                {"grain", CLO_DOT_HAS_GRAIN},
                {"arms", CLO_DOT_HAS_ARMS},
                {"chances", CLO_DOT_HAS_CHANCES},
                {"bound", CLO_DOT_HAS_BOUND},
                {"merge", CLO_DOT_HAS_MERGE},
                {"arm", CLO_DOT_HAS_ARM}};
    unsigned bit = 0;
    double count = 0;
    clo_status status = CLO_OK;

    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
        if (strcasecmp(key, keys[k].key) == 0)
            bit = keys[k].bit;
    if (bit == CLO_DOT_HAS_CLASS)
        status = read_class(l, a);
    else if (bit == CLO_DOT_HAS_DUPLICABLE)
        status = read_flag(l, "duplicable", &a->duplicable);
    else if (bit == CLO_DOT_HAS_MERGE)
        status = read_flag(l, "merge", &a->merge);
    else if (bit == CLO_DOT_HAS_CHANCES)
        a->chances = l->token.text;
    else if (bit == CLO_DOT_HAS_ARMS || bit == CLO_DOT_HAS_BOUND || bit == CLO_DOT_HAS_ARM)
        status = read_mode(l, bit, a);
    else if (bit == CLO_DOT_HAS_INSTANCES || bit == CLO_DOT_HAS_GRAIN)
        status = read_whole(l, key, UINT32_MAX - 2, &count);
    else if (bit != 0)
        status = read_number(l, key, 0x1p62,
                             bit == CLO_DOT_HAS_WORK     ? &a->work_ns
                             : bit == CLO_DOT_HAS_WEIGHT ? &a->weight
                             : bit == CLO_DOT_HAS_BYTES  ? &a->bytes
                                                         : &a->output_bytes);
    if (status == CLO_OK && bit == CLO_DOT_HAS_INSTANCES && count < 1)
        return clo_dot_wrong(l, "0 instances; write 1 or more");
    if (bit == CLO_DOT_HAS_INSTANCES)
        a->instances = (uint32_t)count;
    if (bit == CLO_DOT_HAS_GRAIN)
        a->grain = (uint32_t)count;
    a->has |= bit;
    return status;
}

/* [key=value, key=value; ...] [...]; the token is the first '['. Leaves the token behind the last ']'. */
clo_status clo_dot_attributes_read(clo_dot_lexer *l, clo_dot_attributes *a)
{
    clo_status status = CLO_OK;

    while (status == CLO_OK && clo_dot_is_sign(l, '[')) {
        status = clo_dot_next(l);
        while (status == CLO_OK && l->token.kind == CLO_DOT_ID) {
            const char *key = l->token.text;
            if ((status = clo_dot_next(l)) == CLO_OK && clo_dot_is_sign(l, '=')) {
                status = clo_dot_next(l);
                if (status == CLO_OK && l->token.kind != CLO_DOT_ID)
                    return clo_dot_wrong(l, "expected the value of an attribute after '='");
                if (status == CLO_OK)
                    status = read_attribute(l, key, a);
                if (status == CLO_OK)
                    status = clo_dot_next(l);
            }
            if (status == CLO_OK && (clo_dot_is_sign(l, ',') || clo_dot_is_sign(l, ';')))
                status = clo_dot_next(l);
        }
        if (status == CLO_OK && !clo_dot_is_sign(l, ']'))
            return clo_dot_wrong(l, "expected key=value or ']' in a list of attributes");
        if (status == CLO_OK)
            status = clo_dot_next(l);
    }
    return status;
}

void clo_dot_attributes_merge(clo_dot_attributes *into, const clo_dot_attributes *from)
{
    into->work_ns = from->has & CLO_DOT_HAS_WORK ? from->work_ns : into->work_ns;
    into->weight = from->has & CLO_DOT_HAS_WEIGHT ? from->weight : into->weight;
    into->bytes = from->has & CLO_DOT_HAS_BYTES ? from->bytes : into->bytes;
    into->output_bytes = from->has & CLO_DOT_HAS_OUTPUT ? from->output_bytes : into->output_bytes;
    into->instances = from->has & CLO_DOT_HAS_INSTANCES ? from->instances : into->instances;
    into->grain = from->has & CLO_DOT_HAS_GRAIN ? from->grain : into->grain;
    into->task_class = from->has & CLO_DOT_HAS_CLASS ? from->task_class : into->task_class;
    into->duplicable = from->has & CLO_DOT_HAS_DUPLICABLE ? from->duplicable : into->duplicable;
    into->arms = from->has & CLO_DOT_HAS_ARMS ? from->arms : into->arms;
    into->chances = from->has & CLO_DOT_HAS_CHANCES ? from->chances : into->chances;
    into->bound = from->has & CLO_DOT_HAS_BOUND ? from->bound : into->bound;
    into->merge = from->has & CLO_DOT_HAS_MERGE ? from->merge : into->merge;
    into->arm = from->has & CLO_DOT_HAS_ARM ? from->arm : into->arm;
    into->has |= from->has;
}
