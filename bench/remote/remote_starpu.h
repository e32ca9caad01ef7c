/* remote_starpu.h - StarPU-MPI, with one worker and its thread for MPI. */
#ifndef BENCH_REMOTE_STARPU_H
#define BENCH_REMOTE_STARPU_H

#include "remote/remote_graph.h"

/* Starts it on an MPI that is initialised; NULL and a message where it does not start. All ranks must call each of the
 * three. */
void *remote_starpu_open(remote_graph *graph);
bool remote_starpu_run(void *state);
void remote_starpu_close(void *state);

#endif
