/* name_signals: a fatal signal in a body names its task, and the host does not feel it: its handlers get all that they
 * would get without Clotho, and what it installs stays. Each scene runs in a child, whose output comes back. */
#define _GNU_SOURCE
#include "support.h"

#include "rt.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NOWHERE 0x1230

typedef struct world {
    clo_platform *platform;
    clo_runtime *runtime;
} world;

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

static world begin(void)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    world w = {.platform = scene_platform(1, 0)};

    config.unpinned = 1;
    config.name_signals = 1;
    if (clo_runtime_create(w.platform, &config, &w.runtime) != CLO_OK)
        say(clo_last_error());
    return w;
}

static void end(world *w)
{
    clo_runtime_destroy(w->runtime);
    clo_platform_destroy(w->platform);
}

/* Runs one task with this body and waits for it. */
static void run(const world *w, const char *name, clo_task_fn body)
{
    clo_task task = {.name = name, .body = body, .work_ns = 1000};
    clo_graph *graph = scene_layers(1, 1, &task);
    clo_cost *cost;
    clo_job *job;

    if (clo_cost_create(graph, w->platform, &cost) != CLO_OK ||
        clo_job_create(w->runtime, cost, NULL, &job) != CLO_OK || clo_job_submit(job) != CLO_OK ||
        clo_job_wait(job, NULL) != CLO_OK)
        say(clo_last_error());
}

static int touch_nowhere(const clo_call *call)
{
    (void)call;
    *(volatile int *)NOWHERE = 1;
    return 0;
}

static int raise_fpe(const clo_call *call)
{
    (void)call;
    raise(SIGFPE);
    return 0;
}

/* Runs the scene in a child; what it says comes back in `text`, its status is returned. */
static int in_child(void (*scene)(void), char *text, size_t bytes)
{
    int pipes[2], status = 0;
    size_t used = 0;

    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit none = {0, 0};

        setrlimit(RLIMIT_CORE, &none);
        for (int s = 1; s < 32; s++)
            signal(s, SIG_DFL); /* CMocka's own handlers */
        dup2(pipes[1], STDERR_FILENO);
        alarm(20);
        scene();
        _exit(0);
    }
    close(pipes[1]);
    for (ssize_t got; used + 1 < bytes && (got = read(pipes[0], text + used, bytes - 1 - used)) > 0;)
        used += (size_t)got;
    text[used] = '\0';
    close(pipes[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void is_killed_by(int number, void (*scene)(void), const char *want)
{
    char text[2000];
    int status = in_child(scene, text, sizeof text);

    if (!WIFSIGNALED(status) || WTERMSIG(status) != number || strcmp(text, want) != 0)
        fail_msg("status %x, not signal %d; it said: %s", (unsigned)status, number, text);
}

static void exits_with(int code, void (*scene)(void), const char *want)
{
    char text[2000];
    int status = in_child(scene, text, sizeof text);

    if (!WIFEXITED(status) || WEXITSTATUS(status) != code || strcmp(text, want) != 0)
        fail_msg("status %x, not exit %d; it said: %s", (unsigned)status, code, text);
}

static void look_closely(int number, siginfo_t *info, void *context)
{
    sigset_t now;

    pthread_sigmask(SIG_SETMASK, NULL, &now);
    /* A sanitizer calls handlers for the kernel, with a mask of its own. */
    bool is_masked =
        SANITIZED ||
        (sigismember(&now, SIGPROF) == 1 && sigismember(&now, SIGILL) == 0 && sigismember(&now, SIGSEGV) == 0);
    if (number == SIGSEGV && info->si_signo == SIGSEGV && info->si_code == SEGV_MAPERR &&
        info->si_addr == (void *)NOWHERE && context != NULL && is_masked)
        _exit(7);
    say("wrong information");
    _exit(8);
}

static void fault_before_a_handler(void)
{
    struct sigaction action = {.sa_sigaction = look_closely, .sa_flags = SA_SIGINFO | SA_NODEFER};

    sigaddset(&action.sa_mask, SIGPROF); /* which workers do not block by themselves */
    sigaction(SIGSEGV, &action, NULL);
    world w = begin();
    run(&w, "bang", touch_nowhere);
}

static void an_earlier_handler_gets_the_address_the_context_its_mask_and_its_flags(void **state)
{
    (void)state;
    exits_with(7, fault_before_a_handler, "clotho: SIGSEGV in task 'bang' on worker 0\n");
}

static void count(int number)
{
    (void)number;
    say("host\n");
}

static void signals_that_a_handler_survives(void)
{
    signal(SIGFPE, count);
    world w = begin();
    run(&w, "first", raise_fpe);
    run(&w, "second", raise_fpe);
    end(&w);
}

static void a_handler_that_returns_is_called_each_time(void **state)
{
    (void)state;
    exits_with(0, signals_that_a_handler_survives,
               "clotho: SIGFPE in task 'first' on worker 0\nhost\nclotho: SIGFPE in task 'second' on worker 0\nhost\n");
}

static void signals_for_a_handler_of_one_shot(void)
{
    struct sigaction action = {.sa_handler = count, .sa_flags = (int)SA_RESETHAND};

    sigaction(SIGFPE, &action, NULL);
    world w = begin();
    run(&w, "first", raise_fpe);
    run(&w, "second", raise_fpe);
}

static void a_handler_of_one_shot_is_called_once(void **state)
{
    (void)state;
    is_killed_by(SIGFPE, signals_for_a_handler_of_one_shot,
                 "clotho: SIGFPE in task 'first' on worker 0\nhost\nclotho: SIGFPE in task 'second' on worker 0\n");
}

static void an_ignored_signal(void)
{
    signal(SIGFPE, SIG_IGN);
    signal(SIGSEGV, SIG_IGN);
    world w = begin();
    run(&w, "raised", raise_fpe);
    kill(getpid(), SIGSEGV);
    say("alive\n");
    run(&w, "fault", touch_nowhere); /* which cannot be ignored */
}

static void what_is_ignored_stays_ignored_but_for_faults(void **state)
{
    (void)state;
    is_killed_by(SIGSEGV, an_ignored_signal,
                 "clotho: SIGFPE in task 'raised' on worker 0\nalive\nclotho: SIGSEGV in task 'fault' on worker 0\n");
}

static void a_name_with_an_escape_sequence(void)
{
    world w = begin();
    run(&w, "\x1b[31mred\n", raise_fpe);
}

static void a_name_cannot_command_the_terminal(void **state)
{
    (void)state;
    is_killed_by(SIGFPE, a_name_with_an_escape_sequence, "clotho: SIGFPE in task '\\x1b[31mred\\x0a' on worker 0\n");
}

static void later(int number)
{
    (void)number;
}

static void a_handler_that_comes_later(void)
{
    struct sigaction after;
    world w = begin();

    signal(SIGSEGV, later);
    end(&w);
    sigaction(SIGSEGV, NULL, &after);
    if (after.sa_handler == later)
        say("kept");
    sigaction(SIGFPE, NULL, &after);
    if (after.sa_handler != SIG_DFL)
        say(", but SIGFPE is not as it was");
}

static void a_handler_that_the_host_installs_later_is_kept(void **state)
{
    (void)state;
    exits_with(0, a_handler_that_comes_later, "kept");
}

static struct sigaction kept[8];
static int kept_count;

/* As a host does that calls whoever was there before it. */
static void call_next(int number, siginfo_t *info, void *context)
{
    const struct sigaction *next = &kept[--kept_count];

    say("host\n");
    if (next->sa_flags & SA_SIGINFO)
        next->sa_sigaction(number, info, context);
}

static void handlers_in_turn(void)
{
    struct sigaction action = {.sa_sigaction = call_next, .sa_flags = SA_SIGINFO};

    for (int round = 0; round < 6; round++) {
        world w = begin();
        if (round == 3)
            run(&w, "deep", raise_fpe);
        sigaction(SIGFPE, &action, &kept[kept_count++]);
        end(&w);
    }
}

/* Each host handler calls the next below it, ours among them, and nothing calls itself. */
static void hosts_and_runtimes_may_stack_their_handlers(void **state)
{
    char text[2000];
    int status = in_child(handlers_in_turn, text, sizeof text);

    (void)state;
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGFPE); /* what was there at first: the default */
    assert_string_equal(text, "clotho: SIGFPE in task 'deep' on worker 0\nhost\nhost\nhost\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_earlier_handler_gets_the_address_the_context_its_mask_and_its_flags),
        cmocka_unit_test(a_handler_that_returns_is_called_each_time),
        cmocka_unit_test(a_handler_of_one_shot_is_called_once),
        cmocka_unit_test(what_is_ignored_stays_ignored_but_for_faults),
        cmocka_unit_test(a_name_cannot_command_the_terminal),
        cmocka_unit_test(a_handler_that_the_host_installs_later_is_kept),
        cmocka_unit_test(hosts_and_runtimes_may_stack_their_handlers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
