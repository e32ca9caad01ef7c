/* clocks.c - see clocks.h. */
#include "remote/messages/clocks.h"

#include "base/clock.h"

#define TRIPS 100

static clo_status receive(clo_remote *remote, int64_t *value, int from)
{
    MPI_Request request;
    clo_status status =
        clo_remote_mpi(MPI_Irecv(value, 1, MPI_INT64_T, from, CLO_TAG_CLOCK, remote->control, &request), "MPI_Irecv");

    return status == CLO_OK ? clo_remote_wait(remote, &request) : status;
}

static clo_status send(clo_remote *remote, const int64_t *value, int to)
{
    MPI_Request request;
    clo_status status =
        clo_remote_mpi(MPI_Isend(value, 1, MPI_INT64_T, to, CLO_TAG_CLOCK, remote->control, &request), "MPI_Isend");

    return status == CLO_OK ? clo_remote_wait(remote, &request) : status;
}

static clo_status ask(clo_remote *remote, int rank, clo_offset *best)
{
    clo_status status = CLO_OK;

    best->error_ns = INT64_MAX;
    for (int trip = 0; trip < TRIPS && status == CLO_OK; trip++) {
        int64_t asked_ns = clo_clock_ns(), answer_ns;
        status = send(remote, &asked_ns, rank);
        if (status == CLO_OK)
            status = receive(remote, &answer_ns, rank);
        int64_t half_ns = (clo_clock_ns() - asked_ns + 1) / 2;
        if (status == CLO_OK && half_ns < best->error_ns)
            *best = (clo_offset){answer_ns, asked_ns + half_ns - answer_ns, half_ns};
    }
    return status;
}

static clo_status answer(clo_remote *remote)
{
    clo_status status = CLO_OK;

    for (int trip = 0; trip < TRIPS && status == CLO_OK; trip++) {
        int64_t now_ns;
        status = receive(remote, &now_ns, 0);
        now_ns = clo_clock_ns();
        if (status == CLO_OK)
            status = send(remote, &now_ns, 0);
    }
    return status;
}

clo_status clo_clocks_compare(clo_remote *remote, clo_offset *offsets)
{
    clo_status status = clo_remote_meet(remote);

    if (status == CLO_OK && remote->rank != 0)
        return answer(remote);
    offsets[0] = (clo_offset){0, 0, 0};
    for (int rank = 1; rank < remote->ranks && status == CLO_OK; rank++)
        status = ask(remote, rank, &offsets[rank]);
    return status;
}

int64_t clo_clocks_convert(const clo_offset *before, const clo_offset *after, int64_t ns)
{
    double share =
        after->at_ns > before->at_ns ? (double)(ns - before->at_ns) / (double)(after->at_ns - before->at_ns) : 0;

    return ns + before->offset_ns + (int64_t)(share * (double)(after->offset_ns - before->offset_ns));
}
