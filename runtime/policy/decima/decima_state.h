/* policy/decima/decima_state.h - what the policies of Decima's simulator share: the rules by which its executors are
 * given to stages.
 *
 * An executor keeps its stage while that has instances to start. When it has none left, the agent (FIFO, fair ...) is
 * asked once for all executors of the stage: it *commits* them, so and so many to this stage, so and so many to that;
 * each goes where it is committed to when it ends what it runs. An executor that is committed to a stage of another job
 * moves there, and takes an instance only when it arrives; if none is left, it looks for another stage itself. One that
 * is committed to nothing waits in the *pool* of its job, or of nobody where its job has nothing left to start. Pools
 * are asked about again when a stage of the job becomes ready, and nobody's pool when a job arrives.
 *
 * A stage is *saturated* when no more executors are needed: its instances that are not started are no more than those
 * committed to it and moving to it. A stage may be committed to when its parents are saturated, though they run still.
 *
 * Source of the rules: decima-sim, spark_env/env.py, commit c010dd7. Their state is in the order of events there, so
 * that the same durations give the same schedule (tests/differential/test_decima.c). Deviations: an executor that
 * cannot start what it was committed to (a limit, a demand, a kind) goes to its job's pool, and where that happened,
 * free executors are given to ready stages in order of age. */
#ifndef CLO_POLICY_DECIMA_DECIMA_STATE_H
#define CLO_POLICY_DECIMA_DECIMA_STATE_H

#include <clotho/policy.h>

/* A stage of a job by slot; job CLO_NONE: none (as a target: no stage at all). */
typedef struct clo_decima_place {
    uint32_t job, stage;
} clo_decima_place;

/* Executors of one source that go to one target. */
typedef struct clo_decima_commitment {
    clo_decima_place to;
    uint64_t id; /* of the job `to`; where it has ended, the commitment is void */
    uint32_t count;
    uint32_t next; /* of the same source; CLO_NONE: the last; also chains the free ones */
} clo_decima_commitment;

/* Commitments of a source, in the order in which they were made. */
typedef struct clo_decima_source {
    uint32_t first, last;
} clo_decima_source;

typedef struct clo_decima_stage {
    clo_decima_source commitments; /* of the executors that run it */
    uint32_t left;                 /* instances that nobody was told to start */
    uint32_t committed, moving;    /* executors that are to come */
    uint64_t round;                /* in which the agent has chosen it; 0: never */
    uint8_t is_ready, is_saturated;
} clo_decima_stage;

/* An executor's place in a pool. */
typedef struct clo_decima_pool {
    uint32_t first, last, count;
} clo_decima_pool;

typedef struct clo_decima_job {
    clo_decima_source commitments; /* of the executors in its pool */
    clo_decima_pool pool;
    uint32_t left;        /* instances of all stages */
    uint32_t unsaturated; /* stages */
    uint32_t executors;   /* bound to it */
    uint32_t coming;      /* executors on their way to it, or committed to it from elsewhere */
    uint32_t given;       /* executors that the agent gave to it since it arrived, for FIFO */
    int32_t share_q16;    /* logarithm of its share, for weighted fair sharing; what prepare has written */
    uint32_t stages_count;
    clo_decima_stage *stages; /* behind this struct */
} clo_decima_job;

typedef enum clo_decima_act { CLO_DECIMA_NOTHING, CLO_DECIMA_START, CLO_DECIMA_MOVE } clo_decima_act;

typedef struct clo_decima_executor {
    uint32_t job;            /* slot of the job that it is bound to; CLO_NONE: none */
    clo_decima_place node;   /* what it ran last and has not left */
    clo_decima_place target; /* where it starts or goes */
    clo_decima_act act;      /* to be handed out by decide */
    bool leaves;             /* it was in a pool since it ran last */
    bool is_pooled;
    uint32_t pool;           /* slot; CLO_NONE: nobody's */
    uint32_t next, previous; /* in the pool */
} clo_decima_executor;

typedef struct clo_decima clo_decima;

/* What tells the policies apart: how many more executors a job may get from others. */
typedef uint32_t (*clo_decima_room_fn)(const clo_decima *d, const clo_decima_job *job);

/* Or, instead: where some of the d->asked executors go, and how many (at least 1) may at most. Job CLO_NONE: all of
 * them nowhere, or (d->is_cut) the bound of the decision is reached. */
typedef clo_decima_place (*clo_decima_choose_fn)(clo_decima *d, uint32_t *use);

struct clo_decima {
    clo_decima_room_fn room;
    clo_decima_choose_fn choose;  /* NULL: shares, by `room` */
    void *agent;                  /* for `choose` */
    void (*weigh)(clo_decima *d); /* before jobs are asked for their room; NULL: nothing to do */
    int32_t most_q16;             /* the largest share_q16 of unfinished jobs */
    uint64_t shares_q16;          /* their sum, each relative to the largest */
    const clo_view *view;         /* during a call */
    uint32_t executors_count;
    uint32_t unfinished;                /* jobs with a stage that is not saturated */
    uint64_t round;                     /* >= 1 */
    clo_decima_executor *executors;     /* [executors_count] */
    clo_decima_commitment *commitments; /* [4 * executors_count] */
    uint32_t free_commitment;
    clo_decima_pool nobody;
    uint32_t pooled; /* executors in all pools */
    clo_decima_source from_nobody;

    /* What is asked about now: `asked` executors; one, or a whole pool. */
    uint32_t asked;
    uint32_t single;     /* CLO_NONE: the pool */
    uint32_t asked_pool; /* slot; CLO_NONE: nobody's */
    uint32_t own;        /* slot of the job that they come from; CLO_NONE: none that lives */

    /* The execution that has ended, until its consequences are known. */
    uint32_t ended; /* executor; CLO_NONE: none */
    clo_decima_place ended_of;
    bool has_released; /* a stage became ready with it */
    bool has_arrivals;

    uint32_t *acts; /* [executors_count] ring of executors with something to hand out */
    uint32_t acts_first, acts_count;
    uint32_t handed;  /* executor whose act was handed out last and is not seen to have happened; CLO_NONE: none */
    bool has_misfits; /* something could not be started */
    bool is_bounded;  /* in a decision; what is left over of one is ended in the next event */
    bool is_cut;      /* the bound of the decision is reached */
};

/* decima_books.c: pools and commitments. */

/* State of a live job. */
static inline clo_decima_job *clo_decima_job_of(const clo_decima *d, uint32_t slot)
{
    return clo_view_job(d->view, slot)->state;
}

static inline clo_decima_stage *clo_decima_stage_of(const clo_decima *d, clo_decima_place place)
{
    return &clo_decima_job_of(d, place.job)->stages[place.stage];
}

/* After `left`, `committed` or `moving` has changed. */
void clo_decima_weigh(clo_decima *d, clo_decima_job *job, clo_decima_stage *stage);

/* Into the pool of a job, or (CLO_NONE) nobody's; out of the one it is in. */
void clo_decima_pool_add(clo_decima *d, uint32_t slot, uint32_t executor);
void clo_decima_pool_remove(clo_decima *d, uint32_t executor);
clo_decima_pool *clo_decima_pool_of(clo_decima *d, uint32_t slot);
/* It is bound to another job, or (CLO_NONE) to none. */
void clo_decima_bind(clo_decima *d, uint32_t executor, uint32_t slot);

/* Where an executor's commitments stand: of the stage it ran last, else of its job's pool. */
clo_decima_source *clo_decima_source_of(clo_decima *d, uint32_t executor);
bool clo_decima_has_commitments(clo_decima *d, clo_decima_source *source);
void clo_decima_commit(clo_decima *d, clo_decima_source *source, uint32_t from_job, clo_decima_place to,
                       uint32_t count);
/* Takes one executor off the first commitment of the source, which has one. */
clo_decima_place clo_decima_fulfil(clo_decima *d, clo_decima_source *source, uint32_t from_job);
/* The commitments of the source are void. */
void clo_decima_revoke(clo_decima *d, clo_decima_source *source, uint32_t from_job);

/* decima_agent.c */

/* True if the stage may be chosen: it is not saturated, its parents are, and it was not chosen in this round. */
bool clo_decima_is_open(const clo_decima *d, const clo_live_job *live, const clo_decima_job *job, uint32_t stage);
/* The stage of the job in a slot that the rules of sharing take: ready ones go first; CLO_NONE: none is open. */
uint32_t clo_decima_open_stage(const clo_decima *d, const clo_live_job *live, uint32_t slot);

/* Asks about d->asked executors and commits them all. False: the bound of the decision is reached. */
bool clo_decima_consult(clo_decima *d);
/* A stage for an executor that has lost its own: the first that is open. Job CLO_NONE: there is none. */
clo_decima_place clo_decima_any_stage(clo_decima *d);

/* decima_moves.c: what executors do next. */

/* Executors that were asked about go where they are committed to. */
void clo_decima_schedule(clo_decima *d);
/* The executor starts an instance of the stage; goes there; waits in the pool of a job, or (CLO_NONE) in nobody's;
 * looks for a stage. */
void clo_decima_start(clo_decima *d, uint32_t executor, clo_decima_place place);
void clo_decima_move(clo_decima *d, uint32_t executor, clo_decima_place place);
void clo_decima_free(clo_decima *d, uint32_t executor, uint32_t slot);
void clo_decima_search(clo_decima *d, uint32_t executor);
/* The k-th act leaves the ring. */
void clo_decima_take_act(clo_decima *d, uint32_t k);
/* What it was told to do, and has not done, is void. */
void clo_decima_undo(clo_decima *d, uint32_t executor);

#endif
