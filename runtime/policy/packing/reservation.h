/* policy/packing/reservation.h - room that is kept for stages that do not fit now, by the expected ends of what runs: for
 * one (EASY backfilling: Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995) or for several (conservative
 * backfilling: Mu'alem, Feitelson, IEEE TPDS 12, 2001). Made anew for each decision, so it needs no records in a log. */
#ifndef CLO_POLICY_PACKING_RESERVATION_H
#define CLO_POLICY_PACKING_RESERVATION_H

#include "policy/packing/packing.h"

#include <string.h>

enum { CLO_RESERVATIONS_MAX = 16 };

typedef struct clo_reservation {
    uint32_t machine;
    int64_t from_ns, until_ns;
    int64_t needs[CLO_RESOURCES_MAX]; /* of the machine's resources that are limited */
    int64_t spare[CLO_RESOURCES_MAX]; /* left over at from_ns and, but for what is kept later, from then on */
} clo_reservation;

/* Begin with a count of 0. */
typedef struct clo_reservations {
    uint32_t count;
    clo_reservation list[CLO_RESERVATIONS_MAX];
} clo_reservations;

/* Adds room for an instance of the stage, where it is there first and delays nothing that was kept before; none, if
 * there are too many machines to look at, or there is none before before_ns. False: the decision has reached its bound.
 * O(machines * executors). */
bool clo_reservation_make(const clo_view *view, uint32_t slot, uint32_t stage, int64_t before_ns,
                          clo_reservations *kept);

/* An instance on the candidate's executor takes no room of what is kept. Executors are not counted: it may take the last
 * one that a stage with room could start on. */
bool clo_reservations_let_pass(const clo_view *view, const clo_reservations *kept, const clo_candidate *c);

#endif
