/* policy/placement/backfill.h - what easy-sjf decides by, for whoever has a queue of jobs. */
#ifndef CLO_POLICY_PLACEMENT_BACKFILL_H
#define CLO_POLICY_PLACEMENT_BACKFILL_H

#include "policy/select/job_queue.h"

/* How much of the platform the job's work takes, in Q16 of as many executors: its instances' largest shares of any
 * resource, or as executors, weighed by their times. 65536: it demands no more than executors. O(tasks). */
int64_t clo_backfill_bulk(const clo_cost *cost);

/* Where a policy keeps the bulk of a live job. */
typedef int64_t (*clo_bulk_fn)(const clo_live_job *job);

/* Keeps the queue by remaining work * bulk / weight. */
void clo_backfill_event(clo_job_queue *queue, const clo_view *view, const clo_event *event, clo_bulk_fn bulk_of);

/* As easy-sjf, or as strict-sjf. */
bool clo_backfill_easy(clo_job_queue *queue, const clo_view *view, clo_bulk_fn bulk_of, clo_choice *choice);
bool clo_backfill_strict(clo_job_queue *queue, const clo_view *view, clo_bulk_fn bulk_of, clo_choice *choice);

#endif
