/* policy/network/parametric_argument.h - the numbers of the policy "parametric": built-in sets, and their text. */
#ifndef CLO_POLICY_NETWORK_PARAMETRIC_ARGUMENT_H
#define CLO_POLICY_NETWORK_PARAMETRIC_ARGUMENT_H

#include "policy/packing/due.h"
#include <clotho/status.h>

#include <stdint.h>

/* The numbers, in the order of the argument; parametric.c says what they do. */
enum {
    CLO_W_REM,
    CLO_W_OWN,
    CLO_W_WAIT,
    CLO_W_EX,
    CLO_W_CP,
    CLO_L_SCALE,
    CLO_L_REM,
    CLO_L_JOBS,
    CLO_SHARE,
    CLO_PARAMETRIC_NUMBERS
};

/* As unit_ns: a share of the mean work of the jobs that come. */
#define CLO_UNIT_LEARNT 0

/* An argument that was read. */
typedef struct clo_parametric {
    int32_t q16[CLO_PARAMETRIC_NUMBERS], fit_q16, size_q16;
    clo_goal goal; /* what becomes of deadlines */
    /* Or CLO_UNIT_LEARNT. */
    int64_t unit_ns;
} clo_parametric;

/* The set that is built in as default, and those of `auto`, by what it is for. */
extern const clo_parametric clo_parametric_default, clo_parametric_any, clo_parametric_late;

/* As clo_policy.parse. */
clo_status clo_parametric_parse(const char *text, void *argument);

#endif
