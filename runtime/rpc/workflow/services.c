/* services.c - the list of services, and which of them a call runs on: the one of its whole name, else the first one
 * whose name is a pattern for it. */
#include "base/status.h"
#include "rpc/wire/peer.h"
#include "rpc/workflow/state.h"

#include <fnmatch.h>
#include <string.h>

static int add_replica(clo_rpc_group *g, const char *text, size_t length)
{
    if (length == 0 || length >= CLO_RPC_NAME_BYTES || g->replicas == CLO_RPC_REPLICAS_MAX)
        return -1;
    memcpy(g->replica[g->replicas], text, length);
    g->replica[g->replicas++][length] = '\0';
    return 0;
}

static int read_group(const char *text, size_t length, clo_rpc_group *g)
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
static int is_named_twice(const clo_rpc_workflow *w)
{
    for (uint32_t s = 0; s + 1 < w->services_count; s++)
        if (strcmp(w->services[s].name, w->services[w->services_count - 1].name) == 0)
            return 1;
    return 0;
}

int clo_rpc_services_is_endpoint(const char *text)
{
    struct sockaddr_storage address;

    if (strnlen(text, CLO_RPC_NAME_BYTES) == CLO_RPC_NAME_BYTES)
        return 0;
    return strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0 ||
           clo_rpc_peer_address(text, &address) == 0;
}

static clo_status check_endpoints(const clo_rpc_workflow *w)
{
    for (uint32_t s = 0; s < w->services_count; s++)
        for (uint32_t i = 0; i < w->services[s].replicas; i++)
            if (!clo_rpc_services_is_endpoint(w->services[s].replica[i]))
                return clo_fail(CLO_ERR_ARGUMENT,
                                "service %s: '%s' is neither ADDRESS:PORT in numbers nor http://..., https://...",
                                w->services[s].name, w->services[s].replica[i]);
    return CLO_OK;
}

clo_status clo_rpc_services_read(clo_rpc_workflow *w, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, ";");
        if (w->services_count == CLO_RPC_SERVICES_MAX || read_group(text, length, &w->services[w->services_count]) != 0)
            return clo_fail(CLO_ERR_ARGUMENT,
                            "services: '%.*s' is not NAME=ENDPOINT,ENDPOINT... (at most %u services of %u replicas)",
                            (int)(length < 300 ? length : 300), text, CLO_RPC_SERVICES_MAX, CLO_RPC_REPLICAS_MAX);
        w->services_count++;
        if (is_named_twice(w))
            return clo_fail(CLO_ERR_ARGUMENT, "services names '%s' twice; give all its replicas behind one name",
                            w->services[w->services_count - 1].name);
        text += length;
        text += *text == ';';
    }
    if (w->services_count == 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_rpc_config.services names none; write NAME=ENDPOINT,ENDPOINT...");
    return check_endpoints(w);
}

clo_status clo_rpc_services_find(const clo_rpc_workflow *w, const char *name, uint32_t *service)
{
    for (uint32_t s = 0; s < w->services_count; s++)
        if (strcmp(w->services[s].name, name) == 0) {
            *service = s;
            return CLO_OK;
        }
    for (uint32_t s = 0; s < w->services_count; s++)
        if (fnmatch(w->services[s].name, name, 0) == 0) {
            *service = s;
            return CLO_OK;
        }
    return clo_fail(CLO_ERR_ARGUMENT,
                    "services: none is called '%.80s', as a call says; add it, or '*=ENDPOINT' for all others", name);
}
