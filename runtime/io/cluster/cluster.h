/* io/cluster/cluster.h - what a cluster file says, and the cluster that is made of it. */
#ifndef CLO_IO_CLUSTER_CLUSTER_H
#define CLO_IO_CLUSTER_CLUSTER_H

#include <clotho/cluster.h>
#include <stdbool.h>

struct clo_cluster {
    clo_platform *platform; /* of the whole: machine by machine */
    uint32_t machines;
    clo_platform **own;       /* [machines] */
    char **names;             /* [machines] */
    uint32_t *first_executor; /* [machines + 1] in the platform of the whole */
};

/* Links from machine to machine, in pieces as clo_platform_desc has them. */
typedef struct clo_cluster_links {
    uint32_t cuts_count;
    uint64_t cut_bytes[CLO_LINK_PIECES_MAX];
    int64_t *latency_ns; /* [machines^2]; < 0: nobody has said */
    double *bandwidth;   /* [cuts_count + 1][machines^2] bytes/ns; 0: infinite */
    double *port;        /* [machines] bytes/ns; 0: infinite */
} clo_cluster_links;

/* Fills cluster->first_executor and cluster->platform; own and names are there. Returns CLO_OK, CLO_ERR_LIMIT,
 * CLO_ERR_ARGUMENT or CLO_ERR_MEMORY. */
clo_status clo_cluster_join(clo_cluster *cluster, const char *name, const clo_cluster_links *links);

/* True if the SPEC of a platform names a file. */
bool clo_cluster_is_path(const char *spec);

/* One direction of a link between two machines, to be written. */
typedef struct clo_cluster_link {
    /* Machines, by their place in the file. */
    uint32_t from, to;

    int64_t latency_ns;

    /* By piece, as in clo_platform_desc; an entry <= 0 is infinite. */
    double bandwidth_bytes_per_ns[CLO_LINK_PIECES_MAX];

    /* "measured", "assumed" ...; where the figures come from. Each may be NULL. */
    const char *status, *source;
} clo_cluster_link;

/* Writes a copy of a cluster file in which `links` replace all links of the original, and `ports` its ports.
 *
 *   from       the file that is read; names and platforms stay.
 *   cut_bytes  [cuts_count] where pieces of the links begin, rising; all links have them.
 *   links      [links_count]; a link holds for both directions, unless the other direction is given too. Every pair of
 *              machines must have one.
 *   ports      [ports_count] bytes/ns, one for each machine; <= 0: infinite. NULL and 0: the ports of the file stay.
 *   to         the file to write, whole or not at all; may be `from`. If `from` names platforms by relative paths, `to`
 *              must be in the same folder.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_IO, CLO_ERR_FORMAT, CLO_ERR_LIMIT or CLO_ERR_MEMORY. */
clo_status clo_cluster_save_network(const char *from, const uint64_t *cut_bytes, uint32_t cuts_count,
                                    const clo_cluster_link *links, size_t links_count, const double *ports,
                                    uint32_t ports_count, const char *to);

#endif
