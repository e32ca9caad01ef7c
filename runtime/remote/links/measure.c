/* measure.c - clo_remote_measure: all links, one direction after the other, fitted on rank 0; then all ports. */
#define _POSIX_C_SOURCE 200809L /* gmtime_r */
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "io/cluster/cluster.h"
#include "remote/links/hub.h"

#include <clotho_mpi/links.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

struct clo_remote_links {
    uint32_t ranks;
    uint64_t limit;
    clo_fit_times *times; /* [ranks^2] from * ranks + to; the diagonal is empty */
    clo_ping *pings;      /* the same */
    clo_hub *hubs;        /* [ranks] */
};

static void say(clo_progress_fn progress, void *context, const clo_remote *remote, int from, int to, const clo_ping *p)
{
    char line[200];
    uint32_t last = (uint32_t)p->count - 1;

    if (progress == NULL || remote->rank != 0)
        return;
    clo_print(line, sizeof line,
              "rank %d to %d: 1 byte in %.1f us, %llu KiB in %.3f ms; two flows at once carry %.2f of one", from, to,
              (double)p->ns[0] / 1e3, (unsigned long long)clo_fit_size(last) >> 10, (double)p->ns[last] / 1e6,
              (double)p->flows2_permille / 1e3);
    progress(context, line);
}

/* Row `from` of this rank, when it is the turn of its links. row: [ranks] */
static clo_status measure_one(clo_remote *remote, clo_pings *pings, int from, int to, clo_ping *row)
{
    clo_status status = clo_remote_meet(remote);

    if (status == CLO_OK && remote->rank == from)
        status = clo_ping_to(pings, to, &row[to]);
    if (status == CLO_OK && remote->rank == to)
        status = clo_ping_answer(pings, from);
    return status;
}

/* What the rank has measured last goes to rank 0, to be told. */
static clo_status pass(clo_remote *remote, int from, clo_ping *ping)
{
    MPI_Request request = MPI_REQUEST_NULL;
    clo_status status = CLO_OK;

    if (from == 0 || (remote->rank != 0 && remote->rank != from))
        return CLO_OK;
    if (remote->rank == from)
        status = clo_remote_mpi(
            MPI_Isend(ping, CLO_PING_WORDS, MPI_INT64_T, 0, CLO_TAG_LINK, remote->control, &request), "MPI_Isend");
    else
        status = clo_remote_mpi(
            MPI_Irecv(ping, CLO_PING_WORDS, MPI_INT64_T, from, CLO_TAG_LINK, remote->control, &request), "MPI_Irecv");
    return status == CLO_OK ? clo_remote_wait(remote, &request) : status;
}

/* all: on rank 0 [ranks^2], else NULL. */
static clo_status measure_all(clo_remote *remote, clo_pings *pings, clo_ping *row, clo_ping *all,
                              clo_progress_fn progress, void *context)
{
    clo_status status = CLO_OK;

    for (int from = 0; from < remote->ranks; from++)
        for (int to = 0; to < remote->ranks; to++) {
            if (from == to)
                continue;
            status = measure_one(remote, pings, from, to, row);
            clo_ping *ping = all != NULL ? &all[(size_t)from * (size_t)remote->ranks + (size_t)to] : &row[to];
            if (status == CLO_OK && remote->rank == 0 && from == 0)
                *ping = row[to];
            if (status == CLO_OK)
                status = pass(remote, from, ping);
            if (status != CLO_OK)
                return status;
            say(progress, context, remote, from, to, ping);
        }
    return clo_remote_meet(remote);
}

void clo_remote_links_destroy(clo_remote_links *links)
{
    if (links == NULL)
        return;
    clo_free(links->times);
    clo_free(links->pings);
    clo_free(links->hubs);
    clo_free(links);
}

static clo_status make(const clo_remote *remote, clo_remote_links **out)
{
    size_t ranks = (size_t)remote->ranks;
    clo_remote_links *links = clo_allocate(1, sizeof *links);

    if (links == NULL)
        return clo_fail_memory("the links of a cluster");
    links->ranks = (uint32_t)ranks;
    links->times = clo_allocate(ranks * ranks, sizeof *links->times);
    links->pings = clo_allocate(ranks * ranks, sizeof *links->pings);
    links->hubs = clo_allocate(ranks, sizeof *links->hubs);
    if (links->times == NULL || links->pings == NULL || links->hubs == NULL)
        return clo_remote_links_destroy(links), clo_fail_memory("the links of a cluster");
    *out = links;
    return CLO_OK;
}

/* What was measured becomes times to fit; the limit is one for all. */
static clo_status fit_all(clo_remote_links *links)
{
    size_t cells = (size_t)links->ranks * links->ranks, count = 0;
    clo_fit_times *used = clo_allocate(cells, sizeof *used);

    if (used == NULL)
        return clo_fail_memory("the links of a cluster");
    for (size_t cell = 0; cell < cells; cell++) {
        links->times[cell].count = (uint32_t)links->pings[cell].count;
        for (uint32_t i = 0; i < links->times[cell].count; i++)
            links->times[cell].ns[i] = links->pings[cell].ns[i];
        if (links->times[cell].count > 0)
            used[count++] = links->times[cell];
    }
    links->limit = clo_fit_limit(used, count);
    clo_free(used);
    return CLO_OK;
}

static clo_status measure(clo_remote *remote, uint32_t quick, clo_progress_fn progress, void *context,
                          clo_remote_links **out)
{
    clo_pings *pings = NULL;
    clo_remote_links *links = NULL;
    clo_ping *row = clo_allocate((size_t)remote->ranks, sizeof *row);
    clo_status status = row != NULL ? CLO_OK : clo_fail_memory("the measurement of links");

    if (status == CLO_OK)
        status = clo_pings_open(remote, quick != 0, &pings);
    if (status == CLO_OK && remote->rank == 0)
        status = make(remote, &links);
    if (status == CLO_OK)
        status = measure_all(remote, pings, row, links != NULL ? links->pings : NULL, progress, context);
    if (status == CLO_OK)
        status = clo_hubs_measure(remote, pings, row, links != NULL ? links->hubs : NULL);
    if (status == CLO_OK && links != NULL)
        status = fit_all(links);
    if (status != CLO_OK) /* messages may be under way to the buffers, which stay */
        return clo_remote_links_destroy(links), status;
    clo_pings_close(pings);
    clo_free(row);
    *out = links;
    return CLO_OK;
}

clo_status clo_remote_measure(clo_remote *remote, uint32_t quick, const clo_remote_config *config,
                              clo_progress_fn progress, void *context, clo_remote_links **out)
{
    clo_remote_config mine = CLO_REMOTE_CONFIG_INIT;
    clo_remote_links *links = NULL;

    if (remote == NULL || out == NULL)
        return clo_fail_null("clo_remote_measure", "remote or out");
    clo_status status = clo_remote_read_config(&mine, config);
    if (status != CLO_OK)
        return status;
    remote->stop = mine.stop;
    remote->words = mine.words;
    remote->limit_ns = mine.start_ns;
    status = clo_remote_meet(remote);
    remote->limit_ns = mine.silence_ns;
    if (status == CLO_OK)
        status = measure(remote, quick, progress, context, &links);
    remote->stop = NULL;
    remote->words = NULL;
    if (status == CLO_OK)
        *out = links;
    return status;
}

uint32_t clo_remote_links_ranks(const clo_remote_links *links)
{
    return links != NULL ? links->ranks : 0;
}

uint64_t clo_remote_links_limit(const clo_remote_links *links)
{
    return links != NULL ? links->limit : 0;
}

clo_status clo_remote_links_get(const clo_remote_links *links, uint32_t from, uint32_t to, clo_remote_link *link)
{
    clo_fit_line line;

    if (links == NULL || link == NULL)
        return clo_fail_null("clo_remote_links_get", "links or link");
    clo_status status = clo_result_check(link, CLO_BYTES_UP_TO(clo_remote_link, largest_bytes), "remote link");
    if (status != CLO_OK)
        return status;
    if (from >= links->ranks || to >= links->ranks || from == to)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_remote_links_get: no link from rank %u to %u, of %u", from, to,
                        links->ranks);
    const clo_fit_times *times = &links->times[(size_t)from * links->ranks + to];
    const clo_ping *ping = &links->pings[(size_t)from * links->ranks + to];
    clo_remote_link found = CLO_REMOTE_LINK_INIT;
    clo_fit(times, links->limit, &line);
    found.latency_ns = (int64_t)(line.latency_ns + 0.5);
    found.bandwidth_bytes_per_ns = line.slope > 0 ? 1 / line.slope : 0;
    found.step_ns = (int64_t)(line.step_ns + 0.5);
    found.bandwidth_beyond = line.slope_beyond > 0 ? 1 / line.slope_beyond : 0;
    found.error_permille = clo_fit_error(&line, links->limit, times, 0);
    found.held_permille = clo_fit_error(&line, links->limit, times, 1);
    found.flows2_permille = (uint32_t)ping->flows2_permille;
    found.flows4_permille = (uint32_t)ping->flows4_permille;
    found.largest_bytes = clo_fit_size(times->count - 1);
    clo_result_write(link, &found, sizeof found);
    return CLO_OK;
}

clo_status clo_remote_links_port(const clo_remote_links *links, uint32_t rank, clo_remote_port *port)
{
    if (links == NULL || port == NULL)
        return clo_fail_null("clo_remote_links_port", "links or port");
    clo_status status = clo_result_check(port, CLO_BYTES_UP_TO(clo_remote_port, bytes), "remote port");
    if (status != CLO_OK)
        return status;
    if (rank >= links->ranks)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_remote_links_port: no rank %u of %u", rank, links->ranks);
    const clo_hub *hub = &links->hubs[rank];
    clo_remote_port found = CLO_REMOTE_PORT_INIT;
    found.out_bytes_per_ns = clo_hub_rate(hub, &hub->out);
    found.in_bytes_per_ns = clo_hub_rate(hub, &hub->in);
    found.messages = (uint32_t)hub->count;
    found.bytes = (uint64_t)hub->bytes;
    clo_result_write(port, &found, sizeof found);
    return CLO_OK;
}

/* For the file, which has one figure for both directions: the smaller of those that show. */
static void fill_ports(const clo_remote_links *links, double *ports)
{
    for (uint32_t rank = 0; rank < links->ranks; rank++) {
        const clo_hub *hub = &links->hubs[rank];
        double out = clo_hub_rate(hub, &hub->out), in = clo_hub_rate(hub, &hub->in);
        ports[rank] = out > 0 && (in <= 0 || out < in) ? out : in;
    }
}

enum { SOURCE_BYTES = 300 };

/* A step is a piece of one byte. */
static clo_status describe(const clo_remote_links *links, uint32_t from, uint32_t to, const char *when, char *source,
                           clo_cluster_link *out)
{
    clo_remote_link link = CLO_REMOTE_LINK_INIT;
    clo_status status = clo_remote_links_get(links, from, to, &link);

    if (status != CLO_OK)
        return status;
    clo_print(
        source, SOURCE_BYTES,
        "clotho platform calibrate %s, %s, %s: ping-pong up to %llu bytes, fitted within %.1f %%, other sizes %.1f %%; "
        "two flows at once carry %.2f of one, four %.2f",
        clo_version(), clo_remote_engine(), when, (unsigned long long)link.largest_bytes,
        (double)link.error_permille / 10, (double)link.held_permille / 10, (double)link.flows2_permille / 1e3,
        (double)link.flows4_permille / 1e3);
    *out = (clo_cluster_link){
        .from = from, .to = to, .latency_ns = link.latency_ns, .status = "measured", .source = source};
    double byte_ns = (double)link.step_ns + (link.bandwidth_beyond > 0 ? 1 / link.bandwidth_beyond : 0);
    out->bandwidth_bytes_per_ns[0] = link.bandwidth_bytes_per_ns;
    out->bandwidth_bytes_per_ns[1] = byte_ns > 0 ? 1 / byte_ns : 0;
    out->bandwidth_bytes_per_ns[2] = link.bandwidth_beyond;
    return CLO_OK;
}

clo_status clo_remote_links_save(const clo_remote_links *links, const char *from, const char *to)
{
    char when[32] = "?";
    time_t now = time(NULL);
    struct tm parts;

    if (links == NULL || from == NULL || to == NULL)
        return clo_fail_null("clo_remote_links_save", "links, from or to");
    size_t pairs = (size_t)links->ranks * (links->ranks - 1), at = 0;
    clo_cluster_link *list = clo_allocate(pairs, sizeof *list);
    char(*sources)[SOURCE_BYTES] = clo_allocate(pairs, sizeof *sources);
    double *ports = clo_allocate(links->ranks, sizeof *ports);
    clo_status status =
        list != NULL && sources != NULL && ports != NULL ? CLO_OK : clo_fail_memory("the links of a cluster");
    if (gmtime_r(&now, &parts) != NULL)
        strftime(when, sizeof when, "%Y-%m-%d %H:%M UTC", &parts);
    for (uint32_t a = 0; a < links->ranks && status == CLO_OK; a++)
        for (uint32_t b = 0; b < links->ranks && status == CLO_OK; b++)
            if (a != b) {
                status = describe(links, a, b, when, sources[at], &list[at]);
                at++;
            }
    const uint64_t cuts[] = {links->limit, links->limit + 1};
    bool has_ports = links->ranks > 0 && links->hubs[0].count > 0;
    if (status == CLO_OK)
        fill_ports(links, ports);
    if (status == CLO_OK)
        status = clo_cluster_save_network(from, cuts, links->limit > 0 ? 2 : 0, list, pairs, has_ports ? ports : NULL,
                                          has_ports ? links->ranks : 0, to);
    clo_free(ports);
    clo_free(list);
    clo_free(sources);
    return status;
}
