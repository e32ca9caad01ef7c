/* policy/select/users.h - policies that share among users: drf, capacity. A user is a group of jobs; a job without a
 * group is a user of its own. The user with the smallest share goes first, in it the job that arrived first.
 *
 * What a user holds is counted from the rows of stages, whenever one changes, so replicas and what waits in queues
 * count too. Groups count modulo CLO_USER_GROUPS. O(log jobs) an event, and a decision that passes no job. */
#ifndef CLO_POLICY_SELECT_USERS_H
#define CLO_POLICY_SELECT_USERS_H

#include "policy/select/heaps.h"
#include "policy/select/select.h"
#include "policy/select/share.h"

#define CLO_USER_GROUPS 64u

typedef struct clo_users {
    uint32_t jobs;
    bool by_dominant;                   /* share: the largest of all amounts; else of executors alone */
    int64_t totals[CLO_SHARE_AMOUNTS];  /* of the platform; 0: not limited */
    int64_t (*used)[CLO_SHARE_AMOUNTS]; /* [groups + jobs] of groups, then of each slot */
    clo_heaps_node *users;              /* [bands * groups + jobs] by share */
    clo_heaps_node *job_nodes;          /* [jobs] by arrival */
    uint32_t *first_job;                /* [bands * groups + jobs] root of the user's jobs */
    uint32_t *group;                    /* [jobs] CLO_NONE: a user of its own */
    uint32_t *band;                     /* [jobs] */
    uint32_t *aside;                    /* [jobs] passed in one decision */
    uint32_t aside_count;
    uint32_t first_user[CLO_BANDS_MAX];
} clo_users;

size_t clo_users_bytes(const clo_limits *limits, const void *argument);
void clo_users_open(clo_users *users, const clo_view *view, bool by_dominant);

/* Of a job: what of each stage has been counted. */
size_t clo_users_job_bytes(const clo_cost *cost);

/* `counted` [tasks] belongs to event->job. */
void clo_users_event(clo_users *users, const clo_view *view, const clo_event *event, uint32_t *counted);

/* As functions of a clo_job_order; the order is the users. */
uint32_t clo_users_first(void *order, const clo_view *view, uint32_t band);
void clo_users_pass(void *order, const clo_view *view, uint32_t band);
void clo_users_restore(void *order, const clo_view *view);

#endif
