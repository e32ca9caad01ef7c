/* policy_option.c - see policy_option.h. */
#include "clotho/common/policy_option.h"

#include "clotho/common/input.h"

#include <clotho/follow.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "follow:LOG". The library takes the log; files are read by another one. */
static int open_plan(const char *path, clo_follow_argument *argument)
{
    if (strcmp(path, "-") == 0)
        return misuse("--policy follow:- would read standard input more than once; write the log to a file");
    if (path[0] == '\0')
        return misuse("--policy follow: needs the log to follow; write --policy follow:LOG");
    clo_status status = clo_log_load(path, &argument->owned);

    argument->plan = argument->owned;
    return status == CLO_OK ? EXIT_GOOD : complain_status(path, status);
}

int policy_open(const char *name, const clo_policy **policy, const char **text, void **argument)
{
    char plain[64];
    size_t length = strcspn(name, ":");

    *text = name[length] == ':' ? name + length + 1 : NULL;
    *argument = NULL;
    snprintf(plain, sizeof plain, "%.*s", length < sizeof plain ? (int)length : (int)sizeof plain - 1, name);
    if (known_policy(plain) != EXIT_GOOD)
        return EXIT_BAD_USAGE;
    *policy = clo_policy_find(plain);
    if (*policy == NULL)
        return misuse("'%s' is no policy of the scheduler; see 'clotho list policies'", plain);
    bool follows = strcmp(plain, "follow") == 0;
    if (*text == NULL)
        return EXIT_GOOD;
    if ((*policy)->parse == NULL && !follows)
        return misuse("the policy '%s' takes no argument; write --policy %s", plain, plain);
    *argument = calloc(1, (*policy)->argument_bytes > 0 ? (*policy)->argument_bytes : 1);
    if (*argument == NULL)
        return complain(NULL, "out of memory for the argument of the policy");
    if (follows) {
        int code = open_plan(*text, *argument);
        if (code != EXIT_GOOD) {
            free(*argument);
            *argument = NULL;
        }
        return code;
    }
    clo_status status = (*policy)->parse(*text, *argument);
    if (status == CLO_OK)
        return EXIT_GOOD;
    free(*argument);
    *argument = NULL;
    return status == CLO_ERR_ARGUMENT ? misuse("--policy %.80s: %s", show_name(name), clo_last_error())
                                      : complain(NULL, "--policy %.80s: %s%s", show_name(name), clo_last_error(),
                                                 status == CLO_ERR_IO ? "; name a file that can be read" : "");
}

void policy_close(const clo_policy *policy, void *argument)
{
    if (argument != NULL && policy->release != NULL)
        policy->release(argument);
    free(argument);
}
