/* flow.h - from a call graph to the calls of a workflow.
 *
 * The caller waits for its callees, so a node becomes two calls: before(caller) -> before(callee), and after(callee) ->
 * after(caller). The data does not say whether a caller calls its callees in parallel or one after the other:
 * FLOW_SEQUENCE adds after(one) -> before(next), where that makes no circle (a callee that several callers share is
 * called once for all of them). Times are not in the data either: each call takes work_us. Requests run on the first
 * service. */
#ifndef RPC_FLOW_H
#define RPC_FLOW_H

#include <clotho/clotho.h>
#include <clotho/rpc.h>

typedef enum flow_order { FLOW_PARALLEL, FLOW_SEQUENCE } flow_order;

typedef struct flow_config {
    /* A file with call graphs, and which of them; NULL: `requests` instances of one call. */
    const char *path;
    uint32_t pick, requests;

    /* Of a request: "NAME=ENDPOINT;..." up to the '='. */
    const char *services;

    flow_order order;
    uint32_t output_bytes, hops;
    uint64_t work_us, seed;

    /* Calls in a hundred with an effect, by name; what a broken one of them means. */
    uint32_t effect_percent;
    clo_rpc_effect effect;

    /* Requests per second, as a Poisson process; 0: all at once. */
    double rate;

    /* 1: the answers are computed here, without any service. */
    uint32_t is_local;
} flow_config;

/* Edges of FLOW_SEQUENCE, and those that would have made a circle. */
typedef struct flow_counts {
    uint32_t sequenced, not_sequenced;
} flow_counts;

/* Adds the calls. As the library's calls: on failure clo_last_error has the line. `hops` must live as the workflow. */
clo_status flow_add(const flow_config *config, clo_rpc_workflow *workflow, flow_counts *out);

#endif
