/* lock.c - see lock.h. */
#define _GNU_SOURCE /* PTHREAD_PRIO_INHERIT */
#include "sync/sleep/lock.h"

int clo_lock_init(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attributes;
    int error = pthread_mutexattr_init(&attributes);

    if (error != 0)
        return error;
    error = pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    if (error == 0)
        error = pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return error;
}
