/* verdicts.h - scenarios of how a run ends: two bodies that fail and one that is left out, at once; and one that is
 * left out because another one has failed. Part of test_model_sync.c. */
#ifndef CLO_MODEL_VERDICTS_H
#define CLO_MODEL_VERDICTS_H

#include "model.h"

#include "sync/protocol/stop.h"
#include "sync/protocol/outcome.h"

static clo_verdict verdict;
static uint32_t body_notes[2];
static uint64_t verdict_told[3];

static void verdict_set_up(void)
{
    atomic_init(&verdict.word, CLO_VERDICT_OPEN);
    memset(body_notes, 0, sizeof body_notes);
    memset(verdict_told, 0, sizeof verdict_told);
}

/* Whoever has decided, or come too late, tells the end, and what the body that failed has left. */
static void verdict_run(uint32_t me)
{
    if (me == 2) {
        clo_verdict_cut(&verdict, true);
    } else {
        model_write(&body_notes[me]);
        body_notes[me] = me + 1;
        clo_verdict_fail(&verdict, me, (int)me + 5);
    }
    uint64_t word = verdict_told[me] = clo_verdict_read(&verdict);
    if (!clo_verdict_is_failure(word))
        return;
    uint32_t task = clo_verdict_task(word);
    model_read(&body_notes[task]);
    model_check(clo_verdict_code(word) == (int)task + 5, "the code is not the body's");
}

static void verdict_finish(void)
{
    uint64_t word = clo_verdict_read(&verdict);

    model_check(word != CLO_VERDICT_OPEN && word != CLO_VERDICT_ABORTED, "the run has another end than anybody said");
    for (uint32_t t = 0; t < 3; t++)
        model_check(verdict_told[t] == word, "a run was told to have two ends");
}

/* A body fails, another one is left out for that: whoever leaves it out finds the failure made. */

static clo_stop failed_stop;

static void failed_set_up(void)
{
    verdict_set_up();
    atomic_init(&failed_stop.run, 2);
    atomic_init(&failed_stop.submit, 1);
    atomic_init(&failed_stop.cancelled, 0);
}

static void failed_run(uint32_t me)
{
    if (me == 0) { /* clo_job_fail */
        model_write(&body_notes[0]);
        body_notes[0] = 1;
        clo_verdict_fail(&verdict, 0, 5);
        clo_stop_fail(&failed_stop);
        return;
    }
    if (!clo_stop_is_set(&failed_stop))
        return;
    bool is_cancelled = clo_stop_was_cancelled(&failed_stop); /* clo_job_cut */
    model_check(!is_cancelled, "a run was cancelled by nobody");
    model_read(&body_notes[0]); /* so it stands before this, and so does its verdict */
    clo_verdict_cut(&verdict, is_cancelled);
}

static void failed_finish(void)
{
    model_check(clo_verdict_is_failure(clo_verdict_read(&verdict)), "a run that has failed was told as aborted");
}

#endif
