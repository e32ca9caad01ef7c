/* virtual.h - a rank under SimGrid SMPI: the runtime's place is taken by executors in simulated time.
 *
 * SMPI runs all ranks in one process, one at a time, on a simulated clock. Threads of a rank would go on by the real
 * clock beside it, so there are none: a rank's executors are looked after whenever it asks for the time or waits. They
 * keep the order of the plan, run a body at the simulated moment at which it ends, and have slots for receives, as the
 * runtime. All that is remote/ is the library's: what a rank sends, posts, hears and says when another one is lost.
 * Ranks share the variables of the program. */
#ifndef CLO_TEST_SMPI_VIRTUAL_H
#define CLO_TEST_SMPI_VIRTUAL_H

#include "remote/messages/clocks.h"
#include "remote/messages/remote.h"
#include "remote/split/local.h"

#include <clotho/job.h>
#include <clotho/runtime.h>
#include <clotho/token.h>

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct virtual_job virtual_job;

typedef struct virtual_rank {
    clo_remote *remote;     /* NULL: not open yet */
    int64_t stops_after_ns; /* it goes silent so long after its run has begun; 0: never */
    bool compares_clocks;   /* else all are known to be one */
    int tags_max;           /* what MPI_TAG_UB is said to be; 0: the truth */
    int64_t shown_ns;       /* the clock in a body; 0: the simulated one */
    int64_t ends_ns;        /* of the body that is called */
    virtual_job *job;       /* NULL: none */
    MPI_Status found;       /* by virtual_improbe, and in which communicator */
    MPI_Comm found_in;
    uint64_t messages, wrong;
    char what[256]; /* the first of the wrong ones */
} virtual_rank;

/* The calling rank; borrowed until it ends. */
void virtual_begin(virtual_rank *rank);
virtual_rank *virtual_self(void);

/* Nothing happens on this rank for so long. */
void virtual_sleep(int64_t ns);

int64_t virtual_clock_ns(void);
void virtual_wait_until(clo_eventcount *bell, uint32_t heard, int64_t until_ns);
int virtual_yield(void);
clo_status virtual_runtime_create(const clo_platform *platform, const clo_runtime_config *config, clo_runtime **out);
void virtual_runtime_destroy(clo_runtime *runtime);
clo_status virtual_job_create(clo_runtime *runtime, const clo_cost *cost, const clo_job_config *config, clo_job **out);
clo_status virtual_job_submit(clo_job *opaque);
clo_status virtual_job_wait_for(clo_job *opaque, int64_t timeout_ns, clo_job_result *result);
void virtual_job_destroy(clo_job *opaque);
clo_status virtual_token_take(const clo_call *call, clo_cancel_fn cancel, void *argument, clo_token *out);
clo_status virtual_token_complete(clo_token token, int code);
clo_status virtual_clocks_compare(clo_remote *remote, clo_offset *offsets);
int virtual_query_thread(int *level);
int virtual_get_attr(MPI_Comm comm, int key, void *value, int *is_set);
int virtual_isend(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request);
int virtual_issend(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                   MPI_Request *request);
int virtual_test(MPI_Request *request, int *is_done, MPI_Status *status);
int virtual_improbe(int from, int tag, MPI_Comm comm, int *is_there, MPI_Message *message, MPI_Status *status);
int virtual_imrecv(void *to, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request);

#endif
