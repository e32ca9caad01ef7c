/* crew.h - the same work on many numbers, on threads. */
#ifndef CLO_TOOLS_TRAIN_SEARCH_CREW_H
#define CLO_TOOLS_TRAIN_SEARCH_CREW_H

#include <stdint.h>

enum { CREW_THREADS_MAX = 256 };

/* Calls each(argument, thread, i) once for each i below `count`, from `threads` threads at most (CREW_THREADS_MAX);
 * `thread` is below `threads` and belongs to one thread at a time. Returns when all are done. What a call does must not
 * depend on the thread. Where no thread can be made, the caller does all of it. */
void crew_run(uint32_t threads, uint32_t count, void (*each)(void *argument, uint32_t thread, uint32_t i),
              void *argument);

#endif
