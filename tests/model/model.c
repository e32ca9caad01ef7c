/* model.c - see model.h. One execution is a list of choices; the next one repeats all but the last that has an
 * alternative left. */
#define _GNU_SOURCE
#include "model.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

enum { PLACES_MAX = 48, WRITES_MAX = 64, CHOICES_MAX = 4000, STEPS_MAX = 2000, STACK_BYTES = 1 << 16, PLAIN_MAX = 32 };

/* What a thread, or the reader of a write, knows: the oldest write of each place that may still be read, and of each
 * thread how far it has come. */
typedef struct view {
    uint8_t oldest[PLACES_MAX];
    uint16_t clock[MODEL_THREADS_MAX];
} view;

typedef struct write {
    uint64_t value;
    view carried;
} write;

typedef struct place {
    const volatile void *address;
    size_t bytes;
    uint32_t count;
    write writes[WRITES_MAX];
} place;

typedef struct plain {
    const void *address;
    int writer; /* -1: nobody yet */
    uint16_t written;
    uint16_t read[MODEL_THREADS_MAX];
} plain;

enum { READY, WAITING, SPINNING, ENDED };

typedef struct thread {
    jmp_buf at; /* where it gave way */
    char *stack;
    bool has_begun; /* it has run on its stack, and has given way */
    int state;
    const volatile void *waits_on;
    view now;
} thread;

typedef struct step {
    uint32_t thread;
    char text[100];
} step;

static struct model {
    const model_scenario *scenario;
    thread threads[MODEL_THREADS_MAX];
    jmp_buf scheduler;
    uint32_t running; /* MODEL_THREADS_MAX: set_up or finish */
    place places[PLACES_MAX];
    uint32_t places_count;
    plain plains[PLAIN_MAX];
    uint32_t plains_count;
    view sequential;
    uint32_t switches;
    uint16_t chosen[CHOICES_MAX], alternatives[CHOICES_MAX];
    uint32_t choices, replayed;
    step steps[STEPS_MAX];
    uint32_t steps_count;
    bool has_failed;
} m;

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void note(const char *format, ...)
{
    va_list arguments;

    if (m.steps_count == STEPS_MAX)
        return;
    step *s = &m.steps[m.steps_count++];
    s->thread = m.running;
    va_start(arguments, format);
    vsnprintf(s->text, sizeof s->text, format, arguments);
    va_end(arguments);
}

static void fail(const char *what)
{
    if (m.has_failed)
        return;
    m.has_failed = true;
    printf("%s: %s, when\n", m.scenario->name, what);
    for (uint32_t i = 0; i < m.steps_count; i++)
        printf("  thread %u: %s\n", m.steps[i].thread, m.steps[i].text);
}

/* One of `count` ways on. */
static uint32_t choose(uint32_t count)
{
    if (count <= 1 || m.has_failed)
        return 0;
    if (m.choices == CHOICES_MAX) {
        fail("an execution has too many choices (does a loop not end?)");
        return 0;
    }
    uint32_t at = m.choices++;
    if (at >= m.replayed) {
        m.chosen[at] = 0;
        m.alternatives[at] = (uint16_t)count;
    }
    return m.chosen[at];
}

static void join(view *into, const view *other)
{
    for (uint32_t i = 0; i < PLACES_MAX; i++)
        if (other->oldest[i] > into->oldest[i])
            into->oldest[i] = other->oldest[i];
    for (uint32_t i = 0; i < MODEL_THREADS_MAX; i++)
        if (other->clock[i] > into->clock[i])
            into->clock[i] = other->clock[i];
}

static bool is_thread(void)
{
    return m.running < MODEL_THREADS_MAX;
}

static view *now(void)
{
    return &m.threads[m.running].now;
}

/* Threads switch by setjmp and longjmp, each on a stack of its own: swapcontext makes a system call each time, and took
 * six times as long as all the rest on a virtual machine. */
static void to_scheduler(void)
{
    if (_setjmp(m.threads[m.running].at) == 0)
        _longjmp(m.scheduler, 1);
}

static void give_way(void)
{
    if (is_thread()) /* after a failure the thread does not come back: what it spins for may never come */
        to_scheduler();
}

static place *find(const volatile void *address, size_t bytes)
{
    for (uint32_t i = 0; i < m.places_count; i++)
        if (m.places[i].address == address)
            return &m.places[i];
    if (m.places_count == PLACES_MAX) {
        fprintf(stderr, "model: more than %d places\n", PLACES_MAX);
        exit(2);
    }
    place *p = &m.places[m.places_count++];
    uint64_t value = 0;
    memcpy(&value, (const void *)(uintptr_t)address, bytes);
    p->address = address;
    p->bytes = bytes;
    p->count = 1;
    p->writes[0] = (write){.value = value};
    return p;
}

static write *newest(place *p)
{
    return &p->writes[p->count - 1];
}

static void append(place *p, uint64_t value, const view *continued, model_order order)
{
    uint32_t index = (uint32_t)(p - m.places);

    if (!is_thread()) { /* before the threads, or after them */
        p->writes[p->count - 1].value = value;
        return;
    }
    if (p->count == WRITES_MAX) {
        fail("a place has too many writes (does a loop not end?)");
        return;
    }
    write *w = &p->writes[p->count];
    *w = (write){.value = value};
    now()->oldest[index] = (uint8_t)p->count;
    if (order == MODEL_RELEASE || order == MODEL_ACQ_REL || order == MODEL_SEQ_CST)
        w->carried = *now();
    if (continued != NULL)
        join(&w->carried, continued);
    p->count++;
}

static bool acquires(model_order order)
{
    return order == MODEL_ACQUIRE || order == MODEL_ACQ_REL || order == MODEL_SEQ_CST;
}

/* Before and after a seq_cst operation: no older write of this place than those before it in the one order of all
 * seq_cst operations have read or written. Of other places it says nothing: a seq_cst operation is no fence. */
static void exchange_sequential(uint32_t index, model_order order)
{
    uint8_t *one = &m.sequential.oldest[index], *own = is_thread() ? &now()->oldest[index] : one;

    if (order == MODEL_SEQ_CST)
        *one = *own = *one > *own ? *one : *own;
}

static void tick(void)
{
    if (is_thread())
        now()->clock[m.running]++;
}

static const char *name_of(model_order order)
{
    static const char *const names[] = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};

    return names[order];
}

void model_init(const volatile void *address, size_t bytes, uint64_t value)
{
    memcpy((void *)(uintptr_t)address, &value, bytes);
    place *p = find(address, bytes);
    p->count = 1;
    p->writes[0] = (write){.value = value};
}

uint64_t model_load(const volatile void *address, size_t bytes, model_order order)
{
    give_way();
    place *p = find(address, bytes);
    if (!is_thread())
        return newest(p)->value;
    uint32_t index = (uint32_t)(p - m.places);
    tick();
    exchange_sequential(index, order);
    uint32_t oldest = now()->oldest[index], at = p->count - 1 - choose(p->count - oldest); /* the newest first */
    now()->oldest[index] = (uint8_t)at;
    if (acquires(order))
        join(now(), &p->writes[at].carried);
    exchange_sequential(index, order);
    note("load  place %u -> %lld (%s)%s", index, (long long)p->writes[at].value, name_of(order),
         at + 1 < p->count ? ", an old value" : "");
    return p->writes[at].value;
}

void model_store(volatile void *address, size_t bytes, uint64_t value, model_order order)
{
    give_way();
    place *p = find(address, bytes);
    tick();
    exchange_sequential((uint32_t)(p - m.places), order);
    append(p, bytes == 4 ? (uint32_t)value : value, NULL, order);
    exchange_sequential((uint32_t)(p - m.places), order);
    note("store place %u := %lld (%s)", (uint32_t)(p - m.places), (long long)value, name_of(order));
}

static uint64_t change(place *p, uint64_t value, model_order order)
{
    uint32_t index = (uint32_t)(p - m.places);
    view continued = newest(p)->carried;
    uint64_t old = newest(p)->value;

    if (is_thread()) {
        now()->oldest[index] = (uint8_t)(p->count - 1);
        if (acquires(order))
            join(now(), &continued);
    }
    append(p, p->bytes == 4 ? (uint32_t)value : value, &continued, order);
    return old;
}

uint64_t model_rmw(volatile void *address, size_t bytes, model_operation what, uint64_t operand, model_order order)
{
    give_way();
    place *p = find(address, bytes);
    tick();
    exchange_sequential((uint32_t)(p - m.places), order);
    uint64_t old = newest(p)->value;
    uint64_t value = what == MODEL_SET ? operand : what == MODEL_ADD ? old + operand : old | operand;
    change(p, value, order);
    exchange_sequential((uint32_t)(p - m.places), order);
    note("rmw   place %u: %lld -> %lld (%s)", (uint32_t)(p - m.places), (long long)old, (long long)value,
         name_of(order));
    return old;
}

bool model_compare_exchange(volatile void *address, size_t bytes, void *expected, uint64_t desired, model_order order,
                            model_order failure)
{
    give_way();
    place *p = find(address, bytes);
    uint64_t wanted = 0;
    memcpy(&wanted, expected, bytes);
    tick();
    exchange_sequential((uint32_t)(p - m.places), order);
    uint64_t old = newest(p)->value;
    if (old == wanted) {
        change(p, desired, order);
    } else {
        if (is_thread()) {
            now()->oldest[p - m.places] = (uint8_t)(p->count - 1);
            if (acquires(failure))
                join(now(), &newest(p)->carried);
        }
        memcpy(expected, &old, bytes);
    }
    exchange_sequential((uint32_t)(p - m.places), order);
    note("cas   place %u: %lld, %lld -> %lld: %s (%s)", (uint32_t)(p - m.places), (long long)old, (long long)wanted,
         (long long)desired, old == wanted ? "done" : "failed", name_of(order));
    return old == wanted;
}

void model_relax(void)
{
    if (!is_thread())
        return;
    thread *t = &m.threads[m.running];
    t->state = SPINNING;
    note("spins");
    give_way();
    for (uint32_t i = 0; i < m.places_count; i++) /* in the end every write becomes visible */
        t->now.oldest[i] = (uint8_t)(m.places[i].count - 1);
}

static long wait_on(const volatile void *address, uint32_t value)
{
    give_way();
    place *p = find(address, 4);
    if ((uint32_t)newest(p)->value != value) { /* the kernel looks at memory itself, through this thread's CPU */
        now()->oldest[p - m.places] = (uint8_t)(p->count - 1);
        note("futex wait: value has changed");
        return -1;
    }
    m.threads[m.running].state = WAITING;
    m.threads[m.running].waits_on = address;
    note("futex wait: sleeps");
    give_way();
    return 0;
}

static long wake_all(const volatile void *address)
{
    give_way();
    note("futex wake");
    for (uint32_t t = 0; t < m.scenario->threads; t++)
        if (m.threads[t].state == WAITING && m.threads[t].waits_on == address)
            m.threads[t].state = READY;
    return 0;
}

/* A full fence in every thread. */
static long barrier(void)
{
    give_way();
    note("membarrier");
    for (uint32_t t = 0; t < m.scenario->threads; t++)
        join(&m.sequential, &m.threads[t].now);
    for (uint32_t t = 0; t < m.scenario->threads; t++)
        join(&m.threads[t].now, &m.sequential);
    return 0;
}

long model_syscall(long number, ...)
{
    va_list arguments;
    long result = 0;

    va_start(arguments, number);
    if (number == SYS_membarrier) {
        int command = va_arg(arguments, int);
        result = command == MEMBARRIER_CMD_PRIVATE_EXPEDITED ? barrier() : 0;
    } else if (number == SYS_futex) {
        const volatile void *address = va_arg(arguments, const volatile void *);
        int command = va_arg(arguments, int) & FUTEX_CMD_MASK;
        uint32_t value = va_arg(arguments, uint32_t);
        result = command == FUTEX_WAKE ? wake_all(address) : wait_on(address, value);
    }
    va_end(arguments);
    return result;
}

void model_check(bool holds, const char *what)
{
    if (!holds)
        fail(what);
}

static plain *find_plain(const void *address)
{
    for (uint32_t i = 0; i < m.plains_count; i++)
        if (m.plains[i].address == address)
            return &m.plains[i];
    if (m.plains_count == PLAIN_MAX) {
        fprintf(stderr, "model: more than %d plain objects\n", PLAIN_MAX);
        exit(2);
    }
    m.plains[m.plains_count] = (plain){.address = address, .writer = -1};
    return &m.plains[m.plains_count++];
}

void model_read(const void *address)
{
    plain *p = find_plain(address);

    if (!is_thread())
        return;
    tick();
    if (p->writer >= 0 && now()->clock[p->writer] < p->written)
        fail("a data race: plain data are read while, or before, another thread's write of them is visible");
    p->read[m.running] = now()->clock[m.running];
}

void model_write(const void *address)
{
    plain *p = find_plain(address);

    if (!is_thread())
        return;
    tick();
    if (p->writer >= 0 && now()->clock[p->writer] < p->written)
        fail("a data race: plain data are written by two threads in no order");
    for (uint32_t t = 0; t < m.scenario->threads; t++)
        if (now()->clock[t] < p->read[t])
            fail("a data race: plain data are written while another thread may still read them");
    p->writer = (int)m.running;
    p->written = now()->clock[m.running];
}

/* Each turn is one execution. */
static void thread_main(void)
{
    for (;;) {
        m.scenario->run(m.running);
        m.threads[m.running].state = ENDED;
        to_scheduler();
    }
}

/* Returns when the thread gives way. */
static __attribute__((noinline)) void resume(thread *t)
{
    if (_setjmp(m.scheduler) != 0)
        return;
    if (t->has_begun)
        _longjmp(t->at, 1);
    t->has_begun = true;

    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = t->stack;
    context.uc_stack.ss_size = STACK_BYTES;
    context.uc_link = NULL;
    makecontext(&context, thread_main, 0);
    setcontext(&context);
}

/* A spinning thread goes on if some place holds another value than the one it may still read. */
static bool can_run(const thread *t)
{
    bool is_behind = false;

    for (uint32_t i = 0; i < m.places_count; i++)
        is_behind = is_behind || newest(&m.places[i])->value != m.places[i].writes[t->now.oldest[i]].value;
    return t->state == READY || (t->state == SPINNING && is_behind);
}

/* The thread to go on; the one that ran last comes first, so that the first choice is no switch. */
static uint32_t pick(uint32_t last)
{
    uint32_t ready[MODEL_THREADS_MAX], count = 0;
    bool can_stay = last < m.scenario->threads && can_run(&m.threads[last]);

    if (can_stay)
        ready[count++] = last;
    if (!can_stay || m.switches < m.scenario->switches_max)
        for (uint32_t t = 0; t < m.scenario->threads; t++)
            if (t != last && can_run(&m.threads[t]))
                ready[count++] = t;
    if (count == 0)
        return MODEL_THREADS_MAX;
    uint32_t next = ready[choose(count)];
    m.switches += can_stay && next != last;
    return next;
}

static void start_threads(void)
{
    for (uint32_t t = 0; t < m.scenario->threads; t++) {
        thread *one = &m.threads[t];

        if (one->stack == NULL)
            one->stack = malloc(STACK_BYTES);
        one->has_begun = one->has_begun && one->state == ENDED; /* else it is left where it was, and begins anew */
        one->state = READY;
        one->waits_on = NULL;
        one->now = (view){.oldest = {0}};
    }
}

static void run_once(void)
{
    uint32_t last = MODEL_THREADS_MAX;

    m.places_count = m.plains_count = m.steps_count = m.choices = m.switches = 0;
    m.sequential = (view){.oldest = {0}};
    m.running = MODEL_THREADS_MAX;
    start_threads();
    m.scenario->set_up();
    while (!m.has_failed) {
        uint32_t next = pick(last);
        if (next == MODEL_THREADS_MAX)
            break;
        m.threads[next].state = READY;
        last = m.running = next;
        resume(&m.threads[next]);
    }
    m.running = MODEL_THREADS_MAX;
    for (uint32_t t = 0; t < m.scenario->threads; t++)
        if (m.threads[t].state != ENDED && !m.has_failed)
            fail("nobody can go on: a wake-up is lost, or somebody waits for ever");
    if (!m.has_failed)
        m.scenario->finish();
}

/* False: all have been tried. */
static bool next_choices(void)
{
    while (m.choices > 0 && m.chosen[m.choices - 1] + 1 == m.alternatives[m.choices - 1])
        m.choices--;
    if (m.choices == 0)
        return false;
    m.chosen[m.choices - 1]++;
    m.replayed = m.choices;
    return true;
}

uint64_t model_explore(const model_scenario *scenario)
{
    uint64_t executions = 0;

    m.scenario = scenario;
    m.has_failed = false;
    m.replayed = 0;
    do {
        run_once();
        executions++;
    } while (!m.has_failed && next_choices());
    if (m.has_failed)
        return 0;
    printf("%-60s %9llu executions, at most %u switches\n", scenario->name, (unsigned long long)executions,
           scenario->switches_max);
    return executions;
}
