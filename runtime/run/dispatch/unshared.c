/* unshared.c - see unshared.h. */
#include "run/dispatch/unshared.h"

#include "base/clock.h"
#include "engine/execution/body.h"
#include "run/job/cut.h"
#include "run/job/done.h"
#include "run/records/recorder.h"
#include "run/records/stamp.h"
#include "run/sharing/borrow.h"
#include "run/sharing/serial.h"
#include "run/sharing/share.h"
#include "run/sharing/wake.h"
#include "run/state/item.h"

/* Ready work that is worth a hand-over to a worker that looks for some, and the end of the job on two of them. */
#define SURPLUS_NS 1000
/* Bodies between looks at the clock while more is ready: the first after a quarter of them. */
#define LOOK_BODIES 64u
/* The same in serial runs: twice at first, then. */
#define FIRST_BODIES 8u
#define WINDOW_BODIES 32u

/* Where bodies run. */
typedef struct seat {
    clo_worker *worker;
    clo_counter *executed;
    /* Of the worker's executor: time_ns[task * columns]. */
    const int64_t *time_ns;
} seat;

/* What is constant in a run, at hand: bodies could change all that lies behind pointers, for what the compiler
 * knows. */
typedef struct unshared_run {
    clo_job *job;
    const clo_graph *graph;
    const clo_graph_task_row *rows;
    const uint32_t *task_of, *first_instance, *succ_first, *succ;
    clo_countdown *pending;
    size_t columns;
    /* Its item is this + execution. */
    uint64_t items;
    /* Each task has one instance, with the number of the task. */
    bool is_single;
    /* Not a serial run: the deque takes all that can be ready. */
    bool is_small;
    /* The flight recorder is on. */
    bool has_recorder;
    /* Without a plan: the one worker. */
    seat seat;
} unshared_run;

/* What it knows of the run so far. */
typedef struct progress {
    /* Entries without successors that were run. */
    uint32_t exits;
    uint32_t bodies;
    /* Serial runs: bodies that were run when the clock was read last, and when that was. */
    uint32_t judged;
    int64_t since_ticks;
    /* What a body took between the last two looks, and the least of that and the time before; 0: not known yet. So what
     * else the CPU does for a moment is not taken for long bodies. */
    int64_t window_ns, task_time_ns;
} progress;

static void look_at_clock(const unshared_run *a, progress *p)
{
    int64_t now_ticks = clo_ticks(),
            took_ns = (now_ticks - p->since_ticks) * 1000 / a->seat.worker->runtime->ticks_in_us;
    int64_t window_ns = took_ns / (p->bodies - p->judged) + 1;

    if (p->window_ns > 0)
        p->task_time_ns = window_ns < p->window_ns ? window_ns : p->window_ns;
    p->window_ns = window_ns;
    p->judged = p->bodies;
    p->since_ticks = now_ticks;
}

/* The workers should have the rest of a serial run. */
static bool is_for_all(const unshared_run *a, progress *p, uint32_t ready, int64_t next_ns)
{
    if (next_ns > CLO_SHORT_NS) {
        p->task_time_ns = next_ns;
        return true;
    }
    if (p->bodies - p->judged < (p->task_time_ns == 0 ? FIRST_BODIES : WINDOW_BODIES))
        return false;
    look_at_clock(a, p);
    if (p->task_time_ns == 0 || clo_serial_pays(a->job, p->task_time_ns, ready))
        return false;
    if (p->task_time_ns < CLO_WORTH_NS) /* they are short, but many */
        p->task_time_ns = CLO_SERIAL_SURE_NS;
    return true;
}

/* Somebody else should have a part. `ready`: items that wait while the next body runs. */
static bool is_surplus(const unshared_run *a, progress *p, uint32_t ready, int64_t next_ns)
{
    if (!a->is_small)
        return is_for_all(a, p, ready, next_ns);
    int64_t task_time_ns = atomic_load_explicit(&a->job->waiting.task_time_ns, memory_order_relaxed);

    if (p->bodies % LOOK_BODIES == LOOK_BODIES / 4) { /* bodies may have become longer than in earlier runs */
        int64_t now_ns = clo_stamp_length_ns(a->job, clo_ticks()) / p->bodies;
        if (now_ns > 2 * task_time_ns)
            task_time_ns = now_ns;
    }
    if (task_time_ns == 0 || task_time_ns > CLO_SHORT_NS || next_ns > CLO_SHORT_NS)
        return true;
    int64_t ready_ns = task_time_ns * ready;
    return ready_ns >= SURPLUS_NS &&
           (atomic_load_explicit(&a->seat.worker->asked, memory_order_relaxed) != 0 ||
            (ready_ns >= CLO_WAKE_NS &&
             atomic_load_explicit(&a->seat.worker->runtime->sleepers, memory_order_relaxed) != 0));
}

/* The execution may release more than the deque takes: so much is for all workers, in later runs, too. */
static inline bool lacks_room(const unshared_run *a, progress *p, uint32_t execution, uint32_t ready)
{
    if (a->is_small || ready + (a->succ_first[execution + 1] - a->succ_first[execution]) <= CLO_DEQUE_ITEMS)
        return false;
    p->task_time_ns = CLO_TIME_NEVER / 8;
    return true;
}

/* The first that the execution released, CLO_NONE: none; the others go to the deque. */
static inline uint32_t release(const unshared_run *a, progress *p, uint32_t execution)
{
    uint32_t first = a->succ_first[execution], end = a->succ_first[execution + 1], next = CLO_NONE;

    p->exits += first == end;
    for (uint32_t i = first; i < end; i++) {
        uint32_t successor = a->succ[i];
        if (!clo_countdown_hit_alone(&a->pending[successor]))
            continue;
        if (next == CLO_NONE)
            next = successor;
        else
            clo_worker_push(a->seat.worker, a->items + successor);
    }
    return next;
}

static __attribute__((noinline)) int call_recorded(const unshared_run *a, const seat *at, uint32_t execution,
                                                   const clo_graph_task_row *row)
{
    bool is_recorded = clo_recorder_takes(at->worker);
    int64_t start_ticks = is_recorded ? clo_ticks() : 0;
    int code = row->body != NULL ? clo_body_call(row->body, &at->worker->call) : 0;

    if (is_recorded)
        clo_recorder_add(at->worker, a->job, execution, start_ticks, clo_ticks());
    return code;
}

static inline void call_body(const unshared_run *a, const seat *at, uint32_t execution, uint32_t task)
{
    const clo_graph_task_row *row = &a->rows[task];
    clo_call *call = &at->worker->call;

    atomic_store_explicit(&at->worker->current, a->items + task, memory_order_relaxed); /* as clo_task_shown */
    if (clo_stop_is_set(&a->job->stop)) {
        clo_job_cut(a->job);
        return;
    }
    call->argument = row->argument;
    call->task = task;
    if (a->is_single) { /* a plain job has no grain */
        call->instance = 0;
        call->instances = call->count = 1;
    } else
        clo_graph_serve(a->graph, task, execution - a->first_instance[task], call);
    call->expected_ns = at->time_ns[task * a->columns];
    int code = a->has_recorder     ? call_recorded(a, at, execution, row)
               : row->body != NULL ? clo_body_call(row->body, call)
                                   : 0;
    clo_counter_add(at->executed, 1);
    if (code != 0)
        clo_job_fail(a->job, execution, code);
}

/* The rest takes the general path. */
static void leave(const unshared_run *a, const progress *p)
{
    /* Published by whatever makes an item visible from here on. */
    uint32_t left = atomic_load_explicit(&a->job->exits_left, memory_order_relaxed) - p->exits;

    atomic_store_explicit(&a->job->exits_left, left, memory_order_relaxed);
    if (p->task_time_ns > 0)
        clo_serial_note(a->job, p->task_time_ns);
}

static uint64_t run(const unshared_run *a, uint64_t item)
{
    clo_worker *worker = a->seat.worker;
    progress p = {.since_ticks = a->is_small ? 0 : clo_ticks()};

    for (; item != CLO_ITEM_NONE; item = clo_deque_pop(&worker->deque)) { /* ends with the ready items of the job */
        for (uint32_t execution = (uint32_t)item; execution != CLO_NONE; p.bodies++) { /* a chain of successors */
            uint32_t task = a->is_single ? execution : a->task_of[execution], ready = clo_deque_count(&worker->deque);
            if (clo_parker_is_called(&worker->parker) ||
                (ready > 0 && is_surplus(a, &p, ready, a->rows[task].work_ns)) || lacks_room(a, &p, execution, ready)) {
                leave(a, &p);
                return a->items + execution;
            }
            call_body(a, &a->seat, execution, task);
            execution = release(a, &p, execution);
        }
    }
    return CLO_ITEM_NONE;
}

static inline seat seat_of(clo_worker *worker, clo_job *job)
{
    const clo_cost *cost = job->program->cost;

    /* What it runs may run there. */
    return (seat){worker, &job->stats[worker->index].executed, cost->time_ns + cost->column_of[worker->index]};
}

static inline unshared_run view_of(clo_job *job)
{
    const clo_program *program = job->program;
    const clo_graph *graph = program->graph;

    return (unshared_run){.job = job,
                          .graph = graph,
                          .rows = graph->rows,
                          .task_of = graph->task_of,
                          .first_instance = graph->first_instance,
                          .succ_first = program->succ_first,
                          .succ = program->succ,
                          .pending = job->engine->pending,
                          .columns = program->cost->columns,
                          .items = clo_item(job, 0),
                          .is_single = graph->instances == graph->tasks,
                          .is_small = clo_job_is_small(job),
                          .has_recorder = job->runtime->recorder_events > 0};
}

uint64_t clo_unshared_run(clo_worker *worker, clo_job *job, uint64_t item)
{
    unshared_run a = view_of(job);

    a.seat = seat_of(worker, job);
    return run(&a, item);
}

/* A step that was run; not an item. */
#define HAS_RUN (CLO_ITEM_NONE - 1)
/* Of a planned job: bodies between looks at the counter, at first and after long ones, else. */
#define FIRST_STEPS 4u
#define WINDOW_STEPS 32u
/* A run whose bodies took so many times what they may was no accident. */
#define FAR_TOO_LONG 16

/* Two windows say so: what else the CPU does for a moment is not taken for long bodies. */
static bool is_long(clo_job *job, clo_serial_progress *p)
{
    int64_t limit_ns = job->waiting.serial_plan->limit_ns, before_ns = p->window_ns;
    if (p->done - p->judged < (before_ns == 0 || before_ns > limit_ns ? FIRST_STEPS : WINDOW_STEPS))
        return false;
    int64_t now_ticks = clo_ticks();
    int64_t took_ns = (now_ticks - p->since_ticks) * 1000 / job->runtime->ticks_in_us;

    p->window_ns = took_ns / (p->done - p->judged) + 1;
    p->judged = p->done;
    p->since_ticks = now_ticks;
    p->is_long = before_ns > limit_ns && p->window_ns > limit_ns;
    if (p->is_long)
        atomic_store_explicit(&job->waiting.task_time_ns, p->window_ns, memory_order_relaxed);
    return p->is_long;
}

bool clo_unshared_run_plan(clo_job *job, clo_serial_progress *p)
{
    const clo_serial_plan *plan = job->waiting.serial_plan;
    const unshared_run a = view_of(job);
    seat seats[CLO_SERIAL_WORKERS_MAX];
    const seat *last = seats;

    for (uint32_t k = 0; k < plan->workers_count; k++)
        seats[k] = seat_of(&job->runtime->workers[plan->workers[k]], job);
    if (p->since_ticks == 0)
        p->since_ticks = clo_ticks();
    for (uint32_t count = job->program->executions; p->done < count; p->done++) {
        uint32_t execution = plan->steps[p->done].execution;
        const seat *at = &seats[plan->steps[p->done].place];
        if (last != at) /* one thread runs one body */
            atomic_store_explicit(&last->worker->current, CLO_ITEM_NONE, memory_order_relaxed);
        last = at;
        if (clo_parker_is_called(&at->worker->parker) || is_long(job, p))
            return false;
        call_body(&a, at, execution, a.is_single ? execution : a.task_of[execution]);
    }
    return true;
}

/* The execution ahead of the chain. */
static uint64_t chain(clo_job *job, uint32_t execution, uint64_t ready)
{
    job->links[execution] = ready;
    return clo_item(job, execution);
}

void clo_unshared_send_plan(clo_job *job, const clo_serial_progress *p)
{
    const clo_program *program = job->program;
    const clo_serial_plan *plan = job->waiting.serial_plan;
    clo_runtime *runtime = job->runtime;
    uint64_t *links = job->links, ready = CLO_ITEM_NONE, next;
    uint32_t exits = 0;

    for (uint32_t i = 0; i < program->executions; i++)
        links[plan->steps[i].execution] = i < p->done ? HAS_RUN : CLO_ITEM_NONE;
    for (uint32_t i = 0; i < program->roots_count; i++)
        if (links[program->roots[i]] != HAS_RUN)
            ready = chain(job, program->roots[i], ready);
    for (uint32_t i = 0; i < p->done; i++) {
        uint32_t execution = plan->steps[i].execution;
        uint32_t first = program->succ_first[execution], end = program->succ_first[execution + 1];
        exits += first == end;
        for (uint32_t k = first; k < end; k++)
            if (clo_countdown_hit_alone(&job->engine->pending[program->succ[k]]) && links[program->succ[k]] != HAS_RUN)
                ready = chain(job, program->succ[k], ready);
    }
    /* Published by the first item that goes. */
    atomic_store_explicit(&job->exits_left, atomic_load_explicit(&job->exits_left, memory_order_relaxed) - exits,
                          memory_order_relaxed);
    for (; ready != CLO_ITEM_NONE; ready = next) {
        uint32_t execution = (uint32_t)ready;
        next = links[execution];
        clo_worker_send(runtime, program->executor[execution], ready, &links[execution]);
    }
}

/* How long a body took. Without a plan much longer or shorter is believed step by step, since other programs disturb
 * one run or another. */
static void note_pace(clo_job *job)
{
    int64_t before_ns = atomic_load_explicit(&job->waiting.task_time_ns, memory_order_relaxed);
    int64_t task_time_ns = clo_stamp_length_ns(job, job->times.end_ticks) / job->program->executions + 1;

    if (!clo_job_is_small(job))
        clo_serial_note(job, task_time_ns);
    if (job->is_pinned) {
        int64_t limit_ns = job->waiting.serial_plan->limit_ns;
        if (task_time_ns > limit_ns && task_time_ns / FAR_TOO_LONG <= limit_ns)
            task_time_ns = limit_ns; /* is_long has seen nothing: its caches were cold */
    } else if (task_time_ns < before_ns) {
        task_time_ns = (before_ns + task_time_ns) / 2;
    } else if (before_ns > 0 && task_time_ns > 2 * before_ns + 64) {
        task_time_ns = 2 * before_ns + 64;
    }
    atomic_store_explicit(&job->waiting.task_time_ns, task_time_ns, memory_order_relaxed);
}

void clo_unshared_end(clo_worker *worker, clo_job *job)
{
    atomic_store_explicit(&worker->current, CLO_ITEM_NONE, memory_order_relaxed);
    clo_stamp_end(job);
    note_pace(job);
    clo_counter_add(&worker->ended, 1);
    clo_job_done_reading(job);
}
