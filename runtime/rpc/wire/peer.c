#include "rpc/wire/peer.h"
#include "base/memory.h"
#include "rpc/wire/loop.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNSENT_MAX ((size_t)2 << 30) /* of one connection: a write of libuv has less than 4 GiB */
#define KEPT_MAX ((size_t)1 << 20)
#define BEATS_MAX 5u

typedef struct bytes {
    unsigned char *at;
    size_t count, capacity;
} bytes;

struct clo_rpc_peer {
    uv_tcp_t tcp;
    uv_connect_t connecting;
    uv_write_t writing;
    const clo_rpc_peer_events *events;
    void *owner;
    bytes in, out, flying;
    int is_open, is_writing, is_closing;
    uint32_t unheard; /* beats since a byte came */
    clo_rpc_peer *next, *before;
    char why[96];
};

static clo_rpc_peers *all_of(const clo_rpc_peer *p)
{
    return p->tcp.loop->data;
}

static size_t unsent_of(const clo_rpc_peer *p)
{
    return p->out.count + p->flying.count;
}

int clo_rpc_peer_address(const char *endpoint, struct sockaddr_storage *out)
{
    char host[64];
    const char *colon = strrchr(endpoint, ':');
    size_t length = colon != NULL ? (size_t)(colon - endpoint) : 0;

    if (length == 0 || length >= sizeof host || colon[1] == '\0' || strspn(colon + 1, "0123456789") != strlen(colon + 1))
        return -1;
    long port = strtol(colon + 1, NULL, 10);
    if (port < 0 || port > 65535)
        return -1;
    memset(out, 0, sizeof *out);
    if (endpoint[0] == '[' && endpoint[length - 1] == ']') {
        memcpy(host, endpoint + 1, length - 2);
        host[length - 2] = '\0';
        return uv_ip6_addr(host, (int)port, (struct sockaddr_in6 *)out) == 0 ? 0 : -1;
    }
    memcpy(host, endpoint, length);
    host[length] = '\0';
    return uv_ip4_addr(host, (int)port, (struct sockaddr_in *)out) == 0 ? 0 : -1;
}

static int reserve(bytes *b, size_t more)
{
    return clo_grow((void **)&b->at, &b->capacity, b->count + more, 1);
}

/* Room for a large frame is given back. */
static void drop(bytes *b)
{
    clo_free(b->at);
    *b = (bytes){.at = NULL};
}

static void on_closed(uv_handle_t *handle)
{
    clo_rpc_peer *p = handle->data;

    *(p->before != NULL ? &p->before->next : &all_of(p)->first) = p->next;
    if (p->next != NULL)
        p->next->before = p->before;

    p->events->closed(p->owner, p, p->why);
    clo_free(p->in.at);
    clo_free(p->out.at);
    clo_free(p->flying.at);
    clo_free(p);
}

void clo_rpc_peer_close(clo_rpc_peer *p, const char *why)
{
    if (p->is_closing)
        return;
    p->is_closing = 1;
    all_of(p)->unsent -= unsent_of(p);
    drop(&p->out);
    if (p->is_writing)
        all_of(p)->closing += p->flying.count; /* it is libuv's until it has called back */
    else
        drop(&p->flying);
    snprintf(p->why, sizeof p->why, "%s", why);
    uv_close((uv_handle_t *)&p->tcp, on_closed);
}

int clo_rpc_peer_was_open(const clo_rpc_peer *p)
{
    return p->is_open;
}

static void flush(clo_rpc_peer *p);

static void on_written(uv_write_t *write, int status)
{
    clo_rpc_peer *p = write->data;

    p->is_writing = 0;
    *(p->is_closing ? &all_of(p)->closing : &all_of(p)->unsent) -= p->flying.count;
    p->flying.count = 0;
    if (p->flying.capacity > KEPT_MAX)
        drop(&p->flying);
    if (status != 0)
        clo_rpc_peer_close(p, uv_strerror(status));
    else
        flush(p);
}

static void flush(clo_rpc_peer *p)
{
    if (!p->is_open || p->is_writing || p->is_closing || p->out.count == 0)
        return;
    bytes sent = p->flying;
    p->flying = p->out;
    p->out = sent;
    p->out.count = 0;
    uv_buf_t buffer = uv_buf_init((char *)p->flying.at, (unsigned)p->flying.count);
    p->writing.data = p;
    int status = uv_write(&p->writing, (uv_stream_t *)&p->tcp, &buffer, 1, on_written);
    if (status != 0)
        clo_rpc_peer_close(p, uv_strerror(status));
    else
        p->is_writing = 1;
}

/* Room for so many bytes more: while there is none, the connection that holds most is closed. It ends: each round
 * closes one. */
static void make_room(const clo_rpc_peers *all, size_t more)
{
    while (all->unsent + more > all->unsent_max) {
        clo_rpc_peer *most = NULL;
        for (clo_rpc_peer *p = all->first; p != NULL; p = p->next)
            if (!p->is_closing && unsent_of(p) > 0 && (most == NULL || unsent_of(p) > unsent_of(most)))
                most = p;
        if (most == NULL)
            return;
        clo_rpc_peer_close(most, "it does not read, and others need the room");
    }
}

/* A round of the loop may close many, which give their room back at its end: twice the limit is as much as is held
 * then, but for short answers to those who read. */
static bool is_too_much(const clo_rpc_peer *p, size_t more)
{
    const clo_rpc_peers *all = all_of(p);

    return (more > KEPT_MAX || unsent_of(p) > 0) && all->unsent + all->closing + more > 2 * all->unsent_max;
}

void clo_rpc_peer_send(clo_rpc_peer *p, const clo_rpc_frame *f)
{
    make_room(all_of(p), CLO_RPC_FRAME_HEADER + f->body_bytes);
    if (!p->is_closing && is_too_much(p, CLO_RPC_FRAME_HEADER + f->body_bytes))
        clo_rpc_peer_close(p, "others need the room");
    if (p->is_closing)
        return;
    if (p->out.count > UNSENT_MAX || reserve(&p->out, CLO_RPC_FRAME_HEADER + f->body_bytes) != 0) {
        clo_rpc_peer_close(p, "it does not read");
        return;
    }
    clo_rpc_frame_write(p->out.at + p->out.count, f);
    if (f->body_bytes > 0)
        memcpy(p->out.at + p->out.count + CLO_RPC_FRAME_HEADER, f->body, f->body_bytes);
    p->out.count += CLO_RPC_FRAME_HEADER + f->body_bytes;
    all_of(p)->unsent += CLO_RPC_FRAME_HEADER + f->body_bytes;
    flush(p);
}

void clo_rpc_peer_beat(clo_rpc_peer *p)
{
    static const clo_rpc_frame ping = {.kind = CLO_RPC_FRAME_PING};

    if (p->is_closing)
        return;
    p->unheard++;
    if (p->unheard > BEATS_MAX)
        clo_rpc_peer_close(p, p->is_open ? "it gives no sign of life" : "it does not take the connection");
    else if (p->unheard == 1 && p->is_open)
        clo_rpc_peer_send(p, &ping);
}

static void take_frame(clo_rpc_peer *p, const clo_rpc_frame *f)
{
    static const clo_rpc_frame pong = {.kind = CLO_RPC_FRAME_PONG};

    if (f->kind == CLO_RPC_FRAME_PING)
        clo_rpc_peer_send(p, &pong);
    else if (f->kind != CLO_RPC_FRAME_PONG)
        p->events->frame(p->owner, p, f);
}

static void give_room(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    clo_rpc_peer *p = handle->data;

    (void)suggested;
    *out = uv_buf_init(NULL, 0); /* no memory: the read ends with UV_ENOBUFS */
    if (reserve(&p->in, 16384) == 0)
        *out = uv_buf_init((char *)p->in.at + p->in.count, (unsigned)(p->in.capacity - p->in.count));
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    clo_rpc_peer *p = stream->data;
    size_t done = 0;
    clo_rpc_frame f;
    int64_t length = 0;

    (void)buffer;
    if (count < 0) {
        clo_rpc_peer_close(p, count == UV_EOF ? "it closed the connection" : uv_strerror((int)count));
        return;
    }
    p->unheard = 0;
    p->in.count += (size_t)count;
    while (!p->is_closing && (length = clo_rpc_frame_read(p->in.at + done, p->in.count - done, &f)) > 0) {
        take_frame(p, &f);
        done += (size_t)length;
    }
    if (length < 0)
        clo_rpc_peer_close(p, "it sent no frame");
    if (done > 0)
        memmove(p->in.at, p->in.at + done, p->in.count - done);
    p->in.count -= done;
    if (p->in.count == 0 && p->in.capacity > KEPT_MAX)
        drop(&p->in);
}

static clo_rpc_peer *create(uv_loop_t *loop, const clo_rpc_peer_events *events, void *owner)
{
    clo_rpc_peer *p = clo_allocate(1, sizeof *p);

    if (p == NULL || uv_tcp_init(loop, &p->tcp) != 0) {
        clo_free(p);
        return NULL;
    }
    p->events = events;
    p->owner = owner;
    p->tcp.data = p;
    p->next = all_of(p)->first;
    if (p->next != NULL)
        p->next->before = p;
    all_of(p)->first = p;
    return p;
}

/* A host that has vanished says nothing: an idle connection is probed after 10 s, and one that waits for an
 * acknowledgement breaks after 20 s. */
static void watch_host(clo_rpc_peer *p)
{
    unsigned patience_ms = 20000;
    uv_os_fd_t fd;

    uv_tcp_keepalive(&p->tcp, 1, 10);
    if (uv_fileno((uv_handle_t *)&p->tcp, &fd) == 0)
        (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience_ms, sizeof patience_ms);
}

static void opened(clo_rpc_peer *p)
{
    p->is_open = 1;
    p->unheard = 0;
    uv_tcp_nodelay(&p->tcp, 1);
    watch_host(p);
    int status = uv_read_start((uv_stream_t *)&p->tcp, give_room, on_read);
    if (status != 0)
        clo_rpc_peer_close(p, uv_strerror(status));
    flush(p);
}

clo_rpc_peer *clo_rpc_peer_accept(uv_stream_t *listener, const clo_rpc_peer_events *events, void *owner)
{
    clo_rpc_peer *p = create(listener->loop, events, owner);

    if (p == NULL)
        return NULL;
    int status = uv_accept(listener, (uv_stream_t *)&p->tcp);
    if (status == 0)
        opened(p);
    else
        clo_rpc_peer_close(p, uv_strerror(status));
    return p;
}

static void on_connected(uv_connect_t *connecting, int status)
{
    clo_rpc_peer *p = connecting->data;

    if (status == 0)
        opened(p);
    else
        clo_rpc_peer_close(p, uv_strerror(status));
}

clo_rpc_peer *clo_rpc_peer_connect(uv_loop_t *loop, const struct sockaddr *address, const clo_rpc_peer_events *events,
                                   void *owner)
{
    clo_rpc_peer *p = create(loop, events, owner);

    if (p == NULL)
        return NULL;
    p->connecting.data = p;
    int status = uv_tcp_connect(&p->connecting, &p->tcp, address, on_connected);
    if (status != 0)
        clo_rpc_peer_close(p, uv_strerror(status));
    return p;
}
