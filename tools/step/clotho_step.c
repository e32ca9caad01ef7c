/* clotho_step.c - one command of a build, of which nothing is left behind.
 *
 *   clotho-step CONTROL KEPT HOW FILES GROUP COMMAND
 *
 * CONTROL is a socket that it inherits, KEPT a file that it keeps open to its end, but not for the command (-1: none),
 * HOW two letters: c where the command has the terminal, else p; e where servers end with the command, else k. FILES
 * is the soft limit of open files that the command gets (0: as it is), GROUP the folder of a control group that the
 * command joins ("": none).
 *
 * It starts `/bin/sh -c COMMAND` in a process group of its own and in the session of this program (for the console in
 * those of the caller), without what a command should not inherit. When that has ended, it writes one line to CONTROL:
 * "STATUS WALL_US USER_US SYSTEM_US PEAK_KIB", a wait status and what wait4 says. It ends when nothing of the command
 * lives any more: whatever loses its parent becomes its child. Each byte that comes in on CONTROL is a signal for the
 * command; SIGKILL, or the end of CONTROL, is for all that the command has begun; 0 says that the command has ended and
 * its output is closed, and is for what it has left in its session. So a builder that is killed leaves nothing running
 * either, but servers (see owner.h): these go on, to whoever called the builder, and the exit status is
 * STEP_HAS_SERVERS. This program leaves its caller's group and session, as SIGKILL for that group must leave
 * somebody who ends the commands.
 *
 * A small program, because the peak of a child begins at the peak of the process that it was forked from. */
#define _GNU_SOURCE
#include "ninja/step/owner.h"
#include "ninja/step/pids.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_NOT_BEGUN = 127, MORE_LIKELY_KILLED = 500, LEAST_SURE = 1000 };

typedef struct helper {
    int control;
    bool has_console, is_ended, is_left;
    unsigned long files;
    const char *group, *command;
    char children[64]; /* the kernel's list of them */
    sigset_t mask;     /* of the caller, for the command */
    pid_t child;
    step_owner owner;
    int64_t began_us;
} helper;

static int64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* A file of the kernel that takes a short text. */
static bool write_file(const char *folder, const char *name, const char *text)
{
    char path[4096];

    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return false;
    int file = open(path, O_WRONLY | O_CLOEXEC);
    bool is_good = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0)
        close(file);
    return is_good;
}

/* The kernel's killer takes a command before the builder. Raising one's own number is always allowed. */
static void be_killed_first(void)
{
    char text[24] = "";
    int file = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
    ssize_t got = file >= 0 ? read(file, text, sizeof text - 1) : -1;

    if (file >= 0)
        close(file);
    if (got <= 0)
        return;
    long score = strtol(text, NULL, 10) + MORE_LIKELY_KILLED;
    snprintf(text, sizeof text, "%ld", score > LEAST_SURE ? LEAST_SURE : score);
    write_file("/proc/self", "oom_score_adj", text);
}

/* A real-time policy is the builder's, not its compilers'. */
static void take_usual_policy(void)
{
    const struct sched_param usual = {0};
    int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;

    if (policy == SCHED_FIFO || policy == SCHED_RR || policy == SCHED_DEADLINE)
        sched_setscheduler(0, SCHED_OTHER, &usual);
}

static _Noreturn void run_command(const helper *h, pid_t parent)
{
    struct rlimit files;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_NOT_BEGUN);
    if (!h->has_console)
        setpgid(0, 0);
    if (h->group[0] != '\0')
        write_file(h->group, "cgroup.procs", "0");
    be_killed_first();
    if (h->files > 0 && getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = h->files < files.rlim_max ? h->files : files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    sigprocmask(SIG_SETMASK, &h->mask, NULL);
    execl("/bin/sh", "/bin/sh", "-c", h->command, (char *)NULL);
    fprintf(stderr, "clotho-step: /bin/sh cannot be begun: %s; install a shell\n", strerror(errno));
    _exit(EXIT_NOT_BEGUN);
}

static void report(helper *h, int status, const struct rusage *use)
{
    char line[128];
    int bytes = snprintf(line, sizeof line, "%d %" PRId64 " %" PRId64 " %" PRId64 " %ld\n", status,
                         now_us() - h->began_us, (int64_t)use->ru_utime.tv_sec * 1000000 + use->ru_utime.tv_usec,
                         (int64_t)use->ru_stime.tv_sec * 1000000 + use->ru_stime.tv_usec, use->ru_maxrss);

    h->is_ended = true;
    send(h->control, line, (size_t)bytes, MSG_NOSIGNAL);
}

/* The pipe of the output ends with the command, not with the helper. */
static void let_go_of_output(void)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int i = 0; nothing >= 0 && i <= 2; i++)
        dup2(nothing, i);
    if (nothing > 2)
        close(nothing);
}

/* Takes what has ended. False: no child is left. */
static bool reap(helper *h, int flags)
{
    struct rusage use;
    int status;
    pid_t pid;

    while ((pid = wait4(-1, &status, flags, &use)) > 0 || (pid < 0 && errno == EINTR)) {
        if (pid == h->child)
            report(h, status, &use);
        if (pid > 0 && flags == 0)
            return true;
    }
    return pid == 0;
}

/* Ends what is the step's own of all that descends from here, a generation a round: orphans become children. */
static void kill_all(helper *h)
{
    char group[4096];
    int count;
    bool has_group =
        h->group[0] != '\0' && snprintf(group, sizeof group, "%s/cgroup.procs", h->group) < (int)sizeof group;
    do {
        if (has_group)
            owner_kill(&h->owner, group);
        count = owner_kill(&h->owner, h->children);
        if (count <= 0 && !h->is_ended) /* the kernel keeps no list of children */
            count = kill(h->child, SIGKILL) == 0;
    } while (count > 0 && reap(h, 0));
}

/* Servers leave the step's group for the one above the build's, or for the builder's where that may hold no process. */
static void move_servers(const helper *h, const char *parent)
{
    char list[4200], number[16];

    snprintf(list, sizeof list, "%s/cgroup.procs", h->group);
    FILE *file = fopen(list, "re");
    if (file == NULL)
        return;
    for (pid_t pid = pids_next(file); pid > 1; pid = pids_next(file)) {
        snprintf(number, sizeof number, "%d", (int)pid);
        if (!write_file(parent, "cgroup.procs", number))
            write_file(parent, "clotho-self/cgroup.procs", number);
    }
    fclose(file);
}

/* The builder is gone: its control groups go with the last who knows them. */
static void leave_groups(const helper *h)
{
    char whole[4096], parent[4200];
    const char *end = strrchr(h->group, '/');

    if (end == NULL || strlen(h->group) >= sizeof whole)
        return;
    snprintf(whole, sizeof whole, "%.*s", (int)(end - h->group), h->group);
    snprintf(parent, sizeof parent, "%s/..", whole);
    move_servers(h, parent);
    rmdir(h->group);
    rmdir(whole); /* succeeds for the last one */
}

/* To all of the command's session. A child that has not made it yet keeps what is sent to it alone: it still blocks all
 * signals. */
static void send_on(const helper *h, int number)
{
    if (h->has_console || (kill(-h->child, number) != 0 && errno == ESRCH && !h->is_ended))
        kill(h->child, number);
}

static void obey(helper *h)
{
    unsigned char numbers[16];
    ssize_t got = recv(h->control, numbers, sizeof numbers, MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0 || numbers[0] != 0)
        owner_settle(&h->owner, h->children);
    h->is_left = got <= 0;
    for (ssize_t i = 0; i < got; i++)
        if (numbers[i] != SIGKILL && numbers[i] != 0)
            send_on(h, numbers[i]);
        else
            h->is_left = true;
    if (!h->is_left)
        return;
    if (got > 0 && numbers[got - 1] == 0 && !h->has_console)
        h->owner.count = 0; /* nobody has the output open */
    kill_all(h);
    if (got <= 0)
        leave_groups(h);
}

static int watch(helper *h)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    int children = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    struct pollfd wait_for[2] = {{.fd = children, .events = POLLIN}, {.fd = h->control, .events = POLLIN}};

    if (children < 0) {
        kill_all(h);
        return EXIT_NOT_BEGUN;
    }
    while (!h->is_left && reap(h, WNOHANG)) {
        struct signalfd_siginfo about;
        if (poll(wait_for, 2, -1) < 0)
            continue;
        while (read(children, &about, sizeof about) > 0)
            continue;
        if (wait_for[1].revents != 0)
            obey(h);
    }
    return reap(h, WNOHANG) ? STEP_HAS_SERVERS : 0;
}

/* As long as this program lives, its group is its own, also where the builder is gone: `remove_build` of the next builder
 * looks at the lock. A child has it until it runs the shell. */
static void hold_group(const helper *h)
{
    int folder = h->group[0] != '\0' ? open(h->group, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    if (folder >= 0)
        flock(folder, LOCK_EX | LOCK_NB);
}

/* The command's place: its session, and what it writes to. */
static void take_place(helper *h)
{
    snprintf(h->children, sizeof h->children, "/proc/self/task/%d/children", (int)getpid());
    if (!h->has_console)
        setsid();
    h->owner.session = getsid(0);
    owner_add_output(&h->owner, 1);
    owner_add_output(&h->owner, 2);
}

static bool fail_to_begin(void)
{
    fprintf(stderr, "clotho-step: no process can be begun: %s; look at the limits of this user\n", strerror(errno));
    return false;
}

/* Returns when nobody has the other end of the pipe any more. */
static void wait_for_end(const int ends[2])
{
    char nothing;

    close(ends[1]);
    while (read(ends[0], &nothing, 1) < 0 && errno == EINTR)
        continue;
}

/* The console's command stays where the caller is, and this program leaves. With a parent in another group of the same
 * session, the command's end could have the kernel send SIGHUP to all of the caller's group: if a member is stopped
 * (orphaned process groups). And a command that kills its group must not take this program along. So it begins when
 * we have left. */
static bool begin_command(helper *h)
{
    pid_t mine = getpid();
    int left[2] = {-1, -1};

    if (h->has_console && pipe2(left, O_CLOEXEC) != 0)
        return fail_to_begin();
    h->began_us = now_us();
    h->child = fork();
    if (h->child < 0)
        return fail_to_begin();
    if (h->child == 0) {
        if (h->has_console)
            wait_for_end(left);
        run_command(h, mine);
    }
    if (!h->has_console) {
        let_go_of_output();
        return true;
    }
    setsid();
    close(left[0]);
    close(left[1]);
    return true;
}

int main(int count, char **arguments)
{
    helper h = {0};
    sigset_t all;

    if (count != 7) {
        fprintf(stderr, "clotho-step: it is started by `clotho build` alone; call that\n");
        return 2;
    }
    h.control = (int)strtol(arguments[1], NULL, 10);
    h.has_console = arguments[3][0] == 'c';
    h.owner.owns_all = arguments[3][0] != '\0' && arguments[3][1] == 'e';
    h.files = strtoul(arguments[4], NULL, 10);
    h.group = arguments[5];
    h.command = arguments[6];
    fcntl(h.control, F_SETFD, FD_CLOEXEC);
    fcntl((int)strtol(arguments[2], NULL, 10), F_SETFD, FD_CLOEXEC); /* fails for -1 */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &h.mask);
    signal(SIGCHLD, SIG_DFL); /* ignored, it would take the status away */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    take_usual_policy();
    hold_group(&h);
    take_place(&h);
    return begin_command(&h) ? watch(&h) : EXIT_NOT_BEGUN;
}

/* The leak checker of a sanitizer ends a program by a tracer of its own, which does not go together with a helper that
 * looks after all processes below it. */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_LEAK_CHECKER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_LEAK_CHECKER 1
#endif
#endif
#ifdef HAS_LEAK_CHECKER
const char *__asan_default_options(void); /* NOLINT: the sanitizer's name */
const char *__asan_default_options(void)  /* NOLINT */
{
    return "detect_leaks=0";
}
#endif
