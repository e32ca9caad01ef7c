/* training.h - a training of Decima's network: what it is asked for, and what it keeps. */
#ifndef CLO_TOOLS_CLOTHO_AGENT_TRAINING_H
#define CLO_TOOLS_CLOTHO_AGENT_TRAINING_H

#include "clotho/train/scenes.h"
#include "clotho/train/streams.h"
#include "train/agent/agent.h"
#include "train/search/paired.h"
#include "train/trainer/curve.h"

/* Gradients are added up in so many parts, whatever the number of threads. */
enum { NETWORK_WORKLOADS_MAX = 64, NETWORK_PARTS = 16 };

typedef struct network_options {
    train_options scenes; /* platform, jobs, arrivals or scenes; environment, baseline, seeds, validation, threads */
    train_seeds texts;
    const char *name, *svg;
    /* The model whose numbers are the first ones; NULL: they are drawn. */
    const char *from;
    /* Updates by imitation, by REINFORCE; after which it stops, as if interrupted. */
    uint32_t imitations, updates, stop, validate_every;
    /* Arrival sequences of an update, rollouts of each, decisions that are learned from. */
    uint32_t instances, rollouts, decisions;
    /* Of these, for each step of an imitation. */
    uint32_t batch;
    /* Jobs of an episode in the first update by REINFORCE; 0: as many as in the last. */
    uint32_t jobs_first;
    double rate, rate_last, entropy, entropy_last, horizon_s;
    seed_list compared;
    agent_parts parts;
    bool is_forced;
} network_options;

/* How often the integers choose as the real numbers do (both, the stage, the limit), and what they change. */
typedef struct network_agreement {
    uint64_t decisions, same, same_stages, same_limits;
    paired change;
} network_agreement;

typedef struct network_training {
    network_options o;
    clo_workload *jobs, *loaded[NETWORK_WORKLOADS_MAX];
    train_scene scenes[TRAIN_SCENES_MAX];
    uint32_t scenes_count;
    const clo_policy *policy, *baseline;
    void *baseline_argument;
    /* [scenes][validation] */
    double *baseline_ns;
    /* The scales of the integers are those of these decisions, of episodes that the teacher led. */
    decision *scaled;
    uint32_t scaled_count;
    double executors, mean_work_ns;
    network net;
    /* [agent_numbers()] each */
    double *numbers, *best, *gradient;
    adam adam;
    uint32_t done, best_update;
    double best_score;
    train_point *curve;
    uint32_t curve_count;
    uint64_t hash;
    void *model;
    size_t model_bytes;
    network_agreement agreement;
    int64_t begin_ns;
} network_training;

/* Each returns EXIT_GOOD, or an exit code after an error line. */

/* room_check of all scenes, against the policy "auto". */
int network_room(const network_training *t);

/* Decisions for scales, and the baseline's completion times. */
int network_prepare(network_training *t);

/* The checkpoint, if there is one; at each validation. */
int network_read_checkpoint(network_training *t);
int network_write_checkpoint(const network_training *t);

/* All updates up to o.stop. */
int network_train(network_training *t);

/* The model of numbers[agent_numbers()]; *opened may be NULL. */
int network_model(network_training *t, double *numbers, void **data, size_t *bytes, clo_model **opened);

/* Completion times on a list of seeds, [scenes][seeds.count]. choose: in place of the model. */
typedef struct network_tries {
    seed_list seeds;
    const clo_policy *policy;
    const void *argument;
    double *reached;
} network_tries;
int network_try(const network_training *t, const network_tries *tries);

/* Fills `agreement`, for the best numbers. */
int network_compare(network_training *t);

#endif
