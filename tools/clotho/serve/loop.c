/* loop.c - lines from the driver to the session, answers back. One thread; nothing here waits but ppoll.
 *
 * A driver that does not read what it is told is not read either, once OUT_MAX bytes wait for it. One that hangs up
 * leaves the schedule as it is: the next one is told what runs. */
#define _GNU_SOURCE /* ppoll */
#include "clotho/serve/serve.h"

#include "clotho/common/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { IN_MIN = 65536, OUT_MAX = 1 << 20, PIECE = 4096 /* a pipe that is ready takes as much */ };

typedef struct buffer {
    char *data;
    size_t first, end, capacity;
} buffer;

typedef struct loop {
    clo_session *session;
    const serve_options *options;
    const serve_socket *listening; /* NULL: standard input and output */
    bool is_real;
    int64_t origin_ns;
    int in, out; /* -1: nobody is there */
    buffer read, written;
    bool skips;       /* the rest of a line that was too long */
    bool has_hung_up; /* nothing more is to be read of the driver */
    bool has_ended;   /* and all was carried out; what is written goes out yet */
    bool is_over;     /* and neither does anybody else */
    bool is_watched;  /* a driver has been there */
    bool is_silent;   /* for too long: its executors are lost */
    int64_t heard_ns;
    int code;
} loop;

static int64_t now_ns(const loop *l)
{
    return monotonic_ns() - l->origin_ns;
}

/* Room for `bytes` more behind the end. */
static bool reserve(buffer *b, size_t bytes)
{
    if (b->first > 0 && b->first == b->end)
        b->first = b->end = 0;
    if (b->capacity - b->end >= bytes)
        return true;
    if (b->first > 0) {
        memmove(b->data, b->data + b->first, b->end - b->first);
        b->end -= b->first;
        b->first = 0;
    }
    if (b->capacity - b->end >= bytes)
        return true;
    size_t capacity = (b->end + bytes) * 2;
    char *data = realloc(b->data, capacity);
    if (data == NULL)
        return false;
    b->data = data;
    b->capacity = capacity;
    return true;
}

static void hang_up(loop *l)
{
    if (l->listening != NULL && l->in >= 0)
        close(l->in);
    l->in = l->out = -1;
    l->read.first = l->read.end = l->written.first = l->written.end = 0;
    l->skips = l->has_ended = l->has_hung_up = false;
}

/* The driver cannot be told. Of standard output this is the end; of a socket only of this driver. */
static void fail_output(loop *l)
{
    if (l->listening == NULL) {
        l->code = complain("standard output", "%s", strerror(errno));
        l->is_over = true;
    }
    hang_up(l);
}

/* The same for want of memory. The schedule is as it was: who connects again is told what runs. */
static void give_up(loop *l)
{
    int code = complain(NULL, "out of memory for what the driver says and is told; it is cut off");

    if (l->listening == NULL) {
        l->code = code;
        l->is_over = true;
    }
    hang_up(l);
}

/* As much as goes out without waiting. */
static void flush(loop *l)
{
    while (l->out >= 0 && l->written.first < l->written.end) { /* each round some of it goes out */
        struct pollfd ready = {.fd = l->out, .events = POLLOUT};
        const char *at = l->written.data + l->written.first;
        size_t bytes = l->written.end - l->written.first;
        ssize_t done;
        if (l->listening != NULL) {
            done = send(l->out, at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
        } else {
            if (poll(&ready, 1, 0) == 0)
                return;
            done = write(l->out, at, bytes < PIECE ? bytes : PIECE);
        }
        if (done < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (done < 0)
            fail_output(l);
        else
            l->written.first += (size_t)done;
    }
}

static void put(loop *l, const clo_session_answer *answer)
{
    if (l->out < 0 || answer->text_bytes == 0)
        return;
    if (!reserve(&l->written, answer->text_bytes)) {
        give_up(l);
        return;
    }
    memcpy(l->written.data + l->written.end, answer->text, answer->text_bytes);
    l->written.end += answer->text_bytes;
}

static void say(loop *l, const char *line, size_t bytes)
{
    clo_session_answer answer = CLO_SESSION_ANSWER_INIT;

    (void)!clo_session_say(l->session, line, bytes, l->is_real ? now_ns(l) : 0, &answer); /* the answer says it too */
    put(l, &answer);
    if (answer.is_end == 0)
        return;
    l->is_over = l->has_ended = true;
}

static bool is_full(const loop *l)
{
    return l->written.end - l->written.first > OUT_MAX;
}

/* Whole lines that were read, until too much waits for the driver; of one that is too long only that it is. */
static void say_lines(loop *l)
{
    while (l->read.first < l->read.end && !l->is_over && l->in >= 0 && !is_full(l)) { /* each round one line */
        const char *line = l->read.data + l->read.first;
        size_t bytes = l->read.end - l->read.first;
        const char *end = memchr(line, '\n', bytes);
        if (end == NULL && bytes <= CLO_SESSION_LINE_MAX)
            break;
        if (end != NULL)
            bytes = (size_t)(end - line);
        if (!l->skips)
            say(l, line, bytes);
        l->skips = end == NULL;
        l->read.first += bytes + (end != NULL);
    }
    if (l->skips)
        l->read.first = l->read.end;
}

/* No more lines come. A last one without an end counts on standard input; on a socket its driver has died. */
static void end_input(loop *l)
{
    l->has_hung_up = true;
    say_lines(l);
    if (is_full(l))
        return; /* lines may be left: again, when some of the answers are out */
    if (l->listening == NULL) {
        if (l->read.first < l->read.end && !l->skips && !l->is_over)
            say(l, l->read.data + l->read.first, l->read.end - l->read.first);
        l->is_over = true;
    }
    l->read.first = l->read.end;
    l->has_ended = true;
}

static void listen_to(loop *l)
{
    if (!reserve(&l->read, IN_MIN)) {
        give_up(l);
        return;
    }
    ssize_t got = read(l->in, l->read.data + l->read.end, l->read.capacity - l->read.end);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got < 0 && l->listening == NULL)
        l->code = complain("standard input", "%s", strerror(errno));
    if (got <= 0) {
        end_input(l);
        return;
    }
    l->read.end += (size_t)got;
    say_lines(l);
    l->heard_ns = monotonic_ns(); /* behind the lines: what they take is not the driver's silence */
    l->is_silent = false;
}

/* Lines that were left when too much waited for the driver. False: there are none, or it still waits. */
static bool go_on(loop *l)
{
    if (l->in < 0 || l->has_ended || is_full(l) || (l->read.first == l->read.end && !l->has_hung_up))
        return false;
    size_t before = l->read.end - l->read.first;
    if (l->has_hung_up)
        end_input(l);
    else
        say_lines(l);
    if (l->read.end - l->read.first == before)
        return false;
    l->heard_ns = monotonic_ns();
    return true;
}

static void greet(loop *l, int in, int out)
{
    clo_session_answer answer = CLO_SESSION_ANSWER_INIT;

    l->in = in;
    l->out = out;
    l->heard_ns = monotonic_ns();
    l->is_watched = true;
    l->is_silent = false;
    if (clo_session_greet(l->session, &answer) == CLO_OK)
        put(l, &answer);
    else
        give_up(l);
}

/* Somebody wants to be the driver. One who has said all, or nothing for too long, makes room, even if he has not heard
 * all. */
static void let_in(loop *l)
{
    int file = serve_socket_accept(l->listening);

    if (file < 0)
        return;
    if (l->is_over) {
        serve_socket_refuse(file, "this service ends");
        return;
    }
    if (l->in >= 0 && !l->has_ended && !l->is_silent) {
        serve_socket_refuse(file, "this service has a driver; connect when that one has hung up");
        return;
    }
    hang_up(l);
    greet(l, file, file);
}

static void lose_all(loop *l)
{
    clo_session_answer answer = CLO_SESSION_ANSWER_INIT;

    l->is_silent = true;
    warn("the driver has been silent for %s: its executors count as lost", show_ns(l->options->heartbeat_ns));
    if (clo_session_lose_all(l->session, now_ns(l), &answer) != CLO_OK)
        complain_status(NULL, CLO_ERR_STATE);
    put(l, &answer);
}

/* What the clock brings: timers of the policy, and silence, if there was nothing to read and we have listened. */
static void look_at_clock(loop *l, bool may_be_silent)
{
    clo_session_answer answer = CLO_SESSION_ANSWER_INIT;
    const clo_service *service = clo_session_service(l->session);

    if (may_be_silent && l->options->heartbeat_ns > 0 && l->is_watched && !l->is_silent &&
        monotonic_ns() - l->heard_ns >= l->options->heartbeat_ns)
        lose_all(l);
    if (!l->is_real || clo_service_wake_ns(service) > now_ns(l))
        return;
    if (clo_session_advance(l->session, now_ns(l), &answer) == CLO_OK)
        put(l, &answer);
}

/* Until the clock brings something; NULL: it never does. */
static const struct timespec *time_left(const loop *l, struct timespec *left)
{
    int64_t until_ns = CLO_TIME_NEVER, wake_ns = clo_service_wake_ns(clo_session_service(l->session));

    if (l->options->heartbeat_ns > 0 && l->is_watched && !l->is_silent && !is_full(l))
        until_ns = l->heard_ns + l->options->heartbeat_ns;
    if (l->is_real && wake_ns != CLO_TIME_NEVER && wake_ns + l->origin_ns < until_ns)
        until_ns = wake_ns + l->origin_ns;
    if (until_ns == CLO_TIME_NEVER)
        return NULL;
    int64_t now = monotonic_ns();
    until_ns = until_ns > now ? until_ns - now : 0;
    *left = (struct timespec){.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};
    return left;
}

/* In the order in which the kernel looks: where a newcomer is seen, so is the end of a driver who hung up before. */
enum { NEWCOMER, DRIVER_IN, DRIVER_OUT, FILES };

static void wait_for(const loop *l, struct pollfd files[FILES], const sigset_t *waiting)
{
    size_t pending = l->written.end - l->written.first;
    struct timespec left;

    files[DRIVER_IN] = (struct pollfd){.fd = l->has_hung_up || is_full(l) ? -1 : l->in, .events = POLLIN};
    files[DRIVER_OUT] = (struct pollfd){.fd = pending > 0 ? l->out : -1, .events = POLLOUT};
    files[NEWCOMER] = (struct pollfd){.fd = l->listening != NULL ? l->listening->file : -1, .events = POLLIN};
    if (ppoll(files, FILES, time_left(l, &left), waiting) < 0)
        for (int f = 0; f < FILES; f++)
            files[f].revents = 0;
}

static void turn(loop *l, const sigset_t *waiting)
{
    struct pollfd files[FILES];

    wait_for(l, files, waiting);
    bool may_be_silent = files[DRIVER_IN].revents == 0 && !is_full(l);
    if (files[DRIVER_IN].revents != 0)
        listen_to(l);
    look_at_clock(l, may_be_silent);
    flush(l);
    while (go_on(l)) /* each round carries out a line at least */
        flush(l);
    if (l->listening != NULL && l->has_ended && l->written.first == l->written.end)
        hang_up(l);
    /* Later, while there is still something of a driver who may have hung up. */
    if (files[NEWCOMER].revents != 0 && files[DRIVER_IN].revents == 0) {
        let_in(l);
        flush(l);
    }
}

int serve_loop(clo_session *session, const serve_options *options, const serve_socket *listening,
               const atomic_bool *stopped, const sigset_t *waiting)
{
    loop l = {.session = session,
              .options = options,
              .listening = listening,
              .is_real = options->clock != NULL && strcmp(options->clock, "real") == 0,
              .in = -1,
              .out = -1};

    /* A session that was restarted goes on from its last time. */
    l.origin_ns = monotonic_ns() - clo_service_now_ns(clo_session_service(session));
    if (listening == NULL) {
        greet(&l, STDIN_FILENO, STDOUT_FILENO);
        flush(&l);
    }
    while (!*stopped && (!l.is_over || (l.out >= 0 && l.written.first < l.written.end)))
        turn(&l, waiting);
    hang_up(&l);
    free(l.read.data);
    free(l.written.data);
    return l.code;
}
