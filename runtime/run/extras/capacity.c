/* capacity.c - see capacity.h.
 *
 * Two lines, one way to look through them. No wake-up is lost: the operation that refuses an item also registers it at
 * the semaphore, before the line is left, and a report goes to `is_called` of all who have a line. A machine's line is
 * empty while somebody looks through it, or has been refused and not yet put the item there. Who reports in that moment
 * finds nothing, but has counted in `reports` first; so whoever has put items there counts after, and sees the
 * difference. */
#include "run/extras/capacity.h"

#include "run/sharing/wake.h"
#include "run/state/item.h"

/* A chain of items, oldest first, that is looked through. */
typedef struct search {
    clo_worker *worker;
    /* Where the chain begins, and, once all of it was seen, its last link. */
    uint64_t *head, *end;
    uint64_t found;
    /* Another one could start, too. */
    bool has_more;
    /* Those of this task have been refused: equal ones need not be tried. */
    const clo_job *refused_job;
    uint32_t refused_task;
} search;

static clo_semaphore *semaphore_of(const clo_worker *worker)
{
    return &worker->machine->semaphore;
}

static bool is_of_machine(const clo_runtime *runtime, uint32_t w, const clo_machine *machine)
{
    return runtime->workers[w].machine == machine;
}

static void wake_one(clo_runtime *runtime, const clo_machine *machine)
{
    clo_fence_light(&runtime->fence);
    if (atomic_load_explicit(&runtime->sleepers, memory_order_relaxed) == 0)
        return;
    for (uint32_t w = 0; w < runtime->workers_count; w++)
        if (is_of_machine(runtime, w, machine) && clo_parker_is_away(&runtime->workers[w].parker) &&
            clo_parker_wake(&runtime->workers[w].parker))
            return;
}

/* Somebody shall look through the machine's line. */
static void call_machine(clo_runtime *runtime, clo_machine *machine)
{
    /* Release, pairs with the acquire in search_machine: the lines, and that a job was stopped. */
    atomic_store_explicit(&machine->is_called, 1, memory_order_release);
    wake_one(runtime, machine);
}

static void call_worker(clo_runtime *runtime, uint32_t w)
{
    /* Release, pairs with the acquire in clo_capacity_next: that a job was stopped. */
    atomic_store_explicit(&runtime->workers[w].is_called, 1, memory_order_release);
    clo_runtime_wake_for(runtime, w);
}

static bool has_line(const clo_machine *machine)
{
    return !clo_stack_is_empty(&machine->fresh) || !clo_stack_is_empty(&machine->aging);
}

/* Something of the scheduler may fit. Whoever makes a new scheduler takes `is_wanted` away, and then waits for callers:
 * so either that sees us, or we see nothing wanted. No report is lost: what is refused later, or while `is_wanted` is
 * taken here, sees in the semaphore what was given before. */
static void tell_scheduler(clo_runtime *runtime, clo_machine *machine)
{
    clo_scheduling *scheduling = &runtime->scheduling;

    atomic_fetch_add_explicit(&scheduling->callers, 1, memory_order_relaxed); /* comes with the exchange */
    if (atomic_exchange_explicit(&machine->is_wanted, 0, memory_order_acq_rel) != 0) {
        atomic_store_explicit(&machine->has_reported, 1, memory_order_relaxed); /* comes with the ask */
        scheduling->call(runtime);
    }
    atomic_fetch_sub_explicit(&scheduling->callers, 1, memory_order_release);
}

void clo_capacity_report(clo_runtime *runtime, clo_machine *machine, bool tells_scheduler)
{
    /* acq_rel with count_after: one of the two comes first, and the other sees what it has done. */
    atomic_fetch_add_explicit(&machine->reports, 1, memory_order_acq_rel);
    if (has_line(machine))
        call_machine(runtime, machine);
    for (uint32_t w = 0; w < runtime->workers_count; w++)
        /* Relaxed: written before the refusal, whose swing of the semaphore's head was before ours. */
        if (is_of_machine(runtime, w, machine) &&
            atomic_load_explicit(&runtime->workers[w].line.has_line, memory_order_relaxed) != 0)
            call_worker(runtime, w);
    /* Relaxed, as above. */
    if (tells_scheduler && atomic_load_explicit(&machine->is_wanted, memory_order_relaxed) != 0)
        tell_scheduler(runtime, machine);
}

/* The semaphore reports to an item's worker. */
static void report(clo_runtime *runtime, clo_machine *machine)
{
    clo_capacity_report(runtime, machine, true);
}

/* After items were put into the machine's line: true if nobody has reported since there were `before` reports. */
static bool count_after(clo_machine *machine, uint32_t before)
{
    return atomic_fetch_add_explicit(&machine->reports, 0, memory_order_acq_rel) == before;
}

static void demand_of(const clo_job *job, uint32_t execution, int64_t *demand)
{
    clo_program_demand(job->program, clo_program_task(job->program, execution), demand);
}

/* What the item executes: with releases in flight an item is an execution in a release. */
static uint32_t execution_of(const clo_job *job, uint64_t item)
{
    return (uint32_t)item % job->program->executions;
}

/* In a worker's own line, as the youngest. */
static void wait_here(clo_worker *worker, uint64_t item)
{
    *clo_item_link(worker->runtime, item) = CLO_ITEM_NONE;
    *worker->line.end = item;
    worker->line.end = clo_item_link(worker->runtime, item);
}

/* True: the demand is held. Else the item is registered at the semaphore, and stands in a line. */
static bool take_or_wait(clo_worker *worker, clo_job *job, uint64_t item)
{
    clo_machine *machine = worker->machine;
    uint32_t before = atomic_load_explicit(&machine->reports, memory_order_acquire);
    uint64_t *ticket = &job->tickets[(uint32_t)item];
    int64_t demand[CLO_RESOURCES_MAX];

    demand_of(job, execution_of(job, item), demand);
    if (clo_semaphore_acquire(&machine->semaphore, demand, worker->index))
        return true;
    if (job->is_pinned)
        atomic_store_explicit(&worker->line.has_line, 1, memory_order_relaxed); /* before the refusal */
    if (clo_semaphore_acquire_or_watch(&machine->semaphore, demand, ticket, worker->index)) {
        *ticket = CLO_SEMAPHORE_NEW;
        return true;
    }
    if (job->is_pinned) {
        wait_here(worker, item);
        return false;
    }
    clo_stack_push(&machine->fresh, item, &job->links[(uint32_t)item]);
    if (!count_after(machine, before))
        call_machine(worker->runtime, machine);
    return false;
}

bool clo_capacity_enter(clo_worker *worker, uint64_t item, bool *holds)
{
    clo_job *job = clo_item_job(worker->runtime, item);

    *holds = worker->line.held == item;
    worker->line.held = CLO_ITEM_NONE;
    if (*holds || clo_stop_is_set(&job->stop))
        return true;
    *holds = take_or_wait(worker, job, item);
    worker->line.is_refused = !*holds;
    return *holds;
}

void clo_capacity_leave(clo_worker *worker, const clo_job *job, uint32_t execution)
{
    int64_t demand[CLO_RESOURCES_MAX];

    demand_of(job, execution, demand);
    if (clo_semaphore_release(semaphore_of(worker), demand, worker->index))
        report(worker->runtime, worker->machine);
}

bool clo_capacity_try(clo_worker *worker, const clo_job *job, uint32_t execution)
{
    int64_t demand[CLO_RESOURCES_MAX];

    demand_of(job, execution, demand);
    return clo_semaphore_acquire(semaphore_of(worker), demand, worker->index);
}

/* An item of a stopped job leaves the line; nothing is kept for it any more. */
static void forget(clo_worker *worker, uint64_t *ticket)
{
    if (clo_semaphore_forget(semaphore_of(worker), *ticket, worker->index))
        report(worker->runtime, worker->machine);
    *ticket = CLO_SEMAPHORE_NEW;
}

/* True: the item may run; if `takes`, it holds what it demands or needs nothing. */
static bool try_item(search *s, uint64_t item, bool takes)
{
    clo_job *job = clo_item_job(s->worker->runtime, item);
    uint32_t task = clo_program_task(job->program, execution_of(job, item));
    uint64_t *ticket = &job->tickets[(uint32_t)item];
    int64_t demand[CLO_RESOURCES_MAX];

    if (clo_stop_is_set(&job->stop)) {
        if (takes)
            forget(s->worker, ticket);
        return true;
    }
    if (job == s->refused_job && task == s->refused_task)
        return false;
    clo_program_demand(job->program, task, demand);
    if (clo_semaphore_ask(semaphore_of(s->worker), demand, ticket, s->worker->index, takes)) {
        if (takes) {
            *ticket = CLO_SEMAPHORE_NEW;
            s->worker->line.held = item;
        }
        return true;
    }
    s->refused_job = job;
    s->refused_task = task;
    return false;
}

/* From `at` on: takes the first item that may run out of the chain, and finds out whether there is another one. */
static void look_through(search *s, uint64_t *at)
{
    while (*at != CLO_ITEM_NONE) { /* the chain is finite and ours */
        uint64_t item = *at, *link = clo_item_link(s->worker->runtime, item);
        if (!try_item(s, item, s->found == CLO_ITEM_NONE)) {
            at = link;
        } else if (s->found == CLO_ITEM_NONE) {
            s->found = item;
            *at = *link;
        } else {
            s->has_more = true;
            return;
        }
    }
    s->end = at;
}

static uint64_t search_own(clo_worker *worker)
{
    search s = {.worker = worker, .head = &worker->line.first, .found = CLO_ITEM_NONE};

    if (worker->line.first == CLO_ITEM_NONE) {
        atomic_store_explicit(&worker->line.has_line, 0, memory_order_relaxed);
        return CLO_ITEM_NONE;
    }
    look_through(&s, s.head);
    if (s.end != NULL)
        worker->line.end = s.end;
    else if (s.has_more)
        atomic_store_explicit(&worker->is_called, 1, memory_order_relaxed);
    return s.found;
}

static uint64_t reverse(const clo_runtime *runtime, uint64_t chain)
{
    uint64_t reversed = CLO_ITEM_NONE;

    while (chain != CLO_ITEM_NONE) { /* the chain is finite and ours */
        uint64_t *link = clo_item_link(runtime, chain), next = *link;
        *link = reversed;
        reversed = chain;
        chain = next;
    }
    return reversed;
}

/* Puts what is left of the chain back, before what others have put there meanwhile. */
static void put_back(search *s, clo_machine *machine)
{
    for (;;) { /* another turn only if another worker has put a chain back */
        uint64_t none = CLO_ITEM_NONE;
        if (atomic_compare_exchange_strong_explicit(&machine->aging.head, &none, *s->head, memory_order_release,
                                                    memory_order_relaxed)) /* as clo_stack_push */
            return;
        uint64_t newer = clo_stack_take(&machine->aging);
        if (s->end == NULL)
            for (s->end = s->head; *s->end != CLO_ITEM_NONE;) /* the chain is finite and ours */
                s->end = clo_item_link(s->worker->runtime, *s->end);
        *s->end = newer;
        s->end = NULL;
    }
}

static uint64_t search_machine(clo_worker *worker)
{
    clo_machine *machine = worker->machine;
    uint32_t before = atomic_load_explicit(&machine->reports, memory_order_acquire);
    uint64_t chain = clo_stack_take(&machine->aging);
    search s = {.worker = worker, .head = &chain, .found = CLO_ITEM_NONE};

    look_through(&s, s.head);
    if (s.end != NULL) { /* all that is older was seen */
        uint64_t *at = s.end;
        s.end = NULL;
        *at = reverse(worker->runtime, clo_stack_take(&machine->fresh));
        look_through(&s, at);
    }
    if (chain == CLO_ITEM_NONE)
        return s.found;
    put_back(&s, machine);
    if (s.has_more || !count_after(machine, before))
        call_machine(worker->runtime, machine);
    return s.found;
}

uint64_t clo_capacity_next(clo_worker *worker)
{
    uint64_t item = CLO_ITEM_NONE;

    /* Acquire, here and below, pairs with call_worker and call_machine. */
    if (atomic_load_explicit(&worker->is_called, memory_order_relaxed) != 0 &&
        atomic_exchange_explicit(&worker->is_called, 0, memory_order_acquire) != 0) {
        item = clo_mailbox_take(&worker->hedge);
        if (item == CLO_ITEM_NONE)
            item = search_own(worker);
        else
            atomic_store_explicit(&worker->is_called, 1, memory_order_relaxed); /* the line comes next */
    }
    if (item == CLO_ITEM_NONE && atomic_load_explicit(&worker->machine->is_called, memory_order_relaxed) != 0 &&
        atomic_exchange_explicit(&worker->machine->is_called, 0, memory_order_acquire) != 0)
        item = search_machine(worker);
    return item;
}

void clo_capacity_let_go(const clo_job *job)
{
    clo_runtime *runtime = job->runtime;

    if (!clo_cost_graph(job->cost)->has_demands)
        return;
    for (uint32_t m = 0; m < runtime->platform->machines_count; m++) {
        atomic_fetch_add_explicit(&runtime->machines[m].reports, 1, memory_order_acq_rel);
        call_machine(runtime, &runtime->machines[m]);
    }
    for (uint32_t w = 0; w < runtime->workers_count; w++)
        call_worker(runtime, w);
}
