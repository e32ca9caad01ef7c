/* state.h - inside a workflow: what was declared, and what it was made into.
 *
 *   clo_rpc_workflow
 *     |- config, texts: copies        |- services[]: names, and the endpoints of their replicas
 *     |- methods[], edges[]           one a call, one a dependency; clo_rpc_instance (engine) is one of their runs
 *     |  seal:
 *     |- platform, graph, cost, plan  for Clotho: machine = host, executor = one slot of one replica, kind = service
 *     |- journal, before              what a run that was killed has done
 *     '- engine, runtime, job         what runs */
#ifndef CLO_RPC_WORKFLOW_STATE_H
#define CLO_RPC_WORKFLOW_STATE_H

#include "rpc/engine/engine.h"

#include <clotho/job.h>
#include <clotho/plan.h>
#include <clotho/runtime.h>
#include <pthread.h>

/* What a journal says about a run that goes on: finished instances are preset, with their outputs. */
typedef struct clo_rpc_resume {
    /* For clo_job_config; NULL: nothing is done. */
    uint64_t *done;
    const void **outputs;

    /* [instances] attempts that earlier runs have begun, of those calls; NULL likewise. */
    uint32_t *attempts;

    uint32_t finished;

    /* Calls with an effect that were under way: they are repeated with their keys. */
    uint32_t again;
} clo_rpc_resume;

struct clo_rpc_workflow {
    clo_rpc_config config;
    char *journal_path, *hops[CLO_RPC_HOPS_MAX];
    clo_rpc_group services[CLO_RPC_SERVICES_MAX];
    uint32_t services_count;

    clo_rpc_method *methods;
    clo_edge *edges;
    size_t methods_count, methods_capacity, edges_count, edges_capacity;
    uint32_t instances;

    clo_platform *platform;
    clo_graph *graph;
    clo_cost *cost;
    clo_plan *plan;
    uint32_t kinds[CLO_RPC_SERVICES_MAX];

    /* [executors] which replica of its service each stands for. */
    uint32_t *replica_of;

    uint64_t run, graph_hash, plan_hash;
    clo_rpc_journal *journal;
    clo_rpc_resume before;
    clo_rpc_engine *engine;
    clo_runtime *runtime;
    clo_job *job;

    int has_sealed, is_sealed, has_run;
    pthread_mutex_t runs; /* held by the run that is under way */
    int cancelled_fd; /* eventfd: it can be written to from a handler of signals */

    /* Of the last run. */
    clo_status status;
    clo_job_result result;
    clo_rpc_engine_stats stats;
    uint64_t output_hash;
};

/* services.c: the list of config.services, and which of them a call runs on. */
clo_status clo_rpc_services_read(clo_rpc_workflow *w, const char *text);
clo_status clo_rpc_services_find(const clo_rpc_workflow *w, const char *name, uint32_t *service);
int clo_rpc_services_is_endpoint(const char *text);

/* places.c: the platform, and the executors of a call that stays at one replica. */
clo_status clo_rpc_places_make(clo_rpc_workflow *w);
clo_status clo_rpc_places_stay(const clo_rpc_workflow *w, const clo_rpc_method *m);

/* resume.c: reads the journal. */
clo_status clo_rpc_resume_read(clo_rpc_workflow *w);
void clo_rpc_resume_free(clo_rpc_workflow *w);

/* here.c: the body of calls that no service answers. */
int clo_rpc_here(const clo_call *call);

/* seal.c: undoes what seal has made. */
void clo_rpc_seal_undo(clo_rpc_workflow *w);

#endif
