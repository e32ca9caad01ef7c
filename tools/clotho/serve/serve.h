/* serve.h - `clotho serve`: what its files share. cmd.c opens a session, loop.c carries lines between it and one driver
 * at a time, socket.c is where drivers come in. */
#ifndef CLO_TOOLS_CLOTHO_SERVE_SERVE_H
#define CLO_TOOLS_CLOTHO_SERVE_SERVE_H

#include "clotho/common/input.h"
#include "clotho/common/options.h"
#include "clotho/common/report.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/types.h>

typedef struct serve_options {
    const char *spec, *policy, *socket, *clock, *log, *workload, *restart;
    uint32_t live, steps_max;
    uint64_t seed;
    int64_t heartbeat_ns; /* 0: a driver may be silent */
    option_list users;    /* who may connect beside ourselves, as texts */
} serve_options;

/* A socket that listens at a path. */
typedef struct serve_socket {
    const char *path;
    int file; /* -1: it is not open */
    dev_t device;
    ino_t inode; /* of the path: only our own is removed */
    uid_t users[OPTION_LIST_MAX];
    uint32_t users_count; /* who may connect beside ourselves */
} serve_socket;

/* Listens; in place of a socket that was left behind, but never of one where somebody listens. With users beside
 * ourselves everybody may open the socket, and only these are let in. Returns EXIT_GOOD, or an exit code after an error
 * line. */
int serve_socket_open(serve_socket *s, const serve_options *options);

/* The next one who wants to be the driver: a file, or -1: nobody, or somebody of another user, who was told so. */
int serve_socket_accept(const serve_socket *s);

/* Says one error object and hangs up. */
void serve_socket_refuse(int file, const char *why);
void serve_socket_close(serve_socket *s);

/* Carries lines until the driver says "end", standard input ends (`listening` NULL), or `stopped` is set by a signal,
 * which is blocked but while the loop waits. Returns EXIT_GOOD, or an exit code after an error line. */
int serve_loop(clo_session *session, const serve_options *options, const serve_socket *listening,
               const atomic_bool *stopped, const sigset_t *waiting);

#endif
