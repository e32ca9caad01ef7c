/* environment.c - environments by name: "decima:faithful,moving=500ms", each part behind the colon optional. */
#include <clotho/environment.h>

#include "sim/waves.h"

#include "base/status.h"

#include <stdbool.h>
#include <string.h>

/* Eleven days: sums of times stay far from their end. */
#define MOVING_MOST_NS INT64_C(1000000000000000)

/* One part of the text. */
typedef struct part {
    const char *text;
    size_t length;
} part;

static bool starts_with(part p, const char *word)
{
    size_t length = strlen(word);

    return p.length >= length && strncmp(p.text, word, length) == 0;
}

/* "0", or a whole number with its unit. */
static bool read_time(part p, int64_t *out_ns)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    int64_t value = 0;
    size_t digits = 0;

    for (; digits < p.length && p.text[digits] >= '0' && p.text[digits] <= '9'; digits++)
        value = value > MOVING_MOST_NS ? value : value * 10 + (p.text[digits] - '0');
    const part unit = {p.text + digits, p.length - digits};
    *out_ns = 0;
    if (digits > 0 && value == 0 && unit.length == 0)
        return true;
    for (size_t i = 0; digits > 0 && i < sizeof units / sizeof units[0]; i++)
        if (unit.length == strlen(units[i].name) && starts_with(unit, units[i].name)) {
            *out_ns = value * (value <= MOVING_MOST_NS / units[i].ns ? units[i].ns : 0);
            return value <= MOVING_MOST_NS / units[i].ns;
        }
    return false;
}

static clo_status read_part(part p, const char *text, clo_decima_config *config)
{
    const char moving[] = "moving=";
    int shown = p.length < 60 ? (int)p.length : 60;

    if (starts_with(p, "faithful") && p.length == strlen("faithful")) {
        config->faithful = 1;
        return CLO_OK;
    }
    if (!starts_with(p, moving))
        return clo_fail(CLO_ERR_ARGUMENT,
                        "environment '%.60s': '%.*s' is none of its parts; write decima, decima:faithful or "
                        "decima:moving=500ms",
                        text, shown, p.text);
    const part time = {p.text + strlen(moving), p.length - strlen(moving)};
    if (!read_time(time, &config->moving_ns))
        return clo_fail(CLO_ERR_ARGUMENT,
                        "environment '%.60s': '%.*s' is no time; write moving=500ms, in whole ns, us, ms or s up to "
                        "1000000s, or moving=0",
                        text, shown, p.text);
    return CLO_OK;
}

clo_status clo_environment_open(const char *text, uint64_t seed, clo_environment *out)
{
    clo_decima_config config = CLO_DECIMA_CONFIG_INIT;
    clo_status status = CLO_OK;

    if (text == NULL || out == NULL)
        return clo_fail_null("clo_environment_open", "text or out");
    config.seed = seed;
    config.moving_ns = CLO_DECIMA_MOVING_NS;
    config.warmup_ns = CLO_DECIMA_WARMUP_NS;
    const part name = {text, strcspn(text, ":")};
    if (name.length != strlen("decima") || !starts_with(name, "decima"))
        return clo_fail(CLO_ERR_ARGUMENT,
                        "there is no environment '%.60s'; write decima, decima:faithful or decima:moving=500ms", text);
    for (const char *at = text + name.length; status == CLO_OK && *at != '\0';) {
        const part p = {at + 1, strcspn(at + 1, ",")};
        status = read_part(p, text, &config);
        at = p.text + p.length;
    }
    return status == CLO_OK ? clo_decima_make(&config, out) : status;
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
