/* profile.h - what codelets take on which kinds of executors: measured, kept in a file, used by costs.
 *
 * A profile has an entry for each codelet (clo_graph_set_codelet), kind and footprint that was measured: a robust
 * location, its spread, a high value and the largest one. Samples come from traces, or one by one. What is used of a
 * profile is its *snapshot*: the state that clo_profile_publish has published last. A snapshot never changes, so that
 * the same graph, platform and snapshot give the same cost and the same plan, whatever is learned meanwhile.
 *
 *     clo_profile_learn_trace(profile, cost, trace);      after a run; or, while runs go on, clo_profile_learn_records
 *     clo_profile_publish(profile);
 *     clo_cost_create_measured(graph, platform, profile, NULL, &cost);   then plan as always
 *
 * No typed number is needed: what a C function without work_ns and without a codelet takes is known after one run. In
 * this process it is found again by its address; only codelets can be saved.
 *
 * Threads: all calls but clo_profile_destroy may be made by several threads at once. Costs are made while other threads
 * learn and publish: snapshots are read-copy-update (liburcu).
 *
 * Library: libclotho-decide; libclotho-io has clo_profile_load, clo_profile_save. */
#ifndef CLOTHO_PROFILE_H
#define CLOTHO_PROFILE_H

#include <clotho/cost.h>
#include <clotho/runtime.h>
#include <clotho/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Entries that a profile may be made for. */
#define CLO_PROFILE_ENTRIES_MAX 65536u

/* Samples from which on a time counts as known: a wild first one, or a level that has changed, does no harm then. */
#define CLO_PROFILE_TRUSTED 9

typedef struct clo_profile clo_profile; /* opaque: owns memory */

/* One entry. Plain values; without a size field: entries are read in arrays. */
typedef struct clo_profile_entry {
    /* The key. Names have 1 to 255 bytes; the footprint tells sizes apart, by default as `bytes` does. */
    const char *codelet;
    const char *kind;
    uint32_t version;
    uint64_t footprint;

    /* Inputs and outputs of one execution. Sizes that were not measured are estimated by them. */
    uint64_t bytes;

    uint64_t samples;

    /* What an execution takes: the median of the first samples, then a mean that spikes do not move. */
    int64_t location_ns;

    /* Mean deviation from it. */
    int64_t spread_ns;

    /* About nine of ten samples are below it. */
    int64_t high_ns;

    /* What they take in the mean over whole runs, where few that take very long make it more than the three numbers
     * above say; 0: not known. */
    int64_t mean_ns;

    /* Of all samples. Not a worst case: only the largest one that was seen. */
    int64_t most_ns;

    /* How often the location jumped, because all of the last samples agreed on another one. */
    uint32_t level_changes;

    /* 1: measured on another machine (CLO_PROFILE_FOREIGN). */
    uint32_t is_assumed;

    /* When the last sample came, in seconds since 1970. */
    int64_t newest_s;
} clo_profile_entry;

/* How runs as a whole differ from what their tasks say, in 65536ths: the sum of the times of a run's executions over
 * the sum that was to be expected from the entries before it (their means, so its location is near 65536). One task's
 * luck averages out over a run; what all of them have in common, the speed of the machine in that run, does not.
 * clo_profile_predict draws it. Plain values. */
typedef struct clo_run_spread {
    /* 0: nothing is known. */
    uint64_t runs;

    /* As those of an entry. */
    int64_t location_q16, spread_q16, high_q16, most_q16;

    int64_t newest_s;
} clo_run_spread;

/* Where a time of a measured cost comes from, the best first. */
typedef enum clo_time_basis {
    /* This codelet was measured on this kind, with this footprint. */
    CLO_TIME_MEASURED,

    /* The same, on another machine. */
    CLO_TIME_ASSUMED,

    /* A straight line over the bytes of at least three other footprints, which span a factor of 4; between half of the
     * smallest and twice the largest of them. */
    CLO_TIME_SIZED,

    /* Measured on another kind, and scaled by the speeds that the platform has for the task's class. A kind that the
     * platform lacks counts as the reference executor. */
    CLO_TIME_SCALED,

    /* As the graph says: clo_graph_set_time, or work_ns by speed. */
    CLO_TIME_TYPED,

    CLO_TIME_BASES
} clo_time_basis;

/* What clo_cost_create_measured takes and tells. */
typedef struct clo_measured {
    /* Set by CLO_MEASURED_INIT. */
    size_t size;

    /* Spreads that are added to a location, in 65536ths; CLO_MEASURED_INIT sets one spread. A plan is better with it
     * than with means, and a prediction is less often too low. */
    uint32_t spreads_q16;

    /* Out: how many tasks (of executions on all kinds that can run them, the worst basis) have which basis. */
    uint32_t tasks_by[CLO_TIME_BASES];

    /* Out: of the snapshot; 0: it is empty. */
    uint64_t snapshot;
} clo_measured;

#define CLO_MEASURED_INIT                    \
    {                                        \
        sizeof(clo_measured), 65536u, {0}, 0 \
    }

/* Makes an empty profile.
 *
 *   entries_max  1 .. CLO_PROFILE_ENTRIES_MAX; 0: 4096. Where one more is to come, the one whose last sample is oldest
 *                goes.
 *   out          the profile, owned by the caller.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(entries_max). */
CLO_API CLO_NODISCARD clo_status clo_profile_create(uint32_t entries_max, clo_profile **out);

/* Frees a profile. NULL is allowed. Costs that were made with it stay as they are.
 * Threads: one. Real time: no. O(entries). */
CLO_API void clo_profile_destroy(clo_profile *profile);

/* Adds one sample. The first one of an entry in a process counts only until there is a second one: caches were cold.
 *
 *   codelet    footprint 0: `bytes`.
 *   bytes      of inputs and outputs.
 *   kind       of the executor.
 *   sample_ns  >= 0; beyond 2^52 it counts as that.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT or CLO_ERR_MEMORY.
 * Threads: any. Real time: no: takes a lock. O(1), but O(entries) where an entry has to go. */
CLO_API CLO_NODISCARD clo_status clo_profile_learn(clo_profile *profile, const clo_codelet *codelet, uint64_t bytes,
                                                   const char *kind, int64_t sample_ns);

/* Adds what all executions of a real run took, and, of a run with at least 32 whose entries are trusted, how it
 * differed as a whole (clo_run_spread). Left out are executions that lost against their hedge, skipped ones,
 * bodies that take what they are told (clo_body_spin) and tasks that have neither a codelet nor a body.
 *
 *   cost     of the run.
 *   trace    of a run on the real clock.
 *   learned  receives the number of samples; may be NULL.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (also: the trace is of another graph or platform), CLO_ERR_STATE (its times are
 * emulated) or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(events + edges). */
CLO_API CLO_NODISCARD clo_status clo_profile_learn_trace(clo_profile *profile, const clo_cost *cost,
                                                         const clo_trace *trace, size_t *learned);

/* Adds what executions of a job took while others of it go on: from the flight recorder (clo_runtime_record_read).
 * Workers pay for the recorder, and nothing for this call. What is left out: as above. Records do not say to which run
 * they belong, so clo_run_spread stays as it is.
 *
 *   cost     of the job.
 *   job      clo_job_id; records of other jobs are left out.
 *   records  [count] of a runtime on the real clock.
 *   learned  receives the number of samples; may be NULL.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (also: a record is of no task or executor of the cost; then those before it count) or
 * CLO_ERR_MEMORY.
 * Threads: any. Real time: no: takes a lock. No memory is taken once the entries are there. O(count + edges);
 * inputs of a task are counted again where a call has many hundred tasks of different codelets. */
CLO_API CLO_NODISCARD clo_status clo_profile_learn_records(clo_profile *profile, const clo_cost *cost, uint64_t job,
                                                           const clo_record *records, size_t count, size_t *learned);

/* Merges an entry into the profile. If both locations are within three spreads of each other, the merged one is their
 * mean, weighted by samples; else it is that of the younger one, unless only the other one is trusted. The order of
 * merges does not matter for two profiles.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (a name, a negative number, no samples) or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(1), but O(entries) where an entry has to go. */
CLO_API CLO_NODISCARD clo_status clo_profile_add(clo_profile *profile, const clo_profile_entry *entry);

/* Merges how runs differ, as clo_profile_add merges an entry.
 *
 * Returns CLO_OK or CLO_ERR_ARGUMENT (a negative number, no runs).
 * Threads: any. Real time: no: takes a lock. O(1). */
CLO_API CLO_NODISCARD clo_status clo_profile_add_run_spread(clo_profile *profile, const clo_run_spread *spread);

/* Makes what was learned so far the snapshot. Entries whose code has no name (CLO_CODELET_ADDRESS) are part of it.
 *
 * Returns CLO_OK or CLO_ERR_MEMORY: then the snapshot stays as it was.
 * Threads: any. Real time: no: waits for readers. O(entries log entries). */
CLO_API CLO_NODISCARD clo_status clo_profile_publish(clo_profile *profile);

/* Number of entries of the snapshot, and its hash: of keys, locations and spreads. 0: it is empty.
 * Threads: any. Real time: no. O(1). */
CLO_API uint32_t clo_profile_entries(const clo_profile *profile);
CLO_API uint64_t clo_profile_snapshot(const clo_profile *profile);

/* Reads an entry of the snapshot; they are in order of codelet, version, kind and footprint.
 *
 *   out  its names are owned by the profile.
 *
 * Returns CLO_OK or CLO_ERR_ARGUMENT (there is no such entry: the snapshot may be another one by now).
 * Threads: any. Real time: no. O(1). */
CLO_API CLO_NODISCARD clo_status clo_profile_entry_at(const clo_profile *profile, uint32_t index,
                                                      clo_profile_entry *out);

/* How runs differ, of the snapshot; zeros: nothing is known, or the profile is NULL. Not in the hash: plans do not use it.
 * Threads: any. Real time: no. O(1). */
CLO_API clo_run_spread clo_profile_run_spread(const clo_profile *profile);

/* How many entries had to go because the profile was full.
 * Threads: any. Real time: no. O(1). */
CLO_API uint64_t clo_profile_evicted(const clo_profile *profile);

/* As clo_cost_create, with the times of the profile's snapshot where it has them: see clo_time_basis. A task that was
 * measured on no kind, and not as another size, has the times of the graph.
 *
 *   measured  what of the times is used, and what was found; NULL: all defaults.
 *
 * Returns as clo_cost_create, and CLO_ERR_ARGUMENT if measured->size is wrong.
 * Threads: any. Real time: no. As clo_cost_create, and O(tasks * kinds * log entries + entries + edges);
 * entries of many codelets without a size that fits may be read once for each task. */
CLO_API CLO_NODISCARD clo_status clo_cost_create_measured(const clo_graph *graph, const clo_platform *platform,
                                                          const clo_profile *profile, clo_measured *measured,
                                                          clo_cost **out);

/* The first byte of the name of a codelet that stands for the address of a body in this process. */
#define CLO_CODELET_ADDRESS '@'

/* clo_profile_load: takes a profile of another machine; its entries are assumed. */
#define CLO_PROFILE_FOREIGN 1u

/* Merges a file ("clotho.profile/1") into a profile, and publishes. All or nothing, unless memory runs out. How runs differ
 * on another machine is left out.
 *
 *   flags  0 or CLO_PROFILE_FOREIGN.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT
 *   CLO_ERR_IO        the file cannot be read
 *   CLO_ERR_FORMAT    it is no profile, or a damaged one; clo_last_error names the line
 *   CLO_ERR_PLATFORM  it was measured on another machine; clo_last_error names both
 *   CLO_ERR_LIMIT     it has more than CLO_PROFILE_ENTRIES_MAX entries
 *   CLO_ERR_MEMORY
 *
 * Threads: any. Real time: no. O(size of the file). */
CLO_API CLO_NODISCARD clo_status clo_profile_load(clo_profile *profile, const char *path, uint32_t flags);

/* Writes the snapshot, whole or not at all (file.h), with what tells this machine and this build from others. Entries
 * without a name are left out.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_IO or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(entries). */
CLO_API CLO_NODISCARD clo_status clo_profile_save(const clo_profile *profile, const char *path);

#ifdef __cplusplus
}
#endif
#endif
