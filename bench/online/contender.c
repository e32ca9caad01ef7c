/* contender.c - a policy by name, with its argument. */
#include "online/online.h"

#include "common/model_edit.h"

#include "online/job_order.h"
#include "online/owed.h"

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

/* "residual:SET,zero-residual" and "residual:SET,shuffle-weights": controls, with the built-in model changed. Cuts
 * `text` before the comma. */
static bool read_control(char *text, model_edit *edit)
{
    char *comma = strchr(text, ',');

    if (comma == NULL || (strcmp(comma, ",zero-residual") != 0 && strcmp(comma, ",shuffle-weights") != 0))
        return false;
    *edit = strcmp(comma, ",zero-residual") == 0 ? MODEL_SILENT : MODEL_SHUFFLED;
    *comma = '\0';
    return true;
}

static bool put_control(contender *c, model_edit edit)
{
    clo_residual_argument *argument = c->argument;
    bool is_stream = strcmp(argument->parametric, "stream") == 0;
    clo_model *model = NULL;
    size_t bytes;
    const void *data = clo_model_builtin(is_stream ? "decima-stream" : "decima-batch", &bytes);

    if (data == NULL || clo_model_open("built-in", data, bytes, &model) != CLO_OK)
        return false;
    argument->model = argument->owned = model_edited(model, edit, 1, &c->memory);
    clo_model_destroy(model);
    return argument->model != NULL;
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
    c->argument = calloc(1, c->policy->argument_bytes > 0 ? c->policy->argument_bytes : 1);
    if (c->argument == NULL)
        return refuse(text, "no memory", says_why);
    snprintf(name, sizeof name, "%s", argument + 1);
    bool has_control = strcmp(c->policy->name, "residual") == 0 && read_control(name, &edit);
    if (c->policy->parse(name, c->argument) != CLO_OK || (has_control && !put_control(c, edit))) {
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
