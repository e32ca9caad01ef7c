/* policy/network/parametric.h - the tuned parametric policy, for the policies that add to what it decides by. */
#ifndef CLO_POLICY_NETWORK_PARAMETRIC_H
#define CLO_POLICY_NETWORK_PARAMETRIC_H

#include "policy/network/residual_network.h"

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
    /* Or CLO_UNIT_LEARNT. */
    int64_t unit_ns;
} clo_parametric;

/* The set that is built in as default, and that of `auto`. */
extern const clo_parametric clo_parametric_default, clo_parametric_any;

/* As the functions of clo_policy. */
clo_status clo_parametric_parse(const char *text, void *argument);
size_t clo_parametric_bytes(const clo_limits *limits, const void *argument);
void clo_parametric_event(void *state, const clo_view *view, const clo_event *e);
bool clo_parametric_decide(void *state, const clo_view *view, clo_choice *choice);

/* Other numbers from now on; a unit that is learnt goes on. During an event, before clo_parametric_event. */
void clo_parametric_use(void *state, const clo_view *view, const clo_parametric *numbers);

/* Fills the state, clo_parametric_bytes of zeros.
 *   given     copied; NULL: the built-in numbers.
 *   residual  adds to values, limits and bonuses; borrowed with the state. NULL: nothing does. */
void clo_parametric_open(void *state, const clo_view *view, const clo_parametric *given, clo_residual *residual);

#endif
