/* remote_starpu.c - StarPU-MPI: a handle for each output, each rank inserts all tasks. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "remote/remote_starpu.h"

#include <starpu.h>
#include <starpu_mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct peer {
    remote_graph *graph;
    starpu_data_handle_t *handles; /* [tasks] */
} peer;

/* What a body gets beside its buffers; copied by StarPU. */
typedef struct argument {
    remote_graph *graph;
    uint32_t task;
} argument;

static void run_body(void *buffers[], void *packed)
{
    const void *inputs[REMOTE_PREDS_MAX];
    argument a;

    starpu_codelet_unpack_args(packed, &a);
    for (uint32_t k = 0; k < a.graph->preds_count[a.task]; k++)
        inputs[k] = (const void *)STARPU_VECTOR_GET_PTR(buffers[k + 1]);
    remote_body(a.graph, a.task, inputs, (void *)STARPU_VECTOR_GET_PTR(buffers[0]));
}

static struct starpu_codelet codelet = {
    .where = STARPU_CPU, .cpu_funcs = {run_body}, .nbuffers = STARPU_VARIABLE_NBUFFERS, .name = "layers"};

void *remote_starpu_open(remote_graph *graph)
{
    peer *p = calloc(1, sizeof *p);
    struct starpu_conf conf;

    setenv("STARPU_SILENT", "1", 1);
    setenv("STARPU_NOPENCL", "0", 1); /* CPUs alone, also where a device of OpenCL is installed */
    setenv("STARPU_WORKERS_NOBIND", "1", 1); /* else the workers of all ranks are bound to one CPU */
    setenv("STARPU_MPI_NOBIND", "1", 1);
    if (p == NULL || starpu_conf_init(&conf) != 0)
        return free(p), NULL;
    conf.ncpus = 1;
    conf.ncuda = 0;
    conf.nopencl = 0;
    conf.sched_policy_name = "eager";
    p->graph = graph;
    p->handles = calloc(graph->tasks, sizeof(*p->handles));
    if (p->handles != NULL && starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, &conf) == 0)
        return p;
    fprintf(stderr, "bench-remote: StarPU-MPI does not start\n");
    free(p->handles);
    free(p);
    return NULL;
}

static bool insert(peer *p, uint32_t task)
{
    remote_graph *g = p->graph;
    struct starpu_data_descr used[REMOTE_PREDS_MAX + 1] = {{.handle = p->handles[task], .mode = STARPU_W}};
    argument a = {g, task};

    for (uint32_t k = 0; k < g->preds_count[task]; k++)
        used[k + 1] = (struct starpu_data_descr){.handle = p->handles[g->preds[task][k]], .mode = STARPU_R};
    return starpu_mpi_task_insert(MPI_COMM_WORLD, &codelet, STARPU_VALUE, &a, sizeof a, STARPU_EXECUTE_ON_NODE,
                                  g->owner[task], STARPU_DATA_MODE_ARRAY, used, (int)g->preds_count[task] + 1, 0) == 0;
}

bool remote_starpu_run(void *state)
{
    peer *p = state;
    bool is_good = true;

    for (uint32_t t = 0; t < p->graph->tasks; t++) {
        starpu_vector_data_register(&p->handles[t], -1, 0, (uint32_t)p->graph->bytes, 1);
        starpu_mpi_data_register(p->handles[t], (starpu_mpi_tag_t)t, p->graph->owner[t]);
    }
    for (uint32_t t = 0; t < p->graph->tasks && is_good; t++)
        is_good = insert(p, t);
    return starpu_mpi_wait_for_all(MPI_COMM_WORLD) == 0 && is_good;
}

void remote_starpu_close(void *state)
{
    peer *p = state;

    for (uint32_t t = 0; t < p->graph->tasks; t++)
        starpu_data_unregister(p->handles[t]);
    starpu_mpi_shutdown();
    free(p->handles);
    free(p);
}
