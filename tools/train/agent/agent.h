/* agent.h - Decima's network with all its numbers in one array: what training moves, the slopes of what it learns from,
 * and the model of integers that the policy runs. */
#ifndef CLO_TOOLS_TRAIN_AGENT_AGENT_H
#define CLO_TOOLS_TRAIN_AGENT_AGENT_H

#include "train/agent/decision.h"

/* Parts of the network that are left out, for comparisons (Mao et al. 2019, figure 14). */
typedef struct agent_parts {
    /* Messages are zero: a stage is not told what lies behind it. */
    bool lacks_messages;
    /* A stage gets all executors that are asked about. */
    bool lacks_limits;
} agent_parts;

uint32_t agent_numbers(void);

/* The network on numbers[agent_numbers()], which it borrows. */
void agent_network(double *numbers, double executors, network *net);

/* First numbers, from a seed. */
void agent_init(double *numbers, const agent_parts *parts, uint64_t seed);

/* The numbers of a model of integers of this shape, such as agent_model makes. False: it has another shape, its numbers are
 * not finite, or there is no memory. */
bool agent_read(const clo_model *model, double *numbers);

/* Slopes of numbers that do not move become 0. */
void agent_freeze(double *gradient, const agent_parts *parts);

/* What one thread learns with. Begins as zeros. */
typedef struct agent_room {
    network_tape tape;
    uint8_t *wanted;
    double *log_p;
    uint32_t stages_capacity, log_p_capacity;
} agent_room;

void agent_room_free(agent_room *room);

/* How a decision is learned from: -weight * log(probability of the choice) - entropy * (entropy of both choices, each as
 * a share of the largest possible). With a teacher's wishes: weight * cross-entropy against these. */
typedef struct agent_wish {
    double weight, entropy;
    bool leaves_limit;
} agent_wish;

typedef struct agent_learned {
    double log_p, entropy;
    /* The best choices are those that were made; of stages and limits apart, and both. */
    bool agrees, stage_agrees, limit_agrees;
    /* Two choices of stages, or of limits, are equally good. */
    bool is_tie;
} agent_learned;

/* Adds to gradient[agent_numbers()]. False: no memory. */
bool agent_learn(const network *net, const double *numbers, const decision *d, const agent_wish *wish, agent_room *room,
                 double *gradient, agent_learned *out);

/* The best choices of the network, in the place of the policy's model. False: no memory. */
bool agent_choose(const network *net, double executors, const clo_learned_decision *seen, agent_room *room,
                  uint32_t *candidate, uint32_t *limit);

/* The model of the numbers; scales are those of the decisions, some of which become golden vectors. Returns as quantize
 * (train/models/quantize.h). */
clo_status agent_model(double *numbers, double executors, const char *name, const decision *list, uint32_t count,
                       void **out, size_t *bytes, const char **why);

#endif
