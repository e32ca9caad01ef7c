/* environment.c - environments by name. */
#include <clotho/environment.h>

#include "base/status.h"

#include <string.h>

clo_status clo_environment_open(const char *text, uint64_t seed, clo_environment *out)
{
    clo_decima_config config = CLO_DECIMA_CONFIG_INIT;

    if (text == NULL || out == NULL)
        return clo_fail_null("clo_environment_open", "text or out");
    config.seed = seed;
    config.faithful = strcmp(text, "decima:faithful") == 0;
    if (!config.faithful && strcmp(text, "decima") != 0)
        return clo_fail(CLO_ERR_ARGUMENT, "there is no environment '%.60s'; write decima or decima:faithful", text);
    return clo_decima_open(&config, out);
}

void clo_environment_close(clo_environment *environment)
{
    if (environment == NULL)
        return;
    if (environment->close != NULL)
        environment->close(environment->state);
    environment->close = NULL;
    environment->state = NULL;
}
