/* flow_services.c - reads the list of services and their replicas. */
#include "flow.h"

#include <string.h>

static int add_replica(service_group *g, const char *text, size_t length)
{
    if (length == 0 || length >= ENDPOINT_MAX || g->replicas == REPLICAS_MAX)
        return -1;
    memcpy(g->replica[g->replicas], text, length);
    g->replica[g->replicas++][length] = '\0';
    return 0;
}

static int read_group(const char *text, size_t length, service_group *g)
{
    const char *end = text + length, *at = memchr(text, '=', length);
    size_t name = at != NULL ? (size_t)(at - text) : 0;

    if (name == 0 || name >= sizeof g->name)
        return -1;
    memcpy(g->name, text, name);
    g->name[name] = '\0';
    g->replicas = 0;
    for (at++; at <= end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma != NULL ? comma : end;
        if (add_replica(g, at, (size_t)(stop - at)) != 0)
            return -1;
        at = stop + 1;
    }
    return g->replicas > 0 ? 0 : -1;
}

/* The name of the last one is that of another. */
static int is_named_twice(const flow_config *c)
{
    for (uint32_t s = 0; s + 1 < c->services_count; s++)
        if (strcmp(c->services[s].name, c->services[c->services_count - 1].name) == 0)
            return 1;
    return 0;
}

int flow_services(const char *text, flow_config *out, char *error, size_t error_bytes)
{
    out->services_count = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, ";");
        if (out->services_count == SERVICES_MAX || read_group(text, length, &out->services[out->services_count]) != 0) {
            snprintf(error, error_bytes,
                     "--services: '%.*s' is not NAME=ENDPOINT,ENDPOINT... (at most %d services of %d replicas)",
                     (int)length, text, SERVICES_MAX, REPLICAS_MAX);
            return -1;
        }
        out->services_count++;
        if (is_named_twice(out)) {
            snprintf(error, error_bytes, "--services names '%s' twice; give all its replicas behind one name",
                     out->services[out->services_count - 1].name);
            return -1;
        }
        text += length;
        text += *text == ';';
    }
    if (out->services_count > 0)
        return 0;
    snprintf(error, error_bytes, "--services names none");
    return -1;
}
