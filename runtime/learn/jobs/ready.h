/* learn/jobs/ready.h - the candidates of a head, kept in lanes from decision to decision.
 *
 * A candidate's part of the head lies in its lane; it is put there when the stage becomes ready, and the last one moves
 * into its place when it leaves. What changes is only noted: a job that has changed since the last decision is computed
 * anew when the next one is made, once, and its part is put beside each of its candidates. Then one pass over all lanes
 * gives the scores.
 *
 *     add, remove, done   O(numbers of a candidate)
 *     changed             O(1)
 *     choose              O(changed jobs and their candidates, times layers; all candidates, times the head)
 *
 * In the caller's memory, no allocation, no failure. One thread at a time. A slot names a live job, as in a view. */
#ifndef CLO_LEARN_JOBS_READY_H
#define CLO_LEARN_JOBS_READY_H

#include "learn/infer/head.h"

#include <stdbool.h>

/* What a place says where it is no index. */
#define CLO_SCORED_NONE UINT32_MAX
/* The stage has finished: it is in no sum any more. */
#define CLO_SCORED_DONE (UINT32_MAX - 1)

enum { CLO_SCORED_BANDS = 8 };

/* A live job. */
typedef struct clo_scored_job {
    /* NULL: there is none in the slot */
    clo_head_job *job;
    /* ties between jobs */
    uint32_t id;
    uint32_t first, candidates;
    uint8_t band;
    /* more executors may work for it */
    bool is_open;
    /* it is in `changed`; its numbers are in the sums over jobs */
    bool is_changed, is_given;
    clo_job_figures figures;
} clo_scored_job;

typedef struct clo_scored_candidate {
    uint32_t slot, stage;
    /* of the same job; CLO_SCORED_NONE: none */
    uint32_t next, previous;
} clo_scored_candidate;

typedef struct clo_scored {
    const clo_head *head;
    uint32_t capacity, jobs_max, count, jobs_count, changed_count;
    /* Live jobs that are not open; candidates of each band. */
    uint32_t closed_count, count_of_band[CLO_SCORED_BANDS];
    /* [capacity] */
    clo_scored_candidate *candidates;
    uint64_t *keys;
    uint8_t *mask;
    int32_t *stage_lanes, *job_lanes;
    /* [capacity] what candidates add to their scores; not there without clo_head.direct */
    int32_t *direct;
    /* [2] tensors of the chain; the scores of the last decision, [capacity], and two rows for drawing */
    void *tensors[2];
    int32_t *scores, *noise, *noisy;
    /* [jobs_max] */
    clo_scored_job *jobs;
    uint32_t *changed;
    /* [sums over jobs]; rows of one job, and of the system */
    int32_t *given;
    unsigned char *job_rows, *system_rows;
    /* 0: the best candidate is taken. Else scores are drawn from: the Q32 value of one unit of a score. */
    int32_t drawn_scale;
    uint64_t seed, decisions;
    /* Features out of their range; jobs computed anew; of all decisions so far. */
    uint64_t clamped, recomputed;
} clo_scored;

/* Bytes behind the struct, at a multiple of 64; 0: more than a size_t counts. `capacity` and `jobs` are at least 1. */
size_t clo_scored_bytes(const clo_head *head, uint32_t capacity, uint32_t jobs);
void clo_scored_open(clo_scored *ready, const clo_head *head, uint32_t capacity, uint32_t jobs, void *memory);

/* A job comes: none of its stages is ready, none has finished. `figures`: what it looks like. */
void clo_scored_arrive(clo_scored *ready, uint32_t slot, const clo_scored_job *row);

/* A job goes, with all its candidates. */
void clo_scored_leave(clo_scored *ready, uint32_t slot);

/* The figures of a job are others now, or is_open is. */
void clo_scored_changed(clo_scored *ready, uint32_t slot, const clo_job_figures *figures, bool is_open);

/* All instances of a stage have finished. More than once does no harm. */
void clo_scored_done(clo_scored *ready, uint32_t slot, uint32_t stage);

/* False: there is no room. True also if it is one already. */
bool clo_scored_add(clo_scored *ready, uint32_t slot, uint32_t stage);
/* Nothing happens if it is none. */
void clo_scored_remove(clo_scored *ready, uint32_t slot, uint32_t stage);
/* All candidates of a job. */
void clo_scored_remove_all(clo_scored *ready, uint32_t slot);

static inline bool clo_scored_has(const clo_scored *ready, uint32_t slot, uint32_t stage)
{
    return ready->jobs[slot].job->place[stage] < CLO_SCORED_DONE;
}

/* What the next decision costs: multiplications / 64, rounded up. It depends on counts alone. */
uint64_t clo_scored_steps(const clo_scored *ready);

/* Computes anew the jobs that have changed. */
void clo_scored_refresh(clo_scored *ready);

/* The same, then the scores of all candidates, in ready->scores. */
void clo_scored_score(clo_scored *ready, const clo_system_figures *system);

/* The best candidate of the band whose job is open, after clo_scored_score; CLO_SCORED_NONE: there is none. Of equal
 * scores the lowest id of a job, then the lowest stage. */
uint32_t clo_scored_best(clo_scored *ready, uint32_t band);

#endif
