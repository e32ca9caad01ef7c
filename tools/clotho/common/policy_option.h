/* policy_option.h - `--policy NAME[:ARGUMENT]`, as every verb reads it. */
#ifndef CLO_TOOLS_CLOTHO_COMMON_POLICY_OPTION_H
#define CLO_TOOLS_CLOTHO_COMMON_POLICY_OPTION_H

#include <clotho/policy.h>

/* The policy of NAME[:ARGUMENT].
 *
 *   text      receives the argument as text, a part of `name`; NULL: none.
 *   argument  receives what the policy made of it (clo_policy.parse), for policy_close; NULL: none.
 *
 * Returns EXIT_GOOD, or an exit code after an error line; then nothing is to be freed. */
int policy_open(const char *name, const clo_policy **policy, const char **text, void **argument);

/* `argument` may be NULL; then `policy` may be too. */
void policy_close(const clo_policy *policy, void *argument);

#endif
