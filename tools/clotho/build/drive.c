/* drive.c - see drive.h. */
#define _GNU_SOURCE /* pipe2 and the like of Linux */
#include "clotho/build/drive.h"
#include "clotho/build/orphans.h"
#include "clotho/common/clock.h"
#include "clotho/common/report.h"
#include "ninja/manifest/bindings.h"
#include "ninja/step/finish.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* A shell may miss a signal that comes between two of its commands: it is sent again until all have ended, and at last
 * one that nobody can miss, early enough for everything to be gone within a second. */
static const int64_t RESEND_NS = 50000000, KILL_NS = 500000000, GIVE_UP_NS = 800000000;

/* What an event is about: a slot and one of its files, or one of those below. */
enum { OF_OUTPUT, OF_CONTROL, KINDS };
static const uint64_t OF_POSTS = UINT64_MAX, OF_SIGNALS = UINT64_MAX - 1, OF_TOKENS = UINT64_MAX - 2;

static bool is_stopped(const build_driver *d)
{
    return d->signal != 0 || d->is_broken || (d->failures_most > 0 && d->failed >= d->failures_most);
}

static int watch_file(build_driver *d, int file, uint64_t about)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = about};

    return file < 0 || epoll_ctl(d->poll, EPOLL_CTL_ADD, file, &event) == 0 ? 0 : errno;
}

static int watch_slot(build_driver *d, const build_slot *s)
{
    uint64_t first = (uint64_t)(s - d->slots) * KINDS;
    int error = watch_file(d, s->child.output, first + OF_OUTPUT);

    return error != 0 ? error : watch_file(d, s->child.control, first + OF_CONTROL);
}

/* The executor is free for the next step, and what waited for this one may come. */
static void release(build_driver *d, build_slot *s)
{
    clo_token token = s->token;

    d->waiting -= s->state == SLOT_WAITS;
    d->running -= s->state == SLOT_RUNS;
    s->state = SLOT_FREE;
    if (clo_token_complete(token, 0) != CLO_OK)
        d->is_broken |= !ninja_fail(&d->folder->manifest, "a step could not be ended: %s", clo_last_error());
}

static void fail_step(build_driver *d, const build_slot *s, const char *why)
{
    d->failed++;
    d->folder->manifest.edges[s->edge].has_failed = true;
    printer_failure(&d->printer, s->edge, why, s->has_console);
    d->is_broken |= !order_failed(&d->folder->order, s->edge);
}

static bool is_elsewhere(const build_driver *d, const build_slot *s)
{
    return hosts_is_elsewhere(d->hosts, (uint32_t)(s - d->slots));
}

static int begin_command(build_driver *d, build_slot *s, const buffer *command)
{
    uint32_t slot = (uint32_t)(s - d->slots);
    char group[1200];
    build_host *host = hosts_of(d->hosts, slot);
    const step_options options = {.helper = d->helper,
                                  .group = groups_folder(&d->memory.groups, slot, group),
                                  .mask = &d->mask,
                                  .files = d->files,
                                  .has_console = s->has_console,
                                  .ends_servers = d->ends_servers,
                                  .kept = d->kept,
                                  .variable = host != NULL ? host->variable : NULL};

    memory_begin(&d->memory, slot, s->edge, s->is_alone);
    int error = command->failed ? ENOMEM : step_begin(&s->child, &options, command->at);
    if (error == 0 && (error = watch_slot(d, s)) != 0) {
        step_signal(&s->child, SIGKILL);
        step_close(&s->child);
    }
    if (error != 0)
        memory_cancel(&d->memory, slot);
    d->memory.slots[slot].is_elsewhere = is_elsewhere(d, s);
    if (error == 0 && host != NULL)
        host->steps++;
    return error;
}

static void say_begin(build_driver *d, build_slot *s)
{
    build_printer *p = &d->printer;

    p->counts.started += !s->is_alone;
    p->counts.running++;
    if (!s->is_alone && !s->is_said && (s->has_console || p->status.is_smart))
        printer_step(p, s->edge, s->began_ns, s->has_console);
    s->is_said = true;
    if (s->has_console)
        status_give_console(&p->status);
}

static void say_end(build_driver *d, const build_slot *s)
{
    d->printer.counts.running--;
    if (s->has_console)
        status_take_console(&d->printer.status);
}

/* The system has no room for a further command, but may have when one has ended. */
static bool is_short(const build_driver *d, int error)
{
    return d->running > 0 && (error == EMFILE || error == ENFILE || error == EAGAIN || error == ENOMEM);
}

enum { BEGIN_RUNS, BEGIN_FAILED, BEGIN_LATER };

/* All that is needed before the command, and the command. */
static int begin(build_driver *d, build_slot *s)
{
    ninja_manifest *m = &d->folder->manifest;
    buffer command = {0};
    int error = 0;

    s->has_console = m->edges[s->edge].pool == NINJA_POOL_CONSOLE;
    s->has_ended = false;
    s->began_ns = monotonic_ns();
    s->began_disk_ns = finish_now_ns(d->folder);
    bool is_good = finish_prepare(d->folder, s->edge) && ninja_edge_command(m, s->edge, false, &command);
    if (is_good) {
        buffer_add(&command, "", 1);
        say_begin(d, s);
        error = begin_command(d, s, &command);
        is_good = error == 0 || ninja_fail(m, "'%.200s' cannot be begun: %s; look at the limits of this user",
                                           command.failed ? "sh" : command.at, strerror(error));
        if (!is_good)
            say_end(d, s);
    }
    buffer_free(&command);
    if (!is_good && is_short(d, error)) {
        d->printer.counts.started -= !s->is_alone;
        return BEGIN_LATER;
    }
    d->is_broken |= !is_good;
    return is_good ? BEGIN_RUNS : BEGIN_FAILED;
}

/* What the command took. True: it was killed for want of memory, and is to run once more, alone. */
static bool is_to_run_again(build_driver *d, build_slot *s, const char **why)
{
    uint32_t slot = (uint32_t)(s - d->slots);
    bool was_killed = false;

    *why = "";
    d->is_broken |= !memory_end(&d->memory, slot, s->edge, &s->child.usage, &was_killed);
    if (!was_killed || s->child.usage.status == 0)
        return false;
    if (is_stopped(d)) {
        *why = "killed for want of memory; it does not run again, because the build stops\n";
        return false;
    }
    if (s->is_alone) {
        *why = "killed for want of memory, though it ran alone; give it more with --memory, or add some\n";
        return false;
    }
    s->is_alone = true;
    d->is_broken |= !finish_interrupted(d->folder, s->edge); /* what it has written is not whole */
    return true;
}

/* All that follows the command. As ninja has it, the line of a step still counts the steps that its restat spares. */
static void end(build_driver *d, build_slot *s, const char *why)
{
    int64_t ended_ns = monotonic_ns();
    const step_times times = {(s->began_ns - d->start_ns) / 1000000, (ended_ns - d->start_ns) / 1000000,
                              s->began_disk_ns};
    build_printer *p = &d->printer;
    int status = s->child.usage.status;
    bool is_bad = false, is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    discovered found;

    build_report_step(&d->report, s->edge, ended_ns - s->began_ns);
    if (d->signal != 0) {
        d->is_broken |= !finish_interrupted(d->folder, s->edge);
        return;
    }
    p->counts.finished++;
    status_ended(&p->status, ended_ns);
    if (!finish_discover(d->folder, s->edge, &s->output, &found, &is_bad)) {
        d->is_broken = true;
        return;
    }
    is_bad &= is_good; /* a step that has failed says why by itself */
    if (!s->has_console)
        printer_step(p, s->edge, ended_ns, false);
    if (!is_good || is_bad)
        fail_step(d, s, is_bad ? d->folder->manifest.error : why);
    else
        d->is_broken |= !finish_succeeded(d->folder, s->edge, &times, &found);
    if (is_bad)
        status_text(&p->status, piece_of("\n"), s->has_console);
    status_output(&p->status, &s->output);
    free(found.nodes);
}

static void interrupt(build_driver *d, int number, uint32_t edge)
{
    if (d->signal != 0)
        return;
    d->signal = number;
    d->signal_ns = monotonic_ns();
    d->interrupter = edge;
}

/* As ninja has it: a command that such a signal has ended interrupts the build, whoever has sent it. */
static void look_for_interrupt(build_driver *d, const build_slot *s)
{
    int status = s->child.usage.status;
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

    if (number == SIGINT || number == SIGTERM || number == SIGHUP)
        interrupt(d, number, s->edge);
}

static bool is_helper(const void *driver, pid_t pid)
{
    const build_driver *d = driver;

    for (uint32_t i = 0; i < d->jobs; i++)
        if (d->slots[i].state == SLOT_RUNS && d->slots[i].child.pid == pid)
            return true;
    return false;
}

static void end_if_over(build_driver *d, build_slot *s)
{
    const char *why;

    if (s->state != SLOT_RUNS || s->child.output >= 0)
        return;
    if (!s->has_ended) {
        if (s->child.has_report)
            step_signal(&s->child, STEP_OVER);
        return;
    }
    step_close(&s->child);
    d->has_servers |= s->child.has_servers;
    if (d->has_servers)
        orphans_end(NULL, is_helper, d); /* servers that have ended meanwhile */
    look_for_interrupt(d, s);
    build_gate_leave(&d->gate, is_elsewhere(d, s));
    if (is_to_run_again(d, s, &why)) {
        say_end(d, s);
        spool_clear(&s->output);
        s->state = SLOT_WAITS;
        s->number = 0;
        d->running--;
        d->waiting++;
        return;
    }
    end(d, s, why);
    say_end(d, s);
    spool_clear(&s->output);
    release(d, s);
}

/* A helper that somebody has killed leaves its command to this process. */
static void end_orphans(const build_driver *d, const build_slot *s)
{
    step_owner owner = {.session = s->has_console ? getsid(0) : s->child.pid, .owns_all = d->ends_servers};

    owner_add_output(&owner, s->has_console ? STDOUT_FILENO : s->child.output);
    orphans_end(&owner, is_helper, d);
}

static void look_at_slot(build_driver *d, uint64_t about)
{
    build_slot *s = &d->slots[about / KINDS];

    if (s->state != SLOT_RUNS)
        return; /* of a file that this round has closed */
    if (about % KINDS == OF_OUTPUT)
        step_read_output(&s->child, &s->output);
    step_read_report(&s->child);
    if (s->child.has_ended && !s->has_ended) {
        s->has_ended = true;
        epoll_ctl(d->poll, EPOLL_CTL_DEL, s->child.control, NULL);
        if (!step_wait(&s->child))
            end_orphans(d, s);
    }
    end_if_over(d, s);
}

static void take_posts(build_driver *d)
{
    uint64_t unused;

    while (read(d->wake, &unused, sizeof unused) > 0)
        continue;
    pthread_mutex_lock(&d->lock);
    for (uint32_t i = 0; i < d->posts_count; i++) {
        build_slot *s = &d->slots[d->posts[i]];
        s->state = SLOT_WAITS;
        s->is_alone = s->is_said = false;
        s->number = ++d->posted;
        d->waiting++;
    }
    d->posts_count = 0;
    pthread_mutex_unlock(&d->lock);
}

/* The waiting slot that came first; NULL: none. */
static build_slot *first_waiting(build_driver *d)
{
    build_slot *first = NULL;

    for (uint32_t i = 0; d->waiting > 0 && i < d->jobs; i++)
        if (d->slots[i].state == SLOT_WAITS && (first == NULL || d->slots[i].number < first->number))
            first = &d->slots[i];
    return first;
}

/* Asks to be told of the next token, once. */
static void wait_for_gate(build_driver *d)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.u64 = OF_TOKENS};
    int pipe = d->gate.jobs->own;

    d->is_gated = true;
    if (pipe >= 0 && epoll_ctl(d->poll, EPOLL_CTL_MOD, pipe, &event) != 0)
        epoll_ctl(d->poll, EPOLL_CTL_ADD, pipe, &event);
}

static void start_waiting(build_driver *d)
{
    build_slot *s;

    d->is_gated = false;
    while ((s = first_waiting(d)) != NULL) {
        if (is_stopped(d) || !order_may_run(&d->folder->order, s->edge)) {
            release(d, s);
            continue;
        }
        if (ninja_is_phony(&d->folder->manifest, s->edge)) {
            d->is_broken |= !order_finished(&d->folder->order, s->edge);
            release(d, s);
            continue;
        }
        if (!memory_may_begin(&d->memory, s->edge, s->is_alone, monotonic_ns()))
            return;
        if (!build_gate_enter(&d->gate, is_elsewhere(d, s))) {
            wait_for_gate(d);
            return;
        }
        int begun = begin(d, s);
        if (begun != BEGIN_RUNS)
            build_gate_leave(&d->gate, is_elsewhere(d, s));
        if (begun == BEGIN_LATER)
            return; /* looked at again when one of those that run has ended */
        if (begun == BEGIN_FAILED) {
            release(d, s);
            continue;
        }
        s->state = SLOT_RUNS;
        d->waiting--;
        d->running++;
    }
}

/* A helper that does not obey is killed, and an output that others still have open, to whom the command has sent it, is
 * not waited for. */
static void give_up(build_driver *d, build_slot *s)
{
    if (!s->has_ended) {
        step_kill_helper(&s->child);
        return;
    }
    step_close_output(&s->child);
    end_if_over(d, s);
}

static void pass_on(build_driver *d)
{
    int64_t now = monotonic_ns();
    int number = d->signal == SIGPIPE ? SIGTERM : d->signal; /* the closed pipe is this process's, not the commands' */

    if (number == 0 || now < d->resend_ns)
        return;
    for (uint32_t i = 0; i < d->jobs; i++) {
        build_slot *s = &d->slots[i];
        if (s->state != SLOT_RUNS)
            continue;
        if (now - d->signal_ns >= GIVE_UP_NS)
            give_up(d, s);
        else if (now - d->signal_ns >= KILL_NS)
            step_signal(&s->child, SIGKILL);
        else if (!s->has_console || d->signal != SIGINT) /* Ctrl-C reaches the step of the console by itself */
            step_signal(&s->child, number);
    }
    d->resend_ns = now + RESEND_NS;
}

static void take_signal(build_driver *d)
{
    struct signalfd_siginfo about;

    while (read(d->signals, &about, sizeof about) == (ssize_t)sizeof about)
        if (about.ssi_signo != SIGCHLD)
            interrupt(d, (int)about.ssi_signo, NINJA_NONE);
        else if (d->has_servers)
            orphans_end(NULL, is_helper, d); /* one that has ended */
}

static int timeout_ms(build_driver *d)
{
    int wait_ms = memory_sample(&d->memory, monotonic_ns());
    uint32_t overfull = memory_overfull(&d->memory);

    if (overfull != UINT32_MAX)
        step_signal(&d->slots[overfull].child, SIGKILL);
    if (d->signal != 0 && d->running > 0 && (wait_ms < 0 || wait_ms > RESEND_NS / 1000000))
        wait_ms = (int)(RESEND_NS / 1000000);
    if (d->is_gated && (wait_ms < 0 || wait_ms > GATE_AGAIN_MS))
        wait_ms = GATE_AGAIN_MS;
    return wait_ms;
}

static bool is_done(build_driver *d)
{
    pthread_mutex_lock(&d->lock);
    bool is_over = d->is_over && d->posts_count == 0;
    pthread_mutex_unlock(&d->lock);
    return is_over && d->waiting == 0 && d->running == 0;
}

void *drive(void *driver)
{
    build_driver *d = driver;
    struct epoll_event events[64];

    while (!is_done(d)) {
        int count = epoll_wait(d->poll, events, 64, timeout_ms(d));
        for (int i = 0; i < count; i++) {
            if (events[i].data.u64 == OF_SIGNALS)
                take_signal(d);
            else if (events[i].data.u64 != OF_POSTS && events[i].data.u64 != OF_TOKENS)
                look_at_slot(d, events[i].data.u64);
        }
        take_posts(d);
        pass_on(d);
        start_waiting(d);
    }
    return NULL;
}

void drive_post(build_driver *d, uint32_t executor, uint32_t edge, clo_token token)
{
    const uint64_t one = 1;
    ssize_t unused;

    pthread_mutex_lock(&d->lock);
    d->slots[executor].edge = edge;
    d->slots[executor].token = token;
    d->posts[d->posts_count++] = executor;
    pthread_mutex_unlock(&d->lock);
    unused = write(d->wake, &one, sizeof one);
    (void)unused; /* the counter is not full */
}

void drive_stop(build_driver *d)
{
    const uint64_t one = 1;
    ssize_t unused;

    pthread_mutex_lock(&d->lock);
    d->is_over = true;
    pthread_mutex_unlock(&d->lock);
    unused = write(d->wake, &one, sizeof one);
    (void)unused;
}

/* The helper stands beside the command. */
static int find_helper(build_driver *d)
{
    static const char NAME[] = "clotho-step";
    ssize_t bytes = readlink("/proc/self/exe", d->helper, sizeof d->helper - sizeof NAME);

    if (bytes < 0)
        return complain(NULL, "/proc/self/exe cannot be read: %s; mount /proc", strerror(errno));
    d->helper[bytes] = '\0';
    memcpy(strrchr(d->helper, '/') + 1, NAME, sizeof NAME);
    if (access(d->helper, X_OK) != 0)
        return complain(d->helper, "%s; install it beside the command", strerror(errno));
    return EXIT_GOOD;
}

/* Each command needs a few files here; the commands themselves keep the limit that the caller has. */
static void raise_files(build_driver *d)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    d->files = files.rlim_cur == RLIM_INFINITY ? 0 : (unsigned long)files.rlim_cur;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

/* What ends a build. SIGPIPE comes to the thread that prints; who ignores it wants the build to go on without its
 * lines. */
static void name_signals(sigset_t *set)
{
    struct sigaction pipe;

    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
    sigaddset(set, SIGCHLD);
    if (sigaction(SIGPIPE, NULL, &pipe) == 0 && pipe.sa_handler != SIG_IGN)
        sigaddset(set, SIGPIPE);
}

int drive_open(build_driver *d, uint32_t jobs)
{
    sigset_t set;

    d->poll = d->wake = d->signals = -1;
    d->interrupter = NINJA_NONE;
    pthread_mutex_init(&d->lock, NULL);
    name_signals(&set);
    signal(SIGCHLD, SIG_DFL); /* ignored, it would take the status of helpers away */
    pthread_sigmask(SIG_BLOCK, &set, &d->mask);
    d->start_ns = monotonic_ns();
    d->jobs = jobs;
    d->printer.folder = d->folder;
    d->slots = calloc(jobs, sizeof *d->slots);
    d->posts = calloc(jobs, sizeof *d->posts);
    for (uint32_t i = 0; d->slots != NULL && i < jobs; i++)
        d->slots[i].output.beside = d->folder->log_path;
    if (d->slots == NULL || d->posts == NULL)
        return complain(NULL, "out of memory");
    d->poll = epoll_create1(EPOLL_CLOEXEC);
    d->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    d->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (d->poll < 0 || d->wake < 0 || d->signals < 0 || watch_file(d, d->wake, OF_POSTS) != 0 ||
        watch_file(d, d->signals, OF_SIGNALS) != 0)
        return complain(NULL, "the steps cannot be watched: %s; look at the limits of this user", strerror(errno));
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    raise_files(d);
    return find_helper(d);
}

void drive_end(build_driver *d)
{
    if (d->signal == 0 || d->signal == SIGPIPE) /* a second Ctrl-C does not change how an interrupted build ends */
        pthread_sigmask(SIG_SETMASK, &d->mask, NULL);
    pthread_mutex_destroy(&d->lock);
    for (uint32_t i = 0; d->slots != NULL && i < d->jobs; i++)
        spool_free(&d->slots[i].output);
    free(d->slots);
    free(d->posts);
    if (d->poll >= 0)
        close(d->poll);
    if (d->wake >= 0)
        close(d->wake);
    if (d->signals >= 0)
        close(d->signals);
}
