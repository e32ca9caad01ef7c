/* policy/network/answers.h - a small network beside a rule: rows of features in, and out numbers that are added to what
 * the rule decides by. What "residual" and "easy-residual" have in common. */
#ifndef CLO_POLICY_NETWORK_ANSWERS_H
#define CLO_POLICY_NETWORK_ANSWERS_H

#include "base/memory.h"
#include "learn/model/builtin.h"

#include <clotho/learned.h>

/* Most features, and most rows that are asked about at once. */
enum { CLO_ANSWERS_FEATURES_MAX = 18, CLO_ANSWERS_ROWS_MAX = 64 };

/* Answers are cut off here, either way: so many octaves, in Q16. */
#define CLO_ANSWERS_MOST (8 * 65536)

/* Whose network it is. The first `limit_features` are those of limits, too. */
typedef struct clo_answers_kind {
    const char *policy, *rule, *command; /* the policy that it is beside; the command that trains it */
    const char *argument;                /* what may be written */
    uint32_t feature_set, features, limit_features;
} clo_answers_kind;

/* Lies in memory of the policy's state; nothing is to be freed. */
typedef struct clo_answers clo_answers;

/* CLO_OK, or CLO_ERR_ARGUMENT: there is no model, or it is not of the list, or lacks a score. */
clo_status clo_answers_check(const clo_answers_kind *kind, const clo_model *model);

/* The argument with its defaults. The rule's numbers have an end, and are not checked further. */
clo_status clo_answers_read(const clo_answers_kind *kind, const void *argument, clo_residual_argument *out);

/* Opens the built-in model in `room` where the argument names none (NULL: there is none), and checks the model. Last of all
 * that may fail: a state whose argument is wrong has no bytes, so nothing may be written there before that is known.
 *   room_bytes  room that there is; receives what the built-in model takes, or 0. */
clo_status clo_answers_put_model(const clo_answers_kind *kind, const clo_builtin_model *builtin, void *room,
                                 size_t *room_bytes, clo_residual_argument *with);

/* "FILE" or "FILE,NUMBERS": loads and checks the model. *numbers: in the text; NULL: there are none. */
clo_status clo_answers_parse(const clo_answers_kind *kind, const char *text, const char **numbers,
                             clo_residual_argument *out);

/* Of clo_policy: destroys the model that clo_answers_parse has loaded. */
void clo_answers_release(const void *argument);

/* Whole cache lines. */
static inline size_t clo_answers_up(size_t bytes)
{
    return (bytes + CLO_CACHE_LINE_BYTES - 1) / CLO_CACHE_LINE_BYTES * CLO_CACHE_LINE_BYTES;
}

/* Of a model that was checked. rows: that are asked about at once. `memory`: so many bytes of zeros, anywhere. */
size_t clo_answers_bytes(const clo_model *model, uint32_t rows);
clo_answers *clo_answers_open(const clo_answers_kind *kind, const clo_residual_argument *argument, uint32_t rows,
                              void *memory);

/* row[features]: the raw features within the ranges of the model. False: some were beyond, and are cut off. */
bool clo_answers_row(const clo_answers *answers, const int32_t *raw, int16_t *row);

/* Each in Q16 of an octave. values[count] of rows[count][features]; the limit of one row, after values were asked for. */
void clo_answers_values(clo_answers *answers, const int16_t *rows, uint32_t count, int32_t *values);
int32_t clo_answers_limit(clo_answers *answers, const int16_t *row);

/* Tells the recorder, if there is one. */
void clo_answers_tell(const clo_answers *answers, const int16_t *row, int32_t value, int32_t limit);

#endif
