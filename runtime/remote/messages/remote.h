/* remote/messages/remote.h - a rank and what it hears of the others.
 *
 * One rule for all waiting: nobody calls a blocking function of MPI while others may die. Everything is a request, and
 * clo_remote_wait looks at it, at the signs of life of the others, and at the wish to stop. */
#ifndef CLO_REMOTE_MESSAGES_REMOTE_H
#define CLO_REMOTE_MESSAGES_REMOTE_H

#include <clotho_mpi/remote.h>
#include <mpi.h>

/* Tags of remote->control. */
enum { CLO_TAG_LIFE = 1, CLO_TAG_CLOCK = 2, CLO_TAG_HASH = 3, CLO_TAG_LINK = 4, CLO_TAG_TRACE = 5 };

struct clo_remote {
    MPI_Comm control; /* signs of life, clocks, sums */
    MPI_Comm data;    /* transfers; the tag is the index */
    int rank, ranks;
    bool owns_mpi;

    /* Signs of life. */
    MPI_Request *life_in, *life_out; /* [ranks] */
    unsigned char *life_bytes;       /* [2 * ranks] */
    int64_t *silent_ns;              /* [ranks] since something was heard */
    int *heard;                      /* [ranks] scratch */
    MPI_Status *statuses;            /* the same; MPICH's "ignore" is an address that compilers warn of */
    int32_t *told, *got;             /* [ranks] signs of life sent and heard */
    bool is_quiet;                   /* tells nobody any more */
    int64_t looked_ns, tell_ns;      /* last look; when to tell the others next */
    int64_t limit_ns;                /* silent for longer: lost */
    const volatile int *stop;
    char *words; /* clo_remote_config.words; NULL: none */

    /* During a run, for messages: the names of the ranks; writes what is awaited from a rank, or (-1) from any. */
    const clo_cluster *cluster;
    void (*describe)(const void *subject, int rank, char *text, size_t bytes);
    const void *subject;
};

/* CLO_OK, or CLO_ERR_SYSTEM with the text of MPI. */
clo_status clo_remote_mpi(int code, const char *call);

/* The same of a message from or to a rank (-1: who knows): a failure says which, and what is awaited from it. */
clo_status clo_remote_reach(const clo_remote *remote, int rank, int code, const char *call);

/* Tells the others that we live, and hears of them. now_ns: clo_clock_ns. Returns CLO_OK, CLO_ERR_TIMEOUT,
 * CLO_ERR_CANCELLED or CLO_ERR_SYSTEM. Call it often: it does something every millisecond. */
clo_status clo_remote_look(clo_remote *remote, int64_t now_ns);

/* Something else than a sign of life has come from a rank, or was asked for by it. */
static inline void clo_remote_heard(clo_remote *remote, int rank)
{
    remote->silent_ns[rank] = 0;
}

/* Waits for a request as the head of this file says. */
clo_status clo_remote_wait(clo_remote *remote, MPI_Request *request);

/* Waits until all ranks are here. */
clo_status clo_remote_meet(clo_remote *remote);

/* What the caller gives, or defaults. config: of CLO_REMOTE_CONFIG_INIT. Returns CLO_OK or CLO_ERR_ARGUMENT. */
clo_status clo_remote_read_config(clo_remote_config *config, const clo_remote_config *theirs);

/* Name of a rank's machine; "?" before a run. */
const char *clo_remote_name(const clo_remote *remote, int rank);

#endif
