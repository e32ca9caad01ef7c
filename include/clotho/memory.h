/* memory.h - tasks that slow each other down because they use one memory.
 *
 * A platform may state what a memory moves at most: the capacity CLO_MEMORY_RESOURCE of a machine. A task may have a
 * *memory part*: the share of its time in which it moves data, and how fast it moves them when it is alone. Where tasks
 * that run at once would move more than the capacity, simulations and predictions stretch their memory parts: all those
 * of one memory by the same factor, the least one at which what they move together is at most the capacity. The factor
 * changes where one of them starts or ends; between these moments a task moves data evenly. Planners and policies know
 * nothing of it. Without a capacity, or without parts, nothing is stretched.
 *
 *     clotho platform calibrate -o here.xml                                      the capacity of this machine
 *     clotho calibrate g.json --contention --platform here.xml -o times.json     the parts of its codelets
 *     clotho plan g.json --platform here.xml --profile times.json                the prediction counts them
 *
 * For work that must not be slowed at all, let tasks demand so much of the resource (clo_task.demand): tasks that would
 * exceed the capacity then wait for each other, in plans and in runs.
 *
 * Library: libclotho-decide. */
#ifndef CLOTHO_MEMORY_H
#define CLOTHO_MEMORY_H

#include <clotho/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of clo_memory_part.mbps. */
#define CLO_MEMORY_MBPS_MAX 1000000000u

/* Of clo_memory_part.share_q16. */
#define CLO_MEMORY_SHARE_ONE 65536u

/* What of an execution waits for memory. Plain values; without a size field: parts are passed in arrays. */
typedef struct clo_memory_part {
    /* The share of its time alone in which it moves data, in 65536ths: 0 (none) to CLO_MEMORY_SHARE_ONE. */
    uint32_t share_q16;

    /* What it moves meanwhile, in 10^6 bytes/s; at least 1, unless the share is 0. */
    uint32_t mbps;
} clo_memory_part;

/* The capacity of the memory that an executor uses, in 10^6 bytes/s; -1: the platform states none, or there is no such
 * executor.
 *
 *   memory  receives a number that all executors have that share this capacity, and no others; CLO_NONE: no capacity.
 *           May be NULL.
 *
 * Threads: any. Real time: yes. O(1). */
CLO_API int64_t clo_memory_capacity_mbps(const clo_platform *platform, uint32_t executor, uint32_t *memory);

/* The memory part of a task that takes alone_ns alone, and beside_ns beside others that move `beside_mbps` when they are
 * alone and do nothing else: the part with `own_mbps` with which a prediction of these two would say so. Zeros: the task
 * was not slower, or the others and `own_mbps` together do not exceed the capacity, so that nothing can be known.
 *
 *   own_mbps  what a stream (clo_streams_start) moves alone where the task ran.
 *
 * Threads: any. Real time: yes. O(1). */
CLO_API clo_memory_part clo_memory_part_of(int64_t alone_ns, int64_t beside_ns, uint32_t own_mbps, uint32_t beside_mbps,
                                           int64_t capacity_mbps);

/* Gives an entry of a profile its memory part; the snapshot has it from the next clo_profile_publish on. Of two parts
 * that of this machine counts, then the younger one, then the larger one; that of another machine only where the times
 * are of another machine. The times must be of tasks that were alone: else what they lose would count twice.
 *
 *   entry  names it: codelet, version, kind, footprint; newest_s and is_assumed say when and where it was measured.
 *   part   share 0: none.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  NULL; a part out of range; a profile without this entry
 *
 * Threads: any. Real time: no: takes a lock. O(1). */
CLO_API CLO_NODISCARD clo_status clo_profile_add_memory_part(clo_profile *profile, const clo_profile_entry *entry,
                                                             const clo_memory_part *part);

/* The memory part of an entry of the snapshot (clo_profile_entry_at); zeros: none, or there is no such entry.
 * Threads: any. Real time: no. O(1). */
CLO_API clo_memory_part clo_profile_memory_part(const clo_profile *profile, uint32_t index);

/* Streams: threads that read memory and do nothing else, one on each of some CPUs. They measure what a memory moves, and
 * what tasks lose beside them. */
typedef struct clo_streams clo_streams; /* opaque: owns threads */

/* Starts streams.
 *
 *   cpus   [count] numbers of CPUs that this process may use; copied.
 *   count  >= 1.
 *   out    the streams, owned by the caller.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_SYSTEM (a thread cannot be started there) or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. Each takes 4 to 32 MiB. */
CLO_API CLO_NODISCARD clo_status clo_streams_start(const uint32_t *cpus, uint32_t count, clo_streams **out);

/* What all of them together move once each has begun to read, in 10^6 bytes/s of the CPU time of each: what other
 * programs take of their CPUs does not count.
 *
 *   look_ns  1 to 10^9. Waits, and takes the median of five looks of this length; a look is longer while one of them has
 *            not run in it.
 *
 * Returns the rate, at most CLO_MEMORY_MBPS_MAX; 0: an argument is wrong, or one got no CPU in 200 times look_ns.
 * Threads: one at a time. Real time: no: sleeps. */
CLO_API uint32_t clo_streams_mbps(clo_streams *streams, int64_t look_ns);

/* Ends and frees them. NULL is allowed.
 * Threads: one. Real time: no: waits for the threads. */
CLO_API void clo_streams_stop(clo_streams *streams);

#ifdef __cplusplus
}
#endif
#endif
