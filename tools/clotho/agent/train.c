/* train.c - the updates of a training of Decima's network: episodes, slopes, a step of Adam. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/agent/episodes.h"

#include "clotho/common/clock.h"
#include "clotho/common/report.h"
#include "train/agent/returns.h"
#include "train/search/crew.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The gradients of the decisions of an update, in NETWORK_PARTS parts. */
typedef struct lesson {
    const network_training *t;
    const decision **list;
    uint32_t count;
    bool is_imitation;
    double entropy;
    double *gradients[NETWORK_PARTS];
    agent_learned sums[NETWORK_PARTS];
    uint64_t agreed[NETWORK_PARTS];
    bool has_failed[NETWORK_PARTS];
} lesson;

static void learn_part(void *argument, uint32_t thread, uint32_t part)
{
    lesson *l = argument;
    agent_room room = {0};
    agent_learned one;

    (void)thread;
    for (uint32_t i = part; i < l->count && !l->has_failed[part]; i += NETWORK_PARTS) {
        const agent_wish wish = {.weight = l->is_imitation ? 1 : l->list[i]->advantage,
                                 .entropy = l->entropy,
                                 .leaves_limit = l->t->o.parts.lacks_limits};
        l->has_failed[part] =
            !agent_learn(&l->t->net, l->t->numbers, l->list[i], &wish, &room, l->gradients[part], &one);
        l->sums[part].log_p += one.log_p;
        l->sums[part].entropy += one.entropy;
        l->agreed[part] += one.agrees;
    }
    agent_room_free(&room);
}

static int learn(network_training *t, lesson *l, double rate, train_point *point)
{
    uint32_t numbers = agent_numbers(), threads = t->o.scenes.threads > 0 ? t->o.scenes.threads : NETWORK_PARTS;
    double *all = calloc((size_t)NETWORK_PARTS * numbers, sizeof *all);
    bool is_good = all != NULL && l->count > 0;

    for (uint32_t p = 0; p < NETWORK_PARTS && is_good; p++)
        l->gradients[p] = all + (size_t)p * numbers;
    if (is_good)
        crew_run(threads, NETWORK_PARTS, learn_part, l);
    memset(t->gradient, 0, numbers * sizeof *t->gradient);
    for (uint32_t p = 0; p < NETWORK_PARTS && is_good; p++) {
        is_good = !l->has_failed[p];
        for (uint32_t i = 0; i < numbers; i++)
            t->gradient[i] += l->gradients[p][i] / l->count;
        point->loss -= l->sums[p].log_p / l->count;
        point->entropy += l->sums[p].entropy / l->count;
        point->agreed += (double)l->agreed[p] / l->count;
    }
    free(all);
    if (!is_good && l->count > 0)
        return complain(NULL, "out of memory");
    if (l->count == 0)
        return EXIT_GOOD;
    agent_freeze(t->gradient, &t->o.parts);
    point->gradient = gradient_clip(t->gradient, numbers, 1);
    if (!isfinite(point->gradient))
        return complain(NULL, "update %u: the gradient is no number; write a smaller --rate", t->done);
    adam_step(&t->adam, t->numbers, t->gradient, rate);
    return EXIT_GOOD;
}

/* Imitation takes a step for each --batch decisions: every so-manieth of all, so that each step sees all episodes. */
static int learn_all(network_training *t, lesson *l, double rate, train_point *point)
{
    uint32_t steps = l->is_imitation && l->count > t->o.batch ? l->count / t->o.batch : 1;
    const decision **some = calloc((size_t)l->count + 1, sizeof(const decision *));
    train_point sums = *point;
    int code = EXIT_GOOD;

    if (some == NULL)
        return complain(NULL, "out of memory");
    for (uint32_t k = 0; k < steps && code == EXIT_GOOD; k++) {
        lesson part = {.t = t, .list = some, .is_imitation = l->is_imitation, .entropy = l->entropy};
        *point = sums;
        for (uint32_t i = k; i < l->count; i += steps)
            some[part.count++] = l->list[i];
        code = learn(t, &part, rate, point);
    }
    free(some);
    return code;
}

/* An update: what is played, and with which law. */
typedef struct round_of {
    played *list;
    uint32_t count, rollouts;
    train_law law;
    teacher teacher;
    bool is_imitation;
    double at; /* 0 in the first update of its kind, 1 in the last */
} round_of;

static uint32_t jobs_of(const network_training *t, const round_of *r)
{
    uint32_t last = t->scenes[r->law.scene].arrivals.jobs;

    last = last > 0 ? last : clo_workload_jobs(t->jobs);
    uint32_t first = t->o.jobs_first > 0 && t->o.jobs_first < last ? t->o.jobs_first : last;
    return r->is_imitation ? last : (uint32_t)lround(schedule(first, last, 2 * r->at));
}

/* Decisions of an episode for each of its jobs, about: so that not many more are kept than are learned from. */
enum { DECISIONS_EACH = 25 };

/* Even instances of an imitation are led by the teacher, the others by the network. */
static bool open_round(const network_training *t, round_of *r)
{
    const network_options *o = &t->o;
    uint32_t of_kind = r->is_imitation ? o->imitations : o->updates,
             n = t->done - (r->is_imitation ? 0 : o->imitations);

    r->at = of_kind > 1 ? (double)n / (of_kind - 1) : 1;
    r->rollouts = r->is_imitation ? 1 : o->rollouts;
    r->count = o->instances * r->rollouts;
    r->law = (train_law){.scene = t->done % t->scenes_count, .is_drawn = true};
    r->law.jobs = jobs_of(t, r);
    r->teacher = network_teacher(t, r->law.scene);
    double keep = o->decisions / ((double)DECISIONS_EACH * r->law.jobs * r->count);
    r->list = calloc(r->count, sizeof *r->list);
    for (uint32_t i = 0; i < r->count && r->list != NULL; i++) {
        uint64_t place = (uint64_t)(t->done / t->scenes_count) * o->instances + i / r->rollouts;
        played *one = &r->list[i];
        one->seed = o->scenes.seeds.first + place % o->scenes.seeds.count;
        one->episode = (episode){.taught_by = r->is_imitation ? &r->teacher : NULL,
                                 .is_led = r->is_imitation && (t->done == 0 || i % 2 == 0),
                                 .keep = fmin(keep, 1),
                                 .seed = draws_key(o->scenes.seed, t->done, i),
                                 .executors = t->executors};
        one->outcomes = r->is_imitation ? NULL : calloc(r->law.jobs, sizeof *one->outcomes);
        if (!r->is_imitation && one->outcomes == NULL)
            return false;
    }
    return r->list != NULL;
}

static void close_round(round_of *r)
{
    for (uint32_t i = 0; i < r->count && r->list != NULL; i++) {
        episode_free(&r->list[i].episode);
        free(r->list[i].outcomes);
    }
    free(r->list);
}

/* Advantages of each group of rollouts. */
static bool weigh(const network_training *t, round_of *r)
{
    bool is_good = true;

    for (uint32_t first = 0; first < r->count && is_good; first += r->rollouts) {
        episode *group = calloc(r->rollouts, sizeof *group);
        clo_stream_outcome *outcomes = calloc((size_t)r->rollouts * r->law.jobs, sizeof *outcomes);
        is_good = group != NULL && outcomes != NULL;
        for (uint32_t i = 0; i < r->rollouts && is_good; i++) {
            group[i] = r->list[first + i].episode;
            memcpy(outcomes + (size_t)i * r->law.jobs, r->list[first + i].outcomes, r->law.jobs * sizeof *outcomes);
        }
        is_good = is_good && returns_to_advantages(group, r->rollouts, outcomes, r->law.jobs, t->o.horizon_s);
        free(group);
        free(outcomes);
    }
    return is_good;
}

/* The decisions that are learned from: as many of all as are wanted, evenly spread over what was kept, from a drawn
 * first one. */
static const decision **choose_decisions(const network_training *t, const round_of *r, uint32_t *count)
{
    size_t all = 0, at = 0;
    uint32_t wanted = t->o.decisions;
    draws d = {draws_key(t->o.scenes.seed, t->done, UINT64_C(1) << 40)};

    for (uint32_t i = 0; i < r->count; i++)
        all += r->list[i].episode.kept_count;
    wanted = all < wanted ? (uint32_t)all : wanted;
    const decision **list = calloc((size_t)wanted + 1, sizeof(const decision *));
    double step = wanted > 0 ? (double)all / wanted : 1, next = draws_uniform(&d) * step;
    *count = 0;
    for (uint32_t i = 0; i < r->count && list != NULL; i++)
        for (uint32_t k = 0; k < r->list[i].episode.kept_count; k++, at++)
            if ((double)at >= next && *count < wanted) {
                list[(*count)++] = &r->list[i].episode.kept[k];
                next += step;
            }
    return list;
}

static double mean_reward(const round_of *r)
{
    double sum = 0;

    for (uint32_t i = 0; i < r->count; i++)
        sum -= 1e-9 * r->list[i].reached / r->count;
    return sum;
}

static int update(network_training *t, train_point *point)
{
    const network_options *o = &t->o;
    round_of r = {.is_imitation = t->done < o->imitations};
    void *data = NULL;
    size_t bytes = 0;
    clo_model *model = NULL;
    int code = network_model(t, t->numbers, &data, &bytes, &model);

    if (code == EXIT_GOOD && !open_round(t, &r))
        code = complain(NULL, "out of memory");
    if (code == EXIT_GOOD)
        code = network_play(t, model, &r.law, r.list, r.count);
    if (code == EXIT_GOOD && !r.is_imitation && !weigh(t, &r))
        code = complain(NULL, "out of memory");
    if (code == EXIT_GOOD) {
        lesson l = {.t = t,
                    .is_imitation = r.is_imitation,
                    .entropy = r.is_imitation ? 0 : schedule(o->entropy, o->entropy_last, r.at)};
        l.list = choose_decisions(t, &r, &l.count);
        double rate = r.is_imitation ? schedule(10 * o->rate, o->rate, r.at) : schedule(o->rate, o->rate_last, r.at);
        *point =
            (train_point){.update = ++t->done, .phase = !r.is_imitation, .reward = mean_reward(&r), .validation = NAN};
        code = l.list != NULL ? learn_all(t, &l, rate, point) : complain(NULL, "out of memory");
        free(l.list);
    }
    close_round(&r);
    clo_model_destroy(model);
    free(data);
    return code;
}

/* The mean completion time of the integers on validation, over that of the baseline; the best choices. */
static int validate(network_training *t, double *out)
{
    uint32_t count = t->o.scenes.validation.count * t->scenes_count;
    clo_learned_argument with = CLO_LEARNED_ARGUMENT_INIT;
    void *data = NULL;
    size_t bytes = 0;
    clo_model *model = NULL;
    double *reached = calloc(count, sizeof *reached);

    if (reached == NULL)
        return complain(NULL, "out of memory");
    int code = network_model(t, t->numbers, &data, &bytes, &model);
    with.model = model;
    const network_tries tries = {t->o.scenes.validation, t->policy, &with, reached};
    if (code == EXIT_GOOD)
        code = network_try(t, &tries);
    *out = 0;
    for (uint32_t i = 0; i < count && code == EXIT_GOOD; i++)
        *out += reached[i] / t->baseline_ns[i] / count;
    if (code == EXIT_GOOD && *out < t->best_score) {
        t->best_score = *out;
        t->best_update = t->done;
        memcpy(t->best, t->numbers, agent_numbers() * sizeof *t->best);
    }
    free(reached);
    clo_model_destroy(model);
    free(data);
    return code;
}

static void tell(network_training *t, train_point *point, double valid)
{
    point->validation = -valid;
    t->curve[t->curve_count++] = *point;
    if (t->o.scenes.as_json || isnan(valid))
        return;
    if (t->done == 0)
        printf("%7u %-9s %66.4f %8.4f %8.0f s\n", 0u, "", valid, t->best_score, seconds_since(t->begin_ns));
    else
        printf("%7u %-9s %9.2f s %9.4f %8.4f %7.3f %9.3f %12.4f %8.4f %8.0f s\n", t->done,
               t->done <= t->o.imitations ? "imitate" : "reinforce", -point->reward, point->loss, point->entropy,
               point->agreed, point->gradient, valid, t->best_score, seconds_since(t->begin_ns));
    fflush(stdout);
}

int network_train(network_training *t)
{
    const network_options *o = &t->o;
    double valid = NAN;
    int code = EXIT_GOOD;

    if (!o->scenes.as_json)
        printf(" update kind         training      loss  entropy  agreed  gradient   validation     best     time\n");
    if (t->done == 0) {
        train_point first = {.reward = NAN, .loss = NAN, .entropy = NAN, .agreed = NAN, .gradient = NAN};
        code = validate(t, &valid);
        if (code == EXIT_GOOD)
            tell(t, &first, valid);
    }
    while (t->done < o->stop && code == EXIT_GOOD) { /* each round is an update */
        train_point point = {0};
        code = update(t, &point);
        valid = NAN;
        bool validates = t->done % o->validate_every == 0 || t->done == o->stop || t->done == o->imitations;
        if (code == EXIT_GOOD && validates)
            code = validate(t, &valid);
        if (code == EXIT_GOOD)
            tell(t, &point, valid);
        if (code == EXIT_GOOD && validates)
            code = network_write_checkpoint(t);
    }
    return code;
}
