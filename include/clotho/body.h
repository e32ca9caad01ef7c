/* body.h - ready-made task bodies, for graphs that come from files and generators.
 *
 * All are thread-safe. They write their whole output buffer with bytes that
 * depend only on the task, the instance and the inputs, so replicas and every
 * dispatch mode give the same bytes. Without a call (NULL) they return a failure. */
#ifndef CLOTHO_BODY_H
#define CLOTHO_BODY_H

#include <clotho/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes (an integer hash chain) until call->expected_ns have passed. argument: unused.
 * Under the virtual clock it only writes its output. */
CLO_API int clo_body_spin(const clo_call *call);

/* Streams over its inputs and its output, then over a private block, until
 * call->expected_ns have passed. argument: unused. */
CLO_API int clo_body_memory(const clo_call *call);

/* Runs a process and waits for it. argument: a clo_command, of a task with one instance that is not
 * duplicable. Returns 0, the exit status, 128 + signal number, 127 if it cannot be started, or 125 if its exit status
 * is lost: the process waits for any child elsewhere, or ignores SIGCHLD, and the kernel (before Linux 6.15) forgets
 * it. */
typedef struct clo_command {
    char *const *argv;     /* NULL-terminated; argv[0] is looked up in PATH; owned by the caller */
    const char *directory; /* to run in; NULL: the current one                               */
    char *output;          /* where stdout and stderr are kept, 0-terminated; NULL: dropped   */
    size_t output_bytes;   /* size of `output`; what does not fit is dropped                 */
    int exit_status;       /* set by the body; -1 before                                     */
} clo_command;
CLO_API int clo_body_command(const clo_call *call);

/* "spin", "memory", "command" for the bodies above, NULL for any other. */
CLO_API const char *clo_body_name(clo_task_fn body);

#ifdef __cplusplus
}
#endif
#endif
