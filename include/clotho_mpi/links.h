/* clotho_mpi/links.h - the links between the machines of a cluster, measured as a run uses them: with messages of this
 * MPI, received directly into posted buffers, by ranks that poll. Library clotho_mpi, beside clotho.
 *
 * Ping-pong: a message of n bytes goes from one rank to another, and an answer of one byte comes back. Half of the
 * round trip of one byte counts as the time of one byte in each direction: without a common clock it cannot be measured
 * how a round trip divides into the two directions. MPIs send messages up to a limit at once (eager) and ask before
 * larger ones (rendezvous), so two lines model a link: one up to the limit (clo_remote_links_limit), one beyond. */
#ifndef CLOTHO_MPI_LINKS_H
#define CLOTHO_MPI_LINKS_H

#include <clotho_mpi/remote.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_remote_links clo_remote_links; /* opaque: what was measured of every pair of ranks */

/* One direction, as fitted. Result struct. */
typedef struct clo_remote_link {
    /* Set by CLO_REMOTE_LINK_INIT. */
    size_t size;

    /* Latency of a message without bytes. */
    int64_t latency_ns;

    /* Bandwidth of the bytes up to the limit; 0: infinite. */
    double bandwidth_bytes_per_ns;

    /* Extra time of a message above the limit; bandwidth of the bytes above it, 0: infinite. Without a limit: 0, and
     * the same as bandwidth_bytes_per_ns. */
    int64_t step_ns;
    double bandwidth_beyond;

    /* Worst relative error at the sizes that the lines were fitted to, and at those that were held aside; permille. */
    uint32_t error_permille, held_permille;

    /* Throughput of two and of four large messages at once, all together, in permille of one alone. 1000: they share
     * the link. */
    uint32_t flows2_permille, flows4_permille;

    /* The largest message that was measured. */
    uint64_t largest_bytes;
} clo_remote_link;

#define CLO_REMOTE_LINK_INIT CLO_SIZED_INIT(clo_remote_link)

/* How fast a machine moves messages to several others at once, and from them. Result struct. */
typedef struct clo_remote_port {
    /* Set by CLO_REMOTE_PORT_INIT. */
    size_t size;

    /* All messages together. 0: messages at once take no longer than the slowest of them alone, so no port shows; or
     * there are fewer than three ranks. */
    double out_bytes_per_ns, in_bytes_per_ns;

    /* How many messages at once, one for each other machine, and the bytes of each; 0: not measured. */
    uint32_t messages;
    uint64_t bytes;
} clo_remote_port;

#define CLO_REMOTE_PORT_INIT CLO_SIZED_INIT(clo_remote_port)

/* Measures all ranks * (ranks - 1) links, one at a time, each for about 1 s (quick: 0.3 s), slow ones longer. With
 * three or more ranks it also measures the port of each, which takes about as long as two links. Each time is the
 * smallest of the medians of several rounds, to leave out the time that other programs take.
 *
 *   quick     1: fewer messages.
 *   config    only silence_ns, start_ns and stop are used; NULL: all defaults.
 *   progress  rank 0: may be NULL; called on the calling thread.
 *   context   handed to `progress`.
 *   out       rank 0: the result, owned by the caller. Else NULL.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_TIMEOUT, CLO_ERR_CANCELLED, CLO_ERR_SYSTEM or CLO_ERR_MEMORY, as
 * clo_remote_run; after a failure only clo_remote_abort may be called.
 * Not promised: the same figures twice. Other use of the network or the CPUs disturbs the measurement.
 * Threads: as clo_remote_open. Real time: no. Blocks. All ranks must call. */
CLO_API CLO_NODISCARD clo_status clo_remote_measure(clo_remote *remote, uint32_t quick, const clo_remote_config *config,
                                                    clo_progress_fn progress, void *context, clo_remote_links **out);

/* Frees the result. NULL is allowed.
 * Threads: one. Real time: no. */
CLO_API void clo_remote_links_destroy(clo_remote_links *links);

/* Number of ranks; 0 for NULL.
 * Threads: any. Real time: yes, O(1). The next three calls likewise. */
CLO_API uint32_t clo_remote_links_ranks(const clo_remote_links *links);

/* The largest message that is sent at once (eager), as far as the measured sizes show it; one limit for all links. 0:
 * no limit shows, or `links` is NULL. */
CLO_API uint64_t clo_remote_links_limit(const clo_remote_links *links);

/* The link from one rank to another.
 *
 *   link  set link->size with CLO_REMOTE_LINK_INIT.
 *
 * Returns CLO_OK or CLO_ERR_ARGUMENT (no such link, link->size is wrong). */
CLO_API CLO_NODISCARD clo_status clo_remote_links_get(const clo_remote_links *links, uint32_t from, uint32_t to,
                                                      clo_remote_link *link);

/* The port of a rank.
 *
 *   port  set port->size with CLO_REMOTE_PORT_INIT.
 *
 * Returns CLO_OK or CLO_ERR_ARGUMENT (no such rank, port->size is wrong). */
CLO_API CLO_NODISCARD clo_status clo_remote_links_port(const clo_remote_links *links, uint32_t rank,
                                                       clo_remote_port *port);

/* Writes the links into a cluster file, with status and source. With three or more ranks it also writes the ports: for
 * each machine the smaller one of the two directions.
 *
 *   from  cluster file with a machine for each rank.
 *   to    the file to write; may be `from`.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_IO, CLO_ERR_FORMAT, CLO_ERR_LIMIT or CLO_ERR_MEMORY; the last error says
 * more.
 * Threads: any. Real time: no. */
CLO_API CLO_NODISCARD clo_status clo_remote_links_save(const clo_remote_links *links, const char *from, const char *to);

#ifdef __cplusplus
}
#endif
#endif
