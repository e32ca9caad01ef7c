/* socket.c - where drivers come in: a Unix socket, whose peers are checked by the kernel's word. */
#define _GNU_SOURCE /* accept4, struct ucred */
#include "clotho/serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 8 };

static int read_users(serve_socket *s, const option_list *users)
{
    for (uint32_t i = 0; i < users->count; i++) {
        uint64_t user;
        if (!parse_u64(users->items[i], &user) || user > UINT32_MAX - 1)
            return misuse("--allow-uid is '%s'; write the number of a user", show_name(users->items[i]));
        s->users[s->users_count++] = (uid_t)user;
    }
    return EXIT_GOOD;
}

static bool read_address(const char *path, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address->sun_path)
        return false;
    memcpy(address->sun_path, path, strlen(path));
    return true;
}

/* Somebody listens there. */
static bool is_alive(const struct sockaddr_un *address)
{
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool refused =
        file >= 0 && connect(file, (const struct sockaddr *)address, sizeof *address) != 0 && errno == ECONNREFUSED;

    if (file >= 0)
        close(file);
    return !refused;
}

/* Removes a socket that was left behind. */
static int make_room(const char *path, const struct sockaddr_un *address)
{
    struct stat there;

    if (lstat(path, &there) != 0)
        return EXIT_GOOD; /* nothing is there, or bind says what is wrong */
    if (!S_ISSOCK(there.st_mode))
        return complain(path, "is there and no socket; name another path");
    if (is_alive(address))
        return complain(path, "somebody listens there already; end that service, or name another path");
    return unlink(path) == 0 ? EXIT_GOOD : complain(path, "cannot be removed: %s", strerror(errno));
}

static int listen_at(serve_socket *s, const struct sockaddr_un *address)
{
    struct stat made;
    mode_t before = umask(s->users_count > 0 ? 0111 : 0177);
    bool is_bound = bind(s->file, (const struct sockaddr *)address, sizeof *address) == 0;
    int error = errno;

    umask(before);
    if (!is_bound)
        return complain(s->path,
                        "the socket cannot be made: %s; name a path in a folder that is there and yours to write",
                        strerror(error));
    if (lstat(s->path, &made) == 0) {
        s->device = made.st_dev;
        s->inode = made.st_ino;
    }
    return listen(s->file, BACKLOG) == 0 ? EXIT_GOOD : complain(s->path, "cannot listen: %s", strerror(errno));
}

int serve_socket_open(serve_socket *s, const serve_options *options)
{
    struct sockaddr_un address;

    *s = (serve_socket){.path = options->socket, .file = -1};
    int code = read_users(s, &options->users);
    if (code == EXIT_GOOD && s->path[0] == '\0')
        return misuse("--socket is ''; name a path");
    if (code == EXIT_GOOD && !read_address(s->path, &address))
        return complain(s->path, "is too long for a socket; use at most %zu bytes", sizeof address.sun_path - 1);
    if (code == EXIT_GOOD)
        code = make_room(s->path, &address);
    if (code != EXIT_GOOD)
        return code;
    s->file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    code = s->file >= 0 ? listen_at(s, &address) : complain(s->path, "no socket: %s", strerror(errno));
    if (code != EXIT_GOOD)
        serve_socket_close(s);
    return code;
}

static bool may_enter(const serve_socket *s, uid_t user)
{
    for (uint32_t i = 0; i < s->users_count; i++)
        if (s->users[i] == user)
            return true;
    return user == geteuid();
}

void serve_socket_refuse(int file, const char *why)
{
    char line[256];
    int length = snprintf(line, sizeof line, "{\"error\": \"%s\", \"line\": 0}\n", why);

    (void)send(file, line, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT); /* who does not listen need not know */
    close(file);
}

int serve_socket_accept(const serve_socket *s)
{
    struct ucred peer;
    socklen_t bytes = sizeof peer;
    int file = accept4(s->file, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (file < 0)
        return -1;
    if (getsockopt(file, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && may_enter(s, peer.uid))
        return file;
    serve_socket_refuse(file, "this service is of another user; see --allow-uid");
    return -1;
}

void serve_socket_close(serve_socket *s)
{
    struct stat there;

    if (s->file < 0)
        return;
    if (s->inode != 0 && lstat(s->path, &there) == 0 && there.st_dev == s->device && there.st_ino == s->inode)
        (void)unlink(s->path);
    close(s->file);
    s->file = -1;
}
