/* real_time.c - threads as real-time work needs them: memory locked and touched, priorities, signals.
 *
 * What the system refuses is told in clo_runtime_report and, where the caller requires it, fails the creation. Locked
 * memory stays locked when the runtime goes: mlockall is the process's, and others may rely on it. */
#define _GNU_SOURCE
#include "run/system/real_time.h"

#include "base/status.h"
#include "engine/execution/body.h"
#include "run/state/runtime.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIFO_DEFAULT 80
#define PAGE_BYTES 4096u
#define STACK_KEPT_BYTES 16384u /* of a stack, not touched beforehand: what the thread stands on already */

static void say(clo_runtime *runtime, const char *word, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void say(clo_runtime *runtime, const char *word, const char *format, ...)
{
    size_t used = strlen(runtime->report);
    va_list arguments;

    used += (size_t)snprintf(runtime->report + used, sizeof runtime->report - used, "%-4s  ", word);
    if (used >= sizeof runtime->report)
        return;
    va_start(arguments, format);
    vsnprintf(runtime->report + used, sizeof runtime->report - used, format, arguments);
    va_end(arguments);
}

/* A refusal: an error where it is required, else a line of the report. */
static clo_status lack(clo_runtime *runtime, const char *what, int error, const char *mend)
{
    if (runtime->real_time == CLO_REAL_TIME_REQUIRE)
        return clo_fail(CLO_ERR_SYSTEM, "%s: %s; %s", what, strerror(error), mend);
    say(runtime, "lack", "%s: %s; %s\n", what, strerror(error), mend);
    return CLO_OK;
}

static void touch(void *memory, size_t bytes)
{
    volatile char *at = memory;

    for (size_t i = 0; i < bytes; i += PAGE_BYTES)
        at[i] ^= 0; /* a write that changes nothing */
}

clo_status clo_real_time_lock(clo_runtime *runtime)
{
    if (runtime->real_time == CLO_REAL_TIME_OFF) {
        say(runtime, "off", "real-time settings were not asked for (clo_runtime_config.real_time)\n");
        return CLO_OK;
    }
    touch(runtime, runtime->block_bytes);
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        return lack(runtime, "memory cannot be locked", errno, "raise RLIMIT_MEMLOCK or grant CAP_IPC_LOCK");
    say(runtime, "ok", "memory is locked, present and future\n");
    return CLO_OK;
}

/* The rest of the stack that this thread will ever use is touched from within, top down as it grows. */
static void touch_stack(const clo_runtime *runtime)
{
    pthread_attr_t attributes;
    void *lowest;
    size_t bytes;

    if (runtime->real_time == CLO_REAL_TIME_OFF)
        return;
    if (runtime->stacks != NULL) { /* ours, one behind the other; the C library would ask the heap */
        bytes = runtime->stack_bytes;
        size_t index = (size_t)((char *)__builtin_frame_address(0) - runtime->stacks) / bytes;
        touch(runtime->stacks + index * bytes, bytes - STACK_KEPT_BYTES);
        return;
    }
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &lowest, &bytes) == 0 && bytes > STACK_KEPT_BYTES &&
        bytes <= CLO_STACK_DEFAULT_BYTES * 64)
        touch(lowest, bytes - STACK_KEPT_BYTES);
    pthread_attr_destroy(&attributes);
}

/* What the calling thread, of a runtime, has blocked before. */
static _Thread_local sigset_t blocked_before;
static _Thread_local bool has_blocked;

/* Handlers of the application run on its own threads; faults and profiling stay. */
static void block_signals(void)
{
    static const int kept[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF};
    sigset_t set;

    sigfillset(&set);
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        sigdelset(&set, kept[i]);
    has_blocked = pthread_sigmask(SIG_BLOCK, &set, &blocked_before) == 0;
}

void clo_thread_unblock_signals(void)
{
    if (has_blocked)
        pthread_sigmask(SIG_SETMASK, &blocked_before, NULL);
}

static int fifo_priority(const clo_runtime *runtime, bool is_watchdog)
{
    int priority = runtime->fifo_priority;

    if (priority == 0 && runtime->real_time != CLO_REAL_TIME_OFF)
        priority = FIFO_DEFAULT;
    return priority > 0 && is_watchdog ? priority + 1 : priority; /* CLO_FIFO_MAX is one below the highest */
}

/* Of which runtime the calling thread is a worker, or the watchdog; NULL: of none. */
static _Thread_local const clo_runtime *works_for, *watches_for;

bool clo_thread_is_worker(const clo_runtime *runtime)
{
    return works_for == runtime;
}

bool clo_thread_is_watchdog(const clo_runtime *runtime)
{
    return watches_for == runtime;
}

bool clo_thread_is_foreign(void)
{
    return works_for == NULL && watches_for == NULL;
}

void clo_thread_stands_in(const clo_runtime *runtime)
{
    works_for = runtime;
    if (runtime != NULL)
        clo_body_enter();
    else
        clo_body_leave();
}

int clo_thread_begin(clo_runtime *runtime, bool is_watchdog)
{
    struct sched_param parameter = {.sched_priority = fifo_priority(runtime, is_watchdog)};

    *(is_watchdog ? &watches_for : &works_for) = runtime;
    clo_body_enter();
    block_signals();
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    touch_stack(runtime);
    if (is_watchdog) /* a refusal leaves it with what it has inherited */
        (void)pthread_setaffinity_np(pthread_self(), sizeof runtime->cpus, (const cpu_set_t *)runtime->cpus);
    if (runtime->dilate > 1 && !is_watchdog)
        (void)prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); /* wake up when the timer says, not up to 50 us later */
    return parameter.sched_priority == 0 ? 0 : pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter);
}

bool clo_real_time_is_wanted(const clo_runtime *runtime)
{
    return runtime->real_time != CLO_REAL_TIME_OFF || runtime->fifo_priority > 0 || runtime->stacks != NULL;
}

clo_status clo_real_time_report_priority(clo_runtime *runtime, bool is_watchdog, int error)
{
    int priority = fifo_priority(runtime, is_watchdog);
    const char *who = is_watchdog ? "the watchdog" : "the workers";
    char what[96];

    if (priority == 0)
        return CLO_OK;
    if (error == 0) {
        say(runtime, "ok", "%s %s SCHED_FIFO priority %d\n", is_watchdog ? "the watchdog" : "workers",
            is_watchdog ? "has" : "have", priority);
        return CLO_OK;
    }
    if (runtime->real_time == CLO_REAL_TIME_OFF) /* asked for by fifo_priority alone: that is an order */
        return clo_fail(CLO_ERR_SYSTEM,
                        "cannot give %s SCHED_FIFO priority %d: %s; raise RLIMIT_RTPRIO or grant CAP_SYS_NICE", who,
                        priority, strerror(error));
    snprintf(what, sizeof what, "SCHED_FIFO is refused to %s (priority %d)", who, priority);
    return lack(runtime, what, error,
                is_watchdog ? "lower clo_runtime_config.fifo_priority, raise RLIMIT_RTPRIO or grant CAP_SYS_NICE"
                            : "raise RLIMIT_RTPRIO or grant CAP_SYS_NICE");
}

void clo_thread_own_faults(uint64_t faults[2])
{
    struct rusage usage;
    bool is_known = getrusage(RUSAGE_THREAD, &usage) == 0;

    faults[0] = is_known ? (uint64_t)usage.ru_minflt : 0;
    faults[1] = is_known ? (uint64_t)usage.ru_majflt : 0;
}

int clo_thread_create(clo_runtime *runtime, int what, pthread_t *thread, void *(*main_of)(void *), void *argument)
{
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);

    if (error != 0)
        return error;
    if (runtime->stacks != NULL) {
        size_t index = what == CLO_THREAD_WATCHDOG ? clo_runtime_threads(runtime) : (size_t)what;
        error =
            pthread_attr_setstack(&attributes, runtime->stacks + index * runtime->stack_bytes, runtime->stack_bytes);
    } else if (runtime->stack_bytes > 0) {
        error = pthread_attr_setstacksize(&attributes, runtime->stack_bytes);
    }
    if (error == 0)
        error = pthread_create(thread, &attributes, main_of, argument);
    pthread_attr_destroy(&attributes);
    return error;
}

void clo_thread_lost(void *unused)
{
    static const char line[] =
        "clotho: a task's body or a handler has ended the thread that runs it, by pthread_exit or "
        "cancellation; it must return\n";

    (void)unused;
    ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
    (void)written;
    abort();
}

int32_t clo_thread_id(void)
{
    return (int32_t)syscall(SYS_gettid);
}

const char *clo_runtime_report(const clo_runtime *runtime)
{
    return runtime != NULL ? runtime->report : "";
}
