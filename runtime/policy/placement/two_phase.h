/* policy/placement/two_phase.h - two-phase policies: a selection (which stage next) and a placement (where), as
 * LACHESIS separates them (section 4). The placements are policies, eft and deft; the selection is their argument:
 * "eft:sjf", "deft:wfair:-0.5" (a selection's own argument follows it). So n selections and two placements are n + 2
 * files. Selections stand in policy/queue, policy/task, replan.c and policy/decima.
 *
 * Without an argument each stage is placed as soon as it is ready, the oldest first. With one, stages whose
 * predecessors have finished (LACHESIS, definition 3) are selected and placed, and only while some executor has
 * nothing to do. Else whatever is ready would lie in queues at once, and the selection would have nothing to choose
 * from. */
#ifndef CLO_POLICY_PLACEMENT_TWO_PHASE_H
#define CLO_POLICY_PLACEMENT_TWO_PHASE_H

#include "policy/select/select.h"

/* Bytes that the argument of a selection may have. */
enum { CLO_SELECTOR_ARGUMENT_BYTES = 96 };

typedef struct clo_two_phase {
    const clo_selector *selector;
    _Alignas(8) unsigned char argument[CLO_SELECTOR_ARGUMENT_BYTES];
    bool has_argument;
} clo_two_phase;

/* Sets executor and duplicate of a choice whose job and stage are set. */
typedef void (*clo_placement)(const clo_view *view, clo_choice *choice);

/* The placement of deft.c: a clo_placement. */
void clo_place_by_deft(const clo_view *view, clo_choice *choice);

/* For the descriptor of a placement; the argument is a clo_two_phase, or NULL. */
clo_status clo_two_phase_parse(const char *text, void *argument);
size_t clo_two_phase_bytes(const clo_limits *limits, const void *argument);
size_t clo_two_phase_job_bytes(const clo_cost *cost, const void *argument);
clo_status clo_two_phase_prepare(void *job_state, const clo_cost *cost, const void *argument);
clo_status clo_two_phase_init(void *state, const clo_view *view);
void clo_two_phase_release(const void *argument);
void clo_two_phase_event(void *state, const clo_view *view, const clo_event *event);

/* What `selector`, whose state this is, selects among stages that have their inputs, placed; while some executor has
 * nothing to do. */
bool clo_two_phase_choose(const clo_selector *selector, void *state, const clo_view *view, clo_placement place,
                          clo_choice *choice);
bool clo_two_phase_decide(void *state, const clo_view *view, clo_placement place, clo_choice *choice);

#endif
