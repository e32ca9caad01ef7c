/* scenes_order.c - Decima, appendix H: jobs that are all there at once, without waves and without a delay for moving,
 * beside the best of all their orders. `best-order` is searched anew for each seed (job_order.c), and then played like
 * any other policy. The argument of parametric is what `clotho train parametric` finds in this setting. */
#include "online/online.h"

#define ORDER_TUNED "parametric:1.7376,-1.0529,-4.3612,0.0781,0.0709,56.1208,0.1745,0.4181,0.7646"

static const char *const policies[] = {"best-order", ORDER_TUNED, "parametric", "sjf", "sjf-cp", "fair", "fifo", NULL};

static bool make_job_order(const online *o, uint64_t seed, occasion *out)
{
    return online_make_batch(o, o->options.quick ? 7 : 10, seed, out);
}

const scene online_job_order = {
    .name = "job-order",
    .title = "TPC-H, 10 jobs at once, 50 executors, times as their costs (Decima, appendix H)",
    .paper = "Decima is on par with the best order of all, 9 % below it",
    .environment = "costs",
    .contenders = policies,
    .seeds = 20,
    .quick_seeds = 2,
    .make = make_job_order,
};
