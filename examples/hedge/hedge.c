/* hedge.c - hedged requests: a second attempt for a call that takes long, the first answer wins, the other is dropped.
 *
 * A call takes 2 to 4 ms, but one in 25 stalls for 80 ms (timers stand for the services). The bodies are pending; the
 * driver starts the second attempt after 6 ms, completes the token with the first answer, and cancels the loser. This
 * is done within one execution: to the runtime each call is one body that finishes later. */
#define _GNU_SOURCE
#include <clotho/clotho.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 1000, FIRST, SECOND, HEDGE, TIMERS };

typedef struct request {
    clo_token token;
    int timers[TIMERS];
    long long begin_ns, took_ns;
} request;

static int epoll, hedges, extra;
static request requests[CALLS];

static long long now_ns(void)
{
    struct timespec now;
    return clock_gettime(CLOCK_MONOTONIC, &now), now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int arm(uint32_t call, uint32_t which, long us)
{
    struct itimerspec when = {.it_value.tv_nsec = us * 1000};
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)call * TIMERS + which};
    int timer = requests[call].timers[which] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    return timer < 0 || timerfd_settime(timer, 0, &when, NULL) != 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &event);
}

/* An attempt: how long it takes follows from its numbers, so that both runs meet the same stalls. */
static int attempt(uint32_t call, uint32_t which)
{
    uint32_t x = (call * 2 + which) * 2654435761u;
    return arm(call, which, (x >> 8) % 25 == 0 ? 80000 : 2000 + (long)(x >> 16) % 2000);
}

static int start_request(const clo_call *call)
{
    request *r = &requests[call->instance];
    *r = (request){.timers = {0}, .begin_ns = now_ns()};
    if (clo_token_take(call, NULL, NULL, &r->token) != CLO_OK || (hedges && arm(call->instance, HEDGE, 6000) != 0))
        return 1;
    return attempt(call->instance, FIRST) != 0 ? 1 : CLO_PENDING;
}

static void *drive(void *unused)
{
    struct epoll_event events[64];
    for (int answered = 0; answered < CALLS;) {
        int count = epoll_wait(epoll, events, 64, -1);
        for (int i = 0; i < count; i++) {
            uint32_t call = (uint32_t)(events[i].data.u64 / TIMERS), which = (uint32_t)(events[i].data.u64 % TIMERS);
            request *r = &requests[call];
            if (r->took_ns > 0)
                continue; /* of the loser, which is closed */
            if (which == HEDGE) {
                epoll_ctl(epoll, EPOLL_CTL_DEL, r->timers[HEDGE], NULL);
                extra += attempt(call, SECOND) == 0;
                continue;
            }
            r->took_ns = now_ns() - r->begin_ns;
            for (int t = FIRST; t < TIMERS; t++)
                if (r->timers[t] > 0)
                    close(r->timers[t]); /* cancels */
            answered += clo_token_complete(r->token, 0) == CLO_OK;
        }
    }
    return unused;
}

static int by_time(const void *a, const void *b)
{
    const request *x = a, *y = b;
    return (x->took_ns > y->took_ns) - (x->took_ns < y->took_ns);
}

static long long run(clo_job *job, int with_hedges)
{
    pthread_t driver;
    hedges = with_hedges, extra = 0;
    pthread_create(&driver, NULL, drive, NULL);
    clo_status status = clo_job_submit(job) == CLO_OK ? clo_job_wait(job, NULL) : CLO_ERR_STATE;
    pthread_join(driver, NULL);
    qsort(requests, CALLS, sizeof *requests, by_time);
    long long p50_us = requests[CALLS / 2].took_ns / 1000, p99_us = requests[CALLS * 99 / 100].took_ns / 1000;
    printf("%s, %s: p50 %lld us, p99 %lld us, %.1f %% more calls\n", hedges ? "hedged" : "one attempt each",
           clo_status_text(status), p50_us, p99_us, 100.0 * extra / CALLS);
    return p99_us;
}

int main(void)
{
    clo_task calls = {.name = "call", .body = start_request, .instances = CALLS, .work_ns = 3000000, .may_pend = 1};
    clo_graph *graph = NULL;
    clo_platform *platform = NULL;
    clo_cost *cost = NULL;
    clo_runtime *runtime = NULL;
    clo_job *job = NULL;

    epoll = epoll_create1(EPOLL_CLOEXEC);
    if (clo_graph_create("calls", &graph) != CLO_OK || clo_graph_add_task(graph, &calls, NULL) != CLO_OK ||
        clo_graph_seal(graph) != CLO_OK || clo_platform_open("slots:32", &platform) != CLO_OK ||
        clo_cost_create(graph, platform, &cost) != CLO_OK || clo_runtime_create(platform, NULL, &runtime) != CLO_OK ||
        clo_job_create(runtime, cost, NULL, &job) != CLO_OK)
        return fprintf(stderr, "hedge: %s\n", clo_last_error()), 1;
    long long alone_us = run(job, 0), hedged_us = run(job, 1);
    clo_runtime_destroy(runtime);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
    return hedged_us * 2 > alone_us; /* the tail is cut, or something is wrong */
}
