/* service/service.h - a service from inside: what runs where, by the driver's account and by the scheduler's.
 *
 * The scheduler knows no lost executors. To it one runs what it was given until it is restored: so it chooses nothing
 * else for it. What the caller hears is kept apart from that, in `places` and `live_job.is_told`. */
#ifndef CLO_SERVICE_SERVICE_H
#define CLO_SERVICE_SERVICE_H

#include "engine/scheduler/scheduler.h"

#include <clotho/service.h>

/* A live job, in its own arena. */
typedef struct clo_service_live {
    clo_scheduler_job *job;
    clo_arena arena;
    clo_control_flow control_flow; /* in use if the graph has branches */
    uint32_t held;                 /* executions that are lost, but run to the scheduler */
    bool is_told;                  /* the caller knows that it is over */
} clo_service_live;

/* An executor. */
typedef struct clo_service_place {
    clo_service_choice choice; /* valid unless idle */
    clo_service_state state;
    bool is_lost;
} clo_service_place;

struct clo_service {
    const clo_platform *platform;
    uint32_t executors, jobs_max;
    uint64_t seed;
    clo_log *log;
    clo_scheduler *scheduler;
    clo_arena arena;
    clo_service_live **jobs; /* [jobs_count] by number; NULL: over */
    size_t jobs_count, jobs_capacity;
    clo_service_place *places; /* [executors] */
    uint32_t *skips;           /* [executors] where something is skipped that ends at once */
    uint32_t skips_count;
    clo_service_choice *choices; /* [executors] of the last event, in order */
    uint32_t choices_count, choices_taken;
    clo_service_end *ends; /* [jobs_max] likewise */
    uint32_t ends_count, ends_taken;
    int64_t now_ns;
    bool is_over; /* the log has its last record */
};

/* The parts of events that a restart needs, too: what is given has been checked. */

/* The job enters at service->now_ns. Returns CLO_OK, CLO_ERR_LIMIT, CLO_ERR_MEMORY, CLO_ERR_INVALID or what the
 * policy's prepare returned. */
clo_status clo_service_enter(clo_service *service, const clo_cost *cost, const clo_scheduler_job_config *terms,
                             int64_t now_ns);

/* What runs on the executor has ended; `arm` of a branch, CLO_NONE: none was chosen. */
void clo_service_leave(clo_service *service, uint32_t executor, uint32_t arm, int64_t start_ns);

/* The job is stopped. */
void clo_service_stop(clo_service *service, clo_service_live *live, bool has_failed);

/* Takes all orders and ends of the scheduler. */
void clo_service_settle(clo_service *service);

#endif
