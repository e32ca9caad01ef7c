/* report/page/causes.h - why each execution began when it did, and how much later it could have ended.
 *
 * By the costs: inputs come from the execution whose data arrive first, executors keep the order in which they ran
 * their tasks. Of a run the costs say what transfers would take; where a task began sooner, its inputs took what they
 * really had. */
#ifndef CLO_REPORT_PAGE_CAUSES_H
#define CLO_REPORT_PAGE_CAUSES_H

#include "report/page/page.h"

typedef struct clo_cause {
    uint32_t by;         /* the bar that this one waited for last: an input's, or the one before on its executor;
                            CLO_NONE: none, it began as soon as all did */
    int64_t ready_ns;    /* when the last input was there; 0: no inputs */
    int64_t transfer_ns; /* of that input */
    int64_t slack_ns;    /* how much later it could end, and all ends when it did; of jobs: and each job ends then */
    int64_t path_ns;     /* the longest chain of executions and transfers that ends with this one, all of one job */
} clo_cause;

/* Of bars of the page's graphs and, where it has jobs, of these: an execution is ready no earlier than its job comes.
 * out: receives [bars->count], to be released with clo_free; NULL: there are too many pairs of instances to look at.
 * Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_causes_find(const clo_page *page, const clo_bars *bars, clo_cause **out);

#endif
