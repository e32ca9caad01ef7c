/* lock.h - one build at a time in a folder. */
#ifndef CLO_TOOLS_NINJA_STEP_LOCK_H
#define CLO_TOOLS_NINJA_STEP_LOCK_H

#include <stdbool.h>

enum { LOCK_TAKEN, LOCK_OF_PARENT, LOCK_BUSY, LOCK_NOT_POSSIBLE };

typedef struct build_lock {
    int folder; /* an open folder; -1: none */
} build_lock;

/* Takes the folder that the path `log` lies in, so that no other build writes its logs and outputs meanwhile. The lock
 * ends with lock_give_back, or with the process and all that have inherited `folder`: the helpers of its steps, so that
 * no other build begins while commands of one that was killed still run. What the process starts knows of it by the
 * variable CLOTHO_BUILDS.
 *
 *   waits   whether to wait for another build that has the folder, without limit; else the answer is LOCK_BUSY.
 *
 * LOCK_OF_PARENT: this process is a step of a build of that folder, which waits for it. LOCK_NOT_POSSIBLE: the folder
 * is not there, or its file system has no locks; go on without. */
int lock_take(build_lock *lock, const char *log, bool waits);
void lock_give_back(build_lock *lock);

#endif
