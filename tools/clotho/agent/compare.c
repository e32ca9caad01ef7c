/* compare.c - the integers of a trained network against its real numbers: how often they choose alike, and what that
 * changes on streams. The policy is the same but for who chooses (clo_learned_argument.choose). */
#include "clotho/agent/episodes.h"

#include "clotho/common/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fewer candidates are no choice to speak of. */
enum { CANDIDATES_LEAST = 4, DECISIONS_EACH = 64 };

/* Integers chose; what would the real numbers have chosen? Where they have no single best choice there is no answer. */
static int compare_choices(network_training *t, const clo_model *model, uint32_t scene)
{
    const train_law law = {.scene = scene};
    const agent_wish wish = {.leaves_limit = t->o.parts.lacks_limits};
    agent_room room = {0};
    int code = EXIT_GOOD;

    for (uint32_t i = 0; i < t->o.compared.count && code == EXIT_GOOD; i++) {
        played one = {.seed = t->o.compared.first + i, .episode = {.keep = 1, .executors = t->executors}};
        episode *e = &one.episode;
        code = network_play(t, model, &law, &one, 1);
        uint32_t step = e->kept_count > DECISIONS_EACH ? e->kept_count / DECISIONS_EACH : 1;
        for (uint32_t k = 0; k < e->kept_count && code == EXIT_GOOD; k += step) {
            agent_learned found;
            if (e->kept[k].candidates_count < CANDIDATES_LEAST)
                continue;
            if (!agent_learn(&t->net, t->best, &e->kept[k], &wish, &room, NULL, &found))
                code = complain(NULL, "out of memory");
            if (found.is_tie)
                continue;
            t->agreement.decisions++;
            t->agreement.same += found.agrees;
            t->agreement.same_stages += found.stage_agrees;
            t->agreement.same_limits += found.limit_agrees;
        }
        episode_free(e);
    }
    agent_room_free(&room);
    return code;
}

/* The real numbers in the policy. */
typedef struct real {
    const network_training *t;
    agent_room room;
    bool has_failed;
} real;

static void choose(void *context, const clo_learned_decision *seen, uint32_t *candidate, uint32_t *limit)
{
    real *r = context;

    r->has_failed = r->has_failed || !agent_choose(&r->t->net, r->t->executors, seen, &r->room, candidate, limit);
}

static int compare_streams(network_training *t, const clo_model *model, uint32_t scene)
{
    const uint32_t count = t->o.compared.count;
    clo_learned_argument with = CLO_LEARNED_ARGUMENT_INIT, reals = CLO_LEARNED_ARGUMENT_INIT;
    double *integers = calloc(t->scenes_count * (size_t)count, sizeof *integers);
    double *real_ones = calloc(t->scenes_count * (size_t)count, sizeof *real_ones);
    real r = {.t = t};
    network_training one_thread = *t;
    int code = EXIT_GOOD;

    if (integers == NULL || real_ones == NULL) {
        free(integers);
        free(real_ones);
        return complain(NULL, "out of memory");
    }
    with.model = reals.model = model;
    reals.choose = choose;
    reals.choose_context = &r;
    one_thread.o.scenes.threads = 1;
    one_thread.scenes_count = 1;
    one_thread.scenes[0] = t->scenes[scene];
    const network_tries by_integers = {t->o.compared, t->policy, &with, integers};
    const network_tries by_reals = {t->o.compared, t->policy, &reals, real_ones};
    if (code == EXIT_GOOD)
        code = network_try(&one_thread, &by_integers);
    if (code == EXIT_GOOD)
        code = network_try(&one_thread, &by_reals);
    if (code == EXIT_GOOD && r.has_failed)
        code = complain(NULL, "out of memory");
    for (uint32_t i = 0; i < count && code == EXIT_GOOD; i++)
        paired_add(&t->agreement.change, integers[i], real_ones[i]);
    agent_room_free(&r.room);
    free(integers);
    free(real_ones);
    return code;
}

int network_compare(network_training *t)
{
    clo_model *model = NULL;
    clo_status status = clo_model_open(t->o.name, t->model, t->model_bytes, &model);
    int code = status == CLO_OK ? EXIT_GOOD : complain_status("the model", status);

    agent_network(t->best, t->executors, &t->net);
    for (uint32_t s = 0; s < t->scenes_count && code == EXIT_GOOD; s++) {
        code = compare_choices(t, model, s);
        if (code == EXIT_GOOD)
            code = compare_streams(t, model, s);
    }
    agent_network(t->numbers, t->executors, &t->net);
    clo_model_destroy(model);
    return code;
}
