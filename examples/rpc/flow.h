/* flow.h - from services and a call graph to Clotho's platform, graph and cost.
 *
 * Machine = host, executor = one unit of concurrency of one replica (a slot), kind = service, memory = host. A task can
 * run on the executors of its service only. Link = link_us + bytes / link_mbit.
 *
 * Call graphs. The caller waits for its callees, so a node becomes two tasks: before(caller) -> before(callee), and
 * after(callee) -> after(caller). The data does not say whether a caller calls its callees in parallel or one after the
 * other: FLOW_SEQUENCE adds after(one) -> before(next), where that makes no circle (a callee that several callers share
 * is called once for all of them). Times are not in the data either: each task takes work_us. A
 * node runs on the service that is called as it is, else on the first one whose name is a pattern (fnmatch) for it: '*'
 * takes all that no other does. Requests run on the first service. */
#ifndef RPC_FLOW_H
#define RPC_FLOW_H

#include "method.h"

typedef enum flow_order { FLOW_PARALLEL, FLOW_SEQUENCE } flow_order;

typedef struct flow_config {
    service_group services[SERVICES_MAX];
    uint32_t services_count;

    /* A file with call graphs, and which of them; NULL: `requests` instances of one task. */
    const char *path;
    uint32_t pick, requests;

    flow_order order;
    uint32_t slots, output_bytes, hops;
    uint64_t work_us, seed;

    /* From host to host, for planners: half of a round trip, and the bandwidth; 0: none is counted. */
    uint32_t link_us, link_mbit;

    /* Tasks in a hundred with an effect, by name; what a broken call of them means. */
    uint32_t effect_percent;
    method_effect effect;

    /* Requests per second, as a Poisson process; 0: all at once. */
    double rate;

    /* 1: bodies compute the answers themselves, without any service. */
    uint32_t is_local;
} flow_config;

typedef struct flow {
    clo_platform *platform;
    clo_graph *graph;
    clo_cost *cost;
    method *methods;
    uint32_t methods_count, instances;
    uint32_t *replica_of;
    int64_t *arrivals_us;

    /* Edges of FLOW_SEQUENCE, and those that would have made a circle. */
    uint32_t sequenced, not_sequenced;

    /* Of all that the outputs depend on. */
    uint64_t hash;
} flow;

/* Returns 0, or -1 with one line in `error`. */
int flow_create(const flow_config *config, flow *out, char *error, size_t error_bytes);
void flow_destroy(flow *f);

/* Reads "NAME=ENDPOINT,ENDPOINT;NAME=ENDPOINT"; a NAME is a node's, or a pattern. Returns 0 or -1 likewise. */
int flow_services(const char *text, flow_config *out, char *error, size_t error_bytes);

#endif
