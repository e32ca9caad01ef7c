/* io/cluster/cluster.h - what a cluster file says, and the cluster that is made of it. */
#ifndef CLO_IO_CLUSTER_CLUSTER_H
#define CLO_IO_CLUSTER_CLUSTER_H

#include <clotho/cluster.h>
#include <stdbool.h>

struct clo_cluster {
    clo_platform *platform; /* of the whole */
    uint32_t machines;
    clo_platform **own;       /* [machines] */
    char **names;             /* [machines] */
    uint32_t *first_executor; /* [machines + 1] */
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

#endif
