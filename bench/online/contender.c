/* contender.c - a policy by name, with its argument. */
#include "online/online.h"

#include "online/job_order.h"
#include "online/owed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(const char *text, const char *why, bool says_why)
{
    if (says_why)
        fprintf(stderr, "bench: --policy %s: %s; `clotho list policies` names them\n", text, why);
    return false;
}

bool contender_open(contender *c, const char *text, bool says_why)
{
    const char *argument = strchr(text, ':');
    char name[ONLINE_LABEL_BYTES];

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
    if (c->policy->parse(argument + 1, c->argument) != CLO_OK) {
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
    c->argument = NULL;
}
