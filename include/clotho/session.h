/* session.h - a service (service.h) that speaks JSON Lines: a line with an event goes in, lines with choices come out.
 *
 * docs/FORMATS.md has the protocol, "clotho.service/1". A session owns the graphs that it is sent, one service, and the
 * workload of all jobs that have arrived; nothing of these is freed before the session is. Who carries the lines - a
 * pipe, a socket - is the caller's business. `clotho serve` is such a caller.
 *
 * Library: libclotho-io. */
#ifndef CLOTHO_SESSION_H
#define CLOTHO_SESSION_H

#include <clotho/service.h>
#include <clotho/workload.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a line that a session reads; a longer one is refused. */
#define CLO_SESSION_LINE_MAX (16 << 20)

typedef struct clo_session clo_session; /* opaque: owns a service, graphs, costs and a workload */

typedef struct clo_session_config {
    /* Set by CLO_SESSION_CONFIG_INIT. */
    size_t size;

    /* Of the service. Its log is borrowed, too. */
    clo_service_config service;

    /* The policy as states name it, with its argument; NULL: its name. Copied. */
    const char *policy;

    /* 0: events say when they happened. 1: the caller's clock says it (now_ns of clo_session_say); an event may name an
     * earlier time. */
    uint32_t is_real;

    /* Files that clo_session_save writes, also on the event "save"; NULL: none. Copied. The first needs a log. */
    const char *log_path, *workload_path;
} clo_session_config;

#define CLO_SESSION_CONFIG_INIT CLO_SIZED_INIT(clo_session_config)

/* Lines for the driver, owned by the session and valid until its next call. */
typedef struct clo_session_answer {
    /* Set by CLO_SESSION_ANSWER_INIT. */
    size_t size;

    /* [text_bytes], each line with its end; "": nothing is to be said. */
    const char *text;
    size_t text_bytes;

    /* 1: the driver has said that this was all (the event "end"). */
    uint32_t is_end;
} clo_session_answer;

#define CLO_SESSION_ANSWER_INIT CLO_SIZED_INIT(clo_session_answer)

/* Makes a session without jobs.
 *
 *   platform  the cluster; borrowed until clo_session_destroy.
 *   config    NULL: all defaults. Copied.
 *   out       the session, owned by the caller.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (also: a path for a log without a log), or what clo_service_create returns.
 * Threads: any; afterwards one at a time. Real time: no. O(executors + jobs_max). */
CLO_API CLO_NODISCARD clo_status clo_session_create(const clo_platform *platform, const clo_session_config *config,
                                                    clo_session **out);

/* Frees a session, its service, and all graphs that it was sent. Writes no file. NULL is allowed.
 * Threads: one. Real time: no. O(jobs + tasks). */
CLO_API void clo_session_destroy(clo_session *session);

/* Goes on where another session stopped: see clo_service_restart.
 *
 *   workload  the jobs of the other session, those that are in the log at least. The session owns it from now on; on a
 *             failure, too.
 *   log       borrowed during the call.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT, or what clo_cost_create and clo_service_restart return; after a failure the session
 * is only to be destroyed.
 * Threads: one. Real time: no. O(records + decisions + jobs log jobs). */
CLO_API CLO_NODISCARD clo_status clo_session_restart(clo_session *session, clo_workload *workload, const clo_log *log);

/* A driver connects: its lines are counted from 1 again, and the answer is the state of the session.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT or CLO_ERR_MEMORY (no answer).
 * Threads: one. Real time: no. O(jobs + executors). */
CLO_API CLO_NODISCARD clo_status clo_session_greet(clo_session *session, clo_session_answer *answer);

/* The driver says a line.
 *
 *   line    [bytes], without its end; anything at all.
 *   now_ns  time of the caller's clock since it made the session, with clo_session_config.is_real; else not used.
 *   answer  choices, ends and one "ok"; or one "error", with nothing changed; nothing for an empty line.
 *
 * Returns CLO_OK: the event was carried out; or why not (also CLO_ERR_FORMAT): the answer says it too.
 * Threads: one. Real time: no. O(bytes + what the event costs). */
CLO_API CLO_NODISCARD clo_status clo_session_say(clo_session *session, const char *line, size_t bytes, int64_t now_ns,
                                                 clo_session_answer *answer);

/* Time has passed on the caller's clock: the policy's timers go off. Of use with clo_session_config.is_real, when
 * clo_service_wake_ns has come; else nothing happens.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT or CLO_ERR_STATE.
 * Threads: one. Real time: no. O(decisions). */
CLO_API CLO_NODISCARD clo_status clo_session_advance(clo_session *session, int64_t now_ns, clo_session_answer *answer);

/* The driver is silent: all executors that are not lost are lost now (clo_service_lose). The answer holds the ends of
 * their jobs, for whoever connects next or is still there.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT or CLO_ERR_STATE.
 * Threads: one. Real time: no. O(executors + decisions). */
CLO_API CLO_NODISCARD clo_status clo_session_lose_all(clo_session *session, int64_t now_ns, clo_session_answer *answer);

/* Writes the files of the config, each whole or not at all. Before clo_service_end_log has written the last record of
 * the log, a service can go on from them, but a replay refuses them. A workload without jobs is not written.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_IO, CLO_ERR_UNSUPPORTED or CLO_ERR_MEMORY.
 * Threads: one. Real time: no. O(records + tasks). */
CLO_API CLO_NODISCARD clo_status clo_session_save(clo_session *session);

/* The service, owned by the session; NULL without a session.
 * Threads: one. Real time: yes, O(1). */
CLO_API clo_service *clo_session_service(clo_session *session);

#ifdef __cplusplus
}
#endif
#endif
