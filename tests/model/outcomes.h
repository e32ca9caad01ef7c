/* outcomes.h - scenarios of how a run ends: two bodies that fail and one that is left out, at once; and one that is
 * left out because another one has failed. Part of test_model_sync.c. */
#ifndef CLO_MODEL_OUTCOMES_H
#define CLO_MODEL_OUTCOMES_H

#include "model.h"

#include "sync/protocol/outcome.h"
#include "sync/protocol/stop.h"

static clo_outcome outcome;
static uint32_t body_notes[2];
static uint64_t outcome_told[3];

static void outcome_set_up(void)
{
    atomic_init(&outcome.word, CLO_OUTCOME_OPEN);
    memset(body_notes, 0, sizeof body_notes);
    memset(outcome_told, 0, sizeof outcome_told);
}

/* Whoever has decided, or come too late, tells the end, and what the body that failed has left. */
static void outcome_run(uint32_t me)
{
    if (me == 2) {
        clo_outcome_cut(&outcome, true);
    } else {
        model_write(&body_notes[me]);
        body_notes[me] = me + 1;
        clo_outcome_fail(&outcome, me, (int)me + 5);
    }
    uint64_t word = outcome_told[me] = clo_outcome_read(&outcome);
    if (!clo_outcome_is_failure(word))
        return;
    uint32_t task = clo_outcome_task(word);
    model_read(&body_notes[task]);
    model_check(clo_outcome_code(word) == (int)task + 5, "the code is not the body's");
}

static void outcome_finish(void)
{
    uint64_t word = clo_outcome_read(&outcome);

    model_check(word != CLO_OUTCOME_OPEN && word != CLO_OUTCOME_ABORTED, "the run has another end than anybody said");
    for (uint32_t t = 0; t < 3; t++)
        model_check(outcome_told[t] == word, "a run was told to have two ends");
}

/* A body fails, another one is left out for that: whoever leaves it out finds the failure made. */

static clo_stop failed_stop;

static void failed_set_up(void)
{
    outcome_set_up();
    atomic_init(&failed_stop.run, 2);
    atomic_init(&failed_stop.submit, 1);
    atomic_init(&failed_stop.cancelled, 0);
}

static void failed_run(uint32_t me)
{
    if (me == 0) { /* clo_job_fail */
        model_write(&body_notes[0]);
        body_notes[0] = 1;
        clo_outcome_fail(&outcome, 0, 5);
        clo_stop_fail(&failed_stop);
        return;
    }
    if (!clo_stop_is_set(&failed_stop))
        return;
    bool is_cancelled = clo_stop_was_cancelled(&failed_stop); /* clo_job_cut */
    model_check(!is_cancelled, "a run was cancelled by nobody");
    model_read(&body_notes[0]); /* so it stands before this, and so does its outcome */
    clo_outcome_cut(&outcome, is_cancelled);
}

static void failed_finish(void)
{
    model_check(clo_outcome_is_failure(clo_outcome_read(&outcome)), "a run that has failed was told as aborted");
}

#endif
