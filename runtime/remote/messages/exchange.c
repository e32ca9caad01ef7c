/* exchange.c - see exchange.h. */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "remote/messages/exchange.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "io/cluster/cluster.h"
#include "plan/ports/network.h"
#include "remote/split/bodies.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define LARGE_BYTES CLO_PORT_LARGE_BYTES /* above it a message counts as a flow */
#define BLOCK 256                        /* requests in one look                           */
#define TAKE_MAX 16                      /* messages taken in one look                     */
#define SLEEP_NS 50000                   /* when nothing is due                            */
#define EARLY_NS 100000                  /* a message is due so long before it is planned  */
#define HARD_NS 1000000                  /* polling without a sleep, since something moved */
#define JOB_NS 5000000                   /* between two looks at the job                   */
#define AHEAD_FIRST 2u                   /* pieces of a receive that are posted before one has come */

static uint64_t piece_bytes(const clo_exchange *x, const clo_transfer *t)
{
    return t->to == x->local->machine ? x->lanes[t->from].in_bytes : x->lanes[t->to].out_bytes;
}

/* Below 2^32 once clo_exchange_open has looked. */
static uint64_t pieces_of(const clo_exchange *x, const clo_transfer *t)
{
    return t->bytes == 0 ? 1 : (t->bytes - 1) / piece_bytes(x, t) + 1;
}

static const clo_transfer *transfer_of(const clo_exchange *x, uint32_t receive)
{
    return &x->local->split->transfers[x->local->receives[receive].transfer];
}

/* Bytes of one piece; the last one may be shorter. */
static int piece_count(const clo_exchange *x, const clo_transfer *t, uint32_t piece)
{
    uint64_t most = piece_bytes(x, t), left = t->bytes - (uint64_t)piece * most;

    return (int)(left < most ? left : most);
}

static void add_request(const clo_exchange *x, clo_requests *requests, MPI_Request request, uint32_t of)
{
    requests->list[requests->count] = request;
    requests->since_ns[requests->count] = x->now_ns;
    requests->of[requests->count++] = of;
}

/* The rank of a message. */
static int rank_of(const clo_exchange *x, const clo_requests *requests, uint32_t at)
{
    uint32_t of = requests->of[at];

    return (int)(requests == &x->in ? transfer_of(x, of)->from : x->local->split->transfers[of].to);
}

typedef clo_status (*done_fn)(clo_exchange *x, uint32_t of, int64_t since_ns);

/* One look at the next block of requests; `done` is called for each that is through, and may add others. */
static clo_status look(clo_exchange *x, clo_requests *requests, done_fn done, bool *has_moved)
{
    int indices[BLOCK], count = 0;
    MPI_Status statuses[BLOCK]; /* MPICH's "ignore" is an address that compilers warn of */

    if (requests->count == 0)
        return CLO_OK;
    if (requests->at >= requests->count)
        requests->at = 0;
    uint32_t first = requests->at, left = requests->count - first, block = left < BLOCK ? left : BLOCK;
    int code = MPI_Testsome((int)block, &requests->list[first], &count, indices, statuses);
    bool is_one = code == MPI_ERR_IN_STATUS && count == 1 && indices[0] >= 0 && indices[0] < (int)block;
    int rank = is_one ? rank_of(x, requests, first + (uint32_t)indices[0]) : -1;
    clo_status status = clo_remote_reach(x->remote, rank, code, "MPI_Testsome");
    if (status != CLO_OK || count == MPI_UNDEFINED || count <= 0)
        return requests->at += block, status;
    *has_moved = true;
    for (uint32_t i = first + block; i-- > first && status == CLO_OK;) { /* downwards: the last one fills the gap */
        if (requests->list[i] != MPI_REQUEST_NULL)
            continue;
        uint32_t of = requests->of[i];
        int64_t since_ns = requests->since_ns[i];
        requests->list[i] = requests->list[--requests->count];
        requests->of[i] = requests->of[requests->count];
        requests->since_ns[i] = requests->since_ns[requests->count];
        status = done(x, of, since_ns);
    }
    requests->at += block;
    return status;
}

/* ---- receives ---- */

static unsigned char *piece_place(const clo_exchange *x, uint32_t receive, uint32_t piece)
{
    unsigned char *buffer = x->local->receives[receive].buffer;

    return buffer != NULL ? buffer + (size_t)piece * piece_bytes(x, transfer_of(x, receive)) : buffer;
}

/* Pieces ahead of those that have come: few of a message that has not begun, so that MPI's lists stay short. */
static clo_status post(clo_exchange *x, uint32_t receive)
{
    const clo_transfer *t = transfer_of(x, receive);
    uint64_t pieces = pieces_of(x, t), came = pieces - x->in_left[receive];
    uint64_t ahead = came + (came == 0 ? AHEAD_FIRST : CLO_WINDOW_MAX);
    clo_status status = CLO_OK;

    while (x->in_pieces[receive] < pieces && x->in_pieces[receive] < ahead && status == CLO_OK) {
        uint32_t piece = x->in_pieces[receive]++;
        MPI_Request request;
        status =
            clo_remote_reach(x->remote, (int)t->from,
                             MPI_Irecv(piece_place(x, receive, piece), piece_count(x, t, piece), MPI_BYTE, (int)t->from,
                                       (int)x->local->receives[receive].transfer, x->remote->data, &request),
                             "MPI_Irecv");
        if (status == CLO_OK)
            add_request(x, &x->in, request, receive);
    }
    return status;
}

static clo_status piece_came(clo_exchange *x, uint32_t receive, int64_t since_ns)
{
    (void)since_ns;
    clo_remote_heard(x->remote, (int)transfer_of(x, receive)->from);
    if (--x->in_left[receive] > 0)
        return post(x, receive);
    x->received++;
    clo_local_arrived(&x->local->receives[receive], clo_clock_ns());
    while (x->first_due < x->local->receives_count && x->in_left[x->first_due] == 0)
        x->first_due++;
    return CLO_OK;
}

/* A message that nobody has posted a receive for. */
static clo_status take(clo_exchange *x, bool *is_taken)
{
    MPI_Message message;
    MPI_Status from;
    MPI_Request request;
    int found = 0;
    clo_status status = clo_remote_mpi(
        MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, x->remote->data, &found, &message, &from), "MPI_Improbe");

    *is_taken = found != 0;
    if (status != CLO_OK || !found)
        return status;
    bool is_known = from.MPI_TAG >= 0 && (uint32_t)from.MPI_TAG < x->local->split->transfers_count;
    uint32_t receive = is_known ? x->local->receive_of[from.MPI_TAG] : CLO_NONE;
    if (receive == CLO_NONE || transfer_of(x, receive)->from != (uint32_t)from.MPI_SOURCE ||
        x->in_pieces[receive] >= pieces_of(x, transfer_of(x, receive)))
        return clo_fail(CLO_ERR_SYSTEM, "rank %d sent transfer %d, which the plan does not send here", from.MPI_SOURCE,
                        from.MPI_TAG);
    uint32_t piece = x->in_pieces[receive]++;
    status = clo_remote_mpi(MPI_Imrecv(piece_place(x, receive, piece), piece_count(x, transfer_of(x, receive), piece),
                                       MPI_BYTE, &message, &request),
                            "MPI_Imrecv");
    if (status == CLO_OK)
        add_request(x, &x->in, request, receive);
    return status;
}

static clo_status take_some(clo_exchange *x, bool *has_moved)
{
    bool is_taken = x->posted < x->local->receives_count;
    clo_status status = CLO_OK;

    for (int i = 0; i < TAKE_MAX && is_taken && status == CLO_OK; i++) {
        status = take(x, &is_taken);
        *has_moved |= is_taken;
    }
    return status;
}

/* ---- sends ---- */

static bool goes_first(const clo_exchange *x, uint32_t a, uint32_t b)
{
    const clo_transfer *list = x->local->split->transfers;

    return list[a].rank_u != list[b].rank_u ? list[a].rank_u > list[b].rank_u : a < b;
}

static void push_urgent(const clo_exchange *x, clo_urgent *heap, uint32_t transfer)
{
    uint32_t at = heap->count++;

    while (at > 0 && goes_first(x, transfer, heap->list[(at - 1) / 2])) {
        heap->list[at] = heap->list[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->list[at] = transfer;
}

static uint32_t pop_urgent(const clo_exchange *x, clo_urgent *heap)
{
    uint32_t top = heap->list[0], last = heap->list[--heap->count], at = 0;

    for (uint32_t child = 1; child < heap->count; child = 2 * at + 1) {
        if (child + 1 < heap->count && goes_first(x, heap->list[child + 1], heap->list[child]))
            child++;
        if (!goes_first(x, heap->list[child], last))
            break;
        heap->list[at] = heap->list[child];
        at = child;
    }
    heap->list[at] = last;
    return top;
}

static bool is_large(const clo_exchange *x, uint32_t transfer)
{
    return x->local->split->transfers[transfer].bytes > LARGE_BYTES;
}

static void collect_ready(clo_exchange *x)
{
    for (uint64_t item = clo_local_take_ready(x->local); item != CLO_ITEM_NONE;) {
        uint32_t transfer = (uint32_t)item;
        item = x->local->links[transfer];
        push_urgent(x, is_large(x, transfer) ? &x->large : &x->small, transfer);
    }
}

/* A message of one piece goes as MPI likes; of several, a piece has gone when its receiver asks for it. */
static clo_status send_piece(clo_exchange *x, uint32_t transfer)
{
    const clo_transfer *t = &x->local->split->transfers[transfer];
    const unsigned char *from = clo_local_output(x->local, transfer);
    uint32_t piece = x->out_given[transfer]++;
    int count = piece_count(x, t, piece), to = (int)t->to, tag = (int)transfer;
    MPI_Comm data = x->remote->data;
    MPI_Request request;
    clo_status status;

    if (from != NULL)
        from += (size_t)piece * piece_bytes(x, t);
    if (pieces_of(x, t) == 1)
        status =
            clo_remote_reach(x->remote, to, MPI_Isend(from, count, MPI_BYTE, to, tag, data, &request), "MPI_Isend");
    else
        status =
            clo_remote_reach(x->remote, to, MPI_Issend(from, count, MPI_BYTE, to, tag, data, &request), "MPI_Issend");
    if (status == CLO_OK)
        add_request(x, &x->out, request, transfer);
    x->sent_bytes += (uint64_t)count;
    return status;
}

/* As many pieces as its window allows. */
static clo_status send_pieces(clo_exchange *x, uint32_t transfer, bool *has_moved)
{
    const clo_transfer *t = &x->local->split->transfers[transfer];
    uint32_t pieces = (uint32_t)pieces_of(x, t), window = x->lanes[t->to].window;
    clo_status status = CLO_OK;

    while (x->out_given[transfer] < pieces && status == CLO_OK &&
           x->out_given[transfer] - (pieces - x->out_left[transfer]) < window) {
        *has_moved = true;
        status = send_piece(x, transfer);
    }
    return status;
}

static clo_status send(clo_exchange *x, uint32_t transfer, bool *has_moved)
{
    uint32_t pieces = (uint32_t)pieces_of(x, &x->local->split->transfers[transfer]);

    x->out_left[transfer] = pieces;
    x->flows += is_large(x, transfer);
    x->sent_messages++;
    clo_status status = send_pieces(x, transfer, has_moved);
    if (x->out_given[transfer] < pieces)
        x->partly[x->partly_count++] = transfer;
    return status;
}

/* Goes on with messages that are under way. */
static clo_status send_more(clo_exchange *x, bool *has_moved)
{
    clo_status status = CLO_OK;

    for (uint32_t i = x->partly_count; i-- > 0 && status == CLO_OK;) { /* downwards: the last one fills the gap */
        uint32_t transfer = x->partly[i];
        status = send_pieces(x, transfer, has_moved);
        if (x->out_given[transfer] == pieces_of(x, &x->local->split->transfers[transfer]))
            x->partly[i] = x->partly[--x->partly_count];
    }
    return status;
}

static clo_status send_some(clo_exchange *x, bool *has_moved)
{
    clo_status status = CLO_OK;

    collect_ready(x);
    while (x->small.count > 0 && status == CLO_OK)
        status = send(x, pop_urgent(x, &x->small), has_moved);
    if (status == CLO_OK)
        status = send_more(x, has_moved);
    while (x->large.count > 0 && x->flows < x->flows_max && status == CLO_OK)
        status = send(x, pop_urgent(x, &x->large), has_moved);
    return status;
}

static clo_status piece_went(clo_exchange *x, uint32_t transfer, int64_t since_ns)
{
    const clo_transfer *t = &x->local->split->transfers[transfer];

    if (pieces_of(x, t) > 1) {
        clo_lane_went(&x->lanes[t->to], since_ns, x->now_ns);
        clo_remote_heard(x->remote, (int)t->to);
    }
    if (--x->out_left[transfer] > 0)
        return CLO_OK;
    x->flows -= is_large(x, transfer);
    x->sent++;
    return CLO_OK;
}

/* ---- the loop ---- */

static clo_status step(clo_exchange *x, bool *has_moved)
{
    x->now_ns = clo_clock_ns();
    clo_status status = send_some(x, has_moved);
    if (status == CLO_OK)
        status = look(x, &x->out, piece_went, has_moved);
    if (status == CLO_OK)
        status = look(x, &x->in, piece_came, has_moved);
    return status == CLO_OK ? take_some(x, has_moved) : status;
}

static bool is_through(const clo_exchange *x)
{
    return x->received == x->local->receives_count && x->sent == x->local->sends_count;
}

static bool is_due(const clo_exchange *x, int64_t now_ns)
{
    if (x->out.count > 0)
        return true;
    return x->first_due < x->local->receives_count &&
           now_ns - x->start_ns >= transfer_of(x, x->first_due)->arrival_ns - EARLY_NS;
}

/* CLO_ERR_TIMEOUT: it still runs, which is no failure. */
static bool has_ended(clo_job *job, clo_job_result *result, clo_status *status)
{
    *status = clo_job_wait_for(job, 0, result);
    return *status != CLO_ERR_TIMEOUT;
}

static clo_status run(clo_exchange *x, clo_job *job, clo_job_result *result)
{
    int64_t moved_ns = clo_clock_ns(), job_ns = 0;

    for (;;) { /* ends: the job does, or a rank is silent for too long */
        uint32_t heard = clo_eventcount_hear(&x->eventcount);
        bool has_moved = false, was_due = is_due(x, moved_ns);
        clo_status status = step(x, &has_moved);
        int64_t now_ns = clo_clock_ns();
        if (status == CLO_OK)
            status = clo_remote_look(x->remote, now_ns);
        if (status != CLO_OK)
            return status;
        if (has_moved || (!was_due && is_due(x, now_ns)))
            moved_ns = now_ns;
        if ((is_through(x) && !has_moved) || now_ns - job_ns > JOB_NS) {
            job_ns = now_ns;
            clo_status ended;
            if (has_ended(job, result, &ended) && (ended != CLO_OK || is_through(x)))
                return ended;
        }
        if (!has_moved && is_due(x, now_ns) && now_ns - moved_ns < HARD_NS)
            sched_yield();
        else if (!has_moved)
            clo_eventcount_wait_until(&x->eventcount, heard, now_ns + SLEEP_NS);
    }
}

static int64_t cpu_ns(void)
{
    struct rusage use;

    if (getrusage(RUSAGE_THREAD, &use) != 0)
        return 0;
    return ((int64_t)use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000000 +
           ((int64_t)use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1000;
}

clo_status clo_exchange_run(clo_exchange *x, clo_job *job, clo_job_result *result)
{
    int64_t before_ns = cpu_ns();
    clo_status status = run(x, job, result);

    x->cpu_ns = cpu_ns() - before_ns;
    return status;
}

static clo_status take_requests(clo_requests *requests, uint64_t count)
{
    requests->list = clo_allocate(count, sizeof *requests->list);
    requests->of = clo_allocate(count, sizeof *requests->of);
    requests->since_ns = clo_allocate(count, sizeof *requests->since_ns);
    return requests->list != NULL && requests->of != NULL && requests->since_ns != NULL
               ? CLO_OK
               : clo_fail_memory("the messages of a run");
}

static clo_status check_tags(const clo_exchange *x)
{
    int *highest = NULL, is_set = 0;
    clo_status status =
        clo_remote_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &highest, &is_set), "MPI_Comm_get_attr");
    int most = is_set ? *highest : 32767;

    if (status == CLO_OK && x->local->split->transfers_count > (uint64_t)most)
        return clo_fail(CLO_ERR_LIMIT, "the plan has %u transfers, and this MPI has %d tags (MPI_TAG_UB)",
                        x->local->split->transfers_count, most);
    return status;
}

static clo_status open_lanes(clo_exchange *x, uint64_t bytes)
{
    const clo_cluster *cluster = x->local->split->cluster;
    const clo_platform *platform = clo_cluster_platform(cluster);
    uint32_t here = x->local->first_executor;

    x->lanes = clo_allocate((size_t)x->remote->ranks, sizeof *x->lanes);
    if (x->lanes == NULL)
        return clo_fail_memory("the messages of a run");
    for (uint32_t m = 0; m < (uint32_t)x->remote->ranks; m++) { /* all executors of a machine share its links */
        uint32_t there = cluster->first_executor[m];
        clo_lane_open(&x->lanes[m]);
        x->lanes[m].in_bytes = bytes > 0 ? bytes : clo_piece_bytes(platform, there, here);
        x->lanes[m].out_bytes = bytes > 0 ? bytes : clo_piece_bytes(platform, here, there);
    }
    return CLO_OK;
}

static clo_status take_memory(clo_exchange *x)
{
    uint64_t in = 0, out = 0;
    const clo_local *local = x->local;
    const clo_split *split = local->split;

    for (uint32_t t = 0; t < split->transfers_count; t++) {
        in += split->transfers[t].to == local->machine ? pieces_of(x, &split->transfers[t]) : 0;
        out += split->transfers[t].from == local->machine ? pieces_of(x, &split->transfers[t]) : 0;
    }
    if (in >= UINT32_MAX || out >= UINT32_MAX)
        return clo_fail(CLO_ERR_LIMIT, "the messages have 2^32 pieces or more; make them larger (--piece)");
    clo_status status = take_requests(&x->in, in);
    if (status == CLO_OK)
        status = take_requests(&x->out, out);
    if (status != CLO_OK)
        return status;
    x->in_left = clo_allocate(local->receives_count, sizeof *x->in_left);
    x->in_pieces = clo_allocate(local->receives_count, sizeof *x->in_pieces);
    x->out_left = clo_allocate(split->transfers_count, sizeof *x->out_left);
    x->out_given = clo_allocate(split->transfers_count, sizeof *x->out_given);
    x->partly = clo_allocate(local->sends_count, sizeof *x->partly);
    x->small.list = clo_allocate(local->sends_count, sizeof *x->small.list);
    x->large.list = clo_allocate(local->sends_count, sizeof *x->large.list);
    bool has_all = x->in_left != NULL && x->in_pieces != NULL && x->out_left != NULL && x->out_given != NULL &&
                   x->partly != NULL && x->small.list != NULL && x->large.list != NULL;
    return has_all ? CLO_OK : clo_fail_memory("the messages of a run");
}

clo_status clo_exchange_open(clo_exchange *x, clo_remote *remote, clo_local *local, const clo_remote_config *config)
{
    x->remote = remote;
    x->local = local;
    x->flows_max = config->flows_max;
    clo_status status = open_lanes(x, config->piece_bytes);
    if (status == CLO_OK)
        status = check_tags(x);
    if (status == CLO_OK)
        status = take_memory(x);
    if (status != CLO_OK)
        return status;
    for (uint32_t r = 0; r < local->receives_count; r++)
        x->in_left[r] = (uint32_t)pieces_of(x, transfer_of(x, r));
    while (x->posted < local->receives_count && x->posted < config->posted_max && status == CLO_OK)
        status = post(x, x->posted++);
    return status;
}

void clo_exchange_close(clo_exchange *x)
{
    clo_free(x->lanes);
    clo_free(x->in.list);
    clo_free(x->in.of);
    clo_free(x->in.since_ns);
    clo_free(x->out.list);
    clo_free(x->out.of);
    clo_free(x->out.since_ns);
    clo_free(x->in_left);
    clo_free(x->in_pieces);
    clo_free(x->out_left);
    clo_free(x->out_given);
    clo_free(x->partly);
    clo_free(x->small.list);
    clo_free(x->large.list);
}

/* The rank's next task by the plan, where nothing is awaited from it: the last one. */
static uint32_t last_of(const clo_split *split, int rank)
{
    for (uint32_t p = split->placements_count; p-- > 0;)
        if (clo_split_machine(split, p) == (uint32_t)rank)
            return p;
    return CLO_NONE;
}

void clo_exchange_describe(const void *exchange, int rank, char *text, size_t bytes)
{
    const clo_exchange *x = exchange;
    const clo_split *split = x->local->split;
    const clo_graph *graph = clo_cost_graph(split->cost);
    char scratch[16];

    for (uint32_t r = x->first_due; r < x->local->receives_count && x->in_left != NULL; r++) {
        const clo_transfer *t = transfer_of(x, r);
        const clo_placement *p = &split->placements[t->source];
        if (x->in_left[r] == 0 || (rank >= 0 && t->from != (uint32_t)rank))
            continue;
        snprintf(text, bytes, "task '%.100s' (instance %u) is awaited from rank %u (%.60s)",
                 clo_graph_task_name(graph, p->task, scratch), p->instance, t->from,
                 clo_cluster_machine_name(split->cluster, t->from));
        return;
    }
    uint32_t last = rank >= 0 ? last_of(split, rank) : CLO_NONE;
    if (last == CLO_NONE)
        snprintf(text, bytes, "no task is awaited");
    else
        snprintf(text, bytes, "no task is awaited from it; its last one by the plan is '%.100s' (instance %u)",
                 clo_graph_task_name(graph, split->placements[last].task, scratch), split->placements[last].instance);
}
