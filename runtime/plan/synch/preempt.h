/* plan/synch/preempt.h - preemptive list schedules: SynchPack-1, SynchPack-3, PSRS.
 *
 * Whenever a task ends, an entry of the list is used up or a job arrives, the list is gone through from its beginning,
 * and every entry whose task does not run already gets its room if it fits.
 *
 * A task that has run t ns in a row on groups where it takes T ns has made progress floor(t * 2^40 / T) there; it is done
 * when these sum up to 2^40. Of a task that stays where it takes T that is exactly its time; of one that moves it is never
 * less work than the task has, and at most a ns more. */
#ifndef CLO_PLAN_SYNCH_PREEMPT_H
#define CLO_PLAN_SYNCH_PREEMPT_H

#include "plan/synch/list.h"
#include "plan/synch/pack.h"

clo_status clo_synch_preempt_1(const clo_synch_problem *problem, const clo_synch_settings *settings,
                               clo_synch_runs *runs, clo_synch_found *found);
clo_status clo_synch_preempt_3(const clo_synch_problem *problem, const clo_synch_settings *settings,
                               clo_synch_runs *runs, clo_synch_found *found);
clo_status clo_synch_psrs(const clo_synch_problem *problem, clo_synch_runs *runs);

#endif
