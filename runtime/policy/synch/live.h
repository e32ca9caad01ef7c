/* policy/synch/live.h - the live jobs in the order in which a weighted sum of completion times wants them.
 *
 * The order is that of the primal-dual reverse rule (Mastrolilli, Queyranne, Schulz, Svensson, Uhan, "Minimizing the sum
 * of weighted completion times in a concurrent open shop", Operations Research Letters 38, 2010), which SynchPack-3
 * takes in place of LP3 where there is no solver: of the bin with the most load, the job with the least weight / load
 * goes last; the others' weights pay for it. A bin is a place's executors, or a resource of a domain, also at levels 1 to
 * 3: dual feasible functions (Fekete, Schepers 2001), as in plan/synch_lp/problem.h. A job's load counts where it is
 * fastest. An LP is not solved in a turn: it takes floating point, memory and seconds, and another solver's optimum would
 * be another decision.
 *
 * The rule is for the 256 jobs with the least remaining work / weight; the others follow by that (Smith 1956). Jobs are
 * ordered anew when some have come: O(jobs^2 + jobs * bins). */
#ifndef CLO_POLICY_SYNCH_LIVE_H
#define CLO_POLICY_SYNCH_LIVE_H

#include "base/order/heap.h"
#include "policy/synch/places.h"

enum { CLO_SYNCH_BINS_MAX = 256, CLO_SYNCH_RANKED_MAX = 256 };

typedef struct clo_synch_bin {
    uint32_t at;              /* place, or domain */
    uint32_t resource, level; /* resource CLO_NONE: the place's executors */
} clo_synch_bin;

typedef struct clo_synch_live {
    clo_synch_places places;
    uint32_t *place_of; /* [executors] */
    uint32_t jobs, ranked_max, bins_count;
    clo_synch_bin bins[CLO_SYNCH_BINS_MAX];
    uint32_t count;
    uint32_t *order;      /* [jobs] slots, who goes first stands first; some have ended */
    uint64_t *id;         /* [jobs] of the jobs that they stood for */
    clo_heap by_smith;    /* [jobs] */
    int64_t *load, *left; /* [ranked_max * bins_count], [ranked_max] what is left of a weight */
    uint32_t *member;     /* [ranked_max] slots; then they are placed */
    int64_t total[CLO_SYNCH_BINS_MAX];
    bool is_stale;
} clo_synch_live;

/* The struct and what stands behind it; a multiple of 8. */
size_t clo_synch_live_bytes(const clo_limits *limits);
void clo_synch_live_open(clo_synch_live *live, const clo_view *view);

/* Keeps the jobs, and in each the load that has not started. */
void clo_synch_live_event(clo_synch_live *live, const clo_view *view, const clo_event *event);

/* Orders the jobs, if some have come since. False: the decision has reached its bound, and they stand as before. */
bool clo_synch_live_sort(clo_synch_live *live, const clo_view *view);

/* The job at that place of the order; NULL: it has ended. */
static inline const clo_live_job *clo_synch_live_job(const clo_synch_live *live, const clo_view *view, uint32_t i)
{
    const clo_live_job *job = clo_view_job(view, live->order[i]);

    return job != NULL && job->id == live->id[i] ? job : NULL;
}

#endif
