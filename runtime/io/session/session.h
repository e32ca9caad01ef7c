/* io/session/session.h - a session from inside: the jobs by their numbers, and the text of the answer. */
#ifndef CLO_IO_SESSION_SESSION_H
#define CLO_IO_SESSION_SESSION_H

#include "base/text.h"
#include "io/text/reader.h"
#include "workload/workload.h"

#include <clotho/session.h>

/* What a job brought. Jobs that name the graph of another one own nothing. */
typedef struct clo_session_job {
    const clo_graph *graph;
    const clo_cost *cost;
    clo_document *document; /* owned; NULL: the graph is another job's, or of `before` */
    clo_cost *own_cost;     /* owned; NULL: another job's */
} clo_session_job;

struct clo_session {
    const clo_platform *platform;
    clo_service *service;
    clo_log *log;
    bool is_real;
    char *policy, *log_path, *workload_path; /* owned; NULL: none */
    clo_reader base;                         /* how graphs are read */
    clo_session_job *jobs;                   /* [jobs_count] by number */
    size_t jobs_count, jobs_capacity;
    clo_workload *workload; /* a row for each job */
    clo_workload *before;   /* owned graphs of the session that this one goes on from; NULL: none */
    uint64_t line;          /* lines of this driver so far */
    clo_text text;          /* of the answer */
};

/* answer.c: lines of the answer. */
void clo_session_add_results(clo_session *session);
void clo_session_add_state(clo_session *session);
void clo_session_add_ok(clo_session *session, const char *key, uint64_t value); /* key NULL: no value */
void clo_session_add_error(clo_session *session);                               /* clo_last_error */

/* quick.c: the event "finish" in its plainest form, with a time. False: it is another line, or something is wrong. */
bool clo_session_read_finish(const char *line, size_t bytes, clo_service_report *report, int64_t *now_ns);

/* arrive.c: the event, whose keys are known. `number` receives the job's. */
clo_status clo_session_arrive(clo_session *session, const clo_json *json, int64_t now_ns, uint64_t *number);

/* Adds a job whose service has it already, or will have. On a failure nothing is changed, and the caller keeps what
 * `job` owns. */
clo_status clo_session_add_job(clo_session *session, const clo_session_job *job, const clo_workload_job *row);

/* Takes back the last one; what it owned is the caller's again. */
void clo_session_drop_job(clo_session *session);

#endif
