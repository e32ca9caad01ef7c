/* remote.c - see remote.h. */
#define _POSIX_C_SOURCE 200809L
#include "remote/messages/remote.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "sync/sleep/eventcount.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_NS 1000000   /* between two looks at the others        */
#define TELL_NS 100000000 /* between two signs of life              */
#define GAP_NS 100000000  /* of our own silence, at most that counts */
#define SPIN_NS 2000000   /* a wait polls for so long, then it sleeps */
#define SLEEP_NS 50000
#define NAMED_MAX 2           /* ranks that are silent beside the first one */
#define SILENCE_NS 3000000000 /* until clo_remote_run says otherwise */

clo_status clo_remote_mpi(int code, const char *call)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;

    if (code == MPI_SUCCESS)
        return CLO_OK;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
        snprintf(text, sizeof text, "error %d", code);
    text[strcspn(text, "\n")] = '\0';
    return clo_fail(CLO_ERR_SYSTEM, "%s: %s", call, text);
}

const char *clo_remote_name(const clo_remote *remote, int rank)
{
    const char *name = clo_cluster_machine_name(remote->cluster, (uint32_t)rank);

    return name != NULL ? name : "?";
}

static void describe(const clo_remote *remote, int rank, char *text, size_t bytes)
{
    if (remote->describe != NULL)
        remote->describe(remote->subject, rank, text, bytes);
    else
        snprintf(text, bytes, "no task is awaited");
}

clo_status clo_remote_reach(const clo_remote *remote, int rank, int code, const char *call)
{
    char awaited[256];

    if (code == MPI_SUCCESS || rank < 0)
        return clo_remote_mpi(code, call);
    describe(remote, rank, awaited, sizeof awaited);
    return clo_fail(CLO_ERR_SYSTEM, "rank %d (%s): the connection to rank %d (%s) is broken (%s); %s", remote->rank,
                    clo_remote_name(remote, remote->rank), rank, clo_remote_name(remote, rank), call, awaited);
}

/* A rank that dies can hold another one fast inside MPI: both go silent at about the same time, and which one tells
 * last is chance. So all that are nearly as silent are named, too. */
static clo_status lost(const clo_remote *remote, int rank)
{
    int64_t margin_ns = remote->limit_ns / 4 < 2 * TELL_NS ? remote->limit_ns / 4 : 2 * TELL_NS;
    char awaited[256], others[NAMED_MAX * 200] = "";
    size_t used = 0;
    int named = 0, more = 0;

    for (int other = 0; other < remote->ranks; other++) {
        bool is_silent = remote->silent_ns[other] > remote->limit_ns - margin_ns;
        if (other == remote->rank || other == rank || !is_silent)
            continue;
        if (named == NAMED_MAX) {
            more++;
            continue;
        }
        describe(remote, other, awaited, sizeof awaited);
        int length = snprintf(others + used, sizeof others - used, "; nor from rank %d (%.32s) for %.1f s; %.240s",
                              other, clo_remote_name(remote, other), (double)remote->silent_ns[other] / 1e9, awaited);
        used += length > 0 && (size_t)length < sizeof others - used ? (size_t)length : 0;
        others[used] = '\0';
        named++;
    }
    if (more > 0)
        snprintf(others + used, sizeof others - used, "; nor from %d more", more);
    describe(remote, rank, awaited, sizeof awaited);
    return clo_fail(CLO_ERR_TIMEOUT, "rank %d (%s): no sign of life from rank %d (%s) for %.1f s; %s%s", remote->rank,
                    clo_remote_name(remote, remote->rank), rank, clo_remote_name(remote, rank),
                    (double)remote->silent_ns[rank] / 1e9, awaited, others);
}

static clo_status stopped(const clo_remote *remote)
{
    char awaited[256];

    describe(remote, -1, awaited, sizeof awaited);
    return clo_fail(CLO_ERR_CANCELLED, "rank %d (%s) was told to end; %s", remote->rank,
                    clo_remote_name(remote, remote->rank), awaited);
}

/* Hears what has come; each request is posted again. */
static clo_status hear(clo_remote *remote)
{
    int count = 0;
    clo_status status = clo_remote_mpi(
        MPI_Testsome(remote->ranks, remote->life_in, &count, remote->heard, remote->statuses), "MPI_Testsome");

    if (count == MPI_UNDEFINED)
        count = 0;
    for (int i = 0; i < count && status == CLO_OK; i++) {
        int rank = remote->heard[i];
        remote->silent_ns[rank] = 0;
        remote->got[rank]++;
        status = clo_remote_mpi(MPI_Irecv(&remote->life_bytes[rank], 1, MPI_BYTE, rank, CLO_TAG_LIFE, remote->control,
                                          &remote->life_in[rank]),
                                "MPI_Irecv");
    }
    return status;
}

/* To those that have taken the last one. */
static clo_status tell(clo_remote *remote)
{
    clo_status status = CLO_OK;

    for (int rank = 0; rank < remote->ranks && status == CLO_OK; rank++) {
        int done = 0;
        if (rank == remote->rank)
            continue;
        status =
            clo_remote_reach(remote, rank, MPI_Test(&remote->life_out[rank], &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (status != CLO_OK || !done)
            continue;
        remote->told[rank]++;
        status = clo_remote_reach(remote, rank,
                                  MPI_Isend(&remote->life_bytes[remote->ranks + rank], 1, MPI_BYTE, rank, CLO_TAG_LIFE,
                                            remote->control, &remote->life_out[rank]),
                                  "MPI_Isend");
    }
    return status;
}

/* For a signal handler: a line at any moment, so a text that is being written over is cut, never without an end. */
static void leave_words(const clo_remote *remote)
{
    char awaited[256];

    if (remote->words == NULL)
        return;
    describe(remote, -1, awaited, sizeof awaited);
    snprintf(remote->words, CLO_REMOTE_WORDS_BYTES, "clotho: rank %d (%s) was told to end; %s\n", remote->rank,
             clo_remote_name(remote, remote->rank), awaited);
}

clo_status clo_remote_look(clo_remote *remote, int64_t now_ns)
{
    int64_t gap_ns = now_ns - remote->looked_ns;

    if (remote->stop != NULL && *remote->stop != 0)
        return stopped(remote);
    if (gap_ns < LOOK_NS)
        return CLO_OK;
    remote->looked_ns = now_ns;
    for (int rank = 0; rank < remote->ranks; rank++)
        remote->silent_ns[rank] += gap_ns < GAP_NS ? gap_ns : GAP_NS;
    clo_status status = hear(remote);
    if (status == CLO_OK && now_ns >= remote->tell_ns && !remote->is_quiet) {
        remote->tell_ns = now_ns + TELL_NS;
        leave_words(remote);
        status = tell(remote);
    }
    for (int rank = 0; rank < remote->ranks && status == CLO_OK; rank++)
        if (rank != remote->rank && remote->silent_ns[rank] > remote->limit_ns)
            status = lost(remote, rank);
    return status;
}

clo_status clo_remote_wait(clo_remote *remote, MPI_Request *request)
{
    int64_t began_ns = clo_clock_ns();
    clo_eventcount nobody = {0};

    for (;;) { /* ends: the request is done, or a rank is silent for too long */
        int done = 0;
        clo_status status = clo_remote_mpi(MPI_Test(request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (status != CLO_OK || done)
            return status;
        int64_t now_ns = clo_clock_ns();
        status = clo_remote_look(remote, now_ns);
        if (status != CLO_OK)
            return status;
        if (now_ns - began_ns > SPIN_NS)
            clo_eventcount_wait_until(&nobody, 0, now_ns + SLEEP_NS);
        else
            sched_yield();
    }
}

clo_status clo_remote_meet(clo_remote *remote)
{
    MPI_Request request;
    clo_status status = clo_remote_mpi(MPI_Ibarrier(remote->control, &request), "MPI_Ibarrier");

    return status == CLO_OK ? clo_remote_wait(remote, &request) : status;
}

static clo_status begin_mpi(clo_remote *remote, int *argc, char ***argv)
{
    int is_on, level;
    clo_status status = clo_remote_mpi(MPI_Initialized(&is_on), "MPI_Initialized");

    if (status == CLO_OK && !is_on) {
        status = clo_remote_mpi(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level), "MPI_Init_thread");
        remote->owns_mpi = status == CLO_OK;
    }
    if (status == CLO_OK)
        status = clo_remote_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
    if (status == CLO_OK && level < MPI_THREAD_FUNNELED)
        status = clo_fail(CLO_ERR_SYSTEM, "this MPI cannot be used by one of several threads (MPI_THREAD_FUNNELED)");
    return status;
}

static clo_status begin_life(clo_remote *remote)
{
    size_t ranks = (size_t)remote->ranks;
    clo_status status = CLO_OK;

    remote->life_in = clo_allocate(ranks, sizeof *remote->life_in);
    remote->life_out = clo_allocate(ranks, sizeof *remote->life_out);
    remote->life_bytes = clo_allocate(2 * ranks, 1);
    remote->silent_ns = clo_allocate(ranks, sizeof *remote->silent_ns);
    remote->heard = clo_allocate(ranks, sizeof *remote->heard);
    remote->statuses = clo_allocate(ranks, sizeof *remote->statuses);
    remote->told = clo_allocate(ranks, sizeof *remote->told);
    remote->got = clo_allocate(2 * ranks, sizeof *remote->got);
    if (remote->life_in == NULL || remote->life_out == NULL || remote->life_bytes == NULL ||
        remote->silent_ns == NULL || remote->heard == NULL || remote->statuses == NULL || remote->told == NULL ||
        remote->got == NULL)
        return clo_fail_memory("a rank");
    for (int rank = 0; rank < remote->ranks; rank++)
        remote->life_in[rank] = remote->life_out[rank] = MPI_REQUEST_NULL;
    for (int rank = 0; rank < remote->ranks && status == CLO_OK; rank++)
        if (rank != remote->rank)
            status = clo_remote_mpi(MPI_Irecv(&remote->life_bytes[rank], 1, MPI_BYTE, rank, CLO_TAG_LIFE,
                                              remote->control, &remote->life_in[rank]),
                                    "MPI_Irecv");
    remote->looked_ns = clo_clock_ns();
    return status;
}

/* MPI writes into connections that a lost rank has left. By default the signal of that ends the process before it can say
 * which rank is lost. */
static void ignore_broken_connections(void)
{
    struct sigaction action;

    if (sigaction(SIGPIPE, NULL, &action) != 0 || (action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler != SIG_DFL)
        return;
    action.sa_handler = SIG_IGN;
    (void)sigaction(SIGPIPE, &action, NULL);
}

static clo_status begin(clo_remote *remote, int *argc, char ***argv)
{
    ignore_broken_connections();
    clo_status status = begin_mpi(remote, argc, argv);

    if (status == CLO_OK)
        status = clo_remote_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &remote->control), "MPI_Comm_dup");
    if (status == CLO_OK)
        status = clo_remote_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &remote->data), "MPI_Comm_dup");
    if (status != CLO_OK)
        return status;
    (void)MPI_Comm_set_errhandler(remote->control, MPI_ERRORS_RETURN);
    (void)MPI_Comm_set_errhandler(remote->data, MPI_ERRORS_RETURN);
    (void)MPI_Comm_rank(remote->control, &remote->rank);
    (void)MPI_Comm_size(remote->control, &remote->ranks);
    return begin_life(remote);
}

static void free_remote(clo_remote *remote)
{
    clo_free(remote->life_in);
    clo_free(remote->life_out);
    clo_free(remote->life_bytes);
    clo_free(remote->silent_ns);
    clo_free(remote->heard);
    clo_free(remote->statuses);
    clo_free(remote->told);
    clo_free(remote->got);
    clo_free(remote);
}

clo_status clo_remote_open(int *argc, char ***argv, clo_remote **out)
{
    if (out == NULL)
        return clo_fail_null("clo_remote_open", "out");
    clo_remote *remote = clo_allocate(1, sizeof *remote);
    if (remote == NULL)
        return clo_fail_memory("a rank");
    remote->control = remote->data = MPI_COMM_NULL;
    remote->limit_ns = SILENCE_NS;
    clo_status status = begin(remote, argc, argv);
    if (status != CLO_OK)
        return free_remote(remote), status; /* MPI is in no state to be ended */
    *out = remote;
    return CLO_OK;
}

static bool has_heard_all(const clo_remote *remote, const int32_t *counts)
{
    bool has_all = true;

    for (int rank = 0; rank < remote->ranks; rank++)
        has_all &= rank == remote->rank || remote->got[rank] >= counts[rank];
    return has_all;
}

/* Nothing may be under way when MPI ends: all are quiet, say how often they have told, and what was told is heard. */
static clo_status end_life(clo_remote *remote)
{
    MPI_Request request;
    int32_t *counts = remote->got + remote->ranks; /* [ranks] what the others have sent here */

    remote->is_quiet = true;
    clo_status status =
        clo_remote_mpi(MPI_Ialltoall(remote->told, 1, MPI_INT32_T, counts, 1, MPI_INT32_T, remote->control, &request),
                       "MPI_Ialltoall");
    if (status == CLO_OK)
        status = clo_remote_wait(remote, &request);
    while (status == CLO_OK &&
           !has_heard_all(remote, counts)) { /* ends: they come, or the look says that they do not */
        status = clo_remote_look(remote, clo_clock_ns());
        sched_yield();
    }
    for (int rank = 0; rank < remote->ranks && status == CLO_OK; rank++) {
        status = clo_remote_wait(remote, &remote->life_out[rank]);
        if (remote->life_in[rank] != MPI_REQUEST_NULL)
            (void)MPI_Cancel(&remote->life_in[rank]);
    }
    for (int rank = 0; rank < remote->ranks && status == CLO_OK; rank++)
        status = clo_remote_mpi(MPI_Wait(&remote->life_in[rank], remote->statuses), "MPI_Wait");
    return status;
}

void clo_remote_close(clo_remote *remote)
{
    if (remote == NULL)
        return;
    if (end_life(remote) == CLO_OK) {
        (void)MPI_Comm_free(&remote->data);
        (void)MPI_Comm_free(&remote->control);
        if (remote->owns_mpi)
            (void)MPI_Finalize();
    }
    free_remote(remote);
}

void clo_remote_abort(clo_remote *remote, int code)
{
    int is_on = 0, is_off = 0;

    (void)remote;
    if (MPI_Initialized(&is_on) == MPI_SUCCESS && is_on && MPI_Finalized(&is_off) == MPI_SUCCESS && !is_off)
        (void)MPI_Abort(MPI_COMM_WORLD, code);
    _Exit(code); /* there are no other ranks, or MPI cannot tell them */
}

uint32_t clo_remote_rank(const clo_remote *remote)
{
    return remote != NULL ? (uint32_t)remote->rank : 0;
}

uint32_t clo_remote_ranks(const clo_remote *remote)
{
    return remote != NULL ? (uint32_t)remote->ranks : 0;
}

const char *clo_remote_engine(void)
{
    static char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;

    if (version[0] != '\0' || MPI_Get_library_version(version, &length) != MPI_SUCCESS)
        return version;
    version[strcspn(version, "\n,")] = '\0'; /* "MPICH Version:\t4.0.2\n..." */
    char *tab = strchr(version, '\t');
    if (tab != NULL)
        *tab = ' ';
    return version;
}
