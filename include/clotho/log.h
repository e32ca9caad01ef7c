/* log.h - the log of a scheduler: what happened, and what was decided, in order.
 *
 * The inputs of a log determine the run: a scheduler that gets the same inputs makes the same decisions. A real run
 * (clo_runtime_log_start) and a simulated one (clo_stream_config.log) write the same log, and clo_stream_replay repeats
 * either. stream_check.h judges a log.
 *
 * A log has one writer. Between clo_log_append calls any thread may read what was written, if the caller synchronises
 * the two threads; the log has no atomics.
 *
 * Library: libclotho; libclotho-io has clo_log_save, clo_log_load, clo_log_is_log. */
#ifndef CLOTHO_LOG_H
#define CLOTHO_LOG_H

#include <clotho/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of records: X(NAME, value, "name in a file"). Values never change; new ones are only added. A log has records
 * of other kinds too, with which a scheduler repeats its run (docs/FORMATS.md); readers skip them.
 *
 * `job` is the number that the scheduler gave to the job: it is never given twice in a log. Fields that a kind does not
 * name are CLO_NONE (job: CLO_LOG_NO_JOB; value: 0).
 *
 * Inputs (what the scheduler receives):
 *   BEGIN     the first record, and only that. now: the origin of the log's times.
 *   ARRIVE    job. value: in a real run its tag (clo_job_config.tag); in a simulated run its place among the arrivals
 *             of jobs that fit the platform (jobs that are refused for lack of room have a place, too). The first
 *             CLO_LOG_PIECE of its stages without predecessors are ready.
 *   JOB       job: describes the job of the ARRIVE record before it. stage: its weight. instance: its limit; CLO_NONE:
 *             none. executor: its group. value: its deadline; CLO_TIME_NEVER: none.
 *   BAND      job, after its JOB. value: its band. Left out for band 0.
 *   FINISH    job, stage, instance, executor. now: when the body returned. value: when the body began, its inputs in
 *             place. Under a measured clock `now` may be earlier than in the record before: two bodies end at about the
 *             same time, and the scheduler hears of them one after the other; or the job is stopped, and its CANCEL
 *             stands before the FINISH that made the scheduler see it. No other record goes back in time.
 *   TIMER     a wake-up that was asked for with WAKE. value: the time that was asked for.
 *   CANCEL    job: part of it was left out, or a body has failed. Nothing of the job is started from here on. value: 0:
 *             left out; 1: a body has failed; whichever came first. So its DONE is 1 or 2. After the job's DONE, CANCEL
 *             has no effect.
 *   SWAP      value: index of the policy in clo_log_header.policies.
 *   CAPACITY  executor: index of a machine. A job outside this scheduler gave capacity back.
 *   MOVED     job, executor: the executor has come to the job, see MOVE. value: when it set out.
 *   ARM       job, stage: a branch, whose FINISH is the next input. value: the arm that it chose. Tasks that are
 *             skipped because of it start and finish like others, and take no time.
 *   END       the last record, and only that. value: jobs that have arrived and are not done.
 *
 * Outputs, what the scheduler decides:
 *   START     job, stage, instance, executor. The executor is free and runs it now. value: CLO_LOG_REPLICA,
 *             CLO_LOG_SKIPPED or 0.
 *   COMMIT    as START, but the executor is busy: it runs this when it has ended what it was given before. No START
 *             follows.
 *   DROP      fields as COMMIT: the job is cancelled, and what was committed is not run.
 *   LIMIT     job. value: how many executions of the job may run at once from now on; 0: no limit.
 *   REFUSED   the policy's choice was impossible. The other fields hold the choice as it came; they need not be valid.
 *   DONE      job. It has ended, and nothing of it runs. value: 0 all finished, 1 cancelled or aborted, 2 a body
 *             failed, as clo_job_wait says for that run. 0 if no CANCEL came before it.
 *   WAKE      value: when the policy wants to be asked again.
 *   SUM       value: a hash of all inputs so far, in order, and of the names of the policies. It comes after about
 *             every 64th input and the decisions that follow that input, and before END.
 *   MOVE      job, executor: the executor is bound to the job. value: 0: from now on; 1: from its MOVED on, and it is
 *             not free until then.
 *   LEAVE     job, executor: the executor keeps nothing of the stage that it ran last.
 *   PREEMPT   job, stage, instance, executor: what runs there is stopped, and goes on with its next START, there or on
 *             another executor. value: when this stretch of it began. Plans of whole workloads have it (synch.h);
 *             schedulers stop nothing that runs. */
#define CLO_LOG_KINDS(X)       \
    X(BEGIN, 0, "begin")       \
    X(ARRIVE, 1, "arrive")     \
    X(FINISH, 2, "finish")     \
    X(TIMER, 3, "timer")       \
    X(CANCEL, 4, "cancel")     \
    X(SWAP, 5, "swap")         \
    X(CAPACITY, 6, "capacity") \
    X(END, 7, "end")           \
    X(JOB, 8, "job")           \
    X(BAND, 9, "band")         \
    X(MOVED, 12, "moved")      \
    X(ARM, 15, "arm")          \
    X(START, 16, "start")      \
    X(COMMIT, 17, "commit")    \
    X(LIMIT, 18, "limit")      \
    X(REFUSED, 19, "refused")  \
    X(DONE, 20, "done")        \
    X(WAKE, 21, "wake")        \
    X(SUM, 22, "sum")          \
    X(DROP, 23, "drop")        \
    X(MOVE, 25, "move")        \
    X(LEAVE, 26, "leave")      \
    X(PREEMPT, 27, "preempt")

enum {
#define X(name, value, text) CLO_LOG_##name = value,
    CLO_LOG_KINDS(X)
#undef X
    /* Kinds from here on are outputs. */
    CLO_LOG_OUTPUTS = 16
};

/* "No job". */
#define CLO_LOG_NO_JOB UINT64_MAX

/* Most stages that one ARRIVE makes ready, and most jobs or stages that one CANCEL or SWAP handles; the others
 * follow. */
#define CLO_LOG_PIECE 256

/* clo_log_record.value of START, COMMIT and DROP. */
#define CLO_LOG_REPLICA 1

/* The same of START: a skipped task (branch.h). It ends at once. */
#define CLO_LOG_SKIPPED 2

/* clo_log_record.value of DONE. */
enum { CLO_LOG_DONE_OK = 0, CLO_LOG_DONE_CANCELLED = 1, CLO_LOG_DONE_FAILED = 2 };

/* One record: 40 bytes, without padding. Without a size field: records come in arrays. */
typedef struct clo_log_record {
    /* When. Never falls from one record to the next, but see FINISH. */
    int64_t now_ns;

    /* Number of the job. */
    uint64_t job;

    /* CLO_LOG_... */
    uint32_t what;

    /* Task of the job's graph. */
    uint32_t stage;

    /* Of the task. */
    uint32_t instance;

    /* Index into the platform. */
    uint32_t executor;

    /* By kind, see above. */
    int64_t value;
} clo_log_record;

/* A policy that the log names. Without a size field: policies come in an array. */
typedef struct clo_log_policy {
    /* As in clo_policy. */
    const char *name;

    /* As text; NULL: none. CLO_LOG_ARGUMENT_UNKNOWN: there is one, but its text is unknown. */
    const char *argument;
} clo_log_policy;

#define CLO_LOG_ARGUMENT_UNKNOWN "?"

/* Most policies that a log may name. */
#define CLO_LOG_POLICIES_MAX 256

/* What kind of run wrote a log. */
enum { CLO_LOG_RUN_UNKNOWN = 0, CLO_LOG_RUN_SIMULATED = 1, CLO_LOG_RUN_REAL = 2 };

/* Describes the run. Zero is "unknown" everywhere. Texts are copied by clo_log_create. */
typedef struct clo_log_header {
    /* Set by CLO_LOG_HEADER_INIT. */
    size_t size;

    /* SPEC as in clo_platform_open, and a hash of that platform. */
    const char *platform;
    uint64_t platform_hash;

    /* Name or path of the workload, and a hash of its contents. */
    const char *workload;
    uint64_t workload_hash;

    /* Seed of the whole run, and of the arrivals. */
    uint64_t seed;
    uint64_t arrivals_seed;

    /* How arrivals were drawn from the workload, as the command takes it: "batch", "poisson:25", "trace". NULL: none
     * were drawn; the jobs are those of the workload, numbered from 0. */
    const char *arrivals;

    /* If arrivals were drawn: how many jobs, and whether jobs were drawn at random too (1). */
    uint32_t jobs, shuffled;

    /* clo_clock of the run. CLO_CLOCK_VIRTUAL for a simulated one. */
    uint32_t clock;

    /* Of the platform. */
    uint32_t executors;

    /* [policies_count] in order of SWAP's values; the run begins with the first. */
    const clo_log_policy *policies;
    uint32_t policies_count;

    /* CLO_LOG_RUN_... The writer of the log (runtime or simulation) sets this, and the two below. */
    uint32_t run;

    /* Jobs that could live at once, and steps of a decision (0: no bound). */
    uint32_t jobs_max, steps_max;

    /* Times and bytes of the workload were multiplied by this; 0: they were not. */
    double scale;

    /* Name of the one graph that was taken from a file with many; NULL: all. */
    const char *instance;

    /* The environment that gave the times of a simulated run, as clo_environment_open takes it: "decima",
     * "decima:faithful", "decima:moving=500ms". NULL: the costs gave them. */
    const char *environment;
} clo_log_header;

#define CLO_LOG_HEADER_INIT CLO_SIZED_INIT(clo_log_header)

typedef struct clo_log clo_log; /* opaque: owns memory */

/* Makes an empty log.
 *
 *   header    copied; NULL: all unknown.
 *   capacity  records that it can hold. All of its memory is taken and touched here: appending never faults a page.
 *             0: the log grows as it is written (clo_log_append may then allocate).
 *   out       the log, owned by the caller.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (unknown header fields, a policy without a name, a clock that does not exist),
 * CLO_ERR_LIMIT (more than CLO_LOG_POLICIES_MAX policies) or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(capacity). */
CLO_API CLO_NODISCARD clo_status clo_log_create(const clo_log_header *header, size_t capacity, clo_log **out);

/* Frees a log. NULL is allowed.
 * Threads: one. Real time: no. O(1). */
CLO_API void clo_log_destroy(clo_log *log);

/* Appends a record. A full log, or a growing one without memory, counts the record as dropped, and every later one too:
 * what it holds is always the beginning of the run.
 *
 *   record  copied as it is; nothing of it is checked.
 *
 * Returns true if it was kept; false without a log.
 * Threads: one. Real time: yes, O(1); of a growing log no, amortised O(1). */
CLO_API bool clo_log_append(clo_log *log, const clo_log_record *record);

/* Reading a log. All calls up to clo_log_kind_name:
 * Threads: one, or any once no thread writes. Real time: yes, O(1), where nothing else is said. */

/* The records, owned by the log; valid until the next append. NULL without a log.
 *   count  receives their number; may be NULL. */
CLO_API const clo_log_record *clo_log_records(const clo_log *log, size_t *count);

/* Records that did not fit. A log that dropped any cannot be replayed or judged: clo_stream_check refuses it. 0 without
 * a log. */
CLO_API uint64_t clo_log_dropped(const clo_log *log);

/* The header, owned by the log; NULL without a log. */
CLO_API const clo_log_header *clo_log_about(const clo_log *log);

/* Name of a kind: "start" ...; "?" for an unknown one. Static. */
CLO_API const char *clo_log_kind_name(uint32_t what);

/* No difference. */
#define CLO_LOG_EQUAL SIZE_MAX

/* Compares the records of two logs, not their headers.
 *
 *   text   receives what differs: both records, or that one log ends first; "" if nothing differs. May be NULL.
 *   bytes  size of `text`; 400 are always enough.
 *
 * Returns the index of the first record that differs, or CLO_LOG_EQUAL. If one log is the beginning of the other, that
 * is the length of the shorter one. NULL counts as an empty log. Dropped records are not compared: ask clo_log_dropped
 * first.
 * Threads: as reading. Real time: no. O(records). */
CLO_API size_t clo_log_first_difference(const clo_log *a, const clo_log *b, char *text, size_t bytes);

/* Writes a log file ("clotho.log/1", JSON Lines: docs/FORMATS.md), whole or not at all. A log with dropped records is
 * written too, and the file says so.
 *
 *   path  "-": standard output.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (also: a record of an unknown kind), CLO_ERR_IO, CLO_ERR_MEMORY, or
 * CLO_ERR_UNSUPPORTED in a library built without files.
 * Threads: as reading. Real time: no. O(records). */
CLO_API CLO_NODISCARD clo_status clo_log_save(const clo_log *log, const char *path);

/* Reads a log file. Strict: every line must be as clo_log_save writes it, except for blanks, and the line at the end
 * must agree with the records. Not promised: that the records make sense. See clo_stream_check.
 *
 *   path  "-": standard input; at most 4 GiB.
 *   out   the log, owned by the caller. It grows as one that was created with a capacity of 0.
 *
 * Returns CLO_OK, or with one line in clo_last_error ("FILE:LINE: what is wrong; what to do")
 *   CLO_ERR_ARGUMENT
 *   CLO_ERR_IO           the file cannot be read
 *   CLO_ERR_FORMAT       also: the file was cut or changed
 *   CLO_ERR_LIMIT        the file is too long
 *   CLO_ERR_MEMORY
 *   CLO_ERR_UNSUPPORTED  a library built without files
 *
 * Threads: any. Real time: no. O(bytes of the file). */
CLO_API CLO_NODISCARD clo_status clo_log_load(const char *path, clo_log **out);

/* True if a text begins like a log file: its first line names the format "clotho.log/1". Nothing more is judged.
 * Threads: any. Real time: yes, O(length of the first line). */
CLO_API bool clo_log_is_log(const char *text, size_t text_bytes);

#ifdef __cplusplus
}
#endif
#endif
