/* slow_setsid.c - LD_PRELOADed in front of the C library: a process that leaves its session takes its time. What has to
 * wait for that does so, or is seen not to. */
#define _DEFAULT_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

pid_t setsid(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    return (pid_t)syscall(SYS_setsid);
}
