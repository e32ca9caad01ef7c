/* teacher.h - what Decima's network is taught first: the rule of the policy "parametric" (runtime/policy/network/
 * parametric.c), on what the network sees and under the rules of Decima's simulator. */
#ifndef CLO_TOOLS_TRAIN_AGENT_TEACHER_H
#define CLO_TOOLS_TRAIN_AGENT_TEACHER_H

#include <clotho/learned.h>

/* The numbers of parametric.c. `size`: limits go with this power of the executors. */
typedef struct teacher {
    double rem, own, ex, cp, scale, l_rem, l_jobs, l_size, unit_ns;
    uint32_t executors;
} teacher;

/* Those of parametric:any, for batches and streams of jobs with this mean work, on so many
 * executors. */
teacher teacher_for(double mean_work_ns, uint32_t executors);

/* What it chooses: an index of a candidate, and one less than the executors.
 *   keys   [candidates] receives how much it would like each candidate: log-probabilities, but for a constant. Those of
 *          two jobs differ by a multiple of the difference of their values, so that a pupil is told of all of them.
 *   ranks  has room for a number of each stage of the decision. */
void teacher_choose(const teacher *t, const clo_learned_decision *seen, double *ranks, double *keys,
                    uint32_t *candidate, uint32_t *limit);

/* The same of limits 0 .. count - 1 around the one it would choose, in keys[count]. */
void teacher_limits(uint32_t limit, uint32_t count, double *keys);

#endif
