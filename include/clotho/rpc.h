/* rpc.h - workflows of remote calls, and the services that they call.
 *
 * A workflow is a graph of calls. A call names a service and one of its methods; its body is bytes of its own, then the
 * answers of its predecessors, one behind the other in the order in which they were named. The library runs the graph
 * as a Clotho job: one thread makes all calls, workers do not wait for them.
 *
 * What holds for each call (runtime/rpc/README.md has all rules with their figures): a deadline travels with it as time
 * left. A pure call without an answer after the 95th percentile of its service gets a hedge, a second attempt at
 * another replica. Errors that may pass are retried after a random backoff, within a budget. A call with an effect
 * stays at one replica, which applies it once for each key. With a journal a run that was killed goes on where it was.
 *
 * Services of ours speak frames over TCP with bodies in msgpack; other services are called over HTTP (POST to the
 * endpoint's URL, with "/" and the method behind it where the call has one). gRPC is not supported: it needs code that
 * is generated for each service; put a proxy before such a service.
 *
 * For trusted networks only: nothing is encrypted, and nobody is asked who he is.
 *
 * Library: libclotho-rpc. */
#ifndef CLOTHO_RPC_H
#define CLOTHO_RPC_H

#include <clotho/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Most attempts of a call, services, replicas of one, services of a route; most bytes of a name, a method or an
 * endpoint with its 0; most bytes of an answer, and of a body with all answers that it consists of. */
#define CLO_RPC_ATTEMPTS_MAX 5u
#define CLO_RPC_SERVICES_MAX 16u
#define CLO_RPC_REPLICAS_MAX 64u
#define CLO_RPC_HOPS_MAX 8u
#define CLO_RPC_NAME_BYTES 128u
#define CLO_RPC_BYTES_MAX 16773120u

/* What an interrupted call means. */
typedef enum clo_rpc_effect {
    /* Nothing happened that another call does not repeat: it may be hedged. */
    CLO_RPC_PURE = 0,

    /* It has an effect, which the service applies once for each key. */
    CLO_RPC_KEYED = 1,

    /* It has an effect each time, and the service knows no keys: once it has left it is not sent again. A run that is
     * resumed stops and names it. */
    CLO_RPC_ONCE = 2
} clo_rpc_effect;

/* A request, as a handler sees it. Valid during the call of the handler. */
typedef struct clo_rpc_request {
    /* "": none was named. */
    const char *method;
    const void *body;
    size_t body_bytes;

    /* Which call of which run this is, and the number of the attempt, from 1. */
    uint64_t run;
    uint32_t task, instance, attempt;

    /* Of CLO_RPC_KEYED: the same for all attempts of a call, and for no other call; else it means nothing. */
    uint64_t key;
    clo_rpc_effect effect;

    /* Until the deadline; INT64_MAX: there is none. What the caller expects of this call alone. */
    int64_t left_ns, expected_ns;

    /* For CLO_RPC_KEYED, where the service has a table of keys and the handler is short: the `sqlite3 *` of that table,
     * in a transaction. What the handler writes there becomes durable with the key and the answer, or not at all, so it
     * happens once. Do not commit. Else NULL. */
    void *database;
} clo_rpc_request;

/* What a handler fills. */
typedef struct clo_rpc_answer {
    /* Room for `room` bytes; it holds zeros. */
    void *bytes;
    size_t room;

    /* How long the answer is: 0 where the handler says nothing. More than `room`: it is refused, and the line names
     * both. */
    size_t count;

    /* Where the handler fails: why, in one line. */
    char text[160];
} clo_rpc_answer;

/* Answers one request.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  the request is wrong: no other attempt can help
 *   CLO_ERR_LIMIT     the service has too much to do: come again later
 *   CLO_ERR_TIMEOUT   no time is left
 *   anything else     it may go better another time, or at another replica
 * Threads: see clo_rpc_service_add, and clo_rpc_call.here. */
typedef clo_status (*clo_rpc_handler)(void *argument, const clo_rpc_request *request, clo_rpc_answer *answer);

/* ---- services ---- */

typedef struct clo_rpc_service clo_rpc_service; /* opaque: a listening socket, connections, a table of keys */

/* For tests and demonstrations: what goes wrong with a request. */
typedef struct clo_rpc_fault {
    /* The handler is called so much later; the request takes a unit meanwhile. */
    int64_t delay_ns;

    /* 1: the answer is sent twice. */
    uint32_t twice;
} clo_rpc_fault;

typedef struct clo_rpc_service_config {
    size_t size;

    /* "ADDRESS:PORT" or "[ADDRESS]:PORT", in numbers. Port 0: any that is free. NULL: "127.0.0.1:0". */
    const char *listen;

    /* Requests that are worked on at once (0: 8), and that wait for it. More are turned away, the one with the least
     * slack first (0: 64; UINT32_MAX: none may wait). */
    uint32_t slots, queue;

    /* File of the table of keys and effects (SQLite), which outlives a kill; NULL: keys are in memory. is_durable: it
     * outlives a loss of power, too. The last 65536 keys are kept. */
    const char *keys;
    uint32_t is_durable;

    /* Patterns of fnmatch: endpoints that the route of a request may pass on to; NULL: none. [allowed_count]; copied. */
    const char *const *allowed;
    uint32_t allowed_count;

    /* How often the next service of a route is asked for a sign of life; 0: 2 s; negative: never. */
    int64_t beat_ns;

    /* What all connections may hold that is not sent yet, together; 0: 256 MiB. Beyond it the one that holds most is
     * closed. */
    size_t unsent_bytes;

    /* Called on the thread of clo_rpc_service_run, with `argument`; NULL: not called. `log`: one line an event;
     * `applied`: an effect was applied, and is durable where there is a table; `fault`: what goes wrong with a request
     * (it holds zeros). */
    void (*log)(void *argument, const char *line);
    void (*applied)(void *argument, const clo_rpc_request *request);
    void (*fault)(void *argument, const clo_rpc_request *request, clo_rpc_fault *fault);
    void *argument;
} clo_rpc_service_config;

#define CLO_RPC_SERVICE_CONFIG_INIT CLO_SIZED_INIT(clo_rpc_service_config)

/* Makes a service that listens, and answers once clo_rpc_service_run is called.
 *
 *   config  copied; NULL: all defaults.
 *   out     owned by the caller.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  NULL for out; an address that is none; more than 64 patterns; a newer config
 *   CLO_ERR_SYSTEM    the address is in use or not of this machine; no descriptors
 *   CLO_ERR_IO        the table of keys cannot be used: it is damaged, of another version, or another process has it
 *   CLO_ERR_MEMORY
 * Threads: any. Real time: no. */
CLO_API CLO_NODISCARD clo_status clo_rpc_service_create(const clo_rpc_service_config *config, clo_rpc_service **out);

/* Has requests for `method` answered by `handler`.
 *
 *   method    less than CLO_RPC_NAME_BYTES letters, digits, '.', '_', '-' and '/'; copied. "": requests that name none,
 *             and those whose method nobody else answers.
 *   handler   called with `argument`, which must live until the service is destroyed.
 *   is_short  1: on the thread of clo_rpc_service_run, which does nothing else meanwhile: for microseconds. 0: on a
 *             thread of libuv's pool (4, or what the environment's UV_THREADPOOL_SIZE says), up to `slots` at once.
 *
 * A child that is forked from a process where handlers have run on the pool must end with _exit: at its exit libuv 1.44
 * joins threads that it has not.
 *
 * A handler of CLO_RPC_KEYED is called once for each key, unless it fails, or the service is killed before its answer
 * is durable: what it does outside the table must know the key, too (clo_rpc_request.database).
 *
 * Returns CLO_OK, or CLO_ERR_ARGUMENT (NULL, a method that is none, or that has a handler), CLO_ERR_STATE (it runs),
 * CLO_ERR_LIMIT (256 methods), CLO_ERR_MEMORY.
 * Threads: one. Real time: no. */
CLO_API CLO_NODISCARD clo_status clo_rpc_service_add(clo_rpc_service *service, const char *method,
                                                     clo_rpc_handler handler, void *argument, uint32_t is_short);

/* "ADDRESS:PORT" at which it listens; owned by the service. NULL for NULL.
 * Threads: any. Real time: yes, O(1). */
CLO_API const char *clo_rpc_service_endpoint(const clo_rpc_service *service);

/* Answers requests on the calling thread until clo_rpc_service_stop; what was applied is durable then. The signal
 * SIGPIPE is blocked on this thread meanwhile. Returns CLO_OK, or CLO_ERR_ARGUMENT (NULL), CLO_ERR_STATE (it runs, or
 * has run).
 * Threads: one. Real time: no. */
CLO_API CLO_NODISCARD clo_status clo_rpc_service_run(clo_rpc_service *service);

/* Ends clo_rpc_service_run, which was called or will be. Handlers that run are waited for. NULL is allowed.
 * Threads: any; also handlers of signals. Real time: bounded. */
CLO_API void clo_rpc_service_stop(clo_rpc_service *service);

/* Frees a service that does not run. NULL is allowed.
 * Threads: one. Real time: no. */
CLO_API void clo_rpc_service_destroy(clo_rpc_service *service);

/* Serves in a process of its own: forks, and has all methods answered by `handler` there, on the pool. For a program
 * that brings its services along, such as an example or a test. The process is killed when the thread that made it
 * ends.
 *
 *   config    as for clo_rpc_service_create.
 *   handler   called in that process, with its copy of what `argument` points to.
 *   endpoint  [CLO_RPC_NAME_BYTES] receives where it listens; untouched on failure.
 *   process   receives its id, for kill and waitpid; NULL is allowed.
 *
 * Returns CLO_OK, or CLO_ERR_ARGUMENT (NULL for handler or endpoint), CLO_ERR_SYSTEM (no process, no descriptor); what
 * clo_rpc_service_create and clo_rpc_service_add return in that process.
 * Threads: one, and no other one may run: call it before a workflow is sealed. Real time: no. */
CLO_API CLO_NODISCARD clo_status clo_rpc_service_fork(const clo_rpc_service_config *config, clo_rpc_handler handler,
                                                      void *argument, char *endpoint, int64_t *process);

/* ---- workflows ---- */

typedef struct clo_rpc_workflow clo_rpc_workflow; /* opaque: calls, connections, a journal, a thread */

/* Zero is the default of each field. Texts are copied. */
typedef struct clo_rpc_config {
    size_t size;

    /* "NAME=ENDPOINT,ENDPOINT;NAME=...": services, and the endpoints of the replicas of each: ADDRESS:PORT in numbers,
     * or a URL. A NAME may be a pattern of fnmatch: a call runs on the service that is called as it says, else on the
     * first whose pattern fits. Needed. */
    const char *services;

    /* Calls of this workflow that a replica gets at once (8); more wait here. */
    uint32_t slots;

    /* Follow a plan of this planner, which must live until the workflow is sealed; NULL: calls are dealt out when they
     * are ready. */
    const clo_planner *planner;

    /* Between two hosts, for the planner: half of a round trip, and the bandwidth; 0: it costs nothing. */
    int64_t link_ns;
    uint32_t link_mbit;

    /* Of the run, or of each instance of calls that arrive over time; 0: none. */
    int64_t deadline_ns;

    /* Most attempts of a call (CLO_RPC_ATTEMPTS_MAX); 1: no hedges. After how long a hedge is due while fewer than 40
     * answers of a service are known, whose 95th percentile it would be; 0: never. */
    uint32_t attempts, no_hedges;
    int64_t hedge_ns;

    /* The first backoff (10 ms) and the longest (1 s). */
    int64_t backoff_ns, backoff_max_ns;

    /* An attempt without an answer for so long is given up (60 s, or ten times what the call is expected to take). */
    int64_t attempt_ns;

    /* While calls are under way services of ours are asked for a sign of life so often, and given up after five (2 s);
     * negative: never. */
    int64_t beat_ns;

    /* 1: a call that fails has an empty answer, and the others go on. Not with a journal. */
    uint32_t keeps_going;

    /* File of the journal (SQLite): a run that was killed goes on where it was. NULL: none. is_durable: it outlives a
     * loss of power, too. One journal is of one run. */
    const char *journal;
    uint32_t is_durable;

    /* Number of the run, which its keys are made of; 0: that of the journal, else a new one. Seed of what is drawn. */
    uint64_t run, seed;

    /* [hops] endpoints that each call passes on to, one after the other. */
    const char *const *route;
    uint32_t hops;

    /* One line an attempt and an answer, on the workflow's thread; NULL: not called. */
    void (*event)(void *argument, const char *line);
    void *argument;
} clo_rpc_config;

#define CLO_RPC_CONFIG_INIT CLO_SIZED_INIT(clo_rpc_config)

/* One call of a workflow. Everything is copied but here_argument. */
typedef struct clo_rpc_call {
    size_t size;

    /* For messages and plans; NULL: the service's. */
    const char *name;

    /* Which service is called; which method of it (NULL: none is named). */
    const char *service, *method;

    /* What the body begins with. */
    const void *body;
    size_t body_bytes;

    /* [after_count] calls whose answers follow it, each as clo_rpc_workflow_add gave it. */
    const uint32_t *after;
    uint32_t after_count;

    /* Most bytes of an answer (4096), at most CLO_RPC_BYTES_MAX; UINT32_MAX: it must be empty. */
    uint32_t answer_bytes;

    clo_rpc_effect effect;

    /* What the call is expected to take (1 ms): a call with less time left than it and all behind it need is not
     * sent. From when it is ready, the time that it may take with all its attempts; 0: as long as the run. */
    int64_t work_ns, deadline_ns;

    /* How many times it runs (1). [instances] when each begins, from the start of the run; NULL: at once. */
    uint32_t instances;
    const int64_t *arrivals_ns;

    /* Not NULL: no service is called (`service` may be NULL); this function answers, on a worker, with here_argument,
     * once, as soon as the call is ready: it has no retries, no deadline_ns and no arrivals_ns. A run that is resumed
     * calls it again. */
    clo_rpc_handler here;
    void *here_argument;
} clo_rpc_call;

#define CLO_RPC_CALL_INIT CLO_SIZED_INIT(clo_rpc_call)

#ifndef __cplusplus
/* Initialisers of a row of calls: {CLO_RPC_CALL("bank", "pay"), CLO_RPC_AFTER(1, 2), .effect = CLO_RPC_KEYED}. */
#define CLO_RPC_CALL(of_service, of_method) .size = sizeof(clo_rpc_call), .service = (of_service), .method = (of_method)
#define CLO_RPC_AFTER(...)                    \
    .after = (const uint32_t[]){__VA_ARGS__}, \
    .after_count = (uint32_t)(sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
#endif

/* What runs have done: of the last one where nothing else is said. */
typedef struct clo_rpc_result {
    size_t size;

    /* CLO_ERR_STATE: none has ended. */
    clo_status status;

    /* Calls (tasks) and instances of them; those that a journal had, and those it had begun, which were repeated. */
    uint32_t tasks, instances;
    uint64_t done_before, again, executed;

    /* From the start to the end. */
    int64_t makespan_ns;

    /* Number of the run; hashes of what the answers depend on, of the plan, and of all answers (0: it has failed). */
    uint64_t run, graph_hash, plan_hash, output_hash;

    /* Of all runs of this workflow: requests of tasks, calls that were sent, hedges, those that came first, those that
     * the budget did not allow, attempts that were cancelled, retries, requests that failed, bytes both ways. */
    uint64_t requests, calls, hedges, hedges_won, held_back, cancelled, retries, failures, payload_bytes;

    /* Transactions and records of the journal. */
    uint64_t commits, records;

    /* One line about the first request that failed in the last run, which may have gone on; "": none. */
    char failure[512];
} clo_rpc_result;

#define CLO_RPC_RESULT_INIT CLO_SIZED_INIT(clo_rpc_result)

/* Makes a workflow without calls.
 *
 *   config  copied.
 *   out     owned by the caller.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  NULL; a list of services, an endpoint or a number that is none; a newer config
 *   CLO_ERR_MEMORY
 * Threads: any. Real time: no. */
CLO_API CLO_NODISCARD clo_status clo_rpc_workflow_create(const clo_rpc_config *config, clo_rpc_workflow **out);

/* Adds a call.
 *
 *   out  its number, from 0; NULL is allowed.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  NULL; no service fits the name; a method that is none; a predecessor that is not there; sizes,
 *                     times or instances out of range; a newer struct
 *   CLO_ERR_STATE     the workflow is sealed
 *   CLO_ERR_LIMIT     2^24 calls or instances
 *   CLO_ERR_MEMORY
 * Threads: one. Real time: no. */
CLO_API CLO_NODISCARD clo_status clo_rpc_workflow_add(clo_rpc_workflow *workflow, const clo_rpc_call *call,
                                                      uint32_t *out);

/* Adds calls in turn, as clo_rpc_workflow_add does; in a workflow without calls their numbers are those of the array.
 *
 *   calls  [count]
 *
 * Returns what the first one that is refused returned; those before it are in then.
 * Threads: one. Real time: no. */
CLO_API CLO_NODISCARD clo_status clo_rpc_workflow_add_calls(clo_rpc_workflow *workflow, const clo_rpc_call *calls,
                                                            uint32_t count);

/* The answer of call `before` follows the body of `call`, and the answers that it has already. Instances: all of
 * `before` stand before all of `call`. Returns CLO_OK, or CLO_ERR_ARGUMENT (NULL, a number that is none, the same
 * twice), CLO_ERR_STATE (sealed), CLO_ERR_MEMORY.
 * Threads: one. Real time: no. */
CLO_API CLO_NODISCARD clo_status clo_rpc_workflow_after(clo_rpc_workflow *workflow, uint32_t call, uint32_t before);

/* Ends the description: makes graph and plan, opens the journal, starts the threads. clo_rpc_workflow_run does it where
 * it was not done.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  NULL; no call; an edge twice; a journal together with keeps_going
 *   CLO_ERR_STATE     it is sealed, or sealing it has failed; the journal is of another run or workflow; a call of
 *                     CLO_RPC_ONCE was under way when the journal's run was killed
 *   CLO_ERR_IO        the journal cannot be used: it is damaged, of another version, or another process has it
 *   CLO_ERR_CYCLE, CLO_ERR_LIMIT, CLO_ERR_SYSTEM, CLO_ERR_MEMORY; what the planner returns
 * Threads: one. Real time: no. O(calls + what the planner takes). */
CLO_API CLO_NODISCARD clo_status clo_rpc_workflow_seal(clo_rpc_workflow *workflow);

/* Runs the workflow to its end. It may run again, but not with a journal; its run has the same number then, so what was
 * applied by key is not applied again.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT   NULL
 *   CLO_ERR_TASK       a call failed; the line names the first one, its service and endpoint, if any, and why
 *   CLO_ERR_IO         the journal cannot be written
 *   CLO_ERR_CANCELLED  clo_rpc_workflow_cancel
 *   CLO_ERR_STATE      it runs, or has run with a journal
 *   what clo_rpc_workflow_seal returns
 * Threads: one. Real time: no. */
CLO_API CLO_NODISCARD clo_status clo_rpc_workflow_run(clo_rpc_workflow *workflow);

/* Ends the run that is under way within a tenth of a second, but functions of this process (clo_rpc_call.here) end first,
 * and each run that follows at once. NULL is allowed.
 * Threads: any; also handlers of signals. Real time: bounded. */
CLO_API void clo_rpc_workflow_cancel(clo_rpc_workflow *workflow);

/* Replica `replica` (from 0) of the service that is called `service` in clo_rpc_config.services listens at another
 * endpoint from now on, also in the middle of a run: attempts that follow go there.
 *
 * Returns CLO_OK, or CLO_ERR_ARGUMENT (NULL, no such service or replica, an endpoint that is none), CLO_ERR_MEMORY.
 * Threads: any once the workflow is sealed, one before. Real time: no. */
CLO_API CLO_NODISCARD clo_status clo_rpc_workflow_move(clo_rpc_workflow *workflow, const char *service,
                                                       uint32_t replica, const char *endpoint);

/* The answer of an instance (from 0) of a call, after a run that has ended.
 *
 *   bytes, count  owned by the workflow, until it runs again.
 *
 * Returns CLO_OK, or CLO_ERR_ARGUMENT (NULL, numbers that are none), CLO_ERR_STATE (no run has ended well).
 * Threads: any, beside no run. Real time: yes, O(1). */
CLO_API CLO_NODISCARD clo_status clo_rpc_workflow_answer(const clo_rpc_workflow *workflow, uint32_t call,
                                                         uint32_t instance, const void **bytes, size_t *count);

/* How many instances a call has; 0 for NULL and for a call that is none.
 * Threads: any, not beside add. Real time: yes, O(1). */
CLO_API uint32_t clo_rpc_workflow_instances(const clo_rpc_workflow *workflow, uint32_t call);

/* How long an instance of a call took in the last run, from its arrival to its answer; -1: it had none, or no run has
 * ended.
 * Threads: any, beside no run. Real time: yes, O(1). */
CLO_API int64_t clo_rpc_workflow_latency_ns(const clo_rpc_workflow *workflow, uint32_t call, uint32_t instance);

/* What the runs have done. Returns CLO_OK, or CLO_ERR_ARGUMENT: NULL, or a size that is none.
 * Threads: any, beside no run. Real time: yes, O(1). */
CLO_API CLO_NODISCARD clo_status clo_rpc_workflow_result(const clo_rpc_workflow *workflow, clo_rpc_result *out);

/* Frees a workflow that does not run. NULL is allowed.
 * Threads: one. Real time: no. */
CLO_API void clo_rpc_workflow_destroy(clo_rpc_workflow *workflow);

#ifdef __cplusplus
}
#endif

#endif
