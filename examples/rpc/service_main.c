/* service_main.c - a service as a process: listens, prints "listening ADDRESS:PORT", ends with SIGTERM or SIGINT. */
#include "options.h"
#include "peer.h"
#include "serve.h"

#include <arpa/inet.h>
#include <signal.h>
#include <string.h>

static const char usage[] =
    "usage: example-rpc-service --listen ADDRESS:PORT [options]    (port 0: any that is free)\n"
    "  --slots N            units of concurrency (8)\n"
    "  --queue N            requests that wait for one; more are turned away, least slack first (64)\n"
    "  --seed N             of all that is drawn (1)\n"
    "  --pace X             times of requests are multiplied by this (1)\n"
    "  --sigma X            spread of their lognormal factor (0.3)\n"
    "  --stall PERMILLE --stall-ms MS      requests that take MS instead\n"
    "  --slow X --slow-after N             after N requests all take X times as long\n"
    "  --twice PERMILLE     answers that are sent twice\n"
    "  --log FILE           one line an event\n"
    "  --effects FILE       one line \"RUN TASK INSTANCE\" an effect that is applied\n"
    "  --beat-ms N          asks the next service of a route for a sign of life so often (2000; 0: never)\n"
    "  --allow ENDPOINT     a service that a route may pass on to; * and ? stand for any; may be repeated (none)\n"
    "  --unsent-mb N        what all connections may hold that is not sent yet, together (256)\n"
    "  --keys FILE          table of effects and their keys, which outlives a kill (SQLite); else in memory\n"
    "  --durable            that table survives a loss of power, too\n";

typedef struct process {
    uv_loop_t loop;
    uv_tcp_t listener;
    uv_signal_t signals[2];
    service *s;
} process;

static const char *read_options(int argc, char **argv, service_config *c)
{
    const char *listen = NULL;

    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (option_is(name, "--help") || option_is(name, "-h")) {
            fputs(usage, stdout);
            exit(0);
        }
        if (option_is(name, "--listen"))
            listen = option_text(argc, argv, &i);
        else if (option_is(name, "--slots"))
            c->slots = (uint32_t)option_number(argc, argv, &i, 1 << 20);
        else if (option_is(name, "--queue"))
            c->queue = (uint32_t)option_number(argc, argv, &i, 1 << 20);
        else if (option_is(name, "--seed"))
            c->seed = option_number(argc, argv, &i, UINT64_MAX);
        else if (option_is(name, "--pace"))
            c->pace = option_real(argc, argv, &i, 1e6);
        else if (option_is(name, "--sigma"))
            c->sigma = option_real(argc, argv, &i, 10);
        else if (option_is(name, "--stall"))
            c->stall_permille = (uint32_t)option_number(argc, argv, &i, 1000);
        else if (option_is(name, "--stall-ms"))
            c->stall_ms = (uint32_t)option_number(argc, argv, &i, 1 << 30);
        else if (option_is(name, "--slow"))
            c->slow = option_real(argc, argv, &i, 1e6);
        else if (option_is(name, "--slow-after"))
            c->slow_after = option_number(argc, argv, &i, UINT64_MAX);
        else if (option_is(name, "--twice"))
            c->twice_permille = (uint32_t)option_number(argc, argv, &i, 1000);
        else if (option_is(name, "--log"))
            c->log = option_file(argc, argv, &i, "a");
        else if (option_is(name, "--effects"))
            c->effects = option_file(argc, argv, &i, "a");
        else if (option_is(name, "--allow")) {
            if (c->allowed_count == ALLOWED_MAX)
                option_fail("--allow: at most %d are possible; use a pattern", ALLOWED_MAX);
            c->allowed[c->allowed_count++] = option_text(argc, argv, &i);
        } else if (option_is(name, "--unsent-mb"))
            c->unsent_max = (size_t)option_number(argc, argv, &i, 1 << 20) << 20;
        else if (option_is(name, "--keys"))
            c->keys = option_text(argc, argv, &i);
        else if (option_is(name, "--beat-ms"))
            c->beat_ms = (uint32_t)option_number(argc, argv, &i, 3600000);
        else if (option_is(name, "--durable"))
            c->is_durable = 1;
        else
            option_fail("'%s' is not known; see --help", name);
    }
    if (listen == NULL)
        option_fail("--listen ADDRESS:PORT is missing; see --help");
    if (c->slots == 0)
        option_fail("--slots must be at least 1");
    return listen;
}

static void on_connection(uv_stream_t *listener, int status)
{
    process *p = listener->data;

    if (status == 0)
        service_accept(p->s, listener);
}

static void on_signal(uv_signal_t *handle, int number)
{
    process *p = handle->data;

    (void)number;
    service_close(p->s);
    uv_close((uv_handle_t *)&p->listener, NULL);
    for (int i = 0; i < 2; i++)
        uv_close((uv_handle_t *)&p->signals[i], NULL);
}

static void print_address(const uv_tcp_t *listener)
{
    struct sockaddr_storage address;
    int size = sizeof address;
    char host[64] = "?";

    uv_tcp_getsockname(listener, (struct sockaddr *)&address, &size);
    if (address.ss_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address;
        uv_ip6_name(v6, host, sizeof host);
        printf("listening [%s]:%u\n", host, ntohs(v6->sin6_port));
    } else {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address;
        uv_ip4_name(v4, host, sizeof host);
        printf("listening %s:%u\n", host, ntohs(v4->sin_port));
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    service_config config = {.slots = 8,
                             .queue = 64,
                             .seed = 1,
                             .pace = 1,
                             .sigma = 0.3,
                             .slow = 1,
                             .slow_after = UINT64_MAX,
                             .beat_ms = 2000,
                             .unsent_max = PEER_UNSENT_MAX};
    const char *listen = read_options(argc, argv, &config);
    struct sockaddr_storage address;
    char error[512];
    process p;

    memset(&p, 0, sizeof p);
    signal(SIGPIPE, SIG_IGN);
    peer_limit_unsent(config.unsent_max);
    if (peer_address(listen, &address) != 0)
        option_fail("--listen: '%s' is no ADDRESS:PORT in numbers", listen);
    int status = peer_loop_init(&p.loop);
    if (status != 0)
        option_fail("the loop cannot be made: %s", uv_strerror(status));
    if ((p.s = service_create(&p.loop, &config, error, sizeof error)) == NULL)
        option_fail("%s", error);
    uv_tcp_init(&p.loop, &p.listener);
    p.listener.data = &p;
    status = uv_tcp_bind(&p.listener, (const struct sockaddr *)&address, 0);
    if (status == 0)
        status = uv_listen((uv_stream_t *)&p.listener, 1024, on_connection);
    if (status != 0)
        option_fail("%s: %s", listen, uv_strerror(status));
    for (int i = 0; i < 2; i++) {
        uv_signal_init(&p.loop, &p.signals[i]);
        p.signals[i].data = &p;
        uv_signal_start(&p.signals[i], on_signal, i == 0 ? SIGTERM : SIGINT);
    }
    print_address(&p.listener);
    uv_run(&p.loop, UV_RUN_DEFAULT);
    service_destroy(p.s);
    uv_loop_close(&p.loop);
    if (config.log != NULL)
        fclose(config.log);
    if (config.effects != NULL)
        fclose(config.effects);
    return 0;
}
