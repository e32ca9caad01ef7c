/* lock.h - the locks of control: mutexes whose holder gets the priority of whoever waits for it (PTHREAD_PRIO_INHERIT).
 * So a holder of low priority is not kept from the CPU by a third thread. Nobody waits for another thread, and calls
 * no function of the application, while it holds one that workers' bodies may want. */
#ifndef CLO_SYNC_LOCK_H
#define CLO_SYNC_LOCK_H

#include <pthread.h>

/* Returns an errno value; 0: made. Gone with pthread_mutex_destroy. */
int clo_lock_init(pthread_mutex_t *lock);

#endif
