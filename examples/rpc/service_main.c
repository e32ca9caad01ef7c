/* service_main.c - a service as a process: listens, prints "listening ADDRESS:PORT", ends with SIGTERM or SIGINT. What it
 * does is a timer: the expected time of the request times a lognormal factor, now and then a stall; both follow from the
 * seed, the run, the task, the instance and the attempt. The output is a function of the inputs (answer.h). */
#include "answer.h"
#include "options.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>

enum { ALLOWED_MAX = 64 };

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

typedef struct demo {
    clo_rpc_service_config service;
    const char *allowed[ALLOWED_MAX];
    uint64_t seed, served;

    /* Times of requests are multiplied by this, and have this spread. */
    double pace, sigma;

    /* Stalls in a thousand requests, and their length; answers in a thousand that are sent twice. */
    uint32_t stall_permille, stall_ms, twice_permille;

    /* After so many requests all take `slow` times as long. */
    double slow;
    uint64_t slow_after;
    FILE *log, *effects;
} demo;

static clo_rpc_service *_Atomic running; /* the signal may come to any thread */

static void on_signal(int number)
{
    (void)number;
    clo_rpc_service_stop(running);
}

static void write_log(void *argument, const char *line)
{
    const demo *d = argument;

    fprintf(d->log, "%s\n", line);
}

static void write_effect(void *argument, const clo_rpc_request *r)
{
    const demo *d = argument;

    fprintf(d->effects, "%" PRIu64 " %u %u\n", r->run, r->task, r->instance);
}

/* A number in [0, 1) that belongs to this attempt at this service. */
static double chance(const demo *d, const clo_rpc_request *r, uint64_t which)
{
    uint64_t x = answer_mix(d->seed * 8 + which);

    x = answer_mix(x ^ r->run);
    x = answer_mix(x ^ ((uint64_t)r->task << 32 | r->instance));
    return answer_chance(answer_mix(x ^ r->attempt));
}

static void draw(void *argument, const clo_rpc_request *r, clo_rpc_fault *fault)
{
    demo *d = argument;
    double normal = sqrt(-2 * log(1 - chance(d, r, 0))) * cos(6.283185307179586 * chance(d, r, 1));
    double ns = (double)r->expected_ns * d->pace * exp(d->sigma * normal);

    if (chance(d, r, 2) * 1000 < d->stall_permille)
        ns = d->stall_ms * 1e6;
    if (++d->served > d->slow_after)
        ns *= d->slow;
    fault->delay_ns = ns < 1e15 ? (int64_t)ns : INT64_C(1000000000000000);
    fault->twice = chance(d, r, 3) * 1000 < d->twice_permille;
}

/* 0: none, which is not the library's 0. */
static uint32_t none_is(uint32_t none, uint64_t value)
{
    return value > 0 ? (uint32_t)value : none;
}

static int64_t beat_of(uint64_t ms)
{
    return ms > 0 ? (int64_t)ms * 1000000 : -1;
}

static void read_options(int argc, char **argv, demo *d)
{
    clo_rpc_service_config *c = &d->service;

    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (option_is(name, "--help") || option_is(name, "-h")) {
            fputs(usage, stdout);
            exit(0);
        }
        if (option_is(name, "--listen"))
            c->listen = option_text(argc, argv, &i);
        else if (option_is(name, "--slots"))
            c->slots = (uint32_t)option_number(argc, argv, &i, 1 << 20);
        else if (option_is(name, "--queue"))
            c->queue = none_is(UINT32_MAX, option_number(argc, argv, &i, 1 << 20));
        else if (option_is(name, "--seed"))
            d->seed = option_number(argc, argv, &i, UINT64_MAX);
        else if (option_is(name, "--pace"))
            d->pace = option_real(argc, argv, &i, 1e6);
        else if (option_is(name, "--sigma"))
            d->sigma = option_real(argc, argv, &i, 10);
        else if (option_is(name, "--stall"))
            d->stall_permille = (uint32_t)option_number(argc, argv, &i, 1000);
        else if (option_is(name, "--stall-ms"))
            d->stall_ms = (uint32_t)option_number(argc, argv, &i, 1 << 30);
        else if (option_is(name, "--slow"))
            d->slow = option_real(argc, argv, &i, 1e6);
        else if (option_is(name, "--slow-after"))
            d->slow_after = option_number(argc, argv, &i, UINT64_MAX);
        else if (option_is(name, "--twice"))
            d->twice_permille = (uint32_t)option_number(argc, argv, &i, 1000);
        else if (option_is(name, "--log"))
            d->log = option_file(argc, argv, &i, "a");
        else if (option_is(name, "--effects"))
            d->effects = option_file(argc, argv, &i, "a");
        else if (option_is(name, "--allow")) {
            if (c->allowed_count == ALLOWED_MAX)
                option_fail("--allow: at most %d are possible; use a pattern", ALLOWED_MAX);
            d->allowed[c->allowed_count++] = option_text(argc, argv, &i);
        } else if (option_is(name, "--unsent-mb"))
            c->unsent_bytes = (size_t)option_number(argc, argv, &i, 1 << 20) << 20;
        else if (option_is(name, "--keys"))
            c->keys = option_text(argc, argv, &i);
        else if (option_is(name, "--beat-ms"))
            c->beat_ns = beat_of(option_number(argc, argv, &i, 3600000));
        else if (option_is(name, "--durable"))
            c->is_durable = 1;
        else
            option_fail("'%s' is not known; see --help", name);
    }
    if (c->listen == NULL)
        option_fail("--listen ADDRESS:PORT is missing; see --help");
    if (c->slots == 0)
        option_fail("--slots must be at least 1");
}

int main(int argc, char **argv)
{
    demo d = {.service = CLO_RPC_SERVICE_CONFIG_INIT,
              .seed = 1,
              .pace = 1,
              .sigma = 0.3,
              .slow = 1,
              .slow_after = UINT64_MAX};
    clo_rpc_service *service = NULL;
    struct sigaction stop = {.sa_handler = on_signal};

    d.service.slots = 8;
    read_options(argc, argv, &d);
    d.service.allowed = d.allowed;
    d.service.log = d.log != NULL ? write_log : NULL;
    d.service.applied = d.effects != NULL ? write_effect : NULL;
    d.service.fault = draw;
    d.service.argument = &d;
    if (clo_rpc_service_create(&d.service, &service) != CLO_OK ||
        clo_rpc_service_add(service, "", answer_request, NULL, 1) != CLO_OK)
        option_fail("%s", clo_last_error());
    running = service;
    signal(SIGPIPE, SIG_IGN); /* of its log; the library sees to its own */
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGINT, &stop, NULL);
    printf("listening %s\n", clo_rpc_service_endpoint(service));
    fflush(stdout);
    int code = clo_rpc_service_run(service) != CLO_OK;
    running = NULL;
    clo_rpc_service_destroy(service);
    if (d.log != NULL)
        fclose(d.log);
    if (d.effects != NULL)
        fclose(d.effects);
    return code;
}
