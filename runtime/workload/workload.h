/* workload/workload.h - a workload from inside: rows in the order in which they were added, and what is owned.
 *
 * A row's name is the graph's own where both are equal, else a copy among the owned objects. A workload that was drawn
 * from another owns rows only: graphs and names stay with the other. */
#ifndef CLO_WORKLOAD_WORKLOAD_H
#define CLO_WORKLOAD_WORKLOAD_H

#include "library.h"
#include <clotho/workload.h>

/* Something that is destroyed with the workload. */
typedef struct clo_workload_owned {
    void *object;
    void (*destroy)(void *object);
} clo_workload_owned;

struct clo_workload {
    char *name;             /* owned                                                  */
    char *file;             /* owned; where the jobs came from; NULL: from no file    */
    clo_platform *platform; /* owned; NULL: none                                      */
    clo_workload_job *jobs; /* [jobs_count]                                           */
    size_t jobs_count, jobs_capacity;
    clo_workload_owned *owned; /* [owned_count], destroyed from the last to the first */
    size_t owned_count, owned_capacity;
    const char *note; /* clo_workload_note; of a document that is owned */
    /* The last arrival of a job, or release of one whose releases are counted. */
    int64_t end_ns;
    bool is_sorted; /* no job arrives before the one in front of it */
};

/* Hands `object` over; it is destroyed with the workload. Returns CLO_OK, or CLO_ERR_MEMORY: the caller keeps it. */
CLO_INTERNAL clo_status clo_workload_own(clo_workload *workload, void *object, void (*destroy)(void *object));

/* For messages: the file that the lines of the jobs belong to; copied. */
CLO_INTERNAL clo_status clo_workload_set_file(clo_workload *workload, const char *file);

/* The arrival of a job's last release; of one whose releases are not counted, or that runs once: its arrival.
 * Saturates. */
int64_t clo_workload_last_release_ns(const clo_workload_job *job);

/* Appends a row whose fields have been checked and whose name outlives the workload. */
clo_status clo_workload_append(clo_workload *workload, const clo_workload_job *job);

/* Gives a platform to the workload, in place of the one it had: the one that its jobs were recorded on. NULL: none. */
CLO_INTERNAL void clo_workload_set_platform(clo_workload *workload, clo_platform *platform);

/* Looks for jobs that ask for more executors than a platform has. Returns CLO_OK, or CLO_ERR_PLATFORM: the
 * limit of a job is larger than the number of executors; clo_last_error names the first such job, with file and
 * line where it came from one. O(jobs). */
CLO_INTERNAL clo_status clo_workload_check(const clo_workload *workload, const clo_platform *platform);

/* [jobs] of each job the first one with the same graph; NULL: no memory. The caller's: clo_free. O(jobs log jobs). */
CLO_INTERNAL uint32_t *clo_workload_first_jobs(const clo_workload *workload);

#endif
