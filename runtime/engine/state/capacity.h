/* engine/state/capacity.h - the capacities of a platform's machines while jobs run: one semaphore
 * (sync/structure/semaphore.h) per machine, and the line of those who wait where one thread drives everything.
 *
 * run/ opens semaphores for all its workers, which keep lines of their own (run/extras/capacity.h). The simulator, and
 * a run under the virtual clock, have a clo_line: what waits stands there in order of arrival, and is tried in that
 * order whenever a semaphore reports. */
#ifndef CLO_ENGINE_STATE_CAPACITY_H
#define CLO_ENGINE_STATE_CAPACITY_H

#include "base/carve.h"
#include "engine/program/program.h"
#include "library.h"
#include "sync/structure/semaphore.h"

typedef struct clo_line {
    const clo_program *program;
    /* [machines] for one thread. */
    clo_semaphore *semaphores;
    clo_semaphore_page *pages;
    /* [executions] since when each one waits; CLO_SEMAPHORE_NEW: it does not. */
    uint64_t *tickets;
    /* [waiting_count] oldest first, and where it is to run. */
    uint32_t *waiting, *executor;
    uint32_t waiting_count;
} clo_line;

/* Pages of the semaphores of all machines that have capacities, for so many threads. */
size_t clo_capacity_pages(const clo_platform *platform, uint32_t threads);

/* Opens the semaphore of one machine and moves *pages past those that it needs. */
void clo_capacity_open(const clo_platform *platform, uint32_t machine, clo_semaphore *semaphore,
                       clo_semaphore_page **pages, uint32_t threads);

/* Adds what the line of `program` needs; nothing if its graph has no demands. */
void clo_line_carve(clo_line *line, const clo_program *program, clo_block *block);

/* Everything is free, nothing waits. */
void clo_line_begin(clo_line *line);

/* True: the execution holds what it demands on the machine of `executor`. False: it stands in the line. */
bool clo_line_take(clo_line *line, uint32_t execution, uint32_t executor);

/* The execution has ended on `executor`. True: somebody who waits on that machine may fit now, see clo_line_next. */
bool clo_line_give(clo_line *line, uint32_t execution, uint32_t executor);

/* After a report: the next one on the machine of `executor` that holds what it demands, oldest first; CLO_NONE when all
 * have been tried. *cursor starts at 0. */
uint32_t clo_line_next(clo_line *line, uint32_t executor, uint32_t *cursor);

#endif
