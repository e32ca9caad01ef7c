/* arrivals.c - see arrivals.h. */
#include "clotho/stream/arrivals.h"

#include "clotho/common/options.h"
#include "clotho/common/report.h"

#include <stdio.h>
#include <string.h>

#define POISSON "poisson:"

int arrivals_parse(const char *option, const char *text, clo_arrivals_config *config)
{
    char mean[64];
    size_t length = strlen(text), before = strlen(POISSON);

    config->mean_ns = 0;
    if (strcmp(text, "batch") == 0 || strcmp(text, "trace") == 0) {
        config->kind = text[0] == 'b' ? CLO_ARRIVALS_BATCH : CLO_ARRIVALS_TRACE;
        return EXIT_GOOD;
    }
    if (strncmp(text, POISSON, before) != 0)
        return misuse("--%s is '%s'; write batch, trace or poisson:SECONDS", option, text);
    bool is_plain =
        length > before && (text[length - 1] == '.' || (text[length - 1] >= '0' && text[length - 1] <= '9'));
    snprintf(mean, sizeof mean, "%s%s", text + before, is_plain ? "s" : "");
    if (length - before + 2 > sizeof mean || !parse_time(mean, &config->mean_ns))
        return misuse("--%s is '%s'; write the mean gap as seconds > 0, or a time such as 20ms", option, text);
    config->kind = CLO_ARRIVALS_POISSON;
    return EXIT_GOOD;
}

int known_environment(const char *text)
{
    clo_environment environment = CLO_ENVIRONMENT_INIT;
    clo_status status = text != NULL ? clo_environment_open(text, 0, &environment) : CLO_OK;

    if (status != CLO_OK)
        return status == CLO_ERR_ARGUMENT ? misuse("%s", clo_last_error()) : complain_status(NULL, status);
    if (text != NULL)
        clo_environment_close(&environment);
    return EXIT_GOOD;
}
