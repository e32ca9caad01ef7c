/* machine.h - a platform with fewer or more workers than there are executors, or with a kind for each. */
#ifndef EXAMPLES_MACHINE_H
#define EXAMPLES_MACHINE_H

#include <clotho/clotho.h>

#include <stdbool.h>

/* The first `workers` executors of `platform` (0: all of them). More than it has are allowed where it is this
 * machine: its CPUs are then used several times and *is_crowded is set; the workers must not be pinned. Else each CPU of
 * this machine is a kind of its own, called as the executor, so that times are learned of each.
 *
 * `depth` > 0: an executor of kind "device" follows, in the memory of the first: what a task takes there includes moving
 * the data. It begins so many executions before the first has ended, but is one executor. */
#define MACHINE_DEVICE_KIND "device"
clo_status machine_limit(const clo_platform *platform, uint32_t workers, uint32_t depth, clo_platform **out,
                         bool *is_crowded);

#endif
