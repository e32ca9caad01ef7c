/* ping.c - see ping.h. Who measures tells the others each step: how many messages at once of what size, and how often.
 * The other one posts its receives before it says that it is ready, and again before each answer, as a run has them. */
#include "remote/links/ping.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/order/sort.h"
#include "base/status.h"

#include <assert.h>
#include <sched.h>
#include <stdlib.h>

#define TRIPS_MAX 65
#define ROUNDS_MAX 9
#define FLOWS_MAX CLO_PING_OTHERS
#define FLOW_BYTES CLO_PING_ALL_BYTES
#define REQUESTS_MAX (2 * FLOWS_MAX) /* that are polled at once: a message and its answer for each flow */

/* What is asked of another rank; flows 0: nothing more; BACK: after each byte it sends one message. */
enum { BACK = -1 };

typedef struct order {
    int64_t bytes, flows, trips;
} order;

struct clo_pings {
    clo_remote *remote;
    int rounds;              /* through all sizes: what disturbs for a moment is in one of them */
    int64_t size_ns;         /* for all messages of a size in a round */
    int64_t stop_ns;         /* a size that takes longer is left out, with all larger ones */
    unsigned char *out, *in; /* of the largest size */
    int64_t trips[TRIPS_MAX];
    int64_t round_ns[CLO_FIT_SIZES][ROUNDS_MAX]; /* round trips; medians of a round */
};

clo_status clo_pings_open(clo_remote *remote, int is_quick, clo_pings **out)
{
    uint64_t bytes = clo_fit_size(CLO_FIT_SIZES - 1);
    clo_pings *pings = clo_allocate(1, sizeof *pings);

    if (pings == NULL)
        return clo_fail_memory("the measurement of links");
    *pings = (clo_pings){.remote = remote,
                         .rounds = is_quick ? 4 : ROUNDS_MAX,
                         .size_ns = is_quick ? 500000 : 1500000,
                         .stop_ns = is_quick ? 50000000 : 250000000,
                         .out = clo_allocate(bytes, 1),
                         .in = clo_allocate(bytes, 1)};
    if (pings->out == NULL || pings->in == NULL)
        return clo_pings_close(pings), clo_fail_memory("the measurement of links");
    for (uint64_t i = 0; i < bytes; i++) /* every page is there */
        pings->out[i] = pings->in[i] = (unsigned char)i;
    *out = pings;
    return CLO_OK;
}

void clo_pings_close(clo_pings *pings)
{
    if (pings == NULL)
        return;
    clo_free(pings->out);
    clo_free(pings->in);
    clo_free(pings);
}

/* Polls, as a run does while a message is due. */
static clo_status poll_all(clo_remote *remote, MPI_Request *requests, int count)
{
    MPI_Status statuses[REQUESTS_MAX];

    assert(count <= REQUESTS_MAX);
    for (;;) { /* ends: the requests are through, or a rank is silent for too long */
        int done = 0;
        clo_status status = clo_remote_mpi(MPI_Testall(count, requests, &done, statuses), "MPI_Testall");
        if (status != CLO_OK || done)
            return status;
        status = clo_remote_look(remote, clo_clock_ns());
        if (status != CLO_OK)
            return status;
        sched_yield();
    }
}

static clo_status send_one(clo_remote *remote, const void *bytes, uint64_t count, int rank, MPI_Request *request)
{
    return clo_remote_mpi(MPI_Isend(bytes, (int)count, MPI_BYTE, rank, CLO_TAG_LINK, remote->control, request),
                          "MPI_Isend");
}

static clo_status receive_one(clo_remote *remote, void *bytes, uint64_t count, int rank, MPI_Request *request)
{
    return clo_remote_mpi(MPI_Irecv(bytes, (int)count, MPI_BYTE, rank, CLO_TAG_LINK, remote->control, request),
                          "MPI_Irecv");
}

/* ---- who answers ---- */

static clo_status post_flows(clo_pings *p, const order *now, int rank, MPI_Request *requests)
{
    clo_status status = CLO_OK;

    for (int64_t f = 0; f < now->flows && status == CLO_OK; f++)
        status = receive_one(p->remote, p->in + f * now->bytes, (uint64_t)now->bytes, rank, &requests[f]);
    return status;
}

static clo_status answer(clo_pings *p, int rank)
{
    const unsigned char ready = 1;
    MPI_Request request;
    clo_status status = send_one(p->remote, &ready, 1, rank, &request);

    return status == CLO_OK ? poll_all(p->remote, &request, 1) : status;
}

/* One message for each byte that comes. */
static clo_status send_back(clo_pings *p, const order *now, int rank)
{
    MPI_Request requests[2];
    unsigned char said;
    clo_status status = receive_one(p->remote, &said, 1, rank, &requests[0]);

    if (status == CLO_OK)
        status = answer(p, rank);
    for (int64_t trip = 0; trip < now->trips && status == CLO_OK; trip++) {
        status = poll_all(p->remote, requests, 1);
        if (status == CLO_OK && trip + 1 < now->trips)
            status = receive_one(p->remote, &said, 1, rank, &requests[0]);
        if (status == CLO_OK)
            status = send_one(p->remote, p->out, (uint64_t)now->bytes, rank, &requests[1]);
        if (status == CLO_OK)
            status = poll_all(p->remote, &requests[1], 1);
    }
    return status;
}

static clo_status follow(clo_pings *p, const order *now, int rank)
{
    MPI_Request requests[FLOWS_MAX];
    clo_status status = post_flows(p, now, rank, requests);

    if (status == CLO_OK)
        status = answer(p, rank);
    for (int64_t trip = 0; trip < now->trips && status == CLO_OK; trip++) {
        status = poll_all(p->remote, requests, (int)now->flows);
        if (status == CLO_OK && trip + 1 < now->trips)
            status = post_flows(p, now, rank, requests);
        if (status == CLO_OK)
            status = answer(p, rank);
    }
    return status;
}

clo_status clo_ping_answer(clo_pings *p, int rank)
{
    for (;;) { /* ends: the other one says so, or is silent for too long */
        order now = {0};
        MPI_Request request;
        clo_status status = receive_one(p->remote, &now, sizeof now, rank, &request);
        if (status == CLO_OK)
            status = poll_all(p->remote, &request, 1);
        if (status != CLO_OK || now.flows == 0)
            return status;
        status = now.flows == BACK ? send_back(p, &now, rank) : follow(p, &now, rank);
        if (status != CLO_OK)
            return status;
    }
}

/* ---- who measures ---- */

/* Sends what `requests` [flows] will hold, and waits for the answer of one byte. */
static clo_status one_trip(clo_pings *p, const order *now, int rank, int64_t *ns)
{
    MPI_Request requests[FLOWS_MAX + 1];
    unsigned char said;
    clo_status status = receive_one(p->remote, &said, 1, rank, &requests[now->flows]);
    int64_t began_ns = clo_clock_ns();

    for (int64_t f = 0; f < now->flows && status == CLO_OK; f++)
        status = send_one(p->remote, p->out + f * now->bytes, (uint64_t)now->bytes, rank, &requests[f]);
    if (status == CLO_OK)
        status = poll_all(p->remote, requests, (int)now->flows + 1);
    *ns = clo_clock_ns() - began_ns;
    return status;
}

/* Median of `trips` round trips. */
static clo_status measure(clo_pings *p, int rank, uint64_t bytes, int flows, int trips, int64_t *ns)
{
    const order now = {(int64_t)bytes, flows, trips};
    unsigned char said;
    MPI_Request requests[2];
    clo_status status = receive_one(p->remote, &said, 1, rank, &requests[0]);

    if (status == CLO_OK)
        status = send_one(p->remote, &now, sizeof now, rank, &requests[1]);
    if (status == CLO_OK)
        status = poll_all(p->remote, requests, 2);
    for (int trip = 0; trip < trips && status == CLO_OK; trip++)
        status = one_trip(p, &now, rank, &p->trips[trip]);
    clo_sort_times(p->trips, (size_t)trips);
    *ns = p->trips[trips / 2];
    return status;
}

/* The first trips of all warm up and tell how long one takes. */
static clo_status first_look(clo_pings *p, int rank, uint32_t *count)
{
    clo_status status = CLO_OK;

    for (*count = 0; *count < CLO_FIT_SIZES && status == CLO_OK; ++*count) {
        int64_t *ns = &p->round_ns[*count][0];
        status = measure(p, rank, clo_fit_size(*count), 1, 3, ns);
        if (*count >= 3 && *ns > p->stop_ns)
            break;
    }
    return status;
}

/* Round trips of all sizes, round by round: as many as fit the time. */
static clo_status measure_rounds(clo_pings *p, int rank, uint32_t count, int64_t *ns)
{
    clo_status status = CLO_OK;
    int64_t first_ns[CLO_FIT_SIZES];

    for (uint32_t i = 0; i < count; i++)
        first_ns[i] = p->round_ns[i][0];
    for (int round = 0; round < p->rounds; round++)
        for (uint32_t i = 0; i < count && status == CLO_OK; i++) {
            int64_t trips = p->size_ns / (first_ns[i] + 1);
            trips = trips < 1 ? 1 : trips >= TRIPS_MAX ? TRIPS_MAX - 1 : trips;
            status = measure(p, rank, clo_fit_size(i), 1, (int)trips | 1, &p->round_ns[i][round]);
        }
    for (uint32_t i = 0; i < count; i++) { /* other programs only make it longer: the best of the medians */
        clo_sort_times(p->round_ns[i], (size_t)p->rounds);
        ns[i] = p->round_ns[i][0];
    }
    return status;
}

static clo_status measure_flows(clo_pings *p, int rank, const clo_ping *sizes, int flows, int64_t *permille)
{
    uint32_t i = (uint32_t)sizes->count - 1;
    int64_t ns = INT64_MAX, once_ns;
    clo_status status = CLO_OK;

    while (i > 0 && (clo_fit_size(i) > FLOW_BYTES || sizes->ns[i] > p->stop_ns / 4))
        i--;
    for (int round = 0; round < 3 && status == CLO_OK; round++) {
        status = measure(p, rank, clo_fit_size(i), flows, 3, &once_ns);
        ns = once_ns < ns ? once_ns : ns;
    }
    int64_t alone_ns = sizes->ns[i] - sizes->ns[0], all_ns = ns - 2 * sizes->ns[0]; /* without the ways of one byte */
    *permille = alone_ns > 0 && all_ns > 0 ? flows * alone_ns * 1000 / all_ns : 1000;
    *permille = *permille > 1000000 ? 1000000 : *permille;
    return status;
}

clo_status clo_ping_to(clo_pings *p, int rank, clo_ping *out)
{
    const order last = {0};
    MPI_Request request;
    uint32_t count = 0;
    clo_status status = first_look(p, rank, &count);

    *out = (clo_ping){.count = count};
    if (status == CLO_OK)
        status = measure_rounds(p, rank, count, out->ns);
    int64_t back_ns = out->ns[0] / 2;
    for (uint32_t i = 0; i < count; i++) { /* the way there takes no less than that of one byte back */
        int64_t there_ns = out->ns[i] - back_ns;
        out->ns[i] = there_ns > out->ns[i] / 2 ? there_ns : out->ns[i] / 2;
        out->ns[i] = out->ns[i] > 1 ? out->ns[i] : 1;
    }
    if (status == CLO_OK)
        status = measure_flows(p, rank, out, 2, &out->flows2_permille);
    if (status == CLO_OK)
        status = measure_flows(p, rank, out, 4, &out->flows4_permille);
    if (status == CLO_OK)
        status = send_one(p->remote, &last, sizeof last, rank, &request);
    return status == CLO_OK ? poll_all(p->remote, &request, 1) : status;
}

/* ---- several others at once ---- */

/* Tells all what comes, and waits until they are ready. */
static clo_status call_all(clo_pings *p, const order *now, const int *ranks, int count)
{
    unsigned char said[FLOWS_MAX];
    MPI_Request requests[REQUESTS_MAX];
    clo_status status = CLO_OK;

    for (int i = 0; i < count && status == CLO_OK; i++) {
        status = receive_one(p->remote, &said[i], 1, ranks[i], &requests[i]);
        if (status == CLO_OK)
            status = send_one(p->remote, now, sizeof *now, ranks[i], &requests[count + i]);
    }
    return status == CLO_OK ? poll_all(p->remote, requests, 2 * count) : status;
}

/* `bytes` to each, `back` from each. */
static clo_status trip_to_all(clo_pings *p, const int *ranks, int count, uint64_t bytes, uint64_t back, int64_t *ns)
{
    MPI_Request requests[REQUESTS_MAX];
    clo_status status = CLO_OK;

    for (int i = 0; i < count && status == CLO_OK; i++)
        status = receive_one(p->remote, p->in + (uint64_t)i * back, back, ranks[i], &requests[i]);
    int64_t began_ns = clo_clock_ns();
    for (int i = 0; i < count && status == CLO_OK; i++)
        status = send_one(p->remote, p->out + (uint64_t)i * bytes, bytes, ranks[i], &requests[count + i]);
    if (status == CLO_OK)
        status = poll_all(p->remote, requests, 2 * count);
    *ns = clo_clock_ns() - began_ns;
    return status;
}

clo_status clo_ping_all(clo_pings *p, const int *ranks, int count, uint64_t bytes, int inwards, int64_t *ns)
{
    enum { ROUNDS = 3, TRIPS = 3 };
    const order now = {(int64_t)bytes, inwards ? BACK : 1, TRIPS};
    clo_status status = CLO_OK;

    *ns = INT64_MAX;
    for (int round = 0; round < ROUNDS && status == CLO_OK; round++) {
        status = call_all(p, &now, ranks, count);
        for (int trip = 0; trip < TRIPS && status == CLO_OK; trip++)
            status = trip_to_all(p, ranks, count, inwards ? 1 : bytes, inwards ? bytes : 1, &p->trips[trip]);
        clo_sort_times(p->trips, TRIPS);
        *ns = p->trips[TRIPS / 2] < *ns ? p->trips[TRIPS / 2] : *ns;
    }
    return status;
}

clo_status clo_ping_end(clo_pings *p, const int *ranks, int count)
{
    const order last = {0};
    MPI_Request requests[FLOWS_MAX];
    clo_status status = CLO_OK;

    for (int i = 0; i < count && status == CLO_OK; i++)
        status = send_one(p->remote, &last, sizeof last, ranks[i], &requests[i]);
    return status == CLO_OK ? poll_all(p->remote, requests, count) : status;
}

int64_t clo_pings_stop_ns(const clo_pings *pings)
{
    return pings->stop_ns;
}
