/* measure.h - how long each kernel takes here, measured in runs of the application itself. */
#ifndef EXAMPLES_MEASURE_H
#define EXAMPLES_MEASURE_H

#include "session.h"

/* Two ways of running that are kept ready to be measured again at any time: on one core, and stealing on up to
 * `workers` cores of this machine with a trace. The speed of a machine drifts (clock frequency, neighbours on a
 * virtual machine), so that a prediction is only as good as its measurements are fresh. */
typedef struct yardstick {
    session one, all;
    uint64_t hash;        /* of the result on one core */
    clo_profile *profile; /* learns from each reading; borrowed; NULL: none */
    bool by_mean;         /* set before yardstick_read: times are means, which decide throughput; else medians */
} yardstick;
clo_status yardstick_open(yardstick *y, application *app, uint32_t workers);
void yardstick_close(yardstick *y);

/* Runs both ways `runs` times: the median makespan on one core, the median (or mean) time of each kernel; and the
 * profile's snapshot is of what it has seen. */
clo_status yardstick_read(yardstick *y, application *app, uint32_t runs, int64_t *serial_ns, application_times *times);

/* One run on one core. */
clo_status yardstick_serial(yardstick *y, application *app, int64_t *serial_ns);

/* The profile learns from the last run of a session that keeps a trace; and its snapshot is of it, too. */
clo_status session_learn(const session *s, clo_profile *profile);

int64_t median_ns(int64_t *values, size_t count); /* sorts; 0 if there are none */

#endif
