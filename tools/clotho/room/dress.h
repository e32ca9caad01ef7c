/* dress.h - what training says of the jobs of a stream that was drawn: deadlines, and for an oracle weights and
 * limits. */
#ifndef CLO_TOOLS_CLOTHO_ROOM_DRESS_H
#define CLO_TOOLS_CLOTHO_ROOM_DRESS_H

#include <clotho/clotho.h>

typedef struct stream_bound {
    const clo_graph *graph;
    int64_t ns;
} stream_bound;

/* A deadline is U(least, most) times the lower bound of the job alone on the platform, after its arrival. */
typedef struct stream_deadlines {
    double least, most;
    /* [count] of the jobs that streams are drawn from, in the order of their graphs. NULL: jobs keep the deadlines that they
     * have. */
    stream_bound *bounds;
    uint32_t count;
} stream_deadlines;

/* Reads "2-8"; NULL: no deadlines are drawn. Returns EXIT_GOOD, or an exit code after an error line; in any case
 * deadlines_close may be called then. */
int deadlines_open(const char *text, const clo_workload *pool, const clo_platform *platform, stream_deadlines *out);
void deadlines_close(stream_deadlines *deadlines);

/* What is said of a job: its weight is multiplied by a power of 2. limit 0: as it is. */
typedef struct stream_said {
    uint32_t weight_power, limit;
} stream_said;

/* The jobs of `drawn` with deadlines, and with what is said of each; `said` may be NULL. Owned by the caller. */
clo_status stream_dress(const clo_workload *drawn, const stream_deadlines *deadlines, const stream_said *said,
                        uint64_t seed, clo_workload **out);

#endif
