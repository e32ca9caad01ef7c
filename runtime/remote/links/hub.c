/* hub.c - see hub.h. One hub after the other: the next ranks, as many as there are, up to CLO_PING_OTHERS, send to it
 * or get from it, each alone and all at once. */
#include "remote/links/hub.h"

/* The largest size that was measured of all these links and takes no longer than a part of a round. */
static uint64_t size_of(const clo_pings *pings, const clo_ping *row, const int *others, int count)
{
    uint32_t at = CLO_FIT_SIZES - 1;

    for (int i = 0; i < count; i++) {
        const clo_ping *link = &row[others[i]];
        while (at > 0 && (clo_fit_size(at) > CLO_PING_ALL_BYTES || (int64_t)at >= link->count ||
                          link->ns[at] > clo_pings_stop_ns(pings) / 2))
            at--;
    }
    return clo_fit_size(at);
}

/* How long messages take beyond those of one byte, which take *byte_ns. */
static clo_status measure_set(clo_pings *pings, const int *others, int count, uint64_t bytes, int inwards,
                              int64_t *byte_ns, int64_t *ns)
{
    clo_status status = clo_ping_all(pings, others, count, 1, inwards, byte_ns);

    if (status == CLO_OK)
        status = clo_ping_all(pings, others, count, bytes, inwards, ns);
    if (status == CLO_OK)
        *ns = *ns - *byte_ns > 1 ? *ns - *byte_ns : 1;
    return status;
}

static clo_status measure_way(clo_pings *pings, const int *others, int count, uint64_t bytes, int inwards,
                              clo_hub_way *way)
{
    clo_status status = measure_set(pings, others, count, bytes, inwards, &way->byte_ns, &way->all_ns);

    way->alone_ns = 1;
    for (int i = 0; i < count && status == CLO_OK; i++) {
        int64_t byte_ns, ns;
        status = measure_set(pings, &others[i], 1, bytes, inwards, &byte_ns, &ns);
        if (status == CLO_OK && ns > way->alone_ns)
            way->alone_ns = ns;
    }
    return status;
}

static clo_status measure_hub(clo_pings *pings, const clo_ping *row, const int *others, int count, clo_hub *hub)
{
    uint64_t bytes = size_of(pings, row, others, count);

    *hub = (clo_hub){.count = count, .bytes = (int64_t)bytes};
    clo_status status = measure_way(pings, others, count, bytes, 0, &hub->out);
    if (status == CLO_OK)
        status = measure_way(pings, others, count, bytes, 1, &hub->in);
    return status == CLO_OK ? clo_ping_end(pings, others, count) : status;
}

/* What a hub has measured goes to rank 0. */
static clo_status pass(clo_remote *remote, int rank, clo_hub *hub)
{
    MPI_Request request = MPI_REQUEST_NULL;
    clo_status status = CLO_OK;

    if (rank == 0 || (remote->rank != 0 && remote->rank != rank))
        return CLO_OK;
    if (remote->rank == rank)
        status = clo_remote_mpi(MPI_Isend(hub, CLO_HUB_WORDS, MPI_INT64_T, 0, CLO_TAG_LINK, remote->control, &request),
                                "MPI_Isend");
    else
        status = clo_remote_mpi(
            MPI_Irecv(hub, CLO_HUB_WORDS, MPI_INT64_T, rank, CLO_TAG_LINK, remote->control, &request), "MPI_Irecv");
    return status == CLO_OK ? clo_remote_wait(remote, &request) : status;
}

clo_status clo_hubs_measure(clo_remote *remote, clo_pings *pings, const clo_ping *row, clo_hub *hubs)
{
    int ranks = remote->ranks, count = ranks - 1 < CLO_PING_OTHERS ? ranks - 1 : CLO_PING_OTHERS;
    clo_status status = CLO_OK;

    for (int rank = 0; rank < ranks && count > 1 && status == CLO_OK; rank++) {
        int others[CLO_PING_OTHERS];
        clo_hub own = {0}, *hub = hubs != NULL ? &hubs[rank] : &own;
        status = clo_remote_meet(remote);
        for (int i = 0; i < count; i++)
            others[i] = (rank + 1 + i) % ranks;
        if (status == CLO_OK && remote->rank == rank)
            status = measure_hub(pings, row, others, count, hub);
        for (int i = 0; i < count && status == CLO_OK; i++)
            if (remote->rank == others[i])
                status = clo_ping_answer(pings, rank);
        if (status == CLO_OK)
            status = pass(remote, rank, hub);
    }
    return status == CLO_OK ? clo_remote_meet(remote) : status;
}
