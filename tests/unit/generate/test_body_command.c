/* The body "command": exit status, output, directory, and everything that can go wrong with a process. */
#define _GNU_SOURCE
#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the kernel offers: everything, no status behind a descriptor (before 6.15), no descriptors at all; and one that
 * never says the status. */
enum { KERNEL_NEW, KERNEL_OLDER, KERNEL_OLD, KERNELS, KERNEL_SILENT = KERNELS };
static int kernel = KERNEL_NEW, silences;

long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
#ifdef SYS_pidfd_open
    if (kernel == KERNEL_OLD && number == SYS_pidfd_open) {
        errno = ENOSYS;
        return -1;
    }
#endif
    return __real_syscall(number, a, b, c, d, e, f);
}

int __real_ioctl(int file, unsigned long request, void *argument);
int __wrap_ioctl(int file, unsigned long request, void *argument);
int __wrap_ioctl(int file, unsigned long request, void *argument)
{
    if (kernel == KERNEL_OLDER) {
        errno = ENOTTY;
        return -1;
    }
    if (kernel == KERNEL_SILENT) {
        silences++;
        errno = ESRCH;
        return -1;
    }
    return __real_ioctl(file, request, argument);
}

/* Runs argv; `command` may carry more settings. */
static int run(clo_command *command, char *const *argv)
{
    clo_call call = {.argument = command};

    command->argv = argv;
    command->exit_status = -1;
    int result = clo_body_command(&call);
    assert_int_equal(command->exit_status, result);
    return result;
}

static int shell(clo_command *command, const char *script)
{
    char text[400];
    char *argv[] = {"sh", "-c", text, NULL};

    snprintf(text, sizeof text, "%s", script);
    return run(command, argv);
}

static void the_exit_status_is_the_result(void **state)
{
    (void)state;
    clo_command command = {0};

    assert_int_equal(run(&command, (char *[]){"true", NULL}), 0);
    assert_int_equal(run(&command, (char *[]){"false", NULL}), 1);
    assert_int_equal(shell(&command, "exit 42"), 42);
    assert_int_equal(shell(&command, "kill -TERM $$"), 128 + SIGTERM);
}

static void stdout_and_stderr_are_kept_in_order(void **state)
{
    (void)state;
    char output[100];
    clo_command command = {.output = output, .output_bytes = sizeof output};

    assert_int_equal(shell(&command, "echo one; echo two >&2; printf three"), 0);
    assert_string_equal(output, "one\ntwo\nthree");
    assert_int_equal(shell(&command, "exit 3"), 3);
    assert_string_equal(output, ""); /* not what was there before */
}

static void output_that_does_not_fit_is_dropped(void **state)
{
    (void)state;
    char output[8];
    clo_command command = {.output = output, .output_bytes = 7};

    output[7] = '!';
    /* far more than a pipe holds: the process must not block on us */
    assert_int_equal(shell(&command, "i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; "
                                     "i=$((i+1)); done"),
                     0);
    assert_string_equal(output, "012345");
    assert_int_equal(output[7], '!');
    command.output_bytes = 1;
    assert_int_equal(shell(&command, "echo hello"), 0);
    assert_string_equal(output, "");
    command.output = NULL;
    assert_int_equal(shell(&command, "echo hello; echo hello >&2"), 0);
}

static void a_buffer_of_no_bytes_is_not_touched(void **state)
{
    (void)state;
    char output = '!';
    clo_command command = {.output = &output, .output_bytes = 0};

    assert_int_equal(shell(&command, "echo hello"), 0);
    assert_int_equal(output, '!');
}

static void what_is_left_in_the_pipe_at_the_end_is_kept(void **state)
{
    (void)state;
    static char output[70000];
    clo_command command = {.output = output, .output_bytes = sizeof output};

    for (int i = 0; i < 5; i++) { /* the process ends at once: all of it fits into a pipe */
        assert_int_equal(shell(&command, "head -c 60000 /dev/zero | tr '\\0' x"), 0);
        assert_int_equal(strlen(output), 60000);
        assert_int_equal(strspn(output, "x"), 60000);
    }
}

static void it_runs_in_its_directory(void **state)
{
    (void)state;
    char output[100];
    clo_command command = {.output = output, .output_bytes = sizeof output, .directory = "/"};

    assert_int_equal(run(&command, (char *[]){"pwd", NULL}), 0);
    assert_string_equal(output, "/\n");
    command.directory = "/no/such/directory";
    assert_int_equal(run(&command, (char *[]){"pwd", NULL}), 127);
}

static void what_cannot_be_started_gives_127(void **state)
{
    (void)state;
    clo_command command = {0};
    clo_call call = {.argument = NULL};

    assert_int_equal(run(&command, (char *[]){"no-such-command-anywhere", NULL}), 127);
    assert_int_equal(run(&command, (char *[]){"/", NULL}), 127);
    assert_int_equal(run(&command, (char *[]){NULL}), 127);
    assert_int_equal(run(&command, NULL), 127);
    assert_int_equal(clo_body_command(&call), 127);
}

/* The shell's child holds the pipe long after the shell has ended. */
/* The linker puts these in the place of the C library's. */
int __real_posix_spawnattr_init(posix_spawnattr_t *attributes);
int __wrap_posix_spawnattr_init(posix_spawnattr_t *attributes);
int __real_posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions);
int __wrap_posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions);

static bool attributes_fail, actions_fail;

int __wrap_posix_spawnattr_init(posix_spawnattr_t *attributes)
{
    return attributes_fail ? ENOMEM : __real_posix_spawnattr_init(attributes);
}

int __wrap_posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions)
{
    return actions_fail ? ENOMEM : __real_posix_spawn_file_actions_init(actions);
}

static void without_memory_for_its_settings_nothing_is_started(void **state)
{
    (void)state;
    clo_command command = {0};

    attributes_fail = true;
    assert_int_equal(run(&command, (char *[]){"true", NULL}), 127);
    attributes_fail = false;
    actions_fail = true;
    assert_int_equal(run(&command, (char *[]){"true", NULL}), 127);
    actions_fail = false;
    assert_int_equal(run(&command, (char *[]){"true", NULL}), 0);
}

static void a_grandchild_does_not_hold_the_body(void **state)
{
    (void)state;
    char output[100];
    clo_command command = {.output = output, .output_bytes = sizeof output};
    assert_int_equal(shell(&command, "sleep 1000 & echo $!; exit 5"), 5);
    pid_t sleeps = (pid_t)strtol(output, NULL, 10);
    assert_true(sleeps > 1);
    assert_int_equal(kill(sleeps, SIGTERM), 0); /* was still there */
    /* one that never stops writing either; it ends by itself when the pipe is gone */
    assert_int_equal(shell(&command, "yes & exit 6"), 6);
}

/* Signals that a worker blocks must reach the process; a shell would clear its mask itself, so grep is asked. */
static void the_child_starts_with_an_empty_signal_mask_and_no_input(void **state)
{
    (void)state;
    char output[100];
    clo_command command = {.output = output, .output_bytes = sizeof output};
    sigset_t all, before;

    sigfillset(&all);
    assert_int_equal(sigprocmask(SIG_SETMASK, &all, &before), 0);
    int result = run(&command, (char *[]){"grep", "SigBlk", "/proc/self/status", NULL});
    assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
    assert_int_equal(result, 0);
    assert_string_equal(output, "SigBlk:\t0000000000000000\n");
    assert_int_equal(shell(&command, "if read line; then exit 1; else exit 7; fi"), 7);
}

static int open_files(void)
{
    DIR *directory = opendir("/proc/self/fd");
    int count = 0;

    assert_non_null(directory);
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count;
}

static void no_file_and_no_process_is_left(void **state)
{
    (void)state;
    char output[10];
    clo_command command = {.output = output, .output_bytes = sizeof output};
    int before = open_files();

    for (int i = 0; i < 20; i++) {
        assert_int_equal(run(&command, (char *[]){"true", NULL}), 0);
        assert_int_equal(run(&command, (char *[]){"no-such-command-anywhere", NULL}), 127);
    }
    assert_int_equal(open_files(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child at all */
}

/* Each command's own status, or 125 where it is lost: a failure is never taken for success. */
static void hold_no_false_success(void)
{
    for (kernel = KERNEL_NEW; kernel < KERNELS; kernel++)
        for (int i = 0; i < 40; i++) {
            clo_command command = {0};
            int failed = run(&command, (char *[]){"false", NULL}), good = run(&command, (char *[]){"true", NULL});
            if ((failed != 1 && failed != 125) || (good != 0 && good != 125))
                fail_msg("kernel %d, round %d: false gave %d, true gave %d", kernel, i, failed, good);
        }
    kernel = KERNEL_NEW;
}

static atomic_int reaping;

static void *reap(void *argument)
{
    while (atomic_load(&reaping) != 0)
        if (waitpid(-1, NULL, WNOHANG) <= 0)
            sched_yield();
    return argument;
}

static void a_host_that_reaps_children_makes_no_failure_a_success(void **state)
{
    (void)state;
    pthread_t thread;

    atomic_store(&reaping, 1);
    assert_int_equal(pthread_create(&thread, NULL, reap, NULL), 0);
    hold_no_false_success();
    atomic_store(&reaping, 0);
    pthread_join(thread, NULL);
}

static void a_host_that_ignores_sigchld_makes_no_failure_a_success(void **state)
{
    (void)state;
    clo_command command = {0};

    signal(SIGCHLD, SIG_IGN);
    hold_no_false_success();
    kernel = KERNEL_OLD;
    assert_int_equal(run(&command, (char *[]){"true", NULL}), 125);
    kernel = KERNEL_OLDER;
    assert_int_equal(run(&command, (char *[]){"true", NULL}), 125);
    kernel = KERNEL_SILENT; /* it is asked some times, and then given up; not at all if the child ends too early */
    while (silences == 0)
        assert_int_equal(run(&command, (char *[]){"sleep", "0.01", NULL}), 125);
    kernel = KERNEL_NEW;
    signal(SIGCHLD, SIG_DFL);
    assert_int_equal(shell(&command, "exit 9"), 9);
}

static void without_process_descriptors_everything_holds_too(void **state)
{
    kernel = KERNEL_OLD;
    the_exit_status_is_the_result(state);
    a_grandchild_does_not_hold_the_body(state);
    no_file_and_no_process_is_left(state);
    kernel = KERNEL_NEW;
}

static void the_output_buffer_is_written_too(void **state)
{
    (void)state;
    char *argv[] = {"true", NULL};
    clo_command command = {.argv = argv};
    unsigned char bytes[24] = {0}, zero[24] = {0}, spin[24];
    clo_call call = {.argument = &command, .task = 3, .output = bytes, .output_bytes = sizeof bytes};

    assert_int_equal(clo_body_command(&call), 0);
    assert_true(memcmp(bytes, zero, sizeof bytes) != 0);
    call.output = spin;
    assert_int_equal(clo_body_spin(&call), 0);
    assert_memory_equal(bytes, spin, sizeof bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_exit_status_is_the_result),
        cmocka_unit_test(stdout_and_stderr_are_kept_in_order),
        cmocka_unit_test(output_that_does_not_fit_is_dropped),
        cmocka_unit_test(a_buffer_of_no_bytes_is_not_touched),
        cmocka_unit_test(what_is_left_in_the_pipe_at_the_end_is_kept),
        cmocka_unit_test(it_runs_in_its_directory),
        cmocka_unit_test(what_cannot_be_started_gives_127),
        cmocka_unit_test(without_memory_for_its_settings_nothing_is_started),
        cmocka_unit_test(a_grandchild_does_not_hold_the_body),
        cmocka_unit_test(the_child_starts_with_an_empty_signal_mask_and_no_input),
        cmocka_unit_test(no_file_and_no_process_is_left),
        cmocka_unit_test(a_host_that_reaps_children_makes_no_failure_a_success),
        cmocka_unit_test(a_host_that_ignores_sigchld_makes_no_failure_a_success),
        cmocka_unit_test(without_process_descriptors_everything_holds_too),
        cmocka_unit_test(the_output_buffer_is_written_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
