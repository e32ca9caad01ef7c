/* remote/messages/exchange.h - the messages of one run on one rank.
 *
 * Receives are posted before the run, straight into the buffers that consumers read, up to posted_max of them in the
 * planned order of arrival; what comes of the others is asked for (MPI_Improbe) and taken as it comes. So a sender that
 * waits for its receiver (a rendezvous, above MPI's eager limit) is never kept waiting by another message, and a bound
 * on the large sends in flight cannot end in a circle. Of what may be sent, the most urgent goes first.
 *
 * A message goes in pieces (pieces.h) of one tag, which MPI keeps in order: a receive posts a few of them ahead, and a
 * send has a window of them under way, each of which ends once its receiver asks for it (MPI_Issend). */
#ifndef CLO_REMOTE_MESSAGES_EXCHANGE_H
#define CLO_REMOTE_MESSAGES_EXCHANGE_H

#include "remote/messages/pieces.h"
#include "remote/messages/remote.h"
#include "remote/split/local.h"

/* Requests, and the receive or transfer that each is of. */
typedef struct clo_requests {
    MPI_Request *list;
    uint32_t *of;
    int64_t *since_ns;  /* when it was made */
    uint32_t count, at; /* at: where the next look begins */
} clo_requests;

/* Transfers that may be sent, the most urgent on top: a binary heap. */
typedef struct clo_urgent {
    uint32_t *list;
    uint32_t count;
} clo_urgent;

typedef struct clo_exchange {
    clo_remote *remote;
    clo_local *local;
    clo_eventcount eventcount;
    clo_lane *lanes;           /* [machines] */
    uint32_t flows_max, flows; /* large messages in flight */
    int64_t start_ns;          /* of the run, on this machine's clock */
    int64_t now_ns;            /* when the last look at the messages began */

    clo_requests in, out;
    uint32_t *in_left;   /* [receives] pieces that have not come   */
    uint32_t *in_pieces; /* [receives] pieces that were asked for  */
    uint32_t posted;     /* receives before this one were posted   */
    uint32_t received;   /* whole                                  */
    uint32_t first_due;  /* receives before this one have come     */
    uint32_t *out_left;  /* [transfers] pieces that have not gone  */
    uint32_t *out_given; /* [transfers] pieces that MPI was given  */
    uint32_t *partly;    /* transfers that MPI was given not all pieces of */
    uint32_t partly_count;
    clo_urgent small, large;
    uint32_t sent; /* whole */

    uint64_t sent_messages, sent_bytes;
    int64_t cpu_ns;
} clo_exchange;

/* Fills what is zero yet, but `eventcount`, and posts receives. local: with x->eventcount. Returns CLO_OK,
 * CLO_ERR_LIMIT, CLO_ERR_SYSTEM or CLO_ERR_MEMORY; clo_exchange_close in any case. */
clo_status clo_exchange_open(clo_exchange *x, clo_remote *remote, clo_local *local, const clo_remote_config *config);
void clo_exchange_close(clo_exchange *x);

/* Looks after messages until the job has ended and all of them are through. */
clo_status clo_exchange_run(clo_exchange *x, clo_job *job, clo_job_result *result);

/* Writes what is awaited from a rank, -1: from any. A clo_remote.describe. */
void clo_exchange_describe(const void *exchange, int rank, char *text, size_t bytes);

#endif
