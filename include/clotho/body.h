/* body.h - ready-made task bodies, for graphs that come from files and generators.
 *
 * Each body writes its whole output buffer, and the handles (handle.h) that its task may write. The bytes depend only
 * on the task, the instance, the inputs and the handles that the task reads, so replicas and every way to dispatch give
 * the same bytes. clo_body_command does none of this. Called with NULL, a body returns a failure.
 *
 * What holds for bodies of your own, also for those that throw, exit or fork, stands at clo_task_fn (graph.h).
 *
 * Threads: any; several executions of one body may run at once.
 *
 * Library: libclotho-decide. */
#ifndef CLOTHO_BODY_H
#define CLOTHO_BODY_H

#include <clotho/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes (an integer hash chain) until call->expected_ns have passed. clo_task.argument is not used. Under the
 * virtual clock it only writes its output.
 * Real time: yes; takes call->expected_ns and O(inputs + output_bytes). */
CLO_API int clo_body_spin(const clo_call *call);

/* A process to run: the argument of clo_body_command. Plain values; the caller keeps it while jobs may run. */
typedef struct clo_command {
    /* NULL-terminated; argv[0] is looked up in PATH. Owned by the caller. */
    char *const *argv;

    /* Directory to run in; NULL: the current one. */
    const char *directory;

    /* Receives what the process prints (stdout and stderr), 0-terminated; NULL: dropped. */
    char *output;

    /* Size of `output`. What does not fit is dropped. */
    size_t output_bytes;

    /* Written by the body; set it to -1 before. */
    int exit_status;
} clo_command;

/* Runs a process and waits for it. clo_task.argument is a clo_command; the task has one instance and is not duplicable.
 * Returns 0, the exit status, 128 + the number of the signal that ended it, 127 if it cannot be started, or 125 if its
 * exit status is lost. That happens if other code of this process waits for any child, or if the process ignores
 * SIGCHLD: the kernel (before Linux 6.15) then forgets the status.
 * Real time: no. Blocks its worker until the process ends. */
CLO_API int clo_body_command(const clo_call *call);

/* What a command runs, for measured times (profile.h): its program, and all its words as the footprint.
 *
 *   codelet  receives it; the name is that of command->argv.
 *
 * Returns false, and *codelet is untouched: there is no program, or its name has more than 255 bytes.
 * Threads: any. Real time: yes, O(length of the words). */
CLO_API bool clo_body_command_codelet(const clo_command *command, clo_codelet *codelet);

#ifdef __cplusplus
}
#endif
#endif
