/* rest.h - the rest of a build as a list of steps, and the schedule that follows from it.
 *
 * The steps that have not begun stand in a list, a step behind those that it waits for. A schedule places them in that
 * order, each at the earliest time at which its inputs are there and slot, memory and pools have room from then until
 * its end (the serial scheme of RCPSP; Kolisch 1996). So a large step keeps the room that it needs, and small ones fill
 * what it leaves: conservative backfilling, with the times and needs that were learned. A list is improved by moving
 * steps in it and justifying what comes of it. Only the first REST_WINDOW steps of a list are looked at.
 *
 * All times are on the caller's clock, in ns. Of one thread at a time. */
#ifndef CLO_TOOLS_CLOTHO_BUILD_PLAN_REST_H
#define CLO_TOOLS_CLOTHO_BUILD_PLAN_REST_H

#include <clotho/clotho.h>

enum { REST_WINDOW = 256, REST_RESOURCES = CLO_RESOURCES_MAX + 1 /* slots are the first */, REST_MEMORY = 1 };

typedef enum rest_state { REST_WAITS, REST_RUNS, REST_IS_DONE } rest_state;

typedef struct rest_task {
    int64_t time_ns, began_ns;
    int64_t start_ns; /* in the last schedule */
    double weight;    /* of its start among all of a schedule */
    int64_t need[REST_RESOURCES];
    uint32_t parents, parents_count, children, children_count; /* begin of its lists in `links` */
    uint32_t position;                                         /* in the list, while it waits */
    rest_state state;
} rest_task;

/* From a time on, to that of the next point. */
typedef struct rest_point {
    int64_t at_ns;
    int64_t left[REST_RESOURCES];
} rest_point;

typedef struct build_rest {
    uint32_t tasks_count, resources; /* the latter with slots */
    uint32_t waiting, running_count; /* lengths of `list` and `running` */
    rest_task *tasks;                /* [tasks_count] */
    uint32_t *links;                 /* parents and children of all */
    uint32_t *planned;               /* [tasks_count] the list at the beginning */
    uint32_t *list;                  /* [tasks_count] what waits, in order */
    uint32_t *running;               /* [tasks_count] */
    rest_point *points, *base;       /* a profile, and the one of what runs alone */
    uint32_t points_count, base_count, points_most;
    int64_t capacity[REST_RESOURCES];
    int64_t now_ns;
    double lateness; /* of the last schedule: starts, weighted */
    uint64_t random;
    void *memory; /* of a copy; else NULL */
} build_rest;

/* Bytes of what rest_open lays behind `at`, aligned as int64_t. */
size_t rest_bytes(const clo_cost *cost);
/* Reads the graph and plans it with the planner `best`: the list is in order of the planned starts. `at`: kept by the
 * caller as long as `r`. Allocates for the time of the planning. */
clo_status rest_open(build_rest *r, void *at, const clo_cost *cost);

/* All steps wait, in the planned order. */
void rest_begin(build_rest *r);
void rest_started(build_rest *r, uint32_t task, int64_t now_ns);
void rest_ended(build_rest *r, uint32_t task);

/* What is expected of a step has changed: its time and what it needs of a resource, cut at the capacity. */
void rest_expect(build_rest *r, uint32_t task, int64_t time_ns, uint32_t resource, int64_t need);

/* Schedules the list from now on. What runs longer than it was to is taken to end soon. Returns the makespan. */
int64_t rest_schedule(build_rest *r, int64_t now_ns);
/* Looks for a list with a shorter makespan, for some most_ns. */
void rest_improve(build_rest *r, int64_t now_ns, int64_t most_ns);
/* A copy to improve: zero at first, then used again. Without memory it has no waiting step. */
void rest_copy(build_rest *copy, const build_rest *from);
void rest_free_copy(build_rest *copy);
/* Takes the order of an improved copy where it ends earlier than its own one; what has begun since then is left out. */
void rest_adopt(build_rest *r, const build_rest *copy, int64_t now_ns);
/* Of the list's steps, from *at on, the next one that the last schedule begins at once; CLO_NONE: no further one. */
uint32_t rest_next(const build_rest *r, uint32_t *at);

#endif
