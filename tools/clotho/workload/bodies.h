/* bodies.h - what ran in a workload's run, kept for pictures. */
#ifndef CLO_TOOLS_CLOTHO_WORKLOAD_BODIES_H
#define CLO_TOOLS_CLOTHO_WORKLOAD_BODIES_H

#include "clotho/workload/stream.h"

typedef struct bodies {
    clo_log_record *all;
    size_t count, room;
} bodies;

/* False: there is no memory. */
bool bodies_keep(bodies *kept, const clo_log_record *record);

/* Makes run->gantt, of the bodies and of the first `submitted` jobs. Returns an exit code. */
int bodies_log(bodies *kept, stream_run *run, uint32_t submitted);

#endif
