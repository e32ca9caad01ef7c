/* stream_check.h - the judge of a log: was this a valid run of these jobs on this platform?
 *
 * It shares no code with the scheduler, the policies, the drivers and the planners. It reads the graph, the times and
 * the platform through the public calls only, so that an error in one of them is not repeated here.
 *
 * The body of an execution lies in [FINISH.value, FINISH.now). Two bodies never overlap on one executor. A body begins
 * no earlier than the decision that started it, and not before each input has come from the nearest execution of its
 * producer (LACHESIS eq. 9). From its START (a committed execution: from the beginning of its body) to its finish an
 * execution holds its demands and counts against its job's limit. The demands together never exceed a machine's
 * capacities. What only the scheduler can know at the time of a decision (bands, limits, free executors) is judged in
 * the order of the records.
 *
 * KEEP records say which stage waits for capacity of a machine, and from when on its demand is reserved. At most
 * overtakes_max starts that demand capacity there pass it; after that, starts of its own and of lower bands leave its
 * demand untouched. If nothing but this stream can have passed it (virtual time, nothing committed that demands
 * capacity), its demand is not reserved sooner either. Reserved capacity is never capacity that a higher band could
 * have used.
 *
 * Library: libclotho-decide. */
#ifndef CLOTHO_STREAM_CHECK_H
#define CLOTHO_STREAM_CHECK_H

#include <clotho/cost.h>
#include <clotho/log.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What can be wrong: X(NAME, "name", "what it means"). */
#define CLO_STREAM_FAULTS(X)                                                                             \
    X(FRAME, "frame", "BEGIN is not the first record, END not the last, or there is another")            \
    X(TIME_ORDER, "time-order", "a record goes back in time")                                            \
    X(UNKNOWN_KIND, "unknown-kind", "no such kind of record")                                            \
    X(UNKNOWN_JOB, "unknown-job", "the job is not in the workload")                                      \
    X(UNKNOWN_STAGE, "unknown-stage", "the job's graph has no such task")                                \
    X(UNKNOWN_INSTANCE, "unknown-instance", "the task has no such instance")                             \
    X(UNKNOWN_EXECUTOR, "unknown-executor", "the platform has no such executor or machine")              \
    X(UNKNOWN_POLICY, "unknown-policy", "the log's header has no such policy")                           \
    X(BAD_VALUE, "bad-value", "the value is not one that this kind of record can have")                  \
    X(ARRIVED_TWICE, "arrived-twice", "the job arrives a second time")                                   \
    X(ARRIVED_EARLY, "arrived-early", "the job arrives before the workload says so")                     \
    X(NOT_ARRIVED, "not-arrived", "something of the job happens before it arrives")                      \
    X(AFTER_CANCEL, "after-cancel", "started after the job was cancelled")                               \
    X(AFTER_DONE, "after-done", "something of the job happens after it is done")                         \
    X(DONE_EARLY, "done-early", "the job is done while something of it runs")                            \
    X(DONE_TWICE, "done-twice", "the job is done a second time")                                         \
    X(DONE_MISSING, "done-missing", "jobs are not done, and END does not count them")                    \
    X(NO_ORIGINAL, "no-original", "the job is done, but this instance was never started as an original") \
    X(SECOND_ORIGINAL, "second-original", "an instance is started as an original a second time")         \
    X(NOT_DUPLICABLE, "not-duplicable", "a replica of a task that is not duplicable")                    \
    X(TWICE_ON_EXECUTOR, "twice-on-executor", "one executor runs an instance twice")                     \
    X(START_UNFINISHED, "start-unfinished", "it was started and never finishes")                         \
    X(FINISH_UNSTARTED, "finish-unstarted", "it finishes and was not started")                           \
    X(BODY_EARLY, "body-early", "the body begins before it was decided, or ends before it begins")       \
    X(PLACEMENT, "placement", "the task cannot run on this executor")                                    \
    X(DURATION, "duration", "the body does not take the time of the cost model")                         \
    X(PRECEDENCE, "precedence", "it begins before a predecessor has finished")                           \
    X(TRANSFER, "transfer", "it begins before its input has come from the executor of a predecessor")    \
    X(BUSY, "busy", "the executor has not ended what it was given")                                      \
    X(OVERLAP, "overlap", "two bodies run on one executor at one time")                                  \
    X(CAPACITY, "capacity", "more is held on the machine than its capacity")                             \
    X(LIMIT, "limit", "more executions of the job run than its limit allows")                            \
    X(BAND, "band", "an instance of a higher band was ready and could have run there")                   \
    X(STARVED, "starved", "a start takes what is kept for the stage that waits, or passes it too often") \
    X(ARM, "arm", "the branch has no such arm, chose before, or did not choose")                         \
    X(SKIPPED, "skipped", "it was skipped, or ran, and what the branches chose says otherwise")          \
    X(WRONG_END, "wrong-end", "the job ends otherwise than its CANCEL, or the run, says")                \
    X(WRONG_JOB, "wrong-job", "JOB or BAND says otherwise than the workload, or is missing")             \
    X(WRONG_SUM, "wrong-sum", "the inputs so far, or the policies' names, have another sum")             \
    X(WRONG_TIMER, "wrong-timer", "a wake-up that was not asked for, or none where one was")             \
    X(WRONG_ENTER, "wrong-enter", "the job has not so many tasks left that enter")                       \
    X(HEADER, "header", "the header contradicts itself or the records")                                  \
    X(PREEMPTED, "preempted", "its stretches overlap or are not its time, or a policy stopped what ran")

enum {
#define X(name, text, meaning) CLO_STREAM_##name,
    CLO_STREAM_FAULTS(X)
#undef X
        CLO_STREAM_FAULTS_COUNT
};

/* One job as the workload has it. Without a size field: jobs come in an array. */
typedef struct clo_stream_job {
    /* Its number in the log. */
    uint64_t job;

    /* Its graph on the platform. Any number of jobs may share one. */
    const clo_cost *cost;

    /* The job arrives no earlier than this, in the log's time. */
    int64_t arrival_ns;

    /* How long after its arrival all of it should be finished; 0: no deadline. Only counted. */
    int64_t deadline_ns;

    /* For the weighted mean of completion times; >= 0. */
    double weight;

    /* Executions of the job that may run at once, up to the first LIMIT record; 0: any number. */
    uint32_t limit;

    /* 0 goes first. */
    uint32_t band;
} clo_stream_job;

/* How a run has ended: unknown; CLO_OK; CLO_ERR_CANCELLED or CLO_ERR_ABORTED; CLO_ERR_TASK. */
enum { CLO_STREAM_END_UNKNOWN = 0, CLO_STREAM_END_OK = 1, CLO_STREAM_END_CUT = 2, CLO_STREAM_END_FAILED = 3 };

/* Length of the text of a fault, with its 0. */
#define CLO_STREAM_TEXT_BYTES 320

/* One fault. Without a size field: faults come in an array. */
typedef struct clo_stream_fault {
    /* Index of the record that shows it; SIZE_MAX: none does. */
    size_t record;

    /* CLO_STREAM_... */
    uint32_t kind;

    /* One line: the job, the task by name, the executor by name, the times. */
    char text[CLO_STREAM_TEXT_BYTES];
} clo_stream_fault;

typedef struct clo_stream_case {
    /* Set by CLO_STREAM_CASE_INIT. */
    size_t size;

    /* All costs are of this platform. */
    const clo_platform *platform;

    /* [jobs_count] in any order. */
    const clo_stream_job *jobs;
    size_t jobs_count;

    /* [faults_max] receives the first faults of each pass, in the order in which they are found; may be NULL. */
    clo_stream_fault *faults;
    size_t faults_max;

    /* [backlog_count] receives the number of jobs that have arrived and are not done, at equal distances of time from
     * BEGIN to END; may be NULL. */
    uint32_t *backlog;
    size_t backlog_count;

    /* Faults that are not looked for: bit k for kind k. */
    uint64_t ignore;

    /* How many starts may pass a stage that waits for capacity; 0: 64. */
    uint32_t overtakes_max;

    /* [jobs_count] in the order of `jobs`: how each run has ended by clo_job_wait, CLO_STREAM_END_...; NULL: unknown.
     * For each job that is done in the log, the log must say the same. */
    const uint8_t *ends;

    /* 1: `jobs` says all of each job, so JOB and BAND records must say the same (wrong-job): weight, limit, deadline and
     * band; and the header is that of the run: its policies (wrong-sum), clock, live jobs (header). 0: jobs have what the
     * caller wants counted and judged, and the header what the caller likes. */
    uint32_t strict;
} clo_stream_case;

#define CLO_STREAM_CASE_INIT CLO_SIZED_INIT(clo_stream_case)

typedef struct clo_stream_report {
    /* Set by CLO_STREAM_REPORT_INIT. */
    size_t size;

    /* Number of all faults, and of those that are in clo_stream_case.faults. */
    uint64_t faults;
    size_t faults_told;

    /* Faults by kind. */
    uint64_t by_kind[64];

    /* Jobs that arrived; how they ended; those of the workload that never arrived. */
    uint64_t arrived, finished, cancelled, failed, absent;

    /* Executions that finished, and how many of them are replicas. */
    uint64_t executions, replicas;

    /* START and COMMIT records, REFUSED records. */
    uint64_t decisions, refused;

    /* Jobs with a deadline that were not finished by then. */
    uint64_t missed_deadlines;

    /* From the first arrival to the last finish. */
    int64_t makespan_ns;

    /* Time from arrival to completion, of the jobs that finished: the mean, the 95th percentile (nearest rank), and the
     * mean by weight (the sum of weight * time over the sum of weights). */
    double mean_completion_ns;
    int64_t p95_completion_ns;
    double weighted_completion_ns;

    /* No schedule of the finished jobs has a smaller mean completion time. The larger of two bounds: the mean critical
     * path of fastest times; and shortest remaining time first, preemptive, on one machine that pools all executors
     * (or all of one resource). */
    double mean_completion_bound_ns;

    /* Time that all executors spent in bodies, and its share of makespan * executors. */
    int64_t busy_ns;
    double utilization;
} clo_stream_report;

#define CLO_STREAM_REPORT_INIT CLO_SIZED_INIT(clo_stream_report)

/* Judges a log.
 *
 * Under CLO_CLOCK_VIRTUAL bodies must take the time of the cost, and inputs the time of the transfer; under
 * CLO_CLOCK_PADDED only the latter; under CLO_CLOCK_REAL neither. In a log with an environment, which draws the times,
 * bodies may take any time: `clotho simulate --replay` draws them again and compares.
 *
 *   stream  what the run should have been; borrowed during the call.
 *   log     borrowed during the call.
 *   report  set report->size with CLO_STREAM_REPORT_INIT. Also filled for CLO_ERR_INVALID. May be NULL.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_INVALID   there are faults; clo_last_error holds the first
 *   CLO_ERR_STATE     the log dropped records: it cannot be judged
 *   CLO_ERR_ARGUMENT  also: a cost of another platform, two jobs of one number, the log is of a platform with another
 *                     number of executors, a weight that is negative or not a number
 *   CLO_ERR_LIMIT     more than 2^32 - 2 records
 *   CLO_ERR_MEMORY
 *
 * Not promised: that the scheduler did well, or that the report counts anything sensible if there are faults.
 * Threads: any. Real time: no. O(n log n) in records and tasks; the cost of an edge grows with the number of executions
 * of its two stages, up to executors^2. */
CLO_API CLO_NODISCARD clo_status clo_stream_check(const clo_stream_case *stream, const clo_log *log,
                                                  clo_stream_report *report);

/* Name of a kind of fault ("overlap"), and what it means; "?" for an unknown one. Static.
 * Threads: any. Real time: yes, O(1). */
CLO_API const char *clo_stream_fault_name(uint32_t kind);
CLO_API const char *clo_stream_fault_meaning(uint32_t kind);

#ifdef __cplusplus
}
#endif
#endif
