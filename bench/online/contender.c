/* contender.c - a policy by name, with its argument. */
#include "online/online.h"

#include "common/model_edit.h"

#include "online/job_order.h"
#include "online/owed.h"
#include "policy/decima/decima_state.h"

#include <clotho/learned.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(const char *text, const char *why, bool says_why)
{
    if (says_why)
        fprintf(stderr, "bench: --policy %s: %s; `clotho list policies` names them\n", text, why);
    return false;
}

/* "residual:SET,zero-residual" and "residual:SET,shuffle-weights", "easy-residual:zero-residual" and so on: controls, with
 * the built-in model changed. What is left of `text` is the policy's own argument; "": none. */
static bool read_control(const clo_policy *policy, char *text, model_edit *edit)
{
    bool is_easy = strcmp(policy->name, "easy-residual") == 0;
    char *comma = strcmp(policy->name, "residual") == 0 ? strchr(text, ',') : NULL;
    const char *word = is_easy ? text : comma != NULL ? comma + 1 : "";

    if (strcmp(word, "zero-residual") != 0 && strcmp(word, "shuffle-weights") != 0)
        return false;
    *edit = *word == 'z' ? MODEL_SILENT : MODEL_SHUFFLED;
    *(is_easy ? text : comma) = '\0';
    return true;
}

static bool put_control(contender *c, model_edit edit)
{
    clo_residual_argument *argument = c->argument;
    char name[sizeof "decima-" + sizeof argument->parametric];

    if (strcmp(c->policy->name, "easy-residual") == 0)
        snprintf(name, sizeof name, "easy-residual");
    else
        snprintf(name, sizeof name, "decima-%s", argument->parametric);
    argument->size = sizeof *argument;
    argument->model = argument->owned = model_builtin(name, edit, 1, &c->memory);
    return argument->model != NULL;
}

/* Decima's stage with all executors that are asked about: its limit is not heeded. The rules of its simulator are the
 * first member of the policy's state (runtime/policy/decima/decima_network.c). */
static _Thread_local clo_decima_choose_fn chooses;

static clo_decima_place choose_without_limits(clo_decima *d, uint32_t *use)
{
    clo_decima_place place = chooses(d, use);

    *use = d->asked;
    return place;
}

static clo_status init_without_limits(void *state, const clo_view *view)
{
    clo_status status = clo_policy_find("decima")->init(state, view);

    if (status == CLO_OK) {
        chooses = ((clo_decima *)state)->choose;
        ((clo_decima *)state)->choose = choose_without_limits;
    }
    return status;
}

/* Contenders are opened before the threads start. */
static const clo_policy *without_limits(void)
{
    static clo_policy changed;

    changed = *clo_policy_find("decima");
    changed.init = init_without_limits;
    return &changed;
}

/* The last part of an argument. */
static const char *last_part(const char *argument)
{
    const char *comma = strrchr(argument, ',');

    return comma != NULL ? comma + 1 : argument;
}

static bool is_ablation(const contender *c, const char *argument)
{
    const char *last = last_part(argument);

    return strcmp(c->policy->name, "decima") == 0 &&
           (strcmp(last, "no-limits") == 0 || strcmp(last, "no-messages") == 0 || strcmp(last, "shuffle-weights") == 0);
}

/* The model of the argument, or the built-in one, changed. */
static bool edit_model(contender *c, clo_learned_argument *argument, model_edit edit)
{
    clo_model *given = argument->owned;

    argument->model = argument->owned =
        given != NULL ? model_edited(given, edit, 1, &c->memory) : model_builtin("decima", edit, 1, &c->memory);
    clo_model_destroy(given);
    return argument->model != NULL;
}

/* "decima:sampled,no-limits", "decima:own,no-messages" ...: what is left of a network without one of its ideas (Decima,
 * figure 14, as far as that can be done without training), or with its weights in another order. What stands before
 * says which network, and how it draws. */
static bool open_ablation(contender *c, const char *text)
{
    const char *last = last_part(text);
    clo_learned_argument *argument = calloc(1, sizeof *argument);
    char rest[ONLINE_LABEL_BYTES];

    c->argument = argument;
    if (argument == NULL)
        return false;
    *argument = (clo_learned_argument)CLO_LEARNED_ARGUMENT_INIT;
    snprintf(rest, sizeof rest, "%.*s", last > text ? (int)(last - text - 1) : 0, text);
    bool is_good = rest[0] == '\0' || c->policy->parse(rest, argument) == CLO_OK;
    if (is_good && strcmp(last, "no-limits") == 0)
        c->policy = without_limits();
    else if (is_good)
        is_good = edit_model(c, argument, strcmp(last, "no-messages") == 0 ? MODEL_NO_MESSAGES : MODEL_SHUFFLED);
    if (!is_good)
        contender_close(c);
    return is_good;
}

bool contender_open(contender *c, const char *text, bool says_why)
{
    const char *argument = strchr(text, ':');
    char name[ONLINE_LABEL_BYTES];
    model_edit edit = MODEL_SILENT;

    *c = (contender){0};
    if (strlen(text) >= sizeof name)
        return refuse(text, "the name is too long", says_why);
    snprintf(c->label, sizeof c->label, "%s", text);
    snprintf(name, sizeof name, "%.*s", argument != NULL ? (int)(argument - text) : (int)strlen(text), text);
    c->policy = strcmp(name, job_order_policy.name) == 0 ? &job_order_policy
                : strcmp(name, "graphene") == 0          ? owed_policy()
                                                         : clo_policy_find(name);
    if (c->policy == NULL)
        return refuse(text, "there is no such policy", says_why);
    if (argument == NULL)
        return true;
    if (c->policy->parse == NULL)
        return refuse(text, "this policy takes no argument", says_why);
    if (is_ablation(c, argument + 1))
        return open_ablation(c, argument + 1) || refuse(text, "what stands before is no argument of decima", says_why);
    c->argument = calloc(1, c->policy->argument_bytes > 0 ? c->policy->argument_bytes : 1);
    if (c->argument == NULL)
        return refuse(text, "no memory", says_why);
    snprintf(name, sizeof name, "%s", argument + 1);
    bool has_control = read_control(c->policy, name, &edit);
    bool is_bare = has_control && name[0] == '\0';
    if ((!is_bare && c->policy->parse(name, c->argument) != CLO_OK) || (has_control && !put_control(c, edit))) {
        bool said = refuse(text, clo_last_error(), says_why);
        free(c->argument);
        c->argument = NULL;
        return said;
    }
    return true;
}

void contender_close(contender *c)
{
    if (c->argument != NULL && c->policy->release != NULL)
        c->policy->release(c->argument);
    free(c->argument);
    free(c->memory);
    c->argument = c->memory = NULL;
}
