/* toys.h - small environments whose best choices are known. */
#ifndef CLO_TOYS_H
#define CLO_TOYS_H

#include "train/trainer/trainer.h"

enum { TOY_PARAMETERS_MAX = 4096 };

/* Each decision: some of eight stages may be chosen, then some of three limits; the reward is what is lost against the
 * best by a hidden linear rule. The teacher chooses the best. A network that is not trained loses 3.3. */
extern const train_environment toy_rule;
void toy_rule_network(double *parameters, uint32_t *count, network *net);

/* Nine tasks with edges on two machines, by list scheduling; the rewards add up to minus the makespan over that of the
 * best of many random lists. The teacher takes the largest rank u. All decisions of an episode stay with one input. */
extern const train_environment toy_machines;
/* The same, but no view stays; and one that cannot begin seed 13. */
extern const train_environment toy_machines_anew, toy_broken;
/* With a critic. */
void toy_machines_network(double *parameters, uint32_t *count, network *net, uint32_t *critic);

#endif
