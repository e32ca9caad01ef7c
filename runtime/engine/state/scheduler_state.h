/* engine/state/scheduler_state.h - the struct of the scheduler, for its own files alone: scheduler.c (inputs), enter.c
 * (jobs enter, and cancelled ones leave), show.c (a new policy is shown what lives), choose.c (choices and the rule),
 * start.c (executions begin), bind.c and move.c (executors go to jobs), reservation.c (capacities), lists.c (ready
 * stages, live jobs), view.c (what a policy may read), note.c (the log; the policy is told). note.h, reservation.h,
 * start.h and data_placement.h have what every execution asks and is mostly answered at once. */
#ifndef CLO_ENGINE_STATE_SCHEDULER_STATE_H
#define CLO_ENGINE_STATE_SCHEDULER_STATE_H

#include "engine/state/order.h"

#include <clotho/log.h>

/* Instances of a stage that wait in an executor's queue. */
typedef struct clo_queue_entry {
    uint32_t job, stage, instance, count; /* instance, instance + 1, ... */
    bool is_replica;
    int64_t decided_ns;
    uint32_t next; /* CLO_NONE: the last; also chains the free entries */
} clo_queue_entry;

typedef struct clo_queue {
    uint32_t head, tail;
    bool lacks_capacity; /* its head waits for capacity only: others may use the executor */
    bool yields;         /* its head waits until higher bands are decided about: these may use the executor */
} clo_queue;

/* The ready stage that has waited for a machine's capacity longest. */
typedef struct clo_capacity_waiter {
    clo_ready_stage who; /* job CLO_NONE: nobody */
    uint32_t overtaken;  /* starts of others with demands since then */
    uint64_t ticket;     /* in a semaphore that others use too; CLO_SEMAPHORE_NEW: none */
    bool is_untold;      /* it has changed since the log was told */
} clo_capacity_waiter;

/* Jobs that one input does not get through with, in order of arrival for each band; see enter.c. */
typedef struct clo_piece_list {
    uint32_t first[CLO_BANDS_MAX], last[CLO_BANDS_MAX]; /* slots */
    uint32_t bands;                                     /* bit b: there is one of band b */
} clo_piece_list;

/* How far a new policy has been shown what lives; see show.c. */
typedef enum clo_show_phase { CLO_SHOW_OVER = 0, CLO_SHOW_LISTS, CLO_SHOW_JOBS, CLO_SHOW_STAGES } clo_show_phase;

typedef struct clo_showing {
    clo_show_phase phase;
    uint32_t job, task; /* lists, jobs: the next one. job CLO_NONE: none */
    uint32_t band;      /* stages: the list, and the next of it */
    clo_ready_stage at;
    bool mark; /* jobs and listed stages that the policy knows carry it; each swap turns it over */
} clo_showing;

struct clo_view {
    clo_scheduler *self; /* for what a policy changes by looking: steps, and who waits for capacity */
    const clo_platform *platform;
    clo_limits limits;
    clo_policy_use use;
    uint32_t version; /* of the policy: 0, and one more with each swap */
    int64_t now_ns, wake_ns;
    uint64_t next_id;

    clo_scheduler_job **jobs; /* [limits.jobs]; NULL: free slot */
    uint32_t *free_slots;
    uint32_t free_count, live_count;
    uint32_t first_job, last_job;
    clo_scheduler_job *first_ended, *last_ended;

    clo_live_executor *executors; /* [executors] */
    uint32_t *home_slot;          /* [executors] of clo_live_executor.home; CLO_NONE: none */
    uint64_t *free_set;           /* [words] executors that may be given work */
    uint32_t words, free_executors;
    uint32_t running;       /* executors that run something */
    uint32_t moving;        /* executors that are on their way */
    bool has_moves;         /* the driver takes them as orders */
    bool passes_duplicates; /* nothing is recomputed */
    clo_queue *queues;
    clo_queue_entry *entries;
    uint32_t free_entry;
    uint32_t free_entries, kept_entries; /* those free; of these each band leaves so many to each higher one */
    uint32_t lacking;                    /* queues whose head lacks capacity */
    uint32_t yielding;                   /* queues whose head yields */

    clo_ready_stage first[CLO_BANDS_MAX], last[CLO_BANDS_MAX]; /* listed stages */
    uint32_t live[CLO_BANDS_MAX];                              /* jobs */
    uint32_t listed_bands, live_bands; /* bit b: some stage of band b is listed; some job of it lives */
    uint32_t band;
    clo_piece_list entering, leaving; /* jobs that have not entered as a whole; cancelled ones that are still listed */
    clo_showing showing;
    uint32_t exhausted; /* bit b: the policy has nothing more for band b until the next input */
    bool is_ruled;      /* a choice was refused: the rule decides until the next input */
    bool is_cut;        /* since the last input a decision has reached its bound */

    const clo_scheduler_room *room;     /* others use the semaphores too; NULL: they are our own */
    clo_semaphore **semaphores;         /* [machines] */
    const clo_scheduler_script *script; /* what those semaphores said in the run that is repeated; NULL: none is */
    int64_t (*own)[CLO_RESOURCES_MAX];  /* [machines] what our own executions leave */
    bool settles;                       /* answers of semaphores are compared with `own`: a log or a script is there */
    uint32_t questions;                 /* to semaphores that others use, since the last input */
    bool is_short;                      /* since the last input a semaphore that others use has refused something */
    clo_capacity_waiter *waiters;       /* [machines] */
    bool has_demands;                   /* some job had */

    clo_order *orders; /* [executors] ring */
    uint32_t order_first, order_count;

    clo_log *log;        /* NULL: none */
    uint64_t sum;        /* of the inputs in the log, see CLO_LOG_SUM */
    uint32_t sum_inputs; /* since the last SUM */
    bool is_drained;     /* nothing is left to be decided until the next input */
    uint32_t steps_max, steps, turn_steps;
    uint32_t limits_set; /* since the last input, by choices that start nothing */
    uint32_t moves_made; /* likewise, that took no time */
    clo_scheduler_counts counts;
    char refusal[192];
};

/* The bands that may be decided about now, and have something to be decided: not those from a cancelled job's on that
 * still leaves, nor those where nothing was found since the last input. */
static inline uint32_t clo_bands_open(const clo_scheduler *scheduler, uint32_t bands)
{
    uint32_t leaving = scheduler->leaving.bands;

    return bands & ~scheduler->exhausted & (leaving != 0 ? (leaving & -leaving) - 1 : ~0u);
}

/* enter.c: the first piece of a job; the next one of the oldest job of the highest band that is not whole (true: now it
 * is); what of the job has not entered yet never will. */
void clo_enter_begin(clo_scheduler *scheduler, clo_scheduler_job *job);
bool clo_enter_go_on(clo_scheduler *scheduler);
void clo_enter_drop(clo_scheduler *scheduler, clo_scheduler_job *job);
/* The same of a cancelled job that leaves the lists; the job that goes on, of which nothing is left where
 * job->leaving is CLO_NONE. */
void clo_leave_begin(clo_scheduler *scheduler, clo_scheduler_job *job);
clo_scheduler_job *clo_leave_go_on(clo_scheduler *scheduler);
void clo_enter_reset(clo_piece_list *list);

/* show.c: the policy is new, `relists` says that its readiness is another one than the last policy's; the first piece
 * is shown. The next one; true: it was the last. The stage is about to start, and the policy must know it. */
void clo_show_begin(clo_scheduler *scheduler, bool relists);
bool clo_show_go_on(clo_scheduler *scheduler);
void clo_show_stage(clo_scheduler *scheduler, clo_scheduler_job *job, uint32_t stage);

/* lists.c. What is removed, showing goes past it. */
void clo_lists_add_job(clo_scheduler *scheduler, clo_scheduler_job *job);
void clo_lists_remove_job(clo_scheduler *scheduler, clo_scheduler_job *job);
void clo_lists_add_stage(clo_scheduler *scheduler, clo_scheduler_job *job, uint32_t stage);
void clo_lists_remove_stage(clo_scheduler *scheduler, clo_scheduler_job *job, uint32_t stage);
/* All stages of the job leave its own list at once, for the view: `job->leaving` is the first of them. */
void clo_lists_close_job(clo_scheduler_job *job);
/* That one leaves the list of its band. */
void clo_lists_remove_leaving(clo_scheduler *scheduler, clo_scheduler_job *job);

static inline clo_scheduler_job *clo_view_live(const clo_view *view, uint32_t job)
{
    return view != NULL && job < view->limits.jobs ? view->jobs[job] : NULL;
}

/* start.c: executions begin, or wait in queues. See start.h too. */

/* An instance of a ready stage whose inputs are there, on a free executor where it fits. False: it does not any
 * more. */
bool clo_start(clo_scheduler *scheduler, clo_scheduler_job *job, uint32_t stage, uint32_t executor);
/* False: there is no room in the queues. */
bool clo_start_commit(clo_scheduler *scheduler, clo_scheduler_job *job, uint32_t stage, uint32_t executor,
                      uint32_t count, bool is_replica);
void clo_start_drop_queued(clo_scheduler *scheduler, clo_scheduler_job *job);

static inline void clo_start_set_free(clo_scheduler *scheduler, uint32_t executor, bool is_free)
{
    uint64_t *word = &scheduler->free_set[executor / 64], bit = 1ull << executor % 64;
    bool was_free = (*word & bit) != 0;

    *word = is_free ? *word | bit : *word & ~bit;
    scheduler->free_executors += (uint32_t)is_free - (uint32_t)was_free;
}

/* The first free executor after `after` (CLO_NONE: of all); CLO_NONE: there is none. */
static inline uint32_t clo_start_next_free(const clo_scheduler *scheduler, uint32_t after)
{
    uint32_t from = after + 1, word = from / 64; /* CLO_NONE + 1 is 0 */

    if (scheduler->free_executors == 0 || word >= scheduler->words)
        return CLO_NONE;
    uint64_t bits = scheduler->free_set[word] & ~0ull << from % 64;
    while (bits == 0) {
        if (++word == scheduler->words)
            return CLO_NONE;
        bits = scheduler->free_set[word];
    }
    return word * 64 + (uint32_t)__builtin_ctzll(bits);
}

/* bind.c: executors and the jobs that they are bound to. */

/* The executor belongs to the job from now on; to none. */
void clo_bind(clo_scheduler *scheduler, uint32_t executor, clo_scheduler_job *job);
void clo_bind_none(clo_scheduler *scheduler, uint32_t executor);
static inline bool clo_bind_is(const clo_scheduler *scheduler, uint32_t executor, const clo_scheduler_job *job)
{
    return scheduler->executors[executor].home == job->live.id;
}

/* move.c */

/* CLO_STAGE_MOVE and CLO_STAGE_LEAVE. NULL: done; else why not. */
const char *clo_move_choose(clo_scheduler *scheduler, clo_scheduler_job *job, const clo_choice *choice);

/* Room for an order to the driver. */
static inline clo_order *clo_start_order(clo_scheduler *scheduler)
{
    uint32_t at = scheduler->order_first + scheduler->order_count++, executors = scheduler->limits.executors;

    return &scheduler->orders[at < executors ? at : at - executors];
}

/* choose.c: one decision; true: something changed, or may. */
bool clo_choose(clo_scheduler *scheduler);

#endif
