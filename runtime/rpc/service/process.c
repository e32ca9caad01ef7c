/* process.c - a service in a process of its own, which is forked from this one and tells it where it listens. */
#include "base/status.h"

#include <clotho/rpc.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the child says once it listens, or cannot. It comes as a whole: it has less than PIPE_BUF. */
typedef struct report {
    clo_status status;
    char text[512]; /* its endpoint, or why there is none */
} report;

static _Noreturn void serve(int told, const clo_rpc_service_config *config, clo_rpc_handler handler, void *argument)
{
    clo_rpc_service *service = NULL;
    report r = {.status = clo_rpc_service_create(config, &service)};

    if (r.status == CLO_OK)
        r.status = clo_rpc_service_add(service, "", handler, argument, 0);
    snprintf(r.text, sizeof r.text, "%s", r.status == CLO_OK ? clo_rpc_service_endpoint(service) : clo_last_error());
    int is_told = write(told, &r, sizeof r) == (ssize_t)sizeof r;
    close(told);
    if (is_told && r.status == CLO_OK)
        (void)!clo_rpc_service_run(service);
    _exit(r.status != CLO_OK ? 1 : 0);
}

/* Returns whether there was a whole report. */
static int listen_to(int from, report *out)
{
    ssize_t count;

    while ((count = read(from, out, sizeof *out)) < 0 && errno == EINTR) /* ends: signals do not come for ever */
        ;
    return count == (ssize_t)sizeof *out;
}

clo_status clo_rpc_service_fork(const clo_rpc_service_config *config, clo_rpc_handler handler, void *argument,
                                char *endpoint, int64_t *process)
{
    int ends[2];
    report r;

    if (handler == NULL || endpoint == NULL)
        return clo_fail_null("clo_rpc_service_fork", "handler or endpoint");
    if (pipe2(ends, O_CLOEXEC) != 0)
        return clo_fail(CLO_ERR_SYSTEM, "a service's pipe cannot be made: %s", strerror(errno));
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        close(ends[0]);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) /* it has ended before it could be followed */
            _exit(1);
        serve(ends[1], config, handler, argument);
    }
    int failed = errno;
    close(ends[1]);
    int is_heard = child > 0 && listen_to(ends[0], &r);
    close(ends[0]);
    if (child < 0)
        return clo_fail(CLO_ERR_SYSTEM, "a service's process cannot be made: %s", strerror(failed));
    if (!is_heard || r.status != CLO_OK) {
        kill(child, SIGKILL);
        (void)waitpid(child, NULL, 0);
        return is_heard ? clo_fail(r.status, "%s", r.text)
                        : clo_fail(CLO_ERR_SYSTEM, "a service's process has ended before it listened");
    }
    snprintf(endpoint, CLO_RPC_NAME_BYTES, "%.*s", CLO_RPC_NAME_BYTES - 1, r.text);
    if (process != NULL)
        *process = child;
    return CLO_OK;
}
