/* names.h - included before each source of runtime/remote when it is built for SimGrid SMPI: what these sources call of
 * the clock, the runtime and threads becomes what virtual.c has in its place. The sources themselves are those of the
 * library, to the letter. The headers come first, so that they keep their own names. */
#ifndef CLO_TEST_SMPI_NAMES_H
#define CLO_TEST_SMPI_NAMES_H

#include "virtual.h"

#include "base/clock.h"
#include "remote/messages/clocks.h"
#include "sync/sleep/eventcount.h"

#include <sched.h>

#define clo_clock_ns virtual_clock_ns
#define clo_eventcount_wait_until virtual_wait_until
#define sched_yield virtual_yield
#define clo_runtime_create virtual_runtime_create
#define clo_runtime_destroy virtual_runtime_destroy
#define clo_job_create virtual_job_create
#define clo_job_submit virtual_job_submit
#define clo_job_wait_for virtual_job_wait_for
#define clo_job_destroy virtual_job_destroy
#define clo_token_take virtual_token_take
#define clo_token_complete virtual_token_complete
#define MPI_Query_thread virtual_query_thread
#define MPI_Comm_get_attr virtual_get_attr
#define MPI_Isend virtual_isend
#define MPI_Issend virtual_issend
#define MPI_Test virtual_test
#define MPI_Improbe virtual_improbe
#define MPI_Imrecv virtual_imrecv
#ifndef CLO_TEST_SMPI_CLOCKS /* clocks.c itself keeps its name; run.c asks virtual.c, which may ask clocks.c */
#define clo_clocks_compare virtual_clocks_compare
#endif

#endif
